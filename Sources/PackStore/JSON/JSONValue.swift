/// A JSON text that was read, whose values know where they stand.
package struct JSONDocument: Sendable {
  package let bytes: [UInt8]

  /// Nil where the text is no JSON; the last of ``faults`` says why.
  package let root: JSONValue?

  /// What is wrong: names that are there twice, and at the end perhaps what made the reader stop.
  package let faults: [TextFault]

  /// Where comments stand, from their first slash to the end of their line, in rising order.
  package let comments: [Range<Int>]

  /// The text of a value as it was written, without comments.
  package func source(of value: JSONValue) -> [UInt8] {
    var text: [UInt8] = []
    var begin = value.range.lowerBound
    for comment in comments where value.range.contains(comment.lowerBound) {
      text += bytes[begin..<comment.lowerBound]
      begin = comment.upperBound
    }
    return text + bytes[begin..<value.range.upperBound]
  }
}

/// A value of a JSON text.
package struct JSONValue: Sendable {
  package enum Content: Sendable {
    case null
    case boolean(Bool)
    /// As it was written: no digit is lost.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
  }

  package let content: Content

  /// Where the first byte stands.
  package let position: TextPosition

  /// The bytes of the text that it takes.
  package let range: Range<Int>
}

/// A name of an object and its value.
package struct JSONMember: Sendable {
  package let name: String
  package let position: TextPosition

  /// The bytes of the name, quotes included.
  package let range: Range<Int>

  package let value: JSONValue
}

extension JSONValue {
  package var string: String? { if case .string(let text) = content { text } else { nil } }
  package var array: [JSONValue]? { if case .array(let items) = content { items } else { nil } }
  package var object: [JSONMember]? { if case .object(let members) = content { members } else { nil } }

  /// A number that was written as an integer of this type: digits without a leading zero, and no `-0`.
  package func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) -> Integer? {
    guard case .number(let text) = content, let value = Integer(text), String(value) == text else { return nil }
    return value
  }

  /// What it is, as a message names it.
  package var kind: String {
    switch content {
    case .null: "null"
    case .boolean: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// A text that is compared by its bytes. Swift takes strings for equal that are canonically equivalent.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension ExactText: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}
