import CPackStore

extension Store {
  /// The contents of a snapshot's packs, and their size on disk.
  public struct Statistics: Hashable, Codable, Sendable {
    /// All current versions together.
    public let all: Usage

    /// The current version of each pack.
    public let packs: [PackID: Usage]

    public let segmentCount: Int

    /// The sizes of all segment files in bytes, including history, catalogs and garbage.
    public let segmentByteCount: Int

    /// The sizes of all index files in bytes.
    public let indexByteCount: Int

    /// Index runs of the generation: the number of runs that a look-up may have to search.
    public let runCount: Int

    /// The space used by the folder, and by packs with all their kept versions.
    public let space: Space

    /// The contents and size on disk of one pack, or of all packs.
    public struct Usage: Hashable, Codable, Sendable {
      public let fileCount: Int
      public let linkCount: Int

      /// Recorded folders: the empty ones.
      public let folderCount: Int

      /// The sum of the files' sizes, in bytes.
      public let byteCount: Int

      /// Distinct chunks.
      public let chunkCount: Int

      /// Bytes of distinct chunks, before compression.
      public let uniqueByteCount: Int

      /// Bytes of those chunks in segments. A frame's stored size is divided among its chunks by raw length.
      public let storedByteCount: Int

      /// The part of ``uniqueByteCount`` in chunks that no other pack uses.
      public let ownUniqueByteCount: Int

      /// The part of ``storedByteCount`` in chunks that no other pack uses. Removing the pack frees
      /// ``Store/Statistics/Space/Pack/freedByteCount``.
      public let ownStoredByteCount: Int

      init(_ usage: pks_usage) {
        fileCount = Int(clamping: usage.file_count)
        linkCount = Int(clamping: usage.link_count)
        folderCount = Int(clamping: usage.folder_count)
        byteCount = Int(clamping: usage.logical_bytes)
        chunkCount = Int(clamping: usage.chunk_count)
        uniqueByteCount = Int(clamping: usage.unique_bytes)
        storedByteCount = Int(clamping: usage.stored_bytes)
        ownUniqueByteCount = Int(clamping: usage.own_unique_bytes)
        ownStoredByteCount = Int(clamping: usage.own_stored_bytes)
      }
    }
  }
}

extension Snapshot {
  /// Measures the contents of packs and their size on disk.
  ///
  /// - Complexity: O(*n*) in assets and chunks of all kept versions, and in files of the store's folder; blocks this thread.
  public func statistics() throws -> Store.Statistics {
    let ids = packs.map(\.id)
    var stat = pks_stat()
    var usages = [pks_usage](repeating: pks_usage(), count: ids.count)
    try check { error in
      usages.withUnsafeMutableBufferPointer { pks_snapshot_stat(&stat, $0.baseAddress, pointer, error) }
    }
    return try Store.Statistics(
      all: .init(stat.all),
      packs: Dictionary(uniqueKeysWithValues: zip(ids, usages.map(Store.Statistics.Usage.init))),
      segmentCount: Int(clamping: stat.segment_count),
      segmentByteCount: Int(clamping: stat.segment_bytes),
      indexByteCount: Int(clamping: stat.index_bytes),
      runCount: Int(clamping: stat.run_count),
      space: space()
    )
  }
}
