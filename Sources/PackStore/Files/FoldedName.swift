import CPackStore

/// A name without case and Unicode normal form: disks that ignore these take two names with equal foldings for one.
package struct FoldedName: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Longer names do not exist on such disks.
  private static let byteLimit = 255

  package init(_ name: some Collection<UInt8>) {
    let name = Array(name)
    guard name.count <= Self.byteLimit else {
      bytes = name
      return
    }
    bytes = [UInt8](unsafeUninitializedCapacity: Int(PKS_FOLDED_NAME_MAX)) { target, count in
      name.withUnsafeBytes { name in
        target.withMemoryRebound(to: CChar.self) { target in
          guard let from = name.baseAddress, let to = target.baseAddress else { return }
          count = pks_fold_name(from.assumingMemoryBound(to: CChar.self), name.count, to)
        }
      }
    }
  }
}
