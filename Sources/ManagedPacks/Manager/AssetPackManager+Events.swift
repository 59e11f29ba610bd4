extension AssetPackManager {
  /// Applies policies: registers downloads of the packs that an event requires; `periodic` also registers updates of installed
  /// packs.
  ///
  /// - Returns: the packs whose downloads this call registered.
  @discardableResult
  public func handle(_ event: BAContentRequest) async throws -> Set<String> { try await apply(event).registered }

  /// The result of applying an event.
  struct AppliedEvent {
    /// The packs whose downloads were registered.
    var registered: Set<String> = []
    /// The essential packs that are not installed.
    var essential: Set<String> = []
    /// Whether the app's extension ended before it answered. The app then does not wait for the essential packs.
    var hasCrashed = false
  }

  func apply(_ event: BAContentRequest) async throws -> AppliedEvent {
    let core = try coreToAsk()
    let isInstallation = event == .install || event == .update
    let catalog = try await isInstallation ? core.catalogOfInstallation() : core.catalog()
    let language = core.resolvedLanguage(of: catalog)
    let journal = try core.journal.read()
    let local = try core.packs.current()
    let called = PolicyRules.packs(
      for: event, among: catalog.packs, isLocal: { local.packs[$0] != nil }, seen: journal.seen, language: language)
    let answer = await core.wanted(called.map(\.pack), for: event)
    // A cancelled event is detected again at the next launch.
    try Task.checkCancellation()
    let chosen = called.filter { answer.wanted.contains($0.pack.id) }
    var applied = AppliedEvent(hasCrashed: answer.hasCrashed)
    // One step of the queue records the requests and passes them to the scheduler.
    applied.registered = try core.journalQueue.sync {
      // One change of the journal: if this process ends here, the next one continues its requests.
      let paused = try core.note(event, catalog, language, requesting: chosen)
      // All packs at once: other packs must not start before the essential ones.
      return request(chosen, pausing: paused, core).new
    }
    applied.essential = Set(chosen.filter { $0.urgency == .essential }.map(\.pack.id))
    if event == .periodic { applied.registered.formUnion(try await checkForUpdates().updatingIDs) }
    core.explain(event, catalog, answer.wanted, applied.registered, local, journal, language)
    return applied
  }

  private nonisolated var installation: InstallationProgress? { essentialProgress as? InstallationProgress }

  /// Registers downloads. Essential packs start paused if the user has paused the installation.
  ///
  /// - Parameter paused: the packs that the user has paused one by one.
  private func request(
    _ packs: [(pack: AssetPack, urgency: Urgency)], pausing paused: Set<String>, _ core: ManagedCore
  ) -> DownloadScheduler.Requested {
    let essential = Set(packs.filter { $0.urgency == .essential }.map(\.pack.id))
    let requested = core.scheduler.request(
      packs, pausing: essentialProgress.isPaused ? paused.union(essential) : paused)
    installation?.note(requested.downloads.filter { essential.contains($0.key) })
    applyUserActions(core)
    return requested
  }

  /// Applies a pause or a cancellation of the installation to downloads that did not exist when the user acted.
  private nonisolated func applyUserActions(_ core: ManagedCore) {
    installation?.applyPause()
    // Only if the user cancelled: a task cancelled for another reason must not undo the downloads that a policy requires.
    if Task.isCancelled, essentialProgress.isCancelled { core.scheduler.controlEssential(.cancel) }
  }

  /// Detects the events since the journal was last written, and handles them: the app is new, has another version, or the user
  /// prefers another language. Continues downloads that an earlier process did not finish.
  ///
  /// - Returns: the handled events.
  @discardableResult
  public func detectEvents() async throws -> [BAContentRequest] {
    let core = try coreToAsk(), journal = try core.journal.read()
    var events: [BAContentRequest] = []
    let app = journal.apps[core.configuration.appID]
    if app == nil { events.append(.install) }
    if let app, app.version != core.appVersionText { events.append(.update) }
    if app != nil, journal.language != core.preferredTags().first { events.append(.languageChange) }
    for event in events { try await handle(event) }
    try await resumeRequests()
    return events
  }

  /// Continues the requests that were made before this process started.
  func resumeRequests() async throws {
    let core = try core
    let open = core.openDownloads()
    let journal = try core.journal.read()
    let requests = journal.requests.filter { open[$0.key.name] == nil }
    guard !requests.isEmpty else { return }
    // Requests of other apps of the group may be for packs of sites that this app does not use.
    let taken = try core.takeUp(requests, try await core.catalog(), forgetsUnlisted: journal.registrations.count <= 1)
    installation?.note(taken.essential)
    applyUserActions(core)
  }

  /// Returns when all essential packs are complete. Call it before anything else that needs them.
  ///
  /// ``essentialProgress`` reports the progress of all essential packs together. It can be paused and cancelled at any time, also
  /// before the list of packs is known. Without a network, this call waits a few seconds for one
  /// (``DownloadRules/essentialNetworkWait``). If the sites still cannot be read, it succeeds if the packs that were essential at
  /// the last event are complete. While essential packs are downloaded, other packs wait; they start as soon as the last essential
  /// pack is complete or has failed.
  ///
  /// - Throws: ``LocalAvailabilityError``; the error of the sites if none answers; `CancellationError`.
  public func ensureEssential() async throws {
    guard let installation else { return }
    try await installation.run { try await self.bringEssential() }
  }

  private func bringEssential() async throws {
    let core = try coreToAsk()
    let catalog: PackCatalog
    do {
      try await detectEvents()
      catalog = try await core.catalogOfInstallation()
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      let journal = try core.journal.read()
      guard journal.apps[core.configuration.appID] != nil,
        try journal.essential.allSatisfy({ try core.packs.isWhole($0.name) })
      else { throw error }
      installation?.set(parts: [:])
      installation?.finish()
      return
    }
    try await fetchEssential(catalog)
  }

  private func fetchEssential(_ catalog: PackCatalog) async throws {
    let core = try core, language = core.resolvedLanguage(of: catalog)
    let app = try core.journal.read().apps[core.configuration.appID] ?? Journal.App(version: core.appVersionText)
    let required = catalog.packs.filter { PolicyRules.isRequired($0, by: app, language: language) }
    let present = Set(try required.map(\.id).filter { try core.packs.isWhole($0) })
    let answer = await core.wanted(required.filter { !present.contains($0.id) }, for: .install)
    let missing = required.filter { !present.contains($0.id) && answer.wanted.contains($0.id) }
    try Task.checkCancellation()
    let requested = request(missing.map { ($0, .essential) }, pausing: [], core)
    installation?.set(parts: requested.downloads, present: present)
    // If its extension crashed, the app starts at once; the requested downloads continue.
    guard !answer.hasCrashed else { return }
    try await ensureAll(Set(missing)) { try await self.ensure($0, urgency: .essential, isLatest: false) }
    installation?.finish()
  }

  /// Downloads the packs in the language that the user prefers now.
  public func reconcilePreferredLanguages() async throws { try await handle(.languageChange) }
}

