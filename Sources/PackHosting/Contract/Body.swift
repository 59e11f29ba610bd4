#if Hosting
  import PackStore

  /// The parsed body of a request. Optional attributes that are null are missing.
  struct Body: Sendable {
    private let attributes: [String: JSONValue]

    /// Related ids by the relationship's name.
    private let relationships: [String: [String]]

    /// Parses a body.
    ///
    /// - Parameter id: the id of the path, for a body that has one.
    /// - Throws: `APIErrors` with status 400 for text that is not JSON, or with status 409 for all missing and bad fields.
    init(parsing bytes: [UInt8], _ schema: BodySchema, id: String?) throws {
      let document = JSONReader.read(bytes)
      guard let root = document.root, document.faults.isEmpty else {
        throw APIErrors(all: [.unreadable(document.faults.last)])
      }
      guard let data = root.member("data"), data.object != nil else {
        throw APIErrors(all: [.entity("/data", "missing or not an object; send a resource of type '\(schema.type)'")])
      }
      var faults: [APIError] = []
      if data.member("type")?.string != schema.type {
        faults.append(.entity("/data/type", "missing or wrong; use '\(schema.type)'"))
      }
      if schema.hasID, data.member("id")?.string.map(RequestedID.normalized) != id {
        faults.append(.entity("/data/id", "missing or not the id of the path; use that id"))
      }
      attributes = Self.attributes(data.member("attributes"), schema, &faults)
      relationships = Self.relationships(data.member("relationships"), schema, &faults)
      guard faults.isEmpty else { throw APIErrors(all: faults) }
    }

    // MARK: - Attributes

    private static func attributes(
      _ value: JSONValue?, _ schema: BodySchema, _ faults: inout [APIError]
    ) -> [String: JSONValue] {
      var found: [String: JSONValue] = [:]
      if let value, value.object == nil, !value.isNull {
        faults.append(.entity("/data/attributes", "not an object; send one"))
      }
      for member in value?.object ?? [] {
        guard let attribute = schema.attributes.first(where: { $0.name == member.name }) else {
          faults.append(.attributeUnknown(member.name))
          continue
        }
        if member.value.isNull { continue }
        if let fault = fault(of: member.value, attribute.schema, attribute.name) {
          faults.append(fault)
        } else {
          found[attribute.name] = member.value
        }
      }
      for attribute in schema.attributes where attribute.isRequired {
        let isPresent = value?.member(attribute.name).map { !$0.isNull } ?? false
        if !isPresent { faults.append(.attributeRequired(attribute.name)) }
      }
      return found
    }

    /// Returns the fault of a value; a value outside of an enumeration has another code than one of the wrong type.
    private static func fault(of value: JSONValue, _ schema: ValueSchema, _ name: String) -> APIError? {
      switch schema {
      case .text: value.string == nil ? .attributeInvalid(name, "not a string") : nil
      case .uri:
        value.string.map { !$0.isEmpty && $0.utf8.count <= 2048 } ?? false ? nil : .attributeInvalid(name, "not a URL")
      case .date:
        value.string.flatMap({ Timestamp(text: $0) }) == nil
          ? .attributeInvalid(name, "not a date; use the form 2026-11-24T09:30:00Z") : nil
      case .boolean: value.boolean == nil ? .attributeInvalid(name, "not a boolean; use true or false") : nil
      case .integer(let least):
        value.integer(Int64.self).map { (least...ValueSchema.largestInteger).contains($0) } ?? false
          ? nil : .attributeInvalid(name, "not an integer of at least \(least)")
      case .enumeration(let values):
        value.string.map(values.contains) ?? false ? nil : .attributeType(name, valid: values)
      case .list(let item):
        if let items = value.array, items.count <= 1000 {
          items.lazy.compactMap { fault(of: $0, item, name) }.first
        } else {
          .attributeInvalid(name, "not a list of at most 1000 values")
        }
      case .object(let members): fault(of: value, members, name)
      }
    }

    private static func fault(of value: JSONValue, _ members: [ValueSchema.Member], _ name: String) -> APIError? {
      guard let object = value.object else { return .attributeInvalid(name, "not an object") }
      for member in object where !member.value.isNull {
        guard let known = members.first(where: { $0.name == member.name }) else {
          return .attributeUnknown("\(name)/\(member.name)")
        }
        if let fault = fault(of: member.value, known.schema, "\(name)/\(member.name)") { return fault }
      }
      return members.first { known in
        known.isRequired && !object.contains { $0.name == known.name && !$0.value.isNull }
      }.map { .attributeRequired("\(name)/\($0.name)") }
    }

    // MARK: - Relationships

    private static func relationships(
      _ value: JSONValue?, _ schema: BodySchema, _ faults: inout [APIError]
    ) -> [String: [String]] {
      var found: [String: [String]] = [:]
      if let value, value.object == nil, !value.isNull {
        faults.append(.entity("/data/relationships", "not an object; send one"))
      }
      for member in value?.object ?? [] {
        guard let relationship = schema.relationships.first(where: { $0.name == member.name }) else {
          faults.append(.relationshipUnknown(member.name))
          continue
        }
        guard let data = member.value.member("data"), !data.isNull else { continue }
        let items = relationship.isMany ? data.array : [data]
        let ids = items.map { $0.compactMap { id(of: $0, relationship.type) } } ?? []
        guard let items, items.count == ids.count, ids.count <= 1000 else {
          faults.append(.relationshipMalformed(relationship.name, relationship.type))
          continue
        }
        found[relationship.name] = ids
      }
      for relationship in schema.relationships where relationship.isRequired {
        let isPresent = value?.member(relationship.name)?.member("data").map { !$0.isNull } ?? false
        if !isPresent { faults.append(.relationshipRequired(relationship.name)) }
      }
      return found
    }

    private static func id(of value: JSONValue, _ type: String) -> String? {
      value.member("type")?.string == type ? value.member("id")?.string.map(RequestedID.normalized) : nil
    }

    // MARK: - Values

    /// Values of attributes; `nil` for missing ones.
    func text(_ name: String) -> String? { attributes[name]?.string }
    func flag(_ name: String) -> Bool? { attributes[name]?.boolean }
    func integer(_ name: String) -> Int64? { attributes[name]?.integer() }
    func date(_ name: String) -> Timestamp? { attributes[name]?.string.flatMap { Timestamp(text: $0) } }
    func texts(_ name: String) -> [String]? { attributes[name]?.array?.compactMap(\.string) }
    func object(_ name: String) -> JSONValue? { attributes[name] }
    func value<Value: RawRepresentable<String>>(_ name: String, _: Value.Type = Value.self) -> Value? {
      text(name).flatMap { Value(rawValue: $0) }
    }

    /// The related id of a relationship to one; `nil` for none.
    func related(_ name: String) -> String? { relationships[name]?.first }

    func allRelated(_ name: String) -> [String] { relationships[name] ?? [] }

    /// The names of relationships that the body has.
    var relatedNames: Set<String> { Set(relationships.keys) }
  }

  extension JSONValue {
    func member(_ name: String) -> JSONValue? { object?.first { $0.name == name }?.value }
    var boolean: Bool? { if case .boolean(let isTrue) = content { isTrue } else { nil } }
    var isNull: Bool { if case .null = content { true } else { false } }
  }

  extension APIError {
    fileprivate static func unreadable(_ fault: TextFault?) -> APIError {
      let place = fault.map { "line \($0.position.line), column \($0.position.column): \($0.finding)" } ?? "no JSON"
      return APIError(400, "ENTITY_INVALID", "The request body is not valid JSON", "body: \(place)")
    }

    fileprivate static func entity(_ pointer: String, _ fault: String) -> APIError {
      APIError(
        409, Assumptions.malformedEntityCode, "The provided entity is not valid", "'\(pointer)': \(fault)",
        at: .pointer(pointer))
    }

    fileprivate static func attributeUnknown(_ name: String) -> APIError {
      let name = String(name.prefix(100))
      return APIError(
        409, Assumptions.unknownAttributeCode, "The provided entity includes an unknown attribute",
        "attribute '\(name)': not an attribute of this request; remove it", at: .pointer("/data/attributes/\(name)"))
    }

    fileprivate static func relationshipUnknown(_ name: String) -> APIError {
      let name = String(name.prefix(100))
      return APIError(
        409, Assumptions.unknownRelationshipNameCode, "The provided entity includes an unknown relationship",
        "relationship '\(name)': not a relationship of this request; remove it",
        at: .pointer("/data/relationships/\(name)"))
    }

    fileprivate static func relationshipMalformed(_ name: String, _ type: String) -> APIError {
      APIError(
        409, Assumptions.unknownRelationshipCode, "The provided entity includes a relationship with an invalid value",
        "relationship '\(name)': not a linkage; send the type '\(type)' and an id",
        at: .pointer("/data/relationships/\(name)"))
    }
  }
#endif
