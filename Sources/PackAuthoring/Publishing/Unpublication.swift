public import PackFormats
public import PackStore

/// Withdraws packs from channels of a site, and deletes packs that no channel offers any more.
struct Unpublication {
  let site: Site
  let key: SiteKey
  let options: Site.PublishOptions

  /// Whether to withdraw from all channels, rather than from the channel in the options.
  let isOfAll: Bool

  /// Whether to report the result without changing anything.
  var isDryRun = false

  /// The site's folder; tests replace it to stop at a chosen point.
  var folder: SiteFolder

  /// The current time, in nanoseconds since 1970.
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
    let remaining = remainingOffers(of: packs, change)
    guard !isDryRun else {
      var result = try plan(change, leaving.flatMap(\.versions))
      result.remainingOffers = remaining
      return result
    }
    try change.finish()
    try change.remove(leaving)
    try change.collect()
    let dropped = leaving.flatMap(\.versions)
    let changed = change.channelStates.filter { $0.root != before[$0.channel] }.map(\.channel)
    var result = Site.PublishResult(
      change, isUnchanged: changed.isEmpty && dropped.isEmpty, changedChannels: changed, packs: [],
      droppedVersions: dropped,
      newByteCount: change.newByteCount)
    result.remainingOffers = remaining
    return result
  }

  private func remainingOffers(of packs: [PackID], _ change: SiteChange) -> [PackID: [SiteChannel]] {
    var offers: [PackID: [SiteChannel]] = [:]
    for pack in packs {
      let channels = change.channelStates.filter { !$0.plan.offers(of: pack).isEmpty }.map(\.channel)
      if !channels.isEmpty { offers[pack] = channels.sorted() }
    }
    return offers
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
      error.specificRemedy = "use a key that may sign it, or unpublish the pack from the other channels one by one"
      throw error
    }
  }

  /// Checks that the channel offers the packs, except packs that no channel offers: a publisher may have crashed, or a pack may
  /// never have been promoted.
  private func checkChannel(_ packs: [PackID], _ change: SiteChange) throws {
    guard let channel = options.channel else { return }
    try folder.require(channel)
    for pack in packs {
      let channels = change.channelStates.filter { !$0.plan.offers(of: pack).isEmpty }.map(\.channel)
      guard !channels.isEmpty, !channels.contains(channel) else { continue }
      throw PackStoreError(
        .notFound,
        "the channel '\(channel)' does not offer the pack (channels with the pack: \(listed(channels.map(\.name))))",
        about: .pack(pack), detail: .noPack)
    }
  }
}

extension Site {
  /// Withdraws packs from a channel: the channel's new root omits them. A pack that no other channel offers leaves the site, with
  /// all its versions except pinned ones. Clients keep their packs, and running downloads can continue until the grace period of the options is over.
  ///
  /// - Parameters:
  ///   - packs: names of packs of the site.
  ///   - key: the key that signed the site before.
  ///   - fromAllChannels: whether to withdraw the packs from all channels. The key must be able to sign every channel.
  ///   - options: the channel, grace period, expiry, and whether to wait.
  ///   - isDryRun: whether to report the result without changing anything.
  /// - Throws: `notFound` if the site lacks a pack; `untrusted` if the site is signed by another key; `busy`; `CancellationError`;
  ///   `noSpace`, `ioError`, `outOfMemory`, `corrupt`. The site is then unchanged.
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