extension ManagedCore {
  /// The version of the app, in the form that the journal records.
  var appVersionText: String { configuration.appVersion?.description ?? "" }

  /// The result of continuing requests.
  struct ContinuedRequests {
    /// The requests that were handled.
    var requests: Set<PackID> = []
    /// The downloads of the essential packs.
    var essential: [String: InstallationProgress.Counted] = [:]
  }

  /// Continues requests for offered packs. A request that was cancelled since the caller read it is not continued.
  ///
  /// - Parameter forgetsUnlisted: whether to drop requests for packs that no site lists.
  func takeUp(
    _ requests: [PackID: Journal.Request], _ catalog: PackCatalog, forgetsUnlisted: Bool
  ) throws -> ContinuedRequests {
    var taken = ContinuedRequests(), arrived: [PackID: Journal.Source] = [:], withdrawn: Set<PackID> = []
    var missing: [(id: PackID, pack: AssetPack)] = []
    for id in requests.keys.sorted() {
      guard let pack = catalog.pack(id.name) else {
        if forgetsUnlisted, !catalog.isListed(id.name), catalog.errors.isEmpty { withdrawn.insert(id) }
        continue
      }
      taken.requests.insert(id)
      if try state(of: id.name, catalog).status.contains(.upToDate) {
        arrived[id] = catalog.source(of: pack)
      } else {
        missing.append((id, pack))
      }
    }
    taken.requests.formUnion(withdrawn)
    try journalQueue.sync {
      // The queue has recorded every download that ended before this step.
      let recorded = try journal.read().requests
      let kept = missing.compactMap { id, pack in recorded[id].map { (pack: pack, urgency: $0.urgency) } }
      let paused = missing.filter { recorded[$0.id]?.isPaused == true }.map(\.pack.id)
      let resumed = scheduler.resume(kept, pausing: Set(paused))
      let essential = Set(kept.filter { $0.urgency == .essential }.map(\.pack.id))
      taken.essential = resumed.downloads.filter { essential.contains($0.key) }
      guard !arrived.isEmpty || !withdrawn.isEmpty else { return }
      // The process that downloaded these packs ended before it recorded the result.
      try journal.update { journal in
        for (id, source) in arrived {
          journal.requests[id] = nil
          journal.packs[id] = journal.packs[id] ?? source
        }
        for id in withdrawn { journal.requests[id] = nil }
      }
    }
    return taken
  }

