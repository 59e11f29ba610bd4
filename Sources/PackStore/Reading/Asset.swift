import CPackStore

extension Snapshot {
  /// A file, link or folder, on loan from a snapshot.
  ///
  /// An asset borrows from the ``Snapshot`` or ``Snapshot/Cursor`` it comes from and cannot be kept longer: for that,
  /// take its ``entry``. Any number of threads may read it.
  public struct Asset: ~Escapable {
    private let core: pks_asset

    /// The path by which it was found, whose bytes the core has not kept; nil when they are the cursor's.
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

    /// Lends the core's form.
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

/// Everything an asset refers to is immutable until its lender ends, and the compiler keeps it from living longer.
extension Snapshot.Asset: @unchecked Sendable {}

extension Snapshot.Asset {
  public enum Kind: String, CaseIterable, Codable, Sendable {
    case file
    /// A symbolic link.
    case link
    /// A folder that is stored because it is empty, or one that the paths in it imply.
    case folder
  }

  /// The whole path, relative, `/`-separated.
  public var path: String { foundPath ?? String(copying: core.path, count: Int(core.path_length)) }

  public var kind: Kind { Kind(core.kind) }

  /// The bytes of a file; of a link, the length of its target; 0 for a folder.
  public var byteCount: Int { Int(clamping: core.size) }

  public var isExecutable: Bool { core.executable }

  /// Stored raw, in one piece: ``bytes()`` lends it without a copy.
  public var isContiguous: Bool { core.contiguous }

  /// Contiguous by contract, and page-aligned: see ``Store/InstallOptions/mappedPaths``.
  public var isMapped: Bool { core.mapped }

  /// The pack it comes from; nil for a folder that paths imply, perhaps of several packs.
  public var pack: PackID? { PackID(number: core.pack, in: core.snapshot) }

  /// What is known about the asset, as a value to keep.
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
  /// The name of a snapshot's pack by its number; nil for any pack.
  init?(number: UInt32, in snapshot: OpaquePointer?) {
    guard number != anyPack, let snapshot else { return nil }
    self.init(trusted: pks_snapshot_pack(snapshot, number).name)
  }
}
