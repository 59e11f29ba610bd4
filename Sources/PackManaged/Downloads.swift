@c(pkm_manager_ensure)
public func ensure(
  _ manager: OpaquePointer, _ packs: UnsafePointer<UnsafePointer<CChar>>, _ count: Int, _ requiresLatest: Bool,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  let ids = UnsafeBufferPointer(start: packs, count: max(count, 0)).map { text($0) }
  return status(error) {
    try waiting {
      let manager = box.manager
      // A pack that is here needs no site, unless it is to be the latest.
      let missing = ids.filter { requiresLatest || !$0.isWhole(in: manager) }
      guard !missing.isEmpty else { return }
      let manifest = try await manager.manifest
      if let id = missing.first, missing.count == 1, ids.count == 1 {
        return try await manager.ensureLocalAvailability(
          of: manifest.assetPack(withID: id), requireLatestVersion: requiresLatest)
      }
      let found = missing.map { id in Result { try manifest.assetPack(withID: id) } }
      // Those that there are come, whatever is wrong with the others.
      try await manager.ensureLocalAvailability(
        of: Set(found.compactMap { try? $0.get() }), requireLatestVersions: requiresLatest)
      for pack in found { _ = try pack.get() }
    }
  }
}

extension String {
  /// Whether a pack of that name is here, as far as can be said at once.
  fileprivate func isWhole(in manager: AssetPackManager) -> Bool { manager.assetPackIsAvailableLocally(withID: self) }
}

@c(pkm_manager_ensure_essential)
public func ensureEssential(_ manager: OpaquePointer, _ error: UnsafeMutablePointer<pkm_error>?) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) { try waiting { try await box.manager.ensureEssential() } }
}

@c(pkm_manager_check_for_updates)
public func checkForUpdates(
  _ updating: UnsafeMutablePointer<Int>?, _ removed: UnsafeMutablePointer<Int>?, _ manager: OpaquePointer,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    let result = try waiting { try await box.manager.checkForUpdates() }
    updating?.pointee = result.updatingIDs.count
    removed?.pointee = result.removedIDs.count
  }
}

@c(pkm_manager_remove)
public func removePack(
  _ manager: OpaquePointer, _ pack: UnsafePointer<CChar>, _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager), id = text(pack)
  return status(error) { try waiting { try await box.manager.remove(assetPackWithID: id) } }
}

@c(pkm_manager_pause)
public func pause(_ manager: OpaquePointer, _ pack: UnsafePointer<CChar>) -> Bool {
  ManagerBox.of(manager).manager.pauseDownload(ofAssetPackWithID: text(pack))
}

@c(pkm_manager_resume)
public func resume(_ manager: OpaquePointer, _ pack: UnsafePointer<CChar>) -> Bool {
  ManagerBox.of(manager).manager.resumeDownload(ofAssetPackWithID: text(pack))
}

@c(pkm_manager_cancel)
public func cancel(_ manager: OpaquePointer, _ pack: UnsafePointer<CChar>) -> Bool {
  ManagerBox.of(manager).manager.cancelDownload(ofAssetPackWithID: text(pack))
}
