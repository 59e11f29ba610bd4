import PackFormats
import PackStore

/// Compares the bytes of a file with digests of parts of it, while they arrive in order.
///
/// Invariant: the parts are in order of their offsets and do not overlap.
struct ContentChecker {
  struct Part {
    let offset: UInt64
    let byteCount: UInt64
    let digest: Digest256

    /// The number of known bytes of the digest.
    var digestByteCount = Digest256.byteCount

    fileprivate func matches(_ other: Digest256) -> Bool {
      digest.bytes.prefix(digestByteCount).elementsEqual(other.bytes.prefix(digestByteCount))
    }
  }

  private let parts: [Part]
  private var index = 0
  private var hash = DigestBuilder()

  /// The number of bytes that arrived.
  private(set) var position: UInt64 = 0

  /// Whether all parts that arrived completely have their digests.
  private var isIntactSoFar = true

  init(_ parts: [Part]) { self.parts = parts }

  /// Whether all parts arrived, and have their digests.
  var isIntact: Bool { isIntactSoFar && index == parts.count }

  mutating func feed(_ bytes: UnsafeRawBufferPointer) {
    let end = position.addingClamped(UInt64(bytes.count))
    while index < parts.count, parts[index].offset < end {
      let part = parts[index], partEnd = part.offset.addingClamped(part.byteCount)
      let from = max(part.offset, position), to = min(partEnd, end)
      if from < to {
        hash.update(UnsafeRawBufferPointer(rebasing: bytes[Int(from - position)..<Int(to - position)]))
      }
      guard partEnd <= end else { break }
      if !part.matches(hash.finish()) { isIntactSoFar = false }
      hash = DigestBuilder()
      index += 1
    }
    position = end
  }
}
