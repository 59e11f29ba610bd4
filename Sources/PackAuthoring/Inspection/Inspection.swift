public import PackStore

/// What the current versions of packs hold, for people who look for what to make smaller: by folder, by kind of file, and what
/// is there more than once.
///
///     let inspection = try Inspection(of: store.makeSnapshot(), pack: "Tutorial")
///     print(inspection.root.storedByteCount, inspection.duplicates.first?.paths ?? [])
///
/// `storedByteCount` is what the frames of a file's chunks take in segments, in proportion. A chunk that several files share counts
/// for each of them: so sums over files may exceed what the store takes, which ``usage`` says.
public struct Inspection: Hashable, Sendable {
  /// All files, as one folder; its name is empty.
  public internal(set) var root = Item(name: "", isFolder: true)

  /// By the extensions of names, the largest stored first.
  public internal(set) var kinds: [Kind] = []

  /// Files of which the bytes are equal, the most wasteful first: at most ``duplicateLimit`` groups. Stores keep the bytes once; a
  /// build that ships one file needs no second path.
  public internal(set) var duplicates: [Duplicate] = []

  /// False: files were not compared, so that ``duplicates`` says nothing.
  public internal(set) var findsDuplicates = true

  public static let duplicateLimit = 1_000

  /// The sizes of all second, third and further files of equal bytes.
  public internal(set) var duplicateByteCount = 0

  /// What all of it takes, each chunk counted once: of one pack, or of all.
  public internal(set) var usage: Store.Statistics.Usage

  /// What changed since an earlier version; nil where none was named.
  public internal(set) var change: Change?

  /// A file, or a folder with all that is below it. Links and empty folders take nothing and are left out.
  public struct Item: Hashable, Sendable {
    /// The last part of the path.
    public let name: String

    public let isFolder: Bool

    /// 1 for a file.
    public internal(set) var fileCount = 0

    /// The sizes of the files, in bytes.
    public internal(set) var byteCount = 0

    public internal(set) var storedByteCount = 0

    /// Of a folder, the largest stored first; of equals, by name.
    public internal(set) var items: [Item] = []

    init(name: String, isFolder: Bool) {
      self.name = name
      self.isFolder = isFolder
    }
  }

  /// Files whose names end alike.
  public struct Kind: Hashable, Sendable {
    /// In small letters, without the dot; empty for names that have none.
    public let fileExtension: String

    public internal(set) var fileCount = 0

    /// The sizes of the files, in bytes.
    public internal(set) var byteCount = 0

    public internal(set) var storedByteCount = 0
  }

  /// Files of equal bytes.
  public struct Duplicate: Hashable, Sendable {
    /// In bytewise order, two or more.
    public let paths: [String]

    /// Of each, in bytes.
    public let byteCount: Int
  }

  /// What is different from an earlier version of the pack.
  public struct Change: Hashable, Sendable {
    public let from: PackVersion
    public let to: PackVersion
    public let totals: Snapshot.DifferenceTotals

    /// The largest changes: at most ``rowLimit``, by the size that the file has now, or had.
    public let rows: [Snapshot.Difference]

    /// What a device that has `from` fetches of new chunks by ranges, about: their bytes as they are stored.
    public let rangeByteCount: Int

    /// The length of a delta between the two; nil where none was made.
    public let deltaByteCount: Int?

    public static let rowLimit = 200
  }
}

extension Inspection {
  /// The largest files by what they take, with their paths; of equals, in bytewise order of paths.
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
