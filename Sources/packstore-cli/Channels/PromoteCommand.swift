import ArgumentParser
import PackAuthoring
import PackPublishing
import PackFormats
import PackStore

/// Promotes a version, or changes the state of its release in steps.
struct Promote: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "promote",
    abstract: "Offer versions on a channel.",
    discussion: """
      The site must already have the versions, published to another channel or with 'packstore publish --no-offer'. \
      Signs one small file and copies nothing: clients see all packs change at once. A channel that does not exist is \
      created.

      Without '--share' and '--steps', a version is for all devices and replaces the offers to the same app versions. A \
      version lower than one that the channel offers to the same apps takes the higher one back from devices, and \
      requires '--back'. With '--share', other devices keep their current offer. Increasing the share only adds devices; 0% \
      halts a release, and devices that have the version keep it. Replaced offers do not return automatically; \
      promote that version first.

      Several packs form a release, unless '--separately' is given: a device installs all of them that it has or \
      requests together, or none, and '--release' names them. The share, the steps and a halt apply to the whole release.

      '--from' copies the versions that another channel offers to all devices.

      With '--steps' and '--every', the first share applies at once, and each further share after another interval. \
      Devices follow the steps by themselves, so that no command needs to run at the time of a step; the channel must \
      expire. '--pause' keeps the share as it is, '--resume' continues from there, and '--halt' offers the version to \
      no further device. Promoting a higher version ends an unfinished release at the share that it reached, or at 0% \
      with '--halt-previous'. '--horizon' limits the steps that count without a newer root. 'packstore channels' \
      shows the state of each release.

        packstore promote public/packs Tutorial@4 --channel beta
        packstore promote public/packs Menu@3 Level1@7 --release spring
        packstore promote public/packs --from beta --channel live
        packstore promote public/packs Tutorial@4 --share 5%
        packstore promote public/packs Tutorial@4 --app-versions "2.0..<3"
        packstore promote public/packs Tutorial@3 --back
        packstore promote public/packs Tutorial@5 --steps 1,5,20,100 \\
            --every 24h --expires 90
        packstore promote public/packs Tutorial@5 --pause
      """
  )

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Argument(
    help: .init("Packs, each with a version that the site has.", valueName: "pack@version"), transform: parseVersionName
  )
  var versions: [VersionName] = []

  @Option(
    help: .init("The channel; created if it does not exist (default: live).", valueName: "name"),
    transform: parseChannel)
  var channel: SiteChannel?

  @Option(help: .hidden, transform: parseChannel)
  var to: SiteChannel?

  @Option(
    help: .init("The channel whose offers to all devices are copied, in place of versions.", valueName: "name"),
    transform: parseChannel)
  var from: SiteChannel?

  @Option(
    help: .init(
      """
      Fail with 'conflict' unless roots have these numbers, such as beta=12,live=40; 0 for a channel without a root.
      """, valueName: "channel=number"), transform: parseRootNumbers)
  var ifRoot: [SiteChannel: UInt64] = [:]

  @Option(
    help: .init(
      "App versions that the version is for: 2.0..<3, 2.0..., ..<3 or all (default: unchanged, or its attributes').",
      valueName: "range"), transform: parseScope)
  var appVersions: Site.AppVersionScope?

  @Option(
    help: .init(
      "Share of devices that receive the version, such as 5% or 0.25% (default: all devices).", valueName: "percentage"),
    transform: parseShare)
  var share: DeviceShare?

  @OptionGroup(title: "Release in steps") var steps: RolloutOptions

  @OptionGroup(title: "Release of several packs") var together: ReleaseOptions

  @Flag(help: "Allow a lower version than the channel offers: it takes the higher one back from devices.")
  var back = false

  @OptionGroup var edit: ChannelEditOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site, pack: versions.count == 1 ? versions[0].pack : nil) }

  func validate() throws {
    _ = try editedChannel(channel, or: to, "--to")
    if from != nil {
      guard versions.isEmpty else { throw ValidationError("--from and versions exclude each other") }
      guard share == nil, appVersions == nil, steps.action == nil, steps.steps == nil else {
        throw ValidationError("--from excludes --share, --app-versions and options of steps: it copies the offers")
      }
      guard together.isDefault else { throw ValidationError("--from excludes --release and --separately") }
    } else if versions.isEmpty {
      throw ValidationError("versions missing: name packs such as Tutorial@3, or a channel with --from")
    }
    for version in versions where version.which == nil {
      throw ValidationError("version missing: write \(version.pack)@3")
    }
    guard Set(versions.map(\.pack)).count == versions.count else {
      throw ValidationError("a pack is named twice: promote its versions one after another")
    }
    let others = [
      ("--share", share != nil), ("--app-versions", appVersions != nil), ("--back", back),
      ("--release", together.release != nil), ("--separately", together.separately),
    ]
    let given = others.filter(\.1).map(\.0)
    if let action = steps.action, let other = given.first ?? (steps.haltPrevious ? "--halt-previous" : nil) {
      throw ValidationError("--\(action.rawValue) and \(other) exclude each other")
    }
    guard share == nil || steps.steps == nil else { throw ValidationError("--steps and --share exclude each other") }
  }

  func run() async throws {
    let channel = try editedChannel(channel, or: to, "--to")
    let versions = versions, from = from, expected = ifRoot, isDryRun = edit.dryRun
    let appVersions = appVersions ?? .asBefore, share = share ?? .all, action = steps.action
    let schedule = try steps.schedule, release = together.release(of: versions.count)
    var options = edit.options
    options.takesBack = back
    options.haltsPrevious = steps.haltPrevious
    options.rolloutHorizon = steps.rolloutHorizon
    let results = try await edit.host(of: site).edit(with: edit.key, report, isDryRun: isDryRun) {
      [options] site, key, _ in
      let snapshot = try site.store.makeSnapshot()
      let named = try versions.map { (pack: $0.pack, number: try $0.find(in: snapshot, of: "the site").number) }
      let changes: [Site.OfferEdit.Change]
      if let from {
        changes = [.copyOffers(of: from)]
      } else if let action {
        changes = named.map { .setRollout($0.pack, version: $0.number, action) }
      } else if let release {
        let members = Dictionary(named.map { ($0.pack, $0.number) }) { first, _ in first }
        // Each run of a signing request must sign the same bytes.
        let id = key.signingTime.map { PackReleaseID.made(at: $0, of: members) } ?? release.id
        changes = [
          .promoteRelease(
            PackRelease(id: id, name: release.name), members, appVersions: appVersions, share: share,
            schedule: schedule)
        ]
      } else {
        changes = named.map {
          .promote($0.pack, version: $0.number, appVersions: appVersions, share: share, schedule: schedule)
        }
      }
      return try await site.edit(
        changes.map { .init(channel, $0) }, ifRoots: expected, signedBy: key, options: options, isDryRun: isDryRun)
    }
    for result in results {
      try ChannelReport(result, isDryRun: isDryRun).show(report, of: from == nil ? versions.map(\.pack) : nil)
      for pack in versions.map(\.pack) {
        guard let offers = result.offers[pack], !offers.isEmpty, offers.allSatisfy({ $0.share == .none }) else {
          continue
        }
        warn(
          .unofferedPack,
          "\(pack): the channel '\(channel)' offers new devices no version; promote an earlier version with '--back'")
      }
    }
  }
}

