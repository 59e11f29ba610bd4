import CPackStore

extension Store {
  /// How much of a version, or of an asset, can be read now.
  public struct Availability: Hashable, Codable, Sendable {
    /// The sum of the files' sizes.
    public let byteCount: Int

    /// Of them, what is gone.
    public let missingByteCount: Int

    public let assetCount: Int

    /// Files that lack bytes.
    public let missingAssetCount: Int

    /// Whether parts of the version's catalog or layout are lost. Its assets may be readable all the same, but the version cannot be
    /// compared or updated by deltas; a pull or an installation of it stores them again.
    public let lacksPages: Bool

    public enum State: String, CaseIterable, Codable, Sendable {
      /// All of it can be read.
      case present
      /// Some bytes, or parts of the catalog or the layout, are gone.
      case partial
      /// All bytes are gone.
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
  /// Returns how much of a kept version is available: by the existence and the lengths of its files in the store and in the cache
  /// folder, and by the cached data that was found damaged in this process. ``checkCachedData(of:)`` reads that data.
  ///
  /// Files that another program deleted or cut short count as missing from the next call on, although this process may still be able
  /// to read them. A site's copy without frames lacks nothing.
  ///
  /// - Throws: `notFound` when the snapshot does not keep the version; `corrupt`, `ioError` when a file cannot be examined,
  ///   `outOfMemory`.
  /// - Complexity: O(*n*) in the segments that the store lists, with one to three system calls for each segment of the version; also
  ///   O(*n*) in the assets of the version if anything is missing.
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

  /// Reads what of a kept version lies in the cache folder. What is damaged counts as gone from then on in this process, so that a
  /// pull or an installation brings it back.
  ///
  /// - Throws: `notFound` when the snapshot does not keep the version; `corrupt`, `ioError`, `outOfMemory`.
  /// - Complexity: O(*n*) in the bytes that lie there; blocks this thread.
  public func checkCachedData(of version: PackVersion) throws {
    let (pack, place) = try place(of: version)
    try check { pks_snapshot_check_cached(pointer, pack, place, $0) }
  }

  /// The numbers by which the core knows a kept version.
  private func place(of version: PackVersion) throws -> (pack: UInt32, version: UInt32) {
    let kept = versions(of: version.pack)
    guard let pack = anyIndex(of: version.pack), let place = kept.firstIndex(where: { $0.number == version.number })
    else { throw PackStoreError.notKept(version.number, of: version.pack, among: kept) }
    return (pack, UInt32(clamping: place))
  }
}

extension Store {
  /// Identifies the files that exist in the store and its cache folder. As long as it stays the same, so does
  /// ``Snapshot/availability(of:)-(PackVersion)`` of a generation, except for files that were cut short; get the stamp first.
  ///
  /// - Returns: `nil` if it is unknown: a folder changed a moment ago, or cannot be examined.
  package func filesStamp() -> UInt64? {
    let stamp = pks_store_files_stamp(pointer)
    return stamp == 0 ? nil : stamp
  }
}

extension Snapshot.Asset {
  /// Returns how much of the asset is available, as ``Snapshot/availability(of:)-(PackVersion)`` does for a version.
  ///
  /// - Throws: `wrongKind` unless it is a file; `corrupt`, `ioError`, `outOfMemory`.
  /// - Complexity: O(*n*) in the frames that hold its bytes.
  public func availability() throws -> Store.Availability {
    var availability = pks_availability()
    try check { error in withCore { pks_asset_availability(&availability, $0, error) } }
    return Store.Availability(availability)
  }
}
