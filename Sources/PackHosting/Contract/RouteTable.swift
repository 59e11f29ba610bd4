#if Hosting
  /// Finds the route of a request.
  struct RouteTable: Sendable {
    let routes: [Route]

    /// Routes by path.
    private let byPath: [String: [Route]]

    init(_ routes: [Route]) {
      self.routes = routes
      byPath = Dictionary(grouping: routes, by: \.path)
    }

    /// A route, and the id in the path.
    struct Match: Sendable {
      let route: Route
      let id: String
    }

    /// Finds the route of a path.
    ///
    /// - Parameter path: as sent, without the query.
    /// - Throws: `APIError` 404 for an unknown path, 403 for an operation that a resource does not offer, 405 for another method.
    func match(_ method: String, _ path: Substring) throws -> Match {
      let parts = try Self.parts(path)
      let (routes, id) = find(parts)
      if let route = routes.first(where: { $0.method.rawValue == method }) { return Match(route: route, id: id) }
      guard Route.Method(rawValue: method) != nil else {
        throw APIError(
          405, "METHOD_NOT_ALLOWED", "The request method is not valid for the resource path",
          "method '\(method.prefix(20))': not supported; use GET, POST, PATCH or DELETE")
      }
      throw refusal(method, parts, routes) ?? .pathNotFound(path)
    }

    private func find(_ parts: [String]) -> ([Route], id: String) {
      if let routes = byPath["/" + parts.joined(separator: "/")], !parts.contains("{id}") { return (routes, "") }
      let place = Self.idPlace(parts)
      guard parts.indices.contains(place), !parts[place].isEmpty else { return ([], "") }
      var pattern = parts
      pattern[place] = "{id}"
      return (byPath["/" + pattern.joined(separator: "/")] ?? [], RequestedID.normalized(parts[place]))
    }

    /// The place of an id: after version and type. Our own paths begin with another part.
    private static func idPlace(_ parts: [String]) -> Int { parts.first == "packstore" ? 3 : 2 }

    private static func parts(_ path: Substring) throws -> [String] {
      guard path.hasPrefix("/") else { throw APIError.pathNotFound(path) }
      return try path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
        guard let text = PercentEncoding.decodePath(part), !text.utf8.contains(UInt8(ascii: "/")) else {
          throw APIError.pathNotFound(path)
        }
        return text
      }
    }

    /// Returns the refusal of an operation that a known type of resource, or a relationship of it, does not offer.
    ///
    /// - Parameter found: the routes of the path, with other methods.
    private func refusal(_ method: String, _ parts: [String], _ found: [Route]) -> APIError? {
      let place = Self.idPlace(parts)
      guard parts.count >= place, !parts.contains("") else { return nil }
      let isRelationship = parts.count > place + 1
      let prefix = "/" + parts.prefix(place).joined(separator: "/")
      let offered = isRelationship ? found : routes.filter { $0.path == prefix || $0.path == prefix + "/{id}" }
      guard !offered.isEmpty else { return nil }
      let operation = Route.operation(method, isCollection: parts.count == place)
      let names = Set(offered.map(\.operation)).sorted().joined(separator: ", ")
      let name = isRelationship ? parts[(place - 1)...].joined(separator: "/") : parts[place - 1]
      return .forbidden(
        "resource '\(name.prefix(200))': does not allow '\(operation)'; allowed operations are \(names)")
    }
  }

  extension APIError {
    static func pathNotFound(_ path: some StringProtocol) -> APIError {
      APIError(
        404, "PATH_ERROR", "The URL path is not valid",
        "path '\(path.prefix(200))': no such resource or relationship; see /packstore/v1/openapi.json")
    }
  }
#endif
