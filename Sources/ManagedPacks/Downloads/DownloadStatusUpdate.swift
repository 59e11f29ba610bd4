extension AssetPackManager {
  /// An event of a pack's download.
  ///
  /// Each download reports `began`, then any number of `downloading`, then `finished` or `failed`. `paused` may occur in between;
  /// `began` follows when the download continues.
  public enum DownloadStatusUpdate: Sendable {
    /// The download started or continues.
    case began(AssetPack)
    /// The download waits: the app paused it, or it will be retried.
    case paused(AssetPack)
    /// The progress of the download; it can be cancelled, paused and resumed.
    case downloading(AssetPack, Progress)
    /// The pack is complete on this machine.
    case finished(AssetPack)
    /// The download ended with an error, or with `CancellationError`.
    case failed(AssetPack, any Error)

    /// The pack of the download.
    public var assetPack: AssetPack {
      switch self {
      case .began(let pack), .paused(let pack), .downloading(let pack, _), .finished(let pack), .failed(let pack, _):
        pack
      }
    }

    /// Whether this is the last update of the download.
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
