import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

struct Keygen: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the public key that clients are to trust; make a root key if there is none.",
    discussion: """
      The secret key's file can be read by its owner alone. The public key goes to clients: 'packstore pull --trust'. A root \
      key delegates to release keys, which sign sites and archives, and can sign by itself, for any product and without end.

        packstore keygen
        packstore keygen root.key
      """
  )

  @Argument(
    help: "The file with the secret key (default: ~/.config/packstore/site.key).", completion: .file())
  var file: String?

  @OptionGroup var report: ReportOptions

  func run() throws {
    let file = try keyFile(file)
    let (key, isNew) = try namingKeyFaults { try SiteKey.readOrMake(file) }
    if isNew, report.isTalkative {
      warn("made a secret key in '\(escaped(file.string))': keep it, and a copy in a safe place; clients take no other")
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
