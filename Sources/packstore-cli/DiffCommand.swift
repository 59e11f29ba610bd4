import ArgumentParser
import PackStore

struct Diff: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    abstract: "Compare two pack versions, or two folders.",
    usage: """
      packstore diff <store> <a> <b>
      packstore diff <a> <b> [--store <store>]
      """,
    discussion: """
      A and B are 'Tutorial@3', 'Tutorial@previous' or 'Tutorial', which is the current version; or two folders. B may \
      leave out the pack: '@3'. A folder that was renamed takes one line. With a store, a folder is written with a '/' in it. \
      Folders are compared through a temporary store that takes as much room as they do compressed. Differences are no error.

        packstore diff Packs Tutorial@previous Tutorial
        packstore diff Packs Tutorial@3 @5
        packstore diff Packs Tutorial@3 @5 --path 'levels/**' --min-size 1M
        packstore diff Assets.old Assets
      """
  )

  @Argument(help: .init("The store and the two to compare, or only the two.", valueName: "operand"))
  var operands: [String]

  @Option(help: .init("The store of the pack versions.", valueName: "store"), completion: .directory)
  var store: String?

  @OptionGroup var selection: DiffSelection

  @Flag(help: "Print a line of JSON for each difference, and one with the totals.")
  var jsonLines = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !jsonLines || !report.json else { throw ValidationError("--json and --json-lines exclude each other") }
    guard operands.count >= 2 else {
      throw ValidationError(
        "what is '\(escaped(operands.first ?? ""))' to be compared with? Name two versions of a store, or two folders")
    }
    guard operands.count == 2 || operands.count == 3 && store == nil else {
      throw ValidationError("diff compares two: name two versions of one store, or two folders")
    }
    if storePath == nil, let version = operands.first(where: { $0.contains("@") && !$0.contains("/") }) {
      throw ValidationError("which store is '\(escaped(version))' in? Name it first, or with --store")
    }
    switch try compared() {
    case (.folder, .folder), (.version, .version): return
    default:
      throw ValidationError(
        "a folder cannot be compared with a pack version: add it as a pack of its own, or extract the version")
    }
  }

  var subject: Failure.Facts { .init(store: storePath) }

  func run() async throws {
    switch try compared() {
    case (.version(let old), .version(let new)):
      try compare(old, new, in: openStore(at: storePath ?? "", options: .readOnly))
    case (.folder(let old), .folder(let new)):
      try await compareFolders(old, new)
    default: return
    }
  }

  private var storePath: String? { operands.count == 3 ? operands[0] : store }

  /// The two to compare. The second one is of the first one's pack where it names none.
  private func compared() throws -> (Operand, Operand) {
    let old = try Operand(operands[operands.count - 2], inStore: storePath != nil, of: nil)
    var pack: PackID?
    if case .version(let name) = old { pack = name.pack }
    return (old, try Operand(operands[operands.count - 1], inStore: storePath != nil, of: pack))
  }

  private func compareFolders(_ old: String, _ new: String) async throws {
    try requireFolder(old)
    try requireFolder(new)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let store = try Store(at: FilePath(folder.path))
    let bar = ProgressBar(enabled: report.isTalkative)
    defer { bar.finish() }
    try await store.write(options: .init(durability: .atomic)) { [quiet = report.quiet] transaction in
      let options = Store.InstallOptions(level: 1)
      for (pack, source) in [("old", old), ("new", new)] as [(PackID, String)] {
        do {
          try transaction.install(folder: FilePath(source), as: pack, options: options) {
            bar.update(Progress(activity: "reading '\(escaped(source))'", $0))
          }
        } catch let error as PackStoreError {
          bar.finish()
          throw explainRefusal(error, of: source, quiet: quiet)
        }
      }
    }
    bar.finish()
    try compare(VersionName(pack: "old"), VersionName(pack: "new"), in: store)
  }

  private func compare(_ old: VersionName, _ new: VersionName, in store: Store) throws {
    let snapshot = try store.makeSnapshot()
    let (old, new) = (try old.find(in: snapshot), try new.find(in: snapshot))
    let output = Output()
    if report.json {
      try printJSON(old, new, snapshot, to: output)
    } else if jsonLines {
      try printJSONLines(old, new, snapshot, to: output)
    } else {
      var lines = DiffLines()
      let totals = try snapshot.compare(old, with: new) { difference in
        if selection.shows(difference) { try output.lines(lines.add(difference)) }
      }
      try output.lines(lines.end())
      if !report.quiet || selection.summary { try output.line(summary(totals)) }
    }
    try output.flush()
  }

  private func printJSONLines(
    _ old: PackVersion, _ new: PackVersion, _ snapshot: Snapshot, to output: Output
  ) throws {
    let totals = try snapshot.compare(old, with: new) { difference in
      if selection.shows(difference) { try output.json(DifferenceReport(difference)) }
    }
    try output.json(["totals": TotalsReport(totals)])
  }

  /// One document, written as the differences come.
  private func printJSON(
    _ old: PackVersion, _ new: PackVersion, _ snapshot: Snapshot, to output: Output
  ) throws {
    var separator = #"{"differences":["#
    let totals = try snapshot.compare(old, with: new) { difference in
      guard selection.shows(difference) else { return }
      try output.write(separator.utf8)
      try output.write(jsonBytes(DifferenceReport(difference)))
      separator = ","
    }
    try output.write((separator == "," ? "" : separator).utf8)
    try output.write(#"],"totals":"#.utf8)
    try output.write(jsonBytes(TotalsReport(totals)))
    try output.line("}")
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

/// What `diff` compares.
private enum Operand {
  case folder(String)
  case version(VersionName)

  /// With a store, a name without a slash is a pack's; without one, everything is a folder.
  ///
  /// - Parameter knownPack: the pack of a version without one.
  init(_ text: String, inStore: Bool, of knownPack: PackID?) throws {
    let isVersion = inStore && !text.contains("/") && text != "." && text != ".."
    self = isVersion ? .version(try VersionName(text, of: knownPack)) : .folder(text)
  }
}

private struct DifferenceReport: Encodable {
  let change, kind, path: String
  let oldPath: String?
  let oldBytes, newBytes: Int

  init(_ difference: Snapshot.Difference) {
    change = difference.change.rawValue
    kind = difference.kind.rawValue
    path = difference.path
    oldPath = difference.oldPath
    oldBytes = difference.oldByteCount
    newBytes = difference.newByteCount
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
