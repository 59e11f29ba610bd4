import CPackStore

/// Staged changes, which are committed in one atomic step or not at all.
///
/// A transaction that is dropped does not change the store. It ends with its commit: a second ``commit()`` does not compile.
/// Staging takes no lock; the commit holds the writer's lock for milliseconds.
public struct Transaction: ~Copyable {
  let hold: TransactionHold

  init(_ hold: TransactionHold) { self.hold = hold }

  var pointer: OpaquePointer { hold.pointer }

  /// Stages a folder as the next version of a pack: chunks, hashes, deduplicates, compresses and writes it.
  ///
  /// If the content equals the current version's, no new version is created. The staged version depends only on the folder and the
  /// store. After an error, the transaction is as it was before the call.
  ///
  /// - Parameters:
  ///   - folder: the folder to install.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `invalidArgument`, `notFound` or `wrongKind` for the folder; `refused` for files that cannot be stored;
  ///   `sourceChanged`; `CancellationError` if the surrounding task is cancelled; `exists`; `held`; `otherOrigin` if the pack is
  ///   not local; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public mutating func install(
    folder: FilePath, as pack: PackID, options: Store.InstallOptions = .init(),
    progress: ((Store.InstallProgress) -> Void)? = nil
  ) throws -> Store.InstallResult {
    try install(folder, nil, pack, options, progress)
  }

  /// Stages selected files of a folder as the next version of a pack, as if they were in a folder of their own.
  ///
  /// - Parameters:
  ///   - selection: the folder, the files to install, and their paths.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files. Patterns of mapped files match paths in the pack.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: the errors of ``install(folder:as:options:progress:)``; `invalidArgument` also if nothing is selected, and for paths
  ///   that are invalid, duplicates, or below a file; `wrongKind` also for sources other than files, folders and links.
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

  /// Stages new attributes for a pack: a new version with the current content.
  ///
  /// Nothing is read or stored, except files that match the patterns of the attributes and are not map assets yet;
  /// ``Store/InstallResult/mappedNewByteCount`` counts their bytes. With equal attributes, no new version is created. The pack's
  /// priority stays: see ``setPriority(_:of:)``.
  ///
  /// - Parameters:
  ///   - attributes: the new attributes.
  ///   - pack: an installed pack.
  ///   - version: its number; by default one more than the highest number the pack ever had.
  ///   - adopts: whether to take over a pack of another origin.
  ///   - progress: called on this thread.
  /// - Throws: `notFound` if the pack does not exist; `exists` for a number already used; `held`; `otherOrigin`;
  ///   `CancellationError` if the surrounding task is cancelled; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
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
  ///   - keepsHistory: whether to keep its versions, so that ``rollBack(_:toVersion:allowsPurged:)`` can restore the pack. Removing
  ///     the pack again without this deletes them.
  /// - Throws: `notFound` if neither the pack nor a history of it exists.
  public mutating func remove(_ pack: PackID, keepsHistory: Bool = false) throws {
    try naming(pack) { try check { pks_txn_remove(pointer, pack.name, keepsHistory, $0) } }
    hold.noteWhole(pack)
  }

  /// Stages a rollback: makes a kept version of a pack current again, and holds the pack there.
  ///
  /// Neither an installation nor an update changes the pack's version until ``unpin(_:)``. No version is dropped, so another
  /// rollback can go forward again. Asset data is neither read nor moved, except data in the cache folder for a pack that is
  /// durable now.
  ///
  /// - Parameters:
  ///   - pack: the pack to roll back.
  ///   - version: its number; by default the version that was current before, or the last version of a removed pack with a kept
  ///     history.
  ///   - allowsPurged: whether to allow a version with missing data, for a purgeable pack; reading the missing data is `purged`,
  ///     and a pull can restore it.
  /// - Throws: `notFound` if the pack, the version, or a previous version does not exist; `purged` if data of the version is
  ///   missing; `corrupt`, `ioError`, `noSpace`, `outOfMemory`.
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

  /// Stages a version of another store, or of this one, as the pack's current version here, with its number, date, content and
  /// origin.
  ///
  /// Chunks that this store already has are reused; the others are read from `source`, checked, and encoded with the options. Map
  /// assets stay map assets. A version that is already kept here becomes current again; unlike after
  /// ``rollBack(_:toVersion:allowsPurged:)``, the pack is not held.
  ///
  /// - Parameters:
  ///   - pack: its name in both stores.
  ///   - version: the number of a version that `source` keeps; by default its current one.
  ///   - source: a snapshot of the store to copy from.
  ///   - options: priority, origin, and how new chunks are compressed.
  ///   - progress: called on this thread, at least every 16 MiB or 1,000 files.
  /// - Throws: `invalidArgument`; `notFound` if `source` has no such pack or version; `exists` if a version with the same number
  ///   has other content here; `otherOrigin`; `downgrade`; `held`; `CancellationError` if the surrounding task is cancelled;
  ///   `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
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

  /// Stages the removal of older versions of a pack: keeps pinned versions and the `count` versions that were current last,
  /// including the current one.
  ///
  /// - Throws: `invalidArgument` for a count below 1, `notFound` if the pack does not exist.
  public mutating func trim(_ pack: PackID, keeping count: Int) throws {
    try naming(pack) { try check { pks_txn_trim(pointer, pack.name, UInt32(clamping: max(count, 0)), $0) } }
  }

  /// Stages a pin: the version is kept regardless of the number of versions to keep.
  ///
  /// - Throws: `notFound` if the pack or version does not exist.
  public mutating func pin(_ pack: PackID, version: UInt64) throws {
    try naming(pack, version) { try check { pks_txn_pin(pointer, pack.name, version, $0) } }
  }

  /// Adds the existing packs, or the kept versions of the pack, to a `notFound` error; also for a removed pack.
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

  /// Stages the removal of all pins of the pack, and of its hold.
  ///
  /// - Throws: `notFound` if the pack does not exist.
  public mutating func unpin(_ pack: PackID) throws {
    try naming(pack) { try check { pks_txn_unpin(pointer, pack.name, $0) } }
  }

  /// Stages a new priority: if several packs have the same path, the highest priority wins.
  ///
  /// - Throws: `notFound` if the pack does not exist.
  public mutating func setPriority(_ priority: Int32, of pack: PackID) throws {
    try naming(pack) { try check { pks_txn_set_priority(pointer, pack.name, priority, $0) } }
  }

  /// Protects a segment from collection by this commit, even if no version needs it.
  ///
  /// - Throws: `outOfMemory`, `ioError`, `noSpace`.
  package mutating func keep(_ segment: SegmentID) throws {
    try check { pks_txn_keep_segment(pointer, segment.id.bytes, $0) }
  }

  /// Makes the commit happen even if nothing is staged, to collect garbage.
  package mutating func collect() { pks_txn_collect(pointer) }

  /// Stages copies of the live data in segments that are mostly dead, so that these can be deleted. Call it before anything is
  /// staged.
  ///
  /// - Parameter byteLimit: the approximate maximum number of bytes to copy.
  /// - Returns: the size of the new segments; 0: no segment qualified.
  /// - Throws: `purged`, `corrupt`, `noSpace`, `ioError`, `outOfMemory`.
  package mutating func compact(copyingAtMost byteLimit: UInt64) throws -> UInt64 {
    var copied: UInt64 = 0
    try check { pks_txn_compact(pointer, byteLimit, &copied, $0) }
    return copied
  }

  /// The packs after the commit, in no particular order.
  public var packs: [Store.Pack] { (0..<pks_txn_pack_count(pointer)).map { Store.Pack(pks_txn_pack(pointer, $0)) } }

  /// The removed packs with a kept history after the commit, in no particular order.
  public var removedPacks: [Store.Pack] {
    let count = pks_txn_pack_count(pointer)
    return (0..<pks_txn_removed_count(pointer)).map { Store.Pack(pks_txn_pack(pointer, count + $0)) }
  }

  /// Returns the versions of a pack that are kept after the commit, the current one first. Empty if the pack does not exist.
  public func versions(of id: PackID) -> [PackVersion] { versions(of: id, amongFirst: pks_txn_pack_count(pointer)) }

  /// Returns the kept versions, also of a removed pack with a kept history.
  private func keptVersions(of id: PackID) -> [PackVersion] {
    versions(of: id, amongFirst: pks_txn_pack_count(pointer) + pks_txn_removed_count(pointer))
  }

  private func statement(_ options: Store.InstallOptions, of pack: PackID) throws -> VersionStatement {
    let isTakenOver = options.adopts && packs.contains { $0.id == pack && $0.origin != .local }
    // Adopting a pack deletes its history, so its labels can be used again.
    let current = try attributes(of: pack)
    return try VersionStatement(options, current: isTakenOver ? current?.labeled(nil) : current) {
      isTakenOver ? [] : try statedVersions(of: pack).filter { $0.version.number != versions(of: pack).first?.number }
    }
  }

  /// Returns the kept versions of a pack, with their attributes.
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

  /// Returns the attributes of the pack's current version in this transaction; `nil` if the pack does not exist.
  private func attributes(of id: PackID) throws -> Attributes? {
    guard let index = index(of: id, amongFirst: pks_txn_pack_count(pointer)) else { return nil }
    return try attributes(of: PackVersion(pks_txn_version(pointer, index, 0), of: id), index, 0)
  }

  /// Returns the attributes of a version that is kept in this transaction.
  ///
  /// - Throws: `notFound` if it is not kept; `corrupt`, `purged`, `ioError`, `outOfMemory`.
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

  /// Records the source and the note of a staged version in the store's ``InstallLog``. A publication does not record them.
  package func note(_ version: PackVersion, from source: Installation.Source? = nil, note: VersionNote? = nil) {
    let now = Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18))
    hold.note(Installation(version, at: now, from: source, note: note))
  }

  /// Commits everything in one atomic step; a durable commit waits until the data is on disk.
  ///
  /// - Throws: `busy`; `conflict` if another writer changed the same pack since the transaction began; `isSite`; `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`. The old generation stays, and the staged changes are dropped.
  /// - Returns: the new generation, or the current one if nothing was staged.
  @discardableResult
  public consuming func commit() throws -> Store.Generation { try hold.commit() }
}

