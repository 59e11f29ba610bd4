import ArgumentParser
import PackDelivery
import PackStore

struct Log: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "List the kept versions of packs.",
    discussion: """
      Each pack's current version is first; versions that were current before follow, the latest first. STATE shows \
      pinned versions, packs held after a rollback, and removed packs. LABEL is the publisher's name for a version, \
      shown if any version has one. CATALOG identifies the content: equal folders have equal catalogs. COMMITTED is \
      the time at which the publisher created the version.

      If versions came from sites, archives or deltas, INSTALLED is the time of installation, KEY the beginning of \
      the root key that vouches for the version, and FROM its source. NOTE is the text of 'add --note'; it is private \
      to the store unless it was published. For a site, the versions that the channel offers are listed.

        packstore log Packs Tutorial
        packstore log s3://assets/packs
        packstore log https://example.com/packs
      """
  )

  @OptionGroup var store: LookArgument
  @OptionGroup(title: "Sites and archives") var look: PreviewOptions

  @Argument(help: "The pack (default: all packs).", transform: parsePackID)
  var pack: PackID?

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store, pack: pack) }

  func run() async throws {
    let place = store.place(look), isHere = try place.hasContent
    try await place.read(.all, of: pack.map { [$0] }, report) { store in
      try show(store.makeSnapshot(), of: place.noun, isHere ? installations(in: store) : .init())
    }
  }

  /// Returns the install log. An unreadable log counts as damaged, and the versions are shown without it.
  private func installations(in store: Store) -> InstallLog.Content {
    (try? InstallLog(inStore: store.path).read()) ?? .init(isDamaged: true)
  }

  private func show(_ snapshot: Snapshot, of place: String?, _ log: InstallLog.Content) throws {
    if log.isDamaged, !report.quiet {
      warn(
        .damagedLog,
        "the store's file 'installs' is damaged: the sources and notes of some versions are unknown")
    }
    let all = snapshot.packs + snapshot.removedPacks
    let packs = all.filter { pack == nil || $0.id == pack }
    if let pack, packs.isEmpty { throw PackStoreError.noPack(pack, among: all.map(\.id), of: place) }

    let histories = try packs.map { pack in
      (pack, try snapshot.versions(of: pack.id).map { try LogEntry($0, in: snapshot, log.installation(of: $0)) })
    }
    let output = Output()
    if report.json {
      try output.json(LogReport(packs: histories.map(PackReport.init)))
    } else if !packs.isEmpty {
      try output.lines(text(histories))
    }
    try output.flush()
  }

  private func text(_ histories: [(Store.Pack, [LogEntry])]) -> [String] {
    let all = histories.flatMap(\.1)
    // Empty columns are omitted.
    let hasLabels = all.contains { $0.label != nil }, hasSources = all.contains { $0.source != nil }
    let hasNotes = all.contains { $0.note != nil }
    var columns: [(title: String, alignment: Alignment)] = [("VERSION", .left)]
    if hasLabels { columns.append(("LABEL", .left)) }
    columns += [("STATE", .left), ("CATALOG", .left), ("COMMITTED", .left), ("ASSETS", .right), ("SIZE", .right)]
    if hasSources { columns += [("INSTALLED", .left), ("KEY", .left), ("FROM", .left)] }
    if hasNotes { columns.append(("NOTE", .left)) }
    var table = Table(columns)
    for (pack, entries) in histories {
      for (index, entry) in entries.enumerated() {
        let version = entry.version
        var cells = [String(describing: version)]
        if hasLabels { cells.append(entry.label?.text ?? "") }
        cells.append(Self.state(of: version, isFirst: index == 0, of: pack))
        cells += [String(version.catalog.description.prefix(12)), formatKnownDate(version.committedAt) ?? "unknown"]
        cells.append(formatCount([version.fileCount, version.linkCount, version.folderCount].clampedSum()))
        cells.append(formatBytes(version.byteCount))
        if hasSources { cells += sourceCells(entry) }
        if hasNotes { cells.append(entry.note.map { escaped($0.text) } ?? "") }
        table.add(cells)
      }
    }
    return table.lines
  }

  private func sourceCells(_ entry: LogEntry) -> [String] {
    guard let source = entry.source else { return ["", "", ""] }
    let key = source.key.map { String($0.description.prefix(12)) } ?? "unsigned"
    let channel = source.channel.map { $0 == .live ? "" : " (\($0))" } ?? ""
    return [entry.installedAt.map(formatDate) ?? "", key, escaped(source.location) + channel]
  }

  private static func state(of version: PackVersion, isFirst: Bool, of pack: Store.Pack) -> String {
    var words: [String] = []
    if pack.isRemoved { words.append("removed") } else if isFirst { words.append(pack.isHeld ? "held" : "current") }
    if version.isPinned { words.append("pinned") }
    return words.joined(separator: ", ")
  }
}

/// A kept version, with its label and the store's record of its installation.
private struct LogEntry {
  let version: PackVersion
  let label: VersionLabel?
  let note: VersionNote?
  /// Whether the note is part of the version.
  let isNotePublished: Bool
  let installedAt: Date?
  let source: Installation.Source?

  /// Also accepts a version whose attributes cannot be read, so that the log of a damaged store can be shown.
  init(_ version: PackVersion, in snapshot: Snapshot, _ installation: Installation?) throws {
    self.version = version
    var attributes: Attributes?
    do { attributes = try snapshot.attributes(of: version) } catch let error as PackStoreError
      where [.corrupt, .purged, .ioError].contains(error.code)
    {}
    label = attributes?.label
    note = installation?.note ?? attributes?.note
    isNotePublished = note != nil && note == attributes?.note
    source = installation?.source
    installedAt = installation.map { Date(timeIntervalSince1970: Double($0.date) / 1e9) }
  }
}

private struct LogReport: Encodable {
  let packs: [PackReport]
}

private struct PackReport: Encodable {
  struct Version: Encodable {
    let version: UInt64
    let current, pinned: Bool
    /// `nil` if the version has no label.
    let label: String?
    /// `nil` if the version has no note.
    let note: String?
    let notePublished: Bool?
    let catalog: String
    /// `nil` if the version came from an archive without a date.
    let committedAt: String?
    /// `nil` if the source of the version is unknown, for example because it was added here.
    let installedAt, from, channel, key: String?
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
        label: entry.label?.text, note: entry.note?.text, notePublished: entry.note.map { _ in entry.isNotePublished },
        catalog: version.catalog.description, committedAt: formatKnownDate(version.committedAt),
        installedAt: entry.source == nil ? nil : entry.installedAt.map(formatDate), from: entry.source?.location,
        channel: entry.source?.channel?.name, key: entry.source?.key?.description,
        files: version.fileCount, links: version.linkCount, folders: version.folderCount, bytes: version.byteCount)
    }
  }
}