/// Reads `beta=12,live=40`.
@Sendable private func parseRootNumbers(_ text: String) throws -> [SiteChannel: UInt64] {
  var numbers: [SiteChannel: UInt64] = [:]
  for part in text.split(separator: ",", omittingEmptySubsequences: false) {
    let words = part.split(separator: "=", omittingEmptySubsequences: false)
    guard words.count == 2, let number = UInt64(words[1]), "\(number)" == words[1] else {
      throw ValidationError("'\(escaped(text))' is not a list such as beta=12,live=40")
    }
    let channel = try parseChannel(String(words[0]))
    guard numbers.updateValue(number, forKey: channel) == nil else {
      throw ValidationError("'\(escaped(text))' names a channel twice")
    }
  }
  return numbers
}

struct Demote: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "demote",
    abstract: "Withdraw a version from a channel.",
    discussion: """
      Clients of this version get the next version that the channel offers them. A pack's last offer cannot be \
      withdrawn: promote another version instead, or remove the pack with 'packstore unpublish'.

        packstore demote public/packs Tutorial@4
        packstore demote public/packs Tutorial@4 --channel beta
      """
  )

  @OptionGroup var target: ChannelTarget

  @Option(help: .targetChannel, transform: parseChannel)
  var channel: SiteChannel?

  @Option(help: .hidden, transform: parseChannel)
  var from: SiteChannel?

  @OptionGroup var edit: ChannelEditOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: target.site, pack: target.version.pack) }

  func validate() throws { _ = try editedChannel(channel, or: from, "--from") }

  func run() async throws {
    let channel = try editedChannel(channel, or: from, "--from")
    let pack = target.version.pack
    try await edit.run(on: target, report) { site, number, key, options, isDryRun in
      try await site.demote(
        pack, version: number, from: channel, signedBy: key, options: options, isDryRun: isDryRun)
    }
  }
}

/// The channel that an option names; live by default. Commands accept it by an earlier name of the option, too, which help does
/// not show.
///
/// - Throws: `ValidationError` if both are given.
private func editedChannel(_ channel: SiteChannel?, or old: SiteChannel?, _ name: String) throws -> SiteChannel {
  guard channel == nil || old == nil else { throw ValidationError("--channel and \(name) exclude each other") }
  return channel ?? old ?? .live
}

/// Which version of a site is meant.
struct ChannelTarget: ParsableArguments {
  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Argument(
    help: .init("The pack and a version that the site has.", valueName: "pack@version"), transform: parseVersionName)
  var version: VersionName

  func validate() throws {
    guard version.which != nil else { throw ValidationError("version missing: write \(version.pack)@3") }
  }
}

