import Dispatch

/// Installs requested packs, one call for each download of the ``DownloadScheduler``, and records in the journal how requests end.
///
/// A download has these steps:
/// 1. The limits before the first launch of the app reserve its bytes.
/// 2. If the disk has too little space, purgeable data is purged. A pull that still finds the disk full is repeated once.
/// 3. The site of the pack pulls it into the store. If the agent is pulling the same version, it hands the pull over.
/// 4. The journal records the root that the pack came from, and no longer contains the request.
/// 5. Large files of the pack are decoded in the background.
struct PackInstaller: Sendable {
  let sites: [any PackSite]
  let store: Store
  let packs: LocalPacks
  /// The group's folder, or the folder of an override.
  let folder: FilePath
  let journal: JournalFile
  /// Orders records: see ``ManagedCore/journalQueue``.
  let journalQueue: DispatchQueue
  let agent: AgentClient?
  let watch: AgentWatch?
  /// The limits before the first launch; `nil` for the app itself, which runs.
  let allowance: PackAllowance?
  let materializer: Materializer
  let rules: DownloadRules
  /// Whether another process records pauses.
  let followsJournal: Bool

  /// Downloads and installs a pack, or its newest version.
  ///
  /// - Parameters:
  ///   - pause: ends the pull at a point from which it can continue.
  ///   - progress: receives the fetched and the total bytes.
  /// - Throws: the errors of the site; `lowSpace`, `notOffered`, `staleSite`; `BAError` if a limit refuses the download.
  func install(
    _ pack: AssetPack, pause: Store.PullPause, progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws {
    guard sites.indices.contains(pack.site) else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.id)
    }
    let id = try PackID(validating: pack.id)
    let reservation = try allowance?.reserve(pack)
    defer { reservation?.end() }
    let pulled = try await watch.watching {
      let handover = PackHandover(of: id, by: agent)
      defer { handover.end() }
      return try await withRoom(for: pack, id) {
        let pull = { @Sendable in
          try await sites[pack.site].pull(id, pause: pause) { pulling in
            handover.note(pulling.phase)
            if pulling.phase == .fetch, pulling.totalByteCount > 0 {
              let part = pulling.pack ?? id
              reservation?.record(pulling.byteCount, of: pulling.totalByteCount, for: part)
              if part == id { progress(pulling.byteCount, pulling.totalByteCount) }
            }
          }
        }
        guard let reservation else { return try await pull() }
        return try await reservation.limiting(pull)
      }
    }
    try accept(pulled, of: pack, isHere: packs.isWhole(pack.id))
    try journalQueue.sync { try record(pulled, of: id) }
    if let reservation, let local = try packs.current().packs[pack.id]?.pack {
      try reservation.finish(installedByteCount: local.version.byteCount)
    }
    for pack in [id] + pulled.otherPacks { materializer.start(pack) }
  }

  // MARK: - Space

  /// Pulls a pack after making room for it. The store purges for one writer at a time, and fails other writers that find the disk
  /// full; therefore a pull that fails with `noSpace` is repeated once.
  private func withRoom<Result>(
    for pack: AssetPack, _ id: PackID, _ pull: () async throws -> Result
  ) async throws -> Result {
    let isHere = try store.makeSnapshot().pack(id) != nil
    try await ensureRoom(for: pack, isHere: isHere)
    do {
      return try await pull()
    } catch let error as PackStoreError where error.code == .noSpace {
      try Task.checkCancellation()
      return try await pull()
    }
  }

  /// Purges purgeable data if a download does not fit and purging frees enough space for it.
  private func ensureRoom(for pack: AssetPack, isHere: Bool) async throws {
    // An update shares most of its data with the installed version.
    let needed = rules.reservedByteCount.addingClamped(isHere ? 0 : pack.downloadSize)
    guard var free = rules.freeByteCount(folder), free < needed else { return }
    let purgeable = try await BlockingExecutor.run { try store.makeSnapshot().space().cache.byteCount }
    if needed <= free.addingClamped(purgeable) {
      try await store.purge(bytes: needed.subtractingClamped(free))
      free = rules.freeByteCount(folder) ?? free
    }
    guard free < needed else { return }
    throw ManagedPacksError(
      .lowSpace, "too little disk space for the asset pack '\(pack.id)': \(free) bytes are free",
      remedy: "free \(needed) bytes, for example by removing asset packs")
  }

  // MARK: - Records

  /// Records the root from which a pack was installed.
  private func record(_ pulled: PulledPack, of id: PackID) throws {
    guard [.updated, .unchanged, .healed].contains(pulled.outcome) else { return }
    let source = Journal.Source(origin: pulled.origin, channel: pulled.channel, root: pulled.root)
    let known = try journal.read(), isKnown = { known.packs[$0] == source && known.seen.contains($0) }
    guard known.requests[id] != nil || !([id] + pulled.otherPacks).allSatisfy(isKnown) else { return }
    try journal.update { journal in
      for pack in [id] + pulled.otherPacks {
        journal.packs[pack] = source
        journal.seen.insert(pack)
      }
      journal.requests[id] = nil
    }
  }

  /// Removes the request of a download that has ended, unless it may still succeed.
  ///
  /// - Returns: whether the request will be removed.
  func recordEnd(of pack: AssetPack, _ error: (any Error)?, by scheduler: DownloadScheduler) -> Bool {
    // A download that may succeed on a retry continues at the next launch.
    let isTemporary = error.map { DownloadRules.isTemporary($0) || $0 is PackHandedOver } ?? false
    // A download that the limits before the first launch refuse continues after the launch.
    let isRefused = (error as? BAError).map { PackAllowance.refusals.contains($0.code) } ?? false
    guard !isTemporary, !isRefused else { return false }
    journalQueue.async {
      defer { scheduler.recordedEnd(of: pack.id) }
      // A request made since then belongs to the next download.
      guard !scheduler.isStanding(pack.id) else { return }
      forget(pack)
      agent?.refresh()
    }
    return true
  }

  /// Removes a finished request. If the write fails, the next launch makes the request once more, which costs one query.
  private func forget(_ pack: AssetPack) {
    guard let id = try? PackID(validating: pack.id), (try? journal.read())?.requests[id] != nil else { return }
    try? journal.update { $0.requests[id] = nil }
  }

  /// Records whether a request is paused, for processes that continue it. If the write fails, those processes resume it.
  func record(_ pack: AssetPack, isPaused: Bool) {
    guard !followsJournal else { return }
    journalQueue.async {
      defer { agent?.refresh() }
      guard let id = try? PackID(validating: pack.id), let request = (try? journal.read())?.requests[id],
        request.isPaused != isPaused
      else { return }
      try? journal.update { $0.requests[id]?.isPaused = isPaused }
    }
  }
}

