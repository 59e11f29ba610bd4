import CPackStore

extension Store {
  /// The result of an installation.
  public struct InstallResult: Hashable, Codable, Sendable {
    /// The pack's version after the commit: a new one, or the current one if ``isUnchanged``.
    public let version: PackVersion

    /// Whether the pack's current version already had the same content: no version was created. The location of map assets may have
    /// changed: ``relaidCount``.
    public let isUnchanged: Bool

    /// Chunks of the folder.
    public let chunkCount: Int

    /// Chunks that were not stored before.
    public let newChunkCount: Int

    /// Bytes of the new chunks.
    public let newByteCount: Int

    /// Bytes that were written to segments: the new chunks, map assets, catalog and layout.
    public let newStoredByteCount: Int

    /// Non-empty map assets of the folder: see ``Store/InstallOptions/mappedPaths``.
    public let mappedCount: Int

    /// Unchanged assets that were not stored as map assets before, and are now.
    public let relaidCount: Int

    /// Unchanged assets whose data was stored again, because it was missing or its placement changed.
    public let restoredCount: Int

    /// Bytes of map assets stored by this installation, whether or not their chunks are new.
    public let mappedNewByteCount: Int

    /// Estimated bytes that the layout `compact` would store less for the new small assets; 0 if it is unknown, if it would not
    /// store less, or with another layout than `random`.
    public let compactSavedByteCount: Int

    /// Files and folders that the rules of the options skipped, each folder once: at most the first 10,000.
    public let ignored: [IgnoredPath]

    /// The number of skipped files and folders, each folder once.
    public let ignoredCount: Int

    /// Files that were skipped or may cause problems; at most the first 1,000.
    public let notices: [InstallNotice]

    init(_ result: pks_add_result, of pack: PackID, notices: [InstallNotice], ignoring: IgnoreWalk? = nil) {
      ignored = ignoring?.ignored ?? []
      ignoredCount = ignoring?.ignoredCount ?? 0
      version = PackVersion(result.version, of: pack)
      isUnchanged = result.unchanged
      chunkCount = Int(clamping: result.chunk_count)
      newChunkCount = Int(clamping: result.new_chunk_count)
      newByteCount = Int(clamping: result.new_raw_bytes)
      newStoredByteCount = Int(clamping: result.new_stored_bytes)
      mappedCount = Int(clamping: result.mapped_count)
      relaidCount = Int(clamping: result.relaid_count)
      restoredCount = Int(clamping: result.restored_count)
      mappedNewByteCount = Int(clamping: result.mapped_new_bytes)
      compactSavedByteCount = Int(clamping: result.compact_saved_bytes)
      self.notices = notices
    }
  }
}
