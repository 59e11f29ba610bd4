import PackFormats
import PackStore

/// The effect of one edit on the planned offers of a channel.
struct PlanEdit {
  let channel: SiteChannel

  /// Whether a pack may go down to a lower version.
  let takesBack: Bool

  /// Whether a promotion sets the share of unfinished rollouts of lower versions to 0.
  let haltsPrevious: Bool

  func apply(_ edit: Site.OfferEdit.Change, to change: inout SiteChange, in snapshot: Snapshot) throws {
    switch edit {
    case .promote(let pack, let version, let appVersions, let share, let schedule):
      let terms = Terms(appVersions: appVersions, share: share, schedule: schedule)
      try promote(pack, version, terms, &change, snapshot)
    case .promoteRelease(let release, let versions, let appVersions, let share, let schedule):
      let terms = Terms(appVersions: appVersions, share: share, schedule: schedule)
      try promote(release, versions, terms, &change, snapshot)
    case .setRollout(let pack, let version, let action):
      try setRollout(of: pack, version, to: action, &change, snapshot)
    case .copyOffers(let source): try copyOffers(of: source, &change, snapshot)
    case .demote(let pack, let version): try demote(pack, version, &change, snapshot)
    case .replace(let offers): try replace(offers.filter { !$0.value.isEmpty }, &change, snapshot)
    case .close: try close(&change)
    }
  }

  /// The devices of promoted versions.
  private struct Terms {
    let appVersions: Site.AppVersionScope
    let share: DeviceShare
    let schedule: RolloutSchedule?
  }

  /// Offers the members of a release.
  private func promote(
    _ release: PackRelease, _ versions: [PackID: UInt64], _ terms: Terms, _ change: inout SiteChange,
    _ snapshot: Snapshot
  ) throws {
    let release = present(release, of: versions, in: change)
    for (pack, version) in versions.sorted(by: { $0.key < $1.key }) {
      try promote(pack, version, terms, in: release, &change, snapshot)
    }
  }

  /// Returns the release that the versions belong to already, so that its devices keep their numbers; the new release if they belong
  /// to none or to several.
  private func present(
    _ release: PackRelease, of versions: [PackID: UInt64], in change: SiteChange
  ) -> PackRelease {
    let present = versions.compactMap { pack, version in
      change[channel]?.plan.offers(of: pack).first { $0.number == version }?.release
    }
    guard let known = present.first, Set(present.map(\.id)).count == 1 else { return release }
    // Another version of a pack would leave the release.
    let members = change[channel]?.plan.members(of: known.id) ?? []
    guard members.allSatisfy({ versions[$0.pack] ?? $0.number == $0.number }) else { return release }
    return PackRelease(id: known.id, name: release.name ?? known.name)
  }

  private func promote(
    _ pack: PackID, _ version: UInt64, _ terms: Terms, in release: PackRelease? = nil, _ change: inout SiteChange,
    _ snapshot: Snapshot
  ) throws {
    let kept = try snapshot.require(version, of: pack)
    let before = change[channel]?.plan.offers(of: pack).first { $0.number == version }
    let range: AppVersionRange? =
      switch terms.appVersions {
      case .all: nil
      case .range(let range): range
      case .asBefore: try before.map(\.appVersions) ?? snapshot.attributes(of: kept).appVersions
      }
    let moment = change.rolloutMoment(on: channel)
    var offer = ChannelPlan.Offer(
      number: version, share: terms.share.tenThousandths, appVersions: range, release: release ?? before?.release)
    if let schedule = terms.schedule { try start(schedule, of: &offer, pack, after: before, at: moment) }
    if !takesBack, let higher = change[channel]?.plan.higherOffer(than: offer, of: pack) {
      throw stepsBack([(pack, version, higher.number)])
    }
    try change.edit(channel) { plan in
      try plan.finishRollouts(of: pack, at: moment) { try snapshot.platforms(of: $0, $1) }
      plan.endRollouts(below: offer, of: pack, at: moment, halts: haltsPrevious)
      try plan.offer(offer, of: pack) { try snapshot.platforms(of: pack, $0) }
    }
  }

