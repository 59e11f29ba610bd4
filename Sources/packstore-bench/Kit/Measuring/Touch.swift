/// Reads one byte of every cache line: the minimum work of a program that uses all of the memory.
///
/// - Returns: a sum that depends on every line, so that the compiler cannot omit a load.
func touchEveryLine(_ bytes: UnsafeRawBufferPointer) -> Int {
  guard let start = bytes.baseAddress else { return 0 }
  var sum: UInt64 = 0
  var offset = 0
  while offset < bytes.count {
    sum &+= UInt64(start.load(fromByteOffset: offset, as: UInt8.self))
    offset += 64
  }
  return Int(truncatingIfNeeded: sum)
}

/// A sink for unused results, so that the compiler cannot remove their computation.
final class Sink: @unchecked Sendable {
  static let shared = Sink()

  private(set) var sum = 0

  @inline(never)
  func take(_ value: Int) { sum &+= value }
}
