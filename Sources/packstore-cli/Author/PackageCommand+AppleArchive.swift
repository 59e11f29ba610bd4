import ArgumentParser
import PackAuthoring
import PackStore

extension Package {
  /// Fails for options that do not apply to the kind of the archive.
  func validateKind() throws {
    guard isAppleArchiveName(output) else {
      guard !blocks.isGiven else { throw BlocksOption.refusalForOthers }
      return
    }
    let signing: [(isGiven: Bool, name: String)] = [
      (version != nil, "--version"), (previous != nil, "--previous"), (key.key != nil, "--key"),
      (key.newKey, "--new-key"), (product.product != nil, "--product"), (encoding.level != nil, "--level"),
      (encoding.layout != nil, "--layout"), (encoding.publishNotes, "--publish-notes"),
    ]
    guard let option = signing.first(where: \.isGiven) else { return }
    throw refusalForAppleArchives(option.name)
  }

  /// Packs the manifest's selection as an asset pack in an Apple Archive.
  func writeAppleArchive() async throws {
    let options = try appleArchiveOptions()
    let evaluation = try evaluateManifest(manifest, report)
    let file = try ArchiveOutput(output, force: force)
    defer { file.remove() }
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let clock = ContinuousClock()
    let start = clock.now
    let result: Manifest.AppleArchiveResult
    do {
      result = try await evaluation.packageAppleArchive(to: FilePath(file.path), options: options) {
        switch $0 {
        case .store(let progress): bar.update(Progress(activity: "packing", progress))
        case .write(let done, let total):
          bar.update(Progress(activity: "writing", bytesDone: done, bytesTotal: total))
        }
      }
    } catch let error as PackStoreError where error.code == .exists {
      throw existsAlready(output)
    }
    bar.finish()
    try say(result, clock.now - start)
  }

  private func appleArchiveOptions() throws -> Manifest.AppleArchiveOptions {
    var options = Manifest.AppleArchiveOptions()
    options.label = encoding.label
    options.coding = blocks.coding
    options.modifiedAt = try UInt64(clamping: sourceDate(ProcessInfo.processInfo.environment))
    options.replaces = force
    options.isDryRun = dryRun
    options.rowLimit = rows.maxRows
    options.threadCount = threads
    return options
  }

  private func say(_ result: Manifest.AppleArchiveResult, _ duration: Duration) throws {
    if !report.quiet { warnAll(result.notices) }
    let out = Output()
    if report.json {
      try out.json(PackageReport(result, duration, isDryRun: dryRun))
    } else if report.isTalkative {
      let version = result.version
      let assets = assetCounts(files: version.fileCount, links: version.linkCount, folders: version.folderCount)
      try out.lines([
        "'\(escaped(output))' \(dryRun ? "would be" : "is") \(version.pack), as an Apple Archive",
        "  size     \(formatBytes(result.byteCount)), for \(formatBytes(version.byteCount)): \(assets)",
        "  time     \(formatDuration(duration))",
        "  largest",
      ])
      try out.lines(largest(result.largestAssets))
    }
    try out.flush()
  }
}
