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
      // An available pack needs no site, unless the latest version is required.
      let missing = ids.filter { requiresLatest || !$0.isWhole(in: manager) }
      guard !missing.isEmpty else { return }
      if let id = missing.first, missing.count == 1, ids.count == 1 {
        return try await manager.ensureLocalAvailability(
          of: manager.assetPack(withID: id), requireLatestVersion: requiresLatest)
      }
      let manifest = try await manager.manifest
      let found = Set(missing.compactMap { try? manifest.assetPack(withID: $0) })
      // The packs that exist are downloaded, even if others are missing.
      let failure = await failureOf {
        try await manager.ensureLocalAvailability(of: found, requireLatestVersions: requiresLatest)
      }
      let unknown = Set(missing).subtracting(found.map(\.id))
      if let failure, unknown.isEmpty || failure is CancellationError { throw failure }
      if unknown.isEmpty { return }
      var reasons: [String: String] = [:]
      if let failure = failure as? AssetPackManager.LocalAvailabilityError {
        for (pack, error) in failure.failures { reasons[pack.id] = "\(error)" }
      } else if let failure {
        for pack in found { reasons[pack.id] = "\(failure)" }
      }
      for id in unknown {
        let reason = await failureOf { _ = try await manager.assetPack(withID: id) }
        reasons[id] = reason.map { "\($0)" }
      }
      throw MissingPacks(reasons: reasons, count: Set(ids).count)
    }
  }
}

/// Some of several requested packs are not available.
struct MissingPacks: Error, CustomStringConvertible {
  let reasons: [String: String]
  let count: Int

  var description: String {
    "\(reasons.count) of \(count) asset packs are not available: "
      + reasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
  }
}

private func failureOf(_ body: () async throws -> Void) async -> (any Error)? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}

extension String {
  /// Returns whether a pack is complete on this machine, without waiting for a site.
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
