import ArgumentParser
import PackDelivery
import PackFormats
import PackStore

struct Apply: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Install a version from a delta.",
    discussion: """
      The store must have the version that the delta starts from, which need not be the current one. The new version \
      becomes the current one. It is exactly the version that the delta's header names; otherwise nothing changes. \
      The pack's publisher must have signed the delta, for the same product; '--trust' also checks the key. \
      'packstore delta' creates deltas.

        packstore apply Packs Tutorial-3-4.delta
        packstore apply Packs Tutorial-3-4.delta --trust KEY
        packstore apply Packs Tutorial-3-4.delta --allow-unsigned --adopt
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The delta.", completion: .file())
  var file: String

  @Option(help: .trustedKey, transform: parsePublicKey)
  var trust: SitePublicKey?

  @Flag(help: "Accept an unsigned delta.")
  var allowUnsigned = false

  @Flag(help: .adoptsPack)
  var adopt = false

  @Flag(help: .allowsDowngrade)
  var downgrade = false

  @Option(help: .keptVersionCount)
  var keep = 2

  @Option(
    parsing: .unconditional,
    help: .init("\(levelHelp) for new data (default: 3; the delta's own level has no effect).", valueName: "n"))
  var level: Int32?

  @OptionGroup var rows: RowOptions
  @OptionGroup var collection: CollectionOptions
  @OptionGroup var wait: WaitOption

  @Option(help: .threadCount)
  var threads: Int?

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    try validate(level: level)
    guard (1...1000).contains(keep) else { throw ValidationError("--keep must be from 1 to 1000, not \(keep)") }
    guard (1...1024).contains(threads ?? 1) else { throw ValidationError("--threads must be from 1 to 1024") }
    guard trust == nil || !allowUnsigned else {
      throw ValidationError("--trust and --allow-unsigned exclude each other")
    }
  }

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    try PackFileKind.require(.delta, at: file, store: store.store, for: "apply")
    let delta = try VerifiedDelta(FilePath(file))
    let trust = try chooseTrust(for: delta)
    var storeOptions = Store.Options.existing
    storeOptions.threadCount = threads
    if let authority = delta.authority {
      let book = try TrustFile(inStore: FilePath(store.store)).read()
      try book.check(RootClaims.Signer(authority), of: authority.delegation.product, at: file)
    }
    let store = try self.store.open(storeOptions)
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }

    let clock = ContinuousClock()
    let start = clock.now
    let options = collection.apply(to: .init(waitsForWriters: !wait.noWait, keptVersionCount: keep))
    let result = try await store.change(options: options) { [applyOptions] transaction in
      try transaction.apply(delta, trusting: trust, options: applyOptions) {
        bar.update(Progress(activity: "applying", $0))
      }
    }
    let duration = clock.now - start
    bar.finish()

    let output = Output()
    if report.json {
      try output.json(ApplyReport(result, delta.info, duration))
    } else if report.isTalkative {
      try output.lines(summary(result, duration))
    }
    try output.flush()
  }

  /// Returns the required signer. Without `--trust` and `--allow-unsigned`, the core requires a signature by the pack's publisher.
  private func chooseTrust(for delta: VerifiedDelta) throws -> VerifiedDelta.Trust {
    if let trust { return .key(trust) }
    if allowUnsigned { return .anyone }
    guard delta.signer != nil else {
      throw Failure(
        .notSigned, "'\(escaped(file))': the delta is not signed", remedy: "add --allow-unsigned to accept it",
        path: file)
    }
    return .packOrigin
  }

  private var applyOptions: Store.ApplyOptions {
    .init(adopts: adopt, allowsDowngrade: downgrade, level: level, rowLimit: rows.maxRows)
  }

  private func summary(_ result: Store.InstallResult, _ duration: Duration) -> [String] {
    let version = result.version
    guard !result.isUnchanged else { return ["\(version.pack) is at version \(version.number) already"] }
    return [
      "\(version.pack) is at version \(version.number)",
      "  assets  \(assetCounts(files: version.fileCount, links: version.linkCount, folders: version.folderCount))",
      "  size    \(formatBytes(version.byteCount))",
      "  new     \(formatBytes(result.newByteCount)), \(formatBytes(result.newStoredByteCount)) stored",
      "  time    \(formatDuration(duration)), \(formatRate(version.byteCount, in: duration))",
    ]
  }
}

private struct ApplyReport: Encodable {
  let pack: String
  let from, version: UInt64
  let unchanged: Bool
  let catalog: String
  let bytes, newChunks, newBytes, newStoredBytes: Int
  let seconds: Double

  init(_ result: Store.InstallResult, _ info: DeltaFile.Info, _ duration: Duration) {
    pack = result.version.pack.name
    from = info.fromVersion
    version = result.version.number
    unchanged = result.isUnchanged
    catalog = result.version.catalog.description
    bytes = result.version.byteCount
    newChunks = result.newChunkCount
    newBytes = result.newByteCount
    newStoredBytes = result.newStoredByteCount
    seconds = duration / .seconds(1)
  }
}
