// Queries: the existing packs, and the facts about each.

import BackgroundAssets

/// The packs that are there to download, by their names.
func namesOfPacks() async throws -> [String] {
  let manifest = try await AssetPackManager.shared.manifest
  let everyPack = try await AssetPackManager.shared.allAssetPacks
  guard everyPack == manifest.assetPacks else { return [] }
  return everyPack.map(\.id).sorted()
}

/// The label of a pack in a launcher.
func label(ofPack name: String) async throws -> String {
  let assetPack = try await AssetPackManager.shared.assetPack(withID: name)
  let status = try await AssetPackManager.shared.status(relativeTo: assetPack)
  let sameStatus = try await AssetPackManager.shared.status(ofAssetPackWithID: name)
  let localStatus = await AssetPackManager.shared.localStatus(ofAssetPackWithID: name)
  if status.contains(.downloading) || sameStatus.contains(.downloading) { return "coming" }
  if localStatus.contains(.downloaded), status.contains(.upToDate) { return "version \(assetPack.version)" }
  if status.contains(.obsolete) || status.contains(.outOfDate) { return "old" }
  if status.contains(.updateAvailable) { return "new version" }
  return status.contains(.downloadAvailable) ? "\(assetPack.downloadSize) bytes" : "gone"
}
