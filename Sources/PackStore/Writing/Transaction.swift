import CPackStore

/// Changes that are staged, to be committed as one atomic switch or not at all.
///
/// A transaction that is dropped leaves no trace. It ends with its commit: a second ``commit()`` does not compile.
/// Staging takes no lock; the commit holds the writer's lock for milliseconds.
public struct Transaction: ~Copyable {
  let hold: TransactionHold

  init(_ hold: TransactionHold) { self.hold = hold }

  var pointer: OpaquePointer { hold.pointer }

  /// Stages a folder as the next version of a pack: chunks, hashes, deduplicates, compresses and writes it.
  ///
  /// A folder whose content is the current version's makes no new version. What is staged is a function of the folder
  /// and the store alone. When it fails, the transaction is as it was before the call.
  ///
  /// - Parameters:
  ///   - folder: the folder to install.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `invalidArgument`, `notFound` or `wrongKind` for the folder; `refused` with what cannot be stored;
  ///   `sourceChanged`; `CancellationError` when the surrounding task is; `exists`; `held`; `otherOrigin` when the pack
  ///   is not local; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public mutating func install(
    folder: FilePath, as pack: PackID, options: Store.InstallOptions = .init(),
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try install(folder, nil, pack, options, progress)
  }

  /// Stages what is selected of a folder as the next version of a pack. It is stored as if it lay in a folder of its own.
  ///
  /// - Parameters:
  ///   - selection: what to install of which folder, under which paths.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files. Patterns of mapped files mean paths in the pack.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: what ``install(folder:as:options:progress:)`` throws; `invalidArgument` also when nothing is selected, and for
  ///   paths that are not valid, that come twice, or that lie below a file; `wrongKind` also for what is neither a file, a
  ///   folder nor a link.
  @discardableResult
  public mutating func install(
    _ selection: Store.Selection, as pack: PackID, options: Store.InstallOptions = .init(),
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try install(selection.folder, selection.coreEntries(), pack, options, progress)
  }

  private func install(
    _ folder: FilePath, _ entries: [Store.Selection.Entry]?, _ pack: PackID, _ options: Store.InstallOptions,
    _ progress: ((Store.InstallProgress) -> Void)?
  ) throws -> Store.InstallResult {
    try Task.checkCancellation()
    let statement = try statement(options, of: pack)
    let placement = try hold.corePlacement(statement.placement, of: pack)
    let ignoring = entries == nil ? options.ignoring.map { IgnoreWalk(folder, $0) } : nil
    var observer = InstallObserver(progress: progress, ignoring: ignoring)
    var result = pks_add_result()
    do {
      try check { error in
        withRequest(folder, entries, pack, options, statement, placement, &observer) {
          pks_txn_add_folder(&result, pointer, $0, error)
        }
      }
    } catch {
      throw explain(observer.explain(error), of: pack)
    }
    if let failure = ignoring?.failure { throw failure }
    if result.declined, let label = statement.attributes?.label, let current = versions(of: pack).first {
      throw PackStoreError.labelTaken(label, by: current)
    }
    hold.noteWhole(pack)
    let installed = Store.InstallResult(result, of: pack, notices: observer.notices, ignoring: ignoring)
    if let note = options.note, !options.publishesNote { self.note(installed.version, note: note) }
    return installed
  }

  /// Stages other attributes for a pack: a new version of its present content.
  ///
  /// Nothing of the content is read or stored, but for files that the patterns of the attributes mean and that are no map
  /// assets yet: these are laid out afresh, and ``Store/InstallResult/mappedNewByteCount`` says how much that is. With
  /// the attributes that the pack has there is no new version. The pack's priority stays: ``setPriority(_:of:)``.
  ///
  /// - Parameters:
  ///   - attributes: what the version is to say besides its content.
  ///   - pack: a pack that is installed.
  ///   - version: its number; by default one more than the highest that the pack ever had.
  ///   - adopts: takes over a pack of another origin.
  ///   - progress: called on this thread.
  /// - Throws: `notFound` when there is no such pack; `exists` for a number that is taken; `held`; `otherOrigin`;
  ///   `CancellationError` when the surrounding task is; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  /// - Complexity: linear in the chunks of the version.
  @discardableResult
  public mutating func setAttributes(
    _ attributes: Attributes, of pack: PackID, version: UInt64? = nil, adopts: Bool = false,
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try Task.checkCancellation()
    if let label = attributes.label, try self.attributes(of: pack) != attributes,
      let taken = try statedVersions(of: pack).first(where: { $0.attributes.label == label })
    {
      throw PackStoreError.labelTaken(label, by: taken.version)
    }
    var observer = InstallObserver(progress: progress)
    var result = pks_add_result()
    do {
      try naming(pack) {
        try check { error in
          withRequest(attributes, pack, version, adopts, &observer) {
            pks_txn_set_attributes(&result, pointer, $0, error)
          }
        }
      }
      try followPlacement(of: pack, attributes)
    } catch {
      throw explain(error, of: pack)
    }
    return Store.InstallResult(result, of: pack, notices: [])
  }

  /// Stages the removal of a pack.
  ///
  /// - Parameters:
  ///   - pack: the pack to remove.
  ///   - keepsHistory: keeps its versions, so that ``rollBack(_:toVersion:allowsPurged:)`` can bring it back. They go when the pack is
  ///     removed once more without.
  /// - Throws: `notFound` when there is neither such a pack nor a history of one.
  public mutating func remove(_ pack: PackID, keepsHistory: Bool = false) throws {
    try naming(pack) { try check { pks_txn_remove(pointer, pack.name, keepsHistory, $0) } }
    hold.noteWhole(pack)
  }

  /// Stages that a kept version of a pack is its current one again, and holds the pack there.
  ///
  /// No asset's bytes are moved or read. Neither an installation nor an update moves the pack until ``unpin(_:)``. No
  /// version is dropped, so that going forward again is another rollback.
  ///
  /// - Parameters:
  ///   - pack: the pack to roll back.
  ///   - version: its number; by default the version that was current before, or the last one of a pack that was removed
  ///     with its history kept.
  ///   - allowsPurged: goes back also to a version of a purgeable pack of which data is gone; what is gone is `purged` when it is
  ///     read, and can be pulled again.
  /// - Throws: `notFound` when there is no such pack or version, or none before; `purged` when data of the version is gone;
  ///   `corrupt`, `ioError`, `noSpace`, `outOfMemory`.
  /// - Complexity: linear in the chunks of the version.
  @discardableResult
  public mutating func rollBack(
    _ pack: PackID, toVersion version: UInt64? = nil, allowsPurged: Bool = false
  ) throws -> PackVersion {
    var now = pks_pack_version()
    if version == 0 {
      throw PackStoreError(.notFound, "version numbers begin at 1", about: .version(pack, 0), detail: .noVersion)
    }
    try naming(pack, version) {
      try check { pks_txn_rollback(pointer, pack.name, version ?? 0, allowsPurged, &now, $0) }
    }
    let current = PackVersion(now, of: pack)
    try followPlacement(of: pack, attributes(of: current))
    return current
  }

  /// Stages a version of another store, or of this one, as the pack's current version here: with its number, its date
  /// and its content.
  ///
  /// Chunks that this store has are not touched; the others are read from `source`, checked, and encoded as the options
  /// say. Map assets stay map assets. The pack's origin comes along. A version that is kept here becomes current again;
  /// unlike after ``rollBack(_:toVersion:allowsPurged:)`` the pack is not held.
  ///
  /// - Parameters:
  ///   - pack: its name in both stores.
  ///   - version: the number of a version that `source` keeps; by default its current one.
  ///   - source: a snapshot of the store to copy from.
  ///   - options: priority, origin, and how new chunks are compressed.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `invalidArgument`; `notFound` when `source` has no such pack or version; `exists` when a version of the
  ///   same number has other content here; `otherOrigin`; `downgrade`; `held`; `CancellationError` when the surrounding
  ///   task is; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  /// - Complexity: linear in the chunks of the version.
  @discardableResult
  public mutating func copy(
    _ pack: PackID, version: UInt64? = nil, from source: Snapshot, options: Store.CopyOptions = .init(),
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try Task.checkCancellation()
    if version == 0 {
      throw PackStoreError(.notFound, "version numbers begin at 1", about: .version(pack, 0), detail: .noVersion)
    }
    var observer = InstallObserver(progress: progress)
    var result = pks_add_result()
    let origin = source.pointer
    let placement = try hold.corePlacement(source.attributes(of: pack, version: version)?.placement, of: pack)
    do {
      try check { error in
        withRequest(pack, version, origin, options, placement, &observer) {
          pks_txn_copy_version(&result, pointer, $0, error)
        }
      }
    } catch {
      throw explain(error, of: pack)
    }
    hold.noteWhole(pack)
    return Store.InstallResult(result, of: pack, notices: [])
  }

  /// Stages that of a pack's versions only the `count` that were current last are kept, the present one included, and
  /// those that are pinned.
  ///
  /// - Throws: `invalidArgument` for less than one, `notFound` when there is no such pack.
  public mutating func trim(_ pack: PackID, keeping count: Int) throws {
    try naming(pack) { try check { pks_txn_trim(pointer, pack.name, UInt32(clamping: max(count, 0)), $0) } }
  }

  /// Stages that a version is kept, whatever the number of versions to keep.
  ///
  /// - Throws: `notFound` when there is no such pack or version.
  public mutating func pin(_ pack: PackID, version: UInt64) throws {
    try naming(pack, version) { try check { pks_txn_pin(pointer, pack.name, version, $0) } }
  }

  /// Says which packs there are where one is not, and which versions are kept, be it of a pack that was removed.
  func naming(_ pack: PackID, _ version: UInt64? = nil, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as PackStoreError where error.code == .notFound {
      let kept = keptVersions(of: pack)
      guard !kept.isEmpty else { throw PackStoreError.noPack(pack, among: (packs + removedPacks).map(\.id)) }
      if let version, !kept.contains(where: { $0.number == version }) {
        throw PackStoreError.notKept(version, of: pack, among: kept)
      }
      throw removedPacks.contains { $0.id == pack }
        ? PackStoreError.removed(pack, keeping: kept) : PackStoreError.noneBefore(kept[0], among: kept)
    }
  }

  /// Stages that no version of the pack is pinned any more, and that the pack is not held at its version.
  ///
  /// - Throws: `notFound` when there is no such pack.
  public mutating func unpin(_ pack: PackID) throws {
    try naming(pack) { try check { pks_txn_unpin(pointer, pack.name, $0) } }
  }

  /// Stages who wins when several packs have the same path: the higher priority.
  ///
  /// - Throws: `notFound` when there is no such pack.
  public mutating func setPriority(_ priority: Int32, of pack: PackID) throws {
    try naming(pack) { try check { pks_txn_set_priority(pointer, pack.name, priority, $0) } }
  }

  /// Keeps a segment from being collected by this commit, though no version may need it.
  ///
  /// - Throws: `outOfMemory`, `ioError`, `noSpace`.
  package mutating func keep(_ segment: SegmentID) throws {
    try check { pks_txn_keep_segment(pointer, segment.id.bytes, $0) }
  }

  /// Makes the commit happen even when nothing is staged, so that it collects what nothing needs any more.
  package mutating func collect() { pks_txn_collect(pointer) }

  /// Stages what is needed of segments that are mostly dead once more, so that these can go. Before anything else is staged.
  ///
  /// - Parameter byteLimit: about how much may be copied.
  /// - Returns: bytes of new segments; 0: nothing was worth it.
  /// - Throws: `purged`, `corrupt`, `noSpace`, `ioError`, `outOfMemory`.
  package mutating func compact(copyingAtMost byteLimit: UInt64) throws -> UInt64 {
    var copied: UInt64 = 0
    try check { pks_txn_compact(pointer, byteLimit, &copied, $0) }
    return copied
  }

  /// The packs as they will be after the commit, in no particular order.
  public var packs: [Store.Pack] { (0..<pks_txn_pack_count(pointer)).map { Store.Pack(pks_txn_pack(pointer, $0)) } }

  /// The packs that will have been removed but keep their history, in no particular order.
  public var removedPacks: [Store.Pack] {
    let count = pks_txn_pack_count(pointer)
    return (0..<pks_txn_removed_count(pointer)).map { Store.Pack(pks_txn_pack(pointer, count + $0)) }
  }

  /// The versions of a pack as they will be kept after the commit, the current one first. Empty when there is no such
  /// pack.
  public func versions(of id: PackID) -> [PackVersion] { versions(of: id, amongFirst: pks_txn_pack_count(pointer)) }

  /// The same, also of a pack that was removed and keeps its history.
  private func keptVersions(of id: PackID) -> [PackVersion] {
    versions(of: id, amongFirst: pks_txn_pack_count(pointer) + pks_txn_removed_count(pointer))
  }

  private func statement(_ options: Store.InstallOptions, of pack: PackID) throws -> VersionStatement {
    let isTakenOver = options.adopts && packs.contains { $0.id == pack && $0.origin != .local }
    // Of a pack that is taken over, the history goes: no label of it is taken.
    let current = try attributes(of: pack)
    return try VersionStatement(options, current: isTakenOver ? current?.labeled(nil) : current) {
      isTakenOver ? [] : try statedVersions(of: pack).filter { $0.version.number != versions(of: pack).first?.number }
    }
  }

  /// The kept versions of a pack, with what they say.
  private func statedVersions(of id: PackID) throws -> [(version: PackVersion, attributes: Attributes)] {
    guard let index = index(of: id, amongFirst: pks_txn_pack_count(pointer) + pks_txn_removed_count(pointer)) else {
      return []
    }
    return try keptVersions(of: id).enumerated().map { place, version in
      (version, try attributes(of: version, index, UInt32(clamping: place)))
    }
  }

  private func attributes(of version: PackVersion, _ pack: UInt32, _ place: UInt32) throws -> Attributes {
    try Attributes(of: version) { out, capacity, length, error in
      pks_txn_attributes(out, capacity, &length, pointer, pack, place, error)
    }
  }

  /// What the version of a pack says that is current so far; nil when there is no such pack.
  private func attributes(of id: PackID) throws -> Attributes? {
    guard let index = index(of: id, amongFirst: pks_txn_pack_count(pointer)) else { return nil }
    return try attributes(of: PackVersion(pks_txn_version(pointer, index, 0), of: id), index, 0)
  }

  /// What a version says that is kept so far.
  ///
  /// - Throws: `notFound` when it is not kept; `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func attributes(of version: PackVersion) throws -> Attributes {
    let kept = versions(of: version.pack)
    guard let pack = index(of: version.pack, amongFirst: pks_txn_pack_count(pointer)),
      let place = kept.firstIndex(where: { $0.number == version.number })
    else { throw PackStoreError.notKept(version.number, of: version.pack, among: kept) }
    return try attributes(of: version, pack, UInt32(clamping: place))
  }

  private func index(of id: PackID, amongFirst packCount: UInt32) -> UInt32? {
    (0..<packCount).first { Store.Pack(pks_txn_pack(pointer, $0)).id == id }
  }

  private func versions(of id: PackID, amongFirst packCount: UInt32) -> [PackVersion] {
    guard let index = index(of: id, amongFirst: packCount) else { return [] }
    let count = pks_txn_pack(pointer, index).version_count
    return (0..<count).map { PackVersion(pks_txn_version(pointer, index, $0), of: id) }
  }

  /// Lets the store know more of a staged version than the version says; see ``InstallLog``. A publication keeps nothing of it.
  package func note(_ version: PackVersion, from source: Installation.Source? = nil, note: VersionNote? = nil) {
    let now = Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18))
    hold.note(Installation(version, at: now, from: source, note: note))
  }

  /// Commits everything as one atomic switch; a durable one waits until it is on disk.
  ///
  /// - Throws: `busy`; `conflict` when another writer changed the same pack meanwhile; `isSite`; `noSpace`, `ioError`,
  ///   `outOfMemory`, `corrupt`. The old generation stays, and what was staged is gone.
  /// - Returns: the new generation, or the one the transaction began with when nothing was staged.
  @discardableResult
  public consuming func commit() throws -> Store.Generation { try hold.commit() }
}

