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

  @Option(
    help: .init(
      "Public half of a key whose secret half is elsewhere, such as in a key service: the new file has only this half.",
      valueName: "key"), transform: parsePublicKey)
  var publicKey: SitePublicKey?

  @OptionGroup var report: ReportOptions

  func run() throws {
    let file = try keyFile(file)
    let (key, isNew) = try namingKeyFaults { try readOrMake(file) }
    if isNew, publicKey == nil, report.isTalkative {
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

  private func readOrMake(_ file: FilePath) throws -> (key: SiteKey, isNew: Bool) {
    guard let publicKey else { return try SiteKey.readOrMake(file) }
    let key = SiteKey(publicKey: publicKey)
    try key.write(to: file)
    return (key, true)
  }
}

private struct KeyReport: Encodable {
  let publicKey, file: String
  let isNew: Bool
}
