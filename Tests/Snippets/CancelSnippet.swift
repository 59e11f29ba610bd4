// Cancelling: by the progress of a download.

import BackgroundAssets

/// Starts a download, and gives it up at once.
func changeOnesMind(about name: String) async throws -> Bool {
  let assetPack = try await AssetPackManager.shared.assetPack(withID: name)
  let statusUpdates = AssetPackManager.shared.statusUpdates(forAssetPackWithID: name)
  let download = Task { try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack) }
  for await statusUpdate in statusUpdates {
    switch statusUpdate {
    case .downloading(let assetPack, let progress) where assetPack.id == name: progress.cancel()
    default: break
    }
  }
  // The last bytes may have come before.
  return (try? await download.value) == nil || AssetPackManager.shared.assetPackIsAvailableLocally(withID: name)
}
