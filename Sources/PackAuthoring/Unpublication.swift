public import PackStore

/// Takes packs off a site: as ``Publication``, with a commit that removes in place of one that copies.
struct Unpublication {
  let site: Site
  let key: SiteKey
  let options: Site.PublishOptions

  /// The site's, in which tests end it where they want.
  var folder: SiteFolder

  /// Nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(site: Site, key: SiteKey, options: Site.PublishOptions) {
    self.site = site
    self.key = key
    self.options = options
    folder = site.folder
  }

  func run(_ packs: [PackID]) throws -> Site.PublishResult {
    let lock = try folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    var change = try SiteChange(
      of: site.store, named: site.store.id, in: folder, signedBy: key, options: options, now: now, progress: nil)
    let first = change.root
    try check(packs, first)
    try change.settle()
    let dropped = try remove(packs, in: &change)
    try change.finish()
    try change.collect()
    return Site.PublishResult(
      change, isUnchanged: change.root == first, packs: [], droppedVersions: dropped,
      newByteCount: change.newByteCount)
  }

  private func check(_ packs: [PackID], _ root: SiteRoot?) throws {
    let present = Set(try site.store.packs().map(\.id)).union(root?.packs.map(\.id) ?? [])
    for pack in packs where !present.contains(pack) {
      throw PackStoreError.noPack(pack, among: present, of: "the site")
    }
  }

  /// Removes those of the packs that the store still has: a publisher that died may have removed some.
  private func remove(_ packs: [PackID], in change: inout SiteChange) throws -> [PackVersion] {
    var transaction = try change.makeTransaction()
    var dropped: [PackVersion] = []
    for pack in Set(packs).sorted() {
      let versions = transaction.versions(of: pack)
      guard !versions.isEmpty else { continue }
      try transaction.remove(pack)
      dropped += versions
    }
    try change.commit(transaction, dropping: dropped)
    return dropped
  }
}

extension Site {
  /// Takes packs off the site: its new root does not name them. Clients keep what they have, and those that are
  /// fetching a pack can go on until the grace period of the options is over.
  ///
  /// - Parameters:
  ///   - packs: names of packs that the site has.
  ///   - key: the one that signed the site before.
  ///   - options: grace period, expiry, and whether to wait.
  /// - Throws: `notFound` when the site has no such pack; `untrusted` when the site is signed by another key; `busy`;
  ///   `CancellationError`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`. The site then shows what it showed before.
  @discardableResult
  public func unpublish(
    _ packs: [PackID], signedBy key: SiteKey, options: PublishOptions = .init()
  ) async throws -> PublishResult {
    try await BlockingExecutor.run {
      try Unpublication(site: self, key: key, options: options).run(packs)
    }
  }
}
