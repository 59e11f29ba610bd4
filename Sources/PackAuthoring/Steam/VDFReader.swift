import PackStore

/// A key and its value in a text of Valve's format.
struct VDFEntry {
  enum Value {
    case text(String)
    case block([VDFEntry])
  }

  let key: String
  let position: TextPosition
  let value: Value
  let valuePosition: TextPosition

  /// Keys are case-insensitive.
  func isNamed(_ name: String) -> Bool { key.lowercased() == name.lowercased() }
}

/// Parses the format of Steam's build scripts: keys with texts or blocks, and `//` comments. A backslash is an ordinary character,
/// because the scripts contain Windows paths. The time is linear in the number of bytes, also for hostile texts.
struct VDFReader {
  static let depthLimit = 16

  private var cursor: TextCursor

  private enum Token {
    case text(String)
    case opening, closing, end
  }

  /// - Throws: the fault, with its position.
  static func read(_ text: [UInt8]) throws(TextFault) -> VDFEntry {
    var reader = Self(cursor: TextCursor(text))
    try reader.cursor.refuseWideEncodings()
    _ = reader.cursor.takeByteOrderMark()
    let entry = try reader.entries(depth: 1, isRoot: true)
    return entry[0]
  }

  /// Reads the entries of a block after its opening brace, or the single entry of the whole text.
  private mutating func entries(depth: Int, isRoot: Bool = false) throws(TextFault) -> [VDFEntry] {
    var entries: [VDFEntry] = []
    while true {
      try takeSpace()
      if isRoot, !entries.isEmpty, isZeroToEnd { return entries }
      let position = cursor.position, name = cursor.nextName
      switch try token() {
      case .text(let key):
        guard !isRoot || entries.isEmpty else {
          throw TextFault(position, "extra text after the end of the script: '\(key.prefix(100))'")
        }
        entries.append(try entry(key, position, depth: depth))
      case .opening: throw TextFault(position, "expected a key, not '{'")
      case .closing:
        guard !isRoot else { throw TextFault(position, "expected a key, not '}'") }
        return entries
      case .end:
        guard isRoot else { throw TextFault(position, "expected '}', not \(name)") }
        guard !entries.isEmpty else { throw TextFault(position, "the script is empty") }
        return entries
      }
    }
  }

  /// Whether only NULs and white space remain. Steam's own programs append a NUL.
  private var isZeroToEnd: Bool {
    cursor.next == 0 && cursor.bytes[cursor.offset...].allSatisfy { $0 == 0 || isSpace($0) }
  }

  private mutating func entry(_ key: String, _ position: TextPosition, depth: Int) throws(TextFault) -> VDFEntry {
    try takeSpace()
    let valuePosition = cursor.position, name = cursor.nextName
    let value: VDFEntry.Value
    switch try token() {
    case .text(let text): value = .text(text)
    case .opening:
      guard depth < Self.depthLimit else {
        throw TextFault(valuePosition, "blocks are nested more than \(Self.depthLimit) deep")
      }
      value = .block(try entries(depth: depth + 1))
    case .closing, .end: throw TextFault(valuePosition, "expected a value of '\(key.prefix(100))', not \(name)")
    }
    return VDFEntry(key: key, position: position, value: value, valuePosition: valuePosition)
  }

  private mutating func takeSpace() throws(TextFault) {
    while let next = cursor.next {
      if isSpace(next) {
        cursor.takeASCII()
      } else if next == UInt8(ascii: "/"), cursor.second == UInt8(ascii: "/") {
        while let next = cursor.next, next != UInt8(ascii: "\n"), next != UInt8(ascii: "\r") { try cursor.takeScalar() }
      } else {
        return
      }
    }
  }

  /// Reads a brace, or a text with or without quotes.
  private mutating func token() throws(TextFault) -> Token {
    let begin = cursor.position
    switch cursor.next {
    case nil: return .end
    case UInt8(ascii: "{"):
      cursor.takeASCII()
      return .opening
    case UInt8(ascii: "}"):
      cursor.takeASCII()
      return .closing
    case UInt8(ascii: "["):
      throw TextFault(begin, "conditions in brackets are not supported", remedy: "remove the condition or its entry")
    case UInt8(ascii: "#"):
      throw TextFault(begin, "included scripts are not supported", remedy: "insert the content of the script")
    case UInt8(ascii: "\""): return .text(try quoted(begin))
    default:
      while let next = cursor.next, !isSpace(next), !#"{}""#.utf8.contains(next) { try cursor.takeScalar() }
      return .text(String(decoding: cursor.bytes[begin.offset..<cursor.offset], as: UTF8.self))
    }
  }

  private mutating func quoted(_ begin: TextPosition) throws(TextFault) -> String {
    cursor.takeASCII()
    while let next = cursor.next {
      switch next {
      case UInt8(ascii: "\""):
        cursor.takeASCII()
        return String(decoding: cursor.bytes[(begin.offset + 1)..<(cursor.offset - 1)], as: UTF8.self)
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        throw TextFault(begin, "a string is not closed on its line", remedy: "add a double quote at its end")
      case 0: throw TextFault(cursor.position, "a string contains the control character 0x00")
      default: try cursor.takeScalar()
      }
    }
    throw TextFault(begin, "a string is not closed on its line", remedy: "add a double quote at its end")
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }
}
