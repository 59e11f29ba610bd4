#if Hosting
  import Foundation

  /// The clock of the service. All code reads time from the one instance that the host passes to it, so that tests control it.
  protocol TimeSource: Sendable {
    var now: Timestamp { get }
  }

  /// The system's clock.
  struct SystemTime: TimeSource {
    var now: Timestamp { Timestamp(rawValue: Int64(exactly: (Date().timeIntervalSince1970 * 1000).rounded()) ?? 0) }
  }
#endif
