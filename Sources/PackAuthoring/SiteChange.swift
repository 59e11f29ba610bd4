import PackStore

/// What publishing, unpublishing and repairing have in common: how the site's store, its root and its files come to
/// agree. The publisher's lock is held.
///
/// Invariants:
/// - Whatever the root names is there. A commit of the site's store collects; so each is told which segments clients
///   may still fetch: those that the root leads to and those that are retired, whatever the store's versions need.
/// - What leaves the root is written to `retired` before the root is replaced. It goes when its grace period is over. A
///   file that is listed and that the root still names is in use: its period begins when the root is replaced.
/// - A version that is dropped is written to `retired` before the commit. So one that the root names and the store
///   lacks was dropped by a publisher that died if it is listed, and is a loss otherwise.
///
/// Order: ``settle(checksFiles:)``, commits, ``finish()``, ``collect()``.
struct SiteChange {
  let store: Store
  let key: SiteKey

  /// Of these, the grace period, the product and when the site expires.
  let options: Site.PublishOptions

  /// In which tests end a change where they want.
  let folder: SiteFolder

  /// What the root calls the site.
  let siteID: SiteID

  let channel: SiteChannel

  /// What the clock says, in nanoseconds since 1970: it decides which retired files are due.
  private let now: Int64

  /// When files leave the root: by the clock, and never before the root was made. So a clock that goes back removes none
  /// early.
  private let retiringAt: Int64

  /// The date of what is signed: by the clock, and not before the root was made. But clients refuse a root that is more than a
  /// day ahead; a clock was wrong then, and the next root has the right date.
  private let madeAt: Int64

  private let progress: (@Sendable (Site.PublishProgress) -> Void)?

  private(set) var root: SiteRoot?
  private(set) var rootByteCount: UInt64 = 0

  /// That of the root, if it was signed under the serial of the key.
  private var countedSequence: UInt64?

  /// The key signs by another word than that by which the root is signed.
  private var hasNewAuthority = false

  /// Bytes of files beside those of the store that were made.
  var newByteCount: UInt64 { newFileByteCount.addingClamped(isRootNew ? rootByteCount : 0) }

  /// The same without the root, of which only the last counts.
  private var newFileByteCount: UInt64 = 0
  private var isRootNew = false

  /// The files that the root leads to, without itself, and their lengths.
  private(set) var files: [SitePath: UInt64] = [:]

  private(set) var retired: RetiredFiles

  /// The same as the file says it.
  private var writtenRetired: RetiredFiles

  /// Versions that the root named and the store lacks, and that no publisher dropped; the root does not name them any
  /// more.
  private(set) var missing: [MissingVersion] = []

  struct MissingVersion {
    let pack: PackID
    let version: SiteRoot.Version
  }

  /// Reads what the site is. Writes nothing but folders that are missing.
  ///
  /// - Parameter rebuildsRoot: this is a repair: a root that is damaged counts as none.
  /// - Throws: `invalidArgument` when the site has lost its root, and the options do not say what it said.
  init(
    of store: Store, named siteID: SiteID, channel: SiteChannel = .live, in folder: SiteFolder, signedBy key: SiteKey,
    options: Site.PublishOptions,
    now: Int64, rebuildsRoot: Bool = false, progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) throws {
    self.store = store
    self.siteID = siteID
    self.channel = channel
    self.folder = folder
    self.key = key
    self.options = options
    self.progress = progress
    try key.requireValid(at: now)
    try folder.makeFolders()
    let signed = try folder.readRoot(signedBy: key, of: options.product, acceptsDamage: rebuildsRoot)
    root = signed?.root
    if let signed {
      let next = try key.authority(for: signed.root.product)
      hasNewAuthority = !(signed.authority?.saysTheSame(as: next) ?? false)
      countedSequence = signed.authority?.delegation.serial == next.delegation.serial ? signed.root.sequence : nil
    }
    rootByteCount = root == nil ? 0 : try folder.byteCount(of: .root) ?? 0
    self.now = max(now, 0)
    let lastMadeAt = root?.madeAt ?? 0
    retiringAt = max(self.now, lastMadeAt)
    madeAt = lastMadeAt > self.now.addingClamped(SiteRoot.clockTolerance) ? self.now : retiringAt
    files = try root?.files(in: folder, acceptsUnreadable: rebuildsRoot) ?? [:]
    retired = try folder.readRetired()
    writtenRetired = retired
    if root == nil, try rebuildsRoot || Self.hadRoot(store) { try folder.requireNewRoot(options) }
    // What the key may not sign is not worth the work.
    _ = try key.authority(for: product, channel)
  }

  /// A publisher signs a root without packs before it commits the first: a site whose store has packs, or its mark, had one.
  private static func hadRoot(_ store: Store) throws -> Bool {
    let snapshot = try store.makeSnapshot()
    return snapshot.isSite || !snapshot.packs.isEmpty
  }

  // MARK: - Root

