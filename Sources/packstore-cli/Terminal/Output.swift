/// Output to standard output and standard error: text, JSON, raw bytes, warnings and errors.

import PackDelivery
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

/// The error if the reader of standard output or standard error closed the pipe. The process ends silently with SIGPIPE.
struct BrokenPipe: Error {}

/// Returns the system's description of an error number, by default `errno`.
func systemErrorText(_ number: Int32 = errno) -> String { String(cString: strerror(number)) }

// MARK: - Standard error

/// Whether the arguments contain `--json`. Standard error then also contains JSON, one object per line.
///
/// It is read from the raw arguments, because errors in the arguments are also reported as JSON.
let isJSONWanted = programArguments.prefix { $0 != "--" }.contains("--json")

/// Writes text to standard error. Ignores errors, because nothing can report them.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = PendingWrites.shared.writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
}

/// Prints a warning, `packstore: warning: ...`, and writes it to the log.
func warn(_ code: WarningCode, _ sentence: String) {
  BuildLog.current?.write("warning: \(sentence)")
  warnOnly(code, sentence)
}

/// Prints a warning without writing it to the log.
func warnOnly(_ code: WarningCode, _ sentence: String) {
  let sentence = hidingSecrets(in: sentence)
  guard !isJSONWanted else {
    return writeObject(WarningReport(code: code, message: sentence), type: "warning")
  }
  writeToStandardError("packstore: warning: \(sentence)\n")
}

/// Prints a line `packstore: ...` with a detail of a failure, before the failure itself. With `--json`, prints nothing: the report
/// contains the details.
func complain(_ sentence: String) {
  guard !isJSONWanted else { return }
  writeToStandardError("packstore: \(sentence)\n")
}

/// Prints the failure as the command's last output, and writes it to the log.
func complain(_ failure: Failure) {
  BuildLog.current?.write("failed: \(failure.sentence)")
  guard !isJSONWanted else { return writeObject(FailureReport(failure), type: "error") }
  complain(failure.sentence)
}

func writeObject(_ object: some Encodable, type: String) {
  guard let bytes = try? jsonBytes(TypedObject(object, type: type)) else { return }
  writeToStandardError(String(decoding: bytes, as: UTF8.self) + "\n")
}

// MARK: - Standard output

/// Buffered standard output. A failed write is an error, because a listing on a full disk must not look complete.
///
/// Call ``flush()`` at the end; otherwise the buffered bytes are lost.
final class Output: Sendable {
  private let buffer = Mutex<[UInt8]>([])
  private static let bufferSize = 1 << 16
  private let descriptor: Int32

  /// - Parameter descriptor: standard error for the report of a command that writes other data to standard output.
  init(_ descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

  /// Writes a line of text.
  func line(_ text: String = "") throws {
    try write(text.utf8)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  /// Writes lines of a command's result, also to the log.
  func lines(_ lines: [String]) throws {
    for text in lines {
      if let log = BuildLog.current, !text.isEmpty { log.write(text) }
      try line(text)
    }
  }

  /// Writes bytes unchanged, without copying them to the buffer. For large amounts.
  func write(_ bytes: Slice<UnsafeMutableRawBufferPointer>) throws {
    try flush()
    try check(PendingWrites.shared.writeAll(UnsafeRawBufferPointer(rebasing: bytes), to: descriptor))
  }

  /// Writes bytes unchanged, through the buffer.
  func write(_ bytes: some Collection<UInt8>) throws {
    try buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      if buffer.count >= Self.bufferSize { try empty(&buffer) }
    }
  }

  /// Writes a value as a JSON object on one line, with the type of the running command.
  func json(_ value: some Encodable) throws {
    let bytes = try jsonBytes(TypedObject(value, type: jsonType))
    if let log = BuildLog.current { log.write(String(decoding: bytes, as: UTF8.self)) }
    try write(bytes)
    try line()
  }

  func flush() throws { try buffer.withLock { try empty(&$0) } }

  private func empty(_ buffer: inout [UInt8]) throws {
    defer { buffer.removeAll(keepingCapacity: true) }
    try check(buffer.withUnsafeBytes { PendingWrites.shared.writeAll($0, to: descriptor) })
  }

  private func check(_ errorNumber: Int32) throws {
    let name = descriptor == STDERR_FILENO ? "standard error" : "standard output"
    switch errorNumber {
    case 0: return
    case EPIPE: throw BrokenPipe()
    // The text does not claim that nothing changed: earlier effects of the command remain.
    case ECANCELED: throw Failure(.cancelled, "cancelled in the middle of a write to \(name)")
    default:
      throw Failure(
        FailureCode(systemError: errorNumber), "\(name): cannot write: \(systemErrorText(errorNumber))")
    }
  }
}

// MARK: - JSON

/// The `type` of this process's results in JSON: the name of the command, which is also the name of the schema.
var jsonType: String { programArguments.first.flatMap { $0.hasPrefix("-") ? nil : $0 } ?? "packstore" }

/// Encodes a value as JSON on one line, with sorted keys in snake case. Escapes all characters that control a terminal.
func jsonBytes(_ value: some Encodable) throws -> Data {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = .convertToSnakeCase
  encoder.dateEncodingStrategy = .iso8601
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return escapingControls(try encoder.encode(value))
}

/// Escapes the characters selected by ``isControl(_:)``. Only strings contain them: all other JSON is visible ASCII.
private func escapingControls(_ json: Data) -> Data {
  guard json.contains(where: { $0 >= 0x7f }) else { return json }
  var text = ""
  for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
    if isControl(scalar) {
      let digits = String(scalar.value, radix: 16)
      text += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
    } else {
      text.unicodeScalars.append(scalar)
    }
  }
  return Data(text.utf8)
}
