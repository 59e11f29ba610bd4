import Synchronization

/// Fetches packs, each in a download of its own: one that fails fails alone.
///
/// A download is *queued*, *running*, *paused*, or *waiting* for another try. At most one download of a pack is open; who asks for
/// the pack meanwhile joins it, and makes it as urgent as it is wanted. The most urgent goes first, then the one that was asked
/// for first. Downloads that the app waits for and those that it does not have places of their own: neither keeps the other from
/// starting. The exception is an installation: while an essential pack is open, also a paused one, no download starts that no one
/// waits for; those that run go on.
///
/// Everything that happens is decided and told under one lock, so that listeners see it in the order in which it happened.
final class DownloadScheduler: Sendable {
  typealias Fetch = @Sendable (AssetPack, Store.PullPause, @escaping @Sendable (Int, Int) -> Void) async throws -> Void

  private enum Phase {
    case queued
    case running
    case paused
    case waiting(Task<Void, Never>)
  }

  private struct Download {
    let number: Int
    let pack: AssetPack
    let progress: DownloadProgress
    let pause = Store.PullPause()
    var urgency: Urgency
    /// How soon it is wanted where no task waits for it; nil: then it is not wanted.
    var standing: Urgency?
    var phase = Phase.queued
    /// The pull, once it was started; it may be paused.
    var task: Task<Void, Never>?
    var isCancelled = false
    /// What it ends with when it is cancelled.
    var cancellation: any Error = CancellationError()
    /// No one said that the pack is not wanted: the last task that waited for it left.
    var wasLeft = false
    var failureCount = 0
    /// Listeners know of it.
    var hasBegun = false
    var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]

    var isRunning: Bool { if case .running = phase { true } else { false } }

