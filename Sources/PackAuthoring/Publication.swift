import PackStore
import SystemPackage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One publication, from the publisher's lock to the root.
///
/// Invariant: whatever the root names is there. A commit of the site's store takes files away, but none that the
/// generation before it needs; so there is never a commit but when the root describes the present generation. A publisher
/// that died between its commit and its root left a root that describes an older one: the next writes a root first.
///
/// 1. The root is brought up to date with the store, if need be.
/// 2. Versions are copied to the site's store, those beyond the number to keep are dropped: one durable commit.
/// 3. Frame tables and manifests that are missing are made, then the root.
/// 4. What the root does not need goes: files of the site at once, segments with commits that change nothing else.
/// 5. Deltas that are missing are made, then a root that names them too. Clients have the version meanwhile.
struct Publication {
  let site: Site
  let source: Store
  let key: SiteKey
  let options: PublishOptions
  let progress: (@Sendable (PublishProgress) -> Void)?

  /// The site's, in which tests end a publication where they want.
  var folder: SiteFolder

  /// What the root calls the site: by default by the id of its store.
  var siteID: SiteID

  /// Nanoseconds since 1970.
  let now = nanosecondsSince1970()
  private var root: SiteRoot?
  private var rootByteCount: UInt64 = 0

  /// Bytes of files beside those of the store that were made.
  private var newByteCount: UInt64 = 0

  init(
    site: Site, source: Store, key: SiteKey, options: PublishOptions,
    progress: (@Sendable (PublishProgress) -> Void)?
  ) {
    self.site = site
    self.source = source
    self.key = key
    self.options = options
    self.progress = progress
    folder = site.folder
    siteID = site.store.id
  }

  /// Publishes what is wanted; nil: the current version of each pack of the source.
  mutating func run(_ wanted: [PublishedPack]?) throws(PackStoreError) -> PublishResult {
    guard source.id != site.store.id else {
      throw PackStoreError(.invalidArgument, "a store cannot be published to itself", file: source.path.string)
    }
    guard options.keptVersionCount >= 1 else {
      throw PackStoreError(.invalidArgument, "a site keeps one version of a pack at least")
    }
    guard options.deltaCount >= 0, (1...22).contains(options.deltaOptions.level) else {
      throw PackStoreError(.invalidArgument, "the number or the level of deltas is out of range")
    }
    let snapshot = try source.makeSnapshot()
    let wanted = wanted ?? snapshot.packs.map { PublishedPack($0.id) }
    try Self.check(wanted, in: snapshot)
    let lock = try FileLock(
      folder.lockFile, waits: options.waitsForOthers, reason: "another process is publishing to the site")
    defer { withExtendedLifetime(lock) {} }
    return try publish(wanted, from: snapshot)
  }

  private static func check(_ wanted: [PublishedPack], in snapshot: borrowing Snapshot) throws(PackStoreError) {
    for pack in wanted {
      guard let current = snapshot.pack(pack.pack) else {
        throw PackStoreError(.notFound, "no such pack", file: pack.pack.name)
      }
      let number = pack.version ?? current.version.number
      guard snapshot.version(number, of: pack.pack) != nil else {
        throw PackStoreError(.notFound, "that version of the pack is not kept", file: "\(pack.pack)@\(number)")
      }
    }
  }

  /// Signs the root again.
  mutating func refresh() throws(PackStoreError) -> PublishResult {
    let lock = try FileLock(
      folder.lockFile, waits: options.waitsForOthers, reason: "another process is publishing to the site")
    defer { withExtendedLifetime(lock) {} }
    guard let current = try readRoot() else {
      throw PackStoreError(.notFound, "the site has no root yet", file: site.path.string)
    }
    root = current
    var next = current
    next.sequence = SiteRoot.nextSequence(after: current.sequence, at: now)
    next.expiresAfter = expiresAfter
    next.madeAt = now
    try write(next)
    return PublishResult(
      sequence: next.sequence, isUnchanged: false, publicKey: key.publicKey,
      expiresAt: next.expiresAt.map { Date(timeIntervalSince1970: Double($0) / 1e9) }, packs: [], droppedVersions: [],
      deltas: [], missingDeltas: [], newByteCount: Int(clamping: newByteCount), byteCount: Int(clamping: rootByteCount))
  }

  // MARK: - Steps

