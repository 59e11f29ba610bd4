import CPackStore

extension Store.Statistics {
  /// The space used by a store's folder and by its packs. `Docs/Space.md` defines each figure and their sums.
  public struct Space: Hashable, Codable, Sendable {
    /// `segments/`: chunks of assets, and pages of catalogs and layouts.
    public let segments: Files

    /// `tables/`: tables of the segments in the cache folder.
    public let tables: Files

    /// The store's own folder in the cache folder: data of purgeable packs. Not part of the store's folder.
    public let cache: Files

    /// `index/`: runs and generations.
    public let index: Files

    /// `incoming/`: downloaded data of versions that are not committed yet.
    public let incoming: Files

    /// `tmp/`: work of running writers, and leftovers of killed writers until the next commit.
    public let temporary: Files

    /// Everything else in the folder.
    public let other: Files

    /// All packs by name, including removed packs with a kept history.
    public let packs: [PackID: Pack]

    /// Bytes in segments that only one pack needs: the sum over all packs.
    public let ownByteCount: Int

    /// Bytes in segments that several packs need.
    public let sharedByteCount: Int

    /// Bytes that packs need and that are in the base, not in a file of this store.
    public let baseByteCount: Int

    /// Bytes of chunks that no kept version needs, in files that are needed.
    public let deadByteCount: Int

    /// Bytes of headers, tables and padding, in files that are needed.
    public let tableByteCount: Int

    /// The sizes of segment files that no kept version needs. The next collection deletes them, unless a reader retains them.
    public let unneededByteCount: Int

    /// The sizes of segment files that only one pack needs: the sum over all packs.
    public let freedByteCount: Int

    /// The sizes of segment files that several packs need.
    public let sharedFileByteCount: Int

    /// The whole folder, without the cache folder.
    public var total: Files { [segments, tables, index, incoming, temporary, other].reduce(Files.none, Files.adding) }

    /// Files in one part of the folder.
    public struct Files: Hashable, Codable, Sendable {
      public let count: Int

      /// The sum of their sizes, in bytes.
      public let byteCount: Int

      /// Bytes allocated by the file system for them and their folders.
      public let allocatedByteCount: Int

      fileprivate static var none: Files { Files(count: 0, byteCount: 0, allocatedByteCount: 0) }

      fileprivate static func adding(_ some: Files, _ more: Files) -> Files {
        Files(
          count: some.count.addingClamped(more.count), byteCount: some.byteCount.addingClamped(more.byteCount),
          allocatedByteCount: some.allocatedByteCount.addingClamped(more.allocatedByteCount))
      }
    }

    /// The space used by one pack with all its kept versions.
    public struct Pack: Hashable, Codable, Sendable {
      /// Bytes in segments that its current version needs; 0 for a removed pack.
      public let currentByteCount: Int

      /// Bytes in segments that its kept versions need, including the current one.
      public let neededByteCount: Int

      /// The part of ``neededByteCount`` in pages of catalogs and layouts, and attributes.
      public let pageByteCount: Int

      /// The part of ``neededByteCount`` that no other pack needs and that is not in the base.
      public let ownByteCount: Int

      /// The part of ``neededByteCount`` in the base. Bytes that several packs need there count for one of them.
      public let baseByteCount: Int

      /// The part of ``neededByteCount`` that was purged from the cache folder or is missing there.
      public let missingByteCount: Int

      /// The sizes of the files that are deleted when the pack is removed with its history, including files in the cache folder: by
      /// the first collection after which no reader retains an older generation.
      public let freedByteCount: Int

      /// Bytes allocated by the file system for those files.
      public let freedAllocatedByteCount: Int

      /// The part of ``freedByteCount`` in the cache folder, where files may be missing or purged.
      public let cacheByteCount: Int

      /// The part of ``neededByteCount`` that other packs also need.
      public var sharedByteCount: Int { max(neededByteCount - ownByteCount - baseByteCount - missingByteCount, 0) }
    }
  }

  /// Counts and bytes of all files with one file name extension, in all current versions.
  public struct Kind: Hashable, Codable, Sendable {
    /// The extension in lower case, without the dot; empty for names without one.
    public let fileExtension: String

    public let fileCount: Int

    /// The sum of the file sizes, in bytes.
    public let byteCount: Int

