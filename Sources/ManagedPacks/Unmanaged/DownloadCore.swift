import Synchronization

/// What a download manager works with: the app's list, and the engine while this process downloads.
///
/// The process downloads while it has a delegate, while it waits for a download of the foreground, or where there is no agent. Then it
/// asks the agent to leave the app's downloads to it: as long as the connection is open they are.
final class DownloadCore: Sendable {
  private struct State {
    /// Downloads that are open, so that all who hold one see the same states.
    var known: [String: BADownload] = [:]
    var engine: DownloadEngine?
    var runner: Task<Void, Never>?
    /// The list changed while the engine ended.
    var runsAgain = false
  }

  /// Not of this module's making: what it does from several threads is its own.
  private struct DelegateHolder: @unchecked Sendable { weak var delegate: (any BADownloadManagerDelegate)? }

  let configuration: ManagedConfiguration
  let folder: DownloadFolder
  let control: ExclusiveControl
  private let options: BADownloadManager.Options
  private let isExtension: Bool
  private let transport: any FileTransport
  private let agent: AgentClient?
  private let state = Mutex(State())
  private let delegateHolder = Mutex(DelegateHolder())

  /// How often a list is read again that other processes may change, and a lock is asked for that another one has.
  private static let interval = Duration.seconds(1)

  init(_ configuration: ManagedConfiguration, _ options: BADownloadManager.Options) throws {
    self.configuration = configuration
    self.options = options
    isExtension = options.isExtension ?? isExtensionProcess.load(ordering: .relaxed)
    let group = try GroupFolder(of: configuration, environment: options.environment)
    folder = try DownloadFolder(ofApp: configuration.appID, in: group)
    transport = options.transport ?? standardFileTransport(environment: options.environment)
    agent = options.speaksToAgent ? AgentClient(in: group) : nil
    control = ExclusiveControl(in: folder, clock: options.clock, wallClock: options.wallClock)
    guard !isExtension else {
      _ = try folder.list()
      return
    }
    let day = Int(exactly: (options.wallClock() / 86_400).rounded(.down))
    try folder.update { list in
      list.isLaunched = true
      list.launchDay = day
    }
    // So that the agent knows where the extension is.
    if !configuration.hasManagedAssetPacks { try JournalFile(in: group).register(configuration) }
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

  /// - Throws: ``BAError`` `callerConnectionInvalid` for what is none.
  private func withList<Value>(_ body: (inout DownloadList) throws -> Value) throws -> Value {
    do {
      return try folder.update(body)
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

  /// Whether the download is one that is open already, and belongs into the foreground now.
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

  /// Downloads that were held back may go on: as long as there are any, the engine runs.
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

  /// Sees to it that this process downloads, until nothing is left.
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
      // One that does not answer holds the lock, or does not: the lock says.
      _ = try? await connection.ask(.handOverDownloads(app: configuration.appID), within: AgentClient.patience)
    }
    defer { withExtendedLifetime(connection) {} }
    guard let lock = try? await FileLock.acquire(folder.engineLock, by: .system) else { return }
    var engineOptions = DownloadEngine.Options(transport: transport)
    engineOptions.rules = options.rules
    engineOptions.clock = options.clock
    engineOptions.restrictions = configuration.restrictions
    let engine = DownloadEngine(in: folder, telling: AppListener(core: self), options: engineOptions)
    state.withLock { $0.engine = engine }
    let watch = Task { [folder] in
      let path = folder.path.appending("list")
      var known = FileIdentity(path)
      while (try? await ContinuousClock().sleep(for: Self.interval)) != nil {
        let now = FileIdentity(path)
        if now != known { engine.poke() }
        known = now
      }
    }
    // A list that cannot be read is met again by the next call.
    try? await engine.run(holding: lock, endsWhenIdle: true)
    watch.cancel()
    state.withLock { $0.engine = nil }
    agent?.refresh()
  }

  /// Returns when this process does not download: for tests, and programs that end.
  func settle() async {
    while let runner = state.withLock({ $0.runner }) { await runner.value }
  }

  // MARK: - What the delegate hears

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

/// The delegate is not Sendable: it is called from here alone, and what it does with threads is its own.
private func answer(
  _ delegate: any BADownloadManagerDelegate, _ download: BADownload, _ challenge: URLAuthenticationChallenge
) async -> FileChallengeReply {
  let (disposition, credential) = await delegate.download(download, didReceive: challenge)
  return FileChallengeReply(disposition, credential)
}

/// The program is an extension's.
let isExtensionProcess = Atomic(false)
