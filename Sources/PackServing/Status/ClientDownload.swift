#if Serving
  import PackStore

  /// The download of a pack by one client address. Only the first request identifies the version.
  ///
  /// A download is broken from a failed transfer until the client sends another request. A broken download saves no bytes.
  struct ClientDownload: Sendable {
    let client: String
    /// The version; `nil` if no request identified it.
    var version: String?
    /// The target of the last request.
    var target: String
    /// The download size for an empty store; `nil` if it is unknown.
    var wholeByteCount: UInt64?
    var sentByteCount: UInt64 = 0
    var runningCount = 0
    var isBroken = false
    var lastActivity: ContinuousClock.Instant

    /// The time for which a download is shown after its last request.
    private static let shownTime = Duration.seconds(10)

    func isShown(at now: ContinuousClock.Instant) -> Bool { runningCount > 0 || now - lastActivity < Self.shownTime }

    /// The sent part of the whole, in percent; `nil` if the whole is unknown.
    var percent: UInt64? {
      guard let wholeByteCount, wholeByteCount > 0 else { return nil }
      let (product, overflows) = sentByteCount.multipliedReportingOverflow(by: 100)
      return overflows ? 100 : min(product / wholeByteCount, 100)
    }
  }
#endif
