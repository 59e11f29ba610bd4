import Synchronization

/// Manages the asset packs of an app: downloads them by policy and on request, keeps them up to date, and reads their files from
/// one namespace.
///
///     let pack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")
///     try await AssetPackManager.shared.ensureLocalAvailability(of: pack)
///     let video = try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v")
///
/// Several managers may use one group at the same time, in one process or in several. A pack that two of them request is downloaded
/// once.
public actor AssetPackManager {
  /// The manager of the running program, configured by its property list: ``ManagedConfiguration/main(environment:program:)``.
  ///
  /// If the configuration cannot be used, every throwing call throws the reason. The first use detects and handles events in the
  /// background: an installation, an update of the app, or a change of language.
  public static let shared: AssetPackManager = {
    let manager = AssetPackManager(Result { try ManagedConfiguration.main() }, Options())
    Task { try? await manager.detectEvents() }
    return manager
  }()

  nonisolated let hub = StatusHub()
  private nonisolated let result: Result<ActiveCore, any Error>
  private nonisolated let delegateHolder = Mutex(DelegateHolder())

  /// The progress of all essential packs together; see ``ensureEssential()``.
  public nonisolated let essentialProgress: Progress

  /// The status updates of all downloads, from the start of iteration. The sequence never ends.
  public nonisolated let statusUpdates: DownloadStatusUpdates

  /// Creates a manager with a configuration that the program supplies.
  ///
  /// - Throws: ``ManagedPacksError``; errors of opening the store.
  public init(configuration: ManagedConfiguration, options: Options = Options()) throws {
    self.init(.success(configuration), options)
    _ = try result.get()
  }

  private init(_ configuration: Result<ManagedConfiguration, any Error>, _ options: Options) {
    let hub = hub
    result = configuration.flatMap { configuration in Result { try ActiveCore(configuration, options, hub: hub) } }
    statusUpdates = DownloadStatusUpdates(hub, pack: nil)
    let estimate = (try? configuration.get())?.essentialByteCount ?? 0, opened = try? result.get()
    essentialProgress = InstallationProgress(estimate: estimate) { command in
      opened?.core.scheduler.controlEssential(command)
    }
  }

  /// - Throws: the reason why the manager could not be created.
  nonisolated var core: ManagedCore {
    get throws { try result.get().core }
  }

  /// Returns the core to contact sites with: applies an override that has begun or ended since the last call.
  nonisolated func coreToAsk() throws -> ManagedCore { try result.get().question() }

  /// The store with the packs of the group, for tasks that this class does not cover, such as listings, conflicts and verification.
  public nonisolated var store: Store {
    get throws { try core.store }
  }

  /// Returns the status updates of one pack's download, from now on. The sequence ends with the download.
  public nonisolated func statusUpdates(forAssetPackWithID id: String) -> DownloadStatusUpdates {
    DownloadStatusUpdates(hub, pack: id)
  }

  // MARK: - Delegate

  private struct DelegateHolder {
    weak var delegate: (any BAManagedAssetPackDownloadDelegate)?
    var listener: Task<Void, Never>?
  }

  /// The delegate that receives the events of ``statusUpdates``. The manager holds it weakly.
  public nonisolated var delegate: (any BAManagedAssetPackDownloadDelegate)? {
    get { delegateHolder.withLock { $0.delegate } }
    set {
      delegateHolder.withLock { holder in
        holder.delegate = newValue
        guard newValue != nil, holder.listener == nil else { return }
        let queue = hub.subscribe(to: nil)
        holder.listener = Task { [weak self] in
          while let update = await queue.next() {
            guard let self else { return }
            self.delegate?.take(update)
          }
        }
      }
    }
  }

  deinit { delegateHolder.withLock { $0.listener?.cancel() } }
}

/// Receives the events of downloads: Apple's Objective-C protocol in Swift.
public protocol BAManagedAssetPackDownloadDelegate: AnyObject, Sendable {
  /// The download started, or continues after a pause.
  func downloadOfAssetPackBegan(_ assetPack: AssetPack)
  /// The download waits: the app paused it, or it will be retried.
  func downloadOfAssetPackPaused(_ assetPack: AssetPack)
  /// Data was received; `progress` can be cancelled, paused and resumed.
  func downloadOfAssetPack(_ assetPack: AssetPack, hasProgress progress: Progress)
  /// The pack is complete on this machine.
  func downloadOfAssetPackFinished(_ assetPack: AssetPack)
  /// The download ended with an error, or with `CancellationError`.
  func downloadOfAssetPack(_ assetPack: AssetPack, failedWithError error: any Error)
}

extension BAManagedAssetPackDownloadDelegate {
  public func downloadOfAssetPackBegan(_ assetPack: AssetPack) {}
  public func downloadOfAssetPackPaused(_ assetPack: AssetPack) {}
  public func downloadOfAssetPack(_ assetPack: AssetPack, hasProgress progress: Progress) {}
  public func downloadOfAssetPackFinished(_ assetPack: AssetPack) {}
  public func downloadOfAssetPack(_ assetPack: AssetPack, failedWithError error: any Error) {}

  fileprivate func take(_ update: AssetPackManager.DownloadStatusUpdate) {
    switch update {
    case .began(let pack): downloadOfAssetPackBegan(pack)
    case .paused(let pack): downloadOfAssetPackPaused(pack)
    case .downloading(let pack, let progress): downloadOfAssetPack(pack, hasProgress: progress)
    case .finished(let pack): downloadOfAssetPackFinished(pack)
    case .failed(let pack, let error): downloadOfAssetPack(pack, failedWithError: error)
    }
  }
}
