import Foundation

/// A JSON value. Numbers without a fraction are integers.
enum JSON: Decodable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let boolean = try? value.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  init(_ bytes: some Sequence<UInt8>) throws { self = try JSONDecoder().decode(JSON.self, from: Data(bytes)) }

  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
  var array: [JSON]? { if case .array(let items) = self { items } else { nil } }
  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// As `type` of a schema has it; an integer is a number, too.
  var types: [String] {
    switch self {
    case .null: ["null"]
    case .boolean: ["boolean"]
    case .integer: ["integer", "number"]
    case .number: ["number"]
    case .string: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }
}

/// Checks values against the part of JSON Schema (2020-12) that the documents use. Another keyword is a fault, since it
/// would go unchecked; so is a property that the schema does not describe, though JSON Schema itself allows it.
struct JSONSchema {
  let root: JSON

  private static let keywords: Set = [
    "$schema", "$defs", "$ref", "title", "description", "type", "enum", "pattern", "minLength", "maxLength", "minimum",
    "required", "properties", "items",
  ]

  /// The faults of a value, each with its place.
  ///
  /// - Parameter seen: receives the existing properties, as `packs[].version`.
  func faults(of value: JSON, seen: inout Set<String>) -> [String] {
    var faults: [String] = []
    check(value, root, "", &faults, &seen)
    return faults
  }

  /// All properties that the schema describes, as `packs[].version`.
  func described() -> Set<String> {
    var names: Set<String> = []
    describe(root, "", &names)
    return names
  }

  private func describe(_ schema: JSON, _ place: String, _ names: inout Set<String>) {
    let schema = resolved(schema)
    for (name, property) in schema["properties"]?.object ?? [:] {
      let inner = place.isEmpty ? name : "\(place).\(name)"
      names.insert(inner)
      describe(property, inner, &names)
    }
    if let items = schema["items"] { describe(items, place + "[]", &names) }
  }

  private func resolved(_ schema: JSON) -> JSON {
    guard let reference = schema["$ref"]?.string else { return schema }
    return root["$defs"]?[String(reference.dropFirst("#/$defs/".count))] ?? .null
  }

  private func check(
    _ value: JSON, _ schema: JSON, _ place: String, _ faults: inout [String], _ seen: inout Set<String>
  ) {
    let schema = resolved(schema)
    guard let members = schema.object else {
      faults.append("\(place): there is no schema")
      return
    }
    for keyword in members.keys where !Self.keywords.contains(keyword) {
      faults.append("\(place): the keyword '\(keyword)' is not known")
    }
    if let type = members["type"]?.string, !value.types.contains(type) {
      faults.append("\(place): \(value) is no \(type)")
    }
    if let choices = members["enum"]?.array, !choices.contains(value) {
      faults.append("\(place): \(value) is none of \(choices)")
    }
    checkScalar(value, members, place, &faults)
    if case .object(let properties) = value { check(properties, members, place, &faults, &seen) }
    if case .array(let items) = value, let schema = members["items"] {
      for item in items { check(item, schema, place + "[]", &faults, &seen) }
    }
  }

  private func checkScalar(_ value: JSON, _ schema: [String: JSON], _ place: String, _ faults: inout [String]) {
    if let pattern = schema["pattern"]?.string, let text = value.string {
      let isMatch = (try? Regex(pattern)).map { text.firstMatch(of: $0) != nil }
      if isMatch != true { faults.append("\(place): '\(text)' does not match \(pattern)") }
    }
    if let text = value.string {
      if case .integer(let least)? = schema["minLength"], text.unicodeScalars.count < least {
        faults.append("\(place): '\(text)' is too short")
      }
      if case .integer(let most)? = schema["maxLength"], text.unicodeScalars.count > most {
        faults.append("\(place): '\(text)' is too long")
      }
    }
    guard case .integer(let minimum)? = schema["minimum"] else { return }
    switch value {
    case .integer(let number) where number < minimum: faults.append("\(place): \(number) is too low")
    case .number(let number) where number < Double(minimum): faults.append("\(place): \(number) is too low")
    default: break
    }
  }

  private func check(
    _ properties: [String: JSON], _ schema: [String: JSON], _ place: String, _ faults: inout [String],
    _ seen: inout Set<String>
  ) {
    for case .string(let name) in schema["required"]?.array ?? [] where properties[name] == nil {
      faults.append("\(place): '\(name)' is missing")
    }
    for (name, value) in properties {
      let inner = place.isEmpty ? name : "\(place).\(name)"
      guard let described = schema["properties"]?[name] else {
        faults.append("\(inner): the schema does not describe it")
        continue
      }
      seen.insert(inner)
      check(value, described, inner, &faults, &seen)
    }
  }
}
