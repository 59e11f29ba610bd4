public import PackFormats
public import PackStore

extension Site {
  /// The result of a repair of a site, or of a dry run.
  public struct RepairResult: Hashable, Codable, Sendable {
    /// The result for the site's store.
    public let store: Store.RepairResult

    /// Missing or damaged roots, and missing or damaged files of roots: manifests, change lists, frame tables, deltas and attribute
    /// sheets. Paths in the site, in order.
    public let damagedFiles: [String]

    /// Channels with damaged roots, which are now closed. Their clients keep their packs until a version is promoted on the channel
    /// again. Empty after a dry run.
    public let closedChannels: [SiteChannel]

    /// The current numbers of the site's roots; empty after a dry run.
    public let sequences: [SiteChannel: UInt64]

    /// Whether nothing was damaged, so that nothing was written.
    public var wasWhole: Bool { store.wasWhole && damagedFiles.isEmpty }
  }
}

/// One repair of a site: its store, its other files, and a root that describes the result.
///
/// A repair of the store deletes no file, and other files are replaced atomically. The files of the current root are therefore
/// never worse than before, until a root with only intact files replaces it.
struct SiteRepair {
  let path: FilePath
  let donors: [FilePath]
  let options: Site.PublishOptions

  /// The site's folder; tests replace it to stop at a chosen point.
  var folder: SiteFolder

  /// The current time, in nanoseconds since 1970.
  var now = nanosecondsSince1970()
  let progress: (@Sendable (Store.RepairProgress) -> Void)?

  init(
    of path: FilePath, from donors: [FilePath], options: Site.PublishOptions,
    progress: (@Sendable (Store.RepairProgress) -> Void)?
  ) {
    self.path = path
    self.donors = donors
    self.options = options
    self.progress = progress
    folder = SiteFolder(path: path)
  }

  /// Computes the result without changes. Needs no key.
  func plan() throws -> Site.RepairResult {
    try checkSite()
    let store = try repairStore(isDryRun: true)
    return Site.RepairResult(store: store, damagedFiles: try findDamage(nil), closedChannels: [], sequences: [:])
  }

  func run(signedBy key: SiteKey) throws -> Site.RepairResult {
    try checkSite()
    let lock = try folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    // Checks the key first: with a wrong key, nothing is changed.
    let channels = try folder.channels()
    let isLost =
      try folder.hasLostLive(among: channels, key)
      || channels.contains(where: { channel in
        let isOwn = try folder.maySign(channel, key, isMeant: false)
        let root = try folder.readRoot(
          of: channel, signedBy: isOwn ? key : nil, of: options.product, acceptsDamage: isOwn)
        return root == nil && channel == .live
      })
    if isLost { try folder.requireNewRoot(options) }
    let damagedFiles = try findDamage(key)
    try folder.checkpoint("repair the store")
    let result = try repairStore(isDryRun: false)
    try folder.checkpoint("repaired")
    let store = try Store(at: path, options: .existing)
    var change = try SiteChange(
      of: store, named: store.id, channel: nil, in: folder, signedBy: key, options: options, now: now,
      rebuildsRoot: true, progress: nil)
    let closed = change.closedByRepair
    try change.settle(checksFiles: true)
    // A rebuilt store may lack the mark of a site, which this commit writes. If the store has the mark, the commit does nothing.
    try change.commit(try change.makeTransaction())
    try change.finish()
    return Site.RepairResult(
      store: result, damagedFiles: damagedFiles, closedChannels: closed,
      sequences: change.roots.mapValues(\.sequence))
  }

  private func checkSite() throws {
    try folder.requireNoMirror()
    guard try folder.isSite else {
      throw PackStoreError(.notAStore, "not a site", about: .site(path.string))
    }
    guard try !folder.isWithoutFrames else {
      var error = PackStoreError(
        .invalidArgument, "a copy of a site without frames, which cannot be checked", about: .site(path.string))
      error.specificRemedy = "repair the site that it was copied from"
      throw error
    }
  }

  private func repairStore(isDryRun: Bool) throws -> Store.RepairResult {
    try Store.repairNow(
      path, donors, isDryRun: isDryRun, waitsForWriters: options.waitsForOthers, isPublication: true, progress)
  }

  /// Reads all files of the roots other than the store's.
  ///
  /// - Parameter key: the publisher's key; `nil` for any key.
  private func findDamage(_ key: SiteKey?) throws -> [String] {
    var damaged: Set<SitePath> = []
    let channels = try folder.channels()
    if try folder.hasLostLive(among: channels, key) { damaged.insert(.root(.live)) }
    for channel in channels {
      guard let root = try folder.readRoot(of: channel, acceptsDamage: true)?.root else {
        damaged.insert(.root(channel))
        continue
      }
      damaged.formUnion(try findDamage(in: root))
    }
    return damaged.map(\.description).sorted()
  }

  private func findDamage(in root: SiteRoot) throws -> Set<SitePath> {
    var damaged: Set<SitePath> = []
    for sheet in root.sheets where !folder.holds(sheet) { damaged.insert(.sheet(sheet.digest)) }
    for pack in root.packs {
      for delta in pack.deltas where try !folder.holds(delta) { damaged.insert(.delta(delta.header)) }
      for offer in pack.offers {
        guard let manifest = try folder.intactManifest(of: offer, in: pack.id, acceptsUnreadable: true) else {
          damaged.insert(.version(offer.manifest))
          continue
        }
        for segment in manifest.segments where !folder.holdsTable(of: segment) { damaged.insert(.frames(segment.id)) }
        for list in manifest.changeLists where !folder.holds(list) { damaged.insert(.changes(list.digest)) }
      }
    }
    return damaged
  }
}

extension Site {
  /// Whether the folder was created as a site.
  public static func exists(at path: FilePath) -> Bool { (try? SiteFolder(path: path).isSite) ?? false }

  /// Repairs a site and publishes the intact versions, in one step.
  ///
  /// It repairs the store like `Store.repair`, then missing or damaged manifests, change lists and frame tables, and the root.
  /// Damaged deltas leave the root, and the next publication builds them again. Lost versions also leave the root: publish them
  /// again.
  ///
  /// If the repair fails, the site is unchanged for clients.
  ///
  /// - Parameters:
  ///   - path: the site's folder.
  ///   - donors: other stores that may contain the same data.
  ///   - key: the key that signed the site; `nil` to report the result without changing anything.
  ///   - options: grace period, and whether to wait for other publishers; also product and expiry, which are required if the root
  ///     itself is missing or damaged.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notAStore` if the folder is not a site; `untrusted` if the site is signed by another key; `invalidArgument` if the
  ///   root is lost, and the options do not contain its settings; the errors of repairing a store.
  public static func repair(
    at path: FilePath, from donors: [FilePath] = [], signedBy key: SiteKey?, options: PublishOptions = .init(),
    progress: (@Sendable (Store.RepairProgress) -> Void)? = nil
  ) async throws -> RepairResult {
    try await BlockingExecutor.run {
      let repair = SiteRepair(of: path, from: donors, options: options, progress: progress)
      guard let key else { return try repair.plan() }
      return try repair.run(signedBy: key)
    }
  }
}