  private mutating func publish(
    _ wanted: [PublishedPack], from snapshot: borrowing Snapshot
  ) throws(PackStoreError) -> PublishResult {
    try folder.makeFolders()
    root = try readRoot()
    let first = root
    let (previous, filesBefore) = try settle()
    let (results, dropped) = try change(wanted, from: snapshot, previous)
    var files = try finish()
    if !dropped.isEmpty { try collect() }
    let (deltas, missing) = try makeDeltas(of: results.map(\.version))
    for delta in deltas { files[.delta(delta.headerDigest)] = UInt64(delta.byteCount) }
    for (file, byteCount) in files where filesBefore[file] == nil {
      if case .segment = file { newByteCount += byteCount }
    }
    return PublishResult(
      sequence: root!.sequence, isUnchanged: root == first, publicKey: key.publicKey,
      expiresAt: root!.expiresAt.map { Date(timeIntervalSince1970: Double($0) / 1e9) }, packs: results,
      droppedVersions: dropped, deltas: deltas, missingDeltas: missing, newByteCount: Int(clamping: newByteCount),
      byteCount: Int(clamping: files.values.reduce(rootByteCount, +)))
  }

  /// Brings the root up to date with the store as it is.
  ///
  /// - Returns: the versions that are current, and the files that the root leads to.
  private mutating func settle() throws(PackStoreError) -> ([PackID: PackVersion], [SitePath: UInt64]) {
    let snapshot = try site.store.makeSnapshot()
    let packs = snapshot.packs
    guard root != nil || !packs.isEmpty else { return ([:], [:]) }
    let files = try bringUpToDate(with: snapshot, renews: false)
    return (Dictionary(uniqueKeysWithValues: packs.map { ($0.id, $0.version) }), files)
  }

  /// Describes what was committed, and removes what nothing leads to any more.
  private mutating func finish() throws(PackStoreError) -> [SitePath: UInt64] {
    let files = try bringUpToDate(with: try site.store.makeSnapshot(), renews: true)
    try folder.removeAll(but: files.keys)
    return files
  }

  private mutating func readRoot() throws(PackStoreError) -> SiteRoot? {
    guard let signed = try folder.readRoot() else { return nil }
    guard signed.publicKey == key.publicKey else {
      var error = PackStoreError(.untrusted, "the site is signed by another key", file: site.path.string)
      error.remedy = "publish with the key that signed it: its clients would refuse any other"
      throw error
    }
    if let product = options.product, product != signed.root.product {
      var error = PackStoreError(
        .invalidArgument, "the site is of the product '\(signed.root.product)'", file: site.path.string)
      error.remedy = "publish other products to sites of their own: clients would refuse this one"
      throw error
    }
    rootByteCount = try folder.byteCount(of: .root) ?? 0
    return signed.root
  }

  /// Copies what is wanted to the site's store, and drops what is beyond the number to keep.
  private func change(
    _ wanted: [PublishedPack], from snapshot: borrowing Snapshot, _ previous: [PackID: PackVersion]
  ) throws(PackStoreError) -> ([PublishResult.Pack], [PackVersion]) {
    // What is kept is decided here, for all packs that are meant, be their versions new or not.
    var transaction = try site.store.makeTransaction(options: .init(keptVersionCount: Int(Int32.max)))
    var results: [PublishResult.Pack] = []
    var dropped: [PackVersion] = []
    for pack in wanted {
      let result = try copy(pack, from: snapshot, to: &transaction)
      let versions = transaction.versions(of: pack.pack)
      let surplus = versions.dropFirst(options.keptVersionCount).filter { !$0.isPinned }
      if !surplus.isEmpty { try transaction.trim(pack.pack, to: options.keptVersionCount) }
      dropped += surplus
      results.append(
        PublishResult.Pack(
          version: result.version, previous: previous[pack.pack], isUnchanged: result.isUnchanged,
          newByteCount: result.newByteCount, newStoredByteCount: result.newStoredByteCount))
    }
    progress?(.commit)
    try folder.checkpoint("commit")
    try transaction.commit()
    try folder.checkpoint("committed")
    return (results, dropped)
  }

  private func copy(
    _ pack: PublishedPack, from snapshot: borrowing Snapshot, to transaction: inout Transaction
  ) throws(PackStoreError) -> InstallResult {
    var copyOptions = CopyOptions()
    copyOptions.level = options.level
    copyOptions.layout = options.layout
    copyOptions.isOwn = true
    copyOptions.priority = snapshot.pack(pack.pack)!.priority
    return try transaction.copy(pack.pack, version: pack.version, from: snapshot, options: copyOptions) { [progress] in
      progress?(.store(pack.pack, $0))
    }
  }

  /// How long roots count from now on, in nanoseconds; nil: for ever.
  private var expiresAfter: Int64? {
    switch options.expiry {
    case .asBefore: root?.expiresAfter
    case .never: nil
    case .after(let duration): max(1, nanoseconds(duration))
    }
  }

