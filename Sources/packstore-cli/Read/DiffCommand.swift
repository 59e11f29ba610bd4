import ArgumentParser
import PackDelivery
import PackPublishing
import PackStore

struct Diff: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two pack versions or two folders.",
    usage: """
      packstore diff <store> <a> <b>
      packstore diff <a> <b> [--store <store>]
      """,
    discussion: """
      In a store, A and B are versions: 'Tutorial@3', 'Tutorial@previous', 'Tutorial@1.4.2' by label, or 'Tutorial' \
      for the current one; B may omit the pack: '@3'. Otherwise each is a folder of files, a store, a site (folder, \
      URL or s3://bucket/prefix) or an archive, followed by '#' and the version: 'Packs#Tutorial@3'. Without a \
      version, the other operand names the pack, or there is only one. Together with a store, a folder needs a '/' in \
      its name.

      A file's new data is the uncompressed size of its chunks that A does not have; a chunk that several files share \
      counts for the first file. A renamed folder is one line. Folders are compared through a temporary store, which \
      needs disk space for their compressed data. For sites and archives, no content is downloaded. The exit status \
      is 0 if there are differences, too.

        packstore diff Packs Tutorial@previous Tutorial
        packstore diff Packs Tutorial@3 @5 --path 'levels/**' --min-size 1M
        packstore diff Packs#Tutorial https://example.com/packs
        packstore diff Assets.old Assets
      """
  )

  @Argument(help: .init("The store and the two versions, or two operands.", valueName: "operand"))
  var operands: [String]

  @Option(help: .init("Store or site of both versions.", valueName: "store"), completion: .directory)
  var store: String?

  @OptionGroup var selection: DiffSelection

  @Flag(help: "Print one line of JSON for each difference, and one with the totals.")
  var jsonLines = false

  @OptionGroup(title: "Sites and archives") var look: PreviewOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !jsonLines || !report.json else { throw ValidationError("--json and --json-lines exclude each other") }
    guard operands.count >= 2 else {
      throw ValidationError(
        "one operand is missing next to '\(escaped(operands.first ?? ""))': name two versions of a store, or two folders"
      )
    }
    guard operands.count == 2 || operands.count == 3 && store == nil else {
      throw ValidationError("too many operands: name two versions of one store, or two folders")
    }
    if storePath == nil, let version = operands.first(where: DiffOperand.isVersion) {
      throw ValidationError("store of '\(escaped(version))' missing: name it first, or with --store")
    }
    _ = try compared()
  }

  var subject: Failure.Facts { .init(store: storePath) }

  func run() async throws {
    let (old, new) = try compared()
    if S3Location.names(old.location), S3Location.names(new.location) {
      guard old.location != new.location else { return try await compareInBucket(old, new) }
      guard look.storage.work == nil else {
        throw Failure(.usage, "--work applies to one site only", remedy: "leave it out to compare two sites")
      }
    }
    try await read(old, pack: old.pack ?? new.pack) { oldSnapshot, oldVersion in
      try await read(new, pack: new.pack ?? (old.isFolder ? nil : oldVersion.pack)) { newSnapshot, newVersion in
        try compare(oldVersion, of: oldSnapshot, with: newVersion, of: newSnapshot)
      }
    }
  }

  /// Compares two versions in one copy of a site, because a work folder can be open only once at a time.
  private func compareInBucket(_ old: DiffOperand, _ new: DiffOperand) async throws {
    try await read(old, pack: old.pack ?? new.pack) { snapshot, oldVersion in
      let name = new.version ?? VersionName(pack: new.pack ?? oldVersion.pack)
      try compare(oldVersion, of: snapshot, with: name.find(in: snapshot), of: snapshot)
    }
  }

  private var storePath: String? { operands.count == 3 ? operands[0] : store }

  /// Returns the two operands. If the second operand does not name a pack, it means the first operand's pack.
  private func compared() throws -> (DiffOperand, DiffOperand) {
    let old = try DiffOperand(operands[operands.count - 2], inStore: storePath, of: nil)
    return (old, try DiffOperand(operands[operands.count - 1], inStore: storePath, of: old.pack))
  }

  // MARK: - Operands

  /// Calls `body` with a snapshot and the operand's version in it.
  ///
  /// - Parameter pack: the pack if the operand does not name one; `nil` for the only pack.
  private func read(
    _ operand: DiffOperand, pack: PackID?, _ body: @Sendable (Snapshot, PackVersion) async throws -> Void
  ) async throws {
    guard !operand.isFolder else { return try await readFolder(operand.location, body) }
    let isBesideBucket = ([storePath].compactMap { $0 } + operands).contains(where: S3Location.names)
    let place = PreviewedStore(name: operand.location, options: look, others: operands, isBesideBucket: isBesideBucket)
    let scope = operand.version?.which ?? .current == .current ? SitePreview.Scope.first : .all
    try await place.read(scope, of: pack.map { [$0] }, report) { store in
      let snapshot = try store.makeSnapshot()
      let name = try operand.version ?? VersionName(pack: pack ?? onlyPack(of: snapshot, at: operand.location))
      try await body(snapshot, try name.find(in: snapshot))
    }
  }

  private func onlyPack(of snapshot: Snapshot, at location: String) throws -> PackID {
    let packs = snapshot.packs.map(\.id)
    guard packs.count != 1 else { return packs[0] }
    let name = escaped(location)
    guard let first = packs.first else {
      throw Failure(.notFound, "'\(name)': does not contain a pack", path: location)
    }
    throw Failure(
      .invalidArgument, "'\(name)': contains several packs (\(listed(packs.map(\.name))))",
      remedy: "name one, such as '\(name)#\(first)'", path: location)
  }

  /// Calls `body` with a version made from a folder of files, in a temporary store.
  private func readFolder(
    _ source: String, _ body: @Sendable (Snapshot, PackVersion) async throws -> Void
  ) async throws {
    try requireFolder(source)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let store = try Store(at: FilePath(folder.path))
    let bar = ProgressBar(report.progressForm)
    defer { bar.finish() }
    let result = try await store.change(options: .init(durability: .atomic)) { [quiet = report.quiet] transaction in
      do {
        return try transaction.install(folder: FilePath(source), as: "folder", options: .init(level: 1)) {
          bar.update(Progress(activity: "reading '\(escaped(source))'", $0))
        }
      } catch let error as PackStoreError {
        bar.finish()
        throw explainRefusal(error, of: source, quiet: quiet)
      }
    }
    bar.finish()
    try await body(store.makeSnapshot(), result.version)
  }

  // MARK: - Report

  private func compare(
    _ old: PackVersion, of oldSnapshot: Snapshot, with new: PackVersion, of newSnapshot: Snapshot
  ) throws {
    let output = Output()
    func compare(_ visit: (Snapshot.Difference) throws -> Void) throws -> Snapshot.DifferenceTotals {
      try oldSnapshot.compare(old, with: new, of: newSnapshot) { if selection.shows($0) { try visit($0) } }
    }
    if report.json {
      try printJSON(to: output, compare)
    } else if jsonLines {
      let totals = try compare { try output.json(DifferenceReport($0)) }
      try output.json(["totals": TotalsReport(totals)])
    } else {
      var lines = DiffLines()
      let totals = try compare { try output.lines(lines.add($0)) }
      try output.lines(lines.end())
      if !report.quiet || selection.summary { try output.line(summary(totals)) }
    }
    try output.flush()
  }

  /// Writes one JSON document, difference by difference.
  private func printJSON(
    to output: Output, _ compare: ((Snapshot.Difference) throws -> Void) throws -> Snapshot.DifferenceTotals
  ) throws {
    var separator = #"{"differences":["#
    let totals = try compare { difference in
      try output.write(separator.utf8)
      try output.write(jsonBytes(DifferenceReport(difference)))
      separator = ","
    }
    try output.write((separator == "," ? "" : separator).utf8)
    try output.write("],".utf8)
    // The members of another object, without its opening brace.
    try output.write(jsonBytes(TypedObject(["totals": TotalsReport(totals)], type: jsonType)).dropFirst())
    try output.line()
  }

  private func summary(_ totals: Snapshot.DifferenceTotals) -> String {
    let counts = [
      (totals.addedCount, "added"), (totals.removedCount, "removed"), (totals.changedCount, "changed"),
      (totals.movedCount, "moved"), (totals.unchangedCount, "unchanged"),
    ]
    let chunks = "\(formatCount(totals.newChunkCount)) of \(formatCount(totals.chunkCount, "chunk"))"
    return counts.map { "\(formatCount($0)) \($1)" }.joined(separator: ", ")
      + "; new: \(formatBytes(totals.newByteCount)) in \(chunks)"
  }
}

