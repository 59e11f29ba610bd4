import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

/// Root keys of several holders.
struct Keyset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyset",
    abstract: "Manage root keys that sign together.",
    discussion: """
      A key set is m of n root keys, each with its holder. Clients trust the set's id, in place of a single root key: fewer than m \
      stolen keys authorize nothing, and as long as m keys are left, a rotation replaces the others. Losing m keys, or m stolen ones, \
      ends the identity.

      The holders sign offline, one at a time. 'request' writes one file with a rotation, new release keys, or both; each holder runs \
      'sign' on a machine of their own; 'complete' verifies the signatures and writes the set's file and the release keys. Each accepts \
      --json and --quiet.

        packstore keygen anna.key                       # each holder
        packstore keyset create root.set --need 2 KEY KEY KEY
        packstore keyset request root.set request.txt --release release.key
        packstore keyset sign request.txt answer-anna --key anna.key
        packstore keyset complete root.set request.txt answer-* --release release.key
        packstore publish Packs public/packs --key release.key
      """,
    subcommands: [
      CreateKeyset.self, RequestKeysetSignatures.self, SignKeysetRequest.self, CompleteKeysetRequest.self,
      ShowKeyset.self,
    ]
  )
}

struct CreateKeyset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create the file of a key set.",
    discussion: """
      A new publisher begins with the public keys of all holders. A publisher with one root key names its file with '--continue'; \
      'request --next' then replaces the key by a set, and clients follow.

        packstore keyset create root.set --need 2 KEY KEY KEY
        packstore keyset create root.set --continue root.key
      """
  )

  @Argument(help: "New file for the key set; it contains no secret.", completion: .file())
  var file: String

  @Argument(help: .init("Public keys of the holders.", valueName: "key"), transform: parsePublicKey)
  var keys: [SitePublicKey] = []

  @Option(help: .init("Number of keys that sign together.", valueName: "m"))
  var need: Int?

  @Option(
    name: .customLong("continue"),
    help: .init("File with the publisher's present root key.", valueName: "file"), completion: .file())
  var root: String?

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard root == nil || (keys.isEmpty && need == nil) else {
      throw ValidationError("--continue excludes other keys and --need")
    }
    guard root != nil || need != nil else {
      throw ValidationError("--need: the number of keys that sign together is missing")
    }
  }

  func run() throws {
    let set =
      try root.map { try KeySetFile(continuing: SiteKey(contentsOf: FilePath($0))) }
      ?? KeySetFile(threshold: need ?? 0, keys: keys)
    try set.write(to: FilePath(file))
    try report.show(KeysetReport(set, file: file, action: .create))
  }
}

struct RequestKeysetSignatures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Write a request for the holders of a key set.",
    discussion: """
      One request holds a rotation and all new delegations. After a rotation, each release key needs a new delegation, so name all \
      of them. A missing release key is created. With '--revoke', name the release keys of all channels of the product.

        packstore keyset request root.set request.txt --release release.key
        packstore keyset request root.set request.txt --next 2 KEY KEY KEY --release release.key
      """
  )

  @Argument(help: "File of the key set.", completion: .file())
  var file: String

  @Argument(help: "File to write for the holders.", completion: .file())
  var request: String

  @Argument(help: .init("Public keys of the next set.", valueName: "key"), transform: parsePublicKey)
  var keys: [SitePublicKey] = []

  @Option(help: .init("Replace the set by the keys given last; this many of them sign together.", valueName: "m"))
  var next: Int?

  @Option(
    help: .init("Release key to authorize: its file, or its public key; repeatable.", valueName: "file"),
    completion: .file())
  var release: [String] = []

  @OptionGroup var terms: DelegationTermsOptions

  @Flag(help: .replacesFile)
  var force = false

  @OptionGroup var clock: ClockOption
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (next == nil) == keys.isEmpty else { throw ValidationError("--next needs the public keys of the next set") }
  }

  func run() throws {
    try clock.require(quiet: report.quiet)
    var set = try KeySetFile(contentsOf: FilePath(file))
    let keys = try release.map(releaseKey)
    let made = try set.request(next: next.map { ($0, self.keys) }, for: keys, options: terms.options)
    try set.replace(FilePath(file))
    try made.write(to: FilePath(request), replaces: force)
    try report.show(KeysetReport(set, file: file, action: .request, request: made))
  }

  private func releaseKey(_ name: String) throws -> KeySetFile.ReleaseKey {
    if let key = SitePublicKey(name) { return .init(key) }
    return try namingKeyFaults { .init(try SiteKey.readOrMake(FilePath(name)).key) }
  }
}

