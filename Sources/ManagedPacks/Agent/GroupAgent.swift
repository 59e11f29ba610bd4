import Synchronization

/// The agent of a group: does what the group's journal says while no app runs.
/// `Docs/BackgroundAssets-Reference.md` has its states.
///
/// It is a manager of each app that registered, and what joins them: which of them fetches a pack that was asked for, which packs
/// apps fetch themselves at the moment, and when to look at the journal. Nothing that it knows is lost with it.
package actor GroupAgent {
  package struct Options: Sendable {
    package var limits = ExtensionLimits()

    /// What each app's manager is set up with.
    package var manager = AssetPackManager.Options()

    /// Called on any thread, in order for each pack.
    package var tell: @Sendable (AgentNotice) -> Void = { _ in }

    /// Seconds since 1970.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// How files are fetched of apps with downloads of their own; nil: by HTTP.
    package var transport: (any FileTransport)?

    package var server = AgentServer.Limits()
    package var credentials = PeerCredentials.system

    /// Returns the current time, for the time limits of extensions.
    package var extensionClock: @Sendable () -> ContinuousClock.Instant = { .now }

    /// After how long the journal is read without a hint.
    package var interval = Duration.seconds(60)

    /// After how long a download is tried again that failed for a reason which may pass, beyond the tries of its own.
    package var rest = Duration.seconds(900)

    /// The time by which an override ends, in seconds since 1970.
    package var overrideClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// The folder that the property lists of apps mean, where the agent works in a copy of it: for a play.
    package var original: GroupFolder?

    package init() {}
  }

  /// What came of an agent's work.
  package struct Summary: Hashable, Sendable {
    package var finished: Set<String> = []
    /// By pack, why it did not come.
    package var failures: [String: String] = [:]
    package init() {}
  }

  private struct App {
    let registration: Journal.Registration
    /// Of its property list as it was read: one that was edited makes another app of it.
    let list: Digest256?
    let manager: AssetPackManager
    let core: ManagedCore
    /// What happens to its downloads, and who tells of it.
    let updates: StatusQueue
    let listener: Task<Void, Never>
  }

  /// The group's folder, or with an override the one that counts then.
  private var folder: GroupFolder
  private var journal: JournalFile
  private var override: OverrideFile.State = .none
  private let options: Options
  /// By app, the essential packs of an installation that it waits for.
  private var installations: [String: Installation] = [:]
  /// The number of events that are being applied.
  private var eventsInProgress = 0
  /// By pack, why it failed while an event was applied. No installation waits for it before the event has been applied.
  private var failedDuringEvents: [String: String] = [:]
  private let bell = Bell()
  private let unmanaged: UnmanagedApps
  private var apps: [String: App] = [:]
  /// Why apps are of no use, so that each reason is told once.
  private var refused: [String: String] = [:]
  /// Packs that apps fetch themselves, and over which connections.
  private var handedOver: [PackID: Set<Int>] = [:]
  /// Packs that failed, and when to try again.
  private var resting: [PackID: Duration] = [:]
  private var summary = Summary()
  /// Else this is an app's helper beside an agent, and speaks to it.
  private var isElected = false

  private static let fetchLimits = {
    var limits = FetchLimits()
    limits.requestByteCount = 1 << 18
    limits.requestCount = 3
    limits.outstandingByteCount = 1 << 20
    return limits
  }()

  package init(of folder: GroupFolder, options: Options) {
    self.folder = folder
    self.options = options
    journal = JournalFile(in: folder)
    unmanaged = UnmanagedApps(in: folder, options)
  }

  private nonisolated func tell(_ notice: AgentNotice) { options.tell(notice) }

  // MARK: - Running

  /// Is the agent of the group until the task is cancelled.
  ///
  /// - Throws: `PackStoreError` `busy` when another process is; what keeps the socket from being made.
  package func run() async throws {
    let election = try AgentElection(in: folder)
    isElected = true
    let server = try startServer(election)
    defer {
      server?.stop()
      try? election.removeSocket()
    }
    tell(AgentNotice(.started, "process \(ProcessInfo.processInfo.processIdentifier) is the agent of the group"))
    let timer = Task { [bell, options] in
      while (try? await options.manager.clock.sleep(options.interval)) != nil { bell.ring() }
    }
    defer { timer.cancel() }
    while !Task.isCancelled {
      await reconcile()
      await bell.wait()
    }
    await stopDownloads()
    await settle()
    tell(AgentNotice(.stopped, "the agent ends; what has not come is taken up by the next one, or by an app"))
  }

  /// Is the agent of the group until nothing is to be done.
  ///
  /// - Throws: `PackStoreError` `busy` when another process is; `CancellationError`.
  package func runOnce() async throws -> Summary {
    let election = try AgentElection(in: folder)
    isElected = true
    let server = try startServer(election)
    defer {
      server?.stop()
      try? election.removeSocket()
    }
    return try await finishRequests()
  }

  /// Does what the journal says, and returns when nothing is to be done: also beside an agent.
  ///
  /// - Throws: `CancellationError`.
  package func finishRequests() async throws -> Summary {
    await reconcile()
    while !Task.isCancelled, apps.values.contains(where: { $0.core.scheduler.hasWork }) {
      await bell.wait()
      if !Task.isCancelled { await reconcile() }
    }
    await unmanaged.finish()
    let isCancelled = Task.isCancelled
    if isCancelled { await stopDownloads() }
    await settle()
    if isCancelled { throw CancellationError() }
    return summary
  }

  /// Nil: without a socket, which is told.
  private func startServer(_ election: borrowing AgentElection) throws -> AgentServer? {
    let listener: LocalSocket
    do {
      listener = try election.listen()
    } catch {
      tell(AgentNotice(.problem, "apps cannot speak to this agent, and go on without it: \(error)"))
      return nil
    }
    let handler = AgentServer.Handler(
      answer: { [weak self] request, connection in
        await self?.answer(request, connection) ?? .failed(reason: "the agent ends")
      },
      end: { [weak self] connection in Task { await self?.forget(connection) } },
      refuse: { [options] reason in options.tell(AgentNotice(.problem, reason)) })
    let server = try AgentServer(
      listener, limits: options.server, now: options.manager.clock.now, credentials: options.credentials,
      handler: handler)
    server.start()
    return server
  }

  private func stopDownloads() async {
    for app in apps.values {
      for id in app.core.scheduler.openDownloads.keys { await app.core.scheduler.stop(id, PackHandedOver()) }
    }
    await unmanaged.stop()
  }

  /// Returns when all that happened was told, and stands in the journal.
  private func settle() async {
    for app in apps.values {
      app.updates.finish()
      await app.listener.value
      app.core.journalQueue.sync {}
    }
    apps = [:]
  }

  // MARK: - Requests of apps

  private func answer(_ request: AgentRequest, _ connection: Int) async -> AgentReply {
    switch request {
    case .status:
      let active = OverrideFile(in: folder).state(at: options.overrideClock()).active
      return .status(process: ProcessInfo.processInfo.processIdentifier, override: active?.summary)
    case .refresh:
      bell.ring()
      return .done(packs: [])
    case .handOver(let pack):
      await handOver(pack, to: connection)
      return .done(packs: [])
    case .handOverDownloads(let app):
      await unmanaged.handOver(app, to: connection)
      return .done(packs: [])
    case .event(let event, let app):
      do {
        return .done(packs: try await handle(event, app: app))
      } catch {
        return .failed(reason: "\(error)")
      }
    }
  }

  private func handOver(_ pack: PackID, to connection: Int) async {
    handedOver[pack, default: []].insert(connection)
    for app in apps.values { await app.core.scheduler.stop(pack.name, PackHandedOver()) }
  }

  /// A connection has ended: what the app has not brought is to be fetched.
  private func forget(_ connection: Int) async {
    for pack in Array(handedOver.keys) {
      handedOver[pack]?.remove(connection)
      if handedOver[pack]?.isEmpty == true { handedOver[pack] = nil }
    }
    await unmanaged.forget(connection)
    bell.ring()
  }

  // MARK: - Events

  /// Applies the policies that an event calls for, and registers downloads.
  ///
  /// - Parameter id: of one app; nil: all.
  /// - Throws: ``ManagedPacksError`` `agent` when the app is not registered; what keeps sites from answering.
  package func handle(_ event: BAContentRequest, app id: String?) async throws -> [PackID] {
    let unmanagedIDs = try await refreshApps()
    guard !apps.isEmpty || !unmanagedIDs.isEmpty else {
      throw ManagedPacksError(
        .agent, "no app of the group '\(folder.path)' is registered",
        remedy: "launch one, or name its property list to 'packstore agent event'")
    }
    if let id, apps[id] == nil, !unmanagedIDs.contains(id) {
      throw ManagedPacksError(
        .agent, "the app '\(id)' is not registered in the group, or is of no use to its agent",
        remedy: "see the log of the agent, or name the app's property list")
    }
    var packs: [PackID] = [], failure: (any Error)?
    for (name, app) in apps.sorted(by: { $0.key < $1.key }) where id == nil || name == id {
      do {
        let (applied, failed) = try await apply(event, to: app)
        let registered = applied.registered.sorted()
        defer { if event == .install || event == .update { begin(Installation(applied, failed: failed), of: name) } }
        packs += registered.compactMap { try? PackID(validating: $0) }
        let list = registered.isEmpty ? "nothing to fetch" : registered.joined(separator: ", ")
        tell(AgentNotice(.event, app: name, "\(event.word): \(list)"))
      } catch {
        // The other apps are told of the event all the same.
        tell(AgentNotice(.problem, app: name, "\(event.word): \(error)"))
        failure = failure ?? error
      }
    }
    let scheduled = await unmanaged.handle(event, app: id)
    for (name, downloads) in scheduled.names {
      let list = downloads.isEmpty ? "nothing to fetch" : downloads.joined(separator: ", ")
      tell(AgentNotice(.event, app: name, "\(event.word): \(list)"))
    }
    bell.ring()
    if let failure = failure ?? scheduled.failure { throw failure }
    return packs
  }

  /// - Returns: also the packs that failed while the event was applied, and why.
  private func apply(_ event: BAContentRequest, to app: App) async throws -> (
    AssetPackManager.AppliedEvent, failed: [String: String]
  ) {
    eventsInProgress += 1
    defer {
      eventsInProgress -= 1
      if eventsInProgress == 0 { failedDuringEvents = [:] }
    }
    return (try await app.manager.apply(event), failedDuringEvents)
  }

  /// Returns when every essential pack of an app, or of all apps, is installed, and everything that happened until then was reported.
  /// Reports nothing that happens to downloads of these apps afterwards.
  ///
  /// - Throws: what ``AssetPackManager/ensureEssential()`` throws.
  package func ensureEssential(app id: String?) async throws {
    try await refreshApps()
    // What else was asked for meanwhile is left to the agent.
    defer { AgentClient(in: folder).refresh() }
    for (name, app) in apps.sorted(by: { $0.key < $1.key }) where id == nil || name == id {
      let outcome = await Result(catching: app.manager.ensureEssential)
      // Everything that happened until now is reported first.
      app.updates.finish()
      await app.listener.value
      try outcome.get()
      let missing = try journal.read().essential.filter { !app.manager.assetPackIsAvailableLocally(withID: $0.name) }
      guard missing.isEmpty else {
        tell(
          AgentNotice(
            .launchable, app: name,
            "the app can start, for its extension ended before it had answered; \(Self.list(missing.map(\.name))) will come"
          ))
        continue
      }
      tell(AgentNotice(.launchable, app: name, "all essential packs are here"))
    }
  }

  // MARK: - The journal

  /// Makes downloads what the journal says.
  private func reconcile() async {
    do {
      try await refreshApps()
      await unmanaged.download()
      try await meetRequests()
      noteArrivals()
    } catch {
      tell(AgentNotice(.problem, "\(error)"))
    }
  }

  private func meetRequests() async throws {
    var missing = try missingRequests()
    for (name, app) in apps.sorted(by: { $0.key < $1.key }) where !missing.isEmpty {
      let catalog: PackCatalog
      do {
        catalog = try await app.core.catalog()
      } catch {
        tell(AgentNotice(.problem, app: name, "its sites cannot be asked: \(error)"))
        continue
      }
      // Apps went on meanwhile.
      let now = try missingRequests()
      // An app that the agent knows nothing of may have sites of its own.
      let isAlone = try journal.read().registrations.count <= 1
      let taken = try app.core.takeUp(now.filter { missing[$0.key] != nil }, catalog, forgetsUnlisted: isAlone)
      missing = now.filter { missing[$0.key] != nil && !taken.requests.contains($0.key) }
    }
  }

  /// Requests of the journal of which nothing is done yet; what is done without a request any more ends, and what an app has paused
  /// or resumed waits or goes on.
  private func missingRequests() throws -> [PackID: Journal.Request] {
    // Read before the journal: a download that ends in between counts as open, and its request is not taken up again.
    let open = apps.values.map { ($0.core.scheduler, $0.core.openDownloads()) }
    let now = options.manager.clock.now()
    let wanted = try journal.read().requests.filter { handedOver[$0.key] == nil }
    let requests = wanted.filter { resting[$0.key].map { $0 <= now } ?? true }
    // Several apps may have opened one download for one request: the first brings the pack for all.
    var met: Set<PackID> = []
    for (scheduler, downloads) in open {
      for (name, isPaused) in downloads {
        guard let id = try? PackID(validating: name) else { continue }
        guard let request = wanted[id] else {
          if handedOver[id] == nil { scheduler.control(name, .cancel) }
          continue
        }
        met.insert(id)
        if request.isPaused != isPaused { scheduler.control(name, request.isPaused ? .pause : .resume) }
      }
    }
    return requests.filter { !met.contains($0.key) }
  }

  // MARK: - Apps

  /// Works with what an override says, from the moment on from which it counts, and with the real folder when it has ended.
  private func followOverride() throws {
    let base = try folder.under(nil), file = OverrideFile(in: base)
    let found = file.state(at: options.overrideClock())
    if found != override, case .refused(let error) = found { tell(AgentNotice(.problem, "\(error)")) }
    guard found.active != override.active else {
      override = found
      try takeRegistrations(from: base)
      // What an app still used when an override ended may be free now. One that is refused may be mended, and count
      // again.
      if case .refused = found { return }
      return file.sweep(keeping: found.active)
    }
    let next = try base.under(found.active)
    for (id, app) in apps { drop(id, app) }
    (handedOver, resting, refused, installations) = ([:], [:], [:], [:])
    folder = next
    journal = JournalFile(in: folder)
    try takeRegistrations(from: base)
    // Only now: what failed before is tried again at the next look.
    override = found
    file.sweep(keeping: found.active)
    if let active = found.active {
      tell(AgentNotice(.override, "the packs of the group come from \(active.summary)"))
    } else {
      tell(AgentNotice(.override, "the packs of the group come from the sites of its apps again"))
    }
  }

  /// The apps of the group are those of an override, too.
  private func takeRegistrations(from base: GroupFolder) throws {
    guard folder.home != base.home else { return }
    let real = try JournalFile(in: base).read().registrations, own = try journal.read().registrations
    guard real.contains(where: { own[$0.key] == nil }) else { return }
    try journal.update { $0.registrations.merge(real) { own, _ in own } }
  }

  private func drop(_ id: String, _ app: App) {
    apps[id] = nil
    Task { [scheduler = app.core.scheduler] in
      for pack in scheduler.openDownloads.keys { await scheduler.stop(pack, PackHandedOver()) }
      app.updates.finish()
    }
  }

  /// Has a manager for each app that registered.
  ///
  /// - Returns: the ids of apps with downloads of their own.
  @discardableResult
  private func refreshApps() async throws -> Set<String> {
    try followOverride()
    let registrations = try journal.read().registrations
    let unmanagedIDs = await unmanaged.refresh(registrations)
    for (id, app) in apps where registrations[id] != app.registration || app.list != listDigest(app.registration) {
      drop(id, app)
    }
    refused = refused.filter { registrations[$0.key] != nil }
    for (id, registration) in registrations where apps[id] == nil && !unmanagedIDs.contains(id) {
      guard let list = registration.propertyList, pathExists(FilePath(list)) else { continue }
      do {
        apps[id] = try makeApp(id, registration, FilePath(list))
        refused[id] = nil
        tell(AgentNotice(.app, app: id, "this app shares the group, by '\(list)'"))
      } catch {
        // What is wrong may be mended at any time.
        guard refused.updateValue("\(error)", forKey: id) != "\(error)" else { continue }
        tell(AgentNotice(.problem, app: id, "this app is left out: \(error)"))
      }
    }
    return unmanagedIDs
  }

  /// Nil: there is no list that can be read.
  private func listDigest(_ registration: Journal.Registration) -> Digest256? {
    let bytes = registration.propertyList.flatMap { list in
      try? InputFile(FilePath(list)).contents(limit: ManagedConfiguration.byteCountLimit)
    }
    return bytes.map { Digest256(hashing: $0) }
  }

  private func makeApp(_ id: String, _ registration: Journal.Registration, _ list: FilePath) throws -> App {
    let digest = listDigest(registration)
    var configuration = try ManagedConfiguration(contentsOf: OwnedFile(list).path)
    configuration.appID = id
    let own = try GroupFolder(of: configuration, environment: options.manager.environment, makes: false)
    guard own.isSame(as: options.original ?? folder) else {
      throw ManagedPacksError(
        .agent, "the property list '\(list)' names another group, '\(configuration.appGroupID)'",
        remedy: "launch the app, or name the list to 'packstore agent event'")
    }
    guard configuration.hasManagedAssetPacks || options.original == nil else {
      throw ManagedPacksError(
        .agent, "the app '\(id)' has downloads of its own, which are not played",
        remedy: "play what happens to apps with asset packs")
    }
    configuration.groupFolder = folder.path
    var managerOptions = options.manager
    managerOptions.override = .fixed(override.active)
    managerOptions.registersApp = false
    managerOptions.followsJournal = true
    // No one waits: little memory is worth more than the last of the speed.
    managerOptions.pullOptions.fetchLimits = Self.fetchLimits
    managerOptions.rules.concurrentDownloadCount = 1
    managerOptions.speaksToAgent = !isElected
    if let program = configuration.downloaderExtension {
      let filter = ExtensionFilter(
        app: id, program: program, journal: journal, limits: options.limits,
        environment: options.manager.environment, wallClock: options.wallClock,
        now: options.extensionClock, tell: options.tell)
      managerOptions.filter = { event, packs in await filter.wanted(event, packs) }
    }
    let manager = try AssetPackManager(configuration: configuration, options: managerOptions)
    let core = try manager.core, updates = manager.hub.subscribe(to: nil)
    return App(
      registration: registration, list: digest, manager: manager, core: core, updates: updates,
      listener: listen(to: updates, app: id))
  }

  /// Tells what happens to an app's downloads.
  private func listen(to updates: StatusQueue, app: String) -> Task<Void, Never> {
    Task { [weak self, options] in
      while let update = await updates.next() {
        if let notice = AgentNotice(update, app: app) { options.tell(notice) }
        if update.isLast { await self?.note(update) }
      }
    }
  }

  /// A download is over.
  private func note(_ update: AssetPackManager.DownloadStatusUpdate) {
    guard let id = try? PackID(validating: update.assetPack.id) else { return }
    noteEssential(update)
    switch update {
    case .finished:
      summary.finished.insert(id.name)
      summary.failures[id.name] = nil
      resting[id] = nil
    case .failed(_, let error) where error is PackHandedOver || error is CancellationError: break
    case .failed(_, let error):
      summary.failures[id.name] = "\(error)"
      resting[id] = options.manager.clock.now() + options.rest
    case .began, .paused, .downloading: break
    }
    bell.ring()
  }
}

