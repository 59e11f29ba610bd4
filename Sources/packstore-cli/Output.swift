/// What goes to standard output and standard error: text, JSON, raw bytes, warnings, errors.

import PackStore
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// MARK: - Errors

/// Something failed: a sentence that says what, where and what to do. The process exits with 1.
struct Failure: Error {
  let sentence: String
  init(_ sentence: String) { self.sentence = sentence }
}

/// Somebody cancelled what can be gone on with: a sentence that says how. The process exits with 130.
struct Interruption: Error {
  let sentence: String
  init(_ sentence: String) { self.sentence = sentence }
}

/// Whoever read our standard output went away. The process ends as quietly as any filter does.
struct BrokenPipe: Error {}

/// What the system calls the current `errno`.
func systemErrorText(_ number: Int32 = errno) -> String { String(cString: strerror(number)) }

// MARK: - Standard error

/// One or more lines to standard error. Nobody can be told when that fails.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
}

/// `packstore: warning: ...`.
func warn(_ sentence: String) { writeToStandardError("packstore: warning: \(sentence)\n") }

/// `packstore: ...`.
func complain(_ sentence: String) { writeToStandardError("packstore: \(sentence)\n") }

// MARK: - Standard output

/// Standard output, buffered. What cannot be written is an error: a listing on a full disk must not look complete.
///
/// `flush` before the end, or the rest is lost.
final class Output: Sendable {
  private let buffer = Mutex<[UInt8]>([])
  private static let bufferSize = 1 << 16

  /// A line of text.
  func line(_ text: String = "") throws {
    try write(text.utf8)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  func lines(_ lines: [String]) throws {
    for text in lines { try line(text) }
  }

  /// Bytes as they are. Many are not copied.
  func write(_ bytes: Slice<UnsafeMutableRawBufferPointer>) throws {
    try flush()
    try Self.check(writeAll(UnsafeRawBufferPointer(rebasing: bytes), to: STDOUT_FILENO))
  }

  /// Bytes as they are.
  func write(_ bytes: some Collection<UInt8>) throws {
    try buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      if buffer.count >= Self.bufferSize { try Self.empty(&buffer) }
    }
  }

  /// A value as JSON on one line.
  func json(_ value: some Encodable) throws {
    try write(jsonBytes(value))
    try line()
  }

  func flush() throws { try buffer.withLock { try Self.empty(&$0) } }

  private static func empty(_ buffer: inout [UInt8]) throws {
    defer { buffer.removeAll(keepingCapacity: true) }
    try check(buffer.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) })
  }

  private static func check(_ errorNumber: Int32) throws {
    guard errorNumber != 0 else { return }
    throw errorNumber == EPIPE
      ? BrokenPipe() : Failure("cannot write to standard output: \(systemErrorText(errorNumber))")
  }
}

/// Returns 0 or an error number.
private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
  var rest = bytes[...]
  while !rest.isEmpty {
    let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if written >= 0 {
      rest = rest.dropFirst(written)
    } else if errno != EINTR {
      return errno
    }
  }
  return 0
}

// MARK: - JSON

/// A value as JSON on one line: fields in alphabetical order, in snake case.
func jsonBytes(_ value: some Encodable) throws -> Data {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = .convertToSnakeCase
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return try encoder.encode(value)
}
