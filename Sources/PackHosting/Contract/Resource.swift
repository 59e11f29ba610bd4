#if Hosting
  /// A resource that was read, before it is rendered.
  struct Resource: Sendable {
    /// The related ids of a relationship.
    enum Linkage: Sendable {
      /// To one; `nil` for none.
      case one(String?)
      /// To many, with the total number and the limit of the list.
      case many([String], total: Int64, limit: Int)
    }

    let kind: ResourceKind
    let id: String
    let attributes: [(name: String, value: JSONOutput)]

    /// By the name of the relationship. A relationship without linkage has links only.
    var linkages: [String: Linkage] = [:]

    /// Renders the resource with the requested fields.
    ///
    /// - Parameters:
    ///   - fields: the requested fields by type; all fields of types that are missing.
    ///   - base: scheme and host of links.
    func output(_ fields: [String: Set<String>], base: String) -> JSONOutput {
      let wanted = fields[kind.type]
      let place = "\(base)\(kind.path)/\(PercentEncoding.encode(id))"
      let missing = kind.attributes.filter { attribute in
        attribute.isNullable && !attributes.contains { $0.name == attribute.name }
      }
      let shown = (attributes + missing.map { ($0.name, JSONOutput.null) }).filter { wanted?.contains($0.name) ?? true }
      let relationships = kind.relationships.filter { wanted?.contains($0.name) ?? true }
        .map { ($0.name, output($0, place)) }
      var members: [(name: String, value: JSONOutput)] = [("type", .string(kind.type)), ("id", .string(id))]
      if !shown.isEmpty { members.append(("attributes", .object(shown))) }
      if !relationships.isEmpty { members.append(("relationships", .object(relationships))) }
      members.append(("links", ["self": .string(place)]))
      return .object(members)
    }

    /// Every relationship has links: some clients require them.
    private func output(_ relationship: ResourceKind.Relationship, _ place: String) -> JSONOutput {
      let links: JSONOutput = [
        "self": .string("\(place)/relationships/\(relationship.name)"),
        "related": .string("\(place)/\(relationship.name)"),
      ]
      var members: [(name: String, value: JSONOutput)] = []
      switch linkages[relationship.name] {
      case nil, .one(nil): break
      case .one(let id?): members.append(("data", Self.linkage(relationship.type, id)))
      case .many(let ids, let total, let limit):
        members.append(("data", .array(ids.map { Self.linkage(relationship.type, $0) })))
        // A cursor of a nested list must not appear: clients follow it as if it belonged to the page.
        members.append(("meta", ["paging": ["total": .integer(total), "limit": .integer(Int64(limit))]]))
      }
      members.append(("links", links))
      return .object(members)
    }

    static func linkage(_ type: String, _ id: String) -> JSONOutput { ["type": .string(type), "id": .string(id)] }
  }
#endif
