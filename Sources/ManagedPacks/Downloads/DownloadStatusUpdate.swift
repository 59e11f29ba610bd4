extension AssetPackManager {
  /// What happens to the download of a pack.
  ///
  /// Each download shows as `began`, then any number of `downloading`, then `finished` or `failed`. `paused` may come in between,
  /// and `began` follows when it goes on.
  public enum DownloadStatusUpdate: Sendable {
    /// It was started, or goes on.
    case began(AssetPack)
    /// It waits: the app paused it, or it will be tried again.
    case paused(AssetPack)
    /// How far it is; the progress can be cancelled, paused and resumed.
    case downloading(AssetPack, Progress)
    /// The pack is here.
    case finished(AssetPack)
    /// The pack is not here: an error, or `CancellationError`.
    case failed(AssetPack, any Error)

    /// The pack that is downloaded.
    public var assetPack: AssetPack {
      switch self {
      case .began(let pack), .paused(let pack), .downloading(let pack, _), .finished(let pack), .failed(let pack, _):
        pack
      }
    }

    /// Nothing follows.
    var isLast: Bool {
      switch self {
      case .finished, .failed: true
      default: false
      }
    }
  }
}

extension AssetPackManager.DownloadStatusUpdate: CustomStringConvertible {
  public var description: String {
    switch self {
    case .began(let pack): "\(pack) began"
    case .paused(let pack): "\(pack) paused"
    case .downloading(let pack, let progress):
      "\(pack) downloading: \(progress.completedUnitCount) of \(progress.totalUnitCount) bytes"
    case .finished(let pack): "\(pack) finished"
    case .failed(let pack, let error): "\(pack) failed: \(error)"
    }
  }
}
