/// Parses JSON (RFC 8259) strictly: UTF-8 without unpaired surrogates, unique names within an object, and numbers as written.
/// Records the position of every value.
///
/// Time and memory are proportional to the bytes, also for hostile texts, and the depth of values is limited.
package struct JSONReader {
  package struct Options: Sendable {
    /// Whether comments from `//` to the end of the line, and a byte order mark, are skipped.
    package var allowsComments = false

    package init(allowsComments: Bool = false) { self.allowsComments = allowsComments }
  }

  /// The maximum depth of nested values.
  package static let depthLimit = 64

  private var cursor: TextCursor
  private let options: Options
  private var faults: [TextFault] = []
  private var comments: [Range<Int>] = []

  private init(_ bytes: [UInt8], _ options: Options) {
    cursor = TextCursor(bytes)
    self.options = options
  }

  package static func read(_ bytes: [UInt8], options: Options = .init()) -> JSONDocument {
    var reader = Self(bytes, options)
    var root: JSONValue?
    do throws(TextFault) {
      root = try reader.document()
    } catch {
      reader.faults.append(error)
    }
    return JSONDocument(bytes: bytes, root: root, faults: reader.faults, comments: reader.comments)
  }

  private mutating func document() throws(TextFault) -> JSONValue {
    let begin = cursor.position
    try cursor.refuseWideEncodings()
    if cursor.takeByteOrderMark(), !options.allowsComments {
      throw TextFault(begin, "there is a byte-order mark", remedy: "save the text without one")
    }
    try takeSpace()
    guard cursor.next != nil else { throw TextFault(cursor.position, "there is no JSON in the text") }
    let value = try value(depth: 1)
    try takeSpace()
    guard cursor.next == nil else {
      throw TextFault(cursor.position, "there is more after the end of the JSON: \(cursor.nextName)")
    }
    return value
  }

  // MARK: - Space and comments

  private mutating func takeSpace() throws(TextFault) {
    while let next = cursor.next {
      switch next {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): cursor.takeASCII()
      case UInt8(ascii: "/"): try takeComment()
      default: return
      }
    }
  }

  private mutating func takeComment() throws(TextFault) {
    guard options.allowsComments else {
      throw TextFault(cursor.position, "comments are not allowed here", remedy: "remove it")
    }
    guard cursor.second == UInt8(ascii: "/") else {
      let remedy = cursor.second == UInt8(ascii: "*") ? "begin each of its lines with '//'" : "comments begin with '//'"
      throw TextFault(cursor.position, "a single '/' begins no comment", remedy: remedy)
    }
    let begin = cursor.offset
    while let next = cursor.next, next != UInt8(ascii: "\n"), next != UInt8(ascii: "\r") { try cursor.takeScalar() }
    comments.append(begin..<cursor.offset)
  }

  // MARK: - Values

  private mutating func value(depth: Int) throws(TextFault) -> JSONValue {
    let begin = cursor.position
    guard depth <= Self.depthLimit else {
      throw TextFault(begin, "values are nested more than \(Self.depthLimit) deep", remedy: "nest them less")
    }
    let content: JSONValue.Content
    switch cursor.next {
    case UInt8(ascii: "{"): content = .object(try object(depth: depth))
    case UInt8(ascii: "["): content = .array(try array(depth: depth))
    case UInt8(ascii: "\""): content = .string(try string())
    case .some(let byte) where byte == UInt8(ascii: "-") || isDigit(byte): content = .number(try number())
    case .some(let byte) where isLetter(byte): content = try word()
    case UInt8(ascii: "'"):
      throw TextFault(begin, "a value is expected, not '''", remedy: "write strings in double quotes")
    default: throw TextFault(begin, "a value is expected, not \(cursor.nextName)")
    }
    return JSONValue(content: content, position: begin, range: begin.offset..<cursor.offset)
  }

  private mutating func array(depth: Int) throws(TextFault) -> [JSONValue] {
    var items: [JSONValue] = []
    cursor.takeASCII()
    try takeSpace()
    if try take(closing: "]", afterComma: false) { return [] }
    while true {
      items.append(try value(depth: depth + 1))
      try takeSpace()
      if try take(closing: "]", afterComma: false) { return items }
      try takeComma(before: "]")
      if try take(closing: "]", afterComma: true) { return items }
    }
  }

  private mutating func object(depth: Int) throws(TextFault) -> [JSONMember] {
    var members: [JSONMember] = []
    var places: [ExactText: TextPosition] = [:]
    cursor.takeASCII()
    try takeSpace()
    if try take(closing: "}", afterComma: false) { return [] }
    while true {
      let member = try member(depth: depth)
      if let first = places[ExactText(member.name)] {
        faults.append(
          TextFault(
            member.position,
            "'\(shown(member.name))' occurs twice: first in line \(first.line), column \(first.column)",
            remedy: "keep one of them"))
      } else {
        places[ExactText(member.name)] = member.position
        members.append(member)
      }
      try takeSpace()
      if try take(closing: "}", afterComma: false) { return members }
      try takeComma(before: "}")
      if try take(closing: "}", afterComma: true) { return members }
    }
  }

  private mutating func member(depth: Int) throws(TextFault) -> JSONMember {
    let begin = cursor.position
    guard cursor.next == UInt8(ascii: "\"") else {
      throw TextFault(begin, "a name in double quotes is expected, not \(cursor.nextName)")
    }
    let name = try string()
    let range = begin.offset..<cursor.offset
    try takeSpace()
    guard cursor.next == UInt8(ascii: ":") else {
      throw TextFault(cursor.position, "':' is expected after the name '\(shown(name))', not \(cursor.nextName)")
    }
    cursor.takeASCII()
    try takeSpace()
    return JSONMember(name: name, position: begin, range: range, value: try value(depth: depth + 1))
  }

  /// Reads the end of a list or object if it is next; a comma must not precede it.
  private mutating func take(closing end: Unicode.Scalar, afterComma: Bool) throws(TextFault) -> Bool {
    guard cursor.next == UInt8(ascii: end) else { return false }
    guard !afterComma else {
      throw TextFault(cursor.position, "a value is expected after a comma, not '\(end)'", remedy: "remove the comma")
    }
    cursor.takeASCII()
    return true
  }

  private mutating func takeComma(before end: Unicode.Scalar) throws(TextFault) {
    guard cursor.next == UInt8(ascii: ",") else {
      throw TextFault(cursor.position, "',' or '\(end)' is expected after a value, not \(cursor.nextName)")
    }
    cursor.takeASCII()
    try takeSpace()
  }

  // MARK: - Words and numbers

  private mutating func word() throws(TextFault) -> JSONValue.Content {
    let text = token { isLetter($0) || isDigit($0) }
    switch text {
    case "null": return .null
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    default:
      let nearest = nearestNames(to: text, among: ["null", "true", "false"])
      throw TextFault(
        start(of: text), "'\(shown(text))' is no value",
        remedy: nearest.isEmpty ? "write strings in double quotes" : "did you mean \(alternatives(nearest))?")
    }
  }

  private mutating func number() throws(TextFault) -> String {
    let text = token { isDigit($0) || isLetter($0) || $0 == 0x2b || $0 == 0x2d || $0 == 0x2e }
    guard isNumber(Array(text.utf8)) else { throw TextFault(start(of: text), "'\(shown(text))' is no number in JSON") }
    return text
  }

  /// Reads a token of ASCII characters, which contains no line end.
  private mutating func token(_ belongs: (UInt8) -> Bool) -> String {
    let begin = cursor.offset
    while let next = cursor.next, belongs(next) { cursor.takeASCII() }
    return String(decoding: cursor.bytes[begin..<cursor.offset], as: UTF8.self)
  }

  /// Returns the position of the last token.
  private func start(of token: String) -> TextPosition {
    let count = token.utf8.count, end = cursor.position
    return TextPosition(offset: end.offset - count, line: end.line, column: end.column - count)
  }

  // MARK: - Strings

  private mutating func string() throws(TextFault) -> String {
    var text: [UInt8] = []
    let opening = cursor.position
    cursor.takeASCII()
    var begin = cursor.offset
    while let next = cursor.next {
      switch next {
      case UInt8(ascii: "\""):
        text += cursor.bytes[begin..<cursor.offset]
        cursor.takeASCII()
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        text += cursor.bytes[begin..<cursor.offset]
        text += try escape()
        begin = cursor.offset
      case 0..<0x20:
        let isLineEnd = next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r")
        throw TextFault(
          cursor.position, "a string holds \(isLineEnd ? "the end of a line" : cursor.nextName)",
          remedy: isLineEnd ? "close it before, or write '\\n'" : "write it as an escape, such as '\\u0009'")
      default: try cursor.takeScalar()
      }
    }
    throw TextFault(opening, "a string is not closed", remedy: "put a double quote at its end")
  }

  /// Reads an escape, and returns its value in UTF-8.
  private mutating func escape() throws(TextFault) -> [UInt8] {
    let begin = cursor.position
    cursor.takeASCII()
    let escaped = cursor.next
    let simple: [UInt8: UInt8] = [
      0x22: 0x22, 0x5c: 0x5c, 0x2f: 0x2f, 0x62: 0x08, 0x66: 0x0c, 0x6e: 0x0a, 0x72: 0x0d, 0x74: 0x09,
    ]
    if let escaped, let byte = simple[escaped] {
      cursor.takeASCII()
      return [byte]
    }
    guard escaped == UInt8(ascii: "u") else {
      throw TextFault(begin, "'\\' with \(cursor.nextName) is no escape", remedy: "write '\\\\' for a backslash")
    }
    let unit = try codeUnit(begin)
    if let scalar = Unicode.Scalar(unit) { return Array(String(Character(scalar)).utf8) }
    guard UTF16.isLeadSurrogate(UInt16(unit)), cursor.next == UInt8(ascii: "\\"), cursor.second == UInt8(ascii: "u")
    else { throw loneSurrogate(begin) }
    let second = cursor.position
    cursor.takeASCII()
    let low = try codeUnit(second)
    guard 0xdc00...0xdfff ~= low, let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)) else {
      throw loneSurrogate(begin)
    }
    return Array(String(Character(scalar)).utf8)
  }

  private func loneSurrogate(_ begin: TextPosition) -> TextFault {
    TextFault(begin, "an escape is one half of a pair of surrogates", remedy: "write the character itself")
  }

  /// Reads `u` and four hexadecimal digits.
  private mutating func codeUnit(_ begin: TextPosition) throws(TextFault) -> UInt32 {
    cursor.takeASCII()
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let next = cursor.next, let digit = Character(Unicode.Scalar(next)).hexDigitValue, next < 0x80 else {
        throw TextFault(begin, "'\\u' needs four hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
      cursor.takeASCII()
    }
    return unit
  }
}

/// Returns the part of a text that a message repeats.
private func shown(_ text: String) -> String {
  text.utf8.count > 400 ? "\(String(text.unicodeScalars.prefix(100)))..." : text
}

private func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
private func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5a ~= byte || 0x61...0x7a ~= byte || byte == 0x5f }

/// Whether it is `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
private func isNumber(_ text: [UInt8]) -> Bool {
  var rest = text[...]
  func takeDigits() -> Int {
    let digits = rest.prefix(while: isDigit)
    rest = rest.dropFirst(digits.count)
    return digits.count
  }
  if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
  let beginsWithZero = rest.first == UInt8(ascii: "0")
  let count = takeDigits()
  guard count == 1 || count > 1 && !beginsWithZero else { return false }
  if rest.first == UInt8(ascii: ".") {
    rest = rest.dropFirst()
    guard takeDigits() > 0 else { return false }
  }
  if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
    rest = rest.dropFirst()
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    guard takeDigits() > 0 else { return false }
  }
  return rest.isEmpty
}
