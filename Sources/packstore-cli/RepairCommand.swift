import ArgumentParser
import PackStore

struct Repair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a damaged store whole again.",
    discussion: """
      Everything that is whole, or can be found, becomes a new generation; nothing of the old one is touched. What is lost \
      is listed: current versions go on without it, as a new version; older versions that lack something are dropped. \
      Other stores may help out. A store without faults is left alone. When CONTROL and index/ are both gone, packs that \
      had been removed may come back, and priorities, pins and dates are guessed. Add the source again afterwards to get \
      back what was lost. The exit status is 0 when the store is whole, 1 when something is lost.

        packstore repair Packs --dry-run
        packstore repair Packs --from /media/backup/Packs
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(
    name: .customLong("from"),
    help: .init("Another store that may have the same content. May be given several times.", valueName: "store"),
    completion: .directory)
  var donors: [String] = []

  @Flag(help: "Say what would be done, and leave the store as it is.")
  var dryRun = false

  @OptionGroup var wait: WaitOption
  @OptionGroup var report: ReportOptions

  func run() async throws {
    let bar = ProgressBar(enabled: report.isTalkative)
    defer { bar.finish() }
    let result = try await Store.repair(
      at: store.store, from: donors, isDryRun: dryRun, waitsForWriters: !wait.noWait
    ) { bar.update(Progress($0)) }

    bar.finish()
    let output = Output()
    if report.json {
      try output.json(RepairReport(result, isDryRun: dryRun))
    } else {
      for loss in result.losses { complain("lost: " + escaped(loss.description)) }
      if report.isTalkative { try output.lines(text(result)) }
    }
    try output.flush()
    if !result.isWhole { throw ExitCode.failure }
  }

  private func text(_ result: RepairResult) -> [String] {
    if result.wasWhole { return ["the store is whole: nothing to repair"] }
    var lines = result.healings.map {
      escaped("healed: \($0.pack)@\($0.version) \($0.asset), from \($0.origin)")
    }
    if result.isRebuilt {
      lines.append("the index was lost: priorities, dates, pins and which versions are current are guessed")
    }
    if result.mendedCopyCount > 0 {
      let copies = result.mendedCopyCount == 1 ? "1 damaged copy" : "\(result.mendedCopyCount) damaged copies"
      lines.append("\(dryRun ? "would write" : "wrote") \(copies) of slots of CONTROL again")
    }
    let onlyMended = result.mendedCopyCount == result.faultCount && result.generation == nil && result.packCount == 0
    if !onlyMended { lines.append(summary(result)) }
    return lines
  }

  private func summary(_ result: RepairResult) -> String {
    let kept = "\(formatCount(result.packCount, "pack")) in \(formatCount(result.versionCount, "version"))"
    let healed = "\(formatCount(result.healedAssetCount, "asset")) healed"
    var lost: [String] = []
    if result.lostAssetCount > 0 { lost.append(formatCount(result.lostAssetCount, "asset")) }
    if result.lostVersionCount > 0 { lost.append(formatCount(result.lostVersionCount, "older version")) }
    if result.lostPackCount > 0 { lost.append(formatCount(result.lostPackCount, "pack")) }
    let loss = lost.isEmpty ? "nothing lost" : lost.joined(separator: ", ") + " lost"
    return "\(dryRun ? "would keep" : "kept") \(kept): \(healed), \(loss)"
  }
}

extension Progress {
  fileprivate init(_ progress: RepairProgress) {
    let activity =
      switch progress.phase {
      case .check: "verifying"
      case .survey: "surveying"
      case .restore: "restoring"
      }
    self.init(activity: activity, bytesDone: progress.byteCount, bytesTotal: progress.totalByteCount)
  }
}

private struct RepairReport: Encodable {
  struct Loss: Encodable {
    let pack: String
    let version: UInt64?
    let asset: String?
    let unnamedAssets: Int
  }
  struct Healing: Encodable {
    let pack: String
    let version: UInt64
    let asset, origin: String
  }

  let wasWhole, whole, rebuilt, dryRun: Bool
  let generation: UInt64?
  let mendedCopies: Int
  let faultCount, segments, damagedSegments, packs, versions: Int
  let lostAssets, lostVersions, lostPacks, healedAssets, storedBytes: Int
  let lost: [Loss]
  let healed: [Healing]

  init(_ result: RepairResult, isDryRun: Bool) {
    wasWhole = result.wasWhole
    whole = result.isWhole
    rebuilt = result.isRebuilt
    dryRun = isDryRun
    generation = result.generation?.rawValue
    mendedCopies = result.mendedCopyCount
    faultCount = result.faultCount
    segments = result.segmentCount
    damagedSegments = result.damagedSegmentCount
    packs = result.packCount
    versions = result.versionCount
    lostAssets = result.lostAssetCount
    lostVersions = result.lostVersionCount
    lostPacks = result.lostPackCount
    healedAssets = result.healedAssetCount
    storedBytes = result.storedByteCount
    lost = result.losses.map {
      Loss(pack: $0.pack.name, version: $0.version, asset: $0.asset, unnamedAssets: $0.unnamedAssetCount)
    }
    healed = result.healings.map {
      Healing(pack: $0.pack.name, version: $0.version, asset: $0.asset, origin: $0.origin)
    }
  }
}
