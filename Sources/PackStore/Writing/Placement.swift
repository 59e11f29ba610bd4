import CPackStore

extension Snapshot {
  /// Where the data of purgeable packs lies; nil: none was chosen, for there was never such a pack.
  public var cacheFolder: Store.CacheFolder? {
    var budget: UInt64 = 0
    guard let folder = pks_snapshot_cache_folder(pointer, &budget) else { return nil }
    return Store.CacheFolder(
      path: FilePath(platformString: folder), byteBudget: budget == 0 ? nil : Int(clamping: budget))
  }
}

extension Transaction {
  /// Stages which folder holds the data of purgeable packs. What lies in the folder before is not moved: it counts as purged.
  ///
  /// Without, the first pack that becomes purgeable chooses that of ``Options/cacheFolder`` or ``Store/Options/cache``.
  ///
  /// - Parameters:
  ///   - folder: an absolute path of at most 4,095 bytes. It may be on another file system than the store.
  ///   - byteBudget: how many bytes the store's files there may take; nil: as many as they need. What is more when it is
  ///     committed is purged, the least valuable first.
  /// - Throws: `invalidArgument`, also after this transaction staged data of a purgeable pack; `outOfMemory`.
  public mutating func setCacheFolder(_ folder: FilePath, byteBudget: Int? = nil) throws {
    try hold.setCacheFolder(Store.CacheFolder(path: folder, byteBudget: byteBudget))
  }

  /// Stages where the data of a pack lies, with that of all its kept versions: among the store's files, or in the cache folder,
  /// where it may vanish. This outlives updates, whatever later versions say of themselves.
  ///
  /// What must not stay where it is is stored again, in as many bytes. Data that durable packs need stays with them: a durable pack
  /// never depends on what may vanish.
  ///
  /// - Parameters:
  ///   - placement: the new placement.
  ///   - pack: a pack that is installed, or keeps its history.
  /// - Returns: ``Store/InstallResult/isUnchanged`` where no data had to be moved.
  /// - Throws: `purged` when the pack is to be durable and data of its current version is gone, which must be fetched first;
  ///   `invalidArgument` when no cache folder was chosen; `notFound` when there is no such pack; `ioError` when the cache folder
  ///   cannot be used; `noSpace`, `outOfMemory`, `corrupt`. Nothing is staged then.
  /// - Complexity: linear in the bytes that the versions hold.
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

  /// Places a pack as its current version says, unless a user placed it. One that cannot become durable because data of it is gone
  /// stays purgeable.
  mutating func followPlacement(of pack: PackID, _ attributes: Attributes) throws {
    let placement = try hold.corePlacement(attributes.placement, of: pack)
    guard placement != PKS_PLACE_KEEP else { return }
    do {
      try check { pks_txn_set_placement(nil, pointer, pack.name, placement, false, $0) }
    } catch let error as PackStoreError where error.code == .purged {}
  }
}

extension Store {
  /// Places a pack: among the store's files, or in the cache folder, where its data may vanish. See
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
