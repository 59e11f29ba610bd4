/// A parsed JSON text, with the positions of its values.
package struct JSONDocument: Sendable {
  package let bytes: [UInt8]

  /// The value; `nil` for invalid JSON: the last of ``faults`` is the reason.
  package let root: JSONValue?

  /// The faults: duplicate names, and possibly a final fault that stopped the parser.
  package let faults: [TextFault]

  /// The ranges of comments, from their first slash to the end of their line, in ascending order.
  package let comments: [Range<Int>]

  /// Returns the text of a value as written, without comments.
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
    /// The number as written, with all digits.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])
  }

  package let content: Content

  /// The position of the first byte.
  package let position: TextPosition

  /// The range of its bytes in the text.
  package let range: Range<Int>
}

/// A name and its value in an object.
package struct JSONMember: Sendable {
  package let name: String
  package let position: TextPosition

  /// The range of the name, including quotes.
  package let range: Range<Int>

  package let value: JSONValue
}

extension JSONValue {
  package var string: String? { if case .string(let text) = content { text } else { nil } }
  package var array: [JSONValue]? { if case .array(let items) = content { items } else { nil } }
  package var object: [JSONMember]? { if case .object(let members) = content { members } else { nil } }

  /// Converts a number written as an integer of this type: digits without a leading zero, and not `-0`.
  package func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) -> Integer? {
    guard case .number(let text) = content, let value = Integer(text), String(value) == text else { return nil }
    return value
  }

  /// The kind of value, for messages.
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

/// A text that is compared by its bytes; Swift compares strings by canonical equivalence.
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