/// An operand of `diff`.
struct DiffOperand: Sendable {
  /// The path or URL of the folder, store, site or archive.
  let location: String

  /// The version in a store or a site; `nil` for a folder, or if it depends on the other operand.
  let version: VersionName?

  /// Whether the operand is a folder of files.
  let isFolder: Bool

  var pack: PackID? { version?.pack }

  /// Parses an operand. If `store` is given, a name without a slash is a pack or a version; otherwise every operand is a location.
  ///
  /// - Parameter knownPack: the pack to use if the text contains only a version.
  init(_ text: String, inStore store: String?, of knownPack: PackID?) throws {
    if let store, !text.contains("/"), !text.contains("#"), text != ".", text != ".." {
      (location, version, isFolder) = try (store, VersionName(text, of: knownPack), false)
      return
    }
    guard let mark = text.lastIndex(of: "#"), !pathExists(FilePath(text)) else {
      (location, version, isFolder) = try (text, nil, Self.isFolderOfFiles(text))
      return
    }
    (location, isFolder) = (String(text[..<mark]), false)
    version = try VersionName(String(text[text.index(after: mark)...]), of: knownPack)
  }

  /// Whether a text would be a version if a store were given.
  static func isVersion(_ text: String) -> Bool {
    text.contains("@") && !text.contains("/") && !text.contains("#") && !pathExists(FilePath(text))
  }

