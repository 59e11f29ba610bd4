import PackStore

// Messages between an app and the agent of its group: JSON objects, each in one frame of `MessageFrames`. The member `format` is
// the version of the protocol. Unknown members are ignored, so that later versions may add some.

/// A request of an app to the agent.
package enum AgentRequest: Hashable, Sendable {
  /// Return the agent's process id.
  case status
  /// Read the journal again: it has changed.
  case refresh
  /// Stop downloading a pack: the app downloads it itself until the connection ends.
  case handOver(PackID)
  /// Stop downloading an app's own downloads: the app performs them itself until the connection ends.
  case handOverDownloads(app: String)
  /// Apply the policies for an event, for one app of the group or for all.
  case event(BAContentRequest, app: String?)
}

/// A reply of the agent.
package enum AgentReply: Hashable, Sendable {
  /// The agent's process id, and a summary of an active override.
  case status(process: Int32, override: String? = nil)
  /// Success. For an event, the requested packs.
  case done(packs: [PackID])
  /// Failure.
  case failed(reason: String)
}

/// The version of the protocol.
package let agentProtocolVersion = 1

/// The size limit of a name or reason in a message, in bytes.
private let textByteCountLimit = 4096

/// The largest number of packs in a reply; the journal lists the others.
private let packCountLimit = 256

extension AgentRequest {
  /// - Throws: ``AgentMessageError``.
  package init(decoding bytes: [UInt8]) throws {
    let members = try MessageMembers(bytes)
    switch try members.text("ask") {
    case "status": self = .status
    case "refresh": self = .refresh
    case "handover":
      if members["pack"] == nil, let app = try members.optionalText("app") {
        self = .handOverDownloads(app: app)
      } else {
        self = .handOver(try members.pack("pack"))
      }
    case "event":
      guard let event = BAContentRequest(word: try members.text("event")) else { throw AgentMessageError.malformed }
      self = .event(event, app: try members.optionalText("app"))
    default: throw AgentMessageError.malformed
    }
  }

  package func encode() -> [UInt8] {
    switch self {
    case .status: encodeMessage([("ask", .text("status"))])
    case .refresh: encodeMessage([("ask", .text("refresh"))])
    case .handOver(let pack): encodeMessage([("ask", .text("handover")), ("pack", .text(pack.name))])
    case .handOverDownloads(let app): encodeMessage([("ask", .text("handover")), ("app", .text(app))])
    case .event(let event, let app):
      encodeMessage(
        [("ask", .text("event")), ("event", .text(event.word))] + (app.map { [("app", .text($0))] } ?? []))
    }
  }
}

extension AgentReply {
  /// - Throws: ``AgentMessageError``.
  package init(decoding bytes: [UInt8]) throws {
    let members = try MessageMembers(bytes)
    switch try members.text("answer") {
    case "status":
      self = .status(process: try members.integer("process"), override: try members.optionalText("override"))
    case "done":
      let packs = members["packs"]?.array ?? []
      guard packs.count <= packCountLimit else { throw AgentMessageError.malformed }
      self = .done(packs: try packs.map { try members.pack($0) })
    case "failed": self = .failed(reason: try members.text("reason"))
    default: throw AgentMessageError.malformed
    }
  }

  package func encode() -> [UInt8] {
    switch self {
    case .status(let process, let override):
      encodeMessage(
        [("answer", .text("status")), ("process", .integer(Int(process)))]
          + (override.map { [("override", .text(String($0.prefix(1000))))] } ?? []))
    case .done(let packs):
      encodeMessage([("answer", .text("done")), ("packs", .texts(packs.prefix(packCountLimit).map(\.name)))])
    case .failed(let reason):
      encodeMessage([("answer", .text("failed")), ("reason", .text(String(reason.prefix(500))))])
    }
  }
}

extension BAContentRequest {
  /// The name of the event in commands and messages.
  package var word: String {
    switch self {
    case .install: "install"
    case .update: "update"
    case .periodic: "periodic"
    case .languageChange: "language"
    }
  }

  package init?(word: String) {
    guard let event = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = event
  }
}

// MARK: - Members

/// The members of a message.
struct MessageMembers {
  private let members: [JSONMember]

  init(_ bytes: [UInt8]) throws {
    // The reader rejects deep nesting and duplicate names.
    let document = JSONReader.read(bytes)
    guard document.faults.isEmpty, let members = document.root?.object else { throw AgentMessageError.malformed }
    self.members = members
    let format: Int = try integer("format")
    guard format >= 1 else { throw AgentMessageError.malformed }
    guard format <= agentProtocolVersion else { throw AgentMessageError.newer }
  }

  subscript(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

  func optionalText(_ name: String) throws -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.string, !text.isEmpty, text.utf8.count <= textByteCountLimit else {
      throw AgentMessageError.malformed
    }
    return text
  }

  func text(_ name: String) throws -> String {
    guard let text = try optionalText(name) else { throw AgentMessageError.malformed }
    return text
  }

  func integer<Value: FixedWidthInteger>(_ name: String, _: Value.Type = Value.self) throws -> Value {
    guard let value = self[name]?.integer(Value.self) else { throw AgentMessageError.malformed }
    return value
  }

  func boolean(_ name: String) throws -> Bool {
    guard case .boolean(let isTrue)? = self[name]?.content else { throw AgentMessageError.malformed }
    return isTrue
  }

  func pack(_ name: String) throws -> PackID { try pack(self[name]) }

  func pack(_ value: JSONValue?) throws -> PackID {
    guard let name = value?.string, let pack = try? PackID(validating: name) else { throw AgentMessageError.malformed }
    return pack
  }
}

enum MessageValue {
  case text(String)
  case integer(Int)
  case boolean(Bool)
  case texts([String])
  /// Encoded JSON.
  case json([UInt8])

  var bytes: [UInt8] {
    switch self {
    case .text(let text): canonicalJSON(text)
    case .integer(let number): Array("\(number)".utf8)
    case .boolean(let isTrue): Array("\(isTrue)".utf8)
    case .texts(let texts): canonicalJSONArray(texts.map(canonicalJSON))
    case .json(let bytes): bytes
    }
  }
}

func encodeMessage(_ members: [(name: String, value: MessageValue)]) -> [UInt8] {
  canonicalJSONObject(([("format", .integer(agentProtocolVersion))] + members).map { ($0.name, $0.value.bytes) })
}
