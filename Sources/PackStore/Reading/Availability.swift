import CPackStore

extension Store {
  /// The part of a version or an asset that can be read now.
  public struct Availability: Hashable, Codable, Sendable {
    /// The sum of the files' sizes.
    public let byteCount: Int

    /// Bytes that cannot be read.
    public let missingByteCount: Int

    public let assetCount: Int

    /// Files with missing bytes.
    public let missingAssetCount: Int

    /// Whether parts of the version's catalog or layout are missing. Its assets may still be readable, but the version cannot be
    /// compared or updated by deltas. A pull or an installation of the version restores the missing parts.
    public let lacksPages: Bool

    public enum State: String, CaseIterable, Codable, Sendable {
      /// Everything can be read.
      case present
      /// Some bytes, or parts of the catalog or the layout, are missing.
      case partial
      /// All bytes are missing.
      case purged
    }

    public var state: State {
      if isWhole { return .present }
      return missingByteCount < byteCount ? .partial : .purged
    }

    /// Whether nothing of the version is missing.
    public var isWhole: Bool { missingByteCount == 0 && !lacksPages }

    fileprivate init(_ availability: pks_availability) {
      byteCount = Int(clamping: availability.total_bytes)
      missingByteCount = Int(clamping: availability.missing_bytes)
      assetCount = Int(clamping: availability.asset_count)
      missingAssetCount = Int(clamping: availability.missing_asset_count)
      lacksPages = availability.lacks_pages
    }
  }
}

extension Snapshot {
  /// Returns how much of a kept version is available. Checks the existence and length of its files in the store and in the cache
  /// folder, and the cached data that this process has found to be damaged. ``checkCachedData(of:)`` reads that data.
  ///
  /// Files that another program deleted or truncated count as missing from the next call on, although this process may still be
  /// able to read them. A site's copy without frames counts as complete.
  ///
  /// - Throws: `notFound` if the snapshot does not keep the version; `corrupt`, `ioError` if a file cannot be examined,
  ///   `outOfMemory`.
  /// - Complexity: O(*n*) in the segments that the store lists, with one to three system calls for each segment of the version;
  ///   also O(*n*) in the assets of the version if anything is missing.
  public func availability(of version: PackVersion) throws -> Store.Availability {
    let (pack, place) = try place(of: version)
    var availability = pks_availability()
    try check { pks_snapshot_availability(&availability, pointer, pack, place, $0) }
    return Store.Availability(availability)
  }

  /// Returns how much of the current version of a pack is available. See ``availability(of:)-(PackVersion)``.
  ///
  /// - Throws: `notFound` if the pack is not installed; also the errors of ``availability(of:)-(PackVersion)``.
  public func availability(of pack: PackID) throws -> Store.Availability {
    guard let installed = self.pack(pack) else { throw PackStoreError.noPack(pack, among: packs.map(\.id)) }
    return try availability(of: installed.version)
  }

  /// Reads a kept version's data in the cache folder. Damaged data then counts as missing in this process, so that a pull or an
  /// installation restores it.
  ///
  /// - Throws: `notFound` if the snapshot does not keep the version; `corrupt`, `ioError`, `outOfMemory`.
  /// - Complexity: O(*n*) in the bytes of the version in the cache folder; blocks this thread.
  public func checkCachedData(of version: PackVersion) throws {
    let (pack, place) = try place(of: version)
    try check { pks_snapshot_check_cached(pointer, pack, place, $0) }
  }

  /// Returns the numbers that identify a kept version in the core.
  private func place(of version: PackVersion) throws -> (pack: UInt32, version: UInt32) {
    let kept = versions(of: version.pack)
    guard let pack = anyIndex(of: version.pack), let place = kept.firstIndex(where: { $0.number == version.number })
    else { throw PackStoreError.notKept(version.number, of: version.pack, among: kept) }
    return (pack, UInt32(clamping: place))
  }
}

extension Store {
  /// Returns a stamp of the files that exist in the store and its cache folder. While it stays the same, so does
  /// ``Snapshot/availability(of:)-(PackVersion)`` of a generation, except for truncated files. Call this before the availability.
  ///
  /// - Returns: `nil` if the stamp is unknown: a folder changed a moment ago, or cannot be examined.
  package func filesStamp() -> UInt64? {
    let stamp = pks_store_files_stamp(pointer)
    return stamp == 0 ? nil : stamp
  }
}

extension Snapshot.Asset {
  /// Returns how much of the asset is available, as ``Snapshot/availability(of:)-(PackVersion)`` does for a version.
  ///
  /// - Throws: `wrongKind` for a link or folder; `corrupt`, `ioError`, `outOfMemory`.
  /// - Complexity: O(*n*) in the frames that hold its bytes.
  public func availability() throws -> Store.Availability {
    var availability = pks_availability()
    try check { error in withCore { pks_asset_availability(&availability, $0, error) } }
    return Store.Availability(availability)
  }
}
