/// The state that the processes of a group share, in addition to the store: the apps, the open requests, and the root from which
/// each pack was installed.
///
/// The journal is authoritative; messages between processes only prompt them to read it again. Lost entries cost a query to a site,
/// never a pack.
package struct Journal: Hashable, Sendable {
  /// The apps of the group by id.
  package var apps: [String: App] = [:]

  /// The language that the app chose; `nil` if the user's preferences decide.
  package var chosenLanguage: LanguageTag?

  /// The language for which policies were last applied; `nil` if none.
  package var language: LanguageTag?

  /// The installed packs, and the root from which each was installed.
  package var packs: [PackID: Source] = [:]

  /// The open requests.
  package var requests: [PackID: Request] = [:]

  /// The packs to which policies were applied, or that were installed. A policy does not download them again after their removal.
  package var seen: Set<PackID> = []

  /// The essential packs of the last manifest: an app without a network needs them to start.
  package var essential: Set<PackID> = []

  /// The registrations of the apps that share the packs, by app id.
  package var registrations: [String: Registration] = [:]

  /// The run time that extensions have used, by app id.
  package var extensionTimes: [String: ExtensionTime] = [:]

  /// The use of the limits before the first launch, by app id.
  package var launches: [String: Launch] = [:]

  package init() {}

  /// The downloads of an app before its first launch.
  package struct Launch: Hashable, Codable, Sendable {
    /// Whether the app was launched: its packs are then unrestricted.
    package var isLaunched = false
    /// The downloaded bytes.
    package var spentByteCount = 0
    package var spentEssentialByteCount = 0
    /// The sizes of the installed packs.
    package var installed: [String: Installed] = [:]

    package struct Installed: Hashable, Codable, Sendable {
      package var isEssential: Bool
      package var byteCount: Int
    }

    package init(isLaunched: Bool = false) { self.isLaunched = isLaunched }
  }

  package struct App: Hashable, Codable, Sendable {
    package var version: String
    /// Whether policies for its installation were applied.
    package var isInstalled = false
    /// Whether policies for an update were applied.
    package var isUpdated = false

    package init(version: String) { self.version = version }
  }

  package struct Source: Hashable, Codable, Sendable {
    package var origin: Store.Origin
    package var channel: SiteChannel?
    package var root: RootNumber

    package init(origin: Store.Origin, channel: SiteChannel?, root: RootNumber) {
      self.origin = origin
      self.channel = channel
      self.root = root
    }
  }

  /// The information for the agent about an app: its version and its property list.
  package struct Registration: Hashable, Codable, Sendable {
    /// `nil` if the app has no version.
    package var version: String?
    /// The absolute path of its property list; `nil` if its program created the configuration. The agent then does nothing for it.
    package var propertyList: String?

    package init(version: String? = nil, propertyList: String? = nil) {
      self.version = version
      self.propertyList = propertyList
    }
  }

  package struct ExtensionTime: Hashable, Codable, Sendable {
    /// Days since 1970, in UTC.
    package var day: Int
    package var milliseconds: Int

    package init(day: Int, milliseconds: Int) {
      self.day = day
      self.milliseconds = milliseconds
    }
  }

  package struct Request: Hashable, Codable, Sendable {
    package var urgency: Urgency
    package var isPaused = false

    package init(urgency: Urgency, isPaused: Bool = false) {
      self.urgency = urgency
      self.isPaused = isPaused
    }
  }
}

extension Journal {
  /// Requests a pack with the highest urgency requested so far. A paused request stays paused: the user paused it, and events
  /// repeat requests.
  package mutating func want(_ id: PackID, _ urgency: Urgency) {
    requests[id] = Request(
      urgency: max(urgency, requests[id]?.urgency ?? urgency), isPaused: requests[id]?.isPaused ?? false)
  }

  /// The names of the packs whose requests are paused.
  package var pausedPacks: Set<String> { Set(requests.filter(\.value.isPaused).keys.map(\.name)) }

