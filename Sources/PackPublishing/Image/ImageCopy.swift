import CPackArchives
package import PackStore

/// A short image within a ledger, deflated, for those who read the ledger: they need not fetch the object then. What counts is the
/// object's digest, which the ledger names.
package struct ImageCopy: Hashable, Sendable {
  package let deflated: [UInt8]

  /// The most bytes of one: the ledger is written several times for each publication.
  package static let byteCountLimit = 32 << 10

  /// Nil: an image that is too long, even when it is deflated.
  package init?(of image: [UInt8]) {
    guard image.count <= 32 * Self.byteCountLimit else { return nil }  // names of objects are drawn at random
    var target = [UInt8](repeating: 0, count: image.count)
    let count = image.withUnsafeBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        guard let from = source.baseAddress, let to = target.baseAddress else { return 0 }
        return pka_deflate_encode(from, source.count, to)
      }
    }
    guard count > 0 else { return nil }
    self.init(deflated: Array(target.prefix(count)))
  }

  /// Nil: longer than any.
  package init?(deflated: [UInt8]) {
    guard !deflated.isEmpty, deflated.count <= Self.byteCountLimit else { return nil }
    self.deflated = deflated
  }

  /// The bytes of an image; nil where the copy is of something else.
  package func bytes(of digest: Digest256, byteCount: UInt64) -> [UInt8]? {
    // No deflate makes more than 1,032 bytes of one.
    guard byteCount > 0, byteCount <= UInt64(deflated.count) * 1032, byteCount <= UInt64(SignedSiteImage.byteCountLimit)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(byteCount))
    let isWhole = deflated.withUnsafeBufferPointer { source in
      bytes.withUnsafeMutableBufferPointer { target in
        guard let from = source.baseAddress, let to = target.baseAddress else { return false }
        return pka_deflate_decode(from, source.count, to, target.count)
      }
    }
    return isWhole && Digest256(hashing: bytes) == digest ? bytes : nil
  }
}
