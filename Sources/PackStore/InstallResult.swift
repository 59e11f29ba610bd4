import CPackStore

/// What an installation did.
public struct InstallResult: Hashable, Sendable {
  /// The version that shows after the commit: a new one, or the current one when ``isUnchanged``.
  public let version: PackVersion

  /// The pack's current version had this very content: no version was made.
  public let isUnchanged: Bool

  /// Chunks of the folder.
  public let chunkCount: Int

  /// Chunks that were not stored before.
  public let newChunkCount: Int

  /// Bytes of the new chunks.
  public let newByteCount: Int

  /// Bytes that the new chunks take in the store, catalog and layout included.
  public let newStoredByteCount: Int

  /// What was left out or looks like trouble; at most the first 1,000.
  public let notices: [InstallNotice]

  init(_ result: pks_add_result, of pack: PackID, notices: [InstallNotice]) {
    version = PackVersion(result.version, of: pack)
    isUnchanged = result.unchanged
    chunkCount = Int(clamping: result.chunk_count)
    newChunkCount = Int(clamping: result.new_chunk_count)
    newByteCount = Int(clamping: result.new_raw_bytes)
    newStoredByteCount = Int(clamping: result.new_stored_bytes)
    self.notices = notices
  }
}
