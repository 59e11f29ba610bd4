import ArgumentParser
import PackStore

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the versions that are kept.",
    discussion: """
      Newest first; the newest of each pack is the current one. CATALOG names the content: equal folders have equal \
      catalogs.

        packstore log Packs Tutorial
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The pack (default: all packs).", transform: parsePackID)
  var pack: PackID?

  @OptionGroup var report: ReportOptions

  func run() throws {
    let snapshot = try store.openForReading().makeSnapshot()
    let packs = snapshot.packs.filter { pack == nil || $0.id == pack }
    if let pack, packs.isEmpty { throw noSuchPack(pack) }

    let histories = packs.map { ($0, snapshot.versions(of: $0.id)) }
    let output = Output()
    if report.json {
      try output.json(LogReport(packs: histories.map(PackReport.init)))
    } else if !packs.isEmpty {
      try output.lines(text(histories.flatMap(\.1)))
    }
    try output.flush()
  }

  private func text(_ versions: [PackVersion]) -> [String] {
    var table = Table(
      ("VERSION", .left), ("CATALOG", .left), ("COMMITTED", .left), ("ASSETS", .right), ("SIZE", .right))
    for version in versions {
      table.add([
        "\(version)", String(version.catalog.description.prefix(12)), formatDate(version.committedAt),
        formatCount(version.fileCount + version.linkCount + version.folderCount), formatBytes(version.byteCount),
      ])
    }
    return table.lines
  }
}

private struct LogReport: Encodable {
  let packs: [PackReport]
}

private struct PackReport: Encodable {
  struct Version: Encodable {
    let version: UInt64
    let catalog, committedAt: String
    let files, links, folders, bytes: Int
  }

  let pack: String
  let priority: Int32
  let versions: [Version]

  init(_ pack: Pack, _ versions: [PackVersion]) {
    self.pack = pack.id.name
    priority = pack.priority
    self.versions = versions.map {
      Version(
        version: $0.number, catalog: $0.catalog.description, committedAt: formatDate($0.committedAt),
        files: $0.fileCount,
        links: $0.linkCount, folders: $0.folderCount, bytes: $0.byteCount)
    }
  }
}