  /// Selects the packs to download from the packs that an event requires.
  fileprivate func wanted(_ packs: [AssetPack], for event: BAContentRequest) async -> FilterAnswer {
    let allowed = packs.filter { options.shouldDownload?($0) ?? true }
    guard let filter = options.filter, !allowed.isEmpty else { return FilterAnswer(wanted: Set(allowed.map(\.id))) }
    return await filter(event, allowed)
  }

  /// Returns ``catalog()``, and waits for a network, because an app cannot start without its essential packs.
  fileprivate func catalogOfInstallation() async throws -> PackCatalog {
    var left = options.rules.essentialNetworkWait, delay = Duration.seconds(1)
    while true {
      do {
        return try await catalog()
      } catch  where DownloadRules.isTemporary(error) && left > .zero {
        try await options.clock.sleep(min(delay, left))
        left -= delay
        delay *= 2
      }
    }
  }

  /// Reports for each pack why an event downloads it or not.
  fileprivate func explain(
    _ event: BAContentRequest, _ catalog: PackCatalog, _ wanted: Set<String>, _ registered: Set<String>,
    _ local: LocalPacks.Contents, _ journal: Journal, _ language: LanguageTag?
  ) {
    guard let explain = options.explain else { return }
    let decisions = catalog.packs.map { pack in
      var reason = PolicyRules.reason(
        for: event, pack, isLocal: local.packs[pack.id] != nil, seen: journal.seen, language: language)
      if reason == .event, !wanted.contains(pack.id) { reason = .filter }
      if reason == .here, registered.contains(pack.id) { reason = .update }
      return PolicyDecision(pack: pack, reason: reason)
    }
    explain(event, decisions.sorted { $0.pack.id < $1.pack.id })
  }

  /// Records that policies were applied. Runs on the journal's queue.
  ///
  /// - Returns: the packs whose requests are paused.
  fileprivate func note(
    _ event: BAContentRequest, _ catalog: PackCatalog, _ language: LanguageTag?,
    requesting chosen: [(pack: AssetPack, urgency: Urgency)]
  ) throws -> Set<String> {
    let preferred = preferredTags().first
    return try journal.update { journal in
      // Read under the journal's lock: the store then contains all packs that the journal lists.
      let local = try packs.current()
      var app = journal.apps[configuration.appID] ?? Journal.App(version: appVersionText)
      switch event {
      case .install: app.isInstalled = true
      case .update: app.isUpdated = true
      case .periodic, .languageChange: break
      }
      app.version = appVersionText
      journal.apps[configuration.appID] = app
      if event != .periodic { journal.language = preferred }
      let ids = catalog.packs.filter { $0.downloadPolicy != .onDemand }.compactMap { try? PackID(validating: $0.id) }
      journal.seen.formUnion(ids + local.order.map(\.pack.id))
      for (pack, urgency) in chosen {
        journal.want(try PackID(validating: pack.id), urgency)
      }
      let essential = catalog.packs.filter { PolicyRules.isRequired($0, by: app, language: language) }
      journal.essential = Set(essential.compactMap { try? PackID(validating: $0.id) })
      if catalog.errors.isEmpty {
        journal.dropForgotten(listed: { catalog.isListed($0.name) }, local: { local.packs[$0.name] != nil })
      }
      return journal.pausedPacks
    }
  }
}
