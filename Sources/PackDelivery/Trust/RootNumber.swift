import PackFormats
import PackStore

/// The order of two roots of one origin and channel: sequences are compared only under the same delegation.
package struct RootNumber: Hashable, Codable, Comparable, Sendable {
  /// The serial of the delegation that signs the root; 0: the root is not signed.
  package var serial: UInt64

  package var sequence: UInt64

  package init(serial: UInt64 = 0, sequence: UInt64 = 0) {
    self.serial = serial
    self.sequence = sequence
  }

  init(_ signed: SignedSiteRoot) {
    self.init(serial: signed.authority?.delegation.serial ?? 0, sequence: signed.root.sequence)
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.serial, left.sequence) < (right.serial, right.sequence)
  }
}
