import CPackStore

extension Snapshot {
  /// Returns the attributes of a kept version; the defaults if it has none.
  ///
  /// - Throws: `notFound` if the snapshot does not keep the version; `corrupt`, also for invalid attributes; `purged`, `ioError`,
  ///   `outOfMemory`.
  public func attributes(of version: PackVersion) throws -> Attributes {
    guard let pack = anyIndex(of: version.pack),
      let index = versions(of: version.pack).firstIndex(where: { $0.number == version.number })
    else { throw PackStoreError.notKept(version.number, of: version.pack, among: versions(of: version.pack)) }
    return try Attributes(of: version) { out, capacity, length, error in
      pks_snapshot_attributes(out, capacity, &length, pointer, pack, UInt32(clamping: index), error)
    }
  }
}

extension Snapshot {
  /// Returns the kept versions of a pack with a label, the current version first.
  ///
  /// Several versions have the same label only if their publisher assigned it twice, which a store refuses.
  ///
  /// - Throws: `corrupt`, `purged`, `ioError`, `outOfMemory`.
  public func versions(of pack: PackID, labeled label: VersionLabel) throws -> [PackVersion] {
    try versions(of: pack).filter { try attributes(of: $0).label == label }
  }
}

extension Snapshot {
  /// Returns the attributes of a version, by default of the current one; `nil` if the version does not exist.
  func attributes(of pack: PackID, version: UInt64?) throws -> Attributes? {
    guard let kept = versions(of: pack).first(where: { version == nil || $0.number == version }) else { return nil }
    return try attributes(of: kept)
  }
}

extension Attributes {
  /// Reads the attributes that the core has stored for a version.
  ///
  /// - Parameter read: copies the bytes, and returns their number, at most ``byteCountLimit``.
  init(
    of version: PackVersion,
    read: (UnsafeMutableRawPointer?, Int, inout Int, UnsafeMutablePointer<pks_error>) -> pks_status
  ) throws {
    guard version.attributesDigest != nil else {
      try self.init()
      return
    }
    let bytes = try [UInt8](unsafeUninitializedCapacity: Self.byteCountLimit) { buffer, count in
      var byteCount = 0
      try check { read(buffer.baseAddress, buffer.count, &byteCount, $0) }
      count = byteCount
    }
    do { try self.init(canonical: bytes) } catch var error as PackStoreError {
      error.reason = "what is stored as attributes of \(version) is none: \(error.reason)"
      throw error
    }
  }
}
