import CPackStore

extension Snapshot {
  /// The metadata of a file, link or folder. A copy: it outlives its snapshot.
  public struct Entry: Hashable, Codable, Sendable {
    /// The whole path, relative, `/`-separated.
    ///
    /// Paths are compared by their bytes, unlike strings, which also compare equal in different Unicode normal forms.
    public let path: String

    public let kind: Asset.Kind

    /// The bytes of a file; for a link, the length of its target; 0 for a folder.
    public let byteCount: Int

    public let isExecutable: Bool

    /// Whether the file is stored raw, in one piece.
    public let isContiguous: Bool

    /// Whether the file is guaranteed to be contiguous, and page-aligned.
    public let isMapped: Bool

    /// The pack of the asset; `nil` for a folder that paths imply, possibly of several packs.
    public let pack: PackID?

    /// The last part of the path.
    public var name: Substring {
      path[(path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex)...]
    }

    init(_ asset: pks_asset) {
      path = String(copying: asset.path, count: Int(asset.path_length))
      kind = Asset.Kind(asset.kind)
      byteCount = Int(clamping: asset.size)
      isExecutable = asset.executable
      isContiguous = asset.contiguous
      isMapped = asset.mapped
      pack = PackID(number: asset.pack, in: asset.snapshot)
    }
  }

  /// An asset that another pack hides.
  public struct Conflict: Hashable, Codable, Sendable {
    /// The asset that is invisible in the merged namespace. A look-up in its own pack finds it.
    public let hidden: Entry

    /// The pack that wins.
    public let winner: PackID

    /// The path that wins: the same path, or a file in place of a folder, or the reverse.
    public let winnerPath: String

    init(_ entry: pks_entry, in snapshot: OpaquePointer) {
      winner = PackID(trusted: pks_snapshot_pack(snapshot, entry.winner_pack).name)
      hidden = Entry(entry.asset)
      winnerPath = String(copying: entry.winner_path, count: Int(entry.winner_path_length))
    }
  }
}

extension Snapshot {
  /// The depth of a walk.
  public enum Depth: Sendable {
    /// The entries directly in the folder. Folders that paths imply appear once.
    case children
    /// Every file, link and empty folder below the folder. Folders that paths imply do not appear.
    case descendants
  }

  /// Returns the entries of a folder of the merged namespace, or of one pack, in bytewise order of paths.
  ///
  /// - Throws: `notFound` if the folder does not exist, `wrongKind` if the path is not a folder; `corrupt`, `ioError`,
  ///   `outOfMemory`.
  /// - Complexity: O(*n*) time and memory in the entries. ``forEachAsset(in:pack:depth:_:)`` needs no memory for them.
  public func entries(
    in folder: String = "", pack: PackID? = nil, depth: Depth = .children
  ) throws -> [Entry] {
    var cursor = try cursor(in: folder, pack: pack, depth: depth)
    var entries: [Entry] = []
    while let asset = try cursor.next() { entries.append(asset.entry) }
    return entries
  }

  /// Calls `body` with each asset in a folder of the merged namespace, or of one pack, in bytewise order of paths.
  ///
  /// - Throws: the errors of `body`; `notFound` if the folder does not exist, `wrongKind` if the path is not a folder; `corrupt`,
  ///   `ioError`, `outOfMemory`.
  /// - Complexity: O(*n*) time in the assets.
  public func forEachAsset(
    in folder: String = "", pack: PackID? = nil, depth: Depth = .children, _ body: (Asset) throws -> Void
  ) throws {
    var cursor = try cursor(in: folder, pack: pack, depth: depth)
    while let asset = try cursor.next() { try body(asset) }
  }

  /// Returns a cursor on a folder, for a walk that the caller controls.
  @_lifetime(borrow self)
  public func cursor(
    in folder: String = "", pack: PackID? = nil, depth: Depth = .children
  ) throws -> Cursor {
    try Cursor(self, folder, try scope(pack), depth == .children ? PKS_CHILDREN : PKS_DESCENDANTS)
  }

  /// Returns the entries below `folder` that other packs hide, in bytewise order of paths.
  ///
  /// - Complexity: O(*n*) time and memory in the conflicts.
  public func conflicts(in folder: String = "") throws -> [Conflict] {
    let walk = try AssetWalk(hold, folder, anyPack, PKS_CONFLICTS)
    var conflicts: [Conflict] = []
    while let entry = try walk.next() { conflicts.append(Conflict(entry, in: pointer)) }
    return conflicts
  }
}

extension Snapshot {
  /// A walk through a folder. Only one thread at a time may use it.
  ///
  ///     var cursor = try snapshot.cursor(in: "Videos")
  ///     while let asset = try cursor.next() { print(asset.path, asset.byteCount) }
  public struct Cursor: ~Copyable, ~Escapable {
    let walk: AssetWalk

    @_lifetime(borrow snapshot)
    init(
      _ snapshot: borrowing Snapshot, _ folder: String, _ scope: UInt32, _ walk: pks_walk
    ) throws {
      self.walk = try AssetWalk(snapshot.hold, folder, scope, walk)
    }

    /// Returns the next asset, borrowed until the next call; `nil` after the last one.
    @_lifetime(&self)
    public mutating func next() throws -> Asset? {
      guard let entry = try walk.next() else { return nil }
      return Asset(entry.asset, lentBy: self)
    }
  }
}

/// The core's cursor, closed before its snapshot.
final class AssetWalk {
  let hold: SnapshotHold
  private let pointer: OpaquePointer

  init(_ hold: SnapshotHold, _ folder: String, _ scope: UInt32, _ walk: pks_walk) throws {
    pointer = try opened { pointer, error in
      folder.withPath { pks_cursor_open(pointer, hold.pointer, $0, $1, scope, walk, error) }
    }
    self.hold = hold
  }

  deinit { pks_cursor_close(pointer) }

  /// Returns the next entry, whose paths are borrowed until the next call; `nil` after the last one.
  func next() throws -> pks_entry? {
    var entry = pks_entry()
    var more = false
    try check { pks_cursor_next(&entry, &more, pointer, $0) }
    return more ? entry : nil
  }
}
