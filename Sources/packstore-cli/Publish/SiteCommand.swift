import ArgumentParser
import PackAuthoring
import PackDelivery
import PackFormats
import PackPublishing
import PackStore

/// Sites as a whole: mirrors, moves, copies without data.
struct SiteGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "site",
    abstract: "Copy or move a whole site.",
    discussion: """
      'copy' makes a mirror or updates one, 'move' moves a site to another place, and 'strip' copies a site without \
      the data of its packs. Each accepts --json and --quiet; 'packstore site copy --help' describes the first one.

        packstore site copy https://example.com/packs public/mirror
        packstore site move public/packs s3://assets/packs \\
            --url https://cdn.example.com/packs --root-key root.key
      """,
    subcommands: [SiteCopyCommand.self, SiteMoveCommand.self, Strip.self]
  )
}

struct SiteCopyCommand: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Mirror a site in a folder or a bucket, or update the mirror.",
    discussion: """
      Copies all files that the site's roots refer to, with their checks, and needs no key: channels, versions, labels \
      and deltas stay as the publisher signed them. The mirror serves at every moment, and refuses publications. \
      Run the command again to update it or to continue after an interruption; files that left the site are deleted \
      one run later.

        packstore site copy https://example.com/packs public/mirror
        packstore site copy public/packs s3://assets/mirror --trust KEY
      """
  )

  @Argument(help: "The site: a folder, an http: or https: URL, or s3://bucket/prefix.", completion: .directory)
  var site: String

  @Argument(help: "The mirror: a folder or s3://bucket/prefix.", completion: .directory)
  var mirror: String

  @Option(
    help: .init("Root key that must have signed the site (default: any, then the mirror's).", valueName: "key"),
    transform: parsePublicKey)
  var trust: SitePublicKey?

  @OptionGroup var place: SitePlaceOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: withoutSecrets(site)) }

  func validate() throws {
    guard place.storage.ledger == nil || S3Location.names(site) != S3Location.names(mirror) else {
      throw ValidationError("--ledger needs exactly one bucket")
    }
  }

  func run() async throws {
    let origin = try place.place(of: site, beside: mirror), target = try place.place(of: mirror, beside: site)
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    var copy = SiteCopy(from: origin, to: target)
    copy.trustedKey = trust
    let outcome: Result<SiteCopy.Result, any Error>
    do {
      outcome = .success(
        try await copy.run { done, _ in bar.update(Progress(activity: "copying", filesDone: done)) })
    } catch { outcome = .failure(error) }
    await origin.close()
    await target.close()
    let result = try outcome.get()
    bar.finish()
    let output = Output()
    if report.json {
      try output.json(SiteReport(copying: result, from: site, to: mirror))
    } else if report.isTalkative {
      try output.lines([
        "'\(escaped(mirror))' is a mirror of '\(escaped(withoutSecrets(site)))'",
        "  channels  \(result.channels.map(\.name).joined(separator: ", "))",
        "  files     \(result.fileCount), \(result.copiedFileCount) of them copied now:"
          + " \(formatBytes(Int(clamping: result.copiedByteCount)))",
        "  deleted   \(formatCount(result.deletedFileCount, "file"))",
      ])
    }
    try output.flush()
  }
}

struct SiteMoveCommand: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move a site to another folder or bucket, and close the old place.",
    discussion: """
      Copies everything, including kept versions that no channel offers, then signs a statement with the root key: \
      clients of the old place go to URL from their next pull on. The new place accepts publications; the old one \
      refuses them. Keep its files until its clients have moved, and run 'packstore refresh' there if its \
      roots expire. After an interruption, run the command again.

        packstore site move public/packs s3://assets/packs \\
            --url https://cdn.example.com/packs --root-key root.key
        packstore site move old/packs new/packs --url https://new.example.com/packs
      """
  )

  @Argument(help: "The site: a folder or s3://bucket/prefix.", completion: .directory)
  var site: String

  @Argument(help: "The new place: a folder or s3://bucket/prefix.", completion: .directory)
  var place: String

  @Option(help: .init("URL by which clients reach the new place.", valueName: "url"))
  var url: String

  @OptionGroup var key: SiteKeyOption

  @Option(
    help: .init(
      "File with the site's root key, which signs the move (default: the key, if it is a root key).", valueName: "file"
    ), completion: .file())
  var rootKey: String?

  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(site: site) }

  func validate() throws {
    guard key.signing.signRequest == nil else {
      throw ValidationError("--sign-request cannot sign a move, whose bytes differ each time; use --sign-command")
    }
    guard storage.ledger == nil && storage.work == nil || S3Location.names(site) != S3Location.names(place) else {
      throw ValidationError("--ledger and --work need exactly one bucket")
    }
  }

  func run() async throws {
    let origin = try host(of: site), target = try host(of: place)
    let key = try key.open(quiet: report.quiet)
    let note = self.key.change.changeNote
    let root = try rootKey.map { name in try namingKeyFaults { try SiteKey(contentsOf: FilePath(name)) } } ?? key
    try await origin.withProgress(report) { events, _ in
      let outcome: Result<Void, any Error>
      do {
        var move = SiteRelocation(from: origin, to: target, url: url, rootKey: root, signedBy: key)
        move.changeNote = note
        outcome = .success(try await move.run { events($0) })
      } catch { outcome = .failure(error) }
      await target.close()
      try outcome.get()
    }
    let output = Output()
    if report.json {
      try output.json(SiteReport(moving: site, to: place, url: url))
    } else if report.isTalkative {
      try output.lines([
        "the site '\(escaped(site))' moved to '\(escaped(place))'", "  url  \(escaped(url))",
        "publish to the new place; keep the files of the old one until its clients have moved",
      ])
    }
    try output.flush()
  }

  /// Returns a place; the options of object storage belong to the buckets among the two.
  private func host(of name: String) throws -> any SiteHost {
    let isBesideBucket = S3Location.names(site) || S3Location.names(place)
    guard !S3Location.names(name), isBesideBucket else { return try storage.host(of: name) }
    return try folderHost(name)
  }
}

/// The result of a copy or a move as JSON.
private struct SiteReport: Encodable {
  /// `copy` or `move`.
  let action: String
  let from, to: String
  var url: String?
  var channels: [String]?
  var files, copiedFiles, deletedFiles: Int?
  var copiedBytes: UInt64?

  init(copying result: SiteCopy.Result, from: String, to: String) {
    action = "copy"
    self.from = withoutSecrets(from)
    self.to = to
    channels = result.channels.map(\.name)
    files = result.fileCount
    copiedFiles = result.copiedFileCount
    deletedFiles = result.deletedFileCount
    copiedBytes = result.copiedByteCount
  }

  init(moving from: String, to: String, url: String) {
    action = "move"
    self.from = from
    self.to = to
    self.url = url
  }
}
