public import ArgumentParser
public import PackArchives
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

extension ForeignArchive.NameEncoding: ExpressibleByArgument {}

struct Import: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Install a pack version from an archive or a folder.",
    discussion: """
      Creates the store if it does not exist. The content, not the name, determines the kind of archive: one written \
      by 'packstore export' or 'packstore package', a tar file (also compressed with gzip or zstd), a zip file, or \
      Apple's .aar.

      PackStore's archives are signed. Their data is stored as it is, without compressing it again, except for data \
      that the store already has. The pack belongs to the key and product named in the archive. Later, archives of \
      other keys are refused without '--adopt', and lower versions without '--downgrade'. '--trust' checks the key \
      that the publisher gave you.

      Other archives and folders become the next version of a local pack, as with 'packstore add': the same files are \
      skipped, and a version with far fewer files than the current one is refused. '--pack' names the pack; an asset \
      pack written by Apple's ba-package contains its name. Archives are unpacked in TMPDIR. If an archive is \
      damaged, hostile or of an unknown kind, the fault is reported and nothing is installed.

        packstore import Packs Tutorial.pack
        packstore import Packs Tutorial.pack --trust KEY
        packstore import Packs Assets.zip --pack Assets
        packstore import Packs Tutorial.aar --dry-run
        curl -s https://example.com/Assets.tar.gz |
          packstore import Packs - --pack Assets
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The archive, a folder, or - for standard input.", completion: .file())
  var file: String

  @Option(
    help: .init("The pack's name, for an archive that does not contain one.", valueName: "id"), transform: parsePackID)
  var pack: PackID?

  @OptionGroup(title: "Files of a folder or another program's archive") var source: SourceOptions

  @Flag(help: "Report the version to install without changing the store.")
  var dryRun = false

  @Option(
    help: .init(
      """
      Maximum unpacked size, such as 500k, 2M or 10G (default: 200 times the archive's size, at least 67M). Also \
      allows 128 MiB of memory for decompression, for 'zstd --ultra' and '--long'.
      """,
      valueName: "bytes"), transform: parseByteCount)
  var limit: Int?

  @Option(
    help: .init(
      "Encoding of a zip file's names that are not UTF-8: cp437, cp850 or latin1.", valueName: "encoding"))
  var names: ForeignArchive.NameEncoding?

  @Option(
    help: .trustedKey, transform: parsePublicKey)
  var trust: SitePublicKey?

  @Flag(help: .adoptsPack)
  var adopt = false

  @Flag(help: .allowsDowngrade)
  var downgrade = false

  @Flag(help: "Accept an unsigned archive.")
  var allowUnsigned = false

  @Option(help: .keptVersionCount)
  var keep = 2

  @OptionGroup var rows: RowOptions
  @OptionGroup var collection: CollectionOptions
  @OptionGroup var wait: WaitOption
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1000).contains(keep) else { throw ValidationError("--keep must be from 1 to 1000, not \(keep)") }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() async throws {
    guard file == "-" else { return try await run(file) }
    let input = try SpooledInput()
    defer { input.remove() }
    do {
      try await run(input.path)
    } catch var error as PackStoreError where error.subject?.path == input.path {
      error.subject = .file(displayName)
      throw error
    } catch var error as DeliveryError where error.location?.hasPrefix(input.path) == true {
      error.location = displayName
      throw error
    }
  }

  /// The name of the archive in messages: standard input instead of the temporary file that it is copied to.
  private var displayName: String { file == "-" ? "standard input" : file }

  private func run(_ path: String) async throws {
    try requireSource(path)  // before a store is created: the name may be mistyped
    if PackFileKind(FilePath(path)) == .delta {
      try PackFileKind.require(.archive, at: path, store: store.store, for: "import")
    }
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    if isFolder(FilePath(path)) {
      try refuseOptionsOfArchives()
      try await installFolder(bar)
    } else if try isPackArchive(FilePath(path)) {
      try refuseOptionsOfForeign()
      try await pull(path, bar)
    } else {
      try refuseOptionsOfSigned()
      try await installForeign(path, bar)
    }
  }
}

// MARK: - Options that do not apply

extension Import {
  private func refuse(_ options: [(isGiven: Bool, name: String)], _ reason: String) throws {
    guard let option = options.first(where: \.isGiven) else { return }
    throw Failure(
      .usage, "\(option.name): does not apply to '\(escaped(file))', \(reason)", remedy: "leave it out", path: file)
  }

  private var signedOptions: [(isGiven: Bool, name: String)] {
    [(trust != nil, "--trust"), (downgrade, "--downgrade"), (allowUnsigned, "--allow-unsigned")]
  }

  private func refuseOptionsOfSigned() throws {
    try refuse(signedOptions, "which is not an archive of a pack")
  }

  private func refuseOptionsOfForeign() throws {
    try refuse(
      [
        (pack != nil, "--pack"), (limit != nil, "--limit"), (names != nil, "--names"),
        (source.isGiven, "an option for folders"),
      ],
      "which names its pack and its size")
  }

  private func refuseOptionsOfArchives() throws {
    try refuse(signedOptions + [(limit != nil, "--limit"), (names != nil, "--names")], "a folder")
  }
}

// MARK: - Archives of packs

extension Import {
  private func pull(_ path: String, _ bar: ProgressBar) async throws {
    let show: @Sendable (Store.PullProgress) -> Void = { bar.update(Progress($0)) }
    let result: Store.PullResult
    if dryRun {
      let place = try DryRunStore(store, options: wait.storeOptions)
      defer { place.end() }
      result = try await place.store.planPull(from: path, options: place.apply(to: pullOptions), progress: show)
    } else {
      let isNew = isVacant(store.store)
      do {
        result = try await pullIntoStore(
          store, storeOptions: wait.storeOptions, from: path, options: pullOptions, progress: show)
      } catch {
        // Unlike a pull, an import does not need partial data to continue: the archive still has all of it.
        let isMade = isNew && !isVacant(store.store)
        if isMade { Store.removeUnused(at: FilePath(store.store), discardingDeliveries: true) }
        throw error
      }
    }
    bar.finish()
    try say(result)
  }

  private var pullOptions: Store.PullOptions {
    var options = collection.apply(
      to: .init(
        trustedKey: trust, adopts: adopt, allowsDowngrade: downgrade, allowsUnsigned: allowUnsigned,
        waitsForWriters: !wait.noWait, keptVersionCount: keep))
    options.rowLimit = rows.maxRows
    return options
  }

  private func say(_ result: Store.PullResult) throws {
    if !report.quiet, !dryRun, result.isFirstContact, let key = result.key {
      warn(
        .firstContact,
        "the key \(key) is trusted for this pack from now on; compare it with the publisher's key"
      )
    }
    for pack in result.packs where pack.outcome == .held {
      throw Failure(
        .held, "pack '\(pack.pack)': held at version \(pack.from ?? 0) since a rollback",
        remedy: "run 'packstore unpin \(escaped(store.store)) \(pack.pack)' to allow other versions", pack: pack.pack)
    }
    let output = Output()
    if report.json {
      try output.json(["packs": result.packs.map { ImportReport($0, isDryRun: dryRun) }])
    } else if report.isTalkative {
      try output.lines(result.packs.map(line))
    }
    try output.flush()
  }

  private func line(_ pack: Store.PullResult.Pack) -> String {
    if pack.outcome == .healed { return "\(pack.pack) is at version \(pack.to ?? 0), repaired" }
    guard pack.outcome == .updated else { return "\(pack.pack) is at version \(pack.from ?? 0) already" }
    let whence = pack.from.map { ", from \($0)" } ?? ""
    let verb = dryRun ? "would be" : "is"
    let stored = dryRun ? "" : "; \(formatBytes(pack.newStoredByteCount)) stored"
    return "\(pack.pack) \(verb) at version \(pack.to ?? 0)\(whence)\(stored)"
  }
}

// MARK: - Other archives, and folders

extension Import {
  private var transactionOptions: Transaction.Options {
    collection.apply(to: .init(waitsForWriters: !wait.noWait, keptVersionCount: keep))
  }

  /// Installs a folder as a version. With `--dry-run`, stages the version and discards it.
  private func install(
    _ folder: FilePath, _ kind: SourceOptions.Source, as pack: PackID, options: Store.InstallOptions, _ bar: ProgressBar
  ) async throws -> Store.InstallResult {
    do {
      return try await dryRun
        ? planInstall(folder, kind, as: pack, options: options, bar)
        : change(folder, kind, as: pack, options: options, bar)
    } catch let error as PackStoreError {
      bar.finish()
      throw explainRefusal(error, of: displayName, kind, quiet: report.quiet)
    }
  }

  private func change(
    _ folder: FilePath, _ kind: SourceOptions.Source, as pack: PackID, options: Store.InstallOptions, _ bar: ProgressBar
  ) async throws -> Store.InstallResult {
    try await withStore(store, options: wait.storeOptions) { store in
      try await store.change(options: transactionOptions) { [source, displayName] transaction in
        let current = transaction.packs.first { $0.id == pack }?.version
        let result = try transaction.install(folder: folder, as: pack, options: options) {
          bar.update(Progress(activity: "storing", $0))
        }
        try source.check(result, of: displayName, kind, after: current)
        return result
      }
    }
  }

  private func planInstall(
    _ folder: FilePath, _ kind: SourceOptions.Source, as pack: PackID, options: Store.InstallOptions, _ bar: ProgressBar
  ) async throws -> Store.InstallResult {
    let place = try DryRunStore(store, options: wait.storeOptions)
    defer { place.end() }
    let result = try await place.store.planInstall(
      folder: folder, as: pack, options: options, transaction: transactionOptions
    ) { bar.update(Progress(activity: "comparing", $0)) }
    try source.check(result, of: displayName, kind, after: place.store.makeSnapshot().pack(pack)?.version)
    return result
  }

  private func installFolder(_ bar: ProgressBar) async throws {
    guard let pack else {
      throw Failure(
        .invalidArgument, "'\(escaped(file))': a folder, which does not name its pack",
        remedy: "name the pack with --pack; pull a site in a folder with 'packstore pull'", path: file)
    }
    let options = Store.InstallOptions(adopts: adopt, ignoring: try source.rules(), rowLimit: rows.maxRows)
    let result = try await install(FilePath(file), .folder, as: pack, options: options, bar)
    bar.finish()
    try say(ImportReport(result, format: "folder", isDryRun: dryRun, skipped(result)), result)
  }

  private func installForeign(_ path: String, _ bar: ProgressBar) async throws {
    let rules = try source.rules()
    var archive = try ForeignArchive(
      FilePath(path), name: displayName, limits: limits)
    archive.nameEncoding = names
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let content = try await unpack(archive, into: FilePath(folder.path), bar)
    let pack: PackID
    do {
      pack = try archive.packName(content.unpacked.manifest, chosen: self.pack)
    } catch let error as PackStoreError {
      throw Failure(error, as: .invalidArgument, remedy: "name the pack with --pack")
    }
    let options = Store.InstallOptions(
      attributes: content.unpacked.manifest?.attributes, adopts: adopt, ignoring: rules, rowLimit: rows.maxRows)
    let result = try await install(content.unpacked.folder, .archive, as: pack, options: options, bar)
    bar.finish()
    var report = ImportReport(result, format: archive.format.rawValue, isDryRun: dryRun, skipped(result))
    report.notKept = content.unpacked.manifest?.otherKeys
    if dryRun {
      report.entries = try content.unpacked.installed(content.entries, ignoring: rules).map(ImportReport.Entry.init)
    }
    try say(report, result)
  }

  /// The limits for unpacking. They are higher if the user sets `--limit`, and so trusts the archive.
  private var limits: ForeignArchive.Limits {
    var limits = ForeignArchive.Limits(byteCount: limit.map { UInt64($0) })
    if limit != nil { limits.windowByteCount = 128 << 20 }
    return limits
  }

  private func skipped(_ result: Store.InstallResult) -> [SkippedReport]? {
    source.printSkipped ? result.ignored.map(SkippedReport.init) : nil
  }

  /// Unpacks an archive. Returns its entries only for a dry run.
  private func unpack(
    _ archive: ForeignArchive, into folder: FilePath, _ bar: ProgressBar
  ) async throws -> (unpacked: ForeignArchive.Unpacked, entries: [ForeignArchive.Entry]) {
    let lists = dryRun
    do {
      return try await BlockingExecutor.run {
        var entries: [ForeignArchive.Entry] = []
        let unpacked = try archive.unpackForInstall(
          into: folder, visit: { if lists { entries.append($0) } },
          progress: {
            bar.update(Progress(activity: "unpacking", bytesDone: Int(clamping: $0.byteCount), filesDone: $0.fileCount))
          })
        return (unpacked, entries)
      }
    } catch let error as PackStoreError where error.code == .noSpace {
      throw noRoom(toUnpack: archive, into: folder)
    } catch let error as PackStoreError
      where error.detail == .byteLimit
    {
      throw Failure(
        error, as: .refused, remedy: "if you trust the archive, raise --limit")
    }
  }

  /// Returns the error for a full disk. It contains the space for the whole archive; the core's error contains the space for one
  /// write.
  private func noRoom(toUnpack archive: ForeignArchive, into folder: FilePath) -> Failure {
    let parent = folder.removingLastComponent().string, free = freeByteCount(parent)
    let finding = "too little space to unpack '\(escaped(displayName))' in '\(escaped(parent))' (TMPDIR)"
    guard hasFreeFiles(parent) else {
      return Failure(
        .noSpace,
        "\(finding): its disk has no free inodes (df -i), but \(formatBytes(Int(clamping: free))) free space",
        remedy: "delete files there, or set TMPDIR to another folder", path: parent)
    }
    let need = try? archive.list { _ in }.byteCount
    let room = need.map { " for \(formatBytes(Int(clamping: $0)))" } ?? ""
    return Failure(
      .noSpace, finding, remedy: "free space\(room) there, or set TMPDIR to another folder", path: parent)
  }

  private func say(_ imported: ImportReport, _ result: Store.InstallResult) throws {
    if !report.quiet {
      for notice in result.notices { warn(.init(notice.kind), escapedText(notice.description)) }
      source.warnOfStandard(result)
      if let notKept = imported.notKept, !notKept.isEmpty {
        warn(
          .unsupportedMetadata,
          "the archive has metadata that a store does not keep: \(notKept.map(escaped).joined(separator: ", "))")
      }
    }
    let output = Output()
    if report.json {
      try output.json(["packs": [imported]])
    } else {
      try output.lines(source.lines(result))
    }
    if report.isTalkative {
      try output.lines((imported.entries ?? []).map(\.line) + [imported.line])
    }
    try output.flush()
  }
}

@Sendable func parsePublicKey(_ text: String) throws -> SitePublicKey {
  guard let key = SitePublicKey(text) else {
    throw ValidationError("a public key is 44 characters, as 'packstore keygen' prints it")
  }
  return key
}

private struct ImportReport: Encodable {
  let pack, outcome: String
  var from, to: UInt64?
  var newChunks = 0
  var newStoredBytes = 0
  var format: String?
  var files, links: Int?
  var bytes: UInt64?
  /// Metadata of the archive that the store does not keep.
  var notKept: [String]?
  var entries: [Entry]?
  /// The number of files and folders skipped in a folder or in another program's archive.
  var skippedCount: Int?
  /// `nil` without `--print-skipped`.
  var skipped: [SkippedReport]?

  init(_ pack: Store.PullResult.Pack, isDryRun: Bool) {
    self.pack = pack.pack.name
    outcome = isDryRun && pack.outcome == .updated ? "planned" : pack.outcome.word
    from = pack.from
    to = pack.to
    newChunks = pack.newChunkCount
    newStoredBytes = pack.newStoredByteCount
    format = "pack"
  }

  init(_ result: Store.InstallResult, format: String, isDryRun: Bool, _ skipped: [SkippedReport]?) {
    pack = result.version.pack.name
    outcome = result.isUnchanged ? "unchanged" : isDryRun ? "planned" : "updated"
    to = result.version.number
    newChunks = result.newChunkCount
    newStoredBytes = result.newStoredByteCount
    self.format = format
    files = result.version.fileCount
    links = result.version.linkCount
    bytes = UInt64(clamping: result.version.byteCount)
    skippedCount = result.ignoredCount
    self.skipped = skipped
  }

  var line: String {
    let content = "\(formatCount(files ?? 0, "file")), \(formatBytes(Int(clamping: bytes ?? 0)))"
    return switch outcome {
    case "planned":
      "\(pack) would be at version \(to ?? 0): \(content); \(formatBytes(newStoredBytes)) stored"
    case "unchanged": "\(pack) is unchanged at version \(to ?? 0)"
    default: "\(pack) is at version \(to ?? 0): \(content); \(formatBytes(newStoredBytes)) stored"
    }
  }

  struct Entry: Encodable {
    let path, kind: String
    var bytes: UInt64?
    var executable: Bool?
    var target: String?

    init(_ entry: ForeignArchive.Entry) {
      path = entry.path
      switch entry.kind {
      case .file(let byteCount, let isExecutable):
        kind = "file"
        bytes = byteCount
        executable = isExecutable
      case .folder: kind = "folder"
      case .link(let target):
        kind = "link"
        self.target = target
      }
    }

    var line: String {
      let size = bytes.map { formatBytes(Int(clamping: $0)) } ?? ""
      let padding = String(repeating: " ", count: max(10 - size.count, 0))
      let kind = self.kind + String(repeating: " ", count: max(6 - self.kind.count, 0))
      return "\(kind)  \(padding)\(size)  \(escaped(path))" + (target.map { " -> \(escaped($0))" } ?? "")
    }
  }
}
