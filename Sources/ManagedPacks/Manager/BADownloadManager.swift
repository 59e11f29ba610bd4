import Synchronization

/// Schedules an app's own downloads, and reports their results: for apps without asset packs (`BAHasManagedAssetPacks` is false).
///
///     let download = BAURLDownload(
///       identifier: "Episode 3", request: URLRequest(url: url), essential: false, fileSize: 1_000_000,
///       applicationGroupIdentifier: "group.com.example.player", priority: .default)
///     BADownloadManager.shared.delegate = self
///     try BADownloadManager.shared.startForegroundDownload(download)
///
/// This process performs the downloads while the app has a delegate or a foreground download, or if the group has no agent.
/// Otherwise the agent performs them. All calls are safe from any thread.
public final class BADownloadManager: Sendable {
  /// The manager of the running program, configured by its property list. If the configuration cannot be used, every throwing call
  /// throws ``BAError/Code/callerConnectionNotAccepted``.
  public static let shared = BADownloadManager(Result { try ManagedConfiguration.main() }, Options())

  private let result: Result<DownloadCore, any Error>
  /// Whether the app has asset packs, so that a download of a pack installs it.
  private let hasAssetPacks: Bool
  /// The manager that downloads asset packs.
  private let assetPacks: @Sendable () -> AssetPackManager

  public struct Options: Sendable {
    /// The limits for downloads on this machine and network.
    public var rules = DownloadRules()

    /// Whether the app is active: only then may it start foreground downloads.
    public var isActive: @Sendable () -> Bool = { true }

    /// The environment variables for folders (default: the environment of the process).
    public var environment = ProcessInfo.processInfo.environment

    /// Whether the process is an app's extension; `nil` to detect it.
    package var isExtension: Bool?

    /// The manager for downloads of asset packs (``AssetPack/download()``) in an app with asset packs; `nil` for
    /// ``AssetPackManager/shared``.
    public var assetPackManager: AssetPackManager?

    package var transport: (any FileTransport)?
    package var clock = TransferClock.system
    package var speaksToAgent = true
    /// The time in which an agent must answer.
    package var agentPatience = AgentClient.patience
    /// Returns the time in seconds since 1970.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    public init() {}
  }

  /// Creates a manager with a configuration that the program supplies.
  ///
  /// - Throws: ``BAError`` `callerConnectionNotAccepted`.
  public convenience init(configuration: ManagedConfiguration, options: Options = Options()) throws {
    self.init(.success(configuration), options)
    _ = try core
  }

  private init(_ configuration: Result<ManagedConfiguration, any Error>, _ options: Options) {
    result = configuration.flatMap { configuration in Result { try DownloadCore(configuration, options) } }
    hasAssetPacks = (try? configuration.get())?.hasManagedAssetPacks ?? false
    assetPacks = { [manager = options.assetPackManager] in manager ?? .shared }
  }

  var core: DownloadCore {
    get throws {
      do {
        return try result.get()
      } catch {
        throw BAError(
          .callerConnectionNotAccepted, "this process cannot use downloads: \(error)", underlyingError: error)
      }
    }
  }

  /// Receives the events of downloads, including the results of downloads that ended earlier. The manager holds it weakly. Without
  /// a delegate, the app's extension receives the results.
  public var delegate: (any BADownloadManagerDelegate)? {
    get { (try? core)?.delegate }
    set { (try? core)?.delegate = newValue }
  }

  // MARK: - Downloads

  /// Returns the app's downloads that have not ended, in the order in which they were scheduled. Reads a file on the calling
  /// thread.
  ///
  /// - Throws: ``BAError``.
  public func fetchCurrentDownloads() throws -> [BADownload] { try core.currentDownloads() }

  /// The app's downloads that have not ended, read on a thread that may block.
  ///
  /// - Throws: ``BAError``.
  public var currentDownloads: [BADownload] {
    get async throws {
      let core = try core
      return try await BlockingExecutor.run { try core.currentDownloads() }
    }
  }

