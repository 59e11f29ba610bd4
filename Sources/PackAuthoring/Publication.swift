import PackStore

/// One publication, from the publisher's lock to the root. What keeps the site whole meanwhile is said at
/// ``SiteChange``.
///
/// 1. The roots are brought up to date with the store, if need be, and what is due goes from the list of what is retired.
/// 2. Versions are copied to the site's store: one durable commit.
/// 3. Frame tables and manifests that are missing are made, then the root of the channel that offers them.
/// 4. Versions that no channel offers, beyond the number to keep, are dropped, and what is due goes: files of the site at
///    once, segments with commits that change nothing else.
/// 5. Deltas that are missing are made, then roots that name them too. Clients have the version meanwhile.
struct Publication {
  let site: Site
  let source: Store
  let key: SiteKey
  let options: Site.PublishOptions
  let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// The site's, in which tests end a publication where they want.
  var folder: SiteFolder

  /// What the root calls the site: by default by the id of its store.
  var siteID: SiteID

  /// The one that is to offer the versions; nil: none.
  var channel: SiteChannel?

  /// Nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(
    site: Site, source: Store, key: SiteKey, options: Site.PublishOptions,
    progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) {
    self.site = site
    self.source = source
    self.key = key
    self.options = options
    self.progress = progress
    folder = site.folder
    siteID = site.store.id
    channel = options.channel
  }

  /// Publishes what is wanted; nil: the current version of each pack of the source.
  func run(_ wanted: [Site.PublishedPack]?) throws -> Site.PublishResult {
    guard source.id != site.store.id else {
      throw PackStoreError(.invalidArgument, "the store cannot be published to itself", file: source.path.string)
    }
    guard options.keptVersionCount >= 1 else {
      throw PackStoreError(
        .invalidArgument,
        "keptVersionCount is \(options.keptVersionCount), but a site keeps one version of a pack at least")
    }
    guard options.deltaCount >= 0 else {
      throw PackStoreError(.invalidArgument, "deltaCount is \(options.deltaCount), and cannot be negative")
    }
    guard (1...22).contains(options.deltaOptions.level) else {
      throw PackStoreError(
        .invalidArgument, "deltaOptions.level is \(options.deltaOptions.level), but goes from 1 to 22")
    }
    let snapshot = try source.makeSnapshot()
    let wanted = wanted ?? snapshot.packs.map { Site.PublishedPack($0.id) }
    try Self.check(wanted, in: snapshot)
    let lock = try folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    return try publish(wanted, from: snapshot)
  }

  private static func check(_ wanted: [Site.PublishedPack], in snapshot: Snapshot) throws {
    for pack in wanted {
      guard let current = snapshot.pack(pack.pack) else {
        throw PackStoreError.noPack(pack.pack, among: snapshot.packs.map(\.id))
      }
      let number = pack.version ?? current.version.number
      guard snapshot.version(number, of: pack.pack) != nil else {
        throw PackStoreError.notKept(number, of: pack.pack, among: snapshot.versions(of: pack.pack))
      }
    }
  }

  // MARK: - Steps

  private func publish(
    _ wanted: [Site.PublishedPack], from snapshot: Snapshot
  ) throws -> Site.PublishResult {
    var change = try SiteChange(
      of: site.store, named: siteID, channel: channel, in: folder, signedBy: key, options: options, now: now,
      progress: progress)
    let before = change.roots, offered = offers(in: change), previous = shownVersions(before)
    try change.settle()
    let filesBefore = change.files
    let (copied, restored) = try stage(wanted, from: snapshot, in: &change)
    try offer(copied.map(\.version), in: &change)
    let surplus = try surplus(of: copied.map(\.version.pack), in: change)
    change.leaving = Set(surplus)
    try change.finish()
    let newSegments = change.files.filter { filesBefore[$0.key] == nil && $0.key.isSegment }
    try drop(surplus, in: &change)
    try change.collect()
    let results = copied.map { result in
      let pack = result.version.pack
      return Site.PublishResult.Pack(
        result, previous: previous[pack],
        isUnchanged: result.isUnchanged
          && before[channel ?? .live].flatMap { $0.offers(of: pack) } == change.root?.offers(of: pack))
    }
    let snapshot = try site.store.makeSnapshot()
    let work = DeltaWork(
      snapshot, folder: folder, deltaCount: channel == nil ? 0 : options.deltaCount, level: options.deltaOptions.level,
      progress: progress)
    let (deltas, missingDeltas) = try work.run(
      copied.map { (version: $0.version, sources: offered[$0.version.pack] ?? []) }, in: &change)
    let newByteCount = newSegments.values.reduce(change.newByteCount) { $0.addingClamped($1) }
    return Site.PublishResult(
      change, isUnchanged: change.roots == before && copied.allSatisfy(\.isUnchanged) && surplus.isEmpty,
      packs: results,
      droppedVersions: surplus, restoredVersions: restored,
      deltas: deltas, missingDeltas: missingDeltas, newByteCount: newByteCount)
  }

  /// The versions that the channel offers first.
  private func shownVersions(_ roots: [SiteChannel: SiteRoot]) -> [PackID: PackVersion] {
    guard let root = channel.flatMap({ roots[$0] }), let snapshot = try? site.store.makeSnapshot() else { return [:] }
    let shown = root.packs.compactMap { pack in
      snapshot.version(pack.offers[0].number, of: pack.id).map { (pack.id, $0) }
    }
    return Dictionary(uniqueKeysWithValues: shown)
  }

  /// The versions that are offered until now: first those of the channel that is meant, then those of the others.
  private func offers(in change: SiteChange) -> [PackID: [PackVersion]] {
    guard let snapshot = try? site.store.makeSnapshot() else { return [:] }
    var offered: [PackID: [PackVersion]] = [:]
    let states =
      change.channelStates.filter { $0.channel == channel } + change.channelStates.filter { $0.channel != channel }
    for state in states {
      for (pack, offers) in state.plan.packs {
        offered[pack, default: []] += offers.compactMap { snapshot.version($0.number, of: pack) }
      }
    }
    return offered
  }

  /// Copies what is wanted to the site's store. What the store has lost is copied first, from the oldest version on, so that
  /// versions are current in the order in which they were.
  private func stage(
    _ wanted: [Site.PublishedPack], from snapshot: Snapshot, in change: inout SiteChange
  ) throws -> ([Store.InstallResult], [PackVersion]) {
    var transaction = try change.makeTransaction()
    let restored = try restore(change.missing, from: snapshot, to: &transaction)
    let copied = try wanted.map { try copy($0.pack, $0.version, from: snapshot, to: &transaction) }
    try change.commit(transaction)
    return (copied, restored)
  }

  /// Offers versions on the channel that is meant: to all devices, and the apps that their attributes name. What it offers
  /// already stays as it is: a publication of other packs ends no release in phases.
  private func offer(_ versions: [PackVersion], in change: inout SiteChange) throws {
    guard let channel else { return }
    let snapshot = try site.store.makeSnapshot()
    for version in versions where change[channel]?.plan.offers(version.number, of: version.pack) != true {
      let attributes = try snapshot.attributes(of: version)
      try change.edit(channel) { plan in
        try plan.offer(.init(number: version.number, appVersions: attributes.appVersions), of: version.pack) {
          try snapshot.platforms(of: version.pack, $0)
        }
      }
    }
  }

  /// Versions that no channel offers, beyond the number to keep, of which the current one is one.
  private func surplus(of packs: [PackID], in change: SiteChange) throws -> [PackVersion] {
    let snapshot = try site.store.makeSnapshot()
    return packs.flatMap { pack in
      snapshot.versions(of: pack).dropFirst().filter { !$0.isPinned && !change.offers($0.number, of: pack) }
        .dropFirst(options.keptVersionCount - 1)
    }
  }

  private func drop(_ surplus: [PackVersion], in change: inout SiteChange) throws {
    guard !surplus.isEmpty else { return }
    var transaction = try change.makeTransaction()
    for pack in Set(surplus.map(\.pack)).sorted() {
      let kept = transaction.versions(of: pack).filter { version in !surplus.contains { $0 == version } }
      // What is pinned stays; pins of this transaction do not outlive it.
      for version in kept { try transaction.pin(pack, version: version.number) }
      try transaction.trim(pack, keeping: 1)
      try transaction.unpin(pack)
      for version in kept where version.isPinned { try transaction.pin(pack, version: version.number) }
    }
    try change.commit(transaction)
  }

  /// Copies versions that the root named and the site's store lacks, where the source keeps them.
  private func restore(
    _ missing: [SiteChange.MissingVersion], from snapshot: Snapshot, to transaction: inout Transaction
  ) throws -> [PackVersion] {
    var restored: [PackVersion] = []
    for lost in missing.reversed() {
      guard snapshot.version(lost.number, of: lost.pack)?.catalog == lost.catalog else { continue }
      restored.append(try copy(lost.pack, lost.number, from: snapshot, to: &transaction).version)
    }
    // What the store still had stays current.
    let own = try site.store.makeSnapshot()
    for pack in Set(restored.map(\.pack)).sorted() where own.pack(pack) != nil {
      _ = try copy(pack, nil, from: own, to: &transaction)
    }
    return restored
  }

  private func copy(
    _ pack: PackID, _ version: UInt64?, from snapshot: Snapshot, to transaction: inout Transaction
  ) throws -> Store.InstallResult {
    var copyOptions = Store.CopyOptions(level: options.level, layout: options.layout)
    copyOptions.isOwn = true
    if let priority = snapshot.pack(pack)?.priority { copyOptions.priority = priority }
    return try transaction.copy(pack, version: version, from: snapshot, options: copyOptions) { [progress] in
      progress?(.store(pack, $0))
    }
  }
}

/// What the clock says: nanoseconds since 1970, wherever it stands.
func nanosecondsSince1970() -> Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }

extension Snapshot {
  /// The platforms that a version is for; empty: all.
  func platforms(of pack: PackID, _ number: UInt64) throws -> Set<Platform> {
    try version(number, of: pack).map { try attributes(of: $0).platforms } ?? []
  }
}

extension SiteRoot {
  /// What it offers of a pack.
  func offers(of pack: PackID) -> [Offer] { packs.first { $0.id == pack }?.offers ?? [] }
}

extension SiteRoot.Delta {
  init(_ delta: DeltaFile.Info) {
    self.init(
      from: delta.fromCatalog, to: delta.toCatalog, header: delta.headerDigest,
      headerByteCount: UInt32(delta.headerByteCount), byteCount: UInt64(delta.byteCount))
  }
}
