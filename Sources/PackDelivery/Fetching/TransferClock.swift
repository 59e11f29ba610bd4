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

/// When something that failed is tried again.
package struct RetryPolicy: Hashable, Sendable {
  /// How many attempts may fail before 64 KiB of new bytes came.
  package var attemptLimit = 8

  /// Before the second attempt; doubled with each one that fails.
  package var firstDelay: Duration = .milliseconds(500)
  package var longestDelay: Duration = .seconds(30)

  /// A server that asks for more patience is given up.
  package var longestDemandedDelay: Duration = .seconds(120)

  package init() {}
}

/// The attempts at one thing.
package struct Retry {
  /// So many new bytes, in one attempt or several, and what failed before is forgotten. Fewer would let a server that
  /// sends one byte and breaks off hold a transfer for ever.
  private static let progressByteCount = 64 << 10

  private let policy: RetryPolicy
  private let clock: TransferClock
  private var failureCount = 0
  private var newByteCount = 0

  package init(_ policy: RetryPolicy, _ clock: TransferClock) {
    self.policy = policy
    self.clock = clock
  }

  /// New bytes came before an attempt failed.
  package mutating func madeProgress(by byteCount: Int) {
    newByteCount += min(byteCount, Self.progressByteCount)
    guard newByteCount >= Self.progressByteCount else { return }
    newByteCount = 0
    failureCount = 0
  }

  /// How long to wait before the next attempt: exponentially longer, and by chance up to half of it less, so that many
  /// who were cut off together do not come back together.
  ///
  /// - Parameter demanded: how long the server wants to be left alone.
  /// - Throws: `error` when this was tried often enough.
  package mutating func delay(after error: DeliveryError, demanded: Duration? = nil) throws -> Duration {
    failureCount += 1
    guard failureCount < policy.attemptLimit else { throw error }
    if let demanded, demanded > policy.longestDemandedDelay { throw error }
    let doubled = policy.firstDelay * (1 << min(failureCount - 1, 20))
    let delay = min(doubled, policy.longestDelay) * (1 - clock.random() / 2)
    return max(delay, demanded ?? .zero)
  }
}
