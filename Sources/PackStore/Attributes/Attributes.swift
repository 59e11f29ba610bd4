/// The metadata of a pack version other than its content.
///
/// Attributes belong to a version, but not to the identity of its content: other attributes make another version with an equal
/// catalog. They are encoded as canonical JSON, described in section 24 of the format, and identified by the SHA-256 of these
/// bytes.
public struct Attributes: Sendable {
  /// When clients fetch the pack automatically.
  public let downloadPolicy: DownloadPolicy

  /// The platforms that the version is for; empty: all.
  public let platforms: Set<Platform>

  /// The publisher's name for the version; `nil`: none. Attributes kept for the next version omit the label. Labels are unique
  /// within a pack.
  public let label: VersionLabel?

  /// The publisher's public note about the version; `nil`: none. Like the label, it applies to one version only.
  public let note: VersionNote?

  /// The language of the pack's content, if any.
  public let language: LanguageTag?

  /// Data for the app.
  public let userInfo: UserInfo?

  public let placement: Placement

  /// The precedence among packs with the same path: the highest wins. A priority in a site's root overrides this one.
  public let priority: Int32

  /// Patterns for files to store raw and in one piece, as in ``Store/InstallOptions/mappedPaths``; in bytewise order.
  public let mappedPaths: [String]

  /// The app versions that the version is for; `nil`: all. A range in a site's root overrides this one.
  public let appVersions: AppVersionRange?

  /// Members written by a later version of PackStore, which this version ignores.
  public let unknownMembers: [UnknownMember]

  /// The canonical JSON text, of at most 65,536 bytes; `{}` if everything is the default.
  public let canonicalBytes: [UInt8]

  /// The SHA-256 of ``canonicalBytes``.
  package let digest: Digest256

  /// A member of the JSON object that is unknown to this version of PackStore.
  public struct UnknownMember: Hashable, Codable, Sendable {
    public let name: String
    /// Its value, in canonical form.
    public let json: String
  }

  /// The maximum length of attributes in bytes.
  public static let byteCountLimit = 65_536

  /// - Throws: `invalidArgument` for a policy without events, for an invalid pattern, and for more than 65,536 bytes.
  public init(
    downloadPolicy: DownloadPolicy = .onDemand, platforms: Set<Platform> = [], language: LanguageTag? = nil,
    userInfo: UserInfo? = nil, placement: Placement = .durable, priority: Int32 = 0, mappedPaths: [String] = [],
    appVersions: AppVersionRange? = nil, label: VersionLabel? = nil, note: VersionNote? = nil
  ) throws {
    try self.init(
      downloadPolicy: downloadPolicy, platforms: platforms, language: language, userInfo: userInfo,
      placement: placement, priority: priority, mappedPaths: mappedPaths, appVersions: appVersions, label: label,
      note: note, unknownMembers: [])
  }

  /// Returns these attributes with another label and note, or none.
  ///
  /// - Throws: `invalidArgument` if they become too long.
  public func labeled(_ label: VersionLabel?, note: VersionNote? = nil) throws -> Attributes {
    try Attributes(
      downloadPolicy: downloadPolicy, platforms: platforms, language: language, userInfo: userInfo,
      placement: placement, priority: priority, mappedPaths: mappedPaths, appVersions: appVersions, label: label,
      note: note, unknownMembers: unknownMembers)
  }

  init(
    downloadPolicy: DownloadPolicy, platforms: Set<Platform>, language: LanguageTag?, userInfo: UserInfo?,
    placement: Placement, priority: Int32, mappedPaths: [String], appVersions: AppVersionRange?,
    label: VersionLabel?, note: VersionNote?, unknownMembers: [UnknownMember]
  ) throws {
    self.downloadPolicy = downloadPolicy
    self.platforms = platforms
    self.language = language
    self.userInfo = userInfo
    self.placement = placement
    self.priority = priority
    self.mappedPaths = Set(mappedPaths.map(ExactText.init)).sorted().map(\.text)
    self.appVersions = appVersions
    self.label = label
    self.note = note
    self.unknownMembers = unknownMembers
    if downloadPolicy != .onDemand, downloadPolicy.events.isEmpty {
      var error = PackStoreError(.invalidArgument, "the policy '\(downloadPolicy.name)' names no installation event")
      error.specificRemedy = "name one, or take onDemand"
      throw error
    }
    for pattern in self.mappedPaths { _ = try PathPattern(pattern) }
    canonicalBytes = canonicalJSONObject(
      Self.members(
        downloadPolicy, platforms, language, userInfo, placement, priority, self.mappedPaths, appVersions,
        label, note)
        + unknownMembers.map { ($0.name, Array($0.json.utf8)) })
    digest = Digest256(hashing: canonicalBytes)
    guard canonicalBytes.count <= Self.byteCountLimit else {
      var error = PackStoreError(.invalidArgument, "the attributes have \(canonicalBytes.count) bytes", detail: .limit)
      error.specificRemedy = "at most \(Self.byteCountLimit) can be stored; shorten the user info"
      throw error
    }
  }

  /// Returns the members that differ from the default.
  private static func members(
    _ downloadPolicy: DownloadPolicy, _ platforms: Set<Platform>, _ language: LanguageTag?, _ userInfo: UserInfo?,
    _ placement: Placement, _ priority: Int32, _ mappedPaths: [String], _ appVersions: AppVersionRange?,
    _ label: VersionLabel?, _ note: VersionNote?
  ) -> [(name: String, value: [UInt8])] {
    var members: [(name: String, value: [UInt8])] = []
    func add(_ name: String, _ value: [UInt8]) { members.append((name, value)) }
    func list(_ texts: [String]) -> [UInt8] { canonicalJSONArray(texts.map { canonicalJSON($0) }) }
    if downloadPolicy != .onDemand {
      let events = list(downloadPolicy.events.sorted().map(\.rawValue))
      add(
        "downloadPolicy",
        canonicalJSONObject([
          (downloadPolicy.name, canonicalJSONObject([("installationEventTypes", events)]))
        ]))
    }
    if !platforms.isEmpty { add("platforms", list(platforms.sorted().map(\.rawValue))) }
    if let language { add("language", canonicalJSON(language.text)) }
    if let userInfo { add("userInfo", userInfo.bytes) }
    if placement != .durable { add("placement", canonicalJSON(placement.rawValue)) }
    if priority != 0 { add("priority", Array(String(priority).utf8)) }
    if !mappedPaths.isEmpty { add("map", list(mappedPaths)) }
    if let appVersions { add("appVersions", canonicalJSON(appVersions.description)) }
    if let label { add("label", canonicalJSON(label.text)) }
    if let note { add("note", canonicalJSON(note.text)) }
    return members
  }

  /// Whether everything is the default. Such attributes are not stored: a version without attributes has the defaults.
  public var isEmpty: Bool { canonicalBytes.count == 2 }
}

extension Attributes: Hashable {
  public static func == (left: Self, right: Self) -> Bool { left.canonicalBytes == right.canonicalBytes }
  public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension Attributes: CustomStringConvertible {
  /// The canonical JSON text.
  public var description: String { String(decoding: canonicalBytes, as: UTF8.self) }
}

extension Attributes: Codable {
  /// Decoded from a string with the canonical JSON.
  public init(from decoder: any Decoder) throws { self = try decoder.value { try Attributes(canonical: $0.utf8) } }
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: description) }
}
