import CPackStore

extension Snapshot {
  /// What a kept version says besides its content. A version that says nothing has the defaults.
  ///
  /// - Throws: `notFound` when the snapshot does not keep the version; `corrupt`, also for bytes that are no attributes;
  ///   `purged`, `ioError`, `outOfMemory`.
  public func attributes(of version: PackVersion) throws -> Attributes {
    guard let pack = anyIndex(of: version.pack),
      let index = versions(of: version.pack).firstIndex(where: { $0.number == version.number })
    else { throw PackStoreError.notKept(version.number, of: version.pack, among: versions(of: version.pack)) }
    guard version.attributesDigest != nil else { return try Attributes() }
    let bytes = try [UInt8](unsafeUninitializedCapacity: Attributes.byteCountLimit) { buffer, count in
      var byteCount = 0
      try check {
        pks_snapshot_attributes(
          buffer.baseAddress, buffer.count, &byteCount, pointer, pack, UInt32(clamping: index), $0)
      }
      count = byteCount
    }
    do { return try Attributes(canonical: bytes) } catch var error as PackStoreError {
      error.reason = "what is stored as attributes of \(version) is none: \(error.reason)"
      throw error
    }
  }
}
