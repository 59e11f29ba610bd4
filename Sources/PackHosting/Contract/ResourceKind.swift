#if Hosting
  /// A type of resource: its attributes and relationships, as answers contain them.
  struct ResourceKind: Sendable {
    struct Attribute: Sendable {
      let name: String
      let schema: ValueSchema

      /// Whether answers contain null for a missing value, as the live service does, because some clients require the key.
      var isNullable = false

      /// The JSON Schema of the value.
      var output: JSONOutput { isNullable ? ["anyOf": [schema.schema, ["type": "null"]]] : schema.schema }
    }

    struct Relationship: Sendable {
      let name: String

      /// The type of the related resources.
      let type: String
      var isMany = false

      /// Whether this host has no objects of the type: the relationship is always empty, and exists because clients require it.
      var isEmpty = false
    }

    /// The `type` of resources, such as `backgroundAssets`.
    let type: String

    /// The name of the schema, such as `BackgroundAsset`.
    let name: String

    /// The path before the id, such as `/v1/backgroundAssets`.
    let path: String
    let attributes: [Attribute]
    let relationships: [Relationship]

    /// Names that `fields` accepts in addition: Apple's other attributes and relationships.
    var otherFields: [String] = []

    var fields: [String] { attributes.map(\.name) + relationships.map(\.name) + otherFields }

    func relationship(_ name: String) -> Relationship? { relationships.first { $0.name == name } }
  }
#endif
