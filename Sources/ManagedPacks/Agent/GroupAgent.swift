import Synchronization

/// The agent of a group: performs the journal's open requests while no app runs. `Docs/BackgroundAssets-Reference.md` describes its
/// states.
///
/// It consists of a manager for each registered app, and decides which of them downloads a requested pack, which packs apps
/// download themselves, and when to read the journal. All its state can be restored from the journal and the system.
package actor GroupAgent {
  package struct Options: Sendable {
    package var limits = ExtensionLimits()

    /// The options of each app's manager.
    package var manager = AssetPackManager.Options()

    /// Called on any thread, in order for each pack.
    package var tell: @Sendable (AgentNotice) -> Void = { _ in }

    /// Returns the real time in seconds since 1970.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// The transport for files of apps with downloads of their own; `nil` for HTTP.
    package var transport: (any FileTransport)?

    package var server = AgentServer.Limits()
    package var credentials = PeerCredentials.system

    /// Returns the current time, for the time limits of extensions.
    package var extensionClock: @Sendable () -> ContinuousClock.Instant = { .now }

    /// The interval at which the journal is read without a signal.
    package var interval = Duration.seconds(60)

    /// The delay before a failed download is requested again, after its own retries.
    package var rest = Duration.seconds(900)

    /// Returns the time that determines the end of an override, in seconds since 1970.
    package var overrideClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// In a simulation, the folder that the apps' property lists refer to, while the agent uses a copy.
    package var original: GroupFolder?

    package init() {}

    /// Returns the environment of extensions. In a simulation, their calls must not reach the group that is simulated.
    func environment(ofExtensionsIn group: GroupFolder) -> [String: String] {
      var environment = manager.environment
      if original != nil {
        // An extension ignores a relative path.
        environment[ManagedConfiguration.groupFolderVariable] = (resolvedPath(group.path) ?? group.path).string
      }
      return environment
    }
  }

  /// The result of an agent's work.
  package struct Summary: Hashable, Sendable {
    package var finished: Set<String> = []
    /// The failures by pack.
    package var failures: [String: String] = [:]
    package init() {}
  }

  private struct App {
    let registration: Journal.Registration
    /// The digest of the property list as it was read. An edited list creates the app again.
    let list: Digest256?
    let manager: AssetPackManager
    let core: ManagedCore
    /// The events of its downloads, and the task that reports them.
    let updates: StatusQueue
    let listener: Task<Void, Never>
  }

  /// The group's folder, or the folder of the active override.
  private var folder: GroupFolder
  private var journal: JournalFile
  private var override: OverrideFile.State = .none
  private let options: Options
  /// By app, the essential packs that its installation waits for.
  private var installations: [String: Installation] = [:]
  /// The number of events that are being applied.
  private var eventsInProgress = 0
  /// The failures by pack while an event is applied, when no installation waits for the pack yet.
  private var failedDuringEvents: [String: String] = [:]
  private let bell = TaskNotifier()
  private let unmanaged: UnmanagedApps
  private var apps: [String: App] = [:]
  /// The reason why each rejected app is not served, so that it is reported once.
  private var refused: [String: String] = [:]
  /// The packs that apps download themselves, and their connections.
  private var handedOver: [PackID: Set<Int>] = [:]
  /// The failed packs, and the time at which to request them again.
  private var resting: [PackID: Duration] = [:]
  private var summary = Summary()
  private let sharing: GroupSharing
  /// The generation of the group's store that the shared base has; `nil` if the group does not share.
  private var sharedGeneration: Store.Generation?
  /// The last reported failure of sharing, so that it is reported once.
  private var sharingProblem: String?
  /// Whether this process is the elected agent. If false, it works next to an agent and contacts it.
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
    sharing = GroupSharing(environment: options.manager.environment)
  }

  private nonisolated func tell(_ notice: AgentNotice) { options.tell(notice) }

  // MARK: - Running

  /// Runs as the group's agent until the task is cancelled.
  ///
  /// - Throws: `PackStoreError` `busy` if another process is the agent; the error of creating the socket.
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
      await share()
      await bell.wait()
    }
    await stopDownloads()
    await settle()
    tell(AgentNotice(.stopped, "the agent stops; the next agent or an app continues pending downloads"))
  }

  /// Runs as the group's agent until no work is left.
  ///
  /// - Throws: `PackStoreError` `busy` if another process is the agent; `CancellationError`.
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

  /// Performs the journal's requests, and returns when no work is left. Can run next to an agent.
  ///
  /// - Throws: `CancellationError`.
  package func finishRequests() async throws -> Summary {
    await reconcile()
    while !Task.isCancelled, apps.values.contains(where: { $0.core.scheduler.hasWork }) {
      await bell.wait()
      if !Task.isCancelled { await reconcile() }
    }
    await unmanaged.finish()
    await share(attemptLimit: Self.lastShareAttemptLimit)
    let isCancelled = Task.isCancelled
    if isCancelled { await stopDownloads() }
    await settle()
    if isCancelled { throw CancellationError() }
    return summary
  }

  /// Returns `nil` after reporting that no socket could be created.
  private func startServer(_ election: borrowing AgentElection) throws -> AgentServer? {
    let listener: LocalSocket
    do {
      listener = try election.listen()
    } catch {
      tell(AgentNotice(.problem, "apps cannot connect to this agent and continue without it: \(error)"))
      return nil
    }
    let handler = AgentServer.Handler(
      answer: { [weak self] request, connection in
        await self?.answer(request, connection) ?? .failed(reason: "the agent is stopping")
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

  /// Returns when all events are reported and recorded in the journal.
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

  /// Handles the end of a connection: the agent downloads the packs that the app did not.
  private func forget(_ connection: Int) async {
    for pack in Array(handedOver.keys) {
      handedOver[pack]?.remove(connection)
      if handedOver[pack]?.isEmpty == true { handedOver[pack] = nil }
    }
    await unmanaged.forget(connection)
    bell.ring()
  }

  // MARK: - Events

  /// Applies the policies for an event, and registers downloads.
  ///
  /// - Parameter id: the app; `nil` for all apps.
  /// - Throws: ``ManagedPacksError`` `agent` if the app is not registered; the error of the sites.
  package func handle(_ event: BAContentRequest, app id: String?) async throws -> [PackID] {
    let unmanagedIDs = try await requireApps()
    if let id, apps[id] == nil, !unmanagedIDs.contains(id) {
      throw ManagedPacksError(
        .agent, "the app '\(id)' is not registered in the group, or its registration is invalid",
        remedy: "check the agent's log, or name the app's property list")
    }
    var packs: [PackID] = [], failure: (any Error)?
    for (name, app) in apps.sorted(by: { $0.key < $1.key }) where id == nil || name == id {
      do {
        let (applied, failed) = try await apply(event, to: app)
        let registered = applied.registered.sorted()
        defer { if event == .install || event == .update { begin(Installation(applied, failed: failed), of: name) } }
        packs += registered.compactMap { try? PackID(validating: $0) }
        let list = registered.isEmpty ? "nothing to download" : registered.joined(separator: ", ")
        tell(AgentNotice(.event, app: name, "\(event.word): \(list)"))
      } catch {
        // The other apps receive the event nevertheless.
        tell(AgentNotice(.problem, app: name, "\(event.word): \(error)"))
        failure = failure ?? error
      }
    }
    let scheduled = await unmanaged.handle(event, app: id)
    for (name, downloads) in scheduled.names {
      let list = downloads.isEmpty ? "nothing to download" : downloads.joined(separator: ", ")
      tell(AgentNotice(.event, app: name, "\(event.word): \(list)"))
    }
    bell.ring()
    if let failure = failure ?? scheduled.failure { throw failure }
    return packs
  }

  /// - Returns: also the packs that failed while the event was applied, with the reasons.
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

  /// Makes managers for the registered apps.
  ///
  /// - Returns: the ids of apps with downloads of their own.
  /// - Throws: ``ManagedPacksError`` `agent` if no app of the group is registered.
  @discardableResult
  private func requireApps() async throws -> Set<String> {
    let unmanagedIDs = try await refreshApps()
    guard !apps.isEmpty || !unmanagedIDs.isEmpty else {
      throw ManagedPacksError(
        .agent, "no app of the group '\(folder.path)' is registered",
        remedy: "launch an app, or pass its property list to 'packstore agent'")
    }
    return unmanagedIDs
  }

  /// Returns when every essential pack of an app, or of all apps, is installed, and everything that happened until then was reported.
  /// Reports nothing that happens to downloads of these apps afterwards.
  ///
  /// - Throws: the errors of ``AssetPackManager/ensureEssential()``.
  package func ensureEssential(app id: String?) async throws {
    try await requireApps()
    // Other requests made since then are left to the agent.
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
            "the app can start: its extension exited before answering; pending: \(Self.list(missing.map(\.name)))"
          ))
        continue
      }
      tell(AgentNotice(.launchable, app: name, "all essential packs are installed"))
    }
  }

  // MARK: - The journal

  /// Applies the journal to the downloads.
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

  /// The number of attempts to share before an agent ends: two seconds. A running agent tries again after its interval.
  private static let lastShareAttemptLimit = 9

  /// Shares the installed packs with the other groups of the user's shared base.
  private func share(attemptLimit: Int = 1) async {
    guard isElected, options.original == nil, let store = apps.values.first?.core.store else { return }
    do {
      sharedGeneration = try await sharing.update(
        folder, from: store, since: sharedGeneration, attemptLimit: attemptLimit)
      sharingProblem = nil
    } catch {
      let problem = "cannot share packs with other groups: \(error)"
      if sharingProblem != problem { tell(AgentNotice(.problem, problem)) }
      sharingProblem = problem
    }
  }

  private func meetRequests() async throws {
    var missing = try missingRequests()
    for (name, app) in apps.sorted(by: { $0.key < $1.key }) where !missing.isEmpty {
      let catalog: PackCatalog
      do {
        catalog = try await app.core.catalog()
      } catch {
        tell(AgentNotice(.problem, app: name, "cannot read the app's sites: \(error)"))
        continue
      }
      // Read again: apps may have changed the journal since.
      let now = try missingRequests()
      // An app without an entry here may have sites of its own.
      let isAlone = try journal.read().registrations.count <= 1
      let taken = try app.core.takeUp(now.filter { missing[$0.key] != nil }, catalog, forgetsUnlisted: isAlone)
      missing = now.filter { missing[$0.key] != nil && !taken.requests.contains($0.key) }
    }
  }

  /// Returns the journal's requests that have no download yet. Cancels downloads without a request, and pauses or resumes downloads
  /// as apps requested.
  private func missingRequests() throws -> [PackID: Journal.Request] {
    // Read before the journal: a download that ends in between counts as open, and its request is not started again.
    let open = apps.values.map { ($0.core.scheduler, $0.core.openDownloads()) }
    let now = options.manager.clock.now()
    let wanted = try journal.read().requests.filter { handedOver[$0.key] == nil }
    let requests = wanted.filter { resting[$0.key].map { $0 <= now } ?? true }
    // Several apps may have opened one download for one request: the first installs the pack for all.
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

  /// Switches to an override's folder when it becomes active, and to the real folder when it has ended.
  private func followOverride() throws {
    let base = try folder.under(nil), file = OverrideFile(in: base)
    let found = file.state(at: options.overrideClock())
    if found != override, case .refused(let error) = found { tell(AgentNotice(.problem, "\(error)")) }
    guard found.active != override.active else {
      override = found
      try takeRegistrations(from: base)
      // A folder that an app still used when an override ended may be unused now. A rejected override may be repaired and become
      // active again.
      if case .refused = found { return }
      return file.sweep(keeping: found.active)
    }
    let next = try base.under(found.active)
    for (id, app) in apps { drop(id, app) }
    (handedOver, resting, refused, installations) = ([:], [:], [:], [:])
    folder = next
    journal = JournalFile(in: folder)
    try takeRegistrations(from: base)
    // Set last: a failure before this line is retried at the next check.
    override = found
    file.sweep(keeping: found.active)
    if let active = found.active {
      tell(AgentNotice(.override, "the packs of the group come from \(active.summary)"))
    } else {
      tell(AgentNotice(.override, "the packs of the group come from the sites of its apps again"))
    }
  }

  /// Copies the registrations of the group's apps to an override's journal.
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

  /// Creates a manager for each registered app.
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
        tell(AgentNotice(.app, app: id, "this app shares the group, with the property list '\(list)'"))
      } catch {
        // The user may correct the cause at any time.
        guard refused.updateValue("\(error)", forKey: id) != "\(error)" else { continue }
        tell(AgentNotice(.problem, app: id, "this app is skipped: \(error)"))
      }
    }
    return unmanagedIDs
  }

  /// Returns `nil` if the list cannot be read.
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
        remedy: "launch the app, or pass the property list to 'packstore agent event'")
    }
    configuration.groupFolder = folder.path
    var managerOptions = options.manager
    managerOptions.override = .fixed(override.active)
    managerOptions.registersApp = false
    managerOptions.onSharedKey = { [tell = options.tell] site, other, origin in
      tell(AgentNotice(.sharedKey, app: id, AssetPackManager.sharedKeyText(site, other, origin)))
    }
    managerOptions.followsJournal = true
    // No user waits, so low memory use is preferred to the highest speed.
    managerOptions.pullOptions.fetchLimits = Self.fetchLimits
    managerOptions.rules.concurrentDownloadCount = 1
    managerOptions.speaksToAgent = !isElected
    if let program = configuration.downloaderExtension {
      let filter = ExtensionFilter(
        app: id, program: program, journal: journal, limits: options.limits,
        environment: options.environment(ofExtensionsIn: folder), wallClock: options.wallClock,
        now: options.extensionClock, tell: options.tell)
      managerOptions.filter = { event, packs in await filter.wanted(event, packs) }
      managerOptions.pullOptions.authorization = SiteAuthorization(answeringBy: { await filter.reply(to: $0) })
    }
    let manager = try AssetPackManager(configuration: configuration, options: managerOptions)
    let core = try manager.core, updates = manager.hub.subscribe(to: nil)
    return App(
      registration: registration, list: digest, manager: manager, core: core, updates: updates,
      listener: listen(to: updates, app: id))
  }

  /// Reports the events of an app's downloads.
  private func listen(to updates: StatusQueue, app: String) -> Task<Void, Never> {
    Task { [weak self, options] in
      while let update = await updates.next() {
        if let notice = AgentNotice(update, app: app) { options.tell(notice) }
        if update.isLast { await self?.note(update) }
      }
    }
  }

  /// Handles the end of a download.
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
  /// An installation or an update of an app, until the app can start.
  private struct Installation {
    /// Essential packs that have neither been installed nor failed.
    var waiting: Set<String>
    let hasCrashed: Bool
    var arrived: Set<String> = []
    var failures: [String: String] = [:]

    /// - Parameter failed: the packs that failed while the event was applied, with the reasons.
    init(_ applied: AssetPackManager.AppliedEvent, failed: [String: String]) {
      failures = failed.filter { applied.essential.contains($0.key) }
      waiting = applied.essential.subtracting(failures.keys)
      hasCrashed = applied.hasCrashed
    }

    var isLaunchable: Bool { waiting.isEmpty || hasCrashed }

    /// Whether the installation had an essential pack to download.
    var hasNews: Bool { !(waiting.isEmpty && arrived.isEmpty && failures.isEmpty) }

    /// The result of the installation as one message.
    var text: String {
      var parts: [String] = []
      if hasCrashed { parts.append("its extension exited before answering") }
      if !arrived.isEmpty { parts.append("installed \(GroupAgent.list(arrived))") }
      parts += failures.sorted { $0.key < $1.key }.map { "\($0.key) failed (\($0.value))" }
      if !waiting.isEmpty { parts.append("pending: \(GroupAgent.list(waiting))") }
      return "the app can start" + (parts.isEmpty ? "" : ": \(parts.joined(separator: "; "))")
    }
  }

  private static func list(_ names: some Sequence<String>) -> String { names.sorted().joined(separator: ", ") }

  private func begin(_ installation: Installation, of app: String) {
    var installation = installation
    // An earlier installation continues.
    installation.waiting.formUnion(installations[app]?.waiting ?? [])
    guard installation.isLaunchable else {
      installations[app] = installation
      return
    }
    installations[app] = nil
    if installation.hasNews { tell(AgentNotice(.launchable, app: app, installation.text)) }
  }

  /// Records packs that an app has taken over and installed itself.
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

  /// Records that an essential pack was installed or failed, for any app that downloaded it.
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
