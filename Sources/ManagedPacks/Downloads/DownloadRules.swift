/// The limits for downloads on this machine and network.
public struct DownloadRules: Sendable {
  /// The number of concurrent downloads of packs that the app waits for, and of packs that it does not wait for. Each download has
  /// at most six requests in flight.
  public var concurrentDownloadCount = 2

  /// The rate limit for all downloads together, in bytes per second; `nil` for no limit.
  public var byteRateLimit: Int?

  /// The number of retries of a download that the app does not wait for.
  public var retryLimit = 8

  /// The number of retries of an essential download.
  public var essentialRetryLimit = 2

  /// The delay before the first retry; it doubles for each further one.
  public var firstRetryDelay = Duration.seconds(2)

  /// The longest delay before a retry.
  public var longestRetryDelay = Duration.seconds(900)

  /// The free space to leave on the disk in addition to the space for a download, in bytes.
  public var reservedByteCount = 64 << 20

  /// Returns whether the network is metered now. If so, packs that the app does not wait for are not started. Called whenever such
  /// a pack could start; ``AssetPackManager/conditionsChanged()`` causes a new call.
  public var isMetered: @Sendable () -> Bool = { false }

  /// Returns whether the user permits work in the background. If not, the app's own downloads that were not started in the
  /// foreground wait, and its extension is not started.
  public var isBackgroundAllowed: @Sendable () -> Bool = { true }

  /// Returns whether the user permits an app's own downloads before its first launch.
  public var isInAppContentAllowed: @Sendable () -> Bool = { true }

  /// Returns the free space for a file in a folder, in bytes; `nil` if unknown.
  public var freeByteCount: @Sendable (FilePath) -> Int? = { freeByteCountOnDisk($0) }

  /// The time that the installation of an app waits for a network if none of its sites answers.
  public var essentialNetworkWait = Duration.seconds(5)

  public init() {}

  /// Returns the delay before a retry.
  ///
  /// - Parameters:
  ///   - failureCount: the number of consecutive failures.
  ///   - chance: a random number from 0 to 1, which spreads the retries of many devices.
  package func retryDelay(failureCount: Int, chance: Double) -> Duration {
    let doubled = firstRetryDelay * (1 << min(max(failureCount - 1, 0), 20))
    return min(doubled, longestRetryDelay) * (1 - chance / 2)
  }

  package func retryLimit(_ urgency: Urgency) -> Int {
    switch urgency {
    case .foreground: 0
    case .essential: essentialRetryLimit
    case .update, .prefetch: retryLimit
    }
  }
}

extension DownloadRules {
  /// Returns whether a retry may succeed: the cause was the network, a server, another process or a lack of space or memory.
  package static func isTemporary(_ error: any Error) -> Bool {
    switch error {
    case let error as DeliveryError:
      [.unreachable, .siteChanged, .badResponse, .ioError].contains(error.code)
    case let error as PackStoreError: [.busy, .conflict, .noSpace, .outOfMemory].contains(error.code)
    case let error as ManagedPacksError: [.lowSpace, .staleSite, .override].contains(error.code)
    default: false
    }
  }
}
