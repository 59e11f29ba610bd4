import ArgumentParser
import PackAuthoring
import PackPublishing
import PackStore

struct Log: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Show the versions that are kept.",
    discussion: """
      The first of each pack is the current one, the others were current before it, the last first. STATE says which \
      are pinned, which pack is held since a rollback, and which pack was removed. LABEL is the publisher's name for a \
      version, shown where one has any. CATALOG names the content: equal \
      folders have equal catalogs.

        packstore log Packs Tutorial
        packstore log s3://assets/packs
      """
  )

  @Argument(help: "The store's folder, or a site as s3://bucket/prefix.", completion: .directory)
  var store: String

  @Argument(help: "The pack (default: all packs).", transform: parsePackID)
  var pack: PackID?

  @OptionGroup var storage: StorageOptions
  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store, pack: pack) }

  func run() async throws {
    guard S3Location.names(store) else {
      return try show(try openStore(at: store, options: .readOnly).makeSnapshot())
    }
    let host = try storage.host(of: store), pack = pack, report = report
    do {
      try await host.read { site in try Log.show(site.store.makeSnapshot(), of: pack, report) }
    } catch {
      await host.close()
      throw error
    }
    await host.close()
  }

  private func show(_ snapshot: Snapshot) throws { try Self.show(snapshot, of: pack, report) }

  private static func show(_ snapshot: Snapshot, of pack: PackID?, _ report: ReportOptions) throws {
    let all = snapshot.packs + snapshot.removedPacks
    let packs = all.filter { pack == nil || $0.id == pack }
    if let pack, packs.isEmpty { throw PackStoreError.noPack(pack, among: all.map(\.id)) }

    let histories = try packs.map { pack in
      (pack, try snapshot.versions(of: pack.id).map { try LogEntry($0, in: snapshot) })
    }
    let output = Output()
    if report.json {
      try output.json(LogReport(packs: histories.map(PackReport.init)))
    } else if !packs.isEmpty {
      try output.lines(text(histories))
    }
    try output.flush()
  }

  private static func text(_ histories: [(Store.Pack, [LogEntry])]) -> [String] {
    let hasLabels = histories.contains { $0.1.contains { $0.label != nil } }
    var table = Table(
      [("VERSION", .left)] + (hasLabels ? [("LABEL", .left)] : []) + [
        ("STATE", .left), ("CATALOG", .left), ("COMMITTED", .left), ("ASSETS", .right), ("SIZE", .right),
      ])
    for (pack, entries) in histories {
      for (index, entry) in entries.enumerated() {
        let version = entry.version
        table.add(
          ["\(version)"] + (hasLabels ? [entry.label?.text ?? ""] : []) + [
            state(of: version, isFirst: index == 0, of: pack),
            String(version.catalog.description.prefix(12)),
            formatDate(version.committedAt),
            formatCount([version.fileCount, version.linkCount, version.folderCount].clampedSum()),
            formatBytes(version.byteCount),
          ])
      }
    }
    return table.lines
  }

  private static func state(of version: PackVersion, isFirst: Bool, of pack: Store.Pack) -> String {
    var words: [String] = []
    if pack.isRemoved { words.append("removed") } else if isFirst { words.append(pack.isHeld ? "held" : "current") }
    if version.isPinned { words.append("pinned") }
    return words.joined(separator: ", ")
  }
}

/// A version that is kept, with its publisher's name for it.
private struct LogEntry {
  let version: PackVersion
  let label: VersionLabel?

  /// A version of which the attributes are lost is listed all the same: a store that is damaged has a log.
  init(_ version: PackVersion, in snapshot: Snapshot) throws {
    self.version = version
    do { label = try snapshot.attributes(of: version).label } catch let error as PackStoreError
      where [.corrupt, .purged, .ioError].contains(error.code)
    {
      label = nil
    }
  }
}

private struct LogReport: Encodable {
  let packs: [PackReport]
}

private struct PackReport: Encodable {
  struct Version: Encodable {
    let version: UInt64
    let current, pinned: Bool
    /// Left out where the version has none.
    let label: String?
    let catalog, committedAt: String
    let files, links, folders, bytes: Int
  }

  let pack, origin: String
  let priority: Int32
  let held, removed: Bool
  let versions: [Version]

  init(_ pack: Store.Pack, _ entries: [LogEntry]) {
    self.pack = pack.id.name
    origin = pack.origin.id
    priority = pack.priority
    held = pack.isHeld
    removed = pack.isRemoved
    versions = entries.map { entry in
      let version = entry.version
      return Version(
        version: version.number, current: version == pack.version && !pack.isRemoved, pinned: version.isPinned,
        label: entry.label?.text, catalog: version.catalog.description, committedAt: formatDate(version.committedAt),
        files: version.fileCount, links: version.linkCount, folders: version.folderCount, bytes: version.byteCount)
    }
  }
}
