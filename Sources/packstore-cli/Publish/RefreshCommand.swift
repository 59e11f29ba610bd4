import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Refresh: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Sign a site's roots again with the current time.",
    discussion: """
      Signs the root of every channel that the key may sign, and lists the other channels. Clients can then see that \
      the roots are not outdated, and the expiry of the site starts again. The offers do not change. Suitable for a \
      timer.

      '--convert' converts a site that an earlier version of this program made: offers, numbers and channels stay. It converts the \
      channels that the key may sign; run it for each key. A release key needs 'packstore delegate' first, and a root key that \
      replaced another one 'packstore rotate'. A site in a bucket is fetched completely; after an interruption, run the command again.

        packstore refresh public/packs
        packstore refresh public/packs --expires 14
        packstore refresh public/packs --convert
        packstore refresh s3://bucket/packs --convert
      """
  )

  @Argument(help: .publishedSite, completion: .directory)
  var site: String

  @OptionGroup var key: SiteKeyOption
  @OptionGroup var expiry: ExpiryOptions

  @Flag(help: "Convert a site of the format's previous draft.")
  var convert = false

  @Flag(help: "List the roots to sign without signing them.")
  var dryRun = false

  @Flag(help: .failsIfPublishing)
  var noWait = false

  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func validate() throws {
    guard !convert || !dryRun else { throw ValidationError("--convert and --dry-run exclude each other") }
  }

  func run() async throws {
    let convert = convert
    let host = try storage.host(of: site, waits: !noWait, isConverting: convert)
    let options = Site.PublishOptions(expiry: expiry.expiry, waitsForOthers: !noWait), isDryRun = dryRun
    let result = try await host.edit(with: key, report, isDryRun: dryRun) { site, key, _ in
      guard !convert else { return try await site.convert(signedBy: key, options: options) }
      return try await site.refresh(signedBy: key, options: options, isDryRun: isDryRun)
    }
    if !report.quiet, !result.otherChannels.isEmpty {
      let names = result.otherChannels.map { "'\($0)'" }.joined(separator: ", ")
      let change = dryRun ? "would change" : "was changed"
      warn(.otherKey, "the key may not sign \(names), or a later key replaced it: nothing \(change) there")
    }
    let output = Output()
    if report.json {
      try output.json(DryRunReport(result, isDryRun: dryRun))
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
