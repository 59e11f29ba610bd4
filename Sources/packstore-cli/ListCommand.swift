import ArgumentParser
import PackStore

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List assets.",
    discussion: """
      Each line is a whole path, as 'cat' takes it; folders end in '/'. Control characters are escaped as in '\\n', \
      and '\\' as '\\\\', unless --null is given. --json prints one object per line.

        packstore ls Packs Videos -l
        packstore ls Packs Videos -0 | xargs -0 -n 1 packstore cat Packs --
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "What to list: a folder or an asset (default: everything).")
  var path: String = ""

  @OptionGroup var pack: PackOption

  @Flag(name: .shortAndLong, help: "Show kind, size and pack too.")
  var long = false

  @Flag(name: [.customShort("R"), .long], help: "List all files, links and empty folders below.")
  var recursive = false

  @Flag(name: [.customShort("0"), .long], help: "Print paths as they are, each followed by a NUL byte.")
  var null = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard [long, null, report.json].count(where: { $0 }) <= 1 else {
      throw ValidationError("--long, --null and --json exclude each other")
    }
  }

  func run() throws {
    let snapshot = try store.openForReading().makeSnapshot()
    let path = normalizedPath(path)
    let output = Output()
    let packWidth = snapshot.packs.map(\.id.name.count).max() ?? 0
    if try isFolder(path, in: snapshot) {
      try snapshot.forEachAsset(in: path, of: pack.pack, depth: recursive ? .descendants : .children) { asset in
        try Task.checkCancellation()
        try print(asset, packWidth, to: output)
      }
    } else {
      try print(snapshot.asset(path, in: pack.pack), packWidth, to: output)
    }
    try output.flush()
  }

  private func isFolder(_ path: String, in snapshot: borrowing Snapshot) throws -> Bool {
    try path.isEmpty || snapshot.asset(path, in: pack.pack).kind == .folder
  }

  private func print(_ asset: borrowing Asset, _ packWidth: Int, to output: Output) throws {
    let target = asset.kind == .link ? try asset.linkTarget : nil
    if report.json {
      try output.json(EntryReport(asset.entry, target: target))
    } else if null {
      try output.write(asset.path.utf8)
      try output.write(CollectionOfOne(0))
    } else {
      let name = escaped(asset.path) + (asset.kind == .folder ? "/" : "")
      try output.line(long ? details(asset, packWidth) + name + (target.map { " -> " + escaped($0) } ?? "") : name)
    }
  }

  /// `file      12.3 MB  Tutorial  `.
  private func details(_ asset: borrowing Asset, _ packWidth: Int) -> String {
    let kind = asset.isExecutable ? "program" : asset.kind.rawValue
    let size = asset.kind == .file ? formatBytes(asset.byteCount) : "-"
    let pack = asset.pack?.name ?? "-"
    return kind.padded(to: 7) + "  " + size.padded(to: 8, .right) + "  " + pack.padded(to: packWidth) + "  "
  }
}

private struct EntryReport: Encodable {
  let path, kind: String
  let bytes: Int
  let executable, contiguous: Bool
  /// Absent for a folder that paths imply.
  let pack: String?
  /// Of a link.
  let target: String?

  init(_ entry: Snapshot.Entry, target: String?) {
    path = entry.path
    kind = entry.kind.rawValue
    bytes = entry.byteCount
    executable = entry.isExecutable
    contiguous = entry.isContiguous
    pack = entry.pack?.name
    self.target = target
  }
}
