import ArgumentParser
import PackAuthoring
import PackStore

struct MakeDelta: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "delta",
    abstract: "Create a delta between two versions of a pack.",
    discussion: """
      'packstore apply' installs the second version in a store that has the first one, independent of other content \
      of that store. The delta excludes chunks that the first version contains, and names and hashes that follow from \
      it. The store or site must have both versions; 'packstore log' lists them.

        packstore delta Packs Tutorial@3 @4 -o Tutorial-3-4.delta
        packstore delta public/packs Tutorial@previous Tutorial \\
            -o Tutorial.delta --level best
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .init("The old version, such as Tutorial@3 or Tutorial@previous.", valueName: "pack@version"),
    transform: parseVersionName)
  var from: VersionName

  @Argument(
    help: .init(
      "The new version, such as Tutorial@4 or @4; without '@', the current one.",
      valueName: "pack[@version]"))
  var to: String

  @Option(name: .shortAndLong, help: .init("Delta to write.", valueName: "file"), completion: .file())
  var output: String

  @Flag(help: .replacesFile)
  var force = false

  @Option(
    parsing: .unconditional,
    help: .init("Compression: fast, default, best, or 1 (fast) to 22 (small).", valueName: "level"))
  var level: DeltaLevel?

  @Flag(help: "Do not sign the delta, which then needs no key and is applied with --allow-unsigned.")
  var unsigned = false

  @OptionGroup var key: KeyOption
  @OptionGroup var product: ProductOption

  @Option(help: .threadCount)
  var threads: Int?

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard (1...1024).contains(threads ?? 1) else { throw ValidationError("--threads must be from 1 to 1024") }
    guard from.which != nil else {
      throw ValidationError("old version missing: write \(from.pack)@3 or \(from.pack)@previous")
    }
    guard try target.pack == from.pack else {
      throw ValidationError("both versions must belong to the same pack")
    }
    guard !unsigned || key.key == nil else { throw ValidationError("--unsigned and --key exclude each other") }
    guard !unsigned || !key.newKey else { throw ValidationError("--unsigned and --new-key exclude each other") }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: from.pack) }

  private var target: VersionName { get throws { try VersionName(to, of: from.pack) } }

  func run() async throws {
    var storeOptions = Store.Options.existing
    storeOptions.threadCount = threads
    let source = try store.openChecked(storeOptions)  // first: --new-key makes no key for a mistyped store
    let snapshot = try source.makeSnapshot()
    let (old, new) = try (from.find(in: snapshot), target.find(in: snapshot))
    guard old.number != new.number else {
      throw Failure(
        .usage, "version '\(old)': named twice", remedy: "name two versions",
        pack: from.pack)
    }
    let file = try outputFile(output, force: force)
    let key = unsigned ? nil : try self.key.open(for: product.product, quiet: report.quiet)
    var options = Store.DeltaOptions()
    if let level { options.level = level.level }
    if let product = product.product { options.product = product }

    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result = try await source.makeDelta(
      of: from.pack, fromVersion: old.number, toVersion: new.number, file: FilePath(file), signedBy: key,
      options: options
    ) { bar.update(Progress(activity: "comparing", bytesDone: $0.byteCount, bytesTotal: $0.totalByteCount)) }
    let duration = clock.now - start
    bar.finish()

    let out = Output()
    if report.json {
      try out.json(DeltaReport(result, duration))
    } else if report.isTalkative {
      try out.lines(summary(result, duration))
    }
    try out.flush()
  }

  private func summary(_ result: Store.DeltaResult, _ duration: Duration) -> [String] {
    let info = result.info
    return [
      "'\(escaped(output))' turns \(info)",
      "  size   \(formatBytes(result.byteCount)), for \(formatBytes(info.assetByteCount)) of assets",
      "  new    \(formatBytes(info.newByteCount))",
      "  key    \(result.publicKey?.description ?? "none")",
      "  time   \(formatDuration(duration))",
    ]
  }
}

private struct DeltaReport: Encodable {
  let pack: String
  let from, to: UInt64
  let fromCatalog, toCatalog: String
  let publicKey: String?
  let bytes, newBytes, assetBytes: Int
  let seconds: Double

  init(_ result: Store.DeltaResult, _ duration: Duration) {
    pack = result.info.pack.name
    from = result.info.fromVersion
    to = result.info.toVersion
    fromCatalog = result.info.fromCatalog.description
    toCatalog = result.info.toCatalog.description
    publicKey = result.publicKey?.description
    bytes = result.byteCount
    newBytes = result.info.newByteCount
    assetBytes = result.info.assetByteCount
    seconds = duration / .seconds(1)
  }
}
