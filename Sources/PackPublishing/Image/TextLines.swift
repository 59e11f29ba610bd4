import PackFormats
import PackStore

/// Parses an external text line by line: each line has a keyword, and values separated by single spaces. Any deviation is
/// `corrupt`, with the line.
struct TextLines {
  private let bytes: [UInt8]
  private let file: String
  private var lineNumber = 0

  /// The number of bytes read.
  private(set) var offset = 0

  init(_ bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// Returns the next line, without its end; `nil` at the end of the text.
  private func peek() -> (text: String, end: Int)? {
    guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return (String(decoding: bytes[offset..<end], as: UTF8.self), end + 1)
  }

  private mutating func take(_ end: Int) {
    offset = end
    lineNumber += 1
  }

  /// Returns the words of the next line, if it has one of these keywords.
  mutating func next(_ kinds: [String]) -> [String]? {
    guard let (text, end) = peek() else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard let first = words.first, kinds.contains(first) else { return nil }
    take(end)
    return words
  }

  /// Returns the values of the next line, which must have this keyword.
  mutating func values(_ kind: String, count: Int) throws -> [String] {
    guard let words = next([kind]), words.count == count + 1 else { throw damage(isNext: true) }
    return Array(words.dropFirst())
  }

  mutating func value(_ kind: String) throws -> String { try values(kind, count: 1)[0] }

  /// Decodes the base64 value of the next line, which must have this keyword.
  mutating func base64<Value>(_ kind: String, _ read: ([UInt8]) throws -> Value) throws -> Value {
    let text = try value(kind)
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { throw damage() }
    return try read(Array(data))
  }

  /// Reads the first line: the type of the text, and its format.
  ///
  /// - Parameter readsPreviousDraft: whether the previous draft is read, for a conversion, and not refused.
  /// - Returns: whether the text is of the previous draft.
  /// - Throws: `corrupt`, `otherDraft`, `newerFormat`.
  @discardableResult
  mutating func title(_ name: String, readsPreviousDraft: Bool) throws -> Bool {
    guard let (text, end) = peek(), text.hasPrefix(name + " ") else { throw damage(isNext: true) }
    let words = text.dropFirst(name.count + 1).split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let version = UInt16(words[0]), let draft = UInt16(words[1]),
      "\(name) \(version) \(draft)" == text
    else { throw damage(isNext: true) }
    let format = UInt32(version) | UInt32(draft) << 16
    let isOfPreviousDraft = format == SiteFormat.previous
    do {
      if !(isOfPreviousDraft && readsPreviousDraft) { try SiteFormat.check(format, file: file) }
    } catch var error as PackStoreError where error.code == .otherDraft && isOfPreviousDraft {
      error.specificRemedy = "convert the site: 'packstore refresh SITE --convert'"
      throw error
    }
    take(end)
    return isOfPreviousDraft
  }

  /// Parses a number in its only canonical form.
  static func number(_ text: some StringProtocol) -> UInt64? {
    guard let number = UInt64(text), "\(number)" == text else { return nil }
    return number
  }

  /// - Throws: `corrupt` if text remains.
  func end() throws {
    guard offset == bytes.count else { throw damage(isNext: true) }
  }

  func damage(isNext: Bool = false) -> PackStoreError {
    PackStoreError(.corrupt, "line \(lineNumber + (isNext ? 1 : 0)) differs from the format", file: file)
  }
}