extension Transaction {
  /// How changes are committed.
  public struct Options: Hashable, Sendable {
    public var durability: Store.Durability

    /// Waits at the commit while another writer holds the lock; otherwise the commit fails with `busy`.
    public var waitsForWriters: Bool

    /// How many versions are kept of each pack that is touched, the current one included. By default 2.
    public var keptVersionCount: Int?

    /// Keeps the files of the generation before until the next commit. By default a durable commit that drops something
    /// unlinks at once what no version, pin or reader needs any more.
    public var keepsGeneration = false

    /// After a durable commit that dropped something: how much may be copied to free dead bytes inside segments, in percent of
    /// what the commit wrote; 0: nothing. By default 25. ``Store/collect(options:progress:)`` does the rest.
    public var collectionPercent: Int = 25

    /// Part of a publication: the one kind of commit that the store of a site takes.
    package var isPublication = false

    /// Where the data of purgeable packs goes from the first one on, if the store has no cache folder yet; nil: to the folder of
    /// ``Store/Options/cache``. See ``Transaction/setCacheFolder(_:byteBudget:)``.
    public var cacheFolder: Store.CacheFolder?

    /// Whether packs are placed as their versions say: not in a store that is part of a publication.
    package var followsPlacement = true

    /// The date of versions that are made, in nanoseconds since 1970; nil: the clock's.
    package var date: Int64?

