import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackFormats
import PackStore

struct Package: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "package",
    abstract: "Create an archive from a manifest.",
    discussion: """
      Writes a signed archive for 'packstore import'; extracted with tar, it is a site. Equal files, manifest, key, \
      options, previous archive and version of libzstd result in equal bytes on any machine. Dates in the archive \
      come from SOURCE_DATE_EPOCH, in seconds since 1970 (default: 0).

      If the file's name ends in '.aar', the result is an asset pack in an Apple Archive, as written by 'packstore \
      export': it has neither a signature nor a version number, and options for these do not apply.

        packstore package Manifest.json -o Tutorial.pack
        packstore package Manifest.json -o Tutorial.aar
        packstore package Manifest.json -o Tutorial-2.pack --previous Tutorial.pack
        packstore package Manifest.json -o Tutorial-3.pack \\
            --previous public/packs --estimate-delta --dry-run
        packstore package Manifest.json -o Tutorial-4.pack \\
            --previous https://assets.example.com/packs
        packstore package Manifest.json -o - | ssh server 'packstore import Packs -'

      '--previous' names the archive of the previous version, or a site's folder: its data is not stored again, and \
      its segments do not change. It may also be a served site, by URL or as s3://bucket/prefix. Then only the roots \
      are read: the number follows the site's highest, equal content creates no archive, and a new archive contains \
      the complete version. Existing files are replaced only with '--force', except that an archive of the same \
      version and content is left as it is.
      """
  )

  @Argument(help: "The manifest.", completion: .file(extensions: ["json"]))
  var manifest: String

  @Option(
    name: [.short, .long, .customLong("output-path")],
    help: .init(
      "Archive to write, with a name that ends in '.pack' or '.aar'; or - for a signed archive on standard output.",
      valueName: "file"),
    completion: .file(extensions: ["pack", "aar"]))
  var output: String

  @Option(help: .init("Version number (default: the version of --previous plus 1, or 1).", valueName: "n"))
  var version: UInt64?

  @Option(
    help: .init(
      "Archive of the previous version, or a site with it: a folder, a URL or s3://bucket/prefix.",
      valueName: "archive|site"),
    completion: .file())
  var previous: String?

  @Option(
    help: .init(
      "With --previous and a served site: other channel whose root is read; repeatable.", valueName: "name"),
    transform: parseChannel)
  var alsoChannel: [SiteChannel] = []

  @Flag(help: .replacesFile)
  var force = false

  @Flag(help: "Do all work and report the result without keeping it.")
  var dryRun = false

  @Flag(help: "Report the size of a delta from the previous version; takes as long as creating it.")
  var estimateDelta = false

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption

  @OptionGroup var encoding: ManifestEncodingOptions
  @OptionGroup var blocks: BlocksOption
  @OptionGroup var rows: RowOptions

  @Option(help: .threadCount)
  var threads: Int?

  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard alsoChannel.isEmpty || isServed else {
      throw ValidationError("--also-channel needs '--previous' with a URL or a bucket")
    }
    guard (1...1024).contains(threads ?? 1) else { throw ValidationError("--threads must be from 1 to 1024") }
    guard 1...PackVersion.lastNumber ~= version ?? 1 else {
      throw ValidationError("--version must be from 1 to \(PackVersion.lastNumber)")
    }
    guard !estimateDelta || (previous != nil && !isServed) else {
      throw ValidationError("--estimate-delta needs --previous with an archive or a folder")
    }
    guard output.hasSuffix(".pack") || isAppleArchiveName(output) || output == "-" else {
      throw ValidationError("invalid name of an archive: use a name that ends in '.pack' or '.aar'")
    }
    guard encoding.note == nil || encoding.publishNotes else {
      throw ValidationError(
        "archives cannot contain a private note: add --publish-notes, or store the note with 'packstore add'")
    }
    try validateKind()
  }

  var subject: Failure.Facts { .init() }

  func run() async throws {
    guard !isAppleArchiveName(output) else { return try await writeAppleArchive() }
    var options = try packageOptions()
    let evaluation = try evaluateManifest(manifest, report)
    if let previous, !isServed { try requireSource(previous) }
    let file = try ArchiveOutput(output, force: true)  // the existing file may be this archive
    defer { file.remove() }
    let hasKey = try key.exists || !dryRun
    let key = try key.open(
      for: product.product, quiet: report.quiet,
      signed: previous == nil ? nil : "the previous archive", isDryRun: dryRun)
    if isServed { options.knownVersions = try await knownVersions(key) }
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result = try await write(evaluation, to: file.path, key, options, bar)
    let duration = clock.now - start
    bar.finish()
    try file.finish()
    try say(result, duration, hasKey, file.reportOutput())
  }

  /// Whether the previous version is on a site, whose metadata alone is read.
  private var isServed: Bool { previous?.contains("://") ?? false }

  private func knownVersions(_ key: SiteKey) async throws -> PublishedVersionIndex? {
    guard let previous else { return nil }
    return try await RemoteSiteLocation(
      previous, options: try storage.options(),
      authorization: try authorization.authorizations(for: [previous]).authorization(for: previous)
    ).knownVersions(
      channels: [key.archiveChannel] + alsoChannel, signedBy: key)
  }

  private func packageOptions() throws -> Manifest.PackageOptions {
    var options = Manifest.PackageOptions()
    options.version = version
    options.previous = isServed ? nil : previous.map { FilePath($0) }
    options.product = product.product
    options.level = encoding.level
    options.layout = encoding.layout
    options.label = encoding.label
    options.note = encoding.note
    options.publishesNotes = encoding.publishNotes
    options.date = try sourceDate(ProcessInfo.processInfo.environment)
    options.replaces = force
    options.isDryRun = dryRun
    options.estimatesDelta = estimateDelta
    options.threadCount = threads
    options.rowLimit = rows.maxRows
    return options
  }

  private func write(
    _ evaluation: ManifestEvaluation, to file: String, _ key: SiteKey, _ options: Manifest.PackageOptions,
    _ bar: ProgressBar
  ) async throws -> Manifest.PackageResult {
    do {
      return try await evaluation.package(to: FilePath(file), signedBy: key, options: options) {
        bar.update(Progress($0, storing: "packing"))
      }
    } catch let error as PackStoreError where error.code == .exists {
      throw Failure(
        error, as: .exists, remedy: error.specificRemedy ?? "name another file, or replace it with --force")
    }
  }

  // MARK: - Report

  /// - Parameter hasKey: whether the key exists or was created.
  private func say(_ result: Manifest.PackageResult, _ duration: Duration, _ hasKey: Bool, _ out: Output) throws {
    if !report.quiet { warnAll(result) }
    if report.json {
      try out.json(PackageReport(result, duration, hasKey: hasKey))
    } else if report.isTalkative {
      try out.lines(summary(result, duration, hasKey))
    }
    try out.flush()
  }

  /// Warns of the notices that the evaluation has not reported with positions: patterns without matches and similar paths.
  func warnAll(_ notices: [Store.InstallNotice]) {
    let saidBefore: Set<Store.InstallNotice.Kind> = [.unusedPattern, .twin]
    for notice in notices where !saidBefore.contains(notice.kind) {
      warn(.init(notice.kind), escapedText(notice.description))
    }
  }

  private func warnAll(_ result: Manifest.PackageResult) {
    warnAll(result.notices)
    if let before = result.previousZstdVersion, before != result.zstdVersion {
      warn(
        .otherCompressor,
        "libzstd \(before) compressed the previous archive, but this program uses \(result.zstdVersion): the same input"
          + " can become other bytes")
    }
  }

  private func summary(_ result: Manifest.PackageResult, _ duration: Duration, _ hasKey: Bool) -> [String] {
    let name = output == "-" ? "the output" : "'\(escaped(output))'",
      chosen = version == nil ? standardNumber(result) : ""
    switch result.outcome {
    case .unchanged: return ["nothing changed since \(result.version): no archive was written"]
    case .alreadyHere: return ["\(name) is \(result.version) already, with the same content"]
    case .written, .planned: break
    }
    let verb = result.outcome == .written ? "is" : "would be"
    let assets = assetCounts(
      files: result.version.fileCount, links: result.version.linkCount, folders: result.version.folderCount)
    var lines = [
      "\(name) \(verb) \(result.version)\(chosen)",
      "  size     \(formatBytes(result.byteCount)), for \(formatBytes(result.version.byteCount)): \(assets)",
    ]
    if let previous = result.previous, !isServed {
      let new = formatPercent(result.newByteCount, of: result.version.byteCount)
      lines.append("  new      \(formatBytes(result.newByteCount)), \(new) of it, since version \(previous)")
      lines.append("  upload   \(formatBytes(result.newSegmentByteCount)) in new segments")
    }
    if let ranges = result.updateByteCount {
      let delta = result.deltaByteCount.map { "; by a delta \(formatBytes($0))" } ?? ""
      lines.append("  update   by ranges \(formatBytes(ranges))\(delta)")
    }
    if hasKey { lines.append("  key      \(result.publicKey)") }
    lines += [
      "  libzstd  \(result.zstdVersion)", "  time     \(formatDuration(duration))",
      "  largest",
    ]
    return lines + largest(result.largestAssets)
  }

  /// The source of the number if '--version' is not given.
  private func standardNumber(_ result: Manifest.PackageResult) -> String {
    result.previous.map { ", by default the number after \($0)" } ?? ", by default the first number"
  }

  func largest(_ assets: [Manifest.PackageResult.Asset]) -> [String] {
    var table = Table(("", .left), ("", .right), ("", .left))
    for asset in assets { table.add(["   ", formatBytes(Int(clamping: asset.byteCount)), escaped(asset.path)]) }
    return assets.isEmpty ? [] : Array(table.lines.dropFirst())
  }
}

