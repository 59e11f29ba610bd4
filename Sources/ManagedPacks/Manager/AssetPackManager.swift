import Synchronization

/// Manages the asset packs of an app: fetches them by policy and on request, keeps them up to date, and lends their files from one
/// namespace.
///
///     let pack = try await AssetPackManager.shared.assetPack(withID: "Tutorial")
///     try await AssetPackManager.shared.ensureLocalAvailability(of: pack)
///     let video = try AssetPackManager.shared.contents(at: "Videos/Introduction.m4v")
///
/// Several managers may work on one group at once, in one process or in many: a pack that two of them want comes once.
public actor AssetPackManager {
  /// The manager of the program that runs, set up by its property list: ``ManagedConfiguration/main(environment:program:)``.
  ///
  /// Where that cannot be done, each of its calls says why. The first use applies the policies that an installation, an update of
  /// the app or another language call for, in the background.
  public static let shared: AssetPackManager = {
    let manager = AssetPackManager(Result { try ManagedConfiguration.main() }, Options())
    Task { try? await manager.detectEvents() }
    return manager
  }()

  nonisolated let hub = StatusHub()
  private nonisolated let result: Result<CoreInUse, any Error>
  private nonisolated let delegateHolder = Mutex(DelegateHolder())

  /// How far the essential packs are together: see ``ensureEssential()``.
  public nonisolated let essentialProgress: Progress

  /// What happens to all downloads, from the moment on from which it is iterated. It never ends.
  public nonisolated let statusUpdates: DownloadStatusUpdates

  /// A manager of its own, set up by the program.
  ///
  /// - Throws: ``ManagedPacksError``; what opening a store throws.
  public init(configuration: ManagedConfiguration, options: Options = Options()) throws {
    self.init(.success(configuration), options)
    _ = try result.get()
  }

  private init(_ configuration: Result<ManagedConfiguration, any Error>, _ options: Options) {
    let hub = hub
    result = configuration.flatMap { configuration in Result { try CoreInUse(configuration, options, hub: hub) } }
    statusUpdates = DownloadStatusUpdates(hub, pack: nil)
    let estimate = (try? configuration.get())?.essentialByteCount ?? 0, opened = try? result.get()
    essentialProgress = InstallationProgress(estimate: estimate) { command in
      opened?.core.scheduler.controlEssential(command)
    }
  }

  /// - Throws: why the manager could not be set up.
  nonisolated var core: ManagedCore {
    get throws { try result.get().core }
  }

  /// The same, to ask sites: an override that has begun or ended meanwhile counts from now on.
  nonisolated func coreToAsk() throws -> ManagedCore { try result.get().question() }

  /// The store with the packs of the group: for what goes beyond packs, such as listings, conflicts, and verification.
  public nonisolated var store: Store {
    get throws { try core.store }
  }

  /// What happens to one pack's download, from now on; it ends when the download has.
  public nonisolated func statusUpdates(forAssetPackWithID id: String) -> DownloadStatusUpdates {
    DownloadStatusUpdates(hub, pack: id)
  }

  // MARK: - Delegate

  private struct DelegateHolder {
    weak var delegate: (any BAManagedAssetPackDownloadDelegate)?
    var listener: Task<Void, Never>?
  }

  /// Gets what ``statusUpdates`` tells. Not kept alive by the manager.
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

/// What a delegate gets to know of downloads: Apple's Objective-C protocol, in Swift.
public protocol BAManagedAssetPackDownloadDelegate: AnyObject, Sendable {
  func downloadOfAssetPackBegan(_ assetPack: AssetPack)
  func downloadOfAssetPackPaused(_ assetPack: AssetPack)
  func downloadOfAssetPack(_ assetPack: AssetPack, hasProgress progress: Progress)
  func downloadOfAssetPackFinished(_ assetPack: AssetPack)
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
