import Synchronization

/// Downloads for one app what its list says, and tells the listener. One process has an app's engine at a time: that which holds
/// `engine.lock`.
///
/// ```
///            a place is free                    all bytes, or an error for good
///  queued -----------------> running --------------------------------------------> told, and gone
///    ^                         |  an error that may pass
///    +------ waiting <---------+
/// ```
/// - *Essential* downloads run first and together. As long as one is open nothing else starts, and their ends are told when the last
///   of them has one: in a batch.
/// - *Foreground* downloads start at once and fail at once. One that is promoted goes on where it is: its transfer is not touched.
/// - Others start in order of priority, some at a time, and not while the network costs money or the user permits no work in the
///   background. What fails for a reason that may pass is tried again as ``DownloadRules`` says.
/// - What is not in the list any more was cancelled: its transfer and its part end.
/// - Ends are told one after the other. What was told of stays in the list until the callback has returned, so that an end is told
///   once more if the process ends before.
actor DownloadEngine {
  struct Options: Sendable {
    var rules = DownloadRules()
    var clock = TransferClock.system
    var transport: any FileTransport
    var restrictions: InitialDownloadRestrictions?

    /// How many downloads that someone waits for run at once.
    var urgentCount = 4

    /// How often an essential download is tried again, and after how long: a few seconds for a network.
    var essentialRetryLimit = 5
    var essentialRetryDelay = Duration.seconds(1)

    /// After so many crashes of a listener an end counts as told.
    var tellLimit = 3

    init(transport: any FileTransport) { self.transport = transport }
  }

  private struct Open {
    var record: DownloadRecord
    var task: Task<Void, Never>?
    /// It is between two tries.
    var isWaiting = false
    var failureCount = 0
    var hasBegun = false
  }

  private let folder: DownloadFolder
  private let options: Options
  private let listener: any DownloadListener
  private nonisolated let bell = Bell()
  /// How often it was said that the list has changed, and how often before the list was last read.
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

  /// The list has changed.
  nonisolated func poke() {
    pokes.withLock { $0.said += 1 }
    bell.ring()
  }

  /// The list has changed since it was last read: one that has ended leaves that to the next one.
  nonisolated var isBehind: Bool { pokes.withLock { $0.said != $0.heard } }

  /// Someone listens now, or has time again.
  func tellAgain() {
    untold = []
    bell.ring()
  }

  // MARK: - Running

  /// Works until the task is cancelled, or nothing is left to be done.
  ///
  /// - Parameters:
  ///   - lock: of `engine.lock`, which is held meanwhile.
  ///   - endsWhenIdle: returns when nothing is left.
  /// - Throws: what keeps the list from being read.
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

  private var isIdle: Bool { open.isEmpty && telling == nil }

  /// Brings files and list together after a process that ended anywhere.
  private func recover() throws {
    // Names first, and then the list: another process may schedule and begin a manifest at any time, whose part the
    // list would not have yet.
    let ready = Set(try namesInFolder(folder.path.appending("ready")))
    let parts = try namesInFolder(folder.path.appending("parts"))
    let list = try folder.list()
    // It was complete, and the list did not say so yet.
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

  /// Makes downloads what the list says.
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

  /// It was cancelled, or has ended.
  private func drop(_ id: String) {
    guard let entry = open.removeValue(forKey: id) else { return }
    entry.task?.cancel()
    let part = folder.part(id)
    // Whatever writes to it has its file open, and not by its name.
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

  /// - Returns: nil: all bytes are here, and the list says so.
  private nonisolated func transfer(_ record: DownloadRecord) async -> (any Error)? {
    do {
      try Task.checkCancellation()
      try await BlockingExecutor.runAsync {
        try checkConditions(of: record)
        let sink = try PartSink(record, in: folder, options.restrictions, telling: listener)
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
      "there is too little room for the download '\(record.name)': \(now) bytes are free, \(purged.freedByteCount) of them since other downloads were purged; make room for \(needed)"
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
      return await fail(id, BAError(.downloadInvalid, "a challenge was answered by cancelling the download"))
    }
    open[id]?.failureCount += 1
    guard let delay = retryDelay(entry.record, after: error, failureCount: entry.failureCount + 1) else {
      return await fail(id, error)
    }
    // Before the next attempt can begin.
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
    // It may have been promoted while this came here: then it runs.
    guard open[id]?.isWaiting == true else { return }
    open[id]?.task = nil
    open[id]?.isWaiting = false
    bell.ring()
  }

  /// Nil: another try is of no use.
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
      // The list cannot be written, so the download is still asked for. It comes again when the fault may have passed,
      // and not at once.
      wait(id, options.rules.longestRetryDelay)
      if let record = open[id]?.record { await listener.paused(record) }
      return bell.ring()
    }
    // What stays is removed by the next engine.
    try? removeFile(part)
    open[id] = nil
    bell.ring()
  }

  // MARK: - Ends

  private func tellEnds(_ list: DownloadList) {
    guard telling == nil, !isEnding, let record = nextEnd(list) else { return }
    telling = Task { [weak self] in await self?.tell(record) }
  }

  /// Those of essential downloads wait for the last of them.
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

  /// Counts a download as told. Where that cannot be noted, this engine tells of it no more.
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
        // A callback has taken it whose process ended before it returned.
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

  /// The callback has returned: what it left is gone.
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
