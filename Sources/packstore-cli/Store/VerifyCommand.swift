import ArgumentParser
import PackAuthoring
import PackDelivery
import PackPublishing
import PackStore

struct Verify: AsyncParsableCommand, CommandWithSubject, CommandWithLog {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a store, a bucket or a served site for damage.",
    discussion: """
      Reads every file that the current generation needs and compares checksums. Each fault is reported with its \
      location and the affected assets, and the exit status is 7; 'packstore repair' repairs the store. Purged data \
      of purgeable packs is listed and is not damage. In the folder of a site, the history of all channels is also checked.

      For a bucket or a site on a web server, checks that every file exists with its length: by a list, or by one request for each. \
      With --deep, reads all content and compares it with the digests that the publisher signed; --record continues an \
      interrupted check.

        packstore verify Packs --deep
        packstore verify s3://assets/packs --deep --limit-rate 5M
        packstore verify https://example.com/packs --deep --record checked
      """
  )

  @OptionGroup var store: VerifiedArgument

  @Flag(help: "Also decompress all data and compare the SHA-256 of every chunk, which is slower.")
  var deep = false

  @OptionGroup(title: "Bucket or web server") var site: SiteVerificationOptions
  @OptionGroup var log: BuildLogOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    guard !self.store.store.contains("://") else {
      return try await site.verify(self.store.store, isDeep: deep, report)
    }
    try site.requireNone()
    let folder = escaped(self.store.store)
    let store = try open()
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let result = try await store.verify(deep: deep) {
      bar.update(Progress(activity: "verifying", bytesDone: $0.byteCount, bytesTotal: $0.totalByteCount))
    }

    bar.finish()
    for fault in result.faults where !fault.isPurgedData { complain(escaped(fault.description)) }
    for victim in Set(result.faults.filter(\.isPurgedData).map(Victim.init)).sorted() {
      complain(escaped("\(victim): purged"))
    }
    let output = Output()
    if report.json {
      try output.json(VerifyReport(result))
    } else if report.isTalkative {
      try output.line(summary(result))
    }
    try output.flush()
    let isOfCache = result.faults.allSatisfy { $0.isPurgedData || $0.isCachedDamage }
    if !result.isSound, isOfCache {
      let isDamaged = result.faults.contains(where: \.isCachedDamage)
      throw Failure(
        .purged,
        isDamaged
          ? "data of purgeable packs in the cache folder is damaged"
          : "data of purgeable packs is gone, and nothing is damaged",
        remedy: fetchAdvice(for: folder))
    }
    if !result.isSound {
      throw Failure(.corrupt, "'\(folder)': the store is damaged", remedy: repairAdvice(for: folder))
    }
    try await verifyHistory()
  }

  /// Checks the history of the channels, if the store belongs to a site. A damaged root is a finding of 'packstore status'.
  private func verifyHistory() async throws {
    let path = FilePath(store.store)
    guard Site.exists(at: path) else { return }
    for channel in try Site.channelNames(at: path) {
      let history = try? await SiteHistoryReader(.folder(path)).run(of: channel)
      guard let fault = history?.fault else { continue }
      throw Failure(
        .siteCorrupt,
        "'\(escaped(store.store))': the record of change \(fault.number) of '\(channel)' is"
          + " \(fault.isMissing ? "missing" : "damaged")",
        remedy: "restore '\(fault.path)' from a backup or a mirror", path: fault.path)
    }
  }

  /// Opens the store. Reports an I/O error of the disk as damage, but not missing read permission.
  private func open() throws -> Store {
    do {
      return try store.openForReading()
    } catch let error as PackStoreError where error.code == .ioError && error.systemError == .ioError {
      var failure = Failure(error)
      failure.code = .corrupt
      failure.remedy = repairAdvice(for: escaped(store.store))
      throw failure
    }
  }

  /// Returns the summary. It counts purged data separately, because purged data is not damage.
  private func summary(_ result: Store.VerifyResult) -> String {
    let purged =
      result.purgedFaultCount == 0 ? "" : ", data of \(formatCount(purgedAssetCount(result), "asset")) purged"
    let chunks = deep ? ", \(formatCount(result.chunkCount, "chunk"))" : ""
    return
      "\(damage(result)) in \(formatCount(result.fileCount, "file")), \(formatCount(result.frameCount, "frame"))\(chunks):"
      + " \(formatBytes(result.byteCount)) checked\(purged)"
  }

  private func damage(_ result: Store.VerifyResult) -> String {
    let count = result.faultCount - result.purgedFaultCount
    guard count > 0 else { return "no faults" }
    let assets =
      result.purgedFaultCount == 0
      ? result.hurtAssetCount : Set(result.faults.filter { !$0.isPurgedData && $0.asset != nil }.map(Victim.init)).count
    return "\(formatCount(count, "fault")) that \(count == 1 ? "hurts" : "hurt")"
      + " \(assets == 0 ? "no single asset" : formatCount(assets, "asset"))"
  }

  /// Returns the number of assets with purged data among the listed faults.
  private func purgedAssetCount(_ result: Store.VerifyResult) -> Int {
    Set(result.faults.filter(\.isPurgedData).map(Victim.init)).count
  }
}

/// An asset with purged data in one or more frames.
private struct Victim: Hashable, Comparable, CustomStringConvertible {
  let description: String

  init(_ fault: Store.Fault) {
    let version = fault.pack.map { "\($0)@\(fault.version ?? 0)" } ?? "a pack"
    description = fault.asset.map { "\(version) \($0)" } ?? version
  }

  static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}

/// Returns the remedy for missing or damaged data of purgeable packs.
func fetchAdvice(for store: String) -> String {
  "fetch it again with 'packstore pull \(store) SITE PACK' or 'packstore repair \(store) --from PLACE'"
}

/// Returns the remedy for damage.
func repairAdvice(for store: String) -> String {
  guard !store.contains("://") else {
    return "run the command again; if it fails again, restore the objects of the site, or publish the packs again"
  }
  return "run 'packstore repair \(store)', with '--from COPY' for each other store that may contain the same packs"
}
