// Downloading: a pack, the latest version of it, and several at once.

import BackgroundAssets

/// Prepares a level and reports its progress.
func prepareLevel(_ name: String, report: @escaping @Sendable (String) -> Void) async throws {
  let assetPack = try await AssetPackManager.shared.assetPack(withID: name)
  let statusUpdates = AssetPackManager.shared.statusUpdates(forAssetPackWithID: name)
  let listener = Task {
    for await statusUpdate in statusUpdates {
      switch statusUpdate {
      case .began(let assetPack): report("\(assetPack.id) begins")
      case .paused(let assetPack): report("\(assetPack.id) waits")
      case .downloading(let assetPack, let progress): report("\(assetPack.id) at \(progress.fractionCompleted)")
      case .finished(let assetPack): report("\(assetPack.id) is here")
      case .failed(let assetPack, let error): report("\(assetPack.id): \(error)")
      }
    }
  }
  try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack)
  await listener.value
  try await AssetPackManager.shared.ensureLocalAvailability(of: assetPack, requireLatestVersion: true)
}

/// Fetches several levels, and returns the names of the failed ones.
func prepareLevels(_ assetPacks: Set<AssetPack>) async throws -> [String] {
  do {
    try await AssetPackManager.shared.ensureLocalAvailability(of: assetPacks, requireLatestVersions: false)
    return []
  } catch let error as AssetPackManager.LocalAvailabilityError {
    return error.failures.keys.map(\.id).sorted()
  }
}

/// Checks for updates, and returns the started updates and the removed packs.
func update() async throws -> (updating: Set<String>, removed: Set<String>) {
  let (updatingIDs, removedIDs) = try await AssetPackManager.shared.checkForUpdates()
  return (updatingIDs, removedIDs)
}
