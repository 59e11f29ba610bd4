import CPackStore

extension Snapshot.Asset {
  /// How a file is stored.
  public struct Storage: Hashable, Codable, Sendable {
    /// Stretches of neighbouring frames: reading from front to back jumps in between.
    public let extentCount: Int

    /// Frames that hold bytes of the file; one that several extents touch counts for each.
    public let frameCount: Int

    /// The frames that are stored without compression.
    public let rawFrameCount: Int

    /// The file's share of what those frames take.
    public let storedByteCount: Int

    /// Raw, in one piece.
    public let isContiguous: Bool

    /// Contiguous by contract, and page-aligned.
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

  /// How the file is stored.
  ///
  /// - Throws: `wrongKind` unless it is a file; `corrupt`.
  /// - Complexity: O(*n*) in the frames that hold its bytes.
  public func storage() throws -> Storage {
    var storage = pks_storage()
    try check { error in withCore { pks_asset_storage(&storage, $0, error) } }
    return Storage(storage)
  }
}
