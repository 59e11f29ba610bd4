/// Time and chance of a transfer. Tests have their own, so that they need not wait.
package struct TransferClock: Sendable {
  /// Time that passed since some moment; never falls.
  package var now: @Sendable () -> Duration

  /// Lets a delay pass that was chosen: before another attempt, for the sake of a rate.
  package var sleep: @Sendable (Duration) async throws -> Void

  /// Lets time pass in which something else should happen.
  package var watch: @Sendable (Duration) async throws -> Void

  /// From 0 up to 1.
  package var random: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    watch: @escaping @Sendable (Duration) async throws -> Void,
    random: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.sleep = sleep
    self.watch = watch
    self.random = random
  }

  package static let system: Self = {
    let clock = ContinuousClock()
    let start = clock.now
    return Self(
      now: { clock.now - start }, sleep: { try await clock.sleep(for: $0) },
      watch: { duration in
        // A sleep that was cancelled keeps its memory until it would have ended: so many short ones.
        let end = clock.now + duration
        while clock.now < end { try await clock.sleep(until: min(end, clock.now + .milliseconds(500))) }
      },
      random: { .random(in: 0..<1) })
  }()
}
