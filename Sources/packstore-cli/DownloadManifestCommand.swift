import ArgumentParser
import PackAuthoring
import PackStore

struct MakeDownloadManifest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download-manifest",
    abstract: "Write what tells Apple's Background Assets which packs are on a server.",
    discussion: """
      For apps that use Apple's framework and host their packs themselves: the file that BAManifestURL names. Archives are \
      those of 'packstore package' and 'packstore export', and asset packs of Apple's (.aar). A version is that which the \
      archive says; an .aar gets 1, or one more than before.

        packstore download-manifest create Tutorial.aar Level1.aar --download-base-url https://cdn.example.org/packs \
      -o manifest.json
        packstore download-manifest update manifest.json Tutorial.aar

      'update' replaces the packs that are named in the manifest, and adds those that it has not; all others stay as they \
      are. Upload each archive to the URL that is written: the base, and the name of its pack. Devices fetch what they have \
      not, update what has a higher version, and remove what is not named any more. An .aar is unpacked in TMPDIR meanwhile.
      """
  )

  enum Action: String, ExpressibleByArgument, CaseIterable { case create, update }

  @Argument(help: "What to do: create or update.")
  var action: Action

  @Argument(help: .init("With 'update' the manifest first; the archives.", valueName: "file"), completion: .file())
  var files: [String]

  @Option(
    help: .init("The folder of the archives on the server (with 'update': where they are now).", valueName: "url"),
    transform: parseBaseURL)
  var downloadBaseUrl: DownloadManifest.BaseURL?

  @Option(
    name: .customLong("platform"),
    help: .init("Leave out packs that are not for this platform; may be given several times.", valueName: "name"))
  var platforms: [Platform] = []

  @Option(
    name: .shortAndLong,
    help: .init("The file to write (default: print it; with 'update' the manifest itself).", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var output: String?

  @Flag(help: "Replace the file if it is there.")
  var force = false

  @Flag(help: "Say what would be written, and write nothing.")
  var dryRun = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    switch action {
    case .create:
      guard !files.isEmpty else { throw ValidationError("'create' takes archives") }
      guard downloadBaseUrl != nil else { throw ValidationError("'create' needs --download-base-url") }
    case .update:
      guard files.count > 1 else { throw ValidationError("'update' takes a manifest, and archives") }
    }
    guard output != nil || !force else { throw ValidationError("--force needs '-o'") }
  }

  func run() throws {
    let temporary = try TemporaryFolder()
    defer { temporary.remove() }
    let isUpdate = action == .update
    var manifest = isUpdate ? try DownloadManifest(contentsOf: FilePath(files[0])) : DownloadManifest()
    var changes: [DownloadManifest.Change] = []
    for file in files.dropFirst(isUpdate ? 1 : 0) {
      let pack = try HostedPack(archive: FilePath(file), temporaryFolder: FilePath(temporary.path))
      guard !changes.contains(where: { $0.id == pack.id }) else {
        throw Failure(
          .invalidArgument, "'\(escaped(file))' is of '\(escaped(pack.id))', as another archive is",
          remedy: "name one archive of each pack", path: file)
      }
      changes.append(try manifest.add(pack, platforms: Set(platforms), baseURL: downloadBaseUrl))
    }
    try write(manifest.text)
    try say(manifest.text, changes)
  }

  /// Where the text goes; nil: to standard output.
  private var target: String? { output ?? (action == .update ? files[0] : nil) }

  private func write(_ text: String) throws {
    guard let target, !dryRun else { return }
    try writeTextFile(text, to: target, force: force || output == nil)
  }

  private func say(_ text: String, _ changes: [DownloadManifest.Change]) throws {
    let isPrinted = target == nil || dryRun
    let out = Output()
    if report.json {
      try out.json(DownloadManifestReport(path: dryRun ? nil : target, text: isPrinted ? text : nil, changes))
    } else if isPrinted {
      try out.write(text.utf8)
    }
    try out.flush()
    guard report.isTalkative else { return }
    for change in changes {
      writeToStandardError("\(escaped(change.id)) \(change.version): \(word(change.outcome))\n")
    }
  }

  private func word(_ outcome: DownloadManifest.Change.Outcome) -> String {
    switch outcome {
    case .added: "added"
    case .updated: "updated"
    case .unchanged: "as before"
    case .leftOut: "left out: it is for other platforms"
    }
  }
}

@Sendable private func parseBaseURL(_ text: String) throws -> DownloadManifest.BaseURL {
  guard let url = DownloadManifest.BaseURL(text) else {
    throw ValidationError("'\(escaped(text))' is no URL of a folder: it begins with https://, and names a host")
  }
  return url
}

private struct DownloadManifestReport: Encodable {
  let path, text: String?
  let packs: [PackReport]

  struct PackReport: Encodable {
    let pack: String
    let version, bytes: UInt64
    let outcome: String
  }

  init(path: String?, text: String?, _ changes: [DownloadManifest.Change]) {
    (self.path, self.text) = (path, text)
    packs = changes.map {
      PackReport(pack: $0.id, version: $0.version, bytes: $0.byteCount, outcome: $0.outcome.rawValue)
    }
  }
}
