import PackFormats
import PackStore

/// A change of one channel's offers.
struct ChannelEdit {
  let channel: SiteChannel
  private var edit: SiteEdit

  /// The site's folder; tests replace it to stop at a chosen point.
  var folder: SiteFolder {
    get { edit.folder }
    set { edit.folder = newValue }
  }

  /// The current time, in nanoseconds since 1970.
  var now: Int64 {
    get { edit.now }
    set { edit.now = newValue }
  }

  init(
    of channel: SiteChannel, of site: Site, signedBy key: SiteKey, options: Site.PublishOptions, isDryRun: Bool = false
  ) {
    self.channel = channel
    edit = SiteEdit(of: site, signedBy: key, options: options, isDryRun: isDryRun)
  }

  func promote(
    _ pack: PackID, _ version: UInt64, _ appVersions: Site.AppVersionScope = .asBefore, _ share: DeviceShare = .all,
    _ schedule: RolloutSchedule? = nil
  ) throws -> Site.ChannelResult {
    try run(.promote(pack, version: version, appVersions: appVersions, share: share, schedule: schedule))
  }

  /// Pauses, resumes or halts the rollout of a version.
  func setRollout(of pack: PackID, _ version: UInt64, to action: RolloutAction) throws -> Site.ChannelResult {
    try run(.setRollout(pack, version: version, action))
  }

  func demote(_ pack: PackID, _ version: UInt64) throws -> Site.ChannelResult {
    try run(.demote(pack, version: version))
  }

  /// Offers exactly the listed versions.
  func replaceOffers(by offers: [PackID: [Site.PlannedOffer]]) throws -> Site.ChannelResult {
    try run(.replace(offers))
  }

  func close() throws -> Site.ChannelResult { try run(.close) }

  private func run(_ change: Site.OfferEdit.Change) throws -> Site.ChannelResult {
    guard let result = try edit.run([.init(channel, change)]).first else {
      preconditionFailure("unreachable: each edited channel has a result")
    }
    return result
  }
}
