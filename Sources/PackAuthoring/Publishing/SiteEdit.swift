import PackFormats
import PackStore

/// A change of the offers of channels. For each channel it rewrites one small signed file. The site's store does not change.
///
/// States: the lock is taken; conditions hold; the roots are settled; all edits are applied to the plans; roots are written. An error
/// before the last state changes no offer.
struct SiteEdit {
  let site: Site
  let key: SiteKey
  let options: Site.PublishOptions

  /// Whether to report the change without making it.
  let isDryRun: Bool

  /// The site's folder; tests replace it to stop at a chosen point.
  var folder: SiteFolder

  /// The current time, in nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(of site: Site, signedBy key: SiteKey, options: Site.PublishOptions, isDryRun: Bool = false) {
    self.site = site
    self.key = key
    self.options = options
    self.isDryRun = isDryRun
    folder = site.folder
  }

  func run(_ edits: [Site.OfferEdit], ifRoots expected: [SiteChannel: UInt64] = [:]) throws -> [Site.ChannelResult] {
    let channels = edits.map(\.channel).reduce(into: [SiteChannel]()) { if !$0.contains($1) { $0.append($1) } }
    for case .replace(let offers) in edits.map(\.change) { try check(offers) }
    let lock = try isDryRun ? nil : folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    try requireChannels(of: edits)
    var change = try SiteChange(
      of: site.store, named: site.store.id, channels: Set(channels), in: folder, signedBy: key, options: options,
      now: now, progress: nil)
    try require(expected, change)
    let before = change.roots
    if !isDryRun { try change.settle() }
    let snapshot = try site.store.makeSnapshot()
    var updates: [SiteChannel: [Site.Update]] = [:]
    for edit in edits {
      if isDryRun { updates[edit.channel, default: []] += try self.updates(by: edit, change, in: snapshot) }
      try planEdit(of: edit.channel).apply(edit.change, to: &change, in: snapshot)
    }
    try change.requireExpiry()
    if !isDryRun {
      try change.finish()
      try change.collect()
    }
    return channels.map { channel in
      var result = Site.ChannelResult(change, channel, before: before[channel], isDryRun: isDryRun)
      result.updates = updates[channel] ?? []
      return result
    }
  }

  private func planEdit(of channel: SiteChannel) -> PlanEdit {
    PlanEdit(channel: channel, takesBack: options.takesBack, haltsPrevious: options.haltsPrevious)
  }

  /// Requires the channels that edits do not create.
  private func requireChannels(of edits: [Site.OfferEdit]) throws {
    for edit in edits {
      switch edit.change {
      case .promote, .promoteRelease, .replace: break
      case .demote, .setRollout, .close: try folder.require(edit.channel)
      case .copyOffers(let source): try folder.require(source)
      }
    }
  }

  /// - Throws: `conflict` if a root has another number than expected.
  private func require(_ expected: [SiteChannel: UInt64], _ change: SiteChange) throws {
    for (channel, number) in expected.sorted(by: { $0.key < $1.key }) {
      let present = change.roots[channel]?.sequence ?? 0
      guard present != number else { continue }
      var error = PackStoreError(
        .conflict, "its root has the number \(present), not \(number)", about: .channel(channel), detail: .otherRoot)
      error.specificRemedy = "inspect the channel's offers, and repeat the change with the new number"
      throw error
    }
  }

  private func check(_ offers: [PackID: [Site.PlannedOffer]]) throws {
    for (pack, planned) in offers.sorted(by: { $0.key < $1.key }) {
      guard planned.dropLast().allSatisfy({ $0.share != .all }), Set(planned.map(\.version)).count == planned.count
      else {
        throw PackStoreError(
          .invalidArgument, "has an offer after an offer for all devices, or a version twice", about: .pack(pack))
      }
    }
  }

  /// Returns the downloads of devices that an edit moves to other versions.
  private func updates(
    by edit: Site.OfferEdit, _ change: SiteChange, in snapshot: Snapshot
  ) throws -> [Site.Update] {
    func updates(_ pack: PackID, _ number: UInt64) throws -> [Site.Update] {
      guard let version = snapshot.version(number, of: pack) else { return [] }
      let offers = change[edit.channel]?.plan.offers(of: pack) ?? []
      return try self.updates(to: version, on: edit.channel, from: offers, change, in: snapshot)
    }
    switch edit.change {
    case .promote(let pack, let number, _, _, _): return try updates(pack, number)
    case .promoteRelease(_, let versions, _, _, _):
      return try versions.sorted { $0.key < $1.key }.flatMap { try updates($0.key, $0.value) }
    case .copyOffers(let source):
      let packs = change[source]?.plan.packs.sorted { $0.key < $1.key } ?? []
      let moment = change.rolloutMoment(on: source)
      return try packs.flatMap { pack, offers in
        try offers.first { moment.share(of: $0) == OfferTerms.everyDevice }.map { try updates(pack, $0.number) } ?? []
      }
    case .demote, .setRollout, .replace, .close: return []
    }
  }
}

extension Snapshot {
  /// - Throws: `notFound`.
  func require(_ number: UInt64, of pack: PackID) throws -> PackVersion {
    guard self.pack(pack) != nil else { throw PackStoreError.noPack(pack, among: packs.map(\.id), of: "the site") }
    guard let version = version(number, of: pack) else {
      throw PackStoreError.notKept(number, of: pack, among: versions(of: pack))
    }
    return version
  }
}
