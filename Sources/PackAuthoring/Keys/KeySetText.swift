import PackFormats
import PackStore

/// The lines of a text file about key sets. Each line has a word and a value; the first line has the file's kind.
struct KeySetText {
  private var lines: ArraySlice<Substring>
  private let file: String

  /// - Parameter text: the file's text. Editors and mail programs may have changed its line ends.
  /// - Throws: `corrupt` if it is a file of another kind.
  init(_ text: String, firstLine: String, file: String) throws {
    let normalized = SiteKey.normalizedFileText(text)
    lines = normalized.split(separator: "\n", omittingEmptySubsequences: false)[...]
    self.file = file
    guard lines.popLast() == "", lines.popFirst() == Substring(firstLine) else {
      throw PackStoreError(
        .corrupt, "its first line is not '\(firstLine)'", file: file,
        remedy: "name a file that was written for this purpose")
    }
  }

  /// The lines that were not read.
  var rest: ArraySlice<Substring> { lines }

  var damage: PackStoreError {
    PackStoreError(.corrupt, lines.first == nil ? "it is incomplete" : "a line of it is damaged", file: file)
  }

  /// Reads a line that is exactly `text`, if it is next.
  mutating func skip(_ text: String) -> Bool {
    guard lines.first == Substring(text) else { return false }
    lines.removeFirst()
    return true
  }

  /// Reads a line with a word, and returns its value; `nil` if the next line has another word.
  mutating func optionalWord(_ word: String) -> String? {
    guard let line = lines.first, line.hasPrefix(word + " ") else { return nil }
    lines.removeFirst()
    return String(line.dropFirst(word.utf8.count + 1))
  }

  mutating func word(_ word: String) throws -> String {
    guard let value = optionalWord(word) else { throw damage }
    return value
  }

  /// Reads a line with a word and base64, and decodes the bytes; `nil` if the next line has another word.
  mutating func optionalValue<Value>(
    _ word: String, _ decode: (inout ByteReader) throws -> Value
  ) throws -> Value? {
    guard let text = optionalWord(word) else { return nil }
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { throw damage }
    var reader = ByteReader(Array(data)[...], file: file)
    let value = try decode(&reader)
    try reader.end()
    return value
  }

  mutating func value<Value>(_ word: String, _ decode: (inout ByteReader) throws -> Value) throws -> Value {
    guard let value = try optionalValue(word, decode) else { throw damage }
    return value
  }

  func end() throws { guard lines.isEmpty else { throw damage } }

  static func line(_ word: String, _ bytes: [UInt8]) -> String { "\(word) \(Data(bytes).base64EncodedString())" }
}
