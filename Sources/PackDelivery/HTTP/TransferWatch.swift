#if Delivery
  import PackStore
  import Synchronization

  /// The current state of a transfer, reported by itself.
  final class Pulse: Sendable {
    private struct State {
      /// The number of times bytes arrived.
      var beats = 0
      var holds = 0
      /// The number of requests, and whether the last answer has not begun yet.
      var answers = 0
      var awaitsAnswer = false
    }
    private let state = Mutex(State())
    private let floor: RateFloor

    fileprivate init(_ floor: RateFloor) { self.floor = floor }

    /// Records that bytes arrived.
    func beat(_ byteCount: Int) {
      floor.record(byteCount)
      state.withLock { $0.beats += 1 }
    }

    /// Runs `body`, during which no bytes are expected, because this client waits.
    func hold<Result>(_ body: () async throws -> Result) async throws -> Result {
      floor.end()
      state.withLock { $0.holds += 1 }
      defer {
        state.withLock { state in
          state.holds -= 1
          state.beats += 1
        }
        floor.begin()
      }
      return try await body()
    }

    /// Runs `body`, during which an answer should begin.
    func awaitAnswer<Result>(_ body: () async throws -> Result) async throws -> Result {
      state.withLock { state in
        state.answers += 1
        state.awaitsAnswer = true
      }
      defer {
        state.withLock { state in
          state.awaitsAnswer = false
          state.beats += 1
        }
      }
      return try await body()
    }

    fileprivate enum Reading: Hashable {
      case held
      case awaitsAnswer(Int)
      case awaitsBytes(beats: Int)
    }

    /// Unchanged while nothing happens.
    fileprivate var reading: Reading {
      state.withLock { state in
        if state.holds > 0 { return .held }
        return state.awaitsAnswer ? .awaitsAnswer(state.answers) : .awaitsBytes(beats: state.beats)
      }
    }
  }

  /// The reason why a watch ended a transfer.
  enum TransferFault: Error {
    /// No byte arrived for too long.
    case stalled
    /// The answer did not begin in time.
    case unanswered
    case slow
    case slowAgain
    /// The time for all attempts is over.
    case overdue
  }

  /// The time limit for several attempts together.
  final class TimeBudget: Sendable {
    private let left: Mutex<Duration>

    init(_ limit: Duration) { left = Mutex(limit) }

    func spend(_ time: Duration) throws(TransferFault) {
      let isSpent = left.withLock { left in
        left -= min(time, max(left, .zero))
        return left <= .zero
      }
      if isSpent { throw .overdue }
    }
  }

  /// Ends transfers without progress. Time advances in ticks of at most a second, and only while a transfer waits for the network;
  /// limits are exact to one tick.
  struct TransferWatch: Sendable {
    private let clock: TransferClock
    private let tick: Duration
    private let stallTicks: Int
    private let answerTicks: Int
    let floor: RateFloor

    init(stallLimit: Duration, _ limits: Store.PullOptions.NetworkLimits, _ clock: TransferClock) {
      let tick = max(min(.seconds(1), stallLimit, limits.answerLimit, limits.slowLimit), .milliseconds(1))
      func ticks(_ limit: Duration) -> Int { Int(min(max((limit / tick).rounded(.up), 1), 1e15)) }
      self.clock = clock
      self.tick = tick
      stallTicks = ticks(stallLimit)
      answerTicks = ticks(limits.answerLimit)
      floor = RateFloor(bytesPerSecond: max(limits.minimumByteRate, 0), window: limits.slowLimit)
    }

    /// Runs `body`, and ends it with a ``TransferFault`` if it makes no progress.
    func run<Result: Sendable>(
      _ budget: TimeBudget? = nil, _ body: @escaping @Sendable (Pulse) async throws -> Result
    ) async throws -> Result {
      let pulse = Pulse(floor)
      let epoch = floor.epoch
      floor.begin()
      defer { floor.end() }
      return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body(pulse) }
        group.addTask {
          try await watch(pulse, budget, epoch)
          return nil
        }
        defer { group.cancelAll() }
        // Only `body` ends without an error.
        return try await group.next()!!
      }
    }

    private func watch(_ pulse: Pulse, _ budget: TimeBudget?, _ epoch: Int) async throws {
      var last = pulse.reading, silence = 0
      while true {
        try await clock.watch(tick)
        let now = pulse.reading
        silence = now == last ? silence + 1 : 0
        last = now
        switch now {
        case .held: continue
        case .awaitsAnswer: if silence >= answerTicks { throw TransferFault.unanswered }
        case .awaitsBytes: if silence >= stallTicks { throw TransferFault.stalled }
        }
        try budget?.spend(tick)
        try check(floor.pass(tick, since: epoch))
      }
    }

    /// Waits before another attempt. That time counts too, unless the server requested the delay.
    func pause(_ delay: Duration, isDemanded: Bool, _ budget: TimeBudget? = nil) async throws {
      try budget?.spend(delay)
      let epoch = floor.epoch
      floor.begin()
      defer { floor.end() }
      try await clock.sleep(delay)
      guard !isDemanded else { return }
      // The next attempt ends a slow transfer; the second slow window in a row is final.
      if floor.pass(delay, since: epoch) == .slowAgain { throw TransferFault.slowAgain }
    }

    private func check(_ verdict: RateFloor.Verdict) throws(TransferFault) {
      switch verdict {
      case .fine: break
      case .slow: throw .slow
      case .slowAgain: throw .slowAgain
      }
    }
  }
#endif
