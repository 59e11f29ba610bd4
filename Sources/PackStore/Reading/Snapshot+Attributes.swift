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
    return try Attributes(of: version) { out, capacity, length, error in
      pks_snapshot_attributes(out, capacity, &length, pointer, pack, UInt32(clamping: index), error)
    }
  }
}

extension Snapshot {
  /// Those of a pack's kept versions that have a label, the current version first.
  ///
  /// More than one has it where a publisher gave it twice: a store does not.
  ///
  /// - Throws: `corrupt`, `purged`, `ioError`, `outOfMemory`.
  public func versions(of pack: PackID, labeled label: VersionLabel) throws -> [PackVersion] {
    try versions(of: pack).filter { try attributes(of: $0).label == label }
  }
}

extension Snapshot {
  /// What a version says, by default the current one; nil when there is no such version.
  func attributes(of pack: PackID, version: UInt64?) throws -> Attributes? {
    guard let kept = versions(of: pack).first(where: { version == nil || $0.number == version }) else { return nil }
    return try attributes(of: kept)
  }
}

extension Attributes {
  /// Takes what the core has stored of a version.
  ///
  /// - Parameter read: copies the bytes, and says how many there are: at most ``byteCountLimit``.
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
