import ArgumentParser
import PackAuthoring
import PackFormats
import PackStore

struct Export: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a pack version to an archive.",
    discussion: """
      An archive is a signed tar file with a site that contains only this version, for uploads and for transport on \
      media. 'packstore import' installs it; extracted with tar, it is a site for 'packstore pull'.

      If the file's name ends in '.aar', the result is an asset pack in an Apple Archive, which is not signed: \
      Manifest.json with the version's attributes, and the assets below Contents. Its date comes from \
      SOURCE_DATE_EPOCH, in seconds since 1970 (default: 0). No tool of Apple's has read one yet.

        packstore export Packs Tutorial -o Tutorial.pack --key site.key
        packstore export Packs Tutorial@3 -o Tutorial-3.pack --level 19
        packstore export Packs Tutorial -o Tutorial.aar
        packstore export Packs Tutorial -o - | ssh server 'packstore import Packs -'
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .keptVersion,
    transform: parseVersionName)
  var version: VersionName

  @Option(
    name: .shortAndLong, help: .init("Archive to write, or - for standard output.", valueName: "file"),
    completion: .file())
  var output: String

  @Flag(help: .replacesFile)
  var force = false

  @Flag(help: "Do all work and report the result without keeping it.")
  var dryRun = false

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption
  @OptionGroup var expiry: ExpiryOptions
  @OptionGroup var encoding: ArchiveEncodingOptions

  @OptionGroup var blocks: BlocksOption

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  /// File name extensions of other formats, which `export` cannot write.
  private static let otherEndings = ["zip", "gz", "tgz", "xz", "zst", "7z", "json", "delta"]

  func validate() throws {
    try checkOptions()
    guard key.signing.signRequest == nil else {
      throw ValidationError(
        "--sign-request cannot sign this archive, which differs each time; use --sign-command, or 'packstore package'")
    }
    guard let ending = FilePath(output).extension?.lowercased(), Self.otherEndings.contains(ending) else { return }
    throw ValidationError(
      "'export' cannot write a '.\(escaped(ending))' file; use a name that ends in '.pack'")
  }

  private var isAppleArchive: Bool { isAppleArchiveName(output) }

  /// Fails for options that do not apply to the kind of file.
  private func checkOptions() throws {
    let signing: [(isGiven: Bool, name: String)] = [
      (key.key != nil, "--key"), (key.newKey, "--new-key"), (product.product != nil, "--product"),
      (expiry.expires != nil, "--expires"),
      (expiry.noExpires, "--no-expires"), (encoding.level != nil, "--level"), (encoding.layout != nil, "--layout"),
    ]
    let options = isAppleArchive ? signing : [(blocks.isGiven, "--blocks")]
    guard let option = options.first(where: \.isGiven) else { return }
    throw isAppleArchive ? refusalForAppleArchives(option.name) : BlocksOption.refusalForOthers
  }

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    let source = try store.openForReading()  // before --new-key creates a key: the store may be mistyped
    let pack = try version.publishedPack(in: source.makeSnapshot())
    let file = try ArchiveOutput(output, force: force)
    defer { file.remove() }
    try await isAppleArchive
      ? writeAppleArchive(of: pack, of: source, to: file.path) : writeArchive(of: pack, of: source, to: file)
  }

  private func writeArchive(of pack: Site.PublishedPack, of source: Store, to file: ArchiveOutput) async throws {
    let hasKey = try key.exists || !dryRun
    let key = try key.open(for: product.product, quiet: report.quiet, isDryRun: dryRun)
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result = try await write(pack, to: file.path, of: source, key, bar)
    let duration = clock.now - start
    bar.finish()
    try file.finish()

    let out = file.reportOutput()
    if report.json {
      try out.json(ArchiveReport(result, duration, isDryRun: dryRun, hasKey: hasKey))
    } else if report.isTalkative {
      try out.lines([
        "\(output == "-" ? "the output" : "'\(escaped(output))'") \(dryRun ? "would be" : "is") \(result.version)",
        "  size   \(formatBytes(result.byteCount)), for \(formatBytes(result.version.byteCount)) of assets",
      ])
      if hasKey { try out.line("  key    \(result.publicKey)") }
      try out.line("  time   \(formatDuration(duration))")
    }
    try out.flush()
  }

  private var options: Site.PublishOptions {
    var options = Site.PublishOptions()
    if let level = encoding.level { options.level = level }
    if let layout = encoding.layout { options.layout = layout }
    options.product = product.product
    options.expiry = expiry.expiry
    return options
  }

  private func write(
    _ pack: Site.PublishedPack, to file: String, of source: Store, _ key: SiteKey, _ bar: ProgressBar
  ) async throws -> Store.ArchiveResult {
    do {
      return try await source.export(
        pack, to: FilePath(file), signedBy: key, options: options, replacing: force, isDryRun: dryRun
      ) {
        bar.update(Progress($0))
      }
    } catch let error as PackStoreError where error.code == .exists {
      throw existsAlready(output)
    }
  }
}

// MARK: - Apple Archives

extension Export {
  private func writeAppleArchive(of pack: Site.PublishedPack, of source: Store, to file: String) async throws {
    let date = try UInt64(clamping: sourceDate(ProcessInfo.processInfo.environment))
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result: Store.AppleArchiveResult
    do {
      result = try await source.exportAppleArchive(
        pack, to: FilePath(file), coding: blocks.coding, modifiedAt: date, replacing: force, isDryRun: dryRun
      ) {
        bar.update(Progress(activity: "writing", bytesDone: $0, bytesTotal: $1))
      }
    } catch let error as PackStoreError where error.code == .exists {
      throw existsAlready(output)
    }
    let duration = clock.now - start
    bar.finish()
    let out = Output()
    if report.json {
      try out.json(ArchiveReport(result.version, result.byteCount, duration, format: .aar, isDryRun: dryRun))
    } else if report.isTalkative {
      try out.lines([
        "'\(escaped(output))' \(dryRun ? "would be" : "is") \(result.version), as an Apple Archive",
        "  size   \(formatBytes(result.byteCount)), for \(formatBytes(result.version.byteCount)) of assets",
        "  time   \(formatDuration(duration))",
      ])
    }
    try out.flush()
  }
}

private struct ArchiveReport: Encodable {
  let pack: String
  let version: UInt64
  let dryRun: Bool
  let format: Format
  let catalog: String
  /// `nil` if a dry run would create the key, or if nothing is signed.
  var publicKey: String?
  let bytes, assetBytes: Int
  let seconds: Double

  enum Format: String, Encodable { case pack, aar }

  init(_ version: PackVersion, _ byteCount: Int, _ duration: Duration, format: Format, isDryRun: Bool) {
    dryRun = isDryRun
    self.format = format
    pack = version.pack.name
    self.version = version.number
    catalog = version.catalog.description
    bytes = byteCount
    assetBytes = version.byteCount
    seconds = duration / .seconds(1)
  }

  init(_ result: Store.ArchiveResult, _ duration: Duration, isDryRun: Bool, hasKey: Bool) {
    self.init(result.version, result.byteCount, duration, format: .pack, isDryRun: isDryRun)
    publicKey = hasKey ? result.publicKey.description : nil
  }
}