// MARK: - Installations

extension GroupAgent {
  /// An installation or an update of an app, until it can start.
  private struct Installation {
    /// Essential packs that have neither come nor failed.
    var waiting: Set<String>
    let hasCrashed: Bool
    var arrived: Set<String> = []
    var failures: [String: String] = [:]

    /// - Parameter failed: packs that failed while the event was applied, and why.
    init(_ applied: AssetPackManager.AppliedEvent, failed: [String: String]) {
      failures = failed.filter { applied.essential.contains($0.key) }
      waiting = applied.essential.subtracting(failures.keys)
      hasCrashed = applied.hasCrashed
    }

    var isLaunchable: Bool { waiting.isEmpty || hasCrashed }

    /// There was an essential pack to come.
    var hasNews: Bool { !(waiting.isEmpty && arrived.isEmpty && failures.isEmpty) }

    /// What came of it, all at once.
    var text: String {
      var parts: [String] = []
      if hasCrashed { parts.append("its extension ended before it had answered") }
      if !arrived.isEmpty { parts.append("\(GroupAgent.list(arrived)) came") }
      parts += failures.sorted { $0.key < $1.key }.map { "\($0.key) did not come (\($0.value))" }
      if !waiting.isEmpty { parts.append("\(GroupAgent.list(waiting)) will come") }
      return "the app can start" + (parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))")
    }
  }

  private static func list(_ names: some Sequence<String>) -> String { names.sorted().joined(separator: ", ") }

  private func begin(_ installation: Installation, of app: String) {
    var installation = installation
    // One that began before goes on.
    installation.waiting.formUnion(installations[app]?.waiting ?? [])
    guard installation.isLaunchable else {
      installations[app] = installation
      return
    }
    installations[app] = nil
    if installation.hasNews { tell(AgentNotice(.launchable, app: app, installation.text)) }
  }

  /// What an app has taken over, it has brought itself.
  private func noteArrivals() {
    for (app, installation) in installations {
      let manager = apps[app]?.manager
      let here = installation.waiting.filter { manager?.assetPackIsAvailableLocally(withID: $0) ?? false }
      guard !here.isEmpty else { continue }
      var installation = installation
      installation.waiting.subtract(here)
      installation.arrived.formUnion(here)
      installations[app] = nil
      begin(installation, of: app)
    }
  }

  /// An essential pack has come, or has failed, by whichever app it was fetched.
  private func noteEssential(_ update: AssetPackManager.DownloadStatusUpdate) {
    let pack = update.assetPack.id
    if eventsInProgress > 0 {
      switch update {
      case .finished: failedDuringEvents[pack] = nil
      case .failed(_, let error) where !(error is PackHandedOver): failedDuringEvents[pack] = "\(error)"
      case .began, .paused, .downloading, .failed: break
      }
    }
    for (app, installation) in installations where installation.waiting.contains(pack) {
      var installation = installation
      switch update {
      case .finished: installation.arrived.insert(pack)
      case .failed(_, let error) where !(error is PackHandedOver): installation.failures[pack] = "\(error)"
      case .began, .paused, .downloading, .failed: continue
      }
      installation.waiting.remove(pack)
      installations[app] = nil
      begin(installation, of: app)
    }
  }
}

extension Result where Success == Void, Failure == any Error {
  fileprivate init(catching body: () async throws -> Void) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
