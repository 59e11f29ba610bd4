/// The clock and random numbers of a transfer. Tests replace them, so that they need not wait.
package struct TransferClock: Sendable {
  /// The time since some moment; never decreases.
  package var now: @Sendable () -> Duration

  /// Sleeps for a chosen delay: before another attempt, or for a rate limit.
  package var sleep: @Sendable (Duration) async throws -> Void

  /// Sleeps while waiting for something else to happen.
  package var watch: @Sendable (Duration) async throws -> Void

  /// Returns a random number from 0 to below 1.
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
        // A cancelled sleep keeps its memory until its end, so sleeps are short.
        let end = clock.now + duration
        while clock.now < end { try await clock.sleep(until: min(end, clock.now + .milliseconds(500))) }
      },
      random: { .random(in: 0..<1) })
  }()
}
