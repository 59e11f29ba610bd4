#if Hosting
  import PackStore

  @testable import PackHosting

  /// Checks values against the schemas of an OpenAPI document: the part of JSON Schema that the document uses.
  struct SchemaCheck {
    let document: JSONValue

    /// Returns the faults of an answer to an operation; an undescribed status is a fault.
    func faults(_ method: String, _ path: String, _ answer: TestAnswer) -> [String] {
      guard let operation = operation(method, path) else { return ["\(method) \(path): not in the document"] }
      guard let response = operation.member("responses")?.member("\(answer.status)") else {
        return ["\(method) \(path): the status \(answer.status) is not in the document"]
      }
      guard let schema = response.member("content")?.member("application/json")?.member("schema") else {
        return answer.body.isEmpty ? [] : ["\(method) \(path): an unexpected body"]
      }
      guard let value = answer.json else { return ["\(method) \(path): no JSON"] }
      return faults(value, schema, "\(method) \(path)")
    }

    private func operation(_ method: String, _ path: String) -> JSONValue? {
      let parts = path.split(separator: "/")
      let found = document.member("paths")?.object?.first { member in
        let pattern = member.name.split(separator: "/")
        return pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == "{id}" || $0 == $1 }
          && member.value.member(method.lowercased()) != nil
      }
      return found?.value.member(method.lowercased())
    }

    private func faults(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
      if let reference = schema.member("$ref")?.string {
        guard let name = reference.split(separator: "/").last,
          let target = document.member("components")?.member("schemas")?.member(String(name))
        else { return ["\(place): the reference \(reference) leads nowhere"] }
        return faults(value, target, place)
      }
      for (name, count) in [("oneOf", 1...1), ("anyOf", 1...100)] {
        guard let choices = schema.member(name)?.array else { continue }
        let matching = choices.count { faults(value, $0, place).isEmpty }
        if !count.contains(matching) { return ["\(place): \(matching) of \(name) match"] }
      }
      if let values = schema.member("enum")?.array?.compactMap(\.string), !values.contains(value.string ?? "") {
        return ["\(place): '\(value.string ?? value.kind)' is not in \(values)"]
      }
      switch schema.member("type")?.string {
      case "string": return value.string == nil ? ["\(place): not a string"] : []
      case "boolean": return value.boolean == nil ? ["\(place): not a boolean"] : []
      case "integer": return value.integer(Int64.self) == nil ? ["\(place): not an integer"] : []
      case "array": return itemFaults(value, schema, place)
      case "object": return memberFaults(value, schema, place)
      default: return []
      }
    }

    private func itemFaults(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
      guard let items = value.array else { return ["\(place): not a list"] }
      guard let item = schema.member("items") else { return [] }
      return items.enumerated().flatMap { faults($1, item, "\(place)/\($0)") }
    }

    /// A member that the schema lacks is a fault: it would be missing in the document.
    private func memberFaults(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
      guard let members = value.object else { return ["\(place): not an object"] }
      let required = schema.member("required")?.array?.compactMap(\.string) ?? []
      let missing = required.filter { value.member($0) == nil }.map { "\(place)/\($0): missing" }
      guard let properties = schema.member("properties") else { return missing }
      return missing
        + members.flatMap { member in
          guard let property = properties.member(member.name) else { return ["\(place)/\(member.name): not described"] }
          return faults(member.value, property, "\(place)/\(member.name)")
        }
    }
  }
#endif
