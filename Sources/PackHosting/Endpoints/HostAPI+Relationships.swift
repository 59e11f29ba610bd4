#if Hosting
  // The paths in the links of relationships. Apple documents only some of them, which the other tables list. The others follow from
  // the relationships of the resource kinds, so that every link of an answer can be followed.

  extension HostAPI {
    /// Returns the routes for links of relationships that `listed` lacks.
    static func relationshipRoutes(_ api: HostAPI, besides listed: [Route]) -> [Route] {
      let present = Set(listed.map(\.path))
      return kinds(of: listed).flatMap { kind in
        kind.relationships.flatMap { relationship in
          relationship.isEmpty
            ? api.emptyRoutes(of: relationship, in: kind, listed) : api.routes(of: relationship, in: kind, listed)
        }
      }.filter { !present.contains($0.path) }
    }

    /// The kinds of all answers, each once.
    private static func kinds(of routes: [Route]) -> [ResourceKind] {
      var seen: Set<String> = []
      return routes.flatMap { [$0.result.kind].compactMap { $0 } + $0.included }.filter {
        seen.insert($0.type).inserted
      }
    }

    private func routes(
      of relationship: ResourceKind.Relationship, in kind: ResourceKind, _ listed: [Route]
    ) -> [Route] {
      guard let target = Self.kinds(of: listed).first(where: { $0.type == relationship.type }) else { return [] }
      let name = relationship.name, rights = [kind, target].map { Self.right(toRead: $0, listed) }
      let right = rights.first { $0 != .read } ?? .read
      let linkage = Route(
        method: .get, path: "\(kind.path)/{id}/relationships/\(name)",
        summary: "Read the linkage of '\(name)' of '\(kind.type)'", right: right,
        parameters: relationship.isMany ? [.limit] : [],
        result: relationship.isMany ? .linkages(target) : .linkage(target),
        handle: relationship.isMany ? linkages(relationship, of: kind, target) : linkage(relationship, of: kind))
      guard !relationship.isMany else { return [linkage] }
      let reading = listed.first { $0.method == .get && $0.path == target.path + "/{id}" }
      let related = Route(
        method: .get, path: "\(kind.path)/{id}/\(name)", summary: "Read '\(name)' of '\(kind.type)'", right: right,
        parameters: reading?.parameters ?? [.fields(target)], included: reading?.included ?? [],
        result: .related(target), handle: self.related(relationship, of: kind))
      return [related, linkage]
    }

    /// Returns the routes of a relationship whose objects this host does not have.
    private func emptyRoutes(
      of relationship: ResourceKind.Relationship, in kind: ResourceKind, _ listed: [Route]
    ) -> [Route] {
      let target = ResourceKind(
        type: relationship.type, name: relationship.type.prefix(1).uppercased() + relationship.type.dropFirst(),
        path: "/v1/\(relationship.type)", attributes: [], relationships: [])
      let isMany = relationship.isMany, right = Self.right(toRead: kind, listed)
      let handle: @Sendable (Call) async throws -> Answer = { call in
        try await read(call) { reader in
          _ = try reader.required(kind, call.id)
          return isMany ? .many(Page(resources: [], total: 0, next: nil), call) : .empty(call)
        }
      }
      return ["", "relationships/"].map { part in
        Route(
          method: .get, path: "\(kind.path)/{id}/\(part)\(relationship.name)",
          summary: "Read '\(relationship.name)' of '\(kind.type)', which this host does not have", right: right,
          parameters: (part.isEmpty ? [.fields(other: target.type)] : []) + (isMany ? [.limit] : []),
          result: part.isEmpty
            ? (isMany ? .many(target) : .related(target)) : (isMany ? .linkages(target) : .linkage(target)),
          handle: handle)
      }
    }

    /// The right that reading a kind needs by the listed routes.
    private static func right(toRead kind: ResourceKind, _ listed: [Route]) -> Right {
      listed.first { $0.method == .get && ($0.result.kind?.type == kind.type || $0.includes(kind)) }?.right ?? .read
    }

    // MARK: - Answers

    /// Answers with the related resource; with null if the relationship is empty.
    private func related(
      _ relationship: ResourceKind.Relationship, of kind: ResourceKind
    ) -> @Sendable (Call) async throws -> Answer {
      { call in
        try await read(call) { reader in
          let id = try reader.required(kind, call.id).linkedID(relationship.name)
          guard let id, let found = try reader.resource(relationship.type, id) else { return .empty(call) }
          let (primary, included) = try reader.include(call.query, into: [found])
          return .one(primary[0], included: included, call)
        }
      }
    }

    private func linkage(
      _ relationship: ResourceKind.Relationship, of kind: ResourceKind
    ) -> @Sendable (Call) async throws -> Answer {
      { call in
        try await read(call) { reader in
          let id = try reader.required(kind, call.id).linkedID(relationship.name)
          guard let id, try reader.resource(relationship.type, id) != nil else { return .empty(call) }
          return .linkage(relationship.type, id, call)
        }
      }
    }

    private func linkages(
      _ relationship: ResourceKind.Relationship, of kind: ResourceKind, _ target: ResourceKind
    ) -> @Sendable (Call) async throws -> Answer {
      linkages(target, of: kind) { call in
        guard let list = ResourceReader.relatedList(kind.type, call.id, relationship.name) else {
          throw APIError.internalFault
        }
        return list
      }
    }
  }

  extension Route {
    fileprivate func includes(_ kind: ResourceKind) -> Bool { included.contains { $0.type == kind.type } }
  }

  extension Resource {
    /// The related id of a relationship to one; `nil` if it is empty.
    fileprivate func linkedID(_ name: String) -> String? {
      if case .one(let id) = linkages[name] { id } else { nil }
    }
  }
#endif
