/// A position in a text: line and column for people, the offset for programs.
package struct TextPosition: Hashable, Sendable {
  /// The offset from the beginning of the text, in bytes.
  package let offset: Int

  /// The line, from 1. Lines end with LF, CR, or CR LF.
  package let line: Int

  /// The column, from 1, in Unicode scalar values. A byte order mark does not count.
  package let column: Int

  package init(offset: Int, line: Int, column: Int) {
    self.offset = offset
    self.line = line
    self.column = column
  }
}

/// A fault in a text, with its position.
package struct TextFault: Error, Hashable, Sendable {
  package let position: TextPosition

  /// The fault, in a few English words.
  package let finding: String

  /// The remedy, if any.
  package let remedy: String?

  package init(_ position: TextPosition, _ finding: String, remedy: String? = nil) {
    self.position = position
    self.finding = finding
    self.remedy = remedy
  }
}

/// Reads a text one character at a time, and tracks the position. Invalid UTF-8 is a fault.
///
/// Reads each byte once, and stores nothing but the bytes.
package struct TextCursor {
  package let bytes: [UInt8]
  package private(set) var offset = 0
  private var line = 1

  /// The offset at which this line would begin if all of its characters were one byte long.
  private var lineOrigin = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next byte; `nil` at the end.
  package var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// The byte after the next one.
  package var second: UInt8? { offset + 1 < bytes.count ? bytes[offset + 1] : nil }

  package var position: TextPosition { .init(offset: offset, line: line, column: offset - lineOrigin + 1) }

  /// Reads a byte order mark, if it is next, and returns whether it was.
  package mutating func takeByteOrderMark() -> Bool {
    guard bytes[offset...].starts(with: [0xef, 0xbb, 0xbf]) else { return false }
    offset += 3
    lineOrigin += 3
    return true
  }

  /// Refuses a text in UTF-16 or UTF-32, which some editors and shells write. Detects it by its byte order mark, or by the zeros of
  /// its first character, which is ASCII in all formats read here.
  package func refuseWideEncodings() throws(TextFault) {
    let start = Array(bytes.prefix(4)), isZero = start.map { $0 == 0 }
    let name: String
    if start == [0xff, 0xfe, 0, 0] || start == [0, 0, 0xfe, 0xff] || isZero == [false, true, true, true]
      || isZero == [true, true, true, false]
    {
      name = "UTF-32"
    } else if start.starts(with: [0xff, 0xfe]) || start.starts(with: [0xfe, 0xff])
      || isZero.starts(with: [false, true])
      || isZero.starts(with: [true, false])
    {
      name = "UTF-16"
    } else {
      return
    }
    throw TextFault(position, "the file is \(name)", remedy: "save it as UTF-8 (PowerShell: Out-File -Encoding utf8)")
  }

  /// Reads the next byte, which must be ASCII.
  package mutating func takeASCII() {
    let byte = bytes[offset]
    offset += 1
    // In CR LF, the LF ends the line.
    if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") && next != UInt8(ascii: "\n") {
      line += 1
      lineOrigin = offset
    }
  }

  /// Reads the next character, which must exist.
  package mutating func takeScalar() throws(TextFault) {
    guard bytes[offset] >= 0x80 else { return takeASCII() }
    guard let count = Self.scalarLength(bytes[offset...].prefix(4)) else {
      throw TextFault(
        position, "the byte \(hexadecimal(bytes[offset])) is not valid UTF-8", remedy: "save the file as UTF-8")
    }
    offset += count
    lineOrigin += count - 1
  }

  /// Returns the number of bytes of the first character; `nil` if it is invalid UTF-8: an overlong form, a surrogate, or above
  /// U+10FFFF.
  private static func scalarLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    let first = bytes[bytes.startIndex]
    let count: Int
    var second: ClosedRange<UInt8> = 0x80...0xbf
    switch first {
    case 0xc2...0xdf: count = 2
    case 0xe0: (count, second) = (3, 0xa0...0xbf)
    case 0xed: (count, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: count = 3
    case 0xf0: (count, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: count = 4
    case 0xf4: (count, second) = (4, 0x80...0x8f)
    default: return nil
    }
    guard bytes.count >= count, second ~= bytes[bytes.startIndex + 1] else { return nil }
    return bytes.prefix(count).dropFirst(2).allSatisfy { 0x80...0xbf ~= $0 } ? count : nil
  }

  /// The next character, for messages.
  package var nextName: String {
    guard let next else { return "the end of the text" }
    guard next >= 0x20, next != 0x7f else { return "the control character \(hexadecimal(next))" }
    var ahead = self
    guard (try? ahead.takeScalar()) != nil else { return "the byte \(hexadecimal(next))" }
    return "'\(String(decoding: bytes[offset..<ahead.offset], as: UTF8.self))'"
  }
}

/// `0x0a`.
package func hexadecimal(_ byte: UInt8) -> String { "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
