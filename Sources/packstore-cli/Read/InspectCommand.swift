import ArgumentParser
import PackAuthoring
import PackDelivery
import PackStore

struct Inspect: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show the largest files and duplicate files.",
    discussion: """
      STORED is the compressed size of a file's chunks; chunks that several files share count for each of them. \
      Duplicate files are stored once; they are listed because a build may not need them. For sites and archives, no \
      content is downloaded, each pack's version is the first one that clients try, and duplicates are not listed.

      '--html' writes a page for a browser: a map of all files by stored size and the same tables, in one file \
      without external references. With '--from', the page also lists the changes since an earlier version of the \
      pack and the download size of that update by ranges; with '--delta', also by a delta, which is created for this \
      purpose and discarded.

        packstore inspect Packs
        packstore inspect Packs Tutorial --from previous --delta --html report.html
        packstore inspect Tutorial.pack --top 20
        packstore inspect https://example.com/packs Tutorial --from 3 \\
            --html report.html
      """
  )

  @OptionGroup var source: LookArgument
  @OptionGroup(title: "Sites and archives") var look: PreviewOptions

  @Argument(help: "The pack (default: all packs, merged).", transform: parsePackID)
  var pack: PackID?

  @Option(help: .init("Version of the pack to compare with: 'previous' or a number.", valueName: "version"))
  var from: String?

  @Flag(help: "With --from: create the delta, too, to measure its size.")
  var delta = false

  @Option(
    help: .init("File to write a page for a browser to.", valueName: "file"), completion: .file(extensions: ["html"]))
  var html: String?

  @Flag(help: .replacesFile)
  var force = false

  @Option(help: .init("Maximum number of lines in each table.", valueName: "n"))
  var top = 10

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: source.store, pack: pack) }

  func validate() throws {
    guard from == nil || pack != nil else {
      throw ValidationError("--from needs the name of a pack")
    }
    guard !delta || from != nil else { throw ValidationError("--delta needs --from: name the version to start from") }
    guard !force || html != nil else { throw ValidationError("--force needs --html") }
    guard top >= 1 else { throw ValidationError("invalid --top: use at least 1") }
  }

  func run() async throws {
    if let html { _ = try outputFile(html, force: force) }  // fails before any work
    let place = source.place(look, needsContent: true)
    guard try !delta || place.hasContent else {
      throw Failure(
        .invalidArgument,
        "'\(escaped(source.store))': not a store, but a delta needs the content of both versions",
        remedy: "leave out --delta, or pull the versions into a store")
    }
    let scope = from == nil ? SitePreview.Scope.first : .all
    let hasContent = try place.hasContent
    try await place.read(scope, of: pack.map { [$0] }, report) {
      try show($0.makeSnapshot(), of: place.noun, hasContent: hasContent)
    }
  }

  private func show(_ snapshot: Snapshot, of place: String?, hasContent: Bool) throws {
    let inspection = try inspect(snapshot, of: place, hasContent: hasContent)
    if let html { try writeTextFile(inspection.html(title: title), to: html, force: force) }
    let output = Output()
    if report.json {
      try output.json(InspectionReport(inspection, top: top))
    } else if !report.quiet || html == nil {
      try output.lines(InspectionText(inspection, top: top).lines)
    }
    try output.flush()
  }

  private var title: String { pack.map { "\($0)" } ?? FilePath(source.store).lastComponent?.string ?? source.store }

  private func inspect(_ snapshot: Snapshot, of place: String?, hasContent: Bool) throws -> Inspection {
    if let pack, snapshot.pack(pack) == nil {
      throw PackStoreError.noPack(pack, among: snapshot.packs.map(\.id), of: place)
    }
    let version = try from.flatMap { from in
      try pack.map { try VersionName("@\(from)", of: $0).find(in: snapshot, of: place) }
    }
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    return try Inspection(of: snapshot, pack: pack, from: version, makesDelta: delta, findsDuplicates: hasContent) {
      count in
      bar.update(Progress(activity: "looking at \(formatCount(count, "file"))"))
    }
  }
}

// MARK: - Text

private struct InspectionText {
  let inspection: Inspection
  let top: Int

  init(_ inspection: Inspection, top: Int) {
    self.inspection = inspection
    self.top = top
  }

  var lines: [String] {
    let usage = inspection.usage
    let summary =
      "\(formatCount(usage.fileCount, "file")) of \(formatBytes(usage.byteCount)); \(formatBytes(usage.uniqueByteCount)) distinct, "
      + "stored in \(formatBytes(usage.storedByteCount))"
    return [summary, ""] + kinds + [""] + largest + duplicates + (inspection.change.map(change) ?? [])
  }

