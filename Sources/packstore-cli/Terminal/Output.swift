/// Writes to standard output and standard error: text, JSON, raw bytes, warnings, errors.

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

/// The reader of our standard output went away. The process ends as quietly as any filter does.
struct BrokenPipe: Error {}

/// The system's name for the current `errno`.
func systemErrorText(_ number: Int32 = errno) -> String { String(cString: strerror(number)) }

// MARK: - Standard error

/// Whether programs read along: `--json` is looked for in the arguments themselves, since they may be what is wrong.
/// Everything on standard error is then JSON, too, one object on each line.
let isJSONWanted = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")

/// Writes lines to standard error. A failure cannot be reported.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = PendingWrites.shared.writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
}

/// `packstore: warning: ...`, which the log has, too.
func warn(_ code: WarningCode, _ sentence: String) {
  BuildLog.current?.write("warning: \(sentence)")
  warnOnly(code, sentence)
}

/// A warning that is not for the log.
func warnOnly(_ code: WarningCode, _ sentence: String) {
  let sentence = hidingSecrets(in: sentence)
  guard !isJSONWanted else {
    return writeObject(WarningReport(code: code, message: sentence), type: "warning")
  }
  writeToStandardError("packstore: warning: \(sentence)\n")
}

/// `packstore: ...`: one of several things to say of a failure, before the failure itself. JSON has them in a report.
func complain(_ sentence: String) {
  guard !isJSONWanted else { return }
  writeToStandardError("packstore: \(sentence)\n")
}

/// Reports why the command failed, as its last output.
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

/// Standard output, buffered. What cannot be written is an error: a listing on a full disk must not look complete.
///
/// `flush` before the end, or the rest is lost.
final class Output: Sendable {
  private let buffer = Mutex<[UInt8]>([])
  private static let bufferSize = 1 << 16
  private let descriptor: Int32

  /// - Parameter descriptor: standard error, where a command's result is on standard output and its report is not.
  init(_ descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

  /// A line of text.
  func line(_ text: String = "") throws {
    try write(text.utf8)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  /// The result of a command, which is also written to the log.
  func lines(_ lines: [String]) throws {
    for text in lines {
      if let log = BuildLog.current, !text.isEmpty { log.write(text) }
      try line(text)
    }
  }

  /// Bytes as they are. Many are not copied.
  func write(_ bytes: Slice<UnsafeMutableRawBufferPointer>) throws {
    try flush()
    try check(PendingWrites.shared.writeAll(UnsafeRawBufferPointer(rebasing: bytes), to: descriptor))
  }

  /// Bytes as they are.
  func write(_ bytes: some Collection<UInt8>) throws {
    try buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      if buffer.count >= Self.bufferSize { try empty(&buffer) }
    }
  }

  /// A value as a JSON object on one line, with the type of the command that runs.
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
    // What the command has done by then stays done: it does not say that nothing was.
    case ECANCELED: throw Failure(.cancelled, "cancelled in the middle of a write to \(name)")
    default:
      throw Failure(
        FailureCode(systemError: errorNumber), "\(name): cannot write: \(systemErrorText(errorNumber))")
    }
  }
}

// MARK: - JSON

/// The `type` of the objects that this process prints as results: the name of its command, and of its schema.
var jsonType: String { CommandLine.arguments.dropFirst().first.flatMap { $0.hasPrefix("-") ? nil : $0 } ?? "packstore" }

/// A value as JSON on one line: fields in alphabetical order, in snake case, and no character that a terminal acts on.
func jsonBytes(_ value: some Encodable) throws -> Data {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = .convertToSnakeCase
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return escapingControls(try encoder.encode(value))
}

/// Escapes the characters that ``isControl(_:)`` names. Only strings contain them: the rest of JSON is visible ASCII.
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
