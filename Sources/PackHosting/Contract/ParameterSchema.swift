#if Hosting
  /// A query parameter that a route accepts.
  struct ParameterSchema: Sendable {
    enum Kind: Sendable {
      /// A comma-separated list of some of these names.
      case names([String])
      /// A comma-separated list of texts.
      case texts
      /// A comma-separated list of names of fields, of a type that this host does not have.
      case otherFields
      case boolean
      case date
      /// A number from 1 to the largest size.
      case limit(largest: Int)
      case cursor
    }

    let name: String
    let kind: Kind
    var isRequired = false

    static func include(_ names: [String]) -> Self { .init(name: "include", kind: .names(names)) }
    static func fields(_ kind: ResourceKind) -> Self { .init(name: "fields[\(kind.type)]", kind: .names(kind.fields)) }
    static func fields(other type: String) -> Self { .init(name: "fields[\(type)]", kind: .otherFields) }
    static func filter(_ name: String, _ kind: Kind, isRequired: Bool = false) -> Self {
      .init(name: "filter[\(name)]", kind: kind, isRequired: isRequired)
    }
    static func sort(_ names: [String]) -> Self {
      .init(name: "sort", kind: .names(names.flatMap { [$0, "-" + $0] }))
    }
    static var limit: Self { .init(name: "limit", kind: .limit(largest: Assumptions.largestPageSize)) }
    static func limit(_ name: String) -> Self {
      .init(name: "limit[\(name)]", kind: .limit(largest: Assumptions.largestIncludedSize))
    }
    static var cursor: Self { .init(name: "cursor", kind: .cursor) }

    /// The schema in the OpenAPI document.
    var schema: JSONOutput {
      switch kind {
      case .names(let names): ["type": "array", "items": ["type": "string", "enum": .strings(names)]]
      case .texts, .otherFields, .date: ["type": "array", "items": ["type": "string"]]
      case .boolean: ["type": "array", "items": ["type": "string", "enum": ["true", "false"]]]
      case .limit(let largest): ["type": "integer", "minimum": 1, "maximum": .integer(Int64(largest))]
      case .cursor: ["type": "string"]
      }
    }
  }
#endif