/// Throws an error if the result of a pull is not the requested pack.
private func accept(_ pulled: PulledPack, of pack: AssetPack, isHere: Bool) throws {
  switch pulled.outcome {
  case .updated, .unchanged, .healed: return
  case .held where !isHere:
    throw ManagedPacksError(
      .notOffered,
      "the asset pack '\(pack.id)' lost data, and its site no longer offers the version at which it is held",
      remedy: "unpin the pack to install the offered version")
  case .held, .otherOrigin, .purged: if isHere { return }
  case .absent: throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.id)
  case .notOffered:
    throw ManagedPacksError(
      .notOffered, "the asset pack '\(pack.id)' is not offered to this version of the app, platform or device",
      remedy: "ask the publisher which of them it supports")
  case .stale:
    throw ManagedPacksError(
      .staleSite, "the site of the asset pack '\(pack.id)' is older than a state seen before",
      remedy: "try again later; installed packs are kept")
  case .publisherOutOfDate:
    throw ManagedPacksError(
      .staleSite, "the publisher of the asset pack '\(pack.id)' signed an older state of the site again",
      remedy: "ask the publisher to publish again from the newest state of the site")
  case .releaseIncomplete:
    throw ManagedPacksError(
      .notOffered,
      "the asset pack '\(pack.id)' belongs to a release that needs the pack '\(pulled.blockingPack?.name ?? pack.id)'",
      remedy: "see withheldPacks for the reason why that pack cannot be installed")
  case .missingFiles:
    throw ManagedPacksError(
      .staleSite, "the site of the asset pack '\(pack.id)' lacks files of the offered version",
      remedy: "try again later; if the error persists, report it to the publisher of the site")
  case .reusedNumber:
    throw ManagedPacksError(
      .notOffered,
      "the site offers the asset pack '\(pack.id)' with other content under the number of a version in this store",
      remedy: "remove the pack and download it again, or publish the content with a higher version number")
  }
  throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.id)
}
