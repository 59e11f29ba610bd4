#if Hosting
  /// The type of an attribute: checks bodies, and is a part of the served OpenAPI document.
  indirect enum ValueSchema: Sendable {
    case text
    case date
    case uri
    case boolean
    /// An integer of 64 bits.
    case integer(least: Int64)
    case enumeration([String])
    case list(ValueSchema)
    case object([Member])

    struct Member: Sendable {
      let name: String
      let schema: ValueSchema
      var isRequired = false
    }

    static func values<Value: CaseIterable & RawRepresentable<String>>(of _: Value.Type) -> ValueSchema {
      .enumeration(Value.allCases.map(\.rawValue))
    }

    /// The JSON Schema of the type.
    var schema: JSONOutput {
      switch self {
      case .text: ["type": "string"]
      case .date: ["type": "string", "format": "date-time"]
      case .uri: ["type": "string", "format": "uri"]
      case .boolean: ["type": "boolean"]
      case .integer(let least):
        ["type": "integer", "format": "int64", "minimum": .integer(least), "maximum": .integer(Self.largestInteger)]
      case .enumeration(let values): ["type": "string", "enum": .strings(values)]
      case .list(let item): ["type": "array", "items": item.schema]
      case .object(let members): Self.objectSchema(members.map { ($0.name, $0.schema.schema, $0.isRequired) })
      }
    }

    /// The largest integer that every JSON library represents exactly.
    static let largestInteger: Int64 = 9_007_199_254_740_991

    static func objectSchema(_ members: [(name: String, schema: JSONOutput, isRequired: Bool)]) -> JSONOutput {
      var parts: [(name: String, value: JSONOutput)] = [
        ("type", "object"), ("properties", .object(members.map { ($0.name, $0.schema) })),
      ]
      let required = members.filter(\.isRequired).map(\.name)
      if !required.isEmpty { parts.append(("required", .strings(required))) }
      return .object(parts)
    }
  }
#endif