/// The JSON report. An Apple Archive has neither a version number nor a key, and is not divided into chunks.
struct PackageReport: Encodable {
  let outcome: String
  let format: Format
  let pack: String
  var version, previous: UInt64?
  let catalog: String
  /// Absent if the key would be created, and if nothing is signed.
  var publicKey: String?
  let bytes, assetBytes: Int
  var chunks, newChunks, newBytes, newSegmentBytes: Int?
  var updateBytes, deltaBytes: Int?
  var libzstd, previousLibzstd: String?
  let largestAssets: [Asset]
  let seconds: Double

  enum Format: String, Encodable { case pack, aar }

  struct Asset: Encodable {
    let path: String
    let bytes: UInt64
  }

  init(_ result: Manifest.PackageResult, _ duration: Duration, hasKey: Bool) {
    outcome = result.outcome.rawValue
    format = .pack
    pack = result.version.pack.name
    version = result.version.number
    previous = result.previous
    catalog = result.version.catalog.description
    publicKey = hasKey ? result.publicKey.description : nil
    bytes = result.byteCount
    assetBytes = result.version.byteCount
    (chunks, newChunks, newBytes) = (result.chunkCount, result.newChunkCount, result.newByteCount)
    newSegmentBytes = result.newSegmentByteCount
    (updateBytes, deltaBytes) = (result.updateByteCount, result.deltaByteCount)
    libzstd = result.zstdVersion
    previousLibzstd = result.previousZstdVersion
    largestAssets = result.largestAssets.map { Asset(path: $0.path, bytes: $0.byteCount) }
    seconds = duration / .seconds(1)
  }

  init(_ result: Manifest.AppleArchiveResult, _ duration: Duration, isDryRun: Bool) {
    let outcome: Manifest.PackageResult.Outcome = isDryRun ? .planned : .written
    self.outcome = outcome.rawValue
    format = .aar
    pack = result.version.pack.name
    catalog = result.version.catalog.description
    bytes = result.byteCount
    assetBytes = result.version.byteCount
    largestAssets = result.largestAssets.map { Asset(path: $0.path, bytes: $0.byteCount) }
    seconds = duration / .seconds(1)
  }
}
