import Synchronization

/// The progress of all essential packs together, in bytes: one progress bar for an installation. Cancelling, pausing and resuming
/// it applies to all of them.
///
/// ```
///  estimated --the sites have answered--> summed --all packs are complete--> finished
/// ```
/// Before a site has answered, the total is the estimate in the app's property list; afterwards it is the sum of the download
/// sizes. Bytes and fraction never decrease: bytes count even if their pack failed and is requested again. The user's actions
/// before the sum is known apply once it is: a pause holds the packs back, a cancellation ends the request to the sites.
///
/// The downloads are not child progress objects: Foundation's trees have no lock, and cannot drop an unneeded download. Each
/// download notifies this object when its counts change. Lock order: the scheduler's lock, this object's, a download's.
final class InstallationProgress: Progress, @unchecked Sendable {
  /// The download of a pack, and its expected size in bytes.
  typealias Counted = (progress: DownloadProgress, byteCount: Int)

  private struct Part {
    let progress: DownloadProgress
    /// The fraction of the whole that this part represents.
    let share: Double
  }

  private struct State {
    var estimate: Int64
    /// `nil` until the set of packs is known.
    var parts: [String: Part]?
    /// Downloads that may become parts.
    var noted: [String: Counted] = [:]
    /// The bytes and the fraction of former parts.
    var byteCount: Int64 = 0
    var fraction = 0.0
    /// The fraction of the whole that no part represents yet.
    var shareLeft = 1.0
    /// The fraction shown last.
    var shown = 0.0
    var isFinished = false
    var isPaused = false
    var isCancelled = false
    /// The running installations, by number.
    var runs: [Int: Task<Void, any Error>] = [:]
    var nextRun = 0
  }

  /// Foundation computes the fraction from its own unit counts. They hold the fraction in this many steps, independent of the
  /// bytes.
  private static let scale: Int64 = 1 << 30

  private let state: Mutex<State>
  private let control: @Sendable (DownloadProgress.Command) -> Void

  /// - Parameter control: applies a command to all open essential downloads.
  init(estimate: Int, control: @escaping @Sendable (DownloadProgress.Command) -> Void) {
    self.control = control
    state = Mutex(State(estimate: Int64(max(estimate, 0))))
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
    isPausable = true
    kind = .file
    super.totalUnitCount = Self.scale
  }

  /// Runs the installation until it ends or is cancelled here.
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

  /// Records registered downloads, which may end before the set of packs is known.
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

  /// Counts the bytes of a dropped download, and frees the rest of its share.
  private static func letGo(_ part: Part, in state: inout State) {
    let done = part.progress.fraction * part.share
    state.byteCount = state.byteCount.addingClamped(part.progress.completedUnitCount)
    state.fraction += done
    state.shareLeft += part.share - done
  }

  private func show() {
    state.withLock { state in
      let sum = (state.parts ?? [:]).values.reduce(state.fraction) { $0 + $1.progress.fraction * $1.share }
      // Sums of shares have rounding errors.
      state.shown = state.isFinished ? 1 : max(state.shown, min(sum, 1))
      super.completedUnitCount = Int64(state.shown * Double(Self.scale))
    }
  }

  /// Marks the installation as complete.
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
    // The downloads first: a waiting task that leaves does not end a download that a policy requires.
    control(.cancel)
    for run in runs { run.cancel() }
    // Again, for requests that a run made in between. A later request finds that the installation is cancelled; requests of a new
    // run are kept.
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
  /// A resume between the check and the pause would be lost, and the downloads would stay paused. The state is therefore applied
  /// until it is stable.
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