  // MARK: - Rollouts

  /// Sets the steps of an offer. An unfinished rollout of the version must not start again below the share that it reached.
  private func start(
    _ schedule: RolloutSchedule, of offer: inout ChannelPlan.Offer, _ pack: PackID, after before: ChannelPlan.Offer?,
    at moment: RolloutMoment
  ) throws {
    try schedule.start(&offer, of: pack, at: moment.time)
    guard let before, !takesBack, moment.share(of: before) > offer.share else { return }
    let reached = (try? DeviceShare(tenThousandths: moment.share(of: before))) ?? .none
    throw PackStoreError(
      .invalidArgument, "\(reached) of devices are offered this version already", about: .version(pack, offer.number),
      detail: .stepBack, remedy: "start with at least that share, or set the option takesBack")
  }

  private func setRollout(
    of pack: PackID, _ version: UInt64, to action: RolloutAction, _ change: inout SiteChange, _ snapshot: Snapshot
  ) throws {
    try require(version, of: pack, among: change[channel]?.plan.offers(of: pack) ?? [])
    let moment = change.rolloutMoment(on: channel)
    try change.edit(channel) { plan in
      try plan.change(version, of: pack) { try $0.apply(action, to: pack, at: moment) }
      try plan.finishRollouts(of: pack, at: moment) { try snapshot.platforms(of: $0, $1) }
    }
  }

  // MARK: - From another channel

  /// A pack whose devices would go down from a higher version.
  private typealias StepBack = (pack: PackID, version: UInt64, higher: UInt64)

  private func copyOffers(of source: SiteChannel, _ change: inout SiteChange, _ snapshot: Snapshot) throws {
    guard source != channel else {
      var error = PackStoreError(.invalidArgument, "its offers cannot be copied to itself", about: .channel(channel))
      error.specificRemedy = "name two channels"
      throw error
    }
    let packs = change[source]?.plan.packs ?? [:]
    let sourceMoment = change.rolloutMoment(on: source), moment = change.rolloutMoment(on: channel)
    var steps: [StepBack] = []
    try change.edit(channel) { plan in
      for (pack, offers) in packs.sorted(by: { $0.key < $1.key }) {
        let before = plan.offers(of: pack)
        // The last offer comes first into the plan, because an offer for all devices precedes the others.
        // The share of a release in steps changes over time, and a halted release has a share of 0.
        for offer in offers.reversed() where sourceMoment.share(of: offer) == OfferTerms.everyDevice {
          _ = try snapshot.require(offer.number, of: pack)
          let copy = ChannelPlan.Offer(
            number: offer.number, appVersions: offer.appVersions, release: offer.release)
          try plan.finishRollouts(of: pack, at: moment) { try snapshot.platforms(of: $0, $1) }
          plan.endRollouts(below: copy, of: pack, at: moment, halts: haltsPrevious)
          try plan.offer(copy, of: pack) { try snapshot.platforms(of: pack, $0) }
        }
        if let step = Self.stepBack(from: before, to: plan.offers(of: pack)) { steps.append((pack, step.0, step.1)) }
      }
    }
    guard takesBack || steps.isEmpty else { throw stepsBack(steps) }
  }

  /// Returns a new first offer and the higher version that it hides from some devices; `nil` if devices keep or raise their versions.
  private static func stepBack(
    from before: [ChannelPlan.Offer], to after: [ChannelPlan.Offer]
  ) -> (version: UInt64, higher: UInt64)? {
    for old in before {
      for new in after where AppVersionRange.overlap(new.appVersions, old.appVersions) {
        // The first offer for all devices decides for app versions that it covers.
        if new.number >= old.number {
          if new.isForAllDevices, new.appVersions?.covers(old.appVersions) ?? true { break }
        } else if !before.prefix(while: { $0 != old }).contains(where: { $0.number == new.number }) {
          return (new.number, old.number)
        }
      }
    }
    return nil
  }