  @available(*, deprecated, message: "use currentDownloads")
  public func fetchCurrentDownloads(completionHandler: @escaping @Sendable ([BADownload], (any Error)?) -> Void) {
    Task {
      do {
        completionHandler(try await currentDownloads, nil)
      } catch {
        completionHandler([], error)
      }
    }
  }

  /// Schedules a download in the background. Returns after the request is stored durably.
  ///
  /// A download of an asset pack in an app with asset packs is requested from the ``AssetPackManager``, which reports its events
  /// and installs the pack.
  ///
  /// - Throws: ``BAError``; for an asset pack, the errors of ``AssetPackManager``.
  public func scheduleDownload(_ download: BADownload) throws { try schedule(download, isForeground: false) }

  /// Starts a download at once; a scheduled download continues with its downloaded data. Without a network, the download fails at
  /// once.
  ///
  /// - Throws: ``BAError``; `callFromExtensionNotAllowed` in an extension.
  public func startForegroundDownload(_ download: BADownload) throws {
    try schedule(download, isForeground: true)
  }

  private func schedule(_ download: BADownload, isForeground: Bool) throws {
    if let download = assetPackDownload(download) {
      return try download.schedule(by: assetPacks(), isForeground: isForeground)
    }
    try core.schedule(download, isForeground: isForeground)
  }

  /// Returns a download of an asset pack that is installed, not delivered as a file.
  private func assetPackDownload(_ download: BADownload) -> AssetPackDownload? {
    hasAssetPacks ? download as? AssetPackDownload : nil
  }

  /// Cancels a download without a callback. Cancelling it again has no effect.
  ///
  /// - Throws: ``BAError`` `downloadNotScheduled`, or `downloadDoesNotExist` if the download has already ended.
  public func cancel(_ download: BADownload) throws {
    if let download = assetPackDownload(download) { return try download.cancel(by: assetPacks()) }
    try core.cancel(download)
  }

  /// Notifies the manager that a condition of ``DownloadRules`` may have changed, such as whether the network is metered. Waiting
  /// downloads of this process may then continue. The agent's downloads follow the agent's rules.
  public func conditionsChanged() { (try? core)?.conditionsChanged() }

  // MARK: - Exclusive control

  /// Calls the handler with exclusive control: no other handler of the app or its extension runs at the same time. Returns at once.
  /// If control cannot be obtained, the handler receives `false` and the error. An extension keeps running until the handler has
  /// returned; that time counts as its run time.
  public func withExclusiveControl(_ performHandler: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    withExclusiveControl(before: nil, performHandler)
  }

  /// Calls the handler with exclusive control, if control is obtained before a date.
  public func withExclusiveControl(
    before date: Date, _ performHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    withExclusiveControl(before: .some(date), performHandler)
  }

  /// Runs a body with exclusive control: no other handler of the app or its extension runs at the same time.
  ///
  /// - Throws: ``BAError``, `CancellationError`, the errors of the body.
  public func withExclusiveControl<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
  ) async throws -> Value { try await core.control.perform(before: nil, body) }

  /// Runs a body with exclusive control, if control is obtained before a date.
  ///
  /// - Throws: also `PackStoreError` `busy` if another process or task had control until then.
  public func withExclusiveControl<Value: Sendable>(
    before date: Date, _ body: @Sendable () async throws -> Value
  ) async throws -> Value { try await core.control.perform(before: date, body) }

  private func withExclusiveControl(
    before date: Date?, _ handler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    do {
      let control = try core.control
      // Counted from now on, not from the start of the task: an entry point may return before that.
      let stay = control.begin()
      Task {
        defer { withExtendedLifetime(stay) {} }
        do {
          try await control.perform(before: date) { handler(true, nil) }
        } catch {
          handler(false, error)
        }
      }
    } catch {
      handler(false, error)
    }
  }
}
