import PackFormats
import PackStore

/// A change of a channel's offers, which rewrites one small signed file. The site's store does not change.
struct ChannelEdit {
  let site: Site
  let channel: SiteChannel
  let key: SiteKey
  let options: Site.PublishOptions

  /// Whether to report the change without making it.
  let isDryRun: Bool

  /// The site's folder; tests replace it to stop at a chosen point.
  var folder: SiteFolder

  /// The current time, in nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(
    of channel: SiteChannel, of site: Site, signedBy key: SiteKey, options: Site.PublishOptions, isDryRun: Bool = false
  ) {
    self.site = site
    self.channel = channel
    self.key = key
    self.options = options
    self.isDryRun = isDryRun
    folder = site.folder
  }

  func promote(
    _ pack: PackID, _ version: UInt64, _ appVersions: Site.AppVersionScope = .asBefore, _ share: DeviceShare = .all
  ) throws -> Site.ChannelResult {
    var updates: [Site.Update] = []
    var result = try run(makesChannel: true) { change, snapshot in
      let kept = try snapshot.require(version, of: pack)
      if isDryRun {
        let offers = change[channel]?.plan.offers(of: pack) ?? []
        updates = try self.updates(to: kept, from: offers, change, in: snapshot)
      }
      let before = change[channel]?.plan.offers(of: pack).first { $0.number == version }
      let range: AppVersionRange? =
        switch appVersions {
        case .all: nil
        case .range(let range): range
        case .asBefore: try before.map(\.appVersions) ?? snapshot.attributes(of: kept).appVersions
        }
      let offer = ChannelPlan.Offer(number: version, share: share.tenThousandths, appVersions: range)
      if !options.takesBack, let higher = change[channel]?.plan.higherOffer(than: offer, of: pack) {
        throw stepsBack(pack, version, from: higher.number)
      }
      try change.edit(channel) { plan in
        try plan.offer(offer, of: pack) { try snapshot.platforms(of: pack, $0) }
      }
    }
    result.updates = updates
    return result
  }

  private func stepsBack(_ pack: PackID, _ version: UInt64, from higher: UInt64) -> PackStoreError {
    PackStoreError(
      .invalidArgument, "\(pack)@\(version) is lower than version \(higher), which the channel '\(channel)' offers",
      about: .pack(pack), detail: .stepBack,
      remedy: "to take version \(higher) back from devices, set the option takesBack")
  }

  func demote(_ pack: PackID, _ version: UInt64) throws -> Site.ChannelResult {
    try run { change, snapshot in
      let offers = change[channel]?.plan.offers(of: pack) ?? []
      guard offers.contains(where: { $0.number == version }) else {
        let offered = offers.isEmpty ? "none" : offers.map { "\($0.number)" }.joined(separator: ", ")
        throw PackStoreError(
          .notFound, "the channel '\(channel)' does not offer this version (offered: \(offered))",
          about: .version(pack, version))
      }
      guard offers.count > 1 else { throw isLast(pack, version, among: snapshot.versions(of: pack)) }
      change.edit(channel) { $0.withdraw(version, of: pack) }
    }
  }

  private func isLast(_ pack: PackID, _ version: UInt64, among kept: [PackVersion]) -> PackStoreError {
    let others = kept.map(\.number).filter { $0 != version }.map { "\($0)" }
    var error = PackStoreError(
      .invalidArgument, "the only version that the channel '\(channel)' offers of the pack",
      about: .version(pack, version))
    error.specificRemedy =
      (others.isEmpty ? "" : "promote another version of the site (\(others.joined(separator: ", "))), or ")
      + "unpublish the pack"
    return error
  }

  /// Offers exactly the listed versions.
  func replaceOffers(by offers: [PackID: [Site.PlannedOffer]]) throws -> Site.ChannelResult {
    let sorted = offers.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
    for (pack, planned) in sorted { try check(planned, of: pack) }
    return try run(makesChannel: true) { change, snapshot in
      let present = change[channel]?.plan
      for (pack, planned) in sorted where !options.takesBack {
        let highest = planned.map(\.version).max() ?? 0
        let higher = present?.offers(of: pack).map(\.number).filter { $0 > highest }.max()
        if let higher { throw stepsBack(pack, highest, from: higher) }
      }
      try change.edit(channel) { plan in
        for pack in plan.packs.keys.sorted() where offers[pack]?.isEmpty ?? true { plan.withdraw(pack) }
        for (pack, planned) in sorted { try replace(planned, of: pack, in: &plan, snapshot) }
      }
    }
  }

  private func check(_ planned: [Site.PlannedOffer], of pack: PackID) throws {
    guard planned.dropLast().allSatisfy({ $0.share != .all }), Set(planned.map(\.version)).count == planned.count else {
      throw PackStoreError(
        .invalidArgument, "has an offer after an offer for all devices, or a version twice", about: .pack(pack))
    }
  }

  /// Replaces the offers of a pack. Adds the last offer first, because an offer for all devices replaces the offers that it covers.
  private func replace(
    _ planned: [Site.PlannedOffer], of pack: PackID, in plan: inout ChannelPlan, _ snapshot: Snapshot
  ) throws {
    let present = plan.offers(of: pack)
    let isSame =
      present.map(\.number) == planned.map(\.version) && present.map(\.share) == planned.map(\.share.tenThousandths)
    for offer in planned { _ = try snapshot.require(offer.version, of: pack) }
    guard !isSame else { return }
    for offer in planned.reversed() {
      let version = try snapshot.require(offer.version, of: pack)
      let before = present.first { $0.number == offer.version }
      let range = try before.map(\.appVersions) ?? snapshot.attributes(of: version).appVersions
      let next = ChannelPlan.Offer(number: offer.version, share: offer.share.tenThousandths, appVersions: range)
      try plan.offer(next, of: pack) { try snapshot.platforms(of: pack, $0) }
    }
    let numbers = Set(planned.map(\.version))
    for other in plan.offers(of: pack) where !numbers.contains(other.number) { plan.withdraw(other.number, of: pack) }
  }

  func close() throws -> Site.ChannelResult {
    guard channel != .live else {
      var error = PackStoreError(.invalidArgument, "this channel cannot be closed", about: .channel(channel))
      error.specificRemedy = "unpublish its packs"
      throw error
    }
    return try run { change, _ in change.close(channel) }
  }

  /// - Parameter makesChannel: whether to create a missing channel.
  private func run(
    makesChannel: Bool = false, _ edit: (inout SiteChange, Snapshot) throws -> Void
  ) throws -> Site.ChannelResult {
    let lock = try isDryRun ? nil : folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    if !makesChannel { try folder.require(channel) }
    var change = try SiteChange(
      of: site.store, named: site.store.id, channel: channel, in: folder, signedBy: key, options: options, now: now,
      progress: nil)
    let before = change.roots[channel]
    if !isDryRun { try change.settle() }
    try edit(&change, site.store.makeSnapshot())
    if !isDryRun {
      try change.finish()
      try change.collect()
    }
    return Site.ChannelResult(change, channel, before: before, isDryRun: isDryRun)
  }
}

extension Snapshot {
  /// - Throws: `notFound`.
  fileprivate func require(_ number: UInt64, of pack: PackID) throws -> PackVersion {
    guard self.pack(pack) != nil else { throw PackStoreError.noPack(pack, among: packs.map(\.id), of: "the site") }
    guard let version = version(number, of: pack) else {
      throw PackStoreError.notKept(number, of: pack, among: versions(of: pack))
    }
    return version
  }
}
