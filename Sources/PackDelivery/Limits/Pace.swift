public import PackStore
import Synchronization

extension Store {
  /// Lets another task pause a pull and resume it. Fetched data stays.
  ///
  /// The connections of a paused pull stay open until the server closes them.
  public final class PullPause: Sendable {
    private struct State {
      var isPaused = false
      var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
      var next = 0
    }
    private let state = Mutex(State())

    public init() {}

    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses the pull. Bytes in flight may still arrive.
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
            // Cancelled before it was added to the list, so the handler did not find it.
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

/// The maximum rate of received bytes: a token bucket, one token per byte, filled at the rate.
///
/// Bytes are paid for after they arrive, so the bucket may become negative; a task then waits.
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

  /// Returns when `count` received bytes are paid for.
  package func pay(_ count: Int) async throws {
    let debt = state.withLock { state in
      let now = clock.now()
      // Saves tokens for at most a tenth of a second, so that a pause earns no credit.
      let earned = (now - state.time) / .seconds(1) * bytesPerSecond
      state.tokens = min(state.tokens + earned, bytesPerSecond / 10) - Double(count)
      state.time = now
      return -state.tokens
    }
    if debt > 0 { try await clock.sleep(.seconds(debt / bytesPerSecond)) }
  }
}

/// Deliberate delays of transfers: pauses and rate limits.
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
