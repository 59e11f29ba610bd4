import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Channels: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "channels",
    abstract: "List a site's channels and offers; close a channel.",
    discussion: """
      Offers are listed in the order in which clients try them. SHARE is the share of devices now; ROLLOUT shows the \
      state and the next step of a release in steps; RELEASE shows the packs that devices install together. A closed channel remains as an empty root that marks \
      it as closed, and its clients keep their packs. Promoting a version to the channel opens it again.

        packstore channels public/packs
        packstore channels public/packs --channel beta
        packstore channels public/packs --channel beta --close
      """
  )

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @Option(
    help: .init("The only channel to list, or to close (default: all).", valueName: "name"), transform: parseChannel)
  var channel: SiteChannel?

  @Flag(help: "Close the channel given with --channel.")
  var close = false

  /// The earlier form of `--close` with `--channel`.
  @Option(help: .hidden, transform: parseChannel)
  var remove: SiteChannel?

  @OptionGroup var edit: ChannelEditOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func validate() throws {
    guard !close || channel != nil else { throw ValidationError("--close needs --channel") }
    guard remove == nil || channel == nil else { throw ValidationError("--channel and --remove exclude each other") }
    guard closedChannel != nil || !edit.dryRun else { throw ValidationError("--dry-run needs --close") }
  }

  private var closedChannel: SiteChannel? { close ? channel : remove }

  func run() async throws {
    if let closedChannel {
      let options = edit.options, isDryRun = edit.dryRun
      let result = try await edit.host(of: site).edit(with: edit.key, report, isDryRun: isDryRun) { site, key, _ in
        try await site.close(closedChannel, signedBy: key, options: options, isDryRun: isDryRun)
      }
      if report.isTalkative {
        let state = edit.dryRun ? "would be closed" : "is closed, at root \(result.sequence)"
        try say("the channel \(closedChannel) \(state)")
      }
      guard report.json else { return }
    }
    try await list()
  }

  private func say(_ line: String) throws {
    let output = Output()
    try output.line(line)
    try output.flush()
  }

  /// After a dry run, as it is.
  private func list() async throws {
    let host = try edit.host(of: site)
    var channels: [Site.ChannelDescription]
    do {
      channels = try await host.read { try $0.channels() }
    } catch {
      await host.close()
      throw error
    }
    await host.close()
    if let channel {
      let names = channels.map(\.channel.name).joined(separator: ", ")
      channels.removeAll { $0.channel != channel }
      guard !channels.isEmpty else {
        throw PackStoreError(
          .notFound, "not a channel of the site (channels: \(names))", about: .channel(channel))
      }
    }
    let output = Output()
    if report.json {
      try output.json(["channels": channels.map(ChannelListing.init)])
    } else {
      try output.lines(lines(channels))
    }
    try output.flush()
  }

  private func lines(_ channels: [Site.ChannelDescription]) -> [String] {
    var table = Table(
      ("CHANNEL", .left), ("PACK", .left), ("VERSION", .right), ("SHARE", .right), ("ROLLOUT", .left),
      ("RELEASE", .left),
      ("APP", .left),
      ("DOWNLOAD", .right),
      ("DELTAS", .right))
    for channel in channels {
      let name = channel.channel.name
      guard !channel.packs.isEmpty else {
        table.add([name, channel.isClosed ? "(closed)" : "(nothing)", "", "", "", "", "", "", ""])
        continue
      }
      for pack in channel.packs {
        for (index, offer) in pack.offers.enumerated() {
          table.add([
            name, pack.pack.name, "\(offer.version)", offer.share.description,
            offer.rollout.map { RolloutReport($0).words } ?? "", offer.release?.description ?? "",
            offer.appVersions?.description ?? "all",
            formatBytes(offer.downloadByteCount), index == 0 ? "\(pack.deltaCount)" : "",
          ])
        }
      }
    }
    return table.lines
  }
}

private struct ChannelListing: Encodable {
  let channel: String
  let sequence: UInt64
  let madeAt: String
  let expires: String?
  let closed: Bool
  let packs: [Pack]

  struct Pack: Encodable {
    let pack: String
    let priority: Int32
    let offers: [OfferReport]
    let deltas: Int
  }

  init(_ description: Site.ChannelDescription) {
    channel = description.channel.name
    sequence = description.sequence
    madeAt = formatDate(description.madeAt)
    expires = description.expiresAt.map(formatDate)
    closed = description.isClosed
    packs = description.packs.map { pack in
      Pack(
        pack: pack.pack.name, priority: pack.priority,
        offers: pack.offers.map {
          OfferReport(
            version: $0.version, share: $0.share, appVersions: $0.appVersions, downloadByteCount: $0.downloadByteCount,
            rollout: $0.rollout, release: $0.release)
        }, deltas: pack.deltaCount)
    }
  }
}