  /// Removes entries for packs that are neither listed nor installed. Otherwise the journal would grow with every pack name that a
  /// publisher ever used, up to its limit.
  ///
  /// - Parameters:
  ///   - listed: whether a site of this app lists the pack. Other apps of the group may have other sites. If such apps exist,
  ///     entries of ``seen`` are kept until half of the limit is used.
  ///   - local: whether the pack is installed.
  package mutating func dropForgotten(listed: (PackID) -> Bool, local: (PackID) -> Bool) {
    packs = packs.filter { local($0.key) || listed($0.key) }
    guard registrations.count <= 1 || seen.count > Self.countLimit / 2 else { return }
    seen = seen.filter { local($0) || listed($0) }
  }
}

/// The urgency of a request; higher values start first.
package enum Urgency: String, CaseIterable, Codable, Comparable, Sendable {
  /// A newer version of an installed pack.
  case update
  /// A pack that a policy downloads before it is requested.
  case prefetch
  /// A pack that the app waits for.
  case foreground
  /// A pack without which the app does not start.
  case essential

  /// Whether no caller waits for the pack, so that it may wait while the network is metered or the disk is full.
  package var isBackground: Bool { self < .foreground }

  private var rank: Int {
    switch self {
    case .update: 0
    case .prefetch: 1
    case .foreground: 2
    case .essential: 3
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

extension Journal: GroupDocument {
  package static let format = 1

  /// The size limit of a journal in bytes: its largest counts with the longest names and paths.
  package static let byteCountLimit = 64 << 20

  /// The limit for packs, requests and apps, each.
  package static let countLimit = 10_000

  package static let title = "the group's journal"

  package static var excess: ManagedPacksError {
    ManagedPacksError(
      .groupFolder, "the group would have more than \(countLimit) packs, requests or apps",
      remedy: "split the packs among several groups")
  }

  package var isBounded: Bool {
    let counts = [
      apps.count, packs.count, requests.count, seen.count, essential.count, registrations.count, extensionTimes.count,
      launches.count, launches.values.map(\.installed.count).max() ?? 0,
    ]
    return counts.allSatisfy { $0 <= Self.countLimit }
  }
}

extension Journal {
  private enum CodingKeys: CodingKey {
    case format, apps, chosenLanguage, language, packs, requests, seen, essential, registrations, extensionTimes,
      launches
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    apps = try values.decodeIfPresent([String: App].self, forKey: .apps) ?? [:]
    chosenLanguage = try values.decodeIfPresent(LanguageTag.self, forKey: .chosenLanguage)
    language = try values.decodeIfPresent(LanguageTag.self, forKey: .language)
    packs = try Self.byPack(values.decodeIfPresent([String: Source].self, forKey: .packs))
    requests = try Self.byPack(values.decodeIfPresent([String: Request].self, forKey: .requests))
    seen = try values.decodeIfPresent(Set<PackID>.self, forKey: .seen) ?? []
    essential = try values.decodeIfPresent(Set<PackID>.self, forKey: .essential) ?? []
    registrations = try values.decodeIfPresent([String: Registration].self, forKey: .registrations) ?? [:]
    extensionTimes = try values.decodeIfPresent([String: ExtensionTime].self, forKey: .extensionTimes) ?? [:]
    launches = try values.decodeIfPresent([String: Launch].self, forKey: .launches) ?? [:]
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(Self.format, forKey: .format)
    try values.encode(apps, forKey: .apps)
    try values.encodeIfPresent(chosenLanguage, forKey: .chosenLanguage)
    try values.encodeIfPresent(language, forKey: .language)
    try values.encode(Self.byName(packs), forKey: .packs)
    try values.encode(Self.byName(requests), forKey: .requests)
    try values.encode(seen.sorted(), forKey: .seen)
    try values.encode(essential.sorted(), forKey: .essential)
    try values.encode(registrations, forKey: .registrations)
    try values.encode(extensionTimes, forKey: .extensionTimes)
    if !launches.isEmpty { try values.encode(launches, forKey: .launches) }
  }

  private static func byPack<Value>(_ values: [String: Value]?) throws -> [PackID: Value] {
    var packs: [PackID: Value] = [:]
    for (name, value) in values ?? [:] { packs[try PackID(validating: name)] = value }
    return packs
  }

  private static func byName<Value>(_ values: [PackID: Value]) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: values.map { ($0.key.name, $0.value) })
  }
}
