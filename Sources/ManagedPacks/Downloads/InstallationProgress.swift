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
final class InstallationProgress: Progress, @unchecked Sendable {
  private struct Part {
    let progress: Progress
    /// Its share of the whole, in steps of ``scale``.
    let share: Int64
  }

  private struct State {
    var estimate: Int64
    /// Nil: it is not known yet of what it is made.
    var parts: [String: Part]?
    /// Bytes of downloads that ended, and whose packs were asked for again.
    var byteCount: Int64 = 0
    /// What of the whole is no part's yet.
    var shareLeft = InstallationProgress.scale
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

  /// Says of which downloads it is made from now on, and what each is expected to take.
  ///
  /// - Parameter keepsOthers: of those that it was made of until now as well, unless their packs were asked for again.
  func set(parts: [String: (progress: Progress, byteCount: Int)], keepsOthers: Bool = false) {
    let added = state.withLock { state in
      var kept: [String: Part] = [:], added: [Part] = []
      for (id, part) in state.parts ?? [:] {
        let isKept = parts[id].map { $0.progress === part.progress } ?? keepsOthers
        guard !isKept else {
          kept[id] = part
          continue
        }
        state.byteCount = state.byteCount.addingClamped(part.progress.completedUnitCount)
        let done = Int64((part.progress.fractionCompleted * Double(part.share)).rounded(.up))
        state.shareLeft += max(part.share - done, 0)
      }
      let new = parts.filter { kept[$0.key] == nil }
      let sum = new.values.reduce(0.0) { $0 + Double(max($1.byteCount, 1)) }
      let whole = Double(state.shareLeft)
      for (id, part) in new {
        let share = min(Int64(whole * Double(max(part.byteCount, 1)) / sum), state.shareLeft)
        state.shareLeft -= share
        let part = Part(progress: part.progress, share: share)
        kept[id] = part
        added.append(part)
      }
      state.parts = kept
      return added
    }
    for part in added { addChild(part.progress, withPendingUnitCount: part.share) }
  }

  /// All packs are here.
  func finish() {
    let share = state.withLock { state in
      state.isFinished = true
      defer { state.shareLeft = 0 }
      return state.shareLeft
    }
    guard share > 0 else { return }
    // What was rounded away, and what is not needed any more.
    let rest = Progress(totalUnitCount: 1)
    addChild(rest, withPendingUnitCount: share)
    rest.completedUnitCount = 1
  }

  private var parts: [Progress] { state.withLock { $0.parts.map { $0.values.map(\.progress) } ?? [] } }

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
}