    mutating func want(_ urgency: Urgency, isStanding: Bool) {
      self.urgency = max(self.urgency, urgency)
      if isStanding { standing = max(standing ?? urgency, urgency) }
    }
  }

  private struct State {
    var nextNumber = 0
    var nextWaiter = 0
    /// By pack.
    var downloads: [String: Download] = [:]
    /// Asked for while the one before is being cancelled.
    var successors: [String: Download] = [:]
  }

  private let rules: DownloadRules
  private let clock: TransferClock
  private let hub: StatusHub
  private let fetch: Fetch
  /// Called under the lock with the scheduler itself when a download is over, and nothing has asked for the pack again.
  private let onEnd: @Sendable (AssetPack, (any Error)?, DownloadScheduler) -> Void
  /// Called under the lock when the app pauses a download, or lets it go on.
  private let onPause: @Sendable (AssetPack, Bool) -> Void
  private let state = Mutex(State())

  init(
    rules: DownloadRules, clock: TransferClock, hub: StatusHub,
    onEnd: @escaping @Sendable (AssetPack, (any Error)?, DownloadScheduler) -> Void,
    onPause: @escaping @Sendable (AssetPack, Bool) -> Void, fetch: @escaping Fetch
  ) {
    self.rules = rules
    self.clock = clock
    self.hub = hub
    self.onEnd = onEnd
    self.onPause = onPause
    self.fetch = fetch
  }

  // MARK: - Asking

  /// Asks for a pack; false: it was asked for before.
  @discardableResult
  func request(_ pack: AssetPack, _ urgency: Urgency, isPaused: Bool = false) -> Bool {
    request([(pack, urgency)], pausing: isPaused ? [pack.id] : []).new.contains(pack.id)
  }

  /// What came of asking for several packs.
  struct Requested {
    /// Those that were not asked for before.
    var new: Set<String> = []
    /// The downloads of all of them, new or not. One that has ended since is gone from the scheduler, but not from here.
    var downloads: [String: InstallationProgress.Counted] = [:]
  }

  /// Asks for several packs before one of them starts.
  ///
  /// - Parameter paused: the new ones of these wait until they are resumed.
  func request(_ packs: [(pack: AssetPack, urgency: Urgency)], pausing paused: Set<String> = []) -> Requested {
    state.withLock { state in
      var requested = Requested()
      for (pack, urgency) in packs {
        if add(pack, urgency, isStanding: true, to: &state) {
          requested.new.insert(pack.id)
          if paused.contains(pack.id) { hold(pack.id, in: &state) }
        }
        let download = state.successors[pack.id] ?? state.downloads[pack.id]
        requested.downloads[pack.id] = download.map { ($0.progress, pack.downloadSize) }
      }
      startReady(in: &state)
      return requested
    }
  }

  /// Asks for a pack and returns when it is here. When the task is cancelled and nothing else wants the pack, the download is
  /// cancelled too; one that was asked for by ``request(_:_:isPaused:)`` goes on as urgent as it was asked for there.
  ///
  /// - Parameter opensNew: otherwise this waits for an open download only, and returns at once if the pack has none.
  func fetch(_ pack: AssetPack, _ urgency: Urgency, opensNew: Bool = true) async throws {
    let waiter = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        state.withLock { state in
          guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
          guard opensNew || state.downloads[pack.id].map({ !$0.isCancelled }) ?? false else {
            return continuation.resume()
          }
          add(pack, urgency, isStanding: urgency != .foreground, to: &state)
          if state.successors[pack.id] != nil {
            state.successors[pack.id]?.waiters[waiter] = continuation
          } else {
            state.downloads[pack.id]?.waiters[waiter] = continuation
          }
          startReady(in: &state)
        }
      }
    } onCancel: {
      state.withLock { leave(pack.id, waiter, in: &$0) }
    }
  }

  @discardableResult
  private func add(_ pack: AssetPack, _ urgency: Urgency, isStanding: Bool, to state: inout State) -> Bool {
    let id = pack.id
    guard let open = state.downloads[id] else {
      state.downloads[id] = makeDownload(pack, urgency, isStanding: isStanding, &state)
      return true
    }
    guard !open.isCancelled else {
      guard state.successors[id] == nil else {
        state.successors[id]?.want(urgency, isStanding: isStanding)
        return false
      }
      state.successors[id] = makeDownload(pack, urgency, isStanding: isStanding, &state)
      return true
    }
    state.downloads[id]?.want(urgency, isStanding: isStanding)
    // Who waits now does not wait for the end of a delay.
    if case .waiting(let delay) = open.phase, urgency > open.urgency, !urgency.isBackground {
      delay.cancel()
      state.downloads[id]?.phase = .queued
    }
    return false
  }

  private func makeDownload(
    _ pack: AssetPack, _ urgency: Urgency, isStanding: Bool, _ state: inout State
  ) -> Download {
    state.nextNumber += 1
    let number = state.nextNumber
    let progress = DownloadProgress(estimate: pack.downloadSize) { [weak self] command in
      self?.control(pack.id, number, command)
    }
    return Download(
      number: number, pack: pack, progress: progress, urgency: urgency, standing: isStanding ? urgency : nil)
  }

  /// A task that waited was cancelled.
  private func leave(_ id: String, _ waiter: Int, in state: inout State) {
    if let continuation = state.successors[id]?.waiters.removeValue(forKey: waiter) {
      continuation.resume(throwing: CancellationError())
      if let left = state.successors[id], left.waiters.isEmpty {
        if let standing = left.standing { state.successors[id]?.urgency = standing } else { state.successors[id] = nil }
      }
      return
    }
    guard let continuation = state.downloads[id]?.waiters.removeValue(forKey: waiter) else { return }
    continuation.resume(throwing: CancellationError())
    guard let left = state.downloads[id], left.waiters.isEmpty, !left.isCancelled else { return }
    guard let standing = left.standing else {
      state.downloads[id]?.wasLeft = true
      return cancel(id, in: &state)
    }
    state.downloads[id]?.urgency = standing
    startReady(in: &state)
  }

  // MARK: - Control

  private func control(_ id: String, _ number: Int, _ command: DownloadProgress.Command) {
    state.withLock { state in
      // A progress that was kept longer than its download controls nothing.
      guard state.downloads[id]?.number == number else { return }
      switch command {
      case .cancel: cancel(id, in: &state)
      case .pause: pause(id, in: &state)
      case .resume: resume(id, in: &state)
      }
    }
  }

  /// False: there is nothing to cancel, pause or resume.
  @discardableResult
  func control(_ id: String, _ command: DownloadProgress.Command) -> Bool {
    state.withLock { state in
      guard let open = state.downloads[id], !open.isCancelled else { return false }
      switch command {
      case .cancel: cancel(id, in: &state)
      case .pause: pause(id, in: &state)
      case .resume: resume(id, in: &state)
      }
      return true
    }
  }

  /// The same for all essential packs.
  func controlEssential(_ command: DownloadProgress.Command) {
    let ids = state.withLock { state in state.downloads.filter { $0.value.urgency == .essential }.keys.sorted() }
    for id in ids { control(id, command) }
  }

  private func cancel(_ id: String, in state: inout State) {
    guard let open = state.downloads[id], !open.isCancelled else { return }
    state.downloads[id]?.isCancelled = true
    open.progress.setCancelled()
    if case .waiting(let delay) = open.phase { delay.cancel() }
    // A pull that runs says when it has stopped.
    guard let task = open.task else { return end(id, open.cancellation, in: &state) }
    task.cancel()
  }

  private func pause(_ id: String, in state: inout State) {
    hold(id, in: &state)
    startReady(in: &state)
  }

  /// A pause that starts no other one in its place.
  private func hold(_ id: String, in state: inout State) {
    guard let open = state.downloads[id], !open.isCancelled else { return }
    switch open.phase {
    case .paused: return
    case .waiting(let delay): delay.cancel()
    case .queued, .running: break
    }
    open.pause.pause()
    open.progress.set(isPaused: true)
    state.downloads[id]?.phase = .paused
    onPause(open.pack, true)
    if open.hasBegun { hub.publish(.paused(open.pack)) }
  }

  private func resume(_ id: String, in state: inout State) {
    guard let open = state.downloads[id], !open.isCancelled, case .paused = open.phase else { return }
    open.progress.set(isPaused: false)
    onPause(open.pack, false)
    state.downloads[id]?.phase = .queued
    startReady(in: &state)
  }

  /// Cancels a download, which ends with an error, and returns when nothing of it runs any more.
  func stop(_ id: String, _ error: any Error) async {
    _ = try? await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      state.withLock { state in
        guard let open = state.downloads[id] else { return continuation.resume() }
        state.nextWaiter += 1
        state.downloads[id]?.waiters[state.nextWaiter] = continuation
        if !open.isCancelled { state.downloads[id]?.cancellation = error }
        cancel(id, in: &state)
      }
    }
  }

  /// Downloads that were held back may go on.
  func conditionsChanged() { state.withLock { startReady(in: &$0) } }

  // MARK: - What is open

  func isOpen(_ id: String) -> Bool { state.withLock { $0.downloads[id].map { !$0.isCancelled } ?? false } }

  /// Whether a download is open that goes on when no task waits for it.
  func isStanding(_ id: String) -> Bool {
    state.withLock { $0.downloads[id].map { !$0.isCancelled && $0.standing != nil } ?? false }
  }

  /// By pack, whether they are paused.
  var openDownloads: [String: Bool] {
    state.withLock { state in
      state.downloads.filter { !$0.value.isCancelled }.mapValues { if case .paused = $0.phase { true } else { false } }
    }
  }

  /// Packs that do not start as long as the network costs money, or a paused installation is not resumed.
  var heldBack: Set<String> {
    state.withLock { state in
      let isHeld = rules.isMetered() || hasEssential(isPaused: true, in: state)
      guard isHeld else { return [] }
      let queued = state.downloads.values.filter { open in
        if case .queued = open.phase { !open.isCancelled && open.urgency.isBackground } else { false }
      }
      return Set(queued.map(\.pack.id))
    }
  }

  /// Whether there is a download that goes on by itself.
  var hasWork: Bool {
    let held = heldBack
    return openDownloads.contains { !$0.value && !held.contains($0.key) }
  }

  func progress(of id: String) -> Progress? { state.withLock { $0.downloads[id]?.progress } }

  // MARK: - Running

  private func startReady(in state: inout State) {
    for isBackground in [false, true] {
      if isBackground, rules.isMetered() || hasEssential(in: state) { return }
      while let next = nextQueued(isBackground, in: state) { start(next, in: &state) }
    }
  }

  /// Whether an essential pack is open.
  private func hasEssential(isPaused: Bool? = nil, in state: State) -> Bool {
    state.downloads.values.contains { open in
      guard open.urgency == .essential, !open.isCancelled, let isPaused else {
        return open.urgency == .essential && !open.isCancelled
      }
      return if case .paused = open.phase { isPaused } else { !isPaused }
    }
  }

  /// The download that is to start, if there is room for one.
  private func nextQueued(_ isBackground: Bool, in state: State) -> String? {
    let own = state.downloads.values.filter { $0.urgency.isBackground == isBackground }
    guard own.count(where: \.isRunning) < max(rules.concurrentDownloadCount, 1) else { return nil }
    let queued = own.filter { if case .queued = $0.phase { !$0.isCancelled } else { false } }
    return queued.min { ($1.urgency, $0.number) < ($0.urgency, $1.number) }?.pack.id
  }

  private func start(_ id: String, in state: inout State) {
    guard let open = state.downloads[id] else { return }
    state.downloads[id]?.phase = .running
    state.downloads[id]?.hasBegun = true
    hub.publish(.began(open.pack))
    open.pause.resume()
    guard open.task == nil else { return }  // it was paused
    let number = open.number
    state.downloads[id]?.task = Task { [fetch] in
      do {
        try await fetch(open.pack, open.pause) { completed, total in self.record(id, number, completed, total) }
        self.stopped(id, number, nil)
      } catch {
        self.stopped(id, number, error)
      }
    }
  }

  private func record(_ id: String, _ number: Int, _ completed: Int, _ total: Int) {
    state.withLock { state in
      guard let open = state.downloads[id], open.number == number, !open.isCancelled else { return }
      open.progress.record(completed: completed, total: total)
      if open.isRunning { hub.publish(.downloading(open.pack, open.progress)) }
    }
  }

  /// A pull has ended.
  private func stopped(_ id: String, _ number: Int, _ error: (any Error)?) {
    state.withLock { state in
      guard var open = state.downloads[id], open.number == number else { return }
      open.task = nil
      open.failureCount += 1
      state.downloads[id] = open
      // A commit that was under way when the download was cancelled counts.
      guard let error else { return end(id, nil, in: &state) }
      guard !open.isCancelled else { return end(id, open.cancellation, in: &state) }
      guard DownloadRules.isTemporary(error), open.failureCount <= rules.retryLimit(open.urgency) else {
        return end(id, error, in: &state)
      }
      if case .paused = open.phase { return }  // tried again when it is resumed
      wait(id, number, open.failureCount, in: &state)
    }
  }

  private func wait(_ id: String, _ number: Int, _ failureCount: Int, in state: inout State) {
    guard let open = state.downloads[id] else { return }
    let delay = rules.retryDelay(failureCount: failureCount, chance: clock.random())
    state.downloads[id]?.phase = .waiting(
      Task { [clock] in
        guard (try? await clock.sleep(delay)) != nil, !Task.isCancelled else { return }
        self.goOn(id, number)
      })
    hub.publish(.paused(open.pack))
    startReady(in: &state)
  }

  private func goOn(_ id: String, _ number: Int) {
    state.withLock { state in
      guard let open = state.downloads[id], open.number == number, case .waiting = open.phase else { return }
      state.downloads[id]?.phase = .queued
      startReady(in: &state)
    }
  }

  private func end(_ id: String, _ error: (any Error)?, in state: inout State) {
    guard let ended = state.downloads.removeValue(forKey: id) else { return }
    if error == nil { ended.progress.finish() }
    let next = state.successors.removeValue(forKey: id)
    // A request that was noted meanwhile is the next download's, and one that other processes noted is theirs.
    let isOver = error == nil || !ended.wasLeft && next?.standing == nil
    if isOver { onEnd(ended.pack, error, self) }
    if !ended.hasBegun { hub.publish(.began(ended.pack)) }
    if error == nil { hub.publish(.downloading(ended.pack, ended.progress)) }
    hub.publish(error.map { .failed(ended.pack, $0) } ?? .finished(ended.pack))
    for waiter in ended.waiters.values {
      if let error { waiter.resume(throwing: error) } else { waiter.resume() }
    }
    if let next { state.downloads[id] = next }
    startReady(in: &state)
  }
}