extension Transaction {
  /// How to commit changes.
  public struct Options: Hashable, Sendable {
    public var durability: Store.Durability

    /// Whether the commit waits while another writer holds the lock, rather than fail with `busy`.
    public var waitsForWriters: Bool

    /// The number of versions to keep of each changed pack, including the current one. By default 2.
    public var keptVersionCount: Int?

    /// Whether to keep the files of the previous generation until the next commit. By default a durable commit that drops something
    /// immediately unlinks files that no version, pin or reader needs.
    public var keepsGeneration = false

    /// The maximum number of bytes that may be copied after a durable commit that dropped something, to free dead bytes inside
    /// segments: a percentage of the bytes that the commit wrote; 0: none. By default 25. ``Store/collect(options:progress:)``
    /// frees the rest.
    public var collectionPercent: Int = 25

    /// Whether the commit is part of a publication, the only kind of commit that a site's store accepts.
    package var isPublication = false

    /// The folder for data of purgeable packs, from the first such pack on, if the store has no cache folder yet; `nil`: the folder
    /// of ``Store/Options/cache``. See ``Transaction/setCacheFolder(_:byteBudget:)``.
    public var cacheFolder: Store.CacheFolder?

    /// Whether packs are placed as their attributes specify; false for a store that is part of a publication.
    package var followsPlacement = true

