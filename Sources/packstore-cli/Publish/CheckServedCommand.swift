import ArgumentParser
import PackDelivery
import PackPublishing
import PackStore

struct CheckServed: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "check-served",
    abstract: "Check for other publications before copying roots.",
    discussion: """
      FOLDER is the output of 'packstore publish ... --continue-from'. Fails with 'conflict' if the served roots are \
      neither the roots from which that publication continued nor its own.

        packstore publish Manifest.json New --key env:KEY \\
            --continue-from https://assets.example.com/packs
        rsync -a --exclude /root --exclude /roots --exclude /predecessor \\
            New/ server:packs/
        packstore check-served New https://assets.example.com/packs
        rsync -a --exclude /root --exclude /predecessor New/ server:packs/
        rsync -a --exclude /predecessor New/ server:packs/

      Use the URL of the server itself, not of a cache. Jobs that may run at the same time also need a lock of the \
      build system, from this command to the end of copying.
      """
  )

  @Argument(help: "The folder with the new files.", completion: .directory)
  var folder: String

  @Argument(help: "The served site: a URL, a folder or s3://bucket/prefix.")
  var site: String

  @OptionGroup var certificates: CertificateOption
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: withoutSecrets(site)) }

  func run() async throws {
    let source = RemoteSiteLocation(
      site, options: try storage.options(),
      authorization: try authorization.authorizations(for: [site]).authorization(for: site),
      environment: certificates.environment)
    let finding = try await RemoteSiteCheck(FilePath(folder), at: source).run()
    let output = Output()
    if report.json {
      try output.json(CheckReport(state: finding.rawValue))
    } else if report.isTalkative {
      try output.lines([finding.words])
    }
    try output.flush()
  }
}

extension RemoteSiteCheck.Finding {
  fileprivate var words: String {
    switch self {
    case .unchanged: "the site is unchanged: safe to copy the roots"
    case .unmarked:
      "the publication continued from the served roots, but nothing proves that they are the newest: a stale"
        + " cache would show the same; publish with '--after SEQUENCE' or a key file"
    case .published: "the new roots are served already"
    }
  }
}

private struct CheckReport: Encodable {
  /// `unchanged`, `unmarked` or `published`.
  let state: String
}
