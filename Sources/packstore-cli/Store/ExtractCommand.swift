import ArgumentParser
import PackStore

struct Extract: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "extract",
    abstract: "Write all assets to a folder.",
    discussion: """
      Creates the folder if it does not exist. Links that lead out of the folder are listed and not created. Damaged \
      assets are listed, all others are written, and the exit status is 7.

        packstore extract Packs /tmp/Tutorial --pack Tutorial
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The folder to write to.", completion: .directory)
  var folder: String

  @OptionGroup var pack: PackOption

  @Flag(help: "Also create links that lead out of the folder.")
  var unsafeLinks = false

  @Flag(help: "Replace existing files and links, but not by damaged assets (default: stop at the first).")
  var overwrite = false

  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: pack.pack) }

  func run() async throws {
    let options = Store.ExtractOptions(
      overwrites: overwrite, createsUnsafeLinks: unsafeLinks, continuesAfterDamage: true)
    try requireOutside(folder, of: store.store)
    let store = try store.openForReading()
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }

    let clock = ContinuousClock()
    let start = clock.now
    // Without progress, `extract` does not measure the store first.
    let progress: (@Sendable (Store.ExtractProgress) -> Void)? =
      report.isTalkative ? { @Sendable in bar.update(Progress($0)) } : nil
    let result: Store.ExtractResult
    do {
      result = try await store.extract(pack: pack.pack, to: FilePath(folder), options: options, progress: progress)
    } catch let error as PackStoreError {
      throw explain(error)
    }
    let duration = clock.now - start

    bar.finish()
    let refused = result.refusedLinks.sorted { $0.path < $1.path }
    if !report.quiet {
      for link in refused {
        let (path, target) = (escaped(link.path), escaped(link.target))
        warn(
          .unsafeLink, "'\(path)' is a link out of the folder, to '\(target)', and was not created: see --unsafe-links")
      }
    }
    let damaged = result.damaged.sorted { $0.path < $1.path }
    for asset in damaged { complain("'\(escaped(asset.path))': not extracted: \(escaped(asset.error.finding))") }
    let output = Output()
    if report.json {
      try output.json(ExtractReport(result, refused, damaged, duration))
    } else if report.isTalkative {
      let counts = assetCounts(files: result.fileCount, links: result.linkCount, folders: 0)
      let speed = "\(formatDuration(duration)), \(formatRate(result.byteCount, in: duration))"
      try output.line("extracted \(counts): \(formatBytes(result.byteCount)) in \(speed)")
    }
    try output.flush()
    let isPurged = damaged.allSatisfy { $0.error.code == .purged && $0.error.missingByteCount != nil }
    if !damaged.isEmpty, isPurged {
      throw Failure(
        .purged, "cached data of \(formatCount(damaged.count, "asset")) is missing",
        remedy: fetchAdvice(for: escaped(self.store.store)), path: damaged.count == 1 ? damaged[0].path : nil)
    }
    guard damaged.isEmpty else {
      throw Failure(
        .corrupt, "\(formatCount(damaged.count, "asset")) could not be read",
        remedy: repairAdvice(for: escaped(self.store.store)), path: damaged.count == 1 ? damaged[0].path : nil)
    }
  }

  /// Returns the error with the option that helps.
  private func explain(_ error: PackStoreError) -> any Error {
    guard error.code == .exists, error.specificRemedy == nil, let file = error.subject?.path else { return error }
    return Failure(
      .exists, "'\(escaped(file))': exists in '\(escaped(folder))'", remedy: "add --overwrite to replace it", path: file
    )
  }
}

extension Progress {
  fileprivate init(_ progress: Store.ExtractProgress) {
    self.init(
      activity: "extracting", bytesDone: progress.byteCount, bytesTotal: progress.totalByteCount,
      filesDone: progress.fileCount)
  }
}

private struct ExtractReport: Encodable {
  struct Link: Encodable { let path, target: String }
  struct Damage: Encodable { let path, reason: String }

  let files, links, folders, bytes: Int
  let seconds: Double
  let refusedLinks: [Link]
  let damaged: [Damage]

  init(
    _ result: Store.ExtractResult, _ refused: [Store.ExtractResult.RefusedLink],
    _ damaged: [Store.ExtractResult.DamagedAsset],
    _ duration: Duration
  ) {
    files = result.fileCount
    links = result.linkCount
    folders = result.folderCount
    bytes = result.byteCount
    seconds = duration / .seconds(1)
    refusedLinks = refused.map { Link(path: $0.path, target: $0.target) }
    self.damaged = damaged.map { Damage(path: $0.path, reason: $0.error.finding) }
  }
}
