import PackStore

/// A sequence of bytes.
protocol ByteStream: AnyObject {
  /// Fills the beginning of a non-empty buffer.
  ///
  /// - Returns: the number of bytes; 0 only at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// A range of a file.
final class FileStream: ByteStream {
  private let file: InputFile
  private var rest: Range<UInt64>

  init(_ file: InputFile, _ range: Range<UInt64>) {
    self.file = file
    rest = range
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let wanted = UnsafeMutableRawBufferPointer(
      rebasing: buffer.prefix(Int(clamping: rest.upperBound - rest.lowerBound)))
    guard !wanted.isEmpty else { return 0 }
    let count = try file.read(at: rest.lowerBound, into: wanted)
    rest = rest.lowerBound + UInt64(count)..<rest.upperBound
    return count
  }
}

/// Reads structures and ranges of a stream for a parser, through a buffer of fixed size.
final class StreamReader: ByteStream {
  static let bufferByteCount = 64 << 10

  private let stream: any ByteStream
  private let faults: ArchiveFaults
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferByteCount, alignment: 16)
  private var filled = 0..<0

  init(_ stream: any ByteStream, _ faults: ArchiveFaults) {
    self.stream = stream
    self.faults = faults
  }

  deinit { buffer.deallocate() }

  /// Returns the buffered bytes; empty only at the end.
  func buffered() throws -> UnsafeRawBufferPointer {
    if filled.isEmpty { filled = 0..<(try stream.read(into: buffer)) }
    return UnsafeRawBufferPointer(rebasing: buffer[filled])
  }

  /// Consumes buffered bytes.
  func consume(_ count: Int) { filled.removeFirst(count) }

  func isAtEnd() throws -> Bool { try buffered().isEmpty }

  func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    // Large reads bypass the buffer.
    if filled.isEmpty, target.count >= Self.bufferByteCount { return try stream.read(into: target) }
    let bytes = try buffered().prefix(target.count)
    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
    consume(bytes.count)
    return bytes.count
  }

  /// Fills the whole buffer.
  ///
  /// - Throws: `corrupt` if the stream ends first.
  func fill(_ target: UnsafeMutableRawBufferPointer, _ what: @autoclosure () -> String) throws {
    var done = 0
    while done < target.count {
      let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: target[done...]))
      guard count > 0 else { throw faults.damaged("\(what()) is cut short") }
      done += count
    }
  }

  /// Fills the beginning of a buffer with bytes of a file that has `left` more.
  ///
  /// - Returns: the number of bytes; 0 at the end of the file.
  /// - Throws: `corrupt` if the stream ends before the file.
  func read(into target: UnsafeMutableRawBufferPointer, ofFileWith left: inout UInt64) throws -> Int {
    guard left > 0 else { return 0 }
    let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(Int(clamping: left))))
    guard count > 0 else { throw faults.damaged("a file is cut short") }
    left -= UInt64(count)
    return count
  }

  /// - Precondition: `count` was checked against a limit, because this much memory is allocated.
  func bytes(_ count: Int, _ what: @autoclosure () -> String) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { target, done in
      try fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[..<count]), what())
      done = count
    }
  }

  func skip(_ count: UInt64, _ what: @autoclosure () -> String) throws {
    var left = count
    while left > 0 {
      let available = try buffered().count
      guard available > 0 else { throw faults.damaged("\(what()) is cut short") }
      let step = Int(min(UInt64(available), left))
      consume(step)
      left -= UInt64(step)
    }
  }

  /// Whether only zeros remain; reads up to the first other byte.
  func isZeroToEnd() throws -> Bool {
    while true {
      let bytes = try buffered()
      if bytes.isEmpty { return true }
      guard bytes.allSatisfy({ $0 == 0 }) else { return false }
      consume(bytes.count)
    }
  }
}

extension FixedWidthInteger {
  /// Converts bytes whose number was checked before.
  init(littleEndian bytes: some Collection<UInt8>) {
    self = bytes.reversed().reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }

  init(bigEndian bytes: some Collection<UInt8>) { self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) } }
}
