import Synchronization

/// Downloads packs, each independently: the failure of one does not affect the others.
///
/// A download is *queued*, *running*, *paused*, or *waiting* for a retry. At most one download of a pack is open. A request for a
/// pack with an open download joins that download and may raise its urgency. The most urgent download starts first; among equals,
/// the one requested first. Downloads that the app waits for and other downloads have separate limits: neither prevents the other
/// from starting. The exception is an installation: while an essential pack is open, even if it is paused, no background download
/// starts; running ones continue.
///
/// One lock covers every decision and every event, so that listeners receive events in the order in which they happened.
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
    /// The urgency when no task waits for the pack; `nil` if the pack is then not requested.
    var standing: Urgency?
    var phase = Phase.queued
    /// The pull, once it has started; it may be paused.
    var task: Task<Void, Never>?
    var isCancelled = false
    /// The error with which the download ends when it is cancelled.
    var cancellation: any Error = CancellationError()
    /// Whether the download was cancelled because the last waiting task left, not because the pack is unwanted.
    var wasLeft = false
    var failureCount = 0
    /// Whether listeners have received `began`.
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
    /// Downloads requested while an earlier download of the pack is being cancelled.
    var successors: [String: Download] = [:]
    /// Ended downloads whose requests may still be recorded, and how often each ended.
    var unrecordedEnds: [String: Int] = [:]
  }

  private let rules: DownloadRules
  private let clock: TransferClock
  private let hub: StatusHub
  private let fetch: Fetch
  /// Called under the lock with the scheduler when a download is over and no new request for the pack exists. Returns whether the
  /// recorded request will be dropped; ``recordedEnd(of:)`` is called when it is.
  private let onEnd: @Sendable (AssetPack, (any Error)?, DownloadScheduler) -> Bool
  /// Called under the lock when the app pauses or resumes a download.
  private let onPause: @Sendable (AssetPack, Bool) -> Void
  private let state = Mutex(State())

  init(
    rules: DownloadRules, clock: TransferClock, hub: StatusHub,
    onEnd: @escaping @Sendable (AssetPack, (any Error)?, DownloadScheduler) -> Bool,
    onPause: @escaping @Sendable (AssetPack, Bool) -> Void, fetch: @escaping Fetch
  ) {
    self.rules = rules
    self.clock = clock
    self.hub = hub
    self.onEnd = onEnd
    self.onPause = onPause
    self.fetch = fetch
  }

  // MARK: - Requests

  /// Requests a pack. Returns false if it was already requested.
  @discardableResult
  func request(_ pack: AssetPack, _ urgency: Urgency, isPaused: Bool = false) -> Bool {
    request([(pack, urgency)], pausing: isPaused ? [pack.id] : []).new.contains(pack.id)
  }

  /// The result of requesting several packs.
  struct Requested {
    /// The packs that were not requested before.
    var new: Set<String> = []
    /// The downloads of all packs, new or not. A download that has ended since has left the scheduler, but is still listed
    /// here.
    var downloads: [String: InstallationProgress.Counted] = [:]
  }

  /// Requests several packs before one of them starts.
  ///
  /// - Parameter paused: the packs that start paused if they are new.
  func request(_ packs: [(pack: AssetPack, urgency: Urgency)], pausing paused: Set<String> = []) -> Requested {
    state.withLock { request(packs, pausing: paused, in: &$0) }
  }

  private func request(
    _ packs: [(pack: AssetPack, urgency: Urgency)], pausing paused: Set<String>, in state: inout State
  ) -> Requested {
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

  /// Continues recorded requests, all before one starts. A request whose download was cancelled, or has ended and is about to be
  /// dropped, is not continued.
  ///
  /// - Parameter paused: the packs that start paused if they are new.
  func resume(_ packs: [(pack: AssetPack, urgency: Urgency)], pausing paused: Set<String>) -> Requested {
    state.withLock { state in
      let kept = packs.filter { pack, _ in
        guard let open = state.downloads[pack.id] else { return state.unrecordedEnds[pack.id] == nil }
        return !open.isCancelled || open.wasLeft || state.successors[pack.id]?.standing != nil
      }
      return request(kept, pausing: paused, in: &state)
    }
  }

  /// Notifies that the journal has dropped the request of an ended download.
  func recordedEnd(of id: String) {
    state.withLock { state in
      let left = (state.unrecordedEnds[id] ?? 1) - 1
      state.unrecordedEnds[id] = left > 0 ? left : nil
    }
  }

  /// Requests a pack and returns when it is downloaded. If the task is cancelled and nothing else requests the pack, the download
  /// is cancelled too. A download also requested by ``request(_:_:isPaused:)`` continues with the urgency of that request.
  ///
  /// - Parameter opensNew: if false, this call only waits for an open download, and returns at once if none exists.
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
    // A foreground request ends the retry delay of a background download.
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

  /// Removes a waiting task that was cancelled.
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
      // The progress object of an ended download controls nothing.
      guard state.downloads[id]?.number == number else { return }
      switch command {
      case .cancel: cancel(id, in: &state)
      case .pause: pause(id, in: &state)
      case .resume: resume(id, in: &state)
      }
    }
  }

  /// Returns false if no open download exists to cancel, pause or resume.
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

  /// Cancels, pauses or resumes all essential downloads.
  func controlEssential(_ command: DownloadProgress.Command) {
    let ids = state.withLock { state in state.downloads.filter { $0.value.urgency == .essential }.keys.sorted() }
    for id in ids { control(id, command) }
  }

  private func cancel(_ id: String, in state: inout State) {
    guard let open = state.downloads[id], !open.isCancelled else { return }
    state.downloads[id]?.isCancelled = true
    open.progress.setCancelled()
    if case .waiting(let delay) = open.phase { delay.cancel() }
    // A running pull reports when it has stopped.
    guard let task = open.task else { return end(id, open.cancellation, in: &state) }
    task.cancel()
  }

  private func pause(_ id: String, in state: inout State) {
    hold(id, in: &state)
    startReady(in: &state)
  }

  /// Pauses a download without starting another one in its place.
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

  /// Cancels a download, which ends with `error`, and returns when all its work has stopped.
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

  /// Starts waiting downloads if conditions now permit it.
  func conditionsChanged() { state.withLock { startReady(in: &$0) } }

  // MARK: - Open downloads

  func isOpen(_ id: String) -> Bool { state.withLock { $0.downloads[id].map { !$0.isCancelled } ?? false } }

  /// Returns whether the pack has an open download that continues when no task waits for it.
  func isStanding(_ id: String) -> Bool {
    state.withLock { $0.downloads[id].map { !$0.isCancelled && $0.standing != nil } ?? false }
  }

  /// The open downloads by pack, and whether they are paused.
  var openDownloads: [String: Bool] {
    state.withLock { state in
      state.downloads.filter { !$0.value.isCancelled }.mapValues { if case .paused = $0.phase { true } else { false } }
    }
  }

  /// The packs that do not start while the network is metered or while a paused installation is not resumed.
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

  /// Whether a download exists that proceeds without outside action.
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

  /// Returns whether an essential pack is open.
  private func hasEssential(isPaused: Bool? = nil, in state: State) -> Bool {
    state.downloads.values.contains { open in
      guard open.urgency == .essential, !open.isCancelled, let isPaused else {
        return open.urgency == .essential && !open.isCancelled
      }
      return if case .paused = open.phase { isPaused } else { !isPaused }
    }
  }

  /// Returns the download to start next; `nil` if the limit is reached or none is queued.
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
    guard open.task == nil else { return }  // resumed after a pause
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

  /// Handles the end of a pull.
  private func stopped(_ id: String, _ number: Int, _ error: (any Error)?) {
    state.withLock { state in
      guard var open = state.downloads[id], open.number == number else { return }
      open.task = nil
      open.failureCount += 1
      state.downloads[id] = open
      // If a commit was already under way, the download succeeds although it was cancelled.
      guard let error else { return end(id, nil, in: &state) }
      guard !open.isCancelled else { return end(id, open.cancellation, in: &state) }
      guard DownloadRules.isTemporary(error), open.failureCount <= rules.retryLimit(open.urgency) else {
        return end(id, error, in: &state)
      }
      if case .paused = open.phase { return }  // retried when it is resumed
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
    // A request recorded since then belongs to the next download, and a request that other processes recorded belongs to them.
    let isOver = error == nil || !ended.wasLeft && next?.standing == nil
    if isOver, onEnd(ended.pack, error, self) { state.unrecordedEnds[id, default: 0] += 1 }
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
