import Synchronization

/// A simulated clock, on which hours of a slow network take seconds.
///
/// Sleeping tasks wake in the order in which their sleeps end. The clock jumps to the next end if no task was active for a moment,
/// and runs in real time while an answer of the real network is awaited. A task that only watches the time does not advance the
/// clock.
package final class SimulatedClock: Sendable {
  private struct Sleeper {
    let end: Duration
    let drives: Bool
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Duration.zero
    /// The part of the time that ran in real time.
    var worldTime = Duration.zero
    var sleepers: [Int: Sleeper] = [:]
    var nextNumber = 0
    /// The number of sleeps that began or ended, which shows activity.
    var activity = 0
    /// The number of awaited answers of the real network.
    var awaitedCount = 0
    var isDriving = false
  }

  private let state = Mutex(State())
  private let random: @Sendable () -> Double

  /// The real time without activity after which the clock jumps.
  private static let grace = Duration.milliseconds(1)

  /// - Parameter seed: the seed of the random delays.
  package init(seed: UInt64) {
    let chance = Chance(seed)
    random = { chance.next() }
  }

  private final class Chance: Sendable {
    private let generator: Mutex<SplitMix64>
    init(_ seed: UInt64) { generator = Mutex(SplitMix64(state: seed)) }
    func next() -> Double { generator.withLock { $0.next() } }
  }

  package var now: Duration { state.withLock { $0.now } }

  /// The part of the time that ran in real time; longer on a busy machine.
  package var worldTime: Duration { state.withLock { $0.worldTime } }

  package var transferClock: TransferClock {
    TransferClock(
      now: { self.now }, sleep: { try await self.sleep($0) }, watch: { try await self.sleep($0, drives: false) },
      random: random)
  }

  /// - Parameter drives: whether this sleep advances the clock.
  package func sleep(_ duration: Duration, drives: Bool = true) async throws {
    guard duration > .zero else { return try Task.checkCancellation() }
    let number = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let begins: Bool? = state.withLock { state in
          guard !Task.isCancelled else { return nil }
          state.activity += 1
          state.sleepers[number] = Sleeper(end: state.now + duration, drives: drives, continuation: continuation)
          defer { state.isDriving = true }
          return !state.isDriving
        }
        guard let begins else { return continuation.resume(throwing: CancellationError()) }
        if begins { Task.detached { await self.drive() } }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Awaits an operation in real time.
  package func outsideOfPlay<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    state.withLock { $0.awaitedCount += 1 }
    defer {
      state.withLock { state in
        state.awaitedCount -= 1
        state.activity += 1
      }
    }
    return try await body()
  }

  /// Advances the clock while any task sleeps.
  private func drive() async {
    let world = ContinuousClock()
    var last = world.now, activity = -1
    while true {
      try? await world.sleep(for: Self.grace)
      let now = world.now, passed = now - last
      last = now
      let woken: [Sleeper]? = state.withLock { state in
        guard !state.sleepers.isEmpty else {
          state.isDriving = false
          return nil
        }
        let isQuiet = state.activity == activity
        if state.awaitedCount > 0 {
          state.now += passed
          state.worldTime += passed
        } else if isQuiet, let next = state.sleepers.values.filter(\.drives).map(\.end).min() {
          state.now = max(state.now, next)
        }
        activity = state.activity
        let due = state.sleepers.filter { $0.value.end <= state.now }
        for number in due.keys { state.sleepers[number] = nil }
        state.activity += due.count
        return due.values.sorted { $0.end < $1.end }
      }
      guard let woken else { return }
      for sleeper in woken { sleeper.continuation.resume() }
    }
  }
}
