/// Keeps borrowed bytes in place.
private final class Loan: Sendable {
  let data: Data
  init(_ data: Data) { self.data = data }
}

@c(pkm_manager_contents)
public func contents(
  _ out: UnsafeMutablePointer<pkm_contents>, _ manager: OpaquePointer, _ path: UnsafePointer<CChar>,
  _ pack: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    let data = try box.manager.contents(
      at: FilePath(platformString: path), searchingInAssetPackWithID: pack.map { text($0) })
    // Short data is stored within the `Data` value, which may move: it is copied instead.
    let bytes = data.withUnsafeBytes { $0 }
    guard data.count > MemoryLayout<Data>.size, let base = bytes.baseAddress else {
      return out.pointee = try copied(data)
    }
    let loan = Unmanaged.passRetained(Loan(data)).toOpaque()
    out.pointee = pkm_contents(bytes: base, count: bytes.count, owner: loan)
  }
}

/// Returns a copy of a few bytes, without an owner.
private func copied(_ data: Data) throws -> pkm_contents {
  guard !data.isEmpty else { return pkm_contents() }
  guard let memory = malloc(data.count) else { throw PackStoreError(.outOfMemory, "out of memory") }
  data.copyBytes(to: UnsafeMutableRawBufferPointer(start: memory, count: data.count))
  return pkm_contents(bytes: memory, count: data.count, owner: nil)
}

@c(pkm_contents_release)
public func releaseContents(_ contents: UnsafeMutablePointer<pkm_contents>) {
  if let owner = contents.pointee.owner {
    Unmanaged<Loan>.fromOpaque(owner).release()
  } else {
    free(UnsafeMutableRawPointer(mutating: contents.pointee.bytes))
  }
  contents.pointee = pkm_contents()
}

@c(pkm_manager_descriptor)
public func descriptor(
  _ out: UnsafeMutablePointer<CInt>, _ manager: OpaquePointer, _ path: UnsafePointer<CChar>,
  _ pack: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    out.pointee = try box.manager.descriptor(
      for: FilePath(platformString: path), searchingInAssetPackWithID: pack.map { text($0) }
    ).rawValue
  }
}

@c(pkm_manager_file_path)
public func filePath(
  _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ manager: OpaquePointer, _ path: UnsafePointer<CChar>,
  _ error: UnsafeMutablePointer<pkm_error>?
) -> pkm_status {
  let box = ManagerBox.of(manager)
  return status(error) {
    out.pointee = PackManaged.copied(try box.manager.url(for: FilePath(platformString: path)).path)
  }
}