  /// Writes a root that describes the present generation of the site's store, unless there is one.
  ///
  /// - Parameter renews: puts the root's end off, too, if it has one.
  /// - Returns: the files that the root leads to, without itself, and their lengths.
  private mutating func bringUpToDate(
    with snapshot: borrowing Snapshot, renews: Bool
  ) throws(PackStoreError) -> [SitePath: UInt64] {
    let description = try SiteDescription(of: snapshot, in: folder, current: root) { [progress] done, total in
      progress?(.describe(byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    }
    newByteCount += description.newByteCount
    let expiresAfter = renews ? expiresAfter : root?.expiresAfter
    let isDue = renews && expiresAfter != nil && root?.madeAt != now
    if let root, root.packs == description.packs, root.expiresAfter == expiresAfter, !isDue {
      return description.files
    }
    try write(
      SiteRoot(
        sequence: SiteRoot.nextSequence(after: root?.sequence, at: now), madeAt: now, expiresAfter: expiresAfter,
        site: siteID, product: root?.product ?? options.product ?? .standard, packs: description.packs))
    return description.files
  }

  /// Replaces the root. All that it names is durable.
  private mutating func write(_ next: SiteRoot) throws(PackStoreError) {
    let bytes = try next.encode(signedBy: key)
    progress?(.commit)
    try folder.writeRoot(bytes)
    root = next
    rootByteCount = UInt64(bytes.count)
    newByteCount += rootByteCount
  }

  /// Commits that change nothing, so that the store takes segments away that nothing needs any more: not before no
  /// generation that it may fall back to does, and none that is read.
  private func collect() throws(PackStoreError) {
    for _ in 0..<2 {
      try folder.checkpoint("collect")
      var transaction = try site.store.makeTransaction()
      guard let pack = transaction.packs.first else { return }
      try transaction.trim(pack.id, to: pack.keptVersionCount)
      try transaction.commit()
    }
  }

  // MARK: - Deltas

  /// Makes the deltas to `current` versions that are missing, and names them in the root: also those that were done when
  /// the task was cancelled.
  private mutating func makeDeltas(
    of current: [PackVersion]
  ) throws(PackStoreError) -> ([DeltaInfo], [PublishResult.MissingDelta]) {
    let snapshot = try site.store.makeSnapshot()
    var made: [DeltaInfo] = [], missing: [PublishResult.MissingDelta] = []
    var cancellation: PackStoreError?
    for version in current where cancellation == nil {
      for from in missingDeltas(to: version) where cancellation == nil {
        do throws(PackStoreError) {
          made.append(try makeDelta(of: version.pack, from: from, to: version.number, in: snapshot))
        } catch {
          folder.discardDelta()
          if error.code == .cancelled {
            cancellation = error
          } else {
            missing.append(.init(version: version, from: from, reason: "\(error)"))
          }
        }
      }
    }
    try name(made)
    guard cancellation == nil else {
      throw PackStoreError(.cancelled, "cancelled while a delta was made; the site shows what was published without it")
    }
    return (made, missing)
  }

  /// The numbers of versions from which there are to be deltas, and are none.
  private func missingDeltas(to version: PackVersion) -> [UInt64] {
    guard let pack = root!.packs.first(where: { $0.id == version.pack }) else { return [] }
    let old = pack.versions.dropFirst().prefix(options.deltaCount).filter { old in
      old.catalog != version.catalog && !pack.deltas.contains { $0.from == old.catalog }
    }
    return old.map(\.number)
  }

  private mutating func makeDelta(
    of pack: PackID, from: UInt64, to: UInt64, in snapshot: borrowing Snapshot
  ) throws(PackStoreError) -> DeltaInfo {
    let file = try folder.openDelta()
    let delta = try snapshot.buildDelta(
      of: pack, from: from, to: to, level: options.deltaOptions.level,
      write: { offset, bytes throws(PackStoreError) in try file.write(bytes, at: offset) },
      progress: { [progress] in progress?(.delta(pack, byteCount: $0, totalByteCount: $1)) })
    try folder.finish(file, delta)
    newByteCount += UInt64(delta.byteCount)
    return delta
  }

  /// Adds deltas to the root.
  private mutating func name(_ deltas: [DeltaInfo]) throws(PackStoreError) {
    guard !deltas.isEmpty else { return }
    try folder.syncNames()
    var next = root!
    next.sequence = SiteRoot.nextSequence(after: next.sequence, at: now)
    next.madeAt = now
    for delta in deltas {
      let index = next.packs.firstIndex { $0.id == delta.pack }!
      next.packs[index].deltas.append(SiteRoot.Delta(delta))
    }
    try write(next)
  }
}

/// What the clock says: nanoseconds since 1970, wherever it stands.
func nanosecondsSince1970() -> Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }

/// Nanoseconds of a duration, as far as they can be counted.
private func nanoseconds(_ duration: Duration) -> Int64 { Int64(min(max(duration / .nanoseconds(1), 0), 9e18)) }

extension SiteRoot.Delta {
  init(_ delta: DeltaInfo) {
    self.init(
      from: delta.fromCatalog, to: delta.toCatalog, header: delta.headerDigest,
      headerByteCount: UInt32(delta.headerByteCount), byteCount: UInt64(delta.byteCount))
  }
}
