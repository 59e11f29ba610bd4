/// The policy for repeating failed attempts.
package struct RetryPolicy: Hashable, Sendable {
  /// The number of attempts that may fail before 64 KiB of new bytes arrive.
  package var attemptLimit = 8

  /// The delay before the second attempt; doubled after each failure.
  package var firstDelay: Duration = .milliseconds(500)
  package var longestDelay: Duration = .seconds(30)

  /// If a server requests a longer delay, the transfer fails.
  package var longestDemandedDelay: Duration = .seconds(120)

  package init() {}
}

/// The attempts at one transfer.
package struct Retry {
  /// After this many new bytes, in one attempt or several, earlier failures are forgotten. With a lower number, a server that sends
  /// one byte and disconnects could delay a transfer indefinitely.
  private static let progressByteCount = 64 << 10

  private let policy: RetryPolicy
  private let clock: TransferClock
  private var failureCount = 0
  private var newByteCount = 0

  package init(_ policy: RetryPolicy, _ clock: TransferClock) {
    self.policy = policy
    self.clock = clock
  }

  /// Records new bytes that arrived before an attempt failed.
  package mutating func madeProgress(by byteCount: Int) {
    newByteCount += min(byteCount, Self.progressByteCount)
    guard newByteCount >= Self.progressByteCount else { return }
    newByteCount = 0
    failureCount = 0
  }

  /// Returns the delay before the next attempt. It grows exponentially and is randomly reduced by up to half, so that many clients
  /// that were disconnected together do not return together.
  ///
  /// - Parameter demanded: the delay that the server requested.
  /// - Throws: `error` after the last attempt.
  package mutating func delay(after error: DeliveryError, demanded: Duration? = nil) throws -> Duration {
    failureCount += 1
    guard failureCount < policy.attemptLimit else { throw error }
    if let demanded, demanded > policy.longestDemandedDelay { throw error }
    let doubled = policy.firstDelay * (1 << min(failureCount - 1, 20))
    let delay = min(doubled, policy.longestDelay) * (1 - clock.random() / 2)
    return max(delay, demanded ?? .zero)
  }
}
