/// The agent's part for an app with downloads of its own: asks its extension what to download, and downloads it.
actor UnmanagedApp {
  let id: String
  private let configuration: ManagedConfiguration
  private let folder: DownloadFolder
  private let options: GroupAgent.Options
  private let session: ExtensionSession
  private let transport: any FileTransport
  private var engine: Task<Void, Never>?
  private var running: DownloadEngine?
  /// The lock of the engine, and its only reference: setting this to `nil` releases it.
  private var lock: FileLock?
  /// The connections of apps that download themselves.
  private var handedOver: Set<Int> = []
  /// The events that have not begun.
  private var waitingEvents: [BAContentRequest: Task<[String], any Error>] = [:]
  /// The event that was requested last; it ends after all earlier events.
  private var lastEvent: Task<[String], any Error>?

  /// The number of attempts for a manifest, one second apart: the user waits for it.
  private static let manifestTryCount = 5

  init(_ id: String, _ configuration: ManagedConfiguration, in group: GroupFolder, _ options: GroupAgent.Options) throws
  {
    self.id = id
    self.configuration = configuration
    self.options = options
    folder = try DownloadFolder(ofApp: id, in: group)
    transport = options.transport ?? standardFileTransport(environment: options.manager.environment)
    var environment = options.environment(ofExtensionsIn: group)
    environment[ManagedConfiguration.environmentVariable] = configuration.propertyList?.string
    session = ExtensionSession(
      ExtensionSession.Options(
        app: id, program: configuration.downloaderExtension, folder: folder, journal: JournalFile(in: group),
        limits: options.limits, environment: environment, wallClock: options.wallClock,
        now: options.extensionClock, tell: options.tell))
  }

  // MARK: - Downloading

  /// Starts the open downloads, unless they are running already or another process performs them.
  func download() {
    guard engine == nil else {
      running?.poke()
      return
    }
    guard handedOver.isEmpty, let list = try? folder.list(), !list.downloads.isEmpty,
      let lock = try? FileLock(folder.engineLock, waits: false, reason: "the app is running its own downloads")
    else { return }
    var engineOptions = DownloadEngine.Options(transport: transport)
    engineOptions.rules = options.manager.rules
    engineOptions.clock = options.manager.clock
    engineOptions.restrictions = configuration.restrictions
    engineOptions.endsWhenBlocked = true
    let next = DownloadEngine(in: folder, telling: session, options: engineOptions)
    running = next
    self.lock = lock
    engine = Task {
      await run(next)
      await self.session.close()
      ended(wasStopped: Task.isCancelled)
    }
  }

  private func run(_ engine: DownloadEngine) async {
    guard let lock else { return }
    do {
      try await engine.run(holding: lock, endsWhenIdle: true)
    } catch {
      options.tell(AgentNotice(.problem, app: id, "cannot run the app's downloads: \(error)"))
    }
  }

  private func ended(wasStopped: Bool) {
    let isBehind = running?.isBehind ?? false
    engine = nil
    running = nil
    lock = nil
    if isBehind, !wasStopped { download() }
  }

  /// Returns when no download can proceed now. Stops when the task is cancelled.
  func finish() async {
    guard !Task.isCancelled else { return }
    download()
    while let engine {
      await withTaskCancellationHandler {
        await engine.value
      } onCancel: {
        engine.cancel()
      }
    }
  }

  func stop() async {
    engine?.cancel()
    await engine?.value
    await session.close()
  }

  /// Leaves the downloads to the app until the connection ends.
  func handOver(to connection: Int) async {
    handedOver.insert(connection)
    await stop()
  }

  func forget(_ connection: Int) { handedOver.remove(connection) }

  // MARK: - Events

  /// Downloads the manifest, asks the extension for downloads, and schedules them.
  ///
  /// One event runs at a time, in all processes, so that each finds the manifest that it downloaded. A waiting event serves all
  /// later requests for the same kind of event.
  ///
  /// - Returns: the names of the scheduled downloads.
  func handle(_ event: BAContentRequest) async throws -> [String] {
    if let waiting = waitingEvents[event] { return try await waiting.value }
    let previous = lastEvent
    let task = Task {
      _ = await previous?.result
      waitingEvents[event] = nil
      let lock = try await FileLock.acquire(folder.eventLock, by: options.manager.clock)
      defer { withExtendedLifetime(lock) {} }
      return try await ask(event)
    }
    waitingEvents[event] = task
    lastEvent = task
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func ask(_ event: BAContentRequest) async throws -> [String] {
    let rules = options.manager.rules
    guard rules.isBackgroundAllowed() else { return refuse(event, "the user disallows background activity") }
    guard try folder.list().isLaunched || rules.isInAppContentAllowed() else {
      return refuse(event, "the user disallows downloads before the first launch")
    }
    guard configuration.downloaderExtension != nil else {
      return refuse(event, "\(ExtensionSession.Refusal.noProgram)")
    }
    guard let manifest = try await fetchManifest() else { return [] }
    defer { try? removeFile(folder.manifest) }
    let allowance = DownloadAllowance(configuration.restrictions, try folder.list())
    let reply: DownloaderReply
    do {
      reply = try await session.call(
        .downloads(
          event: event.rawValue, manifest: manifest.string, left: allowance.remaining(isEssential: false),
          leftEssential: allowance.remaining(isEssential: true)))
    } catch {
      // The app can start nevertheless.
      return refuse(event, "the extension did not answer: \(error)")
    }
    await session.close()
    guard case .downloads(let records) = reply else { return refuse(event, "the extension sent an invalid answer") }
    noteAnswer(records, to: event, allowance)
    return try schedule(records, for: event)
  }

  private func refuse(_ event: BAContentRequest, _ reason: String) -> [String] {
    options.tell(AgentNotice(.extension, app: id, "\(event.word): no download started: \(reason)"))
    return []
  }

  private func noteAnswer(_ records: [DownloadRecord], to event: BAContentRequest, _ allowance: DownloadAllowance) {
    let essential = records.filter(\.isEssential)
    func total(_ records: [DownloadRecord]) -> Int { records.reduce(0) { $0.addingClamped($1.byteCount) } }
    var text =
      "\(event.word): the extension selected \(records.count) downloads of \(total(records)) bytes; "
      + "\(essential.count) are essential, of \(total(essential)) bytes"
    if let left = allowance.remaining(isEssential: false), let leftEssential = allowance.remaining(isEssential: true) {
      text += "; \(left) bytes and \(leftEssential) essential bytes were allowed"
    }
    options.tell(AgentNotice(.extension, app: id, text))
  }

  /// Schedules the valid downloads. Others fail, and the extension receives the error.
  private func schedule(_ records: [DownloadRecord], for event: BAContentRequest) throws -> [String] {
    var names: [String] = [], leftOut: [any Error] = []
    let admission = DownloadAdmission(group: configuration.appGroupID.name, restrictions: configuration.restrictions)
    try folder.update { list in
      for record in records.sorted(by: { $0.isBefore($1) }) {
        var record = record
        record.isForeground = false
        do {
          if record.isEssential, event != .install, event != .update {
            throw BAError(.downloadEssentialDownloadNotPermitted)
          }
          try admission.check(record, list)
          list.schedule(record, isForeground: false)
          names.append(record.name)
        } catch {
          // A record that cannot be stored has no download to fail.
          guard record.isBounded, list[record.id] == nil else {
            leftOut.append(error)
            continue
          }
          list.schedule(record, isForeground: false)
          list.fail(record.id, error)
        }
      }
    }
    if let first = leftOut.first {
      // The text may contain text from the extension.
      let why = "\(first)".prefix(500)
      let text = "\(event.word): skipped \(leftOut.count) of the extension's downloads; the first: \(why)"
      options.tell(AgentNotice(.problem, app: id, text))
    }
    return names
  }

  /// Returns `nil` if the download failed; the extension receives the error.
  private func fetchManifest() async throws -> FilePath? {
    var record = DownloadRecord(
      name: "manifest", url: configuration.sites.first?.location ?? "", group: configuration.appGroupID.name)
    record.kind = .manifest
    let id = record.id
    try folder.update { list in
      // Left by an agent that has ended.
      for old in list.downloads where old.kind == .manifest && old.phase != .failed { list[old.id] = nil }
      list.schedule(record, isForeground: false)
    }
    do {
      for tryCount in 1... {
        do {
          try await transfer(id)
          break
        } catch let fault as FileFault where fault.isTemporary && tryCount < Self.manifestTryCount {
          try await options.manager.clock.sleep(.seconds(1))
        }
      }
      try renameFile(folder.ready(id), to: folder.manifest)
      try folder.update { $0[id] = nil }
      return folder.manifest.path
    } catch {
      let part = folder.part(id)
      try folder.update { $0.end(id, byteCount: FileIdentity(part.path)?.byteCount ?? 0, error) }
      try removeFile(part)
      return nil
    }
  }

  private func transfer(_ id: String) async throws {
    guard let record = try folder.list()[id] else { throw CancellationError() }
    let folder = folder, restrictions = configuration.restrictions, session = session, transport = transport
    try await BlockingExecutor.runAsync {
      let sink = try PartialFileWriter(record, in: folder, restrictions, telling: session)
      try await transport.fetch(sink.request, to: sink)
      try sink.finish()
    }
  }
}
