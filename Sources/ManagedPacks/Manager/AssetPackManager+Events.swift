extension AssetPackManager {
  /// Applies policies: registers downloads of the packs that an event calls for, and with `periodic`, updates of those that are
  /// here.
  ///
  /// - Returns: the packs whose downloads were registered by this call.
  @discardableResult
  public func handle(_ event: BAContentRequest) async throws -> Set<String> { try await apply(event).registered }

  /// What came of an event.
  struct AppliedEvent {
    /// The packs whose downloads were registered.
    var registered: Set<String> = []
    /// The essential packs that are not here.
    var essential: Set<String> = []
    /// The app's extension ended before it had answered: the app does not wait for these.
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
    // The event is found again.
    try Task.checkCancellation()
    let chosen = called.filter { answer.wanted.contains($0.pack.id) }
    var applied = AppliedEvent(hasCrashed: answer.hasCrashed)
    // Requests are noted and given to the scheduler in one step of the queue.
    applied.registered = try core.journalQueue.sync {
      // One change of the journal: a process that ends here leaves its requests to the next one.
      let paused = try core.note(event, catalog, language, requesting: chosen)
      // All at once: other packs must not start before the essential ones.
      return request(chosen, pausing: paused, core).new
    }
    applied.essential = Set(chosen.filter { $0.urgency == .essential }.map(\.pack.id))
    if event == .periodic { applied.registered.formUnion(try await checkForUpdates().updatingIDs) }
    core.explain(event, catalog, answer.wanted, applied.registered, local, journal, language)
    return applied
  }

  private nonisolated var installation: InstallationProgress? { essentialProgress as? InstallationProgress }

  /// Registers downloads, of which the essential ones wait while a person holds the installation up.
  ///
  /// - Parameter paused: those that a person has paused one by one.
  private func request(
    _ packs: [(pack: AssetPack, urgency: Urgency)], pausing paused: Set<String>, _ core: ManagedCore
  ) -> DownloadScheduler.Requested {
    let essential = Set(packs.filter { $0.urgency == .essential }.map(\.pack.id))
    let requested = core.scheduler.request(
      packs, pausing: essentialProgress.isPaused ? paused.union(essential) : paused)
    installation?.note(requested.downloads.filter { essential.contains($0.key) })
    // What was pressed meanwhile found no download.
    installation?.applyPause()
    // By a person: a task that was cancelled otherwise takes back nothing that a policy wants.
    if Task.isCancelled, essentialProgress.isCancelled { core.scheduler.controlEssential(.cancel) }
    return requested
  }

  /// Handles what happened since the journal was written: the app is new or has another version, or the user prefers another
  /// language. Goes on with downloads that a process before this one did not bring to their end.
  ///
  /// - Returns: the events that were handled.
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

  /// Goes on with what was asked for before this process began.
  func resumeRequests() async throws {
    let core = try core
    let open = core.openDownloads()
    let journal = try core.journal.read()
    let requests = journal.requests.filter { open[$0.key.name] == nil }
    guard !requests.isEmpty else { return }
    // What other apps of the group asked for may be on their sites.
    let taken = try core.takeUp(requests, try await core.catalog(), forgetsUnlisted: journal.registrations.count <= 1)
    installation?.note(taken.essential)
    installation?.applyPause()
  }

  /// Returns when all packs are here without which the app does not start. Call it before anything else that needs them.
  ///
  /// ``essentialProgress`` tells how far all of them are together; it can be paused and cancelled at any moment, also before it is
  /// known what is to come. Without a network this waits a few seconds for one (``DownloadRules/essentialNetworkWait``), and returns
  /// as well if what the last manifest called essential is here. While essential packs come, those that the app does not wait for
  /// are held back; they start at once when the last one is here or has failed.
  ///
  /// - Throws: ``LocalAvailabilityError``; what keeps the sites from answering; `CancellationError`.
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
    // An app whose extension crashed starts at once; what was asked for goes on.
    guard !answer.hasCrashed else { return }
    try await ensureAll(Set(missing)) { try await self.ensure($0, urgency: .essential, isLatest: false) }
    installation?.finish()
  }

  /// Fetches the packs in the language that the user prefers now.
  public func reconcilePreferredLanguages() async throws { try await handle(.languageChange) }
}

extension ManagedCore {
  /// The version of the app, as the journal has it.
  var appVersionText: String { configuration.appVersion?.description ?? "" }

  /// What came of going on with requests.
  struct TakenUp {
    /// The requests that were dealt with.
    var requests: Set<PackID> = []
    /// The downloads of the essential ones.
    var essential: [String: InstallationProgress.Counted] = [:]
  }

  /// Goes on with requests of packs that are offered.
  ///
  /// - Parameter forgetsUnlisted: what no site lists is not asked for any more.
  func takeUp(
    _ requests: [PackID: Journal.Request], _ catalog: PackCatalog, forgetsUnlisted: Bool
  ) throws -> TakenUp {
    var taken = TakenUp(), arrived: [PackID: Journal.Source] = [:], withdrawn: Set<PackID> = []
    for (id, request) in requests.sorted(by: { $0.key < $1.key }) {
      guard let pack = catalog.pack(id.name) else {
        if forgetsUnlisted, !catalog.isListed(id.name), catalog.errors.isEmpty { withdrawn.insert(id) }
        continue
      }
      taken.requests.insert(id)
      if try state(of: id.name, catalog).status.contains(.upToDate) {
        arrived[id] = catalog.source(of: pack)
      } else {
        let requested = scheduler.request([(pack, request.urgency)], pausing: request.isPaused ? [id.name] : [])
        if request.urgency == .essential { taken.essential.merge(requested.downloads) { _, new in new } }
      }
    }
    taken.requests.formUnion(withdrawn)
    guard !arrived.isEmpty || !withdrawn.isEmpty else { return taken }
    // The process that fetched them ended before it could say so.
    try journalQueue.sync {
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

  /// Which of the packs to fetch that an event calls for.
  fileprivate func wanted(_ packs: [AssetPack], for event: BAContentRequest) async -> FilterAnswer {
    let allowed = packs.filter { options.shouldDownload?($0) ?? true }
    guard let filter = options.filter, !allowed.isEmpty else { return FilterAnswer(wanted: Set(allowed.map(\.id))) }
    return await filter(event, allowed)
  }

  /// As ``catalog()``, for an app that cannot start without: a network that is not there yet is waited for.
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

  /// Tells why packs are fetched for an event, or not.
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

  /// Notes that policies were applied. Runs on the journal's queue.
  ///
  /// - Returns: the packs whose requests are paused.
  fileprivate func note(
    _ event: BAContentRequest, _ catalog: PackCatalog, _ language: LanguageTag?,
    requesting chosen: [(pack: AssetPack, urgency: Urgency)]
  ) throws -> Set<String> {
    let preferred = preferredTags().first
    return try journal.update { journal in
      // Read under the journal's lock: all packs that the journal names are then in the store.
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
