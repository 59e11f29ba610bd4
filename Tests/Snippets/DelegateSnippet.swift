// The delegate of Apple's Objective-C interface, in Swift.

import BackgroundAssets

/// Records the downloads for a window.
final class ManagedAssetPackDownloadDelegate: BAManagedAssetPackDownloadDelegate {
  private let show: @Sendable (String) -> Void

  init(show: @escaping @Sendable (String) -> Void) { self.show = show }

  func downloadOfAssetPackBegan(_ assetPack: AssetPack) { show("\(assetPack.id) began") }
  func downloadOfAssetPackPaused(_ assetPack: AssetPack) { show("\(assetPack.id) paused") }
  func downloadOfAssetPack(_ assetPack: AssetPack, hasProgress progress: Progress) {}
  func downloadOfAssetPackFinished(_ assetPack: AssetPack) { show("\(assetPack.id) finished") }
  func downloadOfAssetPack(_ assetPack: AssetPack, failedWithError error: any Error) { show("\(assetPack.id) failed") }
}
