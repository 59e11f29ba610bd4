extension Attributes {
  /// Reads attributes from the bytes of a file or a network.
  ///
  /// - Throws: `corrupt`, with the position, for any text that is not canonical.
  public init(canonical bytes: some Collection<UInt8>) throws {
    guard bytes.count <= Self.byteCountLimit else { throw corrupt("attributes are too long", at: Self.byteCountLimit) }
    let bytes = Array(bytes)
    do { self = try Self.decode(JSONReader.read(bytes)) } catch let fault as TextFault {
      throw corrupt(fault.finding, at: fault.position.offset)
    }
    guard canonicalBytes != bytes else { return }
    let same = zip(canonicalBytes, bytes).prefix { $0 == $1 }.count
    throw corrupt("attributes are not in canonical form", at: same)
  }

  /// Reads attributes in the form that people write: JSON in any order, with white space, `//` comments and explicit defaults.
  ///
  /// - Parameters:
  ///   - bytes: the text, in UTF-8.
  ///   - file: the name of the file, for errors.
  /// - Throws: `invalidArgument`, with line and column, for invalid attributes and unknown members.
  public init(json bytes: some Collection<UInt8>, file: String = "attributes") throws {
    do {
      let document = JSONReader.read(Array(bytes), options: .init(allowsComments: true))
      let attributes = try Self.decode(document)
      for member in document.root?.object ?? [] where !AttributesDecoder.names.contains(member.name) {
        let nearest = nearestNames(to: member.name, among: AttributesDecoder.names)
        throw TextFault(
          member.position, "attributes have no member '\(member.name)'",
          remedy: nearest.first.map { "did you mean '\($0)'?" }
            ?? "there are \(AttributesDecoder.names.joined(separator: ", "))")
      }
      self = attributes
    } catch let fault as TextFault {
      let place = "\(file):\(fault.position.line):\(fault.position.column)"
      var error = PackStoreError(.invalidArgument, fault.finding, file: place)
      error.specificRemedy = fault.remedy ?? "correct the file"
      throw error
    }
  }

  /// Creates attributes from members of objects of a JSON text; `nil` if the members are not valid attributes.
  package init?(members: [JSONMember], of document: JSONDocument) {
    guard document.faults.isEmpty, let root = document.root else { return nil }
    var decoder = AttributesDecoder(document: document)
    do {
      for member in members { try decoder.take(member) }
      self = try decoder.finish(root)
    } catch { return nil }
  }

  /// - Throws: `TextFault`; `invalidArgument` for valid attributes that are too long.
  private static func decode(_ document: JSONDocument) throws -> Attributes {
    if let fault = document.faults.first { throw fault }
    guard let root = document.root, let members = root.object else {
      throw TextFault(.init(offset: 0, line: 1, column: 1), "attributes are no object")
    }
    var decoder = AttributesDecoder(document: document)
    for member in members { try decoder.take(member) }
    return try decoder.finish(root)
  }
}

/// Collects the members of attributes. Encoding them again detects a text that is not canonical.
private struct AttributesDecoder {
  static let names = [
    "appVersions", "downloadPolicy", "label", "language", "map", "note", "placement", "platforms", "priority",
    "userInfo",
  ]

  let document: JSONDocument

  private var downloadPolicy = DownloadPolicy.onDemand
  private var platforms: Set<Platform> = []
  private var language: LanguageTag?
  private var userInfo: UserInfo?
  private var placement = Placement.durable
  private var priority: Int32 = 0
  private var mappedPaths: [String] = []
  private var appVersions: AppVersionRange?
  private var label: VersionLabel?
  private var note: VersionNote?
  private var unknownMembers: [Attributes.UnknownMember] = []

  init(document: JSONDocument) { self.document = document }

  mutating func take(_ member: JSONMember) throws {
    let value = member.value
    switch member.name {
    case "downloadPolicy": downloadPolicy = try policy(value)
    case "platforms":
      platforms = Set(
        try strings(value).map { try required(Platform(rawValue: $0), value, "no platform has the name '\($0)'") })
    case "language": language = try checked(value) { try LanguageTag(try string(value)) }
    case "userInfo": userInfo = try checked(value) { try UserInfo(value, in: document) }
    case "placement":
      placement = try required(Placement(rawValue: try string(value)), value, "the placement is not known")
    case "priority": priority = try required(value.integer(), value, "a priority is an integer of 32 bits")
    case "map": mappedPaths = try strings(value)
    case "label": label = try checked(value) { try VersionLabel(try string(value)) }
    case "note": note = try checked(value) { try VersionNote(try string(value)) }
    case "appVersions": appVersions = try checked(value) { try AppVersionRange(try string(value)) }
    default:
      var json: [UInt8] = []
      value.appendCanonical(to: &json)
      unknownMembers.append(.init(name: member.name, json: String(decoding: json, as: UTF8.self)))
    }
  }

  func finish(_ root: JSONValue) throws -> Attributes {
    try checked(root) {
      try Attributes(
        downloadPolicy: downloadPolicy, platforms: platforms, language: language, userInfo: userInfo,
        placement: placement, priority: priority, mappedPaths: mappedPaths, appVersions: appVersions, label: label,
        note: note,
        unknownMembers: unknownMembers)
    }
  }

  private func policy(_ value: JSONValue) throws -> DownloadPolicy {
    let members = try required(value.object, value, "a download policy is an object")
    guard members.count == 1, let member = members.first else {
      throw TextFault(value.position, "a download policy has one member")
    }
    let inner = try required(member.value.object, member.value, "a download policy holds an object")
    if member.name == "onDemand", inner.isEmpty { return .onDemand }
    guard inner.count == 1, let list = inner.first, list.name == "installationEventTypes" else {
      throw TextFault(member.value.position, "a download policy has no installation events")
    }
    let events = Set(
      try strings(list.value).map {
        try required(InstallationEvent(rawValue: $0), list.value, "no installation event has the name '\($0)'")
      })
    switch member.name {
    case "essential": return .essential(on: events)
    case "prefetch": return .prefetch(on: events)
    default: throw TextFault(member.position, "the download policy is not known")
    }
  }

  private func string(_ value: JSONValue) throws -> String { try required(value.string, value, "it is no string") }

  private func strings(_ value: JSONValue) throws -> [String] {
    try required(value.array, value, "it is no list").map { try string($0) }
  }

  private func required<Value>(
    _ result: Value?, _ value: JSONValue, _ reason: @autoclosure () -> String
  ) throws -> Value {
    guard let result else { throw TextFault(value.position, reason()) }
    return result
  }

  /// Reports an invalid argument as an invalid value of the text.
  private func checked<Value>(_ value: JSONValue, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as PackStoreError where error.code == .invalidArgument {
      throw TextFault(value.position, error.finding, remedy: error.specificRemedy)
    }
  }
}

private func corrupt(_ reason: String, at offset: Int) -> PackStoreError {
  var error = PackStoreError(.corrupt, reason, file: "attributes")
  error.offset = UInt64(clamping: offset)
  return error
}
