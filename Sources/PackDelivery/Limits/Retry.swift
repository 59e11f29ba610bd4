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
