import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

struct Delegate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let a release key sign by the word of a root key.",
    discussion: """
      Clients know a publisher by the root key. It says which release key may sign, for which product and channels, and \
      until when; so it can be kept off the machine that publishes. Run this again to put off the end, and with a new file \
      to replace a release key that was lost or stolen: clients refuse the old one as soon as they have seen a root that \
      the new one signed.

        packstore keygen root.key
        packstore delegate root.key release.key
        packstore publish Packs public/packs --key release.key

      A release key is for all channels unless some are named, and for the product 'default' unless another is. What is not \
      said again stays as it was. 'rotate' replaces the root key itself.
      """
  )

  @Argument(help: "The file with the root key.", completion: .file())
  var rootKey: String

  @Argument(help: "The file with the release key, which is made where there is none.", completion: .file())
  var releaseKey: String

  @OptionGroup var product: ProductOption

  @Option(
    name: .customLong("channel"),
    help: .init("A channel that the key may sign; several times for several.", valueName: "name"),
    transform: parseChannel)
  var channels: [SiteChannel] = []

  @Flag(help: "The key may sign all channels again.")
  var allChannels = false

  @Option(help: .init("Days from now on in which the key may sign.", valueName: "days"))
  var days = 400

  @Flag(help: "The key may sign without end.")
  var noEnd = false

  @Flag(help: "Say what the key could sign, and write nothing.")
  var dryRun = false

  @OptionGroup var clock: ClockOption

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...36_500).contains(days) else { throw ValidationError("--days goes from 1 to 36500") }
    guard channels.isEmpty || !allChannels else {
      throw ValidationError("--channel and --all-channels exclude each other")
    }
  }

  func run() throws {
    try clock.require(quiet: report.quiet)
    let options = SiteKey.DelegationOptions(
      product: product.product, channels: allChannels ? [] : channels.isEmpty ? nil : channels,
      validity: noEnd ? nil : .seconds(days * 86_400))
    let result = try namingKeyFaults {
      try SiteKey.delegate(to: FilePath(releaseKey), by: FilePath(rootKey), options: options, isDryRun: dryRun)
    }
    if !dryRun, !result.isNoted, !report.quiet {
      warn(
        "cannot write to the folder of '\(escaped(rootKey))', to note there that the serial \(result.serial) is given: clients"
          + " take the next delegation if the clock is then not set back")
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
    let made = dryRun ? "would make a release key" : "made a release key", may = dryRun ? "could sign" : "may sign"
    let name = "'\(escaped(releaseKey))'"
    return [
      result.isNew ? "\(made) in \(name)" : "the release key in \(name) \(may)",
      "  product   \(result.product)",
      "  channels  \(channels)",
      "  until     \(result.endsAt.map(formatDate) ?? "without end")",
      "  root key  \(result.rootKey)",
    ]
  }
}

struct Rotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a root key that follows another.",
    discussion: """
      Both keys sign that the new one follows, so that clients which know the old one take what the new one delegates. Then \
      delegate to each release key again, and publish or refresh: clients that missed several rotations follow all of them.

        packstore rotate root.key new-root.key
        packstore delegate new-root.key release.key
        packstore refresh public/packs --key release.key
      """
  )

  @Argument(help: "The file with the root key until now.", completion: .file())
  var rootKey: String

  @Argument(help: "A new file for the new root key.", completion: .file())
  var newRootKey: String

  @Flag(help: "Find out whether the key could be made, and make none.")
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
            "made a root key in \(name): keep it, and a copy, in a safe place; delegate to the release keys with it",
            "  key  \($0)",
          ]
        } ?? ["would make a root key in \(name)"])
    }
    try output.flush()
  }
}

private struct DelegateReport: Encodable {
  let rootKey, file, product: String
  /// Left out where the key would be made.
  let releaseKey: String?
  let isNew, dryRun: Bool
  /// The root key's file says it.
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
