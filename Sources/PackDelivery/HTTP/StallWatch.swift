#if Delivery
  import Synchronization

  /// Says that a transfer is alive.
  final class Pulse: Sendable {
    private let state = Mutex((beats: 0, holds: 0))

    /// Bytes came.
    func beat() { state.withLock { $0.beats += 1 } }

    /// Nothing is expected to come during `body`: it is we who wait.
    func hold<Result>(_ body: () async throws -> Result) async throws -> Result {
      state.withLock { $0.holds += 1 }
      defer {
        state.withLock { state in
          state.holds -= 1
          state.beats += 1
        }
      }
      return try await body()
    }

    /// Changes with each beat; nil while held.
    fileprivate var reading: Int? { state.withLock { $0.holds > 0 ? nil : $0.beats } }
  }

  /// No byte came for too long.
  struct Stall: Error {}

  /// Runs `body`, and ends it with ``Stall`` when its pulse did not beat for `limit`, or for up to twice as long.
  func withStallWatch(
    _ limit: Duration, _ clock: TransferClock, _ body: @escaping @Sendable (Pulse) async throws -> Void
  ) async throws {
    let pulse = Pulse()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body(pulse) }
      group.addTask {
        var last = pulse.reading
        while true {
          try await clock.watch(limit)
          let now = pulse.reading
          if now != nil, now == last { throw Stall() }
          last = now
        }
      }
      defer { group.cancelAll() }
      // Only `body` ends without an error.
      try await group.next()
    }
  }
#endif
