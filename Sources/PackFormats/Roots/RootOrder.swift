import PackStore

/// Which of two roots of a publisher, site and channel is the newer one, for publishers.
///
/// Sequence numbers begin again after a revocation. So a root of a delegation that revokes more is newer, whatever sequence number a
/// thief signed before.
package struct RootOrder: Hashable, Comparable, Sendable {
  /// The serials below this one were revoked by the root's delegation; 0 if none is, or if the root is not signed.
  package var revokedBelow: UInt64

  package var sequence: UInt64

  package init(revokedBelow: UInt64 = 0, sequence: UInt64) {
    self.revokedBelow = revokedBelow
    self.sequence = sequence
  }

  package init(_ signed: SignedSiteRoot) {
    self.init(revokedBelow: signed.authority?.delegation.revokedBelow ?? 0, sequence: signed.root.sequence)
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.revokedBelow, left.sequence) < (right.revokedBelow, right.sequence)
  }
}
