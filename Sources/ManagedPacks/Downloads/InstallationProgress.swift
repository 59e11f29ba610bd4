import Synchronization

/// How far all essential packs are together, in bytes: one bar for an installation. It is cancelled, paused and resumed for each of
/// them.
///
/// Before a site was asked, the total is what the app's property list estimates; then the sum of what the packs take. The fraction
/// never falls.
final class InstallationProgress: Progress, @unchecked Sendable {
  private struct State {
    var estimate: Int64
    var parts: [String: Progress]?
    var isFinished = false
  }

  private let state: Mutex<State>

  init(estimate: Int) {
    state = Mutex(State(estimate: Int64(max(estimate, 0))))
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
    isPausable = true
    kind = .file
  }

  /// Says which downloads it is made of, and what each is expected to take.
  func set(parts: [String: (progress: Progress, byteCount: Int)]) {
    let isFirst = state.withLock { state in
      let isFirst = state.parts == nil
      state.parts = parts.mapValues(\.progress)
      return isFirst
    }
    guard isFirst else { return }
    // The fraction is Foundation's: each part counts by what it was expected to take.
    super.totalUnitCount = max(parts.values.reduce(0) { $0.addingClamped(Int64(max($1.byteCount, 1))) }, 1)
    for part in parts.values { addChild(part.progress, withPendingUnitCount: Int64(max(part.byteCount, 1))) }
  }

  /// All packs are here.
  func finish() {
    state.withLock { $0.isFinished = true }
    if parts.isEmpty {
      super.totalUnitCount = 1
      super.completedUnitCount = 1
    }
  }

  private var parts: [Progress] { state.withLock { $0.parts.map { Array($0.values) } ?? [] } }

  override var totalUnitCount: Int64 {
    get {
      let (parts, estimate) = state.withLock { ($0.parts, $0.estimate) }
      return parts?.values.reduce(0) { $0.addingClamped($1.totalUnitCount) } ?? estimate
    }
    set {}
  }

  override var completedUnitCount: Int64 {
    get { parts.reduce(0) { $0.addingClamped($1.completedUnitCount) } }
    set {}
  }

  override var isFinished: Bool { state.withLock { $0.isFinished } }

  override func cancel() { for part in parts { part.cancel() } }
  override func pause() { for part in parts { part.pause() } }
  override func resume() { for part in parts { part.resume() } }
}
