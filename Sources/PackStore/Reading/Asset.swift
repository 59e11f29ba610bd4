import CPackStore

extension Snapshot {
  /// A file, link or folder, borrowed from a snapshot.
  ///
  /// An asset borrows from its ``Snapshot`` or ``Snapshot/Cursor`` and cannot outlive it; its ``entry`` can. Any number of threads
  /// may read it.
  public struct Asset: ~Escapable {
    private let core: pks_asset

    /// The path of the look-up, whose bytes the core has not kept; `nil` if they belong to the cursor.
    private let foundPath: String?

    @_lifetime(borrow snapshot)
    init(_ core: pks_asset, at path: String, lentBy snapshot: borrowing Snapshot) {
      self.core = core
      foundPath = path
    }

    @_lifetime(borrow cursor)
    init(_ core: pks_asset, lentBy cursor: borrowing Cursor) {
      self.core = core
      foundPath = nil
    }

    /// Calls `body` with the core's struct.
    func withCore<Result>(_ body: (UnsafePointer<pks_asset>) -> Result) -> Result {
      var asset = core
      guard let foundPath else { return body(&asset) }
      return foundPath.withPath { path, _ in
        asset.path = path
        return body(&asset)
      }
    }
  }
}

/// Everything an asset refers to is immutable until its owner ends, and the compiler ensures that the asset ends first.
extension Snapshot.Asset: @unchecked Sendable {}

extension Snapshot.Asset {
  public enum Kind: String, CaseIterable, Codable, Sendable {
    case file
    /// A symbolic link.
    case link
    /// A folder that is stored because it is empty, or that other paths imply.
    case folder
  }

  /// The whole path, relative, `/`-separated.
  public var path: String { foundPath ?? String(copying: core.path, count: Int(core.path_length)) }

  public var kind: Kind { Kind(core.kind) }

  /// The bytes of a file; for a link, the length of its target; 0 for a folder.
  public var byteCount: Int { Int(clamping: core.size) }

  public var isExecutable: Bool { core.executable }

  /// Whether the file is stored raw, in one piece: ``bytes()`` borrows it without a copy.
  public var isContiguous: Bool { core.contiguous }

  /// Whether the file is guaranteed to be contiguous, and page-aligned: see ``Store/InstallOptions/mappedPaths``.
  public var isMapped: Bool { core.mapped }

  /// The pack of the asset; `nil` for a folder that paths imply, possibly of several packs.
  public var pack: PackID? { PackID(number: core.pack, in: core.snapshot) }

  /// The asset's metadata, as a value that outlives the snapshot.
  public var entry: Snapshot.Entry { withCore { Snapshot.Entry($0.pointee) } }
}

extension Snapshot.Asset.Kind {
  init(_ kind: pks_kind) {
    switch kind {
    case PKS_LINK: self = .link
    case PKS_FOLDER: self = .folder
    default: self = .file
    }
  }
}

extension PackID {
  /// Finds the name of a snapshot's pack by its number; `nil` for any pack.
  init?(number: UInt32, in snapshot: OpaquePointer?) {
    guard number != anyPack, let snapshot else { return nil }
    self.init(trusted: pks_snapshot_pack(snapshot, number).name)
  }
}