    public init(durability: Store.Durability = .durable, waitsForWriters: Bool = true, keptVersionCount: Int? = nil) {
      self.durability = durability
      self.waitsForWriters = waitsForWriters
      self.keptVersionCount = keptVersionCount
    }

    fileprivate var core: pks_txn_options {
      var options = pks_txn_options()
      options.durability = durability.core
      options.no_wait = !waitsForWriters
      options.keep_versions = keptVersionCount.map { UInt32(clamping: max($0, 1)) } ?? 0
      options.publication = isPublication
      options.keep_generation = keepsGeneration
      options.gc_percent = UInt32(clamping: collectionPercent)
      options.no_gc = collectionPercent <= 0
      options.set_date = date != nil
      options.date_ns = date ?? 0
      return options
    }
  }
}

/// The core's transaction: aborted unless it was committed, and always before its store is closed.
final class TransactionHold {
  let store: Store
  let pointer: OpaquePointer
  /// A commit ends the transaction, whatever it returns, and consumes the `Transaction`: no call gets the pointer later.
  private var isEnded = false
  /// Packs of which nothing is missing after the commit.
  private var wholePacks: Set<PackID> = []
  /// Packs are placed as their versions say.
  let followsPlacement: Bool
  /// What the store is to know of the versions that this brings, besides.
  private var installations: [Installation] = []
  /// Nil: nothing is known of versions in the folder of a site.
  private let installLog: InstallLog?
  private let waitsForWriters: Bool
  /// To be chosen when a pack needs one; nil: there is one, or none is known.
  private var cacheFolder: Store.CacheFolder?