  private var kinds: [String] {
    var table = Table(("KIND", .left), ("FILES", .right), ("SIZE", .right), ("STORED", .right), ("OF ITS SIZE", .right))
    for kind in inspection.kinds.prefix(top) {
      table.add([
        kind.fileExtension.isEmpty ? "(none)" : escaped("." + kind.fileExtension), formatCount(kind.fileCount),
        formatBytes(kind.byteCount), formatBytes(kind.storedByteCount),
        formatPercent(kind.storedByteCount, of: kind.byteCount),
      ])
    }
    return table.lines + more(inspection.kinds.count - top, "kind")
  }

  private var largest: [String] {
    var table = Table(("SIZE", .right), ("STORED", .right), ("FILE", .left))
    for (path, file) in inspection.largestFiles(top) {
      table.add([formatBytes(file.byteCount), formatBytes(file.storedByteCount), escaped(path)])
    }
    return table.lines + more(inspection.root.fileCount - top, "file")
  }

  private var duplicates: [String] {
    guard inspection.findsDuplicates else {
      return ["", "duplicates are unknown: finding them needs the files' bytes, which were not downloaded"]
    }
    guard !inspection.duplicates.isEmpty else { return [] }
    let lines = inspection.duplicates.prefix(top).flatMap { same in
      ["\(formatCount(same.paths.count, "file")) of \(formatBytes(same.byteCount)):"]
        + same.paths.prefix(4).map { "  \(escaped($0))" } + more(same.paths.count - 4, "path").map { "  \($0)" }
    }
    return ["", "duplicate files: \(formatBytes(inspection.duplicateByteCount)) could be saved"] + lines
      + more(inspection.duplicates.count - top, "group")
  }

  private func change(_ change: Inspection.Change) -> [String] {
    let totals = change.totals
    let counts = [
      (totals.addedCount, "added"), (totals.removedCount, "removed"), (totals.changedCount, "changed"),
      (totals.movedCount, "moved"), (totals.unchangedCount, "unchanged"),
    ].map { "\(formatCount($0)) \($1)" }.joined(separator: ", ")
    let delta = change.deltaByteCount.map { "; by a delta \(formatBytes($0))" } ?? ""
    return [
      "", "since version \(change.from.number): \(counts)",
      "  \(formatBytes(totals.newByteCount)) of new chunks; by ranges about \(formatBytes(change.rangeByteCount))\(delta)",
    ]
  }

  private func more(_ count: Int, _ noun: String) -> [String] {
    count > 0 ? ["and \(formatCount(count, "more " + noun))"] : []
  }
}

// MARK: - JSON

private struct InspectionReport: Encodable {
  let files, bytes, uniqueBytes, storedBytes: Int
  let kinds: [Kind]
  let largest: [File]
  /// `nil` if files were not compared.
  let duplicates: [Duplicate]?
  let duplicateBytes: Int?
  let change: Change?

  struct Kind: Encodable {
    let `extension`: String
    let files, bytes, storedBytes: Int
  }

  struct File: Encodable {
    let path: String
    let bytes, storedBytes: Int
  }

  struct Duplicate: Encodable {
    let paths: [String]
    let bytes: Int
  }

  struct Change: Encodable {
    let from, to: UInt64
    let added, removed, changed, moved, unchanged, newBytes, rangeBytes: Int
    let deltaBytes: Int?

    init(_ change: Inspection.Change) {
      from = change.from.number
      to = change.to.number
      added = change.totals.addedCount
      removed = change.totals.removedCount
      changed = change.totals.changedCount
      moved = change.totals.movedCount
      unchanged = change.totals.unchangedCount
      newBytes = change.totals.newByteCount
      rangeBytes = change.rangeByteCount
      deltaBytes = change.deltaByteCount
    }
  }

  init(_ inspection: Inspection, top: Int) {
    files = inspection.usage.fileCount
    bytes = inspection.usage.byteCount
    uniqueBytes = inspection.usage.uniqueByteCount
    storedBytes = inspection.usage.storedByteCount
    kinds = inspection.kinds.prefix(top).map {
      Kind(extension: $0.fileExtension, files: $0.fileCount, bytes: $0.byteCount, storedBytes: $0.storedByteCount)
    }
    largest = inspection.largestFiles(top).map {
      File(path: $0.path, bytes: $0.file.byteCount, storedBytes: $0.file.storedByteCount)
    }
    let isKnown = inspection.findsDuplicates
    duplicates =
      isKnown ? inspection.duplicates.prefix(top).map { Duplicate(paths: $0.paths, bytes: $0.byteCount) } : nil
    duplicateBytes = isKnown ? inspection.duplicateByteCount : nil
    change = inspection.change.map(Change.init)
  }
}
