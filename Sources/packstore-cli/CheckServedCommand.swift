import ArgumentParser
import PackDelivery
import PackPublishing
import PackStore

struct CheckServed: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "check-served",
    abstract: "See that no other job has published meanwhile, just before roots are copied to a server.",
    discussion: """
      SITE is the folder that 'packstore publish ... --continue-from' has made. Fails with 'conflict' when the roots that are \
      served are neither those from which that publication went on nor its own.

        packstore publish Manifest.json New --continue-from https://assets.example.com/packs --key env:KEY
        rsync -a --exclude /root --exclude /roots --exclude /predecessor New/ server:packs/
        packstore check-served New https://assets.example.com/packs
        rsync -a --exclude /root --exclude /predecessor New/ server:packs/
        rsync -a --exclude /predecessor New/ server:packs/

      Name the server itself, and not a cache before it. Jobs that may run at the same time also need a lock of the build \
      system for the time from this command to the end of copying.
      """
  )

  @Argument(help: "The folder with the new files.", completion: .directory)
  var folder: String

  @Argument(help: "The site that is served: a URL, a folder, or s3://bucket/prefix.")
  var site: String

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: withoutSecrets(site)) }

  func run() async throws {
    let source = ServedSource(
      site, options: try storage.options(),
      authorization: try authorization.authorizations(for: [site]).authorization(for: site))
    let finding = try await ServedCheck(FilePath(folder), at: source).run()
    let output = Output()
    if report.json {
      try output.json(CheckReport(state: finding.rawValue))
    } else if report.isTalkative {
      try output.lines([
        finding == .unchanged
          ? "the site is as it was: safe to copy the roots" : "the new roots are served already"
      ])
    }
    try output.flush()
  }
}

private struct CheckReport: Encodable {
  /// `unchanged` or `published`.
  let state: String
}
