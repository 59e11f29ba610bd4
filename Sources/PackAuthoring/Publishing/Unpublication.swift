public import PackFormats
public import PackStore

/// Takes packs off channels of a site, and off the site where no channel is left that offers them.
struct Unpublication {
  let site: Site
  let key: SiteKey
  let options: Site.PublishOptions

  /// Off all channels, rather than the one of the options.
  let isOfAll: Bool

  /// Changes nothing, and says what would be.
  var isDryRun = false

  /// The site's, in which tests end it where they want.
  var folder: SiteFolder

  /// Nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(site: Site, key: SiteKey, isOfAll: Bool = false, options: Site.PublishOptions) {
    self.site = site
    self.key = key
    self.isOfAll = isOfAll
    self.options = options
    folder = site.folder
  }

  func run(_ packs: [PackID]) throws -> Site.PublishResult {
    let lock = try isDryRun ? nil : folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    var change = try SiteChange(
      of: site.store, named: site.store.id, channel: isOfAll ? nil : options.channel, in: folder, signedBy: key,
      options: options, now: now,
      progress: nil)
    let before = change.roots
    try check(packs, change)
    if !isDryRun { try change.settle() }
    for state in change.channelStates where isOfAll || state.channel == options.channel {
      for pack in packs { change.edit(state.channel) { $0.withdraw(pack) } }
    }
    let leaving = try change.withoutOffers(packs)
    change.leaving = Set(leaving.flatMap(\.versions))
    guard !isDryRun else { return try plan(change, leaving.flatMap(\.versions)) }
    try change.finish()
    try change.remove(leaving.map(\.pack))
    try change.collect()
    let dropped = leaving.flatMap(\.versions)
    let changed = change.channelStates.filter { $0.root != before[$0.channel] }.map(\.channel)
    return Site.PublishResult(
      change, isUnchanged: changed.isEmpty && dropped.isEmpty, changedChannels: changed, packs: [],
      droppedVersions: dropped,
      newByteCount: change.newByteCount)
  }

  private func plan(_ change: SiteChange, _ dropped: [PackVersion]) throws -> Site.PublishResult {
    let changed = try change.channelsToReplace()
    return Site.PublishResult(
      change, isUnchanged: changed.isEmpty && dropped.isEmpty, changedChannels: changed, packs: [],
      droppedVersions: dropped, newByteCount: 0)
  }

  private func check(_ packs: [PackID], _ change: SiteChange) throws {
    let present = Set(try site.store.packs().map(\.id)).union(change.roots.values.flatMap(\.packs).map(\.id))
    for pack in packs where !present.contains(pack) {
      throw PackStoreError.noPack(pack, among: present, of: "the site")
    }
    guard isOfAll else { return try checkChannel(packs, change) }
    for state in change.channelStates where !state.isOwn {
      guard let pack = packs.first(where: { !state.plan.offers(of: $0).isEmpty }) else { continue }
      var error = PackStoreError(
        .untrusted, "the key may not sign the channel '\(state.channel)', which offers the pack", about: .pack(pack))
      error.specificRemedy = "use a key that may, or take the pack off the other channels one by one"
      throw error
    }
  }

  /// A pack that no channel offers may be there since a publisher died, or because it was never promoted.
  private func checkChannel(_ packs: [PackID], _ change: SiteChange) throws {
    guard let channel = options.channel else { return }
    try folder.require(channel)
    for pack in packs {
      let channels = change.channelStates.filter { !$0.plan.offers(of: pack).isEmpty }.map(\.channel)
      guard !channels.isEmpty, !channels.contains(channel) else { continue }
      throw PackStoreError(
        .notFound, "the channel '\(channel)' does not offer it (channels that do: \(listed(channels.map(\.name))))",
        about: .pack(pack), detail: .noPack)
    }
  }
}

extension Site {
  /// Takes packs off a channel: its new root does not name them. A pack that no other channel offers leaves the site, with
  /// all its versions. Clients keep what they have, and those that are fetching a pack can go on until the grace period of
  /// the options is over.
  ///
  /// - Parameters:
  ///   - packs: names of packs that the site has.
  ///   - key: the one that signed the site before.
  ///   - fromAllChannels: takes them off all channels, all of which the key must be able to sign.
  ///   - options: the channel, grace period, expiry, and whether to wait.
  ///   - isDryRun: changes nothing, and says what would be.
  /// - Throws: `notFound` when the site has no such pack; `untrusted` when the site is signed by another key; `busy`;
  ///   `CancellationError`; `noSpace`, `ioError`, `outOfMemory`, `corrupt`. The site then shows what it showed before.
  @discardableResult
  public func unpublish(
    _ packs: [PackID], signedBy key: SiteKey, fromAllChannels: Bool = false, options: PublishOptions = .init(),
    isDryRun: Bool = false
  ) async throws -> PublishResult {
    try await BlockingExecutor.run {
      var change = Unpublication(site: self, key: key, isOfAll: fromAllChannels, options: options)
      change.isDryRun = isDryRun
      return try change.run(packs)
    }
  }
}
