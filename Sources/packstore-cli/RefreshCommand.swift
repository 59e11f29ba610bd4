import ArgumentParser
import PackAuthoring
import PackStore

struct Refresh: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Sign a site's root again, so that clients see that it is no old one.",
    discussion: """
      Changes nothing of what the site offers, and costs next to nothing: for a timer. Where the site expires, its time \
      begins again.

        packstore refresh public/packs
        packstore refresh public/packs --expires 14
      """
  )

  @Argument(help: "The site's folder.", completion: .directory)
  var site: String

  @OptionGroup var key: KeyOption
  @OptionGroup var expiry: ExpiryOptions

  @Flag(help: "Fail at once when another process is publishing to the site, rather than wait.")
  var noWait = false

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func run() async throws {
    let site = try Site(existingAt: FilePath(site))
    let key = try key.open(quiet: report.quiet, makesOne: false)
    let options = Site.PublishOptions(expiry: expiry.expiry, waitsForOthers: !noWait)
    let result = try await site.refresh(signedBy: key, options: options)
    let output = Output()
    if report.json {
      try output.json(RefreshReport(sequence: result.sequence, expires: result.expiresAt.map(formatDate)))
    } else if report.isTalkative {
      try output.lines(
        ["the site is at root \(result.sequence)"] + (result.expiresAt.map { ["  until  \(formatDate($0))"] } ?? []))
    }
    try output.flush()
  }
}

private struct RefreshReport: Encodable {
  let sequence: UInt64
  let expires: String?
}
