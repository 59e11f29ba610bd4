/// A JSON object with its type and the version of that type's form.
struct TypedObject<Value: Encodable>: Encodable {
  /// The version of all forms. It grows when a member is removed or changes its meaning, not when one is added.
  static var formatVersion: Int { 1 }

  private enum Keys: String, CodingKey { case type, formatVersion }

  private let value: Value
  private let type: String

  /// - Parameter value: must be encoded as an object without these two members.
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