/// How the edit of a channel is made.
struct ChannelEditOptions: ParsableArguments {
  @OptionGroup var key: SiteKeyOption
  @OptionGroup var expiry: ExpiryOptions
  @OptionGroup var grace: GraceOption
  @OptionGroup var storage: StorageOptions

  @Flag(help: "Report the channel's new offers without changing them.")
  var dryRun = false

  @Flag(help: .failsIfPublishing)
  var noWait = false

  func host(of site: String) throws -> any SiteHost { try storage.host(of: site, waits: !noWait) }

  /// Changes a channel's offer of a version, and reports the change.
  func run(
    on target: ChannelTarget, _ report: ReportOptions,
    _ edit:
      @Sendable (Site, _ number: UInt64, SiteKey, Site.PublishOptions, _ isDryRun: Bool) async throws
      -> Site.ChannelResult
  ) async throws {
    let version = target.version, options = options, isDryRun = dryRun
    let result = try await host(of: target.site).edit(with: key, report, isDryRun: dryRun) { site, key, _ in
      let number = try version.find(in: site.store.makeSnapshot(), of: "the site").number
      return try await edit(site, number, key, options, isDryRun)
    }
    try ChannelReport(result, isDryRun: dryRun).show(report, of: [target.version.pack])
  }

  var options: Site.PublishOptions {
    Site.PublishOptions(expiry: expiry.expiry, gracePeriod: grace.duration, waitsForOthers: !noWait)
  }
}

@Sendable private func parseShare(_ text: String) throws -> DeviceShare { try parse { try DeviceShare(text) } }

@Sendable private func parseScope(_ text: String) throws -> Site.AppVersionScope {
  text == "all" ? .all : .range(try parse { try AppVersionRange(text) })
}

/// The result of a change of a channel.
struct ChannelReport: Encodable {
  let channel: String
  let sequence: UInt64
  let unchanged, isNew, dryRun: Bool
  let expires: String?
  let packs: [Pack]
  let newBytes: Int
  /// For a dry run of a promotion.
  let updates: [DeviceUpdateReport]?

  struct Pack: Encodable {
    let pack: String
    let offers: [OfferReport]
  }

  init(_ result: Site.ChannelResult, isDryRun: Bool) {
    channel = result.channel.name
    sequence = result.sequence
    unchanged = result.isUnchanged
    isNew = result.isNew
    dryRun = isDryRun
    expires = result.expiresAt.map(formatDate)
    packs = result.offers.sorted { $0.key < $1.key }.map { pack, offers in
      Pack(
        pack: pack.name,
        offers: offers.map {
          OfferReport(
            version: $0.version, share: $0.share, appVersions: $0.appVersions, rollout: $0.rollout, release: $0.release)
        })
    }
    newBytes = result.newByteCount
    updates = result.updates.isEmpty ? nil : result.updates.map(DeviceUpdateReport.init)
  }

  /// The state of the channel; a new channel may be a typing error.
  private var state: String {
    switch (dryRun, unchanged) {
    case (true, true): "the channel \(channel) would be as it is"
    case (true, false):
      "the channel \(channel) would be \(isNew ? "opened: it does not exist, or is closed" : "changed")"
    case (false, true): "the channel \(channel) stays at root \(sequence)"
    case (false, false): "the channel \(channel) is \(isNew ? "open now, " : "")at root \(sequence)"
    }
  }

  /// Prints the result, with the offers of packs; `nil`: all packs.
  func show(_ options: ReportOptions, of shown: [PackID]?) throws {
    let output = Output()
    if options.json {
      try output.json(self)
    } else if options.isTalkative {
      let names = shown?.map(\.name), verb = dryRun ? "would be" : "is"
      let offers = packs.filter { names?.contains($0.pack) ?? true }.flatMap { pack in
        pack.offers.map { "\(pack.pack)@\($0.version) \(verb) \($0.words)" }
      }
      try output.lines(
        offers + (updates ?? []).map(\.words) + [state]
          + (expires.map { ["  until  \($0)"] } ?? []))
    }
    try output.flush()
  }
}

/// A version, and which devices it is for.
struct OfferReport: Encodable {
  let version: UInt64
  let share: String
  let appVersions: String?
  var downloadBytes: Int?
  let rollout: RolloutReport?
  let release: ReleaseReport?

  init(
    version: UInt64, share: DeviceShare, appVersions: AppVersionRange?, downloadByteCount: Int? = nil,
    rollout: RolloutDescription? = nil, release: PackRelease? = nil
  ) {
    self.release = release.map(ReleaseReport.init)
    self.rollout = rollout.map(RolloutReport.init)
    self.version = version
    self.share = share.description
    self.appVersions = appVersions?.description
    downloadBytes = downloadByteCount
  }

  /// `for all devices`, `for 5% of devices, with an app of 2.0..<3`.
  var words: String {
    let devices =
      switch share {
      case "100%": "for all devices"
      case "0%": "for the devices that have it"
      default: "for \(share) of devices"
      }
    return devices + (rollout.map { ", \($0.words)" } ?? "") + (release?.name.map { ", in the release \($0)" } ?? "")
      + (appVersions.map { ", with an app of \($0)" } ?? "")
  }
}