    /// The date of new versions, in nanoseconds since 1970; `nil`: the current time.
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

/// The core's transaction: aborted unless it was committed, and always ended before its store is closed.
final class TransactionHold {
  let store: Store
  let pointer: OpaquePointer
  /// A commit ends the transaction, whether or not it succeeds, and consumes the `Transaction`: no later call uses the pointer.
  private var isEnded = false
  /// Packs without missing data after the commit.
  private var wholePacks: Set<PackID> = []
  /// Whether packs are placed as their attributes specify.
  let followsPlacement: Bool
  /// The sources and notes of versions in this transaction.
  private var installations: [Installation] = []
  /// `nil` in the folder of a site, where none are recorded.
  private let installLog: InstallLog?
  private let waitsForWriters: Bool
  /// The cache folder to set when a pack needs one; `nil` if the store has one, or none is known.
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
    // The versions are committed. The next change deletes the leftover records.
    try? installLog?.prune(keeping: keptVersions, lock)
    // A pull skips purged packs until their data is complete again.
    for pack in wholePacks { pks_store_clear_purge_mark(store.pointer, pack.name) }
    GenerationNotifier.shared.ring()
    return Store.Generation(rawValue: generation)
  }

  func note(_ installation: Installation) { installations.append(installation) }

  private func keptVersions() throws -> [PackVersion] { try store.makeSnapshot().allVersions }

  /// - Returns: the lock to hold until the commit ends; `nil` if nothing is to be recorded.
  private func logInstallations() throws -> FileLock? {
    guard let installLog else { return nil }
    guard !installations.isEmpty else {
      // Records of a failed commit must not be attributed to the versions of this one.
      try? installLog.prune(keeping: keptVersions, nil)
      return nil
    }
    do {
      return try installLog.add(installations, keeping: keptVersions, waits: waitsForWriters)
    } catch let error as PackStoreError where installations.allSatisfy({ $0.note == nil }) && error.code != .busy {
      // The records matter less than the versions themselves.
      return nil
    }
  }

  /// Records that the pack has no missing data after the commit.
  func noteWhole(_ pack: PackID) { wholePacks.insert(pack) }

  /// Returns the placement for a version with these attributes. Sets a cache folder if the pack needs one.
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

  /// Sets the cache folder of the options if the store has none.
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
