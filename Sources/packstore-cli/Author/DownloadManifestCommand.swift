import ArgumentParser
import PackAuthoring
import PackStore

struct MakeDownloadManifest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download-manifest",
    abstract: "Write a manifest for Apple's Background Assets.",
    discussion: """
      For apps that use Apple's framework and host their own packs: creates the file for BAManifestURL, which lists \
      the packs on a server. Archives are those of 'packstore package' and 'packstore export', and Apple's asset \
      packs (.aar). The archive contains the version number; an .aar gets 1, or its previous number plus 1.

        packstore download-manifest create Tutorial.aar Level1.aar \\
            --download-base-url https://cdn.example.org/packs -o manifest.json
        packstore download-manifest update manifest.json Tutorial.aar

      'update' replaces or adds the given packs; other packs in the manifest do not change. Upload each archive to \
      its URL in the manifest: the base URL and the pack's name. Devices download missing packs, update packs with a \
      higher version, and remove packs that the manifest no longer lists. An .aar is unpacked temporarily in TMPDIR.

      The options of Apple's ba-package are accepted: '--asset-pack-versions', '--asset-pack-paths' and '--ios'.
      """
  )

  enum Action: String, ExpressibleByArgument, CaseIterable { case create, update }

  @Argument(help: "The action: create or update.")
  var action: Action

  @Argument(help: .init("The archives; with 'update', the manifest first.", valueName: "file"), completion: .file())
  var files: [String]

  @Option(
    parsing: .upToNextOption,
    help: .init("More archives, after the files.", valueName: "file"), completion: .file())
  var assetPackPaths: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: .init(
      "Version numbers of the archives, in their order; a number in an archive must be the same.", valueName: "n"))
  var assetPackVersions: [UInt64] = []

  @Option(
    help: .init(
      "URL of the archives' folder on the server (default with 'update': the present one).", valueName: "url"),
    transform: parseBaseURL)
  var downloadBaseUrl: DownloadManifest.BaseURL?

  @Option(
    name: .customLong("platform"),
    help: .init("Platform whose packs to include; repeatable (default: all).", valueName: "name"))
  var platforms: [Platform] = []

  @OptionGroup var platformFlags: PlatformFlags

  @Option(
    name: [.short, .long, .customLong("output-path")],
    help: .init("File to write (default: standard output; with 'update', the manifest).", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var output: String?

  @Flag(help: .replacesFile)
  var force = false

  @Flag(help: "Report the new manifest without writing it.")
  var dryRun = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    switch action {
    case .create:
      guard !archives.isEmpty else { throw ValidationError("'create' needs at least one archive") }
      guard downloadBaseUrl != nil else { throw ValidationError("'create' needs --download-base-url") }
    case .update:
      guard !files.isEmpty, !archives.isEmpty else {
        throw ValidationError("'update' needs a manifest and at least one archive")
      }
    }
    guard output != nil || !force else { throw ValidationError("--force needs '-o'") }
    guard assetPackVersions.count <= archives.count else {
      throw ValidationError("--asset-pack-versions has more numbers than there are archives")
    }
  }

  func run() throws {
    let temporary = try TemporaryFolder()
    defer { temporary.remove() }
    var manifest = action == .update ? try DownloadManifest(contentsOf: FilePath(files[0])) : DownloadManifest()
    var changes: [DownloadManifest.Change] = []
    for (index, file) in archives.enumerated() {
      let version = index < assetPackVersions.count ? assetPackVersions[index] : nil
      let pack = try HostedPack(archive: FilePath(file), version: version, temporaryFolder: FilePath(temporary.path))
      guard !changes.contains(where: { $0.id == pack.id }) else {
        throw Failure(
          .invalidArgument, "'\(escaped(file))': contains the pack '\(escaped(pack.id))', like another archive",
          remedy: "name one archive of each pack", path: file)
      }
      changes.append(
        try manifest.add(pack, platforms: Set(platforms).union(platformFlags.platforms), baseURL: downloadBaseUrl))
    }
    try write(manifest.text)
    try say(manifest.text, changes)
  }

  private var archives: [String] { Array(files.dropFirst(action == .update ? 1 : 0)) + assetPackPaths }

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
    case .unchanged: "unchanged"
    case .leftOut: "skipped: it is for other platforms"
    }
  }
}

/// The platforms, with one flag each as in Apple's ba-package.
struct PlatformFlags: ParsableArguments {
  @Flag(name: .customLong("ios"), help: "Like --platform iOS.") var iOS = false
  @Flag(name: .customLong("macos"), help: "Like --platform macOS.") var macOS = false
  @Flag(name: .customLong("tvos"), help: "Like --platform tvOS.") var tvOS = false
  @Flag(name: .customLong("visionos"), help: "Like --platform visionOS.") var visionOS = false

  var platforms: Set<Platform> {
    let flags: [(isGiven: Bool, platform: Platform)] = [
      (iOS, .iOS), (macOS, .macOS), (tvOS, .tvOS), (visionOS, .visionOS),
    ]
    return Set(flags.filter(\.isGiven).map(\.platform))
  }
}

@Sendable private func parseBaseURL(_ text: String) throws -> DownloadManifest.BaseURL {
  guard let url = DownloadManifest.BaseURL(text) else {
    throw ValidationError("'\(escaped(text))' is not the URL of a folder; use an https URL with a host")
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
