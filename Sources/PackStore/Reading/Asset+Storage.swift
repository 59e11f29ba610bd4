import CPackStore

extension Snapshot.Asset {
  /// How a file is stored.
  public struct Storage: Hashable, Codable, Sendable {
    /// The number of runs of neighbouring frames; sequential reading seeks between them.
    public let extentCount: Int

    /// The number of frames with bytes of the file. A frame that several extents touch counts once for each.
    public let frameCount: Int

    /// The number of these frames that are stored without compression.
    public let rawFrameCount: Int

    /// The file's share of these frames' stored size, in bytes.
    public let storedByteCount: Int

    /// Whether the file is stored raw, in one piece.
    public let isContiguous: Bool

    /// Whether the file is guaranteed to be contiguous, and page-aligned.
    public let isMapped: Bool

    init(_ storage: pks_storage) {
      extentCount = Int(clamping: storage.extent_count)
      frameCount = Int(clamping: storage.frame_count)
      rawFrameCount = Int(clamping: storage.raw_frame_count)
      storedByteCount = Int(clamping: storage.stored_bytes)
      isContiguous = storage.contiguous
      isMapped = storage.mapped
    }
  }

  /// Returns how the file is stored.
  ///
  /// - Throws: `wrongKind` for a link or folder; `corrupt`.
  /// - Complexity: O(*n*) in the frames with its bytes.
  public func storage() throws -> Storage {
    var storage = pks_storage()
    try check { error in withCore { pks_asset_storage(&storage, $0, error) } }
    return Storage(storage)
  }
}
