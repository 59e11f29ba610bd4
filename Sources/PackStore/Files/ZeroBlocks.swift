#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Blocks of zeros in bytes of a file: a new file can have a hole in the place of each.
enum ZeroBlocks {
  /// Shorter blocks would make many short holes, which slow reading down and save little.
  static let byteCount = 16 << 10

  /// The ranges of `bytes` outside blocks of zeros. Blocks begin at multiples of ``byteCount`` in the file.
  ///
  /// - Parameter offset: where `bytes` begin in the file.
  static func data(of bytes: UnsafeRawBufferPointer, at offset: UInt64) -> [Range<Int>] {
    guard bytes.count >= byteCount else { return [0..<bytes.count] }
    var ranges: [Range<Int>] = [], begin = 0
    var block = (byteCount - Int(offset % UInt64(byteCount))) % byteCount
    while block <= bytes.count - byteCount {
      if isZero(UnsafeRawBufferPointer(rebasing: bytes[block..<block + byteCount])) {
        if begin < block { ranges.append(begin..<block) }
        begin = block + byteCount
      }
      block += byteCount
    }
    if begin < bytes.count { ranges.append(begin..<bytes.count) }
    return ranges
  }

  /// The first bytes decide for most blocks that hold data; each byte is then compared with the one before.
  private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.baseAddress, bytes[0] == 0 else { return false }
    return memcmp(first, first + 1, bytes.count - 1) == 0
  }
}
