import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

struct Delegate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delegate",
    abstract: "Authorize a release key with a root key.",
    discussion: """
      Clients identify a publisher by the root key. It authorizes a release key for a product, for channels, and \
      until a date, so that the root key need not be on the machine that publishes. Run the command again to extend \
      that date, and with a new file to replace a lost release key: clients refuse the old key as soon as they have \
      seen a root signed by the new one. If the old key was stolen, add '--revoke': then clients also ignore the \
      version numbers that it signed.

        packstore keygen root.key
        packstore delegate root.key release.key
        packstore delegate root.key new.key --revoke
        packstore publish Packs public/packs --key release.key

      A new release key is for all channels and the product 'default', unless options name others. Later, omitted \
      options leave channels and product unchanged. 'packstore rotate' replaces the root key.
      """
  )

  @Argument(help: "File with the root key.", completion: .file())
  var rootKey: String

  @Argument(help: "File with the release key; created if it does not exist.", completion: .file())
  var releaseKey: String

  @OptionGroup var terms: DelegationTermsOptions

  @Option(
    name: .customLong("for"),
    help: .init(
      "Public half of a new release key whose secret half is elsewhere, such as in a key service (default: create one).",
      valueName: "key"), transform: parsePublicKey)
  var publicKey: SitePublicKey?

  @Flag(help: "Report the authorization without writing it.")
  var dryRun = false

  @OptionGroup var signing: SigningOptions
  @OptionGroup var clock: ClockOption

  @OptionGroup var report: ReportOptions

  func run() throws {
    try clock.require(quiet: report.quiet)
    var options = terms.options
    options.releaseKey = publicKey
    let result = try namingKeyFaults {
      try SiteKey.delegate(
        to: FilePath(releaseKey), by: FilePath(rootKey), options: options, isDryRun: dryRun
      ) { try signing.signer(of: $0) }
    }
    if !dryRun, !result.isNoted, !report.quiet {
      warn(
        .unrecordedSerial,
        "cannot record the serial \(result.serial) next to '\(escaped(rootKey))': clients accept the next delegation only if the"
          + " clock is not set back")
    }
    let output = Output()
    if report.json {
      try output.json(DelegateReport(result, file: releaseKey, isDryRun: dryRun))
    } else if report.isTalkative {
      try output.lines(lines(result))
    }
    try output.flush()
  }

  private func lines(_ result: SiteKey.DelegationResult) -> [String] {
    let channels = result.channels.isEmpty ? "all channels" : result.channels.map(\.name).joined(separator: ", ")
    let made = dryRun ? "would create a release key" : "created a release key", may = dryRun ? "could sign" : "may sign"
    let name = "'\(escaped(releaseKey))'"
    return [
      result.isNew ? "\(made) in \(name)" : "the release key in \(name) \(may)",
      "  product   \(result.product)",
      "  channels  \(channels)",
      "  until     \(result.endsAt.map(formatDate) ?? "without expiry")",
      "  root key  \(result.rootKey)",
    ]
  }
}

struct Rotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Create a root key that replaces another.",
    discussion: """
      Both keys sign the replacement, so that clients of the old key accept release keys of the new one. Then \
      authorize each release key again, and publish or refresh. Clients that missed several rotations follow all of \
      them.

        packstore rotate root.key new-root.key
        packstore delegate new-root.key release.key
        packstore refresh public/packs --key release.key
      """
  )

  @Argument(help: "File with the present root key.", completion: .file())
  var rootKey: String

  @Argument(help: "New file for the new root key, or its file of the format's previous draft.", completion: .file())
  var newRootKey: String

  @Flag(help: "Check whether the key can be created without creating it.")
  var dryRun = false

  @OptionGroup var report: ReportOptions

  func run() throws {
    let key = try namingKeyFaults {
      try SiteKey.rotate(FilePath(rootKey), to: FilePath(newRootKey), isDryRun: dryRun)
    }
    let output = Output()
    if report.json {
      try output.json(RotateReport(publicKey: key?.description, file: newRootKey, dryRun: dryRun))
    } else if report.isTalkative {
      let name = "'\(escaped(newRootKey))'"
      try output.lines(
        key.map {
          [
            "created a root key in \(name): keep it and a copy in a safe place; use it to authorize release keys",
            "  key  \($0)",
          ]
        } ?? ["would create a root key in \(name)"])
    }
    try output.flush()
  }
}

private struct DelegateReport: Encodable {
  let rootKey, file, product: String
  /// Left out where the key would be made.
  let releaseKey: String?
  let isNew, dryRun: Bool
  /// Whether the serial is recorded next to the root key.
  let noted: Bool
  let serial: UInt64
  let channels: [String]
  let ends: String?

  init(_ result: SiteKey.DelegationResult, file: String, isDryRun: Bool) {
    dryRun = isDryRun
    rootKey = result.rootKey.description
    releaseKey = isDryRun && result.isNew ? nil : result.releaseKey.description
    self.file = file
    product = result.product.name
    isNew = result.isNew
    noted = result.isNoted
    serial = result.serial
    channels = result.channels.map(\.name)
    ends = result.endsAt.map(formatDate)
  }
}

private struct RotateReport: Encodable {
  let publicKey: String?
  let file: String
  let dryRun: Bool
}
