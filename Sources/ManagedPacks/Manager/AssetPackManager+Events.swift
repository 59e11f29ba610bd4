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
    let chosen = PolicyRules.packs(
      for: event, among: catalog.packs, isLocal: { local.packs[$0] != nil }, seen: journal.seen, language: language
    ).filter { core.options.shouldDownload?($0.pack) ?? true }
    // One change of the journal: a process that ends here leaves its requests to the next one.
    try core.note(event, catalog, language, requesting: chosen)
    var registered: Set<String> = []
    for (pack, urgency) in chosen where core.scheduler.request(pack, urgency) { registered.insert(pack.id) }
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
    let requests = try core.journal.read().requests.filter { !core.scheduler.isOpen($0.key.name) }
    guard !requests.isEmpty else { return }
    let catalog = try await core.catalog()
    var arrived: [PackID: Journal.Source] = [:]
    for (id, request) in requests.sorted(by: { $0.key < $1.key }) {
      guard let pack = catalog.pack(id.name) else { continue }
      if try core.state(of: id.name, catalog).status.contains(.upToDate) {
        arrived[id] = catalog.source(of: pack)
      } else {
        core.scheduler.request(pack, request.urgency, isPaused: request.isPaused)
      }
    }
    guard !arrived.isEmpty else { return }
    // Their process ended before it could say so.
    try core.journalQueue.sync {
      try core.journal.update { journal in
        for (id, source) in arrived {
          journal.requests[id] = nil
          journal.packs[id] = journal.packs[id] ?? source
        }
      }
    }
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
      let journal = try core.journal.read(), local = try core.packs.current()
      guard journal.apps[core.configuration.appID] != nil,
        journal.essential.allSatisfy({ local.packs[$0.name] != nil })
      else { throw error }
      return
    }
    try await fetchEssential(catalog)
  }

  private func fetchEssential(_ catalog: PackCatalog) async throws {
    let core = try core, language = core.resolvedLanguage(of: catalog), local = try core.packs.current()
    let app = try core.journal.read().apps[core.configuration.appID] ?? Journal.App(version: core.appVersionText)
    let missing = catalog.packs.filter { pack in
      PolicyRules.isRequired(pack, by: app, language: language) && local.packs[pack.id] == nil
        && core.options.shouldDownload?(pack) ?? true
    }
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

  /// Notes that policies were applied.
  fileprivate func note(
    _ event: BAContentRequest, _ catalog: PackCatalog, _ language: LanguageTag?,
    requesting chosen: [(pack: AssetPack, urgency: Urgency)]
  ) throws {
    let preferred = preferredTags().first
    let local = try packs.current()
    try journalQueue.sync {
      try journal.update { journal in
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
          journal.requests[try PackID(validating: pack.id)] = Journal.Request(urgency: urgency)
        }
        let essential = catalog.packs.filter { PolicyRules.isRequired($0, by: app, language: language) }
        journal.essential = Set(essential.compactMap { try? PackID(validating: $0.id) })
      }
    }
  }
}
