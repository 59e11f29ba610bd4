import PackStore

/// One publication, from the publisher's lock to the root. What keeps the site whole meanwhile is said at
/// ``SiteChange``.
///
/// 1. The root is brought up to date with the store, if need be, and what is due goes from the list of what is retired.
/// 2. Versions are copied to the site's store, those beyond the number to keep are dropped: one durable commit.
/// 3. Frame tables and manifests that are missing are made, then the root.
/// 4. What is due goes: files of the site at once, segments with commits that change nothing else.
/// 5. Deltas that are missing are made, then a root that names them too. Clients have the version meanwhile.
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

  var channel = SiteChannel.live

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
    let first = change.root
    let previous = Dictionary(uniqueKeysWithValues: try site.store.packs().map { ($0.id, $0.version) })
    try change.settle()
    let filesBefore = change.files
    let (results, dropped, restored) = try stage(wanted, from: snapshot, previous, in: &change)
    try change.finish()
    let newSegments = change.files.filter { filesBefore[$0.key] == nil && $0.key.isSegment }
    try change.collect()
    let (deltas, missingDeltas) = try makeDeltas(of: results.map(\.version), in: &change)
    let newByteCount = newSegments.values.reduce(change.newByteCount) { $0.addingClamped($1) }
    return Site.PublishResult(
      change, isUnchanged: change.root == first, packs: results, droppedVersions: dropped, restoredVersions: restored,
      deltas: deltas, missingDeltas: missingDeltas, newByteCount: newByteCount)
  }

  /// Copies what is wanted to the site's store, and drops what is beyond the number to keep. What the store has lost is
  /// copied first, from the oldest version on, so that versions are current in the order in which they were.
  private func stage(
    _ wanted: [Site.PublishedPack], from snapshot: Snapshot, _ previous: [PackID: PackVersion],
    in change: inout SiteChange
  ) throws -> ([Site.PublishResult.Pack], [PackVersion], [PackVersion]) {
    var transaction = try change.makeTransaction()
    let restored = try restore(change.missing, from: snapshot, to: &transaction)
    var results: [Site.PublishResult.Pack] = []
    var dropped: [PackVersion] = []
    for pack in wanted {
      let result = try copy(pack.pack, pack.version, from: snapshot, to: &transaction)
      let versions = transaction.versions(of: pack.pack)
      let surplus = versions.dropFirst(options.keptVersionCount).filter { !$0.isPinned }
      if !surplus.isEmpty { try transaction.trim(pack.pack, keeping: options.keptVersionCount) }
      dropped += surplus
      results.append(
        Site.PublishResult.Pack(
          version: result.version, previous: previous[pack.pack], isUnchanged: result.isUnchanged,
          newByteCount: result.newByteCount, newStoredByteCount: result.newStoredByteCount))
    }
    try change.commit(transaction, dropping: dropped)
    return (results, dropped, restored)
  }

  /// Copies versions that the root named and the site's store lacks, where the source keeps them.
  private func restore(
    _ missing: [SiteChange.MissingVersion], from snapshot: Snapshot, to transaction: inout Transaction
  ) throws -> [PackVersion] {
    var restored: [PackVersion] = []
    for lost in missing.reversed() {
      guard snapshot.version(lost.version.number, of: lost.pack)?.catalog == lost.version.catalog else { continue }
      restored.append(try copy(lost.pack, lost.version.number, from: snapshot, to: &transaction).version)
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

  // MARK: - Deltas

  /// Makes the deltas to `current` versions that are missing, and names them in the root: also those that were done
  /// when the task was cancelled.
  private func makeDeltas(
    of current: [PackVersion], in change: inout SiteChange
  ) throws -> ([DeltaFile.Info], [Site.PublishResult.MissingDelta]) {
    let snapshot = try site.store.makeSnapshot()
    var made: [DeltaFile.Info] = [], missing: [Site.PublishResult.MissingDelta] = []
    var isCancelled = false
    for version in current where !isCancelled {
      for from in missingDeltas(to: version, in: change.root) where !isCancelled {
        do {
          made.append(try makeDelta(of: version.pack, from: from, to: version.number, in: snapshot))
        } catch {
          folder.discardDelta()
          isCancelled = error is CancellationError
          if !isCancelled {
            missing.append(
              .init(version: version, from: from, reason: (error as? PackStoreError)?.finding ?? "\(error)"))
          }
        }
      }
    }
    try change.name(made)
    // The site shows what was published, without the delta that was being made.
    if isCancelled { throw CancellationError() }
    return (made, missing)
  }

  /// The numbers of versions from which there are to be deltas, and are none.
  private func missingDeltas(to version: PackVersion, in root: SiteRoot?) -> [UInt64] {
    guard let pack = root?.packs.first(where: { $0.id == version.pack }) else { return [] }
    let old = pack.versions.dropFirst().prefix(options.deltaCount).filter { old in
      old.catalog != version.catalog && !pack.deltas.contains { $0.from == old.catalog }
    }
    return old.map(\.number)
  }

  private func makeDelta(
    of pack: PackID, from: UInt64, to: UInt64, in snapshot: Snapshot
  ) throws -> DeltaFile.Info {
    let file = try folder.openDelta()
    let delta = try snapshot.buildDelta(
      of: pack, from: from, to: to, level: options.deltaOptions.level,
      write: { offset, bytes in try file.write(bytes, at: offset) },
      progress: { [progress] in progress?(.delta(pack, byteCount: $0, totalByteCount: $1)) })
    try folder.finish(file, delta)
    return delta
  }
}

/// What the clock says: nanoseconds since 1970, wherever it stands.
func nanosecondsSince1970() -> Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }

extension SiteRoot.Delta {
  init(_ delta: DeltaFile.Info) {
    self.init(
      from: delta.fromCatalog, to: delta.toCatalog, header: delta.headerDigest,
      headerByteCount: UInt32(delta.headerByteCount), byteCount: UInt64(delta.byteCount))
  }
}
