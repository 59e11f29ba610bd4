import ArgumentParser
import PackStore

struct Log: ParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Show the versions that are kept.",
    discussion: """
      The first of each pack is the current one, the others were current before it, the last first. STATE says which \
      are pinned, which pack is held since a rollback, and which pack was removed. CATALOG names the content: equal \
      folders have equal catalogs.

        packstore log Packs Tutorial
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The pack (default: all packs).", transform: parsePackID)
  var pack: PackID?

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() throws {
    let snapshot = try store.openForReading().makeSnapshot()
    let all = snapshot.packs + snapshot.removedPacks
    let packs = all.filter { pack == nil || $0.id == pack }
    if let pack, packs.isEmpty { throw PackStoreError.noPack(pack, among: all.map(\.id)) }

    let histories = packs.map { ($0, snapshot.versions(of: $0.id)) }
    let output = Output()
    if report.json {
      try output.json(LogReport(packs: histories.map(PackReport.init)))
    } else if !packs.isEmpty {
      try output.lines(text(histories))
    }
    try output.flush()
  }

  private func text(_ histories: [(Store.Pack, [PackVersion])]) -> [String] {
    var table = Table(
      ("VERSION", .left), ("STATE", .left), ("CATALOG", .left), ("COMMITTED", .left), ("ASSETS", .right),
      ("SIZE", .right))
    for (pack, versions) in histories {
      for (index, version) in versions.enumerated() {
        table.add([
          "\(version)", state(of: version, isFirst: index == 0, of: pack),
          String(version.catalog.description.prefix(12)),
          formatDate(version.committedAt),
          formatCount([version.fileCount, version.linkCount, version.folderCount].clampedSum()),
          formatBytes(version.byteCount),
        ])
      }
    }
    return table.lines
  }

  private func state(of version: PackVersion, isFirst: Bool, of pack: Store.Pack) -> String {
    var words: [String] = []
    if pack.isRemoved { words.append("removed") } else if isFirst { words.append(pack.isHeld ? "held" : "current") }
    if version.isPinned { words.append("pinned") }
    return words.joined(separator: ", ")
  }
}

private struct LogReport: Encodable {
  let packs: [PackReport]
}

private struct PackReport: Encodable {
  struct Version: Encodable {
    let version: UInt64
    let current, pinned: Bool
    let catalog, committedAt: String
    let files, links, folders, bytes: Int
  }

  let pack, origin: String
  let priority: Int32
  let held, removed: Bool
  let versions: [Version]

  init(_ pack: Store.Pack, _ versions: [PackVersion]) {
    self.pack = pack.id.name
    origin = pack.origin.id
    priority = pack.priority
    held = pack.isHeld
    removed = pack.isRemoved
    self.versions = versions.map {
      Version(
        version: $0.number, current: $0 == pack.version && !pack.isRemoved, pinned: $0.isPinned,
        catalog: $0.catalog.description, committedAt: formatDate($0.committedAt),
        files: $0.fileCount,
        links: $0.linkCount, folders: $0.folderCount, bytes: $0.byteCount)
    }
  }
}
