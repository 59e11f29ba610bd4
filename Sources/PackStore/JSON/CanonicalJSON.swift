// The canonical form of JSON for hashing: RFC 8785, except that numbers keep their spelling.

extension JSONValue {
  /// Appends the canonical form: members in the order of their names' UTF-16 code units, no white space, and numbers as written.
  package func appendCanonical(to text: inout [UInt8]) {
    switch content {
    case .null: text += "null".utf8
    case .boolean(let isTrue): text += (isTrue ? "true" : "false").utf8
    case .number(let number): text += number.utf8
    case .string(let string): text += canonicalJSON(string)
    case .array(let items):
      text += "[".utf8
      for (index, item) in items.enumerated() {
        if index > 0 { text += ",".utf8 }
        item.appendCanonical(to: &text)
      }
      text += "]".utf8
    case .object(let members):
      text += canonicalJSONObject(
        members.map { member in
          var value: [UInt8] = []
          member.value.appendCanonical(to: &value)
          return (member.name, value)
        })
    }
  }
}

/// Encodes an object of members whose values are already JSON.
package func canonicalJSONObject(_ members: [(name: String, value: [UInt8])]) -> [UInt8] {
  let sorted = members.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
  var text = Array("{".utf8)
  for (index, member) in sorted.enumerated() {
    if index > 0 { text += ",".utf8 }
    text += canonicalJSON(member.name)
    text += ":".utf8
    text += member.value
  }
  return text + "}".utf8
}

package func canonicalJSONArray(_ items: [[UInt8]]) -> [UInt8] {
  Array("[".utf8) + items.joined(separator: Array(",".utf8)) + "]".utf8
}

/// Encodes a string with quotes, with only the necessary escapes, in their shortest form.
package func canonicalJSON(_ string: String) -> [UInt8] {
  var text = Array("\"".utf8)
  for byte in string.utf8 {
    switch byte {
    case 0x22: text += #"\""#.utf8
    case 0x5c: text += #"\\"#.utf8
    case 0x08: text += #"\b"#.utf8
    case 0x09: text += #"\t"#.utf8
    case 0x0a: text += #"\n"#.utf8
    case 0x0c: text += #"\f"#.utf8
    case 0x0d: text += #"\r"#.utf8
    case 0..<0x20: text += (#"\u00"# + hexadecimal(byte).dropFirst(2)).utf8
    default: text.append(byte)
    }
  }
  return text + "\"".utf8
}
