public import PackFormats
public import PackStore

extension Site {
  /// A kept version of a site, and the reason for which it stays.
  public struct VersionUse: Hashable, Sendable {
    /// The first of these reasons that applies.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
      /// A channel offers it.
      case offered

      case pinned

      /// It is the current version of the site's store.
      case current

      /// A channel offered it before its current version.
      case previous

      /// It is among the last versions that were offered.
      case offeredBefore = "offered_before"

      /// It is among the latest builds that wait for a channel.
      case build

      /// It belongs to a purgeable pack, and its grace period is not over.
      case purgeable

      /// The policy does not keep it: the next collection drops it.
      case leaving
    }

    public let pack: PackID
    public let version: UInt64
    public let reason: Reason

    /// The channels with an offer of this version.
    public let channels: [SiteChannel]

    /// When its own grace period is over, for ``Reason/purgeable``.
    public let until: Date?
  }

  /// A file of a site, and the reason for which it exists.
  public struct FileUse: Hashable, Sendable {
    /// Relative to the site.
    public let path: String
    public let byteCount: Int

    /// The versions that need it. Empty: a root needs it, it is retired, or nothing needs it.
    public let versions: [VersionUse]

    /// The channels whose roots refer to it.
    public let channels: [SiteChannel]

    /// When it may be deleted, for a retired file.
    public let until: Date?

    /// Whether it is a record of the site's history, which is never deleted.
    public var isRecord: Bool { SitePath(path)?.isRecord == true }

    /// Whether nothing needs it: the next collection deletes it.
    public var isDead: Bool { versions.isEmpty && channels.isEmpty && until == nil && !isRecord }
  }

  /// Explains the versions and files of the site by its policy, without a key.
  ///
  /// - Parameters:
  ///   - now: the current time.
  ///   - count: the number of versions to keep instead of the policy's; `nil`: the policy's.
  ///   - grace: the grace period instead of the policy's; `nil`: the policy's.
  /// - Throws: `corrupt`, `untrusted` for damaged roots; `ioError`, `outOfMemory`.
  public func uses(
    now: Date = Date(), keeping count: Int? = nil, grace: Duration? = nil
  ) throws -> (versions: [VersionUse], files: [FileUse]) {
    let time = Int64(min(max(now.timeIntervalSince1970 * 1e9, 0), 9e18))
    return try UseReport(of: self, now: time, keeping: count, grace: grace).make()
  }
}

/// Explains the versions and files of a site.
private struct UseReport {
  private let site: Site
  private let roots: [SiteRoot]
  private let snapshot: Snapshot
  private let retention: VersionRetention
  private let grace: Duration

  init(of site: Site, now: Int64, keeping count: Int?, grace: Duration?) throws {
    self.site = site
    let folder = site.folder
    roots = try folder.channels().compactMap { try folder.readRoot(of: $0, acceptsDamage: false)?.root }
    snapshot = try site.store.makeSnapshot()
    let policy = try roots.first { $0.channel == .live }?.retentionPolicy() ?? .standard
    retention = VersionRetention(policy, keeping: count, history: try folder.readOffered(), now: now)
    self.grace = grace ?? policy.grace
  }

  func make() throws -> (versions: [Site.VersionUse], files: [Site.FileUse]) {
    let versions = try snapshot.packs.flatMap { try uses(of: $0.id) }
    return (versions, try files(versions))
  }

  private func uses(of pack: PackID) throws -> [Site.VersionUse] {
    var offers: [SiteChannel: [UInt64]] = [:]
    for root in roots where !root.offers(of: pack).isEmpty {
      offers[root.channel] = root.offers(of: pack).map(\.number)
    }
    let versions = snapshot.versions(of: pack)
    let reasons = try retention.reasons(for: versions, of: pack, beside: offers) {
      try snapshot.attributes(of: $0).isPurgeable
    }
    return versions.map { version in
      let (reason, until) = Self.reason(reasons[version.number])
      return Site.VersionUse(
        pack: pack, version: version.number, reason: reason,
        channels: offers.filter { $0.value.contains(version.number) }.keys.sorted(),
        until: until.map(Date.init(nanosecondsSince1970:)))
    }
  }

  private static func reason(_ reason: VersionRetention.Reason?) -> (Site.VersionUse.Reason, Int64?) {
    switch reason {
    case .offered: (.offered, nil)
    case .current: (.current, nil)
    case .pinned: (.pinned, nil)
    case .previous: (.previous, nil)
    case .offeredBefore: (.offeredBefore, nil)
    case .build: (.build, nil)
    case .purgeable(let until): (.purgeable, until)
    case nil: (.leaving, nil)
    }
  }

  private func files(_ versions: [Site.VersionUse]) throws -> [Site.FileUse] {
    let folder = site.folder, known = ManifestIndex(in: folder)
    let uses = try SiteFileUses(of: roots, kept: snapshot.keptVersions, in: folder)
    var users: [SitePath: [Site.VersionUse]] = [:], channels: [SitePath: [SiteChannel]] = [:]
    for use in versions {
      guard let version = snapshot.version(use.version, of: use.pack) else { continue }
      for file in try known.files(of: [version]).keys { users[file, default: []].append(use) }
    }
    for root in roots {
      let records = try folder.linkedRecords(of: [root])
      for file in try root.files(in: folder).merging(records, uniquingKeysWith: { $1 }).keys {
        channels[file, default: []].append(root.channel)
      }
    }
    let retired = uses.retired.entries.mapValues(\.byteCount)
    let all = [uses.needed, uses.kept, retired, uses.stray ?? [:], uses.records].reduce(into: [SitePath: UInt64]()) {
      $0.merge($1) { first, _ in first }
    }
    return all.map { path, byteCount in
      let until = uses.retired.entries[path].map { min($0.since, retention.now).addingClamped(grace.nanoseconds) }
      return Site.FileUse(
        path: path.description, byteCount: Int(clamping: byteCount), versions: users[path] ?? [],
        channels: channels[path]?.sorted() ?? [],
        until: until.flatMap { $0 > retention.now ? Date(nanosecondsSince1970: $0) : nil })
    }.sorted { $0.path < $1.path }
  }
}
