public import PackFormats
public import PackStore

extension Site {
  /// What the repair of a site did, or would do.
  public struct RepairResult: Hashable, Codable, Sendable {
    /// What became of the site's store.
    public let store: Store.RepairResult

    /// Manifests, change lists, frame tables, deltas and sheets of attributes that roots name and that are missing or damaged:
    /// their paths in the site, in order; and roots themselves.
    public let damagedFiles: [String]

    /// Channels whose roots were damaged, and that are closed now: their clients keep what they have, until something is
    /// promoted there again. After a dry run none.
    public let closedChannels: [SiteChannel]

    /// The numbers of the site's roots now; none after a dry run.
    public let sequences: [SiteChannel: UInt64]

    /// Nothing was damaged, and nothing was written.
    public var wasWhole: Bool { store.wasWhole && damagedFiles.isEmpty }
  }
}

/// One repair of a site: its store, the files beside it, and a root that describes what is there.
///
/// A repair of the store unlinks nothing, and files beside it are replaced by renaming. So whatever the root leads to
/// is as whole as before, at any moment, until a root that leads to whole files takes its place.
struct SiteRepair {
  let path: FilePath
  let donors: [FilePath]
  let options: Site.PublishOptions

  /// The site's, in which tests end a repair where they want.
  var folder: SiteFolder

  /// Nanoseconds since 1970.
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

  /// Finds out what would be done. Needs no key.
  func plan() throws -> Site.RepairResult {
    try checkSite()
    let store = try repairStore(isDryRun: true)
    return Site.RepairResult(store: store, damagedFiles: try findDamage(nil), closedChannels: [], sequences: [:])
  }

  func run(signedBy key: SiteKey) throws -> Site.RepairResult {
    try checkSite()
    let lock = try folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    // First: with another key nothing is touched.
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
    // A store that was rebuilt without its index, and one that has its mark already: the commit is none then.
    try change.commit(try change.makeTransaction())
    try change.finish()
    return Site.RepairResult(
      store: result, damagedFiles: damagedFiles, closedChannels: closed,
      sequences: change.roots.mapValues(\.sequence))
  }

  private func checkSite() throws {
    guard try folder.isSite else {
      throw PackStoreError(.notAStore, "not a site", about: .site(path.string))
    }
    guard try !folder.isWithoutFrames else {
      var error = PackStoreError(
        .invalidArgument, "a copy of a site without frames, which does not show damage", about: .site(path.string))
      error.specificRemedy = "repair the site that it was copied from"
      throw error
    }
  }

  private func repairStore(isDryRun: Bool) throws -> Store.RepairResult {
    try Store.repairNow(
      path, donors, isDryRun: isDryRun, waitsForWriters: options.waitsForOthers, isPublication: true, progress)
  }

  /// Reads all files beside the store that the root leads to.
  ///
  /// - Parameter key: nil: any.
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
  /// Whether the folder was made to be a site.
  public static func exists(at path: FilePath) -> Bool { (try? SiteFolder(path: path).isSite) ?? false }

  /// Repairs a site and publishes what is whole, as one act: its store as
  /// `Store.repair` does, manifests, change lists and frame tables that are missing or
  /// damaged, and the root. Deltas that are damaged leave the root; the next publication makes them once more. What is
  /// lost leaves the root as well: publish it again.
  ///
  /// Whatever ends it, clients find what they found before.
  ///
  /// - Parameters:
  ///   - path: the site's folder.
  ///   - donors: other stores that may have the same content.
  ///   - key: the one that signed the site; nil: find out what would be done, and change nothing.
  ///   - options: grace period, and whether to wait for other publishers; product and expiry, which have to be said where
  ///     the root itself is missing or damaged.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notAStore` when the folder is no site; `untrusted` when the site is signed by another key; `invalidArgument`
  ///   when the root is lost, and the options do not say what it said; what repairing a store throws.
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
