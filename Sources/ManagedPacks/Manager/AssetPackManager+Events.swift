extension AssetPackManager {
  /// Applies policies: registers downloads of the packs that an event calls for, and with `periodic`, updates of those that are
  /// here.
  ///
  /// - Returns: the packs whose downloads were registered by this call.
  @discardableResult
  public func handle(_ event: BAContentRequest) async throws -> Set<String> {
    let core = try core, catalog = try await core.catalog()
    let language = core.resolvedLanguage(of: catalog)
    let journal = try core.journal.read()
    let local = try core.packs.current()
    let called = PolicyRules.packs(
      for: event, among: catalog.packs, isLocal: { local.packs[$0] != nil }, seen: journal.seen, language: language)
    let wanted = await core.wanted(called.map(\.pack), for: event)
    let chosen = called.filter { wanted.contains($0.pack.id) }
    // One change of the journal: a process that ends here leaves its requests to the next one.
    let paused = try core.note(event, catalog, language, requesting: chosen)
    var registered: Set<String> = []
    for (pack, urgency) in chosen
    where core.scheduler.request(pack, urgency, isPaused: paused.contains(pack.id)) { registered.insert(pack.id) }
    if event == .periodic { registered.formUnion(try await checkForUpdates().updatingIDs) }
    return registered
  }

  /// Handles what happened since the journal was written: the app is new or has another version, or the user prefers another
  /// language. Goes on with downloads that a process before this one did not bring to their end.
  ///
  /// - Returns: the events that were handled.
  @discardableResult
  public func detectEvents() async throws -> [BAContentRequest] {
    let core = try core, journal = try core.journal.read()
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
    let journal = try core.journal.read()
    let requests = journal.requests.filter { !core.scheduler.isOpen($0.key.name) }
    guard !requests.isEmpty else { return }
    // What other apps of the group asked for may be on their sites.
    try core.takeUp(requests, try await core.catalog(), forgetsUnlisted: journal.registrations.count <= 1)
  }

  /// Returns when all packs are here without which the app does not start. Call it before anything else that needs them.
  ///
  /// ``essentialProgress`` tells how far all of them are together. Without a network it returns as well, if what the last manifest
  /// called essential is here.
  ///
  /// - Throws: ``LocalAvailabilityError``; what keeps the sites from answering; `CancellationError`.
  public func ensureEssential() async throws {
    let core = try core
    let catalog: PackCatalog
    do {
      try await detectEvents()
      catalog = try await core.catalog()
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      let journal = try core.journal.read()
      guard journal.apps[core.configuration.appID] != nil,
        try journal.essential.allSatisfy({ try core.packs.isWhole($0.name) })
      else { throw error }
      return
    }
    try await fetchEssential(catalog)
  }

  private func fetchEssential(_ catalog: PackCatalog) async throws {
    let core = try core, language = core.resolvedLanguage(of: catalog)
    let app = try core.journal.read().apps[core.configuration.appID] ?? Journal.App(version: core.appVersionText)
    let required = try catalog.packs.filter { pack in
      try PolicyRules.isRequired(pack, by: app, language: language) && !core.packs.isWhole(pack.id)
    }
    let wanted = await core.wanted(required, for: .install)
    let missing = required.filter { wanted.contains($0.id) }
    var parts: [String: (progress: Progress, byteCount: Int)] = [:]
    for pack in missing {
      core.scheduler.request(pack, .essential)
      guard let progress = core.scheduler.progress(of: pack.id) else { continue }  // it is here already
      parts[pack.id] = (progress, pack.downloadSize)
    }
    let progress = essentialProgress as? InstallationProgress
    progress?.set(parts: parts)
    try await ensureAll(Set(missing)) { try await self.ensure($0, urgency: .essential, isLatest: false) }
    progress?.finish()
  }

  /// Fetches the packs in the language that the user prefers now.
  public func reconcilePreferredLanguages() async throws { try await handle(.languageChange) }
}

extension ManagedCore {
  /// The version of the app, as the journal has it.
  var appVersionText: String { configuration.appVersion?.description ?? "" }

  /// Goes on with requests of packs that are offered.
  ///
  /// - Parameter forgetsUnlisted: what no site lists is not asked for any more.
  /// - Returns: the requests that were dealt with.
  @discardableResult
  func takeUp(
    _ requests: [PackID: Journal.Request], _ catalog: PackCatalog, forgetsUnlisted: Bool
  ) throws -> Set<PackID> {
    var taken: Set<PackID> = [], arrived: [PackID: Journal.Source] = [:], withdrawn: Set<PackID> = []
    for (id, request) in requests.sorted(by: { $0.key < $1.key }) {
      guard let pack = catalog.pack(id.name) else {
        if forgetsUnlisted, !catalog.isListed(id.name), catalog.errors.isEmpty { withdrawn.insert(id) }
        continue
      }
      taken.insert(id)
      if try state(of: id.name, catalog).status.contains(.upToDate) {
        arrived[id] = catalog.source(of: pack)
      } else {
        scheduler.request(pack, request.urgency, isPaused: request.isPaused)
      }
    }
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
    return taken.union(withdrawn)
  }

  /// Which of the packs to fetch that an event calls for.
  fileprivate func wanted(_ packs: [AssetPack], for event: BAContentRequest) async -> Set<String> {
    let allowed = packs.filter { options.shouldDownload?($0) ?? true }
    guard let filter = options.filter, !allowed.isEmpty else { return Set(allowed.map(\.id)) }
    return await filter(event, allowed)
  }

  /// Notes that policies were applied.
  ///
  /// - Returns: the packs whose requests are paused.
  fileprivate func note(
    _ event: BAContentRequest, _ catalog: PackCatalog, _ language: LanguageTag?,
    requesting chosen: [(pack: AssetPack, urgency: Urgency)]
  ) throws -> Set<String> {
    let preferred = preferredTags().first
    return try journalQueue.sync {
      try journal.update { journal in
        // Read under the journal's lock: what a process noted there is in the store.
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
}
