/// What the processes of a group know together, beside what the store says: which apps there are, which downloads were asked for
/// and have not ended, which root brought each pack.
///
/// The journal is the truth; whatever processes tell each other is a hint to read it again. What it has lost costs a question to
/// a site, and never a pack.
package struct Journal: Hashable, Sendable {
  /// The apps of the group by their ids.
  package var apps: [String: App] = [:]

  /// The language that the app chose; nil: the user's preferences decide.
  package var chosenLanguage: LanguageTag?

  /// The language for which policies were applied last; nil: none yet.
  package var language: LanguageTag?

  /// Packs that were brought here, and by which root.
  package var packs: [PackID: Source] = [:]

  /// Downloads that have not ended.
  package var requests: [PackID: Request] = [:]

  /// Packs that policies were applied to, or that were here: one that was removed does not come again by itself.
  package var seen: Set<PackID> = []

  /// The essential packs, as of the last manifest: what an app without a network must have to start.
  package var essential: Set<PackID> = []

  /// The apps that share the packs, as they registered, by their ids.
  package var registrations: [String: Registration] = [:]

  /// What extensions have used of their time, by the ids of their apps.
  package var extensionTimes: [String: ExtensionTime] = [:]

  package init() {}

  package struct App: Hashable, Codable, Sendable {
    package var version: String
    /// Policies for its installation were applied.
    package var isInstalled = false
    /// Policies for an update of it were applied.
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

  /// Where the agent finds an app, and for which versions of packs it is.
  package struct Registration: Hashable, Codable, Sendable {
    /// Nil: the app says none.
    package var version: String?
    /// The absolute path of its property list; nil: it was set up by its program, and the agent does nothing for it.
    package var propertyList: String?

    package init(version: String? = nil, propertyList: String? = nil) {
      self.version = version
      self.propertyList = propertyList
    }
  }

  package struct ExtensionTime: Hashable, Codable, Sendable {
    /// Since 1970, in UTC.
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
  /// Asks for a pack, as soon as the one who wants it soonest. One that is paused stays so: people do that, and events ask again.
  package mutating func want(_ id: PackID, _ urgency: Urgency) {
    requests[id] = Request(
      urgency: max(urgency, requests[id]?.urgency ?? urgency), isPaused: requests[id]?.isPaused ?? false)
  }

  /// The names of the packs whose requests are paused.
  package var pausedPacks: Set<String> { Set(requests.filter(\.value.isPaused).keys.map(\.name)) }

  /// Forgets what no one asks about any more: packs that are neither listed nor here. Were it kept, the journal would grow with every
  /// name that a publisher ever used, up to the day when it takes no more.
  ///
  /// - Parameters:
  ///   - listed: what the sites of this app list. Other apps of the group may have other sites: as long as there are some, what only
  ///     these list stays while there is room.
  ///   - local: the packs that are here.
  package mutating func dropForgotten(listed: (PackID) -> Bool, local: (PackID) -> Bool) {
    packs = packs.filter { local($0.key) || listed($0.key) }
    guard registrations.count <= 1 || seen.count > Self.countLimit / 2 else { return }
    seen = seen.filter { local($0) || listed($0) }
  }
}

/// How soon a pack is wanted; the higher goes first.
package enum Urgency: String, CaseIterable, Codable, Comparable, Sendable {
  /// A newer version of a pack that is here.
  case update
  /// A pack that a policy fetches before it is asked for.
  case prefetch
  /// A pack that the app waits for.
  case foreground
  /// A pack without which the app does not start.
  case essential

  /// No one waits for it: it may be held back while the network costs money or the disk is full.
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

  /// The most bytes of a journal: what its counts allow, with the longest names and paths.
  package static let byteCountLimit = 64 << 20

  /// The most packs, requests and apps of each kind.
  package static let countLimit = 10_000

  package static let title = "the group's journal"

  package static var excess: ManagedPacksError {
    ManagedPacksError(
      .groupFolder, "the group would have more than \(countLimit) packs, requests or apps",
      remedy: "divide the packs among several groups")
  }

  package var isBounded: Bool {
    let counts = [
      apps.count, packs.count, requests.count, seen.count, essential.count, registrations.count, extensionTimes.count,
    ]
    return counts.allSatisfy { $0 <= Self.countLimit }
  }
}

extension Journal {
  private enum CodingKeys: CodingKey {
    case format, apps, chosenLanguage, language, packs, requests, seen, essential, registrations, extensionTimes
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
