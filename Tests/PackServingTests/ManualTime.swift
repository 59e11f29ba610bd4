#if Serving
  import Synchronization

  /// A clock that changes only when a test advances it.
  final class ManualTime: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
  }
#endif
