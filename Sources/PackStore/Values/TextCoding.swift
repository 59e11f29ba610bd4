// Names and digests are encoded as text, and validated when decoded.

extension Decoder {
  /// Decodes a text and converts it to a value.
  ///
  /// - Throws: `DecodingError` if `make` throws or returns `nil`.
  package func value<Value>(_ make: (String) throws -> Value?) throws -> Value {
    let container = try singleValueContainer()
    let text = try container.decode(String.self)
    if let value = try? make(text) { return value }
    throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is no \(Value.self)")
  }
}

extension Encoder {
  package func encode(text: String) throws {
    var container = singleValueContainer()
    try container.encode(text)
  }
}
