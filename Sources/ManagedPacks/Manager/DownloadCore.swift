import Synchronization

/// The parts of a download manager: the app's list, and the engine while this process downloads.
///
/// The process downloads while it has a delegate, while it has a foreground download, or if no agent runs. It then asks the agent
/// to leave the app's downloads to it, as long as the connection is open.
final class DownloadCore: Sendable {
  private struct State {
    /// The open downloads, so that all references to a download show the same state.
    var known: [String: BADownload] = [:]
    var engine: DownloadEngine?
    var runner: Task<Void, Never>?
    /// Whether the list changed while the engine was ending.
    var runsAgain = false
  }

  /// The delegate is the app's object; its own thread safety is the app's responsibility.
  private struct DelegateHolder: @unchecked Sendable { weak var delegate: (any BADownloadManagerDelegate)? }

  let configuration: ManagedConfiguration
  let folder: DownloadFolder
  let control: ExclusiveControl
  private let options: BADownloadManager.Options
  private let isExtension: Bool
  private let transport: any FileTransport
  private let agent: AgentClient?
  /// `nil` if ``agent`` is `nil`.
  private let watch: AgentWatch?
  private let state = Mutex(State())
  private let delegateHolder = Mutex(DelegateHolder())

  /// The interval at which the list is checked for changes by other processes.
  private static let interval = Duration.seconds(1)

  init(_ configuration: ManagedConfiguration, _ options: BADownloadManager.Options) throws {
    self.configuration = configuration
    self.options = options
    isExtension = options.isExtension ?? isExtensionProcess.load(ordering: .relaxed)
    let group = try GroupFolder(of: configuration, environment: options.environment)
    folder = try DownloadFolder(ofApp: configuration.appID, in: group)
    transport = options.transport ?? standardFileTransport(environment: options.environment)
    let agent = options.speaksToAgent ? AgentClient(in: group) : nil
    let watch = agent.map { AgentWatch($0, patience: options.agentPatience) }
    self.agent = agent
    self.watch = watch
    control = ExclusiveControl(in: folder, clock: options.clock, wallClock: options.wallClock)
    guard !isExtension else {
      _ = try folder.list()
      return
    }
    let day = Int(exactly: (options.wallClock() / 86_400).rounded(.down))
    try watch.watching {
      try folder.update { list in
        list.isLaunched = true
        list.launchDay = day
      }
    }
    // The agent finds the extension in the journal.
    if !configuration.hasManagedAssetPacks {
      try JournalFile(in: group, observer: watch?.observer).register(configuration)
    }
  }

  var delegate: (any BADownloadManagerDelegate)? {
    get { delegateHolder.withLock { $0.delegate } }
    set {
      delegateHolder.withLock { $0.delegate = newValue }
      guard newValue != nil else { return }
      let engine = state.withLock { $0.engine }
      Task { await engine?.tellAgain() }
      download()
    }
  }

  // MARK: - Calls

  /// - Throws: ``BAError`` `callerConnectionInvalid` if the list cannot be used.
  private func withList<Value>(_ body: (inout DownloadList) throws -> Value) throws -> Value {
    do {
      return try watch.watching { try folder.update(body) }
    } catch let error as BAError {
      throw error
    } catch {
      throw BAError(
        .callerConnectionInvalid, "the list of downloads cannot be used: \(error)", underlyingError: error)
    }
  }

  func currentDownloads() throws -> [BADownload] {
    let records = try withList { $0.downloads.filter { $0.phase == .waiting && $0.kind == .file } }
    return records.map(object)
  }

  func schedule(_ download: BADownload, isForeground: Bool) throws {
    try checkCaller(isForeground: isForeground)
    let record = download.record
    guard download.state != .failed else { throw BAError(.downloadAlreadyFailed) }
    let isPromoted = try withList { list in try promote(record, isForeground: isForeground, in: &list) }
    if !isPromoted {
      try withList { list in
        try admit(record, to: list, restrictions: configuration.restrictions)
        list.schedule(record, isForeground: isForeground)
      }
      download.move(to: .waiting)
      state.withLock { $0.known[record.id] = download }
    }
    agent?.refresh()
    if isForeground || delegate != nil || !hasAgent { self.download() }
    state.withLock { $0.engine }?.poke()
  }

  private func checkCaller(isForeground: Bool) throws(BAError) {
    guard isForeground else {
      guard options.rules.isBackgroundAllowed() else { throw BAError(.downloadBackgroundActivityProhibited) }
      return
    }
    guard !isExtension else { throw BAError(.callFromExtensionNotAllowed) }
    guard options.isActive() else { throw BAError(.callFromInactiveProcessNotAllowed) }
  }

  /// Moves an open download to the foreground. Returns false if the download is not in the list.
  private func promote(_ record: DownloadRecord, isForeground: Bool, in list: inout DownloadList) throws(BAError)
    -> Bool
  {
    guard let open = list[record.id] else { return false }
    guard isForeground else { throw BAError(.downloadAlreadyScheduled) }
    guard open.phase == .waiting else { throw BAError(.downloadDoesNotExist) }
    list[record.id]?.isForeground = true
    return true
  }

  private func admit(
    _ record: DownloadRecord, to list: DownloadList, restrictions: InitialDownloadRestrictions?
  ) throws(BAError) {
    if record.isEssential { throw BAError(.downloadEssentialDownloadNotPermitted) }
    try DownloadAdmission(group: configuration.appGroupID.name, restrictions: restrictions).check(record, list)
  }