  init(of store: Store, options: Transaction.Options) throws {
    followsPlacement = options.followsPlacement && !options.isPublication
    cacheFolder = options.cacheFolder
    installLog = options.isPublication ? nil : InstallLog(inStore: store.path)
    waitsForWriters = options.waitsForWriters
    var options = options.core
    do {
      pointer = try opened { pks_txn_begin($0, store.pointer, &options, $1) }
    } catch var error as PackStoreError where error.code == .readOnly {
      error.subject = .store(store.path.string)
      throw error
    }
    self.store = store
  }

  deinit { if !isEnded { pks_txn_abort(pointer) } }

  func commit() throws -> Store.Generation {
    let lock = try logInstallations()
    isEnded = true
    var generation: UInt64 = 0
    try naming(store.path) { try check { pks_txn_commit(pointer, &generation, $0) } }
    // The versions are there. What is left over goes with the next change.
    try? installLog?.prune(keeping: keptVersions, lock)
    // A pull may leave alone what was purged here, until it is whole again.
    for pack in wholePacks { pks_store_clear_purge_mark(store.pointer, pack.name) }
    GenerationBell.shared.ring()
    return Store.Generation(rawValue: generation)
  }

  func note(_ installation: Installation) { installations.append(installation) }

  private func keptVersions() throws -> [PackVersion] { try store.makeSnapshot().allVersions }