    /// Bytes of the kind's chunks, before compression. A chunk counts only for the first file that contains it, in order of paths.
    public let uniqueByteCount: Int

    /// Bytes that those chunks take in segments.
    public let storedByteCount: Int
  }
}

extension Store.Statistics.Space {
  fileprivate init(_ space: pks_space, packs: [PackID: Pack]) {
    self.packs = packs
    segments = Files(space.segments)
    tables = Files(space.tables)
    cache = Files(space.cache)
    index = Files(space.index)
    incoming = Files(space.incoming)
    temporary = Files(space.tmp)
    other = Files(space.other)
    ownByteCount = Int(clamping: space.own_bytes)
    sharedByteCount = Int(clamping: space.shared_bytes)
    baseByteCount = Int(clamping: space.base_bytes)
    deadByteCount = Int(clamping: space.dead_bytes)
    tableByteCount = Int(clamping: space.table_bytes)
    unneededByteCount = Int(clamping: space.unneeded_bytes)
    freedByteCount = Int(clamping: space.freed_bytes)
    sharedFileByteCount = Int(clamping: space.shared_file_bytes)
  }
}

extension Store.Statistics.Space.Files {
  fileprivate init(_ files: pks_files) {
    count = Int(clamping: files.count)
    byteCount = Int(clamping: files.bytes)
    allocatedByteCount = Int(clamping: files.allocated_bytes)
  }
}

extension Store.Statistics.Space.Pack {
  fileprivate init(_ space: pks_pack_space) {
    currentByteCount = Int(clamping: space.current_bytes)
    neededByteCount = Int(clamping: space.needed_bytes)
    pageByteCount = Int(clamping: space.page_bytes)
    ownByteCount = Int(clamping: space.own_bytes)
    baseByteCount = Int(clamping: space.base_bytes)
    freedByteCount = Int(clamping: space.freed_bytes)
    missingByteCount = Int(clamping: space.missing_bytes)
    freedAllocatedByteCount = Int(clamping: space.freed_allocated_bytes)
    cacheByteCount = Int(clamping: space.cache_bytes)
  }
}

extension Store.Statistics.Kind {
  fileprivate init(_ use: pks_extension_use) {
    fileExtension = String(
      decoding: UnsafeRawBufferPointer(start: use.extension, count: use.extension_length), as: UTF8.self)
    fileCount = Int(clamping: use.file_count)
    byteCount = Int(clamping: use.logical_bytes)
    uniqueByteCount = Int(clamping: use.unique_bytes)
    storedByteCount = Int(clamping: use.stored_bytes)
  }
}

extension Snapshot {
  /// Measures the space used by the store's folder, and by packs with all their kept versions.
  ///
  /// - Complexity: O(*n*) in assets and chunks of all kept versions, and in files of the folder; blocks this thread.
  public func space() throws -> Store.Statistics.Space {
    let ids = (packs + removedPacks).map(\.id)
    var space = pks_space()
    var rows = [pks_pack_space](repeating: pks_pack_space(), count: ids.count)
    try check { error in
      rows.withUnsafeMutableBufferPointer { pks_snapshot_space(&space, $0.baseAddress, pointer, error) }
    }
    return Store.Statistics.Space(
      space, packs: Dictionary(uniqueKeysWithValues: zip(ids, rows.map(Store.Statistics.Space.Pack.init))))
  }

  /// Measures the files of all current versions by file name extension, the largest kind first.
  ///
  /// - Complexity: O(*n*) in assets and chunks; blocks this thread.
  public func kinds() throws -> [Store.Statistics.Kind] {
    final class Kinds { var all: [Store.Statistics.Kind] = [] }
    let kinds = Kinds()
    try check { error in
      pks_snapshot_extensions(
        pointer,
        { context, use in
          guard let context else { return }
          Unmanaged<Kinds>.fromOpaque(context).takeUnretainedValue().all.append(Store.Statistics.Kind(use.pointee))
        }, Unmanaged.passUnretained(kinds).toOpaque(), error)
    }
    return kinds.all.sorted {
      $0.storedByteCount != $1.storedByteCount
        ? $0.storedByteCount > $1.storedByteCount : $0.fileExtension < $1.fileExtension
    }
  }
}
