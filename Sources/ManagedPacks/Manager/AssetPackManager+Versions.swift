extension AssetPackManager {
  /// Returns the versions of a pack that this machine keeps, the current one first: the previous version, for a rollback, and the
  /// pinned versions.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` if the pack is not installed.
  public nonisolated func localVersions(ofAssetPackWithID id: String) throws -> [Int] {
    try core.store.versions(of: localPack(id).id).map { Int(clamping: $0.number) }
  }

  /// Makes a kept version the current one again, without a site, and stops updates of the pack until ``unpin(assetPackWithID:)``.
  ///
  /// - Parameters:
  ///   - id: an installed pack.
  ///   - version: `nil` for the previous version.
  /// - Returns: the version that is now current.
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``; `PackStoreError` `notFound` if the version is not kept,
  ///   `purged` if some of its data was deleted.
  @discardableResult
  public func rollBack(assetPackWithID id: String, toVersion version: Int? = nil) async throws -> Int {
    let core = try core
    let pack = try localPack(id).id
    let now = try await core.changing {
      try await core.store.rollBack(pack, toVersion: version.map { UInt64(clamping: $0) })
    }
    return Int(clamping: now.number)
  }

  /// Keeps a version of a pack through later updates, so that ``rollBack(assetPackWithID:toVersion:)`` can return to it.
  /// ``checkForUpdates()`` does not remove a pack whose current version is pinned.
  ///
  /// - Parameters:
  ///   - id: an installed pack.
  ///   - version: `nil` for the current version.
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``; `PackStoreError` `notFound` if the version is not kept.
  public func pin(assetPackWithID id: String, version: Int? = nil) async throws {
    let core = try core, pack = try localPack(id)
    try await core.changing {
      try await core.store.pin(pack.id, version: version.map { UInt64(clamping: $0) } ?? pack.version.number)
    }
  }

  /// Removes all pins of a pack, and allows updates again after a rollback.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
  public func unpin(assetPackWithID id: String) async throws {
    let core = try core, pack = try localPack(id).id
    try await core.changing { try await core.store.unpin(pack) }
  }
}