  private static func isFolderOfFiles(_ text: String) throws -> Bool {
    guard !text.contains("://") else { return false }
    let path = FilePath(text)
    // A missing path is later reported as missing.
    guard pathExists(path), PackStore.isFolder(path) else { return !pathExists(path) }
    let names = Set((try? namesInFolder(path)) ?? [])
    let isStore = names.contains("CONTROL") || names.isSuperset(of: ["segments", "index"])
    return !isStore && !names.isSuperset(of: ["root", "versions"])
  }
}

private struct DifferenceReport: Encodable {
  let change, kind, path: String
  let oldPath: String?
  let oldBytes, newBytes, newChunkBytes: Int

  init(_ difference: Snapshot.Difference) {
    change = difference.change.rawValue
    kind = difference.kind.rawValue
    path = difference.path
    oldPath = difference.oldPath
    oldBytes = difference.oldByteCount
    newBytes = difference.newByteCount
    newChunkBytes = difference.newChunkByteCount
  }
}

private struct TotalsReport: Encodable {
  let added, removed, changed, moved, unchanged, chunks, newChunks, newBytes: Int

  init(_ totals: Snapshot.DifferenceTotals) {
    added = totals.addedCount
    removed = totals.removedCount
    changed = totals.changedCount
    moved = totals.movedCount
    unchanged = totals.unchangedCount
    chunks = totals.chunkCount
    newChunks = totals.newChunkCount
    newBytes = totals.newByteCount
  }
}
