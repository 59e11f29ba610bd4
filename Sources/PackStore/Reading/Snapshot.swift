import CPackStore

/// A view of one generation of a store, which it retains.
///
/// A snapshot never changes and stays readable, even if other writers commit, remove packs or collect garbage. Assets, cursors and
/// spans borrow from it: code that keeps one longer than its snapshot does not compile.
///
/// A snapshot is a handle. Copies share one view, which ends with the last copy and keeps the store open until then. Any number of
/// threads and tasks may read through one snapshot at the same time, without locks. Values borrowed from it (``Asset``, ``Cursor``,
/// spans) stay within one task.
public struct Snapshot: Sendable {
  let hold: SnapshotHold

  init(_ hold: SnapshotHold) { self.hold = hold }

  var pointer: OpaquePointer { hold.pointer }

  /// The number of the generation.
  public var generation: Store.Generation { Store.Generation(rawValue: pks_snapshot_generation(pointer)) }

  /// Whether the store belongs to a site: only publications may commit to it.
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
  /// The packs, in descending precedence: by the order of origins, then by priority, then first installed first.
  public var packs: [Store.Pack] {
    (0..<pks_snapshot_pack_count(pointer)).map { Store.Pack(pks_snapshot_pack(pointer, $0)) }
  }

  /// Removed packs with a kept history.
  public var removedPacks: [Store.Pack] { removedIndices.map { Store.Pack(pks_snapshot_pack(pointer, $0)) } }

  private var removedIndices: Range<UInt32> {
    let first = pks_snapshot_pack_count(pointer)
    return first..<first + pks_snapshot_removed_count(pointer)
  }

  /// Returns the pack with an id; `nil` if it does not exist.
  public func pack(_ id: PackID) -> Store.Pack? {
    let index = index(of: id)
    return index == anyPack ? nil : Store.Pack(pks_snapshot_pack(pointer, index))
  }

  /// Returns the kept versions of a pack, also of a removed one: the current version first, then in reverse order of being current.
  /// Empty if the pack does not exist.
  public func versions(of id: PackID) -> [PackVersion] {
    guard let index = anyIndex(of: id) else { return [] }
    let count = pks_snapshot_pack(pointer, index).version_count
    return (0..<count).map { PackVersion(pks_snapshot_version(pointer, index, $0), of: id) }
  }

  /// The kept versions of all packs, including removed ones.
  var allVersions: [PackVersion] { (packs + removedPacks).flatMap { versions(of: $0.id) } }

  /// Returns one kept version of a pack; `nil` if it is not kept.
  public func version(_ number: UInt64, of id: PackID) -> PackVersion? {
    versions(of: id).first { $0.number == number }
  }

  /// The core's number of a pack, including removed packs with a kept history.
  func anyIndex(of id: PackID) -> UInt32? {
    let live = index(of: id)
    return live != anyPack ? live : removedIndices.first { Store.Pack(pks_snapshot_pack(pointer, $0)).id == id }
  }

  private func index(of id: PackID) -> UInt32 { pks_snapshot_find_pack(pointer, id.name) }

  /// The core's number of the pack to search; `nil` means all packs.
  func scope(_ id: PackID?) throws -> UInt32 {
    guard let id else { return anyPack }
    let index = index(of: id)
    guard index != anyPack else { throw PackStoreError.noPack(id, among: packs.map(\.id)) }
    return index
  }
}

/// `PKS_ANY_PACK`, a macro that Swift does not import with the right type.
let anyPack = UInt32.max

extension Snapshot {
  /// Finds the asset at `path` in the merged namespace, or in one pack. Folders implied by other paths are found too.
  ///
  /// - Parameters:
  ///   - path: relative, `/`-separated, without empty, `.` or `..` parts.
  ///   - pack: the pack to search; by default all packs.
  /// - Throws: `notFound`; `invalidArgument` for a path that no asset can have; `corrupt`.
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

  /// Whether a file, link or folder exists at `path`.
  public func contains(_ path: String, pack: PackID? = nil) throws -> Bool {
    do {
      _ = try asset(path, pack: pack)
      return true
    } catch let error as PackStoreError where error.code == .notFound {
      return false
    }
  }

  /// Borrows the bytes of a file that is stored raw, without a copy. See ``Snapshot/Asset/bytes()``.
  @_lifetime(borrow self)
  public func bytes(of path: String, pack: PackID? = nil) throws -> RawSpan {
    try asset(path, pack: pack).bytes()
  }

  /// Returns the bytes of a file, as data that outlives the snapshot. See ``Snapshot/Asset/contents()``.
  public func contents(of path: String, pack: PackID? = nil) throws -> Data {
    try asset(path, pack: pack).contents()
  }

  /// Opens a plain file with the bytes of an asset, which the caller closes. See ``Snapshot/Asset/openDescriptor()``.
  public func openDescriptor(of path: String, pack: PackID? = nil) throws -> FileDescriptor {
    try asset(path, pack: pack).openDescriptor()
  }
}
