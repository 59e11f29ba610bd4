#if Hosting
  /// The body of a POST or PATCH.
  struct BodySchema: Sendable {
    struct Attribute: Sendable {
      let name: String
      let schema: ValueSchema
      var isRequired = false
    }

    struct Relationship: Sendable {
      let name: String
      let type: String
      var isRequired = false
      var isMany = false
    }

    /// The type of the resource.
    let type: String

    /// The name of the schema, such as `BackgroundAssetCreateRequest`.
    let name: String

    /// Whether the body has the id of the path.
    var hasID = false
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []

    /// The JSON Schema. An optional attribute may be null, which equals a missing one.
    var schema: JSONOutput {
      let attributes = self.attributes.map {
        ($0.name, $0.isRequired ? $0.schema.schema : Self.nullable($0.schema), $0.isRequired)
      }
      let relationships = self.relationships.map { relationship in
        let linkage = ValueSchema.objectSchema([
          ("type", ["type": "string", "enum": [.string(relationship.type)]], true), ("id", ["type": "string"], true),
        ])
        let data: JSONOutput = relationship.isMany ? ["type": "array", "items": linkage] : linkage
        return (
          relationship.name, ValueSchema.objectSchema([("data", data, relationship.isRequired)]),
          relationship.isRequired
        )
      }
      var members: [(String, JSONOutput, Bool)] = [("type", ["type": "string", "enum": [.string(type)]], true)]
      if hasID { members.append(("id", ["type": "string"], true)) }
      if !attributes.isEmpty {
        members.append(("attributes", ValueSchema.objectSchema(attributes), attributes.contains { $0.2 }))
      }
      if !relationships.isEmpty {
        members.append(("relationships", ValueSchema.objectSchema(relationships), relationships.contains { $0.2 }))
      }
      return ValueSchema.objectSchema([("data", ValueSchema.objectSchema(members), true)])
    }

    private static func nullable(_ schema: ValueSchema) -> JSONOutput { ["anyOf": [schema.schema, ["type": "null"]]] }
  }
#endif
