import CPackArchives
package import PackStore

/// A deflated copy of a short image in the ledger, so that readers of the ledger need not fetch the object. It is checked against
/// the image's digest in the ledger.
package struct ImageCopy: Hashable, Sendable {
  package let deflated: [UInt8]

  /// The maximum size of a copy in bytes: the ledger is written several times for each publication.
  package static let byteCountLimit = 32 << 10

  /// `nil` for an image that is too long, even deflated.
  package init?(of image: [UInt8]) {
    guard image.count <= 32 * Self.byteCountLimit else { return nil }  // names of objects are random
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

  /// `nil` if it exceeds the limit.
  package init?(deflated: [UInt8]) {
    guard !deflated.isEmpty, deflated.count <= Self.byteCountLimit else { return nil }
    self.deflated = deflated
  }

  /// Returns the bytes of the image; `nil` if the copy is of another image.
  package func bytes(of digest: Digest256, byteCount: UInt64) -> [UInt8]? {
    // Deflate expands one byte to at most 1,032.
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
