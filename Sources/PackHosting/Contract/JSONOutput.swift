#if Hosting
  import PackStore

  /// A JSON value to be sent. Members keep their order.
  indirect enum JSONOutput: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case array([JSONOutput])
    case object([(name: String, value: JSONOutput)])

    var bytes: [UInt8] {
      var text: [UInt8] = []
      append(to: &text)
      return text
    }

    private func append(to text: inout [UInt8]) {
      switch self {
      case .null: text += "null".utf8
      case .boolean(let isTrue): text += (isTrue ? "true" : "false").utf8
      case .integer(let number): text += String(number).utf8
      case .string(let string): text += canonicalJSON(string)
      case .array(let items):
        text.append(UInt8(ascii: "["))
        for (index, item) in items.enumerated() {
          if index > 0 { text.append(UInt8(ascii: ",")) }
          item.append(to: &text)
        }
        text.append(UInt8(ascii: "]"))
      case .object(let members):
        text.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
          if index > 0 { text.append(UInt8(ascii: ",")) }
          text += canonicalJSON(member.name)
          text.append(UInt8(ascii: ":"))
          member.value.append(to: &text)
        }
        text.append(UInt8(ascii: "}"))
      }
    }

    static func strings(_ texts: some Sequence<String>) -> JSONOutput { .array(texts.map { .string($0) }) }

    static func date(_ moment: Timestamp) -> JSONOutput { .string(moment.text) }
  }

  extension JSONOutput: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
  {
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(arrayLiteral elements: JSONOutput...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONOutput)...) { self = .object(elements.map { ($0.0, $0.1) }) }
  }
#endif
