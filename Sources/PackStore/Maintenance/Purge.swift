import CPackStore

extension Store {
  /// What a purge freed.
  public struct PurgeResult: Hashable, Codable, Sendable {
    /// Bytes of the files that were unlinked.
    public let freedByteCount: Int

    /// Bytes of files that could have gone, but that a reader has open: ask again later.
    public let deferredByteCount: Int

    /// Of what was asked for, what neither is free now nor will be: the cache folder has no more that may go.
    public let impossibleByteCount: Int

    /// Files that were unlinked.
    public let fileCount: Int

    fileprivate init(_ result: pks_purge_result, of byteCount: UInt64) {
      freedByteCount = Int(clamping: result.freed_bytes)
      deferredByteCount = Int(clamping: result.deferred_bytes)
      let possible = Int(clamping: result.freed_bytes).addingClamped(Int(clamping: result.deferred_bytes))
      impossibleByteCount = result.is_enough ? 0 : max(Int(clamping: byteCount) - possible, 0)
      fileCount = Int(clamping: result.file_count)
    }
  }

  /// Frees at least so many bytes in the cache folder, if that much may go: unlinks whole files, the least valuable first.
  ///
  /// These are decoded copies of assets, then files that no version needs, then data of purgeable packs: by their priority, the
  /// lowest first, and by their last use, the longest ago first; of a pack, older versions first. Nothing durable goes, nothing of
  /// versions that are pinned, and nothing that a reader has open, in any process. It takes no lock and commits nothing.
  ///
  /// Packs that lose data this way are left alone by a pull that does not name them.
  ///
  /// - Parameter byteCount: how many bytes to free.
  /// - Throws: `isSite`, `readOnly`, `ioError`, `outOfMemory`, `corrupt`.
  /// - Complexity: linear in the files of the cache folder, and in the segments of all kept versions.
  @discardableResult
  public func purge(bytes byteCount: Int) async throws -> PurgeResult {
    try await BlockingExecutor.run {
      let byteCount = UInt64(clamping: max(byteCount, 0))
      var result = pks_purge_result()
      try check { pks_store_purge(&result, self.pointer, byteCount, $0) }
      return PurgeResult(result, of: byteCount)
    }
  }

  /// Whether ``purge(bytes:)`` took data of the pack, rather than another hand.
  package func isPurged(_ pack: PackID) -> Bool { pks_store_purge_mark(pointer, pack.name) }
}