  func cancel(_ download: BADownload) throws {
    let id = download.uniqueIdentifier, state = download.state
    let part = FileIdentity(folder.part(id).path)?.byteCount ?? 0
    try withList { list in
      guard let record = list[id] else {
        guard !list.cancelled.contains(id) else { return }
        throw BAError(state == .created ? .downloadNotScheduled : .downloadDoesNotExist)
      }
      guard record.phase == .waiting else { throw BAError(.downloadDoesNotExist) }
      list.end(id, byteCount: part, CancellationError())
      list[id] = nil
      list.noteCancel(of: id)
    }
    move(id, to: .failed)
    download.move(to: .failed)
    self.state.withLock { $0.known[id] = nil }
    agent?.refresh()
    self.state.withLock { $0.engine }?.poke()
  }

  /// Waiting downloads may continue; the engine runs as long as any download is open.
  func conditionsChanged() { state.withLock { $0.engine }?.poke() }

  // MARK: - Objects

  private func object(_ record: DownloadRecord) -> BADownload {
    state.withLock { state in
      if let known = state.known[record.id] { return known }
      let made = BADownload.make(record)
      if record.phase == .waiting { state.known[record.id] = made }
      return made
    }
  }

  private func move(_ id: String, to next: BADownload.State) { state.withLock { $0.known[id] }?.move(to: next) }

  // MARK: - The engine

  private var hasAgent: Bool { isExtension || (try? agent?.connect()) != nil }

  /// Starts the engine in this process, unless it runs, until no download is left.
  private func download() {
    guard !isExtension else { return }
    state.withLock { state in
      guard state.runner == nil else {
        state.runsAgain = true
        return
      }
      state.runner = Task { await self.runEngine() }
    }
  }

  private func runEngine() async {
    repeat {
      state.withLock { $0.runsAgain = false }
      await runOnce()
    } while state.withLock { state in
      if !state.runsAgain { state.runner = nil }
      return state.runsAgain
    }
  }

  private func runOnce() async {
    let connection = try? agent?.connect()
    if let connection {
      // The lock decides: an agent that does not answer may hold it.
      _ = try? await connection.ask(.handOverDownloads(app: configuration.appID), within: options.agentPatience)
    }
    defer { withExtendedLifetime(connection) {} }
    let lock = try? await watch.watching { try await FileLock.acquire(folder.engineLock, by: .system) }
    guard let lock else { return }
    var engineOptions = DownloadEngine.Options(transport: transport)
    engineOptions.rules = options.rules
    engineOptions.clock = options.clock
    engineOptions.restrictions = configuration.restrictions
    let engine = DownloadEngine(in: folder, telling: AppListener(core: self), options: engineOptions)
    state.withLock { $0.engine = engine }
    let poller = Task { [folder] in
      let path = folder.path.appending("list")
      var known = FileIdentity(path)
      while (try? await ContinuousClock().sleep(for: Self.interval)) != nil {
        let now = FileIdentity(path)
        if now != known { engine.poke() }
        known = now
      }
    }
    // The next call reports a list that cannot be read.
    try? await watch.watching { try await engine.run(holding: lock, endsWhenIdle: true) }
    poller.cancel()
    state.withLock { $0.engine = nil }
    agent?.refresh()
  }

  /// Returns when this process no longer downloads. For tests, and for programs that end.
  func settle() async {
    while let runner = state.withLock({ $0.runner }) { await runner.value }
  }

  // MARK: - Events for the delegate

  private struct AppListener: DownloadListener {
    let core: DownloadCore

    func began(_ record: DownloadRecord) async {
      core.move(record.id, to: .downloading)
      core.delegate?.downloadDidBegin(core.object(record))
    }

    func paused(_ record: DownloadRecord) async {
      core.move(record.id, to: .waiting)
      core.delegate?.downloadDidPause(core.object(record))
    }

    func wrote(_ record: DownloadRecord, byteCount: Int, total: Int, expected: Int?) {
      core.delegate?.download(
        core.object(record), didWriteBytes: Int64(byteCount), totalBytesWritten: Int64(total),
        totalBytesExpectedToWrite: Int64(expected ?? record.byteCount))
    }

    func challenge(_ record: DownloadRecord, _ challenge: FileChallenge) async -> FileChallengeReply {
      guard let delegate = core.delegate else { return .none }
      return await answer(delegate, core.object(record), challenge.authentication)
    }

    func ended(_ record: DownloadRecord, _ end: DownloadEnd) async -> Hearing {
      let download = core.object(record)
      download.move(to: BADownload.State(record.phase), record)
      guard let delegate = core.delegate else { return .unheard }
      switch end {
      case .finished(let path): delegate.download(download, finishedWithFileURL: URL(fileURLWithPath: path.string))
      case .failed(let error): delegate.download(download, failedWithError: error)
      }
      core.state.withLock { $0.known[record.id] = nil }
      return .heard
    }

    func fellSilent() async {}
  }
}

/// The delegate is not Sendable: it is called only from here, and its thread safety is the app's responsibility.
private func answer(
  _ delegate: any BADownloadManagerDelegate, _ download: BADownload, _ challenge: URLAuthenticationChallenge
) async -> FileChallengeReply {
  let (disposition, credential) = await delegate.download(download, didReceive: challenge)
  return FileChallengeReply(disposition, credential)
}

/// Whether the program is an extension.
let isExtensionProcess = Atomic(false)