  /// - Returns: the lock to hold until the commit is done; nil: nothing is to be known of what it brings.
  private func logInstallations() throws -> FileLock? {
    guard let installLog else { return nil }
    guard !installations.isEmpty else {
      // What a commit that failed has left is not to become that of what this one brings.
      try? installLog.prune(keeping: keptVersions, nil)
      return nil
    }
    do {
      return try installLog.add(installations, keeping: keptVersions, waits: waitsForWriters)
    } catch let error as PackStoreError where installations.allSatisfy({ $0.note == nil }) && error.code != .busy {
      // It is less than the versions themselves.
      return nil
    }
  }

  /// Notes that nothing of the pack is missing once this is committed.
  func noteWhole(_ pack: PackID) { wholePacks.insert(pack) }

  /// What a request of the core says of the placement of a version that says this much. Sees that there is a cache folder if
  /// the pack will need one.
  func corePlacement(_ placement: Placement?, of pack: PackID) throws -> pks_placement {
    guard followsPlacement, let placement else { return PKS_PLACE_KEEP }
    let count = pks_txn_pack_count(pointer) + pks_txn_removed_count(pointer)
    let isPlacedByHand = (0..<count).contains { index in
      let known = Store.Pack(pks_txn_pack(pointer, index))
      return known.id == pack && known.isPlacedByHand
    }
    if placement == .purgeable, !isPlacedByHand { try chooseCacheFolder() }
    return placement.core
  }

  /// Chooses the folder of the options where the store has none.
  func chooseCacheFolder() throws {
    guard let folder = cacheFolder else { return }
    cacheFolder = nil
    guard try store.makeSnapshot().cacheFolder == nil else { return }
    try setCacheFolder(folder)
  }

  func setCacheFolder(_ folder: Store.CacheFolder) throws {
    let budget = folder.byteBudget.map { UInt64(clamping: max($0, 1)) } ?? 0
    try check { error in folder.path.withPlatformString { pks_txn_set_cache_folder(pointer, $0, budget, error) } }
    cacheFolder = nil
    folder.markForSystem()
  }
}
