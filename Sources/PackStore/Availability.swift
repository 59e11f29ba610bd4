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

    public enum State: String, CaseIterable, Codable, Sendable {
      /// All of it can be read.
      case present
      /// Some bytes are gone.
      case partial
      /// All bytes are gone.
      case purged
    }

    public var state: State {
      if missingByteCount == 0 { return .present }
      return missingByteCount < byteCount ? .partial : .purged
    }

    fileprivate init(_ availability: pks_availability) {
      byteCount = Int(clamping: availability.total_bytes)
      missingByteCount = Int(clamping: availability.missing_bytes)
      assetCount = Int(clamping: availability.asset_count)
      missingAssetCount = Int(clamping: availability.missing_asset_count)
    }
  }
}

extension Snapshot {
  /// Says how much of a kept version is there: by the lengths of the files in the cache folder, and by what was found to be damaged
  /// in this process. ``checkCachedData(of:)`` reads them.
  ///
  /// What vanishes afterwards is `purged` when it is read. What can never vanish is damaged when it is gone, and is not told here.
  ///
  /// - Throws: `notFound` when the snapshot does not keep the version; `corrupt`, `ioError`, `outOfMemory`.
  /// - Complexity: O(1) where nothing of the version may vanish; of a current version O(*n*) in the segments of the store as long as
  ///   nothing is gone; else O(*n*) in the assets.
  public func availability(of version: PackVersion) throws -> Store.Availability {
    let (pack, place) = try place(of: version)
    var availability = pks_availability()
    try check { pks_snapshot_availability(&availability, pointer, pack, place, $0) }
    return Store.Availability(availability)
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
  /// When a file of the store last came to the cache folder or went from there, in nanoseconds since 1970. As long as it stays the
  /// same, so does ``Snapshot/availability(of:)`` of a generation, but for files that were cut short; ask for the time first.
  ///
  /// - Returns: nil when it cannot be said: there is no such folder, or it changed a moment ago.
  package func cacheFolderTime() -> Int64? {
    let time = pks_store_cache_time(pointer)
    return time == 0 ? nil : time
  }
}

extension Snapshot.Asset {
  /// Says how much of the asset is there, as ``Snapshot/availability(of:)`` does of a version.
  ///
  /// - Throws: `wrongKind` unless it is a file; `corrupt`, `ioError`, `outOfMemory`.
  /// - Complexity: O(*n*) in the frames that hold its bytes.
  public func availability() throws -> Store.Availability {
    var availability = pks_availability()
    try check { error in withCore { pks_asset_availability(&availability, $0, error) } }
    return Store.Availability(availability)
  }
}
