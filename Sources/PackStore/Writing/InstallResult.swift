import CPackStore

extension Store {
  /// What an installation did.
  public struct InstallResult: Hashable, Codable, Sendable {
    /// The version that shows after the commit: a new one, or the current one when ``isUnchanged``.
    public let version: PackVersion

    /// The pack's current version had this very content: no version was made. What changed may be where map assets lie:
    /// ``relaidCount``.
    public let isUnchanged: Bool

    /// Chunks of the folder.
    public let chunkCount: Int

    /// Chunks that were not stored before.
    public let newChunkCount: Int

    /// Bytes of the new chunks.
    public let newByteCount: Int

    /// Bytes that were written to segments: the new chunks, map assets, catalog and layout.
    public let newStoredByteCount: Int

    /// Map assets of the folder that hold bytes: see ``Store/InstallOptions/mappedPaths``.
    public let mappedCount: Int

    /// Map assets that did not change but were not stored as such before, and are now.
    public let relaidCount: Int

    /// Assets that did not change, and of which data was stored again: it was gone, or is to lie elsewhere.
    public let restoredCount: Int

    /// Bytes of the map assets that were laid out now, be their chunks new or not.
    public let mappedNewByteCount: Int

    /// What of the folder was left out by the rules of the options, each folder as one: at most the first 10,000.
    public let ignored: [IgnoredPath]

    /// How much that was, each folder as one.
    public let ignoredCount: Int

    /// What was left out or looks like trouble; at most the first 1,000.
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
      self.notices = notices
    }
  }
}