  private func stepsBack(_ steps: [StepBack]) -> PackStoreError {
    let words = steps.map { "\($0.pack)@\($0.version) is lower than version \($0.higher)" }
    return PackStoreError(
      .invalidArgument, "\(listed(words)), which the channel '\(channel)' offers",
      about: steps.first.map { .pack($0.pack) }, detail: .stepBack,
      remedy:
        "to take \(steps.count == 1 ? "version \(steps[0].higher)" : "the higher versions") back from devices, set the"
        + " option takesBack")
  }

  // MARK: - Withdrawal

  private func demote(
    _ pack: PackID, _ version: UInt64, _ change: inout SiteChange, _ snapshot: Snapshot
  ) throws {
    let offers = change[channel]?.plan.offers(of: pack) ?? []
    try require(version, of: pack, among: offers)
    guard offers.count > 1 else { throw isLast(pack, version, among: snapshot.versions(of: pack)) }
    change.edit(channel) { $0.withdraw(version, of: pack) }
  }

  private func require(_ version: UInt64, of pack: PackID, among offers: [ChannelPlan.Offer]) throws {
    guard !offers.contains(where: { $0.number == version }) else { return }
    let offered = offers.isEmpty ? "none" : offers.map { "\($0.number)" }.joined(separator: ", ")
    throw PackStoreError(
      .notFound, "the channel '\(channel)' does not offer this version (offered: \(offered))",
      about: .version(pack, version))
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

  private func close(_ change: inout SiteChange) throws {
    guard channel != .live else {
      var error = PackStoreError(.invalidArgument, "this channel cannot be closed", about: .channel(channel))
      error.specificRemedy = "unpublish its packs"
      throw error
    }
    change.close(channel)
  }

  // MARK: - Replacement

  /// Offers exactly the listed versions.
  private func replace(
    _ offers: [PackID: [Site.PlannedOffer]], _ change: inout SiteChange, _ snapshot: Snapshot
  ) throws {
    let sorted = offers.sorted { $0.key < $1.key }, present = change[channel]?.plan
    if !takesBack {
      for (pack, planned) in sorted {
        let highest = planned.map(\.version).max() ?? 0
        let higher = present?.offers(of: pack).map(\.number).filter { $0 > highest }.max()
        if let higher { throw stepsBack([(pack, highest, higher)]) }
      }
    }
    try change.edit(channel) { plan in
      for pack in plan.packs.keys.sorted() where offers[pack] == nil { plan.withdraw(pack) }
      for (pack, planned) in sorted { try replace(planned, of: pack, in: &plan, snapshot) }
    }
  }

  /// The last offer comes first into the plan, because an offer for all devices replaces the offers that it covers.
  private func replace(
    _ planned: [Site.PlannedOffer], of pack: PackID, in plan: inout ChannelPlan, _ snapshot: Snapshot
  ) throws {
    let present = plan.offers(of: pack)
    let isSame =
      present.map(\.number) == planned.map(\.version) && present.map(\.share) == planned.map(\.share.tenThousandths)
      && present.allSatisfy { $0.rollout == nil } && present.map(\.release) == planned.map(\.release)
    for offer in planned { _ = try snapshot.require(offer.version, of: pack) }
    guard !isSame else { return }
    for offer in planned.reversed() {
      let version = try snapshot.require(offer.version, of: pack)
      let before = present.first { $0.number == offer.version }
      let range = try before.map(\.appVersions) ?? snapshot.attributes(of: version).appVersions
      let next = ChannelPlan.Offer(
        number: offer.version, share: offer.share.tenThousandths, appVersions: range, release: offer.release)
      try plan.offer(next, of: pack) { try snapshot.platforms(of: pack, $0) }
    }
    let numbers = Set(planned.map(\.version))
    for other in plan.offers(of: pack) where !numbers.contains(other.number) { plan.withdraw(other.number, of: pack) }
  }
}

extension AppVersionRange {
  /// Whether it contains every app version of another range; `nil`: all app versions.
  fileprivate func covers(_ other: AppVersionRange?) -> Bool { other.map(contains) ?? false }
}
