import ArgumentParser
import PackDelivery
import PackStore

struct List: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List assets.",
    discussion: """
      Prints whole paths, one per line, as 'packstore cat' accepts them; folders end in '/'. Control characters are \
      escaped as '\\n', and '\\' as '\\\\', except with --null. --json prints one object per line.

      --long shows kind, size, storage form, stored size, pack and path. Forms: 'map' uncompressed and contiguous \
      because of 'add --map'; 'raw' the same, but without --map (apps can map both); 'parts' uncompressed but not \
      contiguous; 'zstd' compressed; 'mixed' partly compressed. '/3' means three extents; without a number the file \
      has one. If some packs were not added here, each pack's origin follows it; see 'packstore trust'. For sites and \
      archives, no content is downloaded, and each pack's version is the first one that clients try.

        packstore ls Packs Videos -l
        packstore ls https://example.com/packs --pack Tutorial -R
        packstore ls Packs Videos -0 | grep -zv '/$' |
          xargs -0 -n 1 packstore cat Packs --
      """
  )

  @OptionGroup var store: LookArgument
  @OptionGroup(title: "Sites and archives") var look: PreviewOptions

  @Argument(help: "The folder or asset to list (default: everything).")
  var path: String = ""

  @OptionGroup var pack: PackOption

  @Flag(name: .shortAndLong, help: "Also show kind, size, storage and pack.")
  var long = false

  @Flag(name: [.customShort("R"), .long], help: "List all files, links and empty folders below the folder.")
  var recursive = false

  @Flag(name: [.customShort("0"), .long], help: "Print unescaped paths, each followed by a NUL byte.")
  var null = false

  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !null || !long && !report.json else { throw ValidationError("--null goes with neither --long nor --json") }
  }

  var subject: Failure.Facts { .init(store: store.store, pack: pack.pack) }

  /// Whether the command reads a store, so that one thread is enough.
  var readsStore: Bool { get throws { try store.place(look).hasContent } }

  func run() async throws {
    let place = store.place(look)
    try await place.read(.first, of: pack.pack.map { [$0] }, report) { store in
      let snapshot = try store.makeSnapshot()
      if let pack = pack.pack, snapshot.pack(pack) == nil {
        throw try PackStoreError.noPack(pack, among: snapshot.packs.map(\.id), of: place.noun)
      }
      try listing.print(snapshot)
    }
  }

  private var listing: AssetListing {
    AssetListing(path: path, pack: pack.pack, long: long, recursive: recursive, null: null, json: report.json)
  }
}

/// Assets as text or JSON.
struct AssetListing {
  /// A folder, an asset, or empty for everything.
  let path: String
  var pack: PackID?
  var long = false
  var recursive = false
  var null = false
  var json = false

  func print(_ snapshot: Snapshot) throws {
    let path = normalizedPath(path)
    let output = Output()
    let origins = PackOrigins(snapshot.packs)
    let packWidth = snapshot.packs.map(\.id.name.count).max() ?? 0
    if try isFolder(path, in: snapshot) {
      try snapshot.forEachAsset(in: path, pack: pack, depth: recursive ? .descendants : .children) { asset in
        try Task.checkCancellation()
        try print(asset, packWidth, origins, to: output)
      }
    } else {
      try print(snapshot.find(path, in: pack), packWidth, origins, to: output)
    }
    try output.flush()
  }

  private func isFolder(_ path: String, in snapshot: Snapshot) throws -> Bool {
    try path.isEmpty || snapshot.find(path, in: pack).kind == .folder
  }

  private func print(
    _ asset: borrowing Snapshot.Asset, _ packWidth: Int, _ origins: PackOrigins, to output: Output
  ) throws {
    let target = asset.kind == .link ? try asset.linkTarget() : nil
    if json {
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

  /// Returns the columns before the path, such as `file      12.3 MB  zstd/3     4.5 MB  Tutorial  `.
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
  /// The storage form, `map`, `raw`, `parts`, `zstd` or `mixed`; `-` for an empty file.
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
  /// `nil` unless the entry is a file.
  let form: String?
  let storedBytes, extents, frames, rawFrames: Int?
  /// `nil` for a folder that only exists in the paths of assets.
  let pack: String?
  /// `nil` if all packs are local.
  let origin: String?
  /// `nil` unless the entry is a link.
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
