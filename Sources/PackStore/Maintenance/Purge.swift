import CPackStore

extension Store {
  /// The result of a purge.
  public struct PurgeResult: Hashable, Codable, Sendable {
    /// Bytes of the files that were unlinked.
    public let freedByteCount: Int

    /// Bytes of files that would have been unlinked, but a reader has them open: purge again later.
    public let deferredByteCount: Int

    /// Requested bytes that cannot be freed: the cache folder has no further purgeable data.
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

  /// Frees at least `byteCount` bytes in the cache folder, if possible. Unlinks whole files, the least valuable first.
  ///
  /// The order is: decoded copies of assets, then files that no version needs, then data of purgeable packs. Packs with lower
  /// priority come first, then packs used longest ago; of one pack, older versions first. Never deletes durable data, data of
  /// pinned versions, or files that a reader in any process has open. Takes no lock and commits nothing.
  ///
  /// A pull that does not name such a pack does not restore its data.
  ///
  /// - Parameter byteCount: the number of bytes to free.
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

  /// Whether ``purge(bytes:)`` deleted data of the pack, as opposed to another program.
  package func isPurged(_ pack: PackID) -> Bool { pks_store_purge_mark(pointer, pack.name) }
}
