/// How downloads share the machine and the network.
public struct DownloadRules: Sendable {
  /// How many packs are fetched at once that the app waits for, and how many that it does not. Each has six requests in flight at
  /// most.
  public var concurrentDownloadCount = 2

  /// How fast bytes of all downloads together may come, in bytes per second; nil: as fast as they can.
  public var byteRateLimit: Int?

  /// How often a download is tried again that the app does not wait for.
  public var retryLimit = 8

  /// How often one is tried again without which the app does not start.
  public var essentialRetryLimit = 2

  /// How long to wait before the first of these tries; twice as long before each further one.
  public var firstRetryDelay = Duration.seconds(2)

  /// How long to wait at most.
  public var longestRetryDelay = Duration.seconds(900)

  /// How much room must stay on the disk beside what a download takes, in bytes.
  public var reservedByteCount = 64 << 20

  /// Whether the network costs money at the moment: packs that the app does not wait for wait themselves then. Asked whenever one
  /// could start; ``AssetPackManager/conditionsChanged()`` makes it be asked again.
  public var isMetered: @Sendable () -> Bool = { false }

  /// Whether the user permits work in the background: without it, downloads of an app's own wait that were not started in the
  /// foreground, and its extension is not asked.
  public var isBackgroundAllowed: @Sendable () -> Bool = { true }

  /// Whether the user permits an app's own downloads before its first launch.
  public var isInAppContentAllowed: @Sendable () -> Bool = { true }

  /// How much room there is for a file in a folder, in bytes; nil: that is not known.
  public var freeByteCount: @Sendable (FilePath) -> Int? = { freeByteCountOnDisk($0) }

  /// How long the installation of an app waits for a network, where none of its sites can be asked.
  public var essentialNetworkWait = Duration.seconds(5)

  public init() {}

  /// How long to wait before a try.
  ///
  /// - Parameters:
  ///   - failureCount: how often it failed in a row.
  ///   - chance: from 0 up to 1: tries of many devices spread.
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
  /// Whether another try may help: the network, a server or another process was in the way.
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
