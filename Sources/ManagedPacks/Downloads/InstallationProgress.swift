import Synchronization

/// How far all essential packs are together, in bytes: one bar for an installation. It is cancelled, paused and resumed for each of
/// them.
///
/// ```
///  estimated --the sites have answered--> summed --all packs are here--> finished
/// ```
/// Before a site was asked, the total is what the app's property list estimates; then the sum of what the packs take. Bytes and
/// fraction never fall: what came counts also where a pack failed, and is asked for again. What a person does before the sum is known
/// counts for the packs when it is: a pause holds them, a cancel ends the question.
///
/// The downloads are no children of it: Foundation's trees have no lock, and cannot let go of a download that is not waited for any
/// more. Each tells when its counts have changed. Locks are taken in this order: the scheduler's, this one's, a download's.
final class InstallationProgress: Progress, @unchecked Sendable {
  /// The download of a pack, and what it is expected to take, in bytes.
  typealias Counted = (progress: DownloadProgress, byteCount: Int)

  private struct Part {
    let progress: DownloadProgress
    /// Of the whole.
    let share: Double
  }

  private struct State {
    var estimate: Int64
    /// Nil: it is not known yet of what it is made.
    var parts: [String: Part]?
    /// Those that may be parts of it.
    var noted: [String: Counted] = [:]
    /// What came by downloads that are no parts any more: bytes, and of the whole.
    var byteCount: Int64 = 0
    var fraction = 0.0
    /// What of the whole is no part's yet.
    var shareLeft = 1.0
    /// The fraction that was shown last.
    var shown = 0.0
    var isFinished = false
    var isPaused = false
    var isCancelled = false
    /// What asks and fetches at the moment, by number.
    var runs: [Int: Task<Void, any Error>] = [:]
    var nextRun = 0
  }

  /// Foundation has no fraction but that of its own counts: there it is kept in these steps, apart from the bytes.
  private static let scale: Int64 = 1 << 30

  private let state: Mutex<State>
  private let control: @Sendable (DownloadProgress.Command) -> Void

  /// - Parameter control: what is done to all essential downloads that are open.
  init(estimate: Int, control: @escaping @Sendable (DownloadProgress.Command) -> Void) {
    self.control = control
    state = Mutex(State(estimate: Int64(max(estimate, 0))))
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
    isPausable = true
    kind = .file
    super.totalUnitCount = Self.scale
  }

  /// Brings the packs, until it is done or cancelled here.
  func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let (number, task) = state.withLock { state in
      state.isCancelled = false
      state.nextRun += 1
      let task = Task { try await body() }
      state.runs[state.nextRun] = task
      return (state.nextRun, task)
    }
    defer { state.withLock { $0.runs[number] = nil } }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Remembers downloads that were registered: they may have ended when it is known of what this is made.
  func note(_ downloads: [String: Counted]) {
    state.withLock { $0.noted.merge(downloads) { _, new in new } }
  }

  /// Sets the downloads that this progress consists of from now on, and the size that each is expected to have.
  ///
  /// Noted downloads that have arrived count as well.
  ///
  /// - Parameter present: the packs that are complete on the device. The progress of such a download may not be finished yet: the
  ///   scheduler finishes it after the commit.
  func set(parts: [String: Counted], present: Set<String> = []) {
    let new = state.withLock { state in
      let arrived = state.noted.filter { $0.value.progress.isFinished || present.contains($0.key) }
      let parts = parts.merging(arrived) { part, _ in part }
      state.noted = [:]
      var kept = state.parts ?? [:]
      for (id, part) in kept where parts[id]?.progress !== part.progress {
        kept[id] = nil
        Self.letGo(part, in: &state)
      }
      let new = parts.filter { kept[$0.key] == nil }
      let sum = new.values.reduce(0.0) { $0 + Double(max($1.byteCount, 1)) }
      for (id, download) in new {
        let share = state.shareLeft * Double(max(download.byteCount, 1)) / sum
        kept[id] = Part(progress: download.progress, share: share)
      }
      if !new.isEmpty { state.shareLeft = 0 }
      state.parts = kept
      return new.values.map(\.progress)
    }
    for progress in new { progress.observe { [weak self] in self?.show() } }
    show()
  }

  /// Of a download that is not waited for any more, what came counts; the rest of its share is free.
  private static func letGo(_ part: Part, in state: inout State) {
    let done = part.progress.fraction * part.share
    state.byteCount = state.byteCount.addingClamped(part.progress.completedUnitCount)
    state.fraction += done
    state.shareLeft += part.share - done
  }

  private func show() {
    state.withLock { state in
      let sum = (state.parts ?? [:]).values.reduce(state.fraction) { $0 + $1.progress.fraction * $1.share }
      // Sums of shares are rounded.
      state.shown = state.isFinished ? 1 : max(state.shown, min(sum, 1))
      super.completedUnitCount = Int64(state.shown * Double(Self.scale))
    }
  }

  /// All packs are here.
  func finish() {
    state.withLock { $0.isFinished = true }
    show()
  }

  override var totalUnitCount: Int64 {
    get {
      state.withLock { state in
        state.parts?.values.reduce(state.byteCount) { $0.addingClamped($1.progress.totalUnitCount) } ?? state.estimate
      }
    }
    set {}
  }

  override var completedUnitCount: Int64 {
    get {
      state.withLock { state in
        (state.parts ?? [:]).values.reduce(state.byteCount) { $0.addingClamped($1.progress.completedUnitCount) }
      }
    }
    set {}
  }

  override var isFinished: Bool { state.withLock { $0.isFinished } }

  override var isPaused: Bool {
    get { state.withLock { $0.isPaused } }
    set {}
  }

  override var isCancelled: Bool {
    get { state.withLock { $0.isCancelled } }
    set {}
  }

  override func cancel() {
    let runs = state.withLock { state in
      state.isCancelled = true
      return state.runs.values
    }
    // The downloads first: that a task which waited has left is not enough to end one that a policy wants.
    control(.cancel)
    for run in runs { run.cancel() }
    // What a run asked for between the two; later it finds that it is cancelled. What a new run asks for stays.
    if isCancelled { control(.cancel) }
  }

  override func pause() {
    state.withLock { $0.isPaused = true }
    control(.pause)
  }

  override func resume() {
    state.withLock { $0.isPaused = false }
    control(.resume)
  }

  /// Pauses downloads that were registered while the installation is paused.
  ///
  /// A resume between the check and the pause would be lost and hold them forever, so the state is applied until it no longer changes.
  func applyPause() {
    guard isPaused else { return }
    var applied = true
    control(.pause)
    while isPaused != applied {
      applied.toggle()
      control(applied ? .pause : .resume)
    }
  }
}
