import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Unpublish: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "unpublish",
    abstract: "Remove packs from a site.",
    discussion: """
      Signs a new root of the channel without the packs, in one step. A pack that no other channel offers leaves the \
      site with all its versions, except pinned ones ('packstore unpin'). Devices keep their packs until they remove them. Running downloads can continue: \
      the files stay for the grace period, and the next 'packstore publish' after it deletes them.

        packstore unpublish public/packs Tutorial
        packstore unpublish public/packs Tutorial Level1 --grace 0
        packstore unpublish public/packs Tutorial --channel beta
      """
  )

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Argument(help: .init("The packs.", valueName: "pack"), transform: parsePackID)
  var packs: [PackID]

  @Option(help: .targetChannel, transform: parseChannel)
  var channel: SiteChannel?

  @Flag(help: "Remove the packs from all channels.")
  var all = false

  @OptionGroup var key: SiteKeyOption
  @OptionGroup var grace: GraceOption

  @Flag(help: "Report the packs to remove and the roots to change without changing the site.")
  var dryRun = false

  @Flag(help: .failsIfPublishing)
  var noWait = false

  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !all || channel == nil else { throw ValidationError("--channel and --all exclude each other") }
  }

  var subject: Failure.Facts { .init(site: site, pack: packs.count == 1 ? packs[0] : nil) }

  func run() async throws {
    let host = try storage.host(of: site, waits: !noWait)
    let options = Site.PublishOptions(
      channel: channel ?? .live, gracePeriod: grace.duration, waitsForOthers: !noWait)
    let packs = packs, isOfAll = all, isDryRun = dryRun
    let result = try await host.edit(with: key, report, isDryRun: dryRun) { site, key, _ in
      try await site.unpublish(packs, signedBy: key, fromAllChannels: isOfAll, options: options, isDryRun: isDryRun)
    }

    let output = Output()
    if report.json {
      try output.json(UnpublishReport(result, isDryRun: dryRun))
    } else if dryRun, report.isTalkative {
      try output.lines(
        result.droppedVersions.map { "\($0) would leave the site" } + remainingLines(result) + [replacedRoots(result)])
    } else if report.isTalkative {
      try output.lines(
        result.droppedVersions.map { "\($0) is no longer on the site" }
          + [all ? "no channel offers it now" : "the channel \(channel ?? .live) is at root \(result.sequence)"]
          + retiredLines(result))
    }
    try output.flush()
  }

  /// Packs that other channels still offer: they stay on the site.
  private func remainingLines(_ result: Site.PublishResult) -> [String] {
    result.remainingOffers.sorted { $0.key < $1.key }.map { pack, channels in
      "\(pack) is still offered by \(listed(channels.map { "the channel \($0)" })): '--all' removes it from all channels"
    }
  }
}

/// Which roots a dry run would replace.
func replacedRoots(_ result: Site.PublishResult) -> String {
  let roots = result.changedChannels.map(\.name)
  return roots.isEmpty ? "no root would be replaced" : "roots that would be replaced: \(roots.joined(separator: ", "))"
}

/// Files that wait for their deletion from a site.
func retiredLines(_ result: Site.PublishResult) -> [String] {
  result.retiredUntil.map {
    ["  retired \(formatBytes(result.retiredByteCount)), deleted by the first publication after \(formatDate($0))"]
  } ?? []
}

private struct UnpublishReport: Encodable {
  struct Version: Encodable {
    let pack: String
    let version: UInt64
  }

  /// A pack that other channels still offer.
  struct Remaining: Encodable {
    let pack: String
    let channels: [String]
  }

  let sequence: UInt64
  let unchanged, dryRun: Bool
  let changedChannels: [String]
  let dropped: [Version]
  let remaining: [Remaining]
  let retiredBytes: Int
  let retiredUntil: String?
  let bytes: Int

  init(_ result: Site.PublishResult, isDryRun: Bool) {
    dryRun = isDryRun
    changedChannels = result.changedChannels.map(\.name)
    sequence = result.sequence
    unchanged = result.isUnchanged
    dropped = result.droppedVersions.map { Version(pack: $0.pack.name, version: $0.number) }
    remaining = result.remainingOffers.sorted { $0.key < $1.key }.map { pack, channels in
      Remaining(pack: pack.name, channels: channels.map(\.name))
    }
    retiredBytes = result.retiredByteCount
    retiredUntil = result.retiredUntil.map(formatDate)
    bytes = result.byteCount
  }
}
