import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

struct Keygen: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Print a public key; create the root key if missing.",
    discussion: """
      Clients trust this public key; give it to them for 'packstore pull --trust'. Only the owner can read the secret \
      key's file. A root key delegates to release keys, which sign sites and archives. It can also sign itself, for \
      any product and without expiry.

        packstore keygen
        packstore keygen root.key
      """
  )

  @Argument(
    help: "File with the secret key (default: ~/.config/packstore/site.key).", completion: .file())
  var file: String?

  @OptionGroup var report: ReportOptions

  func run() throws {
    let file = try keyFile(file)
    let (key, isNew) = try namingKeyFaults { try SiteKey.readOrMake(file) }
    if isNew, report.isTalkative {
      warn(
        .newKey,
        "created a secret key in '\(escaped(file.string))': keep it and a copy in a safe place; clients accept no other key"
      )
    }
    let output = Output()
    if report.json {
      try output.json(KeyReport(publicKey: key.rootKey.description, file: file.string, isNew: isNew))
    } else {
      try output.line(key.rootKey.description)
    }
    try output.flush()
  }
}

private struct KeyReport: Encodable {
  let publicKey, file: String
  let isNew: Bool
}
