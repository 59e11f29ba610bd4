#if Hosting
  import GRDB

  /// The operations of the API over the records and commands of the host.
  struct HostAPI: Sendable {
    let context: HostContext
    let signer: PartURLSigner

    /// Whether webhooks may have addresses in private networks.
    var permitsPrivateAddresses = false

    /// All routes.
    var routes: [Route] {
      let listed =
        appRoutes + appVersionRoutes + packRoutes + versionRoutes + uploadRoutes + releaseRoutes + submissionRoutes
        + phasedReleaseRoutes + webhookRoutes + actorRoutes + ownRoutes + contentUploadRoutes + rolloutRoutes
      return listed + Self.relationshipRoutes(self, besides: listed)
    }

    // MARK: - Reading

    /// Reads in one transaction.
    func read<Value: Sendable>(
      _ call: Call, _ body: @escaping @Sendable (ResourceReader) throws -> Value
    ) async throws -> Value {
      let now = context.now
      return try await context.database.read { [signer] database in
        try body(
          ResourceReader(database: database, principal: call.principal, signer: signer, base: call.base, now: now))
      }
    }

    /// Answers with the resource of the path.
    func one(_ kind: ResourceKind) -> @Sendable (Call) async throws -> Answer {
      { call in try await one(kind, call.id, call) }
    }

    func one(_ kind: ResourceKind, _ id: String, _ call: Call, isCreated: Bool = false) async throws -> Answer {
      try await read(call) { reader in
        let (primary, included) = try reader.include(call.query, into: [try reader.required(kind, id)])
        return .one(primary[0], included: included, call, isCreated: isCreated)
      }
    }

    /// Answers with a page of a list.
    ///
    /// - Parameters:
    ///   - parent: the type of the path's resource, which must exist; `nil` if the path has no id.
    ///   - list: returns the list of a request.
    func many(
      _ kind: ResourceKind, of parent: ResourceKind? = nil, _ list: @escaping @Sendable (Call) throws -> ResourceList
    ) -> @Sendable (Call) async throws -> Answer {
      { call in
        try await read(call) { reader in
          if let parent { _ = try reader.required(parent, call.id) }
          let page = try reader.page(try list(call), of: kind, call.query)
          let (primary, included) = try reader.include(call.query, into: page.resources)
          return .many(Page(resources: primary, total: page.total, next: page.next), included: included, call)
        }
      }
    }

    /// Answers with the linkages of a list.
    func linkages(
      _ kind: ResourceKind, of parent: ResourceKind, _ list: @escaping @Sendable (Call) throws -> ResourceList
    ) -> @Sendable (Call) async throws -> Answer {
      { call in
        try await read(call) { reader in
          _ = try reader.required(parent, call.id)
          return .linkages(try reader.page(try list(call), of: kind, call.query), call)
        }
      }
    }
  }

  extension Call {
    /// The body of a route that has one.
    func requireBody() throws -> Body {
      guard let body else { throw APIError.internalFault }
      return body
    }

    /// The ids or values of a filter, as a condition on a column; `nil` without the filter.
    func condition(_ filter: String, _ expression: String) -> ResourceList.Condition? {
      query.filters[filter].map { .init(expression, in: $0) }
    }

    /// The column of the requested order; `name` is the name of a key of `columns`.
    func sort(_ columns: [String: String], default column: String) -> (column: String, isDescending: Bool) {
      guard let first = query.sorts.first, let column = columns[first.name] else { return (column, false) }
      return (column, first.isDescending)
    }
  }

  extension Body {
    /// A required attribute or relationship; its absence was refused before.
    func required<Value>(_ value: Value?) throws -> Value {
      guard let value else { throw APIError.internalFault }
      return value
    }
  }
#endif
