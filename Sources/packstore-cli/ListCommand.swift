import ArgumentParser
import PackDelivery
import PackStore

struct List: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List assets.",
    discussion: """
      Each line is a whole path, as 'cat' takes it; folders end in '/'. Control characters are escaped as in '\\n', \
      and '\\' as '\\\\', unless --null is given. --json prints one object per line.

      --long shows kind, size, how a file is stored, what it takes, its pack, and the path. Stored as 'map' means raw and \
      in one piece because 'add --map' said so, 'raw' the same by chance (apps can map both), 'parts' raw but not in one \
      piece, 'zstd' compressed, 'mixed' some of both. '/3' says that the file lies in three stretches of its segments; one \
      if nothing is said. Where not all packs were added here, the origin follows the pack; see 'packstore trust'. Of a site \
      and of an archive no content is fetched; of each pack the version is shown that clients try first.

        packstore ls Packs Videos -l
        packstore ls https://example.com/packs --pack Tutorial -R
        packstore ls Packs Videos -0 | grep -zv '/$' | xargs -0 -n 1 packstore cat Packs --
      """
  )

  @OptionGroup var store: LookArgument
  @OptionGroup(title: "Sites and archives") var look: LookOptions

  @Argument(help: "What to list: a folder or an asset (default: everything).")
  var path: String = ""

  @OptionGroup var pack: PackOption

  @Flag(name: .shortAndLong, help: "Show kind, size, storage and pack too.")
  var long = false

  @Flag(name: [.customShort("R"), .long], help: "List all files, links and empty folders below.")
  var recursive = false

  @Flag(name: [.customShort("0"), .long], help: "Print paths as they are, each followed by a NUL byte.")
  var null = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !null || !long && !report.json else { throw ValidationError("--null goes with neither --long nor --json") }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: pack.pack) }

  /// Whether it reads a store of this machine: then it needs no thread but one.
  var readsStore: Bool { get throws { try store.place(look).hasContent } }

  func run() async throws {
    try await store.place(look).read(.first, of: pack.pack.map { [$0] }, report) { try list($0.makeSnapshot()) }
  }

  private func list(_ snapshot: Snapshot) throws {
    let path = normalizedPath(path)
    let output = Output()
    let origins = PackOrigins(snapshot.packs)
    let packWidth = snapshot.packs.map(\.id.name.count).max() ?? 0
    if try isFolder(path, in: snapshot) {
      try snapshot.forEachAsset(in: path, pack: pack.pack, depth: recursive ? .descendants : .children) { asset in
        try Task.checkCancellation()
        try print(asset, packWidth, origins, to: output)
      }
    } else {
      try print(snapshot.find(path, in: pack.pack), packWidth, origins, to: output)
    }
    try output.flush()
  }

  private func isFolder(_ path: String, in snapshot: Snapshot) throws -> Bool {
    try path.isEmpty || snapshot.find(path, in: pack.pack).kind == .folder
  }

  private func print(
    _ asset: borrowing Snapshot.Asset, _ packWidth: Int, _ origins: PackOrigins, to output: Output
  ) throws {
    let target = asset.kind == .link ? try asset.linkTarget() : nil
    if report.json {
      let storage = asset.kind == .file ? try asset.storage() : nil
      try output.json(EntryReport(asset.entry, target: target, storage, origins))
    } else if null {
      try output.write(asset.path.utf8)
      if asset.kind == .folder { try output.write("/".utf8) }
      try output.write(CollectionOfOne(0))
    } else {
      let name = escaped(asset.path) + (asset.kind == .folder ? "/" : "")
      let arrow = target.map { " -> " + escaped($0) } ?? ""
      try output.line(long ? details(asset, packWidth, origins) + name + arrow : name)
    }
  }

  /// `file      12.3 MB  zstd/3     4.5 MB  Tutorial  `.
  private func details(
    _ asset: borrowing Snapshot.Asset, _ packWidth: Int, _ origins: PackOrigins
  ) throws -> String {
    let storage = asset.kind == .file ? try asset.storage() : nil
    let pack = asset.pack
    var cells = [
      (asset.isExecutable ? "program" : asset.kind.rawValue).padded(to: 7),
      (storage == nil ? "-" : formatBytes(asset.byteCount)).padded(to: 8, .right),
      (storage?.summary ?? "-").padded(to: 7),
      (storage.map { formatBytes($0.storedByteCount) } ?? "-").padded(to: 8, .right),
      (pack?.name ?? "-").padded(to: packWidth),
    ]
    if origins.areNamed { cells.append((origins[pack] ?? "-").padded(to: origins.width)) }
    return cells.map { $0 + "  " }.joined()
  }
}

extension Snapshot.Asset.Storage {
  /// `map`, `raw`, `parts`, `zstd` or `mixed`; an empty file is none of these.
  fileprivate var form: String {
    if frameCount == 0 { return "-" }
    if isMapped { return "map" }
    if isContiguous { return "raw" }
    if rawFrameCount == frameCount { return "parts" }
    return rawFrameCount == 0 ? "zstd" : "mixed"
  }

  /// The form, with the number of extents if there are several.
  fileprivate var summary: String { extentCount > 1 ? "\(form)/\(extentCount)" : form }
}

private struct EntryReport: Encodable {
  let path, kind: String
  let bytes: Int
  let executable, contiguous, mapped: Bool
  /// Of a file.
  let form: String?
  let storedBytes, extents, frames, rawFrames: Int?
  /// Absent for a folder that paths imply.
  let pack: String?
  /// Absent where all packs are local.
  let origin: String?
  /// Of a link.
  let target: String?

  init(_ entry: Snapshot.Entry, target: String?, _ storage: Snapshot.Asset.Storage?, _ origins: PackOrigins) {
    path = entry.path
    kind = entry.kind.rawValue
    bytes = entry.byteCount
    executable = entry.isExecutable
    contiguous = entry.isContiguous
    mapped = entry.isMapped
    form = storage?.form
    storedBytes = storage?.storedByteCount
    extents = storage?.extentCount
    frames = storage?.frameCount
    rawFrames = storage?.rawFrameCount
    pack = entry.pack?.name
    origin = origins[entry.pack]
    self.target = target
  }
}