  /// Brings the root up to date with the store as it is.
  ///
  /// - Parameter checksFiles: reads all that the root names, and makes what is damaged again.
  mutating func settle(checksFiles: Bool = false) throws {
    let snapshot = try store.makeSnapshot()
    guard root != nil || !snapshot.packs.isEmpty else { return }
    missing = findMissing(in: snapshot)
    try describe(snapshot, renews: false, checksFiles: checksFiles)
  }

  /// Describes what was committed, and removes what nothing leads to any more.
  mutating func finish() throws {
    try describe(try store.makeSnapshot(), renews: true)
    try folder.removeAll(but: Set(files.keys).union(retired.entries.keys))
  }

  private func findMissing(in snapshot: Snapshot) -> [MissingVersion] {
    var missing: [MissingVersion] = []
    for pack in root?.packs ?? [] {
      for version in pack.versions where !retired.contains(.version(version.manifest)) {
        guard snapshot.version(version.number, of: pack.id)?.catalog != version.catalog else { continue }
        missing.append(MissingVersion(pack: pack.id, version: version))
      }
    }
    return missing
  }

  /// How long roots count from now on, in nanoseconds; nil: for ever.
  private var expiresAfter: Int64? {
    switch options.expiry {
    case .asBefore: root?.expiresAfter
    case .never: nil
    case .after(let duration): max(1, duration.nanoseconds)
    }
  }

  /// Signs the root again, with a new date and number, and puts off its end.
  mutating func renew() throws {
    guard var next = root else {
      throw PackStoreError(.notFound, "the site has no root yet", file: folder.path.string)
    }
    next.sequence = nextSequence
    next.expiresAfter = expiresAfter
    next.madeAt = madeAt
    try write(next)
  }

  /// Writes a root that describes a generation of the store, unless there is one, and retires what it leads to no more.
  ///
  /// - Parameter renews: puts the root's end off, too, if it has one.
  private mutating func describe(
    _ snapshot: Snapshot, renews: Bool, checksFiles: Bool = false
  ) throws {
    let description = try SiteDescription(of: snapshot, in: folder, current: root, checksFiles: checksFiles) {
      [progress] done, total in
      progress?(.describe(byteCount: Int(clamping: done), totalByteCount: Int(clamping: total)))
    }
    newFileByteCount += description.newByteCount
    let expiresAfter = renews ? expiresAfter : root?.expiresAfter
    let isDue = renews && expiresAfter != nil && root?.madeAt != madeAt
    let isAhead = (root?.madeAt ?? 0) > madeAt
    // A new word of the root key is news to clients, though nothing else is.
    let isReplaced = renews && hasNewAuthority
    let isCurrent =
      root?.packs == description.packs && root?.expiresAfter == expiresAfter && !isDue && !isAhead
      && !isReplaced
    try retire(for: description.files)
    guard !isCurrent else { return }
    try write(makeRoot(expiresAfter: expiresAfter, packs: description.packs))
  }

  /// The next number of a root. A number dies with the key that gave it: that of a thief goes no further.
  private var nextSequence: UInt64 { SiteRoot.nextSequence(after: countedSequence, at: madeAt) }

  private var product: Store.Product { root?.product ?? options.product ?? .standard }

  private func makeRoot(expiresAfter: Int64?, packs: [SiteRoot.Pack]) -> SiteRoot {
    SiteRoot(
      sequence: nextSequence, madeAt: madeAt, expiresAfter: expiresAfter,
      site: siteID, product: product, channel: channel, packs: packs)
  }

  /// Notes that a root which leads to `next` is about to be written, and forgets what is due.
  private mutating func retire(for next: [SitePath: UInt64]) throws {
    retired.replace(files.filter { next[$0.key] == nil }, by: next, now: retiringAt)
    retired.dropDue(now: now, latest: retiringAt, grace: options.gracePeriod.nanoseconds)
    files = next
    try writeRetired()
  }

  private mutating func writeRetired() throws {
    guard retired != writtenRetired else { return }
    try folder.writeRetired(retired)
    writtenRetired = retired
  }

  /// Replaces the root. All that it names is durable.
  private mutating func write(_ next: SiteRoot) throws {
    let bytes = try next.encode(signedBy: key)
    progress?(.commit)
    try folder.writeRoot(bytes)
    root = next
    countedSequence = next.sequence
    hasNewAuthority = false
    rootByteCount = UInt64(bytes.count)
    isRootNew = true
  }

  /// Names deltas in the root that were made.
  mutating func name(_ deltas: [DeltaFile.Info]) throws {
    guard !deltas.isEmpty, var next = root else { return }
    try folder.syncNames()
    next.sequence = nextSequence
    next.madeAt = madeAt
    var named = files
    for delta in deltas {
      guard let index = next.packs.firstIndex(where: { $0.id == delta.pack }) else { continue }
      next.packs[index].deltas.append(SiteRoot.Delta(delta))
      named[.delta(delta.headerDigest)] = UInt64(delta.byteCount)
      newFileByteCount += UInt64(delta.byteCount)
    }
    try retire(for: named)
    try write(next)
  }

  // MARK: - Store

