@c(pkm_manager_manifest)
public func manifest(
  _ out: UnsafeMutablePointer<pkm_manifest>, _ manager: OpaquePointer, _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    let packs = try waiting { try await box.manager.allAssetPacks }.sorted { $0.id < $1.id }.compactMap { pkm_pack($0) }
    guard !packs.isEmpty else {
      out.pointee = pkm_manifest()
      return
    }
    let copies = UnsafeMutableBufferPointer<pkm_pack>.allocate(capacity: packs.count)
    _ = copies.initialize(from: packs)
    out.pointee = pkm_manifest(count: packs.count, packs: UnsafePointer(copies.baseAddress))
  }
}

@c(pkm_manifest_free)
public func freeManifest(_ manifest: UnsafeMutablePointer<pkm_manifest>) {
  let packs = UnsafeBufferPointer(start: manifest.pointee.packs, count: manifest.pointee.count)
  for pack in packs { pack.freeTexts() }
  packs.deallocate()
  manifest.pointee = pkm_manifest()
}

@c(pkm_manager_status)
public func packStatus(
  _ out: UnsafeMutablePointer<UInt32>, _ manager: OpaquePointer, _ pack: UnsafePointer<CChar>,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager), id = text(pack)
  return status(error) {
    out.pointee = UInt32(
      truncatingIfNeeded: try waiting { try await box.manager.status(ofAssetPackWithID: id) }.rawValue)
  }
}

@c(pkm_manager_local_status)
public func localStatus(_ manager: OpaquePointer, _ pack: UnsafePointer<CChar>) -> UInt32 {
  let box = ManagerBox.of(manager), id = text(pack)
  let bits = try? waiting { await box.manager.localStatus(ofAssetPackWithID: id).rawValue }
  return UInt32(truncatingIfNeeded: bits ?? 0)
}

@c(pkm_manager_is_available_locally)
public func isAvailableLocally(_ manager: OpaquePointer, _ pack: UnsafePointer<CChar>) -> Bool {
  ManagerBox.of(manager).manager.assetPackIsAvailableLocally(withID: text(pack))
}

@c(pkm_manager_local_version)
public func localVersion(
  _ out: UnsafeMutablePointer<UInt64>, _ manager: OpaquePointer, _ pack: UnsafePointer<CChar>,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    out.pointee = UInt64(clamping: try box.manager.localVersion(ofAssetPackWithID: text(pack)))
  }
}

@c(pkm_manager_withheld)
public func withheldVersion(
  _ out: UnsafeMutablePointer<pkm_withheld>, _ manager: OpaquePointer, _ pack: UnsafePointer<CChar>,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager), id = text(pack)
  return status(error) {
    let withheld = try waiting { try await box.manager.withheldPacks }[id]
    out.pointee = pkm_withheld(withheld)
  }
}
