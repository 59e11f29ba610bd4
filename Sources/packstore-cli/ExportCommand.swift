import ArgumentParser
import PackAuthoring
import PackStore

struct Export: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Write one version of a pack as one signed file.",
    discussion: """
      An archive is a tar file of a site with that version alone, for upload and for carrying it by hand: 'packstore \
      import' takes it, and extracted by tar it is a site that 'packstore pull' takes.

        packstore export Packs Tutorial -o Tutorial.pack
        packstore export Packs Tutorial@3 -o Tutorial-3.pack --level 19
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init("The pack, at its current version or at one that is kept.", valueName: "pack[@version]"),
    transform: parseVersionName)
  var version: VersionName

  @Option(name: .shortAndLong, help: .init("The file to write.", valueName: "file"), completion: .file())
  var output: String

  @Flag(help: "Replace the file if it is there.")
  var force = false

  @Flag(help: "Do everything, say what came of it, and keep nothing.")
  var dryRun = false

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption
  @OptionGroup var expiry: ExpiryOptions
  @OptionGroup var encoding: EncodingOptions
  @OptionGroup var report: ReportOptions

  /// How files of other formats are named, which this is not.
  private static let otherEndings = ["aar", "zip", "gz", "tgz", "xz", "zst", "7z", "json", "delta"]

  func validate() throws {
    guard let ending = FilePath(output).extension?.lowercased(), Self.otherEndings.contains(ending) else { return }
    throw ValidationError(
      "what is written is an archive of a pack, and no '.\(escaped(ending))': let the name of the file end in '.pack'")
  }

  var subject: Failure.Facts { .init(store: store.store, pack: version.pack) }

  func run() async throws {
    let source = try store.openForReading()  // first: a mistyped store must not make a key
    let pack = try version.publishedPack(in: source.makeSnapshot())
    let file = try outputFile(output, force: force)
    let hasKey = try key.exists || !dryRun
    let key = try key.open(for: product.product, quiet: report.quiet, isDryRun: dryRun)
    let bar = ProgressBar(enabled: report.isTalkative)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result = try await write(pack, to: file, of: source, key, bar)
    let duration = clock.now - start
    bar.finish()

    let out = Output()
    if report.json {
      try out.json(ArchiveReport(result, duration, isDryRun: dryRun, hasKey: hasKey))
    } else if report.isTalkative {
      try out.lines([
        "'\(escaped(output))' \(dryRun ? "would be" : "is") \(result.version)",
        "  size   \(formatBytes(result.byteCount)), for \(formatBytes(result.version.byteCount)) of assets",
      ])
      if hasKey { try out.line("  key    \(result.publicKey)") }
      try out.line("  time   \(formatDuration(duration))")
    }
    try out.flush()
  }

  private var options: Site.PublishOptions {
    var options = encoding.publishOptions
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

private struct ArchiveReport: Encodable {
  let pack: String
  let version: UInt64
  let dryRun: Bool
  let catalog: String
  /// Left out where the key would be made.
  let publicKey: String?
  let bytes, assetBytes: Int
  let seconds: Double

  init(_ result: Store.ArchiveResult, _ duration: Duration, isDryRun: Bool, hasKey: Bool) {
    dryRun = isDryRun
    pack = result.version.pack.name
    version = result.version.number
    catalog = result.version.catalog.description
    publicKey = hasKey ? result.publicKey.description : nil
    bytes = result.byteCount
    assetBytes = result.version.byteCount
    seconds = duration / .seconds(1)
  }
}