  /// A transaction of the site's store; ``commit(_:dropping:)`` commits it.
  func makeTransaction() throws -> Transaction {
    // The caller that drops versions decides what is kept.
    var transactionOptions = Transaction.Options(
      waitsForWriters: options.waitsForOthers, keptVersionCount: Int(Int32.max))
    transactionOptions.isPublication = true
    return try store.makeTransaction(options: transactionOptions)
  }

  /// Commits, and keeps the segments that clients may be fetching.
  ///
  /// - Parameter dropped: versions that the transaction drops.
  mutating func commit(
    _ transaction: consuming Transaction, dropping dropped: [PackVersion] = []
  ) throws {
    var dropping: [SitePath: UInt64] = [:]
    for version in dropped {
      guard let named = root?.version(version.number, of: version.pack) else { continue }
      dropping[.version(named.manifest)] = UInt64(named.manifestByteCount)
    }
    retired.replace(dropping, by: [:], now: retiringAt)
    try writeRetired()
    for file in Set(files.keys).union(retired.entries.keys) {
      if case .segment(let id) = file { try transaction.keep(id) }
    }
    if root == nil { try write(makeRoot(expiresAfter: expiresAfter, packs: [])) }
    progress?(.commit)
    try folder.checkpoint("commit")
    try transaction.commit()
    try folder.checkpoint("committed")
  }

  /// Commits that change nothing, so that the store takes segments away that nothing needs any more: not before no
  /// generation that it may fall back to does, and none that is read.
  mutating func collect() throws {
    for _ in 0..<2 {
      guard try hasStraySegments() else { return }
      try folder.checkpoint("collect")
      var transaction = try makeTransaction()
      transaction.collect()
      try commit(transaction)
    }
  }

  /// Whether there are segments that neither the root leads to nor clients may be fetching.
  private func hasStraySegments() throws -> Bool {
    try folder.segments().contains { files[$0] == nil && !retired.contains($0) }
  }
}

extension SiteFolder {
  /// The site's root, which this key must have signed. Nil when there is none.
  ///
  /// - Parameters:
  ///   - product: what the site must be of, if that is known.
  ///   - acceptsDamage: one that is damaged counts as none, if the key that it names is this one.
  func readRoot(
    signedBy key: SiteKey, of product: Store.Product?, acceptsDamage: Bool
  ) throws -> SignedSiteRoot? {
    guard let signed = try readRoot(acceptsDamage: acceptsDamage) else {
      guard !acceptsDamage || !namesAnotherKey(than: key) else {
        var error = PackStoreError(.untrusted, "the site's root is damaged, and names another key", file: path.string)
        error.specificRemedy = "use the key that signed the site; if that is this one, remove the root first"
        throw error
      }
      return nil
    }
    try require(key, toFollow: signed)
    guard product == nil || product == signed.root.product else {
      var error = PackStoreError(
        .invalidArgument, "the site is of the product '\(signed.root.product)'", file: path.string)
      error.specificRemedy = "publish other products to sites of their own: clients would refuse this one"
      throw error
    }
    return signed
  }

  /// Clients of the site must take what the key signs.
  private func require(_ key: SiteKey, toFollow signed: SignedSiteRoot) throws {
    guard let before = signed.authority else { throw otherKey("the site is not signed") }
    let next = try key.authority(for: signed.root.product)
    guard next.firstKey == before.firstKey, next.rootKeys.contains(before.rootKey) else {
      throw otherKey("the site is signed by another key, \(before.rootKey)")
    }
    guard next.delegation.serial >= before.delegation.serial else {
      throw otherKey("the key was replaced: a later one has signed the site")
    }
  }

  private func otherKey(_ reason: String) -> PackStoreError {
    var error = PackStoreError(.untrusted, reason, file: path.string)
    error.specificRemedy = "use the key that signed it: its clients would refuse any other"
    return error
  }

  /// The site's root, signed by any key. Nil when there is none.
  ///
  /// - Parameter acceptsDamage: one that is damaged counts as none.
  func readRoot(acceptsDamage: Bool) throws -> SignedSiteRoot? {
    do {
      return try readRoot()
    } catch var error as PackStoreError where [.corrupt, .untrusted, .wrongKind].contains(error.code) {
      if acceptsDamage { return nil }
      error.specificRemedy = "repair the site by Site.repair"
      error.topic = .damagedRoot
      throw error
    }
  }

  /// Whether a damaged root names another key than this: in so many bytes that no damage explains it.
  private func namesAnotherKey(than key: SiteKey) -> Bool {
    guard let bytes = try? read(.root, limit: SiteRoot.byteCountLimit),
      let named = SignedSiteRoot.namedKey(in: bytes)
    else { return false }
    return zip(named, key.firstKey.bytes).count { $0 != $1 } > 4
  }

  /// What only the lost root of a site said has to be said again: a guess would turn clients away, or drop a promise.
  ///
  /// - Throws: `invalidArgument`.
  func requireNewRoot(_ options: Site.PublishOptions) throws {
    guard options.product == nil || options.expiry == .asBefore else { return }
    var error = PackStoreError(
      .invalidArgument, "the site has lost its root, and with it what product it is of and when it expires",
      file: path.string)
    error.specificRemedy = "set the options product and expiry to what they were"
    error.topic = .lostRoot
    throw error
  }
}
