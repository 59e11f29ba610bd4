#if Hosting
  /// The OpenAPI 3.1 document of a route table.
  struct OpenAPIDocument {
    let table: RouteTable

    var output: JSONOutput {
      [
        "openapi": "3.1.0",
        "info": ["title": "PackStore hosting service", "version": "4.4.1"],
        "security": [[Self.scheme: []]],
        "paths": .object(paths),
        "components": [
          "securitySchemes": [Self.scheme: ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"]],
          "schemas": .object(schemas),
        ],
      ]
    }

    private static let scheme = "itc-bearer-token"

    // MARK: - Paths

    private var paths: [(name: String, value: JSONOutput)] {
      var names: [String] = []
      for route in table.routes where !names.contains(route.path) { names.append(route.path) }
      return names.map { name in
        var members: [(name: String, value: JSONOutput)] = []
        if name.contains("{id}") {
          members.append(
            ("parameters", [["name": "id", "in": "path", "required": true, "schema": ["type": "string"]]]))
        }
        for route in table.routes where route.path == name {
          members.append((route.method.rawValue.lowercased(), operation(route)))
        }
        return (name, .object(members))
      }
    }

    private func operation(_ route: Route) -> JSONOutput {
      var members: [(name: String, value: JSONOutput)] = [
        ("operationId", .string(Self.operationID(route))), ("summary", .string(route.summary)),
      ]
      let parameters = route.allParameters
      if !parameters.isEmpty { members.append(("parameters", .array(parameters.map(Self.parameter)))) }
      if let body = route.body {
        members.append(("requestBody", ["required": true, "content": Self.content(Self.reference(body.name))]))
      }
      members.append(("responses", .object(responses(route))))
      return .object(members)
    }

    private static func operationID(_ route: Route) -> String {
      let parts = route.path.split(separator: "/").filter { $0 != "{id}" }
      return "\(parts.joined(separator: "_"))_\(route.operation)"
    }

    private static func parameter(_ schema: ParameterSchema) -> JSONOutput {
      [
        "name": .string(schema.name), "in": "query", "required": .boolean(schema.isRequired), "style": "form",
        "explode": false, "schema": schema.schema,
      ]
    }

    private func responses(_ route: Route) -> [(name: String, value: JSONOutput)] {
      let success: JSONOutput =
        switch route.result {
        case .nothing: ["description": "Success"]
        case .one(let kind): Self.response(Self.reference(kind.name + "Response"))
        case .many(let kind): Self.response(Self.reference(kind.name + "sResponse"))
        case .linkages(let kind): Self.response(Self.reference(kind.name + "sLinkagesResponse"))
        case .related(let kind): Self.response(Self.reference(kind.name + "RelatedResponse"))
        case .linkage(let kind): Self.response(Self.reference(kind.name + "LinkageResponse"))
        }
      var statuses = [400, 401, 403, 429]
      if route.path.contains("{id}") { statuses.append(404) }
      if route.body != nil { statuses += [409, 413, 415, 422, 503] }
      if route.method == .delete { statuses.append(409) }
      let errors = statuses.sorted().map { (String($0), Self.response(Self.reference("ErrorResponse"))) }
      return [(String(route.status), success)] + errors
    }

    private static func response(_ schema: JSONOutput) -> JSONOutput {
      ["description": "JSON", "content": content(schema)]
    }

    private static func content(_ schema: JSONOutput) -> JSONOutput { ["application/json": ["schema": schema]] }

    private static func reference(_ name: String) -> JSONOutput { ["$ref": .string("#/components/schemas/\(name)")] }

    // MARK: - Schemas

    private var schemas: [(name: String, value: JSONOutput)] {
      var found: [String: JSONOutput] = ["ErrorResponse": Self.errors, "PagingInformation": Self.paging]
      for route in table.routes {
        if let body = route.body { found[body.name] = body.schema }
        for kind in route.included { found[kind.name] = Self.schema(of: kind) }
        switch route.result {
        case .nothing: break
        case .one(let kind):
          found[kind.name] = Self.schema(of: kind)
          found[kind.name + "Response"] = document(Self.reference(kind.name), kind, isMany: false)
        case .many(let kind):
          found[kind.name] = Self.schema(of: kind)
          found[kind.name + "sResponse"] = document(Self.reference(kind.name), kind, isMany: true)
        case .linkages(let kind):
          found[kind.name + "sLinkagesResponse"] = Self.document(Self.linkage(kind.type), included: [], isMany: true)
        case .related(let kind):
          found[kind.name] = Self.schema(of: kind)
          found[kind.name + "RelatedResponse"] = document(
            Self.optional(Self.reference(kind.name)), kind, isMany: false)
        case .linkage(let kind):
          found[kind.name + "LinkageResponse"] = Self.document(
            Self.optional(Self.linkage(kind.type)), included: [], isMany: false)
        }
      }
      return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func document(_ schema: JSONOutput, _ kind: ResourceKind, isMany: Bool) -> JSONOutput {
      var names: Set<String> = []
      for route in table.routes {
        switch route.result {
        case .one(let other) where other.type == kind.type, .many(let other) where other.type == kind.type,
          .related(let other) where other.type == kind.type:
          names.formUnion(route.included.map(\.name))
        default: break
        }
      }
      return Self.document(schema, included: names.sorted(), isMany: isMany)
    }

    private static func document(_ schema: JSONOutput, included: [String], isMany: Bool) -> JSONOutput {
      var members: [(name: String, schema: JSONOutput, isRequired: Bool)] = [
        ("data", isMany ? ["type": "array", "items": schema] : schema, true)
      ]
      if !included.isEmpty {
        members.append(("included", ["type": "array", "items": ["oneOf": .array(included.map(reference))]], false))
      }
      let links = isMany ? ["self", "first", "next"] : ["self"]
      members.append(
        (
          "links",
          ValueSchema.objectSchema(links.map { ($0, ["type": "string", "format": "uri-reference"], $0 == "self") }),
          true
        ))
      if isMany { members.append(("meta", reference("PagingInformation"), false)) }
      return ValueSchema.objectSchema(members)
    }

    private static func optional(_ schema: JSONOutput) -> JSONOutput { ["anyOf": [schema, ["type": "null"]]] }

    private static func linkage(_ type: String) -> JSONOutput {
      ValueSchema.objectSchema([
        ("type", ["type": "string", "enum": [.string(type)]], true), ("id", ["type": "string"], true),
      ])
    }

    private static func schema(of kind: ResourceKind) -> JSONOutput {
      let uri: JSONOutput = ["type": "string", "format": "uri-reference"]
      let relationships = kind.relationships.map { relationship in
        let one = linkage(relationship.type)
        var members: [(name: String, schema: JSONOutput, isRequired: Bool)] = [
          ("links", ValueSchema.objectSchema([("self", uri, false), ("related", uri, false)]), false),
          ("data", relationship.isMany ? ["type": "array", "items": one] : one, false),
        ]
        if relationship.isMany { members.append(("meta", reference("PagingInformation"), false)) }
        return (relationship.name, ValueSchema.objectSchema(members), false)
      }
      let attributes = kind.attributes.map { ($0.name, $0.output, false) }
      var members: [(name: String, schema: JSONOutput, isRequired: Bool)] = [
        ("type", ["type": "string", "enum": [.string(kind.type)]], true), ("id", ["type": "string"], true),
      ]
      if !attributes.isEmpty { members.append(("attributes", ValueSchema.objectSchema(attributes), false)) }
      if !relationships.isEmpty { members.append(("relationships", ValueSchema.objectSchema(relationships), false)) }
      members.append(("links", ValueSchema.objectSchema([("self", uri, false)]), false))
      return ValueSchema.objectSchema(members)
    }

    private static let paging = ValueSchema.objectSchema([
      (
        "paging",
        ValueSchema.objectSchema([
          ("total", ["type": "integer"], false), ("limit", ["type": "integer"], true),
          ("nextCursor", ["type": "string"], false),
        ]), true
      )
    ])

    private static let errors: JSONOutput = {
      let text: JSONOutput = ["type": "string"]
      let source: JSONOutput = [
        "oneOf": [
          ValueSchema.objectSchema([("pointer", text, true)]), ValueSchema.objectSchema([("parameter", text, true)]),
        ]
      ]
      let error = ValueSchema.objectSchema([
        ("id", text, false), ("status", text, true), ("code", text, true), ("title", text, true),
        ("detail", text, false),
        ("source", source, false), ("meta", ["type": "object"], false),
      ])
      return ValueSchema.objectSchema([("errors", ["type": "array", "items": error], true)])
    }()
  }
#endif
