/// A JSON object with two more members: its type and the format version.
struct TypedObject<Value: Encodable>: Encodable {
  /// The format version of all types. It increases if a member is removed or changes its meaning, but not for a new member.
  static var formatVersion: Int { 1 }

  private enum Keys: String, CodingKey { case type, formatVersion }

  private let value: Value
  private let type: String

  /// - Parameter value: a value that is encoded as an object without these two members.
  init(_ value: Value, type: String) {
    self.value = value
    self.type = type
  }

  func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    var members = encoder.container(keyedBy: Keys.self)
    try members.encode(type, forKey: .type)
    try members.encode(Self.formatVersion, forKey: .formatVersion)
  }
}
