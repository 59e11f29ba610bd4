// Messages between the agent and an app's extension, in the same frames as between app and agent.

enum FilterProtocol {
  /// The first argument of an extension that the agent starts.
  static let argument = "filter"

  /// The size limit of a message in bytes: it contains a pack's user info.
  static let byteCountLimit = 131_072
}

/// The question whether to download a pack.
struct FilterRequest: Hashable, Sendable {
  let pack: AssetPack

  init(_ pack: AssetPack) { self.pack = pack }

  /// - Throws: ``AgentMessageError``.
  init(decoding bytes: [UInt8]) throws {
    let members = try MessageMembers(bytes)
    guard try members.text("ask") == FilterProtocol.argument else { throw AgentMessageError.malformed }
    let info = try members["userInfo"].map { value in
      guard let text = value.string, let json = Data(base64Encoded: text) else { throw AgentMessageError.malformed }
      return json
    }
    let language = try members.optionalText("language")
    let size: Int = try members.integer("downloadSize")
    guard size >= 0, let policy = Self.policy(members),
      let attributes = try? Attributes(
        downloadPolicy: policy, language: language.map { try LanguageTag($0) },
        userInfo: info.map { try UserInfo(json: Array($0)) })
    else { throw AgentMessageError.malformed }
    pack = AssetPack(
      id: try members.pack("id"), version: try members.integer("version"), downloadByteCount: size,
      attributes: attributes, origin: .unknown)
  }

  func encode() -> [UInt8] {
    var members: [(String, MessageValue)] = [
      ("ask", .text(FilterProtocol.argument)), ("id", .text(pack.id)), ("version", .integer(pack.version)),
      ("downloadSize", .integer(pack.downloadSize)), ("policy", .text(pack.downloadPolicy.name)),
      ("events", .texts(pack.downloadPolicy.events.map(\.rawValue).sorted())),
    ]
    if let language = pack.languageTag { members.append(("language", .text(language.text))) }
    if let info = pack.userInfo { members.append(("userInfo", .text(info.base64EncodedString()))) }
    return encodeMessage(members)
  }

  private static func policy(_ members: MessageMembers) -> DownloadPolicy? {
    let names = members["events"]?.array ?? []
    let events = Set(names.compactMap { $0.string.flatMap(InstallationEvent.init(rawValue:)) })
    guard events.count == names.count else { return nil }
    return switch (try? members.text("policy"), events.isEmpty) {
    case ("essential", false): .essential(on: events)
    case ("prefetch", false): .prefetch(on: events)
    case ("onDemand", true): .onDemand
    default: nil
    }
  }
}

struct FilterReply: Hashable, Sendable {
  let pack: PackID
  let isWanted: Bool

  init(_ pack: PackID, isWanted: Bool) {
    self.pack = pack
    self.isWanted = isWanted
  }

  /// - Throws: ``AgentMessageError``.
  init(decoding bytes: [UInt8]) throws {
    let members = try MessageMembers(bytes)
    guard try members.text("answer") == FilterProtocol.argument else { throw AgentMessageError.malformed }
    pack = try members.pack("id")
    isWanted = try members.boolean("fetch")
  }

  func encode() -> [UInt8] {
    encodeMessage([
      ("answer", .text(FilterProtocol.argument)), ("id", .text(pack.name)), ("fetch", .boolean(isWanted)),
    ])
  }
}
