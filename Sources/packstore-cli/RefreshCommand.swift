import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Refresh: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    abstract: "Sign a site's roots again, so that clients see that they are no old ones.",
    discussion: """
      Changes nothing of what the site offers, and costs next to nothing: for a timer. Where the site expires, its time \
      begins again. Signs the root of every channel that the key may sign, and names the others.

        packstore refresh public/packs
        packstore refresh public/packs --expires 14
      """
  )

  @Argument(help: "The site: a folder, or s3://bucket/prefix.", completion: .directory)
  var site: String

  @OptionGroup var key: SiteKeyOption
  @OptionGroup var expiry: ExpiryOptions

  @Flag(help: "Say which roots would be signed, and sign none.")
  var dryRun = false

  @Flag(help: "Fail at once when another process is publishing to the site, rather than wait.")
  var noWait = false

  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func run() async throws {
    let host = try storage.host(of: site, waits: !noWait)
    let options = Site.PublishOptions(expiry: expiry.expiry, waitsForOthers: !noWait), isDryRun = dryRun
    let result = try await host.edit(with: key, report, isDryRun: dryRun) { site, key, _ in
      try await site.refresh(signedBy: key, options: options, isDryRun: isDryRun)
    }
    if !report.quiet, !result.otherChannels.isEmpty {
      let names = result.otherChannels.map { "'\($0)'" }.joined(separator: ", ")
      let change = dryRun ? "would change" : "was changed"
      warn("the key may not sign \(names), or a later key replaced it there: nothing \(change) there")
    }
    let output = Output()
    if report.json {
      try output.json(RefreshReport(result, isDryRun: dryRun))
    } else if report.isTalkative {
      try output.lines(
        result.channels.flatMap { channel in
          ["the channel \(channel.channel) \(dryRun ? "would be" : "is") at root \(channel.sequence)"]
            + (channel.expiresAt.map { ["  until  \(formatDate($0))"] } ?? [])
        })
    }
    try output.flush()
  }
}

private struct RefreshReport: Encodable {
  struct Channel: Encodable {
    let channel: String
    let sequence: UInt64
    let expires: String?
  }

  let channels: [Channel]
  let otherChannels: [String]
  let dryRun: Bool

  init(_ result: Site.RefreshResult, isDryRun: Bool) {
    dryRun = isDryRun
    channels = result.channels.map {
      Channel(channel: $0.channel.name, sequence: $0.sequence, expires: $0.expiresAt.map(formatDate))
    }
    otherChannels = result.otherChannels.map(\.name)
  }
}
