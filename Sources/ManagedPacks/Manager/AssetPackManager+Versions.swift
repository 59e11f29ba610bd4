extension AssetPackManager {
  /// The versions of a pack that are kept here, the current one first. One is kept for going back, and those that are pinned.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` when the pack is not here.
  public nonisolated func localVersions(ofAssetPackWithID id: String) throws -> [Int] {
    try core.store.versions(of: localPack(id).id).map { Int(clamping: $0.number) }
  }

  /// Makes a version that is kept here the current one again, without a site, and holds the pack there: no update moves it until
  /// ``unpin(assetPackWithID:)``.
  ///
  /// - Parameters:
  ///   - id: of a pack that is here.
  ///   - version: nil: the version that was current before.
  /// - Returns: the version that is current now.
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``; `PackStoreError` `notFound` when no such version is kept,
  ///   `purged` when data of it is gone.
  @discardableResult
  public func rollBack(assetPackWithID id: String, toVersion version: Int? = nil) async throws -> Int {
    let core = try core
    let pack = try localPack(id).id
    let now = try await core.changing {
      try await core.store.rollBack(pack, toVersion: version.map { UInt64(clamping: $0) })
    }
    return Int(clamping: now.number)
  }

  /// Keeps a version of a pack, whatever updates come, so that ``rollBack(assetPackWithID:toVersion:)`` finds it. A pack with a pin
  /// is never removed by ``checkForUpdates()``.
  ///
  /// - Parameters:
  ///   - id: of a pack that is here.
  ///   - version: nil: the one that is current.
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``; `PackStoreError` `notFound` when no such version is kept.
  public func pin(assetPackWithID id: String, version: Int? = nil) async throws {
    let core = try core, pack = try localPack(id)
    try await core.changing {
      try await core.store.pin(pack.id, version: version.map { UInt64(clamping: $0) } ?? pack.version.number)
    }
  }

  /// Pins no version of a pack any more, and lets it be updated again after a rollback.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
  public func unpin(assetPackWithID id: String) async throws {
    let core = try core, pack = try localPack(id).id
    try await core.changing { try await core.store.unpin(pack) }
  }
}
