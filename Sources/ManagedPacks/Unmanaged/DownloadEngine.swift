import Synchronization

/// Performs the downloads of one app's list, and reports their events to the listener. One process at a time runs an app's engine:
/// the process that holds `engine.lock`.
///
/// ```
///            a slot is free                     complete, or a permanent error
///  queued -----------------> running --------------------------------------------> reported and removed
///    ^                         |  a temporary error
///    +------ waiting <---------+
/// ```
/// - *Essential* and *foreground* downloads start first, up to ``Options/urgentCount`` at a time. While an essential download is
///   open, no background download starts. The ends of essential downloads are reported in a batch, when the last of them has ended.
/// - Foreground downloads are not retried. A download promoted to the foreground continues: its transfer is not interrupted.
/// - Other downloads start in order of priority, a few at a time, and not while the network is metered or the user does not permit
///   work in the background. After a temporary error they are retried according to ``DownloadRules``.
/// - A download that has left the list was cancelled: its transfer is stopped and its partial file deleted.
/// - Ends are reported one after the other. A reported download stays in the list until the callback has returned; if the process
///   ends before that, the end is reported again.
actor DownloadEngine {
  struct Options: Sendable {
    var rules = DownloadRules()
    var clock = TransferClock.system
    var transport: any FileTransport
    var restrictions: InitialDownloadRestrictions?

    /// The number of foreground and essential downloads that run concurrently.
    var urgentCount = 4

    /// The number of retries of an essential download, and the delay before each: a few seconds for a network to appear.
    var essentialRetryLimit = 5
    var essentialRetryDelay = Duration.seconds(1)

    /// Whether an engine that ends when no work is left also ends when no open download may start, such as on a metered network.
    var endsWhenBlocked = false

    /// The number of crashes of the listener after which an end counts as reported.
    var tellLimit = 3

    init(transport: any FileTransport) { self.transport = transport }
  }

  private struct Open {
    var record: DownloadRecord
    var task: Task<Void, Never>?
    /// Whether the download waits for a retry.
    var isWaiting = false
    var failureCount = 0
    var hasBegun = false
  }

  private let folder: DownloadFolder
  private let options: Options
  private let listener: any DownloadListener
  private nonisolated let bell = TaskNotifier()
  /// The number of changes of the list signalled so far, and the number when the list was last read.
  private nonisolated let pokes = Mutex((said: 0, heard: 0))
  private var open: [String: Open] = [:]
  private var telling: Task<Void, Never>?
  private var untold: Set<String> = []
  private var crashCounts: [String: Int] = [:]
  private var isEnding = false

  init(in folder: DownloadFolder, telling listener: any DownloadListener, options: Options) {
    self.folder = folder
    self.listener = listener
    self.options = options
  }

  /// Signals that the list has changed.
  nonisolated func poke() {
    pokes.withLock { $0.said += 1 }
    bell.ring()
  }

  /// Whether the list has changed since it was last read. If the engine has ended, the next engine handles the change.
  nonisolated var isBehind: Bool { pokes.withLock { $0.said != $0.heard } }

  /// Reports unreported ends again: a listener exists now, or is free again.
  func tellAgain() {
    untold = []
    bell.ring()
  }

  // MARK: - Running

  /// Runs until the task is cancelled, or no work is left.
  ///
  /// - Parameters:
  ///   - lock: the lock on `engine.lock`, held until this returns.
  ///   - endsWhenIdle: whether to return when no work is left.
  /// - Throws: the error of reading the list.
  func run(holding lock: FileLock, endsWhenIdle: Bool) async throws {
    isEnding = false
    defer { withExtendedLifetime(lock) {} }
    do {
      try recover()
      while !Task.isCancelled {
        try reconcile()
        if endsWhenIdle, isIdle { break }
        await bell.wait()
      }
    } catch {
      await stop()
      throw error
    }
    await stop()
  }

  private func stop() async {
    isEnding = true
    for entry in open.values { entry.task?.cancel() }
    for entry in open.values { await entry.task?.value }
    await telling?.value
    for entry in open.values where entry.hasBegun && !entry.isWaiting { await listener.paused(entry.record) }
    open = [:]
  }

  private var isIdle: Bool {
    telling == nil && (options.endsWhenBlocked ? open.values.allSatisfy { $0.task == nil } : open.isEmpty)
  }

  /// Makes files and list consistent after a process that ended at any point.
  private func recover() throws {
    // The names before the list: another process may add a download and its partial file at any time; an older list would lack that
    // download.
    let ready = Set(try namesInFolder(folder.path.appending("ready")))
    let parts = try namesInFolder(folder.path.appending("parts"))
    let list = try folder.list()
    // The file was complete before the list recorded it.
    for record in list.downloads where record.phase == .waiting && ready.contains(record.id) {
      let byteCount = FileIdentity(folder.ready(record.id).path)?.byteCount ?? 0
      try folder.update { $0.end(record.id, byteCount: byteCount, nil) }
    }
    let known = Set(list.downloads.map(\.id))
    let waiting = Set(list.downloads.filter { $0.phase == .waiting }.map(\.id))
    for name in ready where !known.contains(name) { try removeFile(folder.ready(name)) }
    for name in parts where !waiting.contains(name) || ready.contains(name) { try removeFile(folder.part(name)) }
  }

  // MARK: - The list

  /// Applies the list to the open downloads.
  private func reconcile() throws {
    pokes.withLock { $0.heard = $0.said }
    let list = try folder.list()
    for id in open.keys where list[id]?.phase != .waiting { drop(id) }
    for record in list.downloads where record.phase == .waiting && record.kind == .file {
      guard var entry = open[record.id] else {
        open[record.id] = Open(record: record)
        continue
      }
      let isPromoted = record.isForeground && !entry.record.isForeground
      entry.record = record
      if isPromoted, entry.isWaiting {
        entry.task?.cancel()
        entry.task = nil
        entry.isWaiting = false
      }
      open[record.id] = entry
    }
    startReady(list)
    tellEnds(list)
  }

  /// Drops a download that was cancelled or has ended.
  private func drop(_ id: String) {
    guard let entry = open.removeValue(forKey: id) else { return }
    entry.task?.cancel()
    let part = folder.part(id)
    // A writer has the file open, and does not use its name.
    try? removeFile(part)
  }

  private func startReady(_ list: DownloadList) {
    let queued = open.values.filter { $0.task == nil }.map(\.record).sorted { $0.isBefore($1) }
    for record in queued where mayStart(record, list) { start(record.id) }
  }

  private func mayStart(_ record: DownloadRecord, _ list: DownloadList) -> Bool {
    let running = open.values.filter { $0.task != nil && !$0.isWaiting }.map(\.record)
    if record.isForeground || record.isEssential {
      return running.count { $0.isForeground || $0.isEssential } < max(options.urgentCount, 1)
    }
    let rules = options.rules
    return !list.hasOpenEssential && !rules.isMetered() && rules.isBackgroundAllowed()
      && running.count { !$0.isForeground && !$0.isEssential } < max(rules.concurrentDownloadCount, 1)
  }

  // MARK: - Transfers

  private func start(_ id: String) {
    guard let record = open[id]?.record else { return }
    open[id]?.task = Task { [weak self] in
      await self?.listener.began(record)
      let error = await self?.transfer(record)
      await self?.transferred(id, error ?? nil)
    }
    open[id]?.hasBegun = true
  }

  /// - Returns: `nil` if all bytes are stored and the list records it.
  private nonisolated func transfer(_ record: DownloadRecord) async -> (any Error)? {
    do {
      try Task.checkCancellation()
      try await BlockingExecutor.runAsync {
        try checkConditions(of: record)
        let sink = try PartialFileWriter(record, in: folder, options.restrictions, telling: listener)
        try await options.transport.fetch(sink.request, to: sink)
        try sink.finish()
      }
      return nil
    } catch {
      return error
    }
  }

  /// - Throws: ``BAError``.
  private nonisolated func checkConditions(of record: DownloadRecord) throws {
    let list = try folder.list()
    if !list.isLaunched, !options.rules.isInAppContentAllowed() {
      throw BAError(.sessionDownloadNotPermittedBeforeAppLaunch)
    }
    let here = FileIdentity(folder.part(record.id).path)?.byteCount ?? 0
    let missing = max(record.byteCount, record.totalByteCount ?? 0).subtractingClamped(here)
    let needed = options.rules.reservedByteCount.addingClamped(max(missing, 0))
    guard let free = options.rules.freeByteCount(folder.path), free < needed else { return }
    let purged = try PurgeableDownloads(in: folder.group).purge(byteCount: needed.subtractingClamped(free))
    guard let now = options.rules.freeByteCount(folder.path), now < needed else { return }
    throw BAError(
      .downloadFailedToStart,
      "too little disk space for the download '\(record.name)': \(now) bytes are free after purging \(purged.freedByteCount); free \(needed) bytes"
    )
  }

  private func transferred(_ id: String, _ error: (any Error)?) async {
    guard let entry = open[id] else { return bell.ring() }
    if isEnding, error != nil { return }
    guard let error else {
      open[id] = nil
      return bell.ring()
    }
    if error is CancellationError {
      guard (try? folder.list())?[id]?.phase == .waiting else {
        open[id] = nil
        return bell.ring()
      }
      return await fail(id, BAError(.downloadInvalid, "the app cancelled an authentication challenge"))
    }
    open[id]?.failureCount += 1
    guard let delay = retryDelay(entry.record, after: error, failureCount: entry.failureCount + 1) else {
      return await fail(id, error)
    }
    // Reported before the next attempt can begin.
    await listener.paused(entry.record)
    // The download may have been cancelled or promoted since then.
    if open[id]?.record.isForeground == true {
      open[id]?.task = nil
    } else if !isEnding {
      wait(id, delay)
    }
    bell.ring()
  }

  private func wait(_ id: String, _ delay: Duration) {
    open[id]?.isWaiting = true
    open[id]?.task = Task { [weak self, clock = options.clock] in
      guard (try? await clock.sleep(delay)) != nil, !Task.isCancelled else { return }
      await self?.goOn(id)
    }
  }

  private func goOn(_ id: String) {
    // A download promoted since then is already running.
    guard open[id]?.isWaiting == true else { return }
    open[id]?.task = nil
    open[id]?.isWaiting = false
    bell.ring()
  }

  /// Returns `nil` if a retry is of no use.
  private func retryDelay(_ record: DownloadRecord, after error: any Error, failureCount: Int) -> Duration? {
    let fault = error as? FileFault
    guard fault?.isTemporary ?? DownloadRules.isTemporary(error), !record.isForeground else { return nil }
    let demanded = fault?.demandedDelay ?? .zero
    if record.isEssential {
      let isOver = failureCount > options.essentialRetryLimit
      return isOver || demanded > options.essentialRetryDelay ? nil : options.essentialRetryDelay
    }
    guard failureCount <= options.rules.retryLimit, demanded <= options.rules.longestRetryDelay else { return nil }
    return max(options.rules.retryDelay(failureCount: failureCount, chance: options.clock.random()), demanded)
  }

  private func fail(_ id: String, _ error: any Error) async {
    let part = folder.part(id)
    let byteCount = FileIdentity(part.path)?.byteCount ?? 0
    let shown = (error as? FileFault)?.error ?? error
    do {
      try folder.update { $0.end(id, byteCount: byteCount, shown) }
    } catch {
      // The list cannot be written, so the download is still scheduled. It is retried after the longest delay, not at once.
      wait(id, options.rules.longestRetryDelay)
      if let record = open[id]?.record { await listener.paused(record) }
      return bell.ring()
    }
    // The next engine removes the file if this fails.
    try? removeFile(part)
    open[id] = nil
    bell.ring()
  }

  // MARK: - Ends

  private func tellEnds(_ list: DownloadList) {
    guard telling == nil, !isEnding, let record = nextEnd(list) else { return }
    telling = Task { [weak self] in await self?.tell(record) }
  }

  /// The ends of essential downloads wait for the last of them.
  private func nextEnd(_ list: DownloadList) -> DownloadRecord? {
    list.downloads.first { record in
      record.phase != .waiting && !untold.contains(record.id) && !(record.isEssential && list.hasOpenEssential)
        && !(record.kind == .manifest && record.phase == .finished)
    }
  }

  private func tell(_ record: DownloadRecord) async {
    let hearing = await hear(of: record)
    switch hearing {
    case .heard: crashCounts[record.id] = nil
    case .unheard: untold.insert(record.id)
    case .crashed:
      crashCounts[record.id, default: 0] += 1
      if crashCounts[record.id, default: 0] >= options.tellLimit { giveUp(record) }
    }
    telling = nil
    if let list = try? folder.list(), !isEnding, nextEnd(list) != nil { return tellEnds(list) }
    await listener.fellSilent()
    bell.ring()
  }

  /// Counts an end as reported. If the list cannot be written, this engine does not report it again.
  private func giveUp(_ record: DownloadRecord) {
    do {
      try forget(record)
    } catch {
      untold.insert(record.id)
    }
  }

  private func hear(of record: DownloadRecord) async -> Hearing {
    do {
      guard record.phase == .finished else {
        let error = record.failure?.error ?? BAError(.downloadInvalid)
        let hearing = await listener.ended(record, .failed(error))
        if hearing == .heard { try forget(record) }
        return hearing
      }
      let place = folder.ready(record.id)
      guard let file = DeliveredFile(place.path, of: record) else {
        // A callback moved the file away, and its process ended before it returned.
        try folder.update { $0[record.id] = nil }
        return .heard
      }
      try folder.update { list in
        list.delivered.removeAll { $0.id == record.id }
        list.delivered = Array((list.delivered + [file]).suffix(DownloadList.countLimit))
      }
      let hearing = await listener.ended(record, .finished(place.path))
      if hearing == .heard { try forget(record) }
      return hearing
    } catch {
      return .unheard
    }
  }

  /// Removes a download after its callback has returned, with the file if the callback left it.
  private func forget(_ record: DownloadRecord) throws {
    let place = folder.ready(record.id), isLeft = FileIdentity(place.path) != nil
    try removeFile(place)
    try folder.update { list in
      if isLeft { list.delivered.removeAll { $0.id == record.id } }
      list[record.id] = nil
    }
    crashCounts[record.id] = nil
  }
}
