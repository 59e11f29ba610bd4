import Synchronization

/// Schedules downloads of an app's own, and tells what becomes of them: for apps without asset packs (no `BAHasManagedAssetPacks`).
///
///     let download = BAURLDownload(
///       identifier: "Episode 3", request: URLRequest(url: url), essential: false, fileSize: 1_000_000,
///       applicationGroupIdentifier: "group.com.example.player", priority: .default)
///     BADownloadManager.shared.delegate = self
///     try BADownloadManager.shared.startForegroundDownload(download)
///
/// What was scheduled is done by this process while the app has a delegate or waits for a download, else by the group's agent, and by
/// this process where there is none. All calls are safe from any thread.
public final class BADownloadManager: Sendable {
  /// The manager of the program that runs, set up by its property list. Where that cannot be done each of its calls throws
  /// ``BAError/Code/callerConnectionNotAccepted``.
  public static let shared = BADownloadManager(Result { try ManagedConfiguration.main() }, Options())

  private let result: Result<DownloadCore, any Error>

  public struct Options: Sendable {
    /// How downloads share the machine and the network.
    public var rules = DownloadRules()

    /// Whether the app is in front: only then may it start downloads in the foreground.
    public var isActive: @Sendable () -> Bool = { true }

    /// Where folders are looked up. By default the process's.
    public var environment = ProcessInfo.processInfo.environment

    /// The process is an app's extension; nil: as the program was started.
    package var isExtension: Bool?

    package var transport: (any FileTransport)?
    package var clock = TransferClock.system
    package var speaksToAgent = true
    /// Seconds since 1970.
    package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    public init() {}
  }

  /// A manager of its own, set up by the program.
  ///
  /// - Throws: ``BAError`` `callerConnectionNotAccepted`.
  public convenience init(configuration: ManagedConfiguration, options: Options = Options()) throws {
    self.init(.success(configuration), options)
    _ = try core
  }

  private init(_ configuration: Result<ManagedConfiguration, any Error>, _ options: Options) {
    result = configuration.flatMap { configuration in Result { try DownloadCore(configuration, options) } }
  }

  var core: DownloadCore {
    get throws {
      do {
        return try result.get()
      } catch {
        throw BAError(
          .callerConnectionNotAccepted, "this process cannot take part in downloads: \(error)", underlyingError: error)
      }
    }
  }

  /// Hears of downloads, also of those that ended before. Not kept alive by the manager. Without one the app's extension hears.
  public var delegate: (any BADownloadManagerDelegate)? {
    get { (try? core)?.delegate }
    set { (try? core)?.delegate = newValue }
  }

  // MARK: - Downloads

  /// The app's downloads that have not ended, in the order in which they were asked for. Reads a file.
  ///
  /// - Throws: ``BAError``.
  public func fetchCurrentDownloads() throws -> [BADownload] { try core.currentDownloads() }

  /// The same, on a thread that may block.
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

  /// Asks for a download, which is done in the background. Returns when that is noted, durably.
  ///
  /// - Throws: ``BAError``.
  public func scheduleDownload(_ download: BADownload) throws { try core.schedule(download, isForeground: false) }

  /// Starts a download at once. One that was scheduled goes on where it is. It fails at once without a network.
  ///
  /// - Throws: ``BAError``; `callFromExtensionNotAllowed` in an extension.
  public func startForegroundDownload(_ download: BADownload) throws {
    try core.schedule(download, isForeground: true)
  }

  /// Ends a download; no callback tells of it. A second cancel does nothing.
  ///
  /// - Throws: ``BAError``: `downloadNotScheduled`, or `downloadDoesNotExist` for one that has ended otherwise.
  public func cancel(_ download: BADownload) throws { try core.cancel(download) }

  /// Says that what ``DownloadRules`` ask about may have changed, such as whether the network costs money: downloads of
  /// this process that waited for it may go on. What the agent downloads goes by the agent's rules.
  public func conditionsChanged() { (try? core)?.conditionsChanged() }

  // MARK: - Exclusive control

  /// Calls the handler while neither the app nor its extension is in another one of these. Returns at once; the handler is told of
  /// a fault in place of control. An extension goes on running until the handler has returned, which counts as its run time.
  public func withExclusiveControl(_ performHandler: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    withExclusiveControl(before: nil, performHandler)
  }

  /// The same, unless control was not to be had before a date.
  public func withExclusiveControl(
    before date: Date, _ performHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    withExclusiveControl(before: .some(date), performHandler)
  }

  /// Runs a body while neither the app nor its extension is in another one of these.
  ///
  /// - Throws: ``BAError``, `CancellationError`, what the body throws.
  public func withExclusiveControl<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
  ) async throws -> Value { try await core.control.perform(before: nil, body) }

  /// The same, unless control was not to be had before a date.
  ///
  /// - Throws: also `PackStoreError` `busy`: others had control until then.
  public func withExclusiveControl<Value: Sendable>(
    before date: Date, _ body: @Sendable () async throws -> Value
  ) async throws -> Value { try await core.control.perform(before: date, body) }

  private func withExclusiveControl(
    before date: Date?, _ handler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    do {
      let control = try core.control
      // From here on, not from when the task comes to it: an entry point may return meanwhile.
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
