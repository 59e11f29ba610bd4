#if Hosting
  /// The parsed query of a request.
  struct Query: Sendable {
    struct Sort: Hashable, Sendable {
      let name: String
      let isDescending: Bool
    }

    var includes: [String] = []

    /// Requested fields by type.
    var fields: [String: Set<String>] = [:]

    /// Values by the name within `filter[…]`.
    var filters: [String: [String]] = [:]
    var sorts: [Sort] = []
    var limit = Assumptions.defaultPageSize

    /// Sizes of included lists, by relationship.
    var limits: [String: Int] = [:]
    var cursor: Cursor?

    /// Decoded names and values in the order of the request, for links to the next page.
    private(set) var items: [(name: String, value: String)] = []

    init() {}

    /// Parses a query. Brackets and commas may be raw or percent-encoded.
    ///
    /// - Throws: `APIErrors` with status 400 for unknown, repeated, missing and invalid parameters.
    init(parsing text: some StringProtocol, _ schemas: [ParameterSchema]) throws {
      var faults: [APIError] = []
      var seen: Set<String> = []
      for field in text.split(separator: "&") {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = PercentEncoding.decodeQuery(parts[0]),
          let value = PercentEncoding.decodeQuery(parts.count > 1 ? parts[1] : "")
        else {
          faults.append(
            .parameterInvalid(String(parts[0].prefix(100)), "an escape is not valid UTF-8; encode it again"))
          continue
        }
        guard let schema = schemas.first(where: { $0.name == name }) else {
          faults.append(.parameterIllegal(name))
          continue
        }
        guard seen.insert(name).inserted else {
          faults.append(.parameterRepeated(name))
          continue
        }
        items.append((name, value))
        if let fault = apply(value, schema) { faults.append(fault) }
      }
      for schema in schemas where schema.isRequired && !seen.contains(schema.name) {
        faults.append(.parameterRequired(schema.name))
      }
      guard faults.isEmpty else { throw APIErrors(all: faults) }
    }

    private static let listLimit = 500

    /// Returns a fault for an invalid value.
    private mutating func apply(_ value: String, _ schema: ParameterSchema) -> APIError? {
      switch schema.kind {
      case .limit(let largest):
        guard let number = Int(value), (1...largest).contains(number) else {
          return .parameterInvalid(schema.name, "'\(value.prefix(40))' is not a number from 1 to \(largest)")
        }
        if schema.name == "limit" { limit = number } else { limits[Self.inner(schema.name)] = number }
        return nil
      case .cursor:
        cursor = Cursor(value)
        return cursor == nil ? .parameterInvalid(schema.name, "not a cursor of this service; use links.next") : nil
      case .names, .texts, .otherFields, .boolean, .date: return applyList(value, schema)
      }
    }

    private mutating func applyList(_ value: String, _ schema: ParameterSchema) -> APIError? {
      var values = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      // Some clients do not encode the plus sign of a zone, which then is a space.
      if case .date = schema.kind { values = values.map { $0.replacing(" ", with: "+") } }
      guard values.count <= Self.listLimit else {
        return .parameterInvalid(schema.name, "more than \(Self.listLimit) values; send fewer")
      }
      // `fields[x]=` requests no fields, and `include=` no relationships.
      let isEmpty = value.isEmpty && (schema.name.hasPrefix("fields[") || schema.name == "include")
      if !isEmpty, let wrong = values.first(where: { !Self.isValid($0, schema.kind) }) {
        return .parameterInvalid(schema.name, Self.fault(wrong, schema.kind))
      }
      switch schema.name {
      case "include": includes = isEmpty ? [] : values
      case "sort":
        sorts = values.map {
          Sort(name: $0.hasPrefix("-") ? String($0.dropFirst()) : $0, isDescending: $0.hasPrefix("-"))
        }
      case let name where name.hasPrefix("fields["): fields[Self.inner(name)] = isEmpty ? [] : Set(values)
      case "filter[id]", "filter[app]": filters[Self.inner(schema.name)] = values.map(RequestedID.normalized)
      default: filters[Self.inner(schema.name)] = values
      }
      return nil
    }

    private static func isValid(_ value: String, _ kind: ParameterSchema.Kind) -> Bool {
      switch kind {
      case .names(let names): names.contains(value)
      case .boolean: value == "true" || value == "false"
      case .date: Timestamp(text: value) != nil
      case .otherFields: !value.isEmpty && value.utf8.count <= 100 && value.utf8.allSatisfy(isNameByte)
      case .texts: !value.isEmpty && !value.utf8.contains(0)
      case .limit, .cursor: false
      }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
      byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
        || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func fault(_ value: String, _ kind: ParameterSchema.Kind) -> String {
      let shown = "'\(value.prefix(80))'"
      return switch kind {
      case .names(let names): "\(shown) is not a valid value; use one of \(names.joined(separator: ", "))"
      case .boolean: "\(shown) is not a valid value; use true or false"
      case .date: "\(shown) is not a date; use the form 2026-11-24T09:30:00Z"
      default: "\(shown) is not a valid value"
      }
    }

    /// Returns the name within the brackets.
    private static func inner(_ name: String) -> String {
      guard let open = name.firstIndex(of: "["), name.hasSuffix("]") else { return name }
      return String(name[name.index(after: open)...].dropLast())
    }

    /// Returns the same query with another cursor, encoded.
    func text(cursor: Cursor?) -> String {
      var items = items.filter { $0.name != "cursor" }
      if let cursor { items.append(("cursor", cursor.text)) }
      return items.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(
        separator: "&")
    }
  }

  extension APIError {
    static func parameterIllegal(_ name: String) -> APIError {
      parameter(
        "ILLEGAL", "A parameter is not allowed for this request", name, "not a parameter of this path; remove it")
    }

    static func parameterRepeated(_ name: String) -> APIError {
      parameter("ILLEGAL", "A parameter is not allowed for this request", name, "appears more than once; send one list")
    }

    static func parameterRequired(_ name: String) -> APIError {
      parameter("REQUIRED", "A required parameter is missing", name, "missing; provide a value")
    }

    static func parameterInvalid(_ name: String, _ fault: String) -> APIError {
      parameter("INVALID", "A parameter has an invalid value", name, fault)
    }

    private static func parameter(_ code: String, _ title: String, _ name: String, _ fault: String) -> APIError {
      let name = String(name.prefix(100))
      return APIError(400, "PARAMETER_ERROR.\(code)", title, "parameter '\(name)': \(fault)", at: .parameter(name))
    }
  }
#endif