struct SignKeysetRequest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Sign a request with the key of one holder.",
    discussion: """
      Prints what the request contains, records it in the key's file, and signs it. A holder never signs two different sets with one \
      number, or lower serials than before. '--dry-run' only checks the request.

        packstore keyset sign request.txt answer-anna --key anna.key
      """
  )

  @Argument(help: "The request.", completion: .file())
  var request: String

  @Argument(help: "File to write with the signatures; it contains no secret.", completion: .file())
  var signatures: String

  @Option(help: .init("File with the holder's secret key.", valueName: "file"), completion: .file())
  var key: String

  @Option(
    help: .init("Command that signs for a key whose file has only the public half.", valueName: "command"))
  var signCommand: String?

  @Flag(help: "Check the request without signing it.")
  var dryRun = false

  @Flag(help: .replacesFile)
  var force = false

  @OptionGroup var report: ReportOptions

  func run() throws {
    let request = try KeySetRequest(contentsOf: FilePath(self.request)), file = FilePath(key)
    let answer = try namingKeyFaults {
      let signer = try signCommand.map { CommandSigner(try SiteKey(contentsOf: file).publicKey, command: $0) }
      return try request.sign(withKeyIn: file, signer: signer, isDryRun: dryRun)
    }
    try answer?.write(to: FilePath(signatures), replaces: force)
    try report.show(KeysetReport(request, file: signatures, action: .sign, key: answer?.key))
  }
}

struct CompleteKeysetRequest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete",
    abstract: "Write signed changes into the set and the release keys.",
    discussion: """
      Verifies every signature first. A delegation to a key without '--release' is printed: add the lines to that key's file.

        packstore keyset complete root.set request.txt anna.txt ben.txt --release release.key
      """
  )

  @Argument(help: "File of the key set.", completion: .file())
  var file: String

  @Argument(help: "The request.", completion: .file())
  var request: String

  @Argument(help: .init("Files with signatures of holders.", valueName: "file"), completion: .file())
  var signatures: [String]

  @Option(help: .init("File with a release key of the request; repeatable.", valueName: "file"), completion: .file())
  var release: [String] = []

  @Flag(help: "Check the signatures without writing anything.")
  var dryRun = false

  @OptionGroup var report: ReportOptions

  func run() throws {
    let set = try KeySetFile(contentsOf: FilePath(file)), request = try KeySetRequest(contentsOf: FilePath(request))
    let done = try set.completing(request, with: signatures.map { try KeySetAnswer(contentsOf: FilePath($0)) })
    var rest = done.delegations
    let keys = try namingKeyFaults {
      try release.map { name in
        let key = try SiteKey(contentsOf: FilePath(name))
        guard let index = rest.firstIndex(where: { $0.releaseKey == key.publicKey }) else {
          throw Failure(
            .noKey, "'\(escaped(name))': not a release key of the request", remedy: "name the file given to 'request'",
            path: name)
        }
        return (name, try key.delegated(by: rest.remove(at: index)))
      }
    }
    if !dryRun {
      // The set comes first: a delegation by a set that its file lacks could not be renewed.
      try done.file.replace(FilePath(file))
      for (name, key) in keys { try key.replace(FilePath(name)) }
    }
    try report.show(
      KeysetReport(done.file, file: file, action: .complete, request: request, delegations: rest.map(\.text)))
  }
}

struct ShowKeyset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the keys of a set.",
    discussion: "  packstore keyset show root.set")

  @Argument(help: "File of the key set.", completion: .file())
  var file: String

  @OptionGroup var report: ReportOptions

  func run() throws { try report.show(KeysetReport(KeySetFile(contentsOf: FilePath(file)), file: file, action: .show)) }
}
