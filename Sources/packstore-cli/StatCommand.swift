import ArgumentParser
import PackStore

struct Stat: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Show what packs hold and what they cost on disk.",
    discussion: """
      SIZE is the sum of the files' sizes; UNIQUE counts equal parts once; STORED is what they take compressed; OWN is \
      the part of it that no other pack uses. ORIGIN is shown where not all packs were added here; see 'packstore trust'. \
      Generations that readers still hold, so that they are not collected, are \
      listed last, with the processes that hold them where the system tells.

        packstore stat Packs
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func run() async throws {
    let store = try store.openForReading()
    let packs = try store.packs()
    let statistics = try await store.statistics()
    let held = try store.read { snapshot in try snapshot.heldGenerations() }
    let origins = PackOrigins(packs)
    let output = Output()
    if report.json {
      try output.json(StatReport(statistics, packs, origins, held))
    } else {
      try output.lines(text(statistics, packs, origins) + text(held))
    }
    try output.flush()
  }

  private func text(_ statistics: Store.Statistics, _ packs: [Store.Pack], _ origins: PackOrigins) -> [String] {
    // A last column that is empty leaves no trace.
    var table = Table(
      ("PACK", .left), ("ASSETS", .right), ("SIZE", .right), ("UNIQUE", .right), ("STORED", .right), ("OWN", .right),
      (origins.areNamed ? "ORIGIN" : "", .left))
    for pack in packs {
      guard let usage = statistics.packs[pack.id] else { continue }
      table.add(["\(pack.version)"] + cells(usage) + [formatBytes(usage.ownStoredByteCount), origins[pack.id] ?? ""])
    }
    let shared = statistics.shared
    table.add(["shared", "", "", formatBytes(shared.unique), formatBytes(shared.stored), "", ""])
    table.add(["all"] + cells(statistics.all) + ["", ""])

    let all = statistics.all
    let segments = "\(formatCount(statistics.segmentCount, "segment")) of \(formatBytes(statistics.segmentByteCount))"
    return table.lines + [
      "",
      "saved by deduplication  \(saving(from: all.byteCount, to: all.uniqueByteCount))",
      "saved by compression    \(saving(from: all.uniqueByteCount, to: all.storedByteCount))",
      "on disk                 \(formatBytes(statistics.diskByteCount)): \(segments),"
        + " index of \(formatBytes(statistics.indexByteCount))",
    ]
  }

  /// What readers hold; nothing where they hold nothing.
  private func text(_ held: Snapshot.HeldGenerations) -> [String] {
    guard !held.generations.isEmpty else { return [] }
    let numbers = held.generations.map { hold in
      let processes = hold.processes.isEmpty ? "" : " by \(hold.processes.map(String.init).joined(separator: ", "))"
      return "  generation \(hold.generation)\(processes): \(formatBytes(hold.keptByteCount))"
    }
    let more = held.hasMore ? ["  and perhaps more: nothing is collected until readers let go of some"] : []
    return ["held by readers         \(formatBytes(held.keptByteCount))"] + numbers + more
  }

  private func cells(_ usage: Store.Statistics.Usage) -> [String] {
    [formatCount(usage.assetCount)] + [usage.byteCount, usage.uniqueByteCount, usage.storedByteCount].map(formatBytes)
  }

  private func saving(from before: Int, to after: Int) -> String {
    "\(formatBytes(max(before - after, 0))) (\(formatPercent(max(before - after, 0), of: before)))"
  }
}

extension Store.Statistics {
  /// In chunks that several packs use.
  fileprivate var shared: (unique: Int, stored: Int) {
    (
      max(all.uniqueByteCount - packs.values.map(\.ownUniqueByteCount).clampedSum(), 0),
      max(all.storedByteCount - packs.values.map(\.ownStoredByteCount).clampedSum(), 0)
    )
  }

  fileprivate var diskByteCount: Int { segmentByteCount.addingClamped(indexByteCount) }
}

extension Store.Statistics.Usage {
  fileprivate var assetCount: Int { [fileCount, linkCount, folderCount].clampedSum() }
}

private struct StatReport: Encodable {
  struct Usage: Encodable {
    let files, links, folders, bytes, chunks, uniqueBytes, storedBytes: Int

    init(_ usage: Store.Statistics.Usage) {
      files = usage.fileCount
      links = usage.linkCount
      folders = usage.folderCount
      bytes = usage.byteCount
      chunks = usage.chunkCount
      uniqueBytes = usage.uniqueByteCount
      storedBytes = usage.storedByteCount
    }
  }

  struct PackUsage: Encodable {
    let pack: String
    /// Absent where all packs are local.
    let origin: String?
    let version: UInt64
    let usage: Usage
    let ownUniqueBytes, ownStoredBytes: Int
  }

  let packs: [PackUsage]
  let all: Usage
  let sharedUniqueBytes, sharedStoredBytes: Int
  let savedByDeduplication, savedByCompression: Int
  let segments, segmentBytes, indexRuns, indexBytes, diskBytes: Int

  struct Hold: Encodable {
    let generation: UInt64
    let keptBytes: Int
    let processes: [Int]
  }

  let held: [Hold]
  let heldBytes: Int
  let heldMore: Bool

  init(_ statistics: Store.Statistics, _ packs: [Store.Pack], _ origins: PackOrigins, _ held: Snapshot.HeldGenerations)
  {
    self.held = held.generations.map {
      Hold(generation: $0.generation.rawValue, keptBytes: $0.keptByteCount, processes: $0.processes)
    }
    heldBytes = held.keptByteCount
    heldMore = held.hasMore
    self.packs = packs.compactMap { pack in
      statistics.packs[pack.id].map {
        PackUsage(
          pack: pack.id.name, origin: origins[pack.id], version: pack.version.number, usage: Usage($0),
          ownUniqueBytes: $0.ownUniqueByteCount,
          ownStoredBytes: $0.ownStoredByteCount)
      }
    }
    all = Usage(statistics.all)
    (sharedUniqueBytes, sharedStoredBytes) = statistics.shared
    savedByDeduplication = statistics.all.byteCount - statistics.all.uniqueByteCount
    savedByCompression = statistics.all.uniqueByteCount - statistics.all.storedByteCount
    segments = statistics.segmentCount
    segmentBytes = statistics.segmentByteCount
    indexRuns = statistics.runCount
    indexBytes = statistics.indexByteCount
    diskBytes = statistics.diskByteCount
  }
}
