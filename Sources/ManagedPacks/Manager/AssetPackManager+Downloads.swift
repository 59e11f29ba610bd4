extension AssetPackManager {
  /// Returns when a pack is here, whole: at once if it is; else it is fetched, or joins a download that is under way. Of a pack
  /// that lost bytes, only these come.
  ///
  /// When the task is cancelled and nothing else wants the pack, its download is cancelled too. What came stays, and the next
  /// download goes on with it.
  ///
  /// - Parameters:
  ///   - pack: any version of it.
  ///   - requiresLatest: waits for an update, too. Otherwise no site is asked about a pack that is here.
  /// - Throws: ``ManagedBackgroundAssetsError``, ``ManagedPacksError``, `DeliveryError`, `PackStoreError`; `CancellationError` when
  ///   the download or the task is cancelled.
  public func ensureLocalAvailability(of pack: AssetPack, requireLatestVersion requiresLatest: Bool = false)
    async throws
  {
    try await ensure(pack, requiresLatest)
  }

  /// The same for several packs: one that fails keeps none of the others from coming.
  ///
  /// - Throws: ``LocalAvailabilityError``; `CancellationError` when the task is cancelled.
  public func ensureLocalAvailability(of packs: Set<AssetPack>, requireLatestVersions requiresLatest: Bool = false)
    async throws
  {
    let newest = requiresLatest ? try await coreToAsk().catalog() : nil
    try await ensureAll(packs) { pack in
      try await self.ensure(newest?.pack(pack.id) ?? pack, urgency: .foreground, isLatest: requiresLatest)
    }
  }

  /// Frees the space of a pack; it can be fetched again. A download of it is cancelled.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` when it is not here.
  public func remove(assetPackWithID id: String) async throws {
    let core = try core, missing = ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    guard let pack = try? PackID(validating: id) else { throw missing }
    let wasOpen = core.scheduler.openDownloads[id] != nil
    let wasAskedFor = try core.withdraw(pack)
    // A commit that was under way counts: what it brought is removed.
    await core.scheduler.stop(id, CancellationError())
    guard try core.packs.current().packs[id] != nil else {
      if wasOpen || wasAskedFor { return }
      throw missing
    }
    try await core.changing { try await core.store.remove(pack) }
    try core.journalQueue.sync { try core.journal.update { $0.packs[pack] = nil } }
  }

  /// Asks the sites, registers downloads of newer versions of packs that are here, and removes packs that their publishers have
  /// withdrawn: those that no newer root of the same publisher and channel lists. What was added here, pinned, or rolled back
  /// stays.
  ///
  /// - Returns: what this call has made happen. The downloads are registered, and may not have begun.
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
      let facts = ObsoleteRule.Facts(local.pack)
      let source = journal.packs[facts.id]
      let isObsolete = catalog.listings(of: facts.origin).contains {
        ObsoleteRule.isObsolete(facts, source: source, listing: $0)
      }
      guard isObsolete, !catalog.isListed(facts.id.name) else { continue }
      try await core.changing { try await core.store.remove(facts.id) }
      try core.journalQueue.sync { try core.journal.update { $0.packs[facts.id] = nil } }
      removed.insert(facts.id.name)
    }
    return removed
  }

  // MARK: - Control

  /// Holds a download up; what came stays. False: the pack is not being downloaded.
  @discardableResult
  public nonisolated func pauseDownload(ofAssetPackWithID id: String) -> Bool { control(id, .pause) }

  /// Lets a download go on. False: the pack is not being downloaded.
  @discardableResult
  public nonisolated func resumeDownload(ofAssetPackWithID id: String) -> Bool { control(id, .resume) }

  /// Cancels a download; what came stays for the next one. False: the pack is not being downloaded, or was cancelled before.
  @discardableResult
  public nonisolated func cancelDownload(ofAssetPackWithID id: String) -> Bool { control(id, .cancel) }

  private nonisolated func control(_ id: String, _ command: DownloadProgress.Command) -> Bool {
    (try? core)?.scheduler.control(id, command) ?? false
  }

  /// Says that the network or the disk is not what it was: downloads that were held back may start.
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

  /// - Parameter isLatest: the pack is what its site offers, and another version here does not do.
  func ensure(_ pack: AssetPack, urgency: Urgency, isLatest: Bool) async throws {
    let core = try coreToAsk()
    if let local = try core.packs.current().packs[pack.id]?.pack, try core.packs.isWhole(pack.id) {
      let isSame = local.version.number == UInt64(clamping: pack.version) && local.origin == pack.origin
      if !isLatest || isSame { return }
    }
    try await core.scheduler.fetch(pack, urgency)
  }

  /// Does something for several packs at once, whichever fail.
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
  /// Asks for packs that the app does not wait for, so that a later process goes on with them.
  ///
  /// - Returns: those that were not asked for before.
  func register(_ packs: [AssetPack], _ urgency: Urgency) throws -> Set<String> {
    return try journalQueue.sync {
      let new = try packs.filter { !scheduler.isOpen($0.id) }.map { try PackID(validating: $0.id) }
      // One change of the journal, however many there are.
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

  /// Forgets a request, before its pack is removed: whatever ends this process then, none goes on with it, nor does a policy.
  ///
  /// - Returns: whether there was one.
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
