import CPackStore

/// A reader's hold on one generation of a store.
///
/// What a snapshot shows never changes and never breaks, whatever is committed, removed or collected meanwhile. Assets,
/// cursors and spans borrow from it: keeping one longer than its snapshot does not compile.
///
/// A snapshot is a handle: copies share one hold, which ends with the last of them, and keeps the store open until
/// then. Any number of threads and tasks may read through one at the same time, without locks of their own. What is on
/// loan from it (``Asset``, ``Cursor``, spans) stays within one task.
public struct Snapshot: Sendable {
  let hold: SnapshotHold

  init(_ hold: SnapshotHold) { self.hold = hold }

  var pointer: OpaquePointer { hold.pointer }

  /// Which generation this is.
  public var generation: Store.Generation { Store.Generation(rawValue: pks_snapshot_generation(pointer)) }

  /// Whether the store is a site's: it takes no commits but those of publications.
  public var isSite: Bool { pks_snapshot_is_site(pointer) }
}

/// The core's snapshot, closed before its store; shared by a snapshot and its walks.
final class SnapshotHold: Sendable {
  let store: Store
  nonisolated(unsafe) let pointer: OpaquePointer

  init(of store: Store) throws {
    pointer = try opened { pks_snapshot_open($0, store.pointer, $1) }
    self.store = store
  }

  deinit { pks_snapshot_close(pointer) }
}

extension Snapshot {
  /// The packs, in the order in which they win: by the order of origins, then by priority, then first
  /// installed first.
  public var packs: [Store.Pack] {
    (0..<pks_snapshot_pack_count(pointer)).map { Store.Pack(pks_snapshot_pack(pointer, $0)) }
  }

  /// Packs that were removed but keep their history.
  public var removedPacks: [Store.Pack] { removedIndices.map { Store.Pack(pks_snapshot_pack(pointer, $0)) } }

  private var removedIndices: Range<UInt32> {
    let first = pks_snapshot_pack_count(pointer)
    return first..<first + pks_snapshot_removed_count(pointer)
  }

  /// One pack, or nil when there is none of that name.
  public func pack(_ id: PackID) -> Store.Pack? {
    let index = index(of: id)
    return index == anyPack ? nil : Store.Pack(pks_snapshot_pack(pointer, index))
  }

  /// The versions of a pack that are kept: the current one, then those that were current before it, the last first.
  /// Those of a removed pack, too. Empty when there is no such pack.
  public func versions(of id: PackID) -> [PackVersion] {
    guard let index = anyIndex(of: id) else { return [] }
    let count = pks_snapshot_pack(pointer, index).version_count
    return (0..<count).map { PackVersion(pks_snapshot_version(pointer, index, $0), of: id) }
  }

  /// The kept versions of all packs, of removed ones, too.
  var allVersions: [PackVersion] { (packs + removedPacks).flatMap { versions(of: $0.id) } }

  /// One kept version of a pack, or nil.
  public func version(_ number: UInt64, of id: PackID) -> PackVersion? {
    versions(of: id).first { $0.number == number }
  }

  /// The core's number for a pack, be it removed with its history kept.
  func anyIndex(of id: PackID) -> UInt32? {
    let live = index(of: id)
    return live != anyPack ? live : removedIndices.first { Store.Pack(pks_snapshot_pack(pointer, $0)).id == id }
  }

  private func index(of id: PackID) -> UInt32 { pks_snapshot_find_pack(pointer, id.name) }

  /// The core's number for a pack to look in: any of them for nil.
  func scope(_ id: PackID?) throws -> UInt32 {
    guard let id else { return anyPack }
    let index = index(of: id)
    guard index != anyPack else { throw PackStoreError.noPack(id, among: packs.map(\.id)) }
    return index
  }
}

/// `PKS_ANY_PACK`, which is a macro that Swift does not import as a number of the right type.
let anyPack = UInt32.max

extension Snapshot {
  /// The asset at `path`, from whichever pack wins or from one pack. Folders that other paths imply are found too.
  ///
  /// - Parameters:
  ///   - path: relative, `/`-separated, without empty, `.` or `..` parts.
  ///   - pack: the pack to look in; by default all of them.
  /// - Throws: `notFound`; `invalidArgument` when no asset can have such a path; `corrupt`.
  /// - Complexity: O(1), about two cache misses.
  @_lifetime(borrow self)
  public func asset(_ path: String, pack: PackID? = nil) throws -> Asset {
    let scope = try scope(pack)
    var asset = pks_asset()
    do {
      try check { error in path.withPath { pks_snapshot_find(&asset, pointer, $0, $1, scope, error) } }
    } catch {
      throw explain(error, path)
    }
    return Asset(asset, at: path, lentBy: self)
  }

  /// Whether there is an asset at `path`, be it a file, link or folder.
  public func contains(_ path: String, pack: PackID? = nil) throws -> Bool {
    do {
      _ = try asset(path, pack: pack)
      return true
    } catch let error as PackStoreError where error.code == .notFound {
      return false
    }
  }

  /// The bytes of a file that is stored raw, without a copy. See ``Snapshot/Asset/bytes()``.
  @_lifetime(borrow self)
  public func bytes(of path: String, pack: PackID? = nil) throws -> RawSpan {
    try asset(path, pack: pack).bytes()
  }

  /// The bytes of a file, as data that outlives the snapshot. See ``Snapshot/Asset/contents()``.
  public func contents(of path: String, pack: PackID? = nil) throws -> Data {
    try asset(path, pack: pack).contents()
  }

  /// Opens a plain file with the bytes of an asset, which the caller closes. See ``Snapshot/Asset/openDescriptor()``.
  public func openDescriptor(of path: String, pack: PackID? = nil) throws -> FileDescriptor {
    try asset(path, pack: pack).openDescriptor()
  }
}
