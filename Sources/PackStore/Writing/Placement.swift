import CPackStore

extension Snapshot {
  /// The folder for data of purgeable packs; `nil` if none was set, because the store never had such a pack.
  public var cacheFolder: Store.CacheFolder? {
    var budget: UInt64 = 0
    guard let folder = pks_snapshot_cache_folder(pointer, &budget) else { return nil }
    return Store.CacheFolder(
      path: FilePath(platformString: folder), byteBudget: budget == 0 ? nil : Int(clamping: budget))
  }
}

extension Transaction {
  /// Stages the folder for data of purgeable packs. Data in the previous folder is not moved: it counts as purged.
  ///
  /// If no folder is set, the first pack that becomes purgeable sets the folder of ``Options/cacheFolder`` or
  /// ``Store/Options/cache``.
  ///
  /// - Parameters:
  ///   - folder: an absolute path of at most 4,095 bytes. It may be on another file system than the store.
  ///   - byteBudget: the maximum size of the store's files there, in bytes; `nil`: no limit. The commit purges excess data, the
  ///     least valuable first.
  /// - Throws: `invalidArgument`, also if this transaction has already staged data of a purgeable pack; `outOfMemory`.
  public mutating func setCacheFolder(_ folder: FilePath, byteBudget: Int? = nil) throws {
    try hold.setCacheFolder(Store.CacheFolder(path: folder, byteBudget: byteBudget))
  }

  /// Stages the placement of a pack's data, for all its kept versions: in the store, or in the cache folder, where it may be
  /// deleted at any time. Updates do not change this placement, regardless of their attributes.
  ///
  /// Data that must move is stored again, in as many bytes. Data that durable packs need stays with them: a durable pack never
  /// depends on purgeable data.
  ///
  /// - Parameters:
  ///   - placement: the new placement.
  ///   - pack: an installed pack, or a removed pack with a kept history.
  /// - Returns: ``Store/InstallResult/isUnchanged`` if no data was moved.
  /// - Throws: `purged` if the pack is to become durable, and data of its current version is missing and must be fetched first;
  ///   `invalidArgument` if no cache folder was set; `notFound` if the pack does not exist; `ioError` if the cache folder cannot be
  ///   used; `noSpace`, `outOfMemory`, `corrupt`. Nothing is staged then.
  /// - Complexity: linear in the bytes of the versions.
  @discardableResult
  public mutating func setPlacement(_ placement: Placement, of pack: PackID) throws -> Store.InstallResult {
    try Task.checkCancellation()
    var result = pks_add_result()
    if placement == .purgeable { try hold.chooseCacheFolder() }
    do {
      try naming(pack, nil) {
        try check { pks_txn_set_placement(&result, pointer, pack.name, placement.core, true, $0) }
      }
    } catch var error as PackStoreError where error.code == .invalidArgument {
      error.specificRemedy = "call setCacheFolder, for instance with Store.Cache.standardFolder(named:)"
      throw error
    } catch {
      throw explain(error, of: pack)
    }
    if placement == .durable { hold.noteWhole(pack) }
    return Store.InstallResult(result, of: pack, notices: [])
  }

  /// Places a pack as the attributes of its current version specify, unless a user placed it. A pack with missing data cannot
  /// become durable, and stays purgeable.
  mutating func followPlacement(of pack: PackID, _ attributes: Attributes) throws {
    let placement = try hold.corePlacement(attributes.placement, of: pack)
    guard placement != PKS_PLACE_KEEP else { return }
    do {
      try check { pks_txn_set_placement(nil, pointer, pack.name, placement, false, $0) }
    } catch let error as PackStoreError where error.code == .purged {}
  }
}

extension Store {
  /// Places a pack in the store, or in the cache folder, where its data may be deleted at any time. See
  /// ``Transaction/setPlacement(_:of:)``.
  @discardableResult
  public func setPlacement(
    _ placement: Placement, of pack: PackID, durability: Durability = .durable
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) { try $0.setPlacement(placement, of: pack) }
  }
}

extension Placement {
  var core: pks_placement {
    switch self {
    case .durable: PKS_PLACE_DURABLE
    case .purgeable: PKS_PLACE_PURGEABLE
    }
  }
}
