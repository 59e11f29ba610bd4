public import PackStore

/// An analysis of the current versions of packs, to find ways to make them smaller: by folder, by kind of file, and by duplicates.
///
///     let inspection = try Inspection(of: store.makeSnapshot(), pack: "Tutorial")
///     print(inspection.root.storedByteCount, inspection.duplicates.first?.paths ?? [])
///
/// `storedByteCount` is a file's proportional share of the frames in segments. A chunk shared by several files counts for each of
/// them, so sums over files may exceed the space used by the store, which is in ``usage``.
public struct Inspection: Hashable, Sendable {
  /// All files, as a folder with an empty name.
  public internal(set) var root = Item(name: "", isFolder: true)

  /// Kinds of files by file name extension, the largest stored size first.
  public internal(set) var kinds: [Kind] = []

  /// Groups of files with equal bytes, the most wasteful first: at most ``duplicateLimit``. A store keeps the bytes once, but a
  /// build may not need several paths for one file.
  public internal(set) var duplicates: [Duplicate] = []

  /// Whether files were compared; otherwise ``duplicates`` is empty.
  public internal(set) var findsDuplicates = true

  public static let duplicateLimit = 1_000

  /// The total size of all duplicates, without the first file of each group.
  public internal(set) var duplicateByteCount = 0

  /// The contents and size of the pack, or of all packs, with each chunk counted once.
  public internal(set) var usage: Store.Statistics.Usage

  /// The changes since an earlier version; `nil` if no earlier version was specified.
  public internal(set) var change: Change?

  /// A file, or a folder with everything below it. Links and empty folders are omitted, because they take no space.
  public struct Item: Hashable, Sendable {
    /// The last part of the path.
    public let name: String

    public let isFolder: Bool

    /// 1 for a file.
    public internal(set) var fileCount = 0

    /// The sum of the file sizes, in bytes.
    public internal(set) var byteCount = 0

    public internal(set) var storedByteCount = 0

    /// The items of a folder, the largest stored size first, then by name.
    public internal(set) var items: [Item] = []

    init(name: String, isFolder: Bool) {
      self.name = name
      self.isFolder = isFolder
    }
  }

  /// Files with one file name extension.
  public struct Kind: Hashable, Sendable {
    /// The extension in lower case, without the dot; empty for names without an extension.
    public let fileExtension: String

    public internal(set) var fileCount = 0

    /// The sum of the file sizes, in bytes.
    public internal(set) var byteCount = 0

    public internal(set) var storedByteCount = 0
  }

  /// Files with equal bytes.
  public struct Duplicate: Hashable, Sendable {
    /// Two or more paths, in bytewise order.
    public let paths: [String]

    /// The size of each file, in bytes.
    public let byteCount: Int
  }

  /// The changes since an earlier version of the pack.
  public struct Change: Hashable, Sendable {
    public let from: PackVersion
    public let to: PackVersion
    public let totals: Snapshot.DifferenceTotals

    /// The largest changes: at most ``rowLimit``, by the current or the previous size of the file.
    public let rows: [Snapshot.Difference]

    /// The approximate download by ranges from version `from`, in bytes: the frames with new chunks, without metadata.
    public let rangeByteCount: Int

    /// The length of a delta between the two versions; `nil` if it was not built.
    public let deltaByteCount: Int?

    public static let rowLimit = 200
  }
}

extension Inspection {
  /// Returns the largest files by stored size, with their paths; for equal sizes, in bytewise order of paths.
  ///
  /// - Complexity: O(*n* log *n*) in files.
  public func largestFiles(_ count: Int) -> [(path: String, file: Item)] {
    var found: [(path: String, file: Item)] = [], open: [(path: String, item: Item)] = [("", root)]
    while let (path, item) = open.popLast() {
      for below in item.items {
        let belowPath = path.isEmpty ? below.name : "\(path)/\(below.name)"
        if below.isFolder { open.append((belowPath, below)) } else { found.append((belowPath, below)) }
      }
    }
    return Array(
      found.sorted { ($1.file.storedByteCount, $0.path) < ($0.file.storedByteCount, $1.path) }.prefix(max(count, 0)))
  }
}
