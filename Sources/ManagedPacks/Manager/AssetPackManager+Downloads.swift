extension AssetPackManager {
  /// Ensures that a pack is complete on this machine: returns at once if it is; otherwise downloads it or joins a running download.
  /// If a pack has lost data, only the missing data is downloaded.
  ///
  /// If the task is cancelled and no other caller waits for the pack, the download is cancelled too. Downloaded data is kept, and
  /// the next download continues with it.
  ///
  /// - Parameters:
  ///   - pack: any version of the pack.
  ///   - requiresLatest: whether to wait for an update, too. If false, no site is contacted for a pack that is complete.
  /// - Throws: ``ManagedBackgroundAssetsError``, ``ManagedPacksError``, `DeliveryError`, `PackStoreError`; `CancellationError` if
  ///   the download or the task is cancelled.
  public func ensureLocalAvailability(of pack: AssetPack, requireLatestVersion requiresLatest: Bool = false)
    async throws
  {
    try await ensure(pack, requiresLatest)
  }

  /// Ensures that several packs are complete on this machine. If one fails, the others are downloaded nevertheless.
  ///
  /// - Throws: ``LocalAvailabilityError``; `CancellationError` if the task is cancelled.
  public func ensureLocalAvailability(of packs: Set<AssetPack>, requireLatestVersions requiresLatest: Bool = false)
    async throws
  {
    let newest = requiresLatest ? try await coreToAsk().catalog() : nil
    try await ensureAll(packs) { pack in
      try await self.ensure(newest?.pack(pack.id) ?? pack, urgency: .foreground, isLatest: requiresLatest)
    }
  }

  /// Deletes a pack and frees its space; it can be downloaded again. Cancels a running download of the pack.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` if the pack is neither installed nor requested.
  public func remove(assetPackWithID id: String) async throws {
    let core = try core, missing = ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    guard let pack = try? PackID(validating: id) else { throw missing }
    let wasOpen = core.scheduler.openDownloads[id] != nil
    let wasAskedFor = try core.withdraw(pack)
    // If a commit was already under way, the version it installed is removed, too.
    await core.scheduler.stop(id, CancellationError())
    guard try core.packs.current().packs[id] != nil else {
      if wasOpen || wasAskedFor { return }
      throw missing
    }
    try await core.changing { try await core.store.remove(pack) }
    try core.journalQueue.sync { try core.journal.update { $0.packs[pack] = nil } }
  }

  /// Contacts the sites, registers downloads of newer versions of installed packs, and removes packs that their publishers have
  /// withdrawn. A pack is withdrawn if a newer root of the same publisher and channel does not list it. Packs that were added
  /// locally or rolled back, and packs with a pinned version, are kept. Readers of a removed pack go on reading it.
  ///
  /// - Returns: the packs whose updates this call registered, and the packs it removed. A registered download may not have started.
  @discardableResult
  public func checkForUpdates() async throws -> (updatingIDs: Set<String>, removedIDs: Set<String>) {
    let core = try coreToAsk(), catalog = try await core.catalog()
    let newer = try core.packs.current().order.compactMap { local -> AssetPack? in
      let id = local.pack.id.name
      return try core.state(of: id, catalog).status.contains(.updateAvailable) ? catalog.pack(id) : nil
    }
    return (try core.register(newer, .update), try await removeObsolete(catalog))
  }

  private func removeObsolete(_ catalog: PackCatalog) async throws -> Set<String> {
    let core = try core, journal = try core.journal.read()
    var removed: Set<String> = []
    for local in try core.packs.current().order where !core.scheduler.isOpen(local.pack.id.name) {
      let id = local.pack.id, source = journal.packs[id]
      @Sendable func isObsolete(_ pack: Store.Pack, _ versions: [PackVersion]) -> Bool {
        let facts = ObsoleteRule.Facts(pack, versions: versions)
        return catalog.listings(of: facts.origin).contains {
          ObsoleteRule.isObsolete(facts, source: source, listing: $0)
        }
      }
      guard !catalog.isListed(id.name), isObsolete(local.pack, []) else { continue }
      // Judged by the state that the removal changes: another process may just have pinned a version or rolled back.
      let isRemoved = try await core.changing {
        try await core.store.change { transaction in
          guard let pack = transaction.packs.first(where: { $0.id == id }),
            isObsolete(pack, transaction.versions(of: id))
          else { return false }
          try transaction.remove(id)
          return true
        }
      }
      guard isRemoved else { continue }
      try core.journalQueue.sync { try core.journal.update { $0.packs[id] = nil } }
      removed.insert(id.name)
    }
    return removed
  }

  // MARK: - Control

  /// Pauses a download and keeps the downloaded data. Returns whether the pack is being downloaded.
  @discardableResult
  public nonisolated func pauseDownload(ofAssetPackWithID id: String) -> Bool { control(id, .pause) }

  /// Resumes a paused download. Returns whether the pack is being downloaded.
  @discardableResult
  public nonisolated func resumeDownload(ofAssetPackWithID id: String) -> Bool { control(id, .resume) }

  /// Cancels a download; the next one reuses the downloaded data. Returns false if the pack is not being downloaded or the download
  /// was already cancelled.
  @discardableResult
  public nonisolated func cancelDownload(ofAssetPackWithID id: String) -> Bool { control(id, .cancel) }

  private nonisolated func control(_ id: String, _ command: DownloadProgress.Command) -> Bool {
    (try? core)?.scheduler.control(id, command) ?? false
  }

  /// Notifies the manager that the network or the free disk space has changed: downloads that waited may start.
  public nonisolated func conditionsChanged() { (try? core)?.scheduler.conditionsChanged() }

  // MARK: - Steps

  private func ensure(_ pack: AssetPack, _ requiresLatest: Bool) async throws {
    let core = try coreToAsk()
    guard requiresLatest else { return try await ensure(pack, urgency: .foreground, isLatest: false) }
    let catalog = try await core.catalog()
    if !catalog.isListed(pack.id), let error = catalog.errors.first { throw error }
    guard let newest = catalog.pack(pack.id) else { throw catalog.error(ofMissing: pack.id) }
    try await ensure(newest, urgency: .foreground, isLatest: true)
  }

  /// - Parameter isLatest: whether `pack` is the version its site offers, so that another installed version does not suffice.
  func ensure(_ pack: AssetPack, urgency: Urgency, isLatest: Bool) async throws {
    let core = try coreToAsk()
    if let local = try core.packs.current().packs[pack.id]?.pack, try core.packs.isWhole(pack.id) {
      let isSame = local.version.number == UInt64(clamping: pack.version) && local.origin == pack.origin
      if !isLatest || isSame { return }
    }
    try await core.scheduler.fetch(pack, urgency)
  }

  /// Runs `body` for all packs concurrently; a failure does not stop the others.
  func ensureAll(_ packs: Set<AssetPack>, _ body: @escaping @Sendable (AssetPack) async throws -> Void) async throws {
    var successes: Set<AssetPack> = [], failures: [AssetPack: any Error] = [:]
    await withTaskGroup { group in
      for pack in packs {
        group.addTask { (pack, await failure { try await body(pack) }) }
      }
      for await (pack, error) in group {
        if let error { failures[pack] = error } else { successes.insert(pack) }
      }
    }
    try Task.checkCancellation()
    guard failures.isEmpty else { throw LocalAvailabilityError(successes: successes, failures: failures) }
  }
}

