public import PackStore
import Synchronization

extension Store {
  /// Lets another task hold a pull up and let it go on. Everything that was fetched stays.
  ///
  /// While a pull is paused its connections stay open as long as the server is patient.
  public final class PullPause: Sendable {
    private struct State {
      var isPaused = false
      var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
      var next = 0
    }
    private let state = Mutex(State())

    public init() {}

    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Bytes that are under way may still come; then nothing does.
    public func pause() { state.withLock { $0.isPaused = true } }

    public func resume() {
      let waiting = state.withLock { state in
        state.isPaused = false
        defer { state.waiting = [:] }
        return state.waiting.values
      }
      for continuation in waiting { continuation.resume() }
    }

    /// Returns when it is not paused.
    package func pass() async throws {
      guard isPaused else { return }
      let id = state.withLock { state in
        state.next += 1
        return state.next
      }
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let outcome: Result<Void, any Error>? = state.withLock { state in
            // Cancelled before it was in the list: the handler did not find it.
            if Task.isCancelled { return .failure(CancellationError()) }
            if !state.isPaused { return .success(()) }
            state.waiting[id] = continuation
            return nil
          }
          if let outcome { continuation.resume(with: outcome) }
        }
      } onCancel: {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
      }
    }
  }
}

/// How fast bytes may come: a bucket of tokens, one for each byte, that fills at the rate.
///
/// Bytes are paid for after they came, so that the bucket may go below zero; a task that finds it there waits.
package final class RateLimit: Sendable {
  private struct State {
    var tokens: Double
    var time: Duration
  }
  private let bytesPerSecond: Double
  private let clock: TransferClock
  private let state: Mutex<State>

  package init(bytesPerSecond: Int, clock: TransferClock) {
    precondition(bytesPerSecond > 0)
    self.bytesPerSecond = Double(bytesPerSecond)
    self.clock = clock
    state = Mutex(State(tokens: 0, time: clock.now()))
  }

  /// Returns when `count` bytes that came are paid for.
  package func pay(_ count: Int) async throws {
    let debt = state.withLock { state in
      let now = clock.now()
      // At most a tenth of a second is saved up: a pause is no credit.
      let earned = (now - state.time) / .seconds(1) * bytesPerSecond
      state.tokens = min(state.tokens + earned, bytesPerSecond / 10) - Double(count)
      state.time = now
      return -state.tokens
    }
    if debt > 0 { try await clock.sleep(.seconds(debt / bytesPerSecond)) }
  }
}

/// What holds transfers up on purpose.
package struct Pace: Sendable {
  package var pause: Store.PullPause?
  package var limit: RateLimit?

  package init(pause: Store.PullPause? = nil, limit: RateLimit? = nil) {
    self.pause = pause
    self.limit = limit
  }

  package func pass() async throws { try await pause?.pass() }

  package func pay(_ count: Int) async throws {
    try await pause?.pass()
    try await limit?.pay(count)
  }
}