private func failure(of body: () async throws -> Void) async -> (any Error)? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}

extension ManagedCore {
  /// Registers downloads that the app does not wait for. If this process ends first, a later process continues them.
  ///
  /// - Returns: the packs that were not requested before.
  func register(_ packs: [AssetPack], _ urgency: Urgency) throws -> Set<String> {
    return try journalQueue.sync {
      let new = try packs.filter { !scheduler.isOpen($0.id) }.map { try PackID(validating: $0.id) }
      // One change of the journal for all packs.
      let paused: Set<String> =
        if new.isEmpty { [] } else {
          try journal.update { journal in
            for id in new { journal.want(id, urgency) }
            return journal.pausedPacks
          }
        }
      return scheduler.request(packs.map { ($0, urgency) }, pausing: paused).new
    }
  }

  /// Removes the request for a pack before the pack is removed. Even if this process ends in between, no other process or policy
  /// downloads the pack again.
  ///
  /// - Returns: whether the pack was requested.
  fileprivate func withdraw(_ pack: PackID) throws -> Bool {
    let isHere = try packs.current().packs[pack.name] != nil
    let wasAskedFor = try journalQueue.sync {
      guard try isHere || journal.read().requests[pack] != nil else { return false }
      return try journal.update { journal in
        journal.seen.insert(pack)
        return journal.requests.removeValue(forKey: pack) != nil
      }
    }
    if wasAskedFor { agent?.refresh() }
    return wasAskedFor
  }
}
