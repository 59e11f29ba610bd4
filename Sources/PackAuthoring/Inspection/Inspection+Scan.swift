public import PackStore

extension Inspection {
  /// Inspects the current version of a pack, or of all packs as one namespace.
  ///
  /// - Parameters:
  ///   - snapshot: a snapshot of the store.
  ///   - pack: the pack; `nil` for all packs, without hidden assets.
  ///   - from: an earlier kept version of that pack, to compare with.
  ///   - makesDelta: whether to build the delta from that version to determine its length, which takes as long as for a site.
  ///   - findsDuplicates: whether to read files with the same size as another file. Pass false if their bytes are not available.
  ///   - progress: receives the number of inspected files. Called on this thread.
  /// - Throws: `notFound` for a missing pack or version; `corrupt`, `purged` if bytes to compare are missing; `ioError`,
  ///   `outOfMemory`, `CancellationError`.
  /// - Complexity: O(*n*) in assets and chunks, and in the bytes of files with the same size as another file; O(*n*) memory in
  ///   paths. Blocks this thread.
  public init(
    of snapshot: Snapshot, pack: PackID? = nil, from: PackVersion? = nil, makesDelta: Bool = false,
    findsDuplicates: Bool = true, progress: ((Int) -> Void)? = nil
  ) throws {
    let statistics = try snapshot.statistics()
    usage =
      try pack.map { id in
        guard let usage = statistics.packs[id] else {
          throw PackStoreError(.notFound, "not in the store", about: .pack(id), detail: .noPack)
        }
        return usage
      } ?? statistics.all
    var scan = InspectionScan()
    try snapshot.forEachAsset(pack: pack, depth: .descendants) { asset in
      try Task.checkCancellation()
      guard asset.kind == .file else { return }
      scan.add(asset.path, asset.byteCount, try asset.storage().storedByteCount)
      progress?(scan.fileCount)
    }
    root = scan.tree.item(named: "")
    kinds = scan.sortedKinds
    self.findsDuplicates = findsDuplicates
    let found = try findsDuplicates ? scan.findDuplicates(in: snapshot, pack: pack) : []
    duplicateByteCount = found.map { $0.byteCount.multipliedClamped(by: $0.paths.count - 1) }.clampedSum()
    duplicates = Array(found.prefix(Self.duplicateLimit))
    if let from { change = try Change(from: from, in: snapshot, makesDelta: makesDelta) }
  }
}

extension Inspection.Change {
  fileprivate init(
    from: PackVersion, in snapshot: Snapshot, makesDelta: Bool
  ) throws {
    guard let to = snapshot.pack(from.pack)?.version else {
      throw PackStoreError(
        .notFound, "removed, so it has no current version to compare with", about: .pack(from.pack),
        detail: .packRemoved)
    }
    var rows: [Snapshot.Difference] = []
    totals = try snapshot.compare(from, with: to) { rows.append($0) }
    self.rows = Array(
      rows.sorted { ($1.weight, $0.path) < ($0.weight, $1.path) }.prefix(Self.rowLimit))
    self.from = from
    self.to = to
    rangeByteCount = try snapshot.updateByteCount(from: from, to: to)
    deltaByteCount =
      makesDelta
      ? try snapshot.buildDelta(
        of: from.pack, from: from.number, to: to.number, level: Store.DeltaOptions().level, write: { _, _ in }
      ).byteCount : nil
  }
}

extension Snapshot.Difference {
  fileprivate var weight: Int { max(newByteCount, oldByteCount) }
}

/// The findings of a walk so far.
private struct InspectionScan {
  let tree = InspectionFolder()
  private(set) var fileCount = 0
  private var kinds: [String: Inspection.Kind] = [:]
  private var pathsBySize: [Int: [String]] = [:]

  mutating func add(_ path: String, _ byteCount: Int, _ storedByteCount: Int) {
    fileCount += 1
    // Deeper folders are part of the last name.
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 63, omittingEmptySubsequences: false)
      .map { Substring($0) }
    tree.add(parts[...], byteCount, storedByteCount)
    let name = parts.last ?? "", dot = name.lastIndex(of: ".")
    let isExtended = dot.map { $0 > name.startIndex && name.index(after: $0) < name.endIndex } ?? false
    let fileExtension = isExtended ? name[name.index(after: dot ?? name.startIndex)...].lowercased() : ""
    var kind = kinds[fileExtension] ?? Inspection.Kind(fileExtension: fileExtension)
    kind.fileCount += 1
    kind.byteCount = kind.byteCount.addingClamped(byteCount)
    kind.storedByteCount = kind.storedByteCount.addingClamped(storedByteCount)
    kinds[fileExtension] = kind
    if byteCount > 0 { pathsBySize[byteCount, default: []].append(path) }
  }

  var sortedKinds: [Inspection.Kind] {
    kinds.values.sorted { ($1.storedByteCount, $0.fileExtension) < ($0.storedByteCount, $1.fileExtension) }
  }

  /// Reads all files with the same size as another file.
  func findDuplicates(in snapshot: Snapshot, pack: PackID?) throws -> [Inspection.Duplicate] {
    var found: [Inspection.Duplicate] = []
    for (byteCount, paths) in pathsBySize where paths.count > 1 {
      var byDigest: [Digest256: [String]] = [:]
      for path in paths {
        try Task.checkCancellation()
        byDigest[try snapshot.digest(of: path, pack: pack), default: []].append(path)
      }
      for same in byDigest.values where same.count > 1 {
        found.append(Inspection.Duplicate(paths: same, byteCount: byteCount))
      }
    }
    return found.sorted { one, other in
      let (waste, otherWaste) = (
        one.byteCount.multipliedClamped(by: one.paths.count - 1),
        other.byteCount.multipliedClamped(by: other.paths.count - 1)
      )
      return waste != otherWaste ? waste > otherWaste : (one.paths.first ?? "") < (other.paths.first ?? "")
    }
  }
}

extension Snapshot {
  /// Returns the SHA-256 of a file, read in pieces.
  fileprivate func digest(of path: String, pack: PackID?) throws -> Digest256 {
    let asset = try asset(path, pack: pack), pieceByteCount = 1 << 20
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount, alignment: 16)
    defer { buffer.deallocate() }
    var builder = DigestBuilder(), offset = 0
    while offset < asset.byteCount {
      let count = try asset.read(into: buffer, range: offset..<min(offset + pieceByteCount, asset.byteCount))
      builder.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += count
    }
    return builder.finish()
  }
}

/// A folder during the scan.
private final class InspectionFolder {
  /// By their exact names: two may differ only by Unicode normal form.
  private var folders: [ExactText: InspectionFolder] = [:]
  private var files: [Inspection.Item] = []

  func add(_ parts: ArraySlice<Substring>, _ byteCount: Int, _ storedByteCount: Int) {
    guard let name = parts.first else { return }
    guard parts.count > 1 else {
      var file = Inspection.Item(name: String(name), isFolder: false)
      file.fileCount = 1
      file.byteCount = byteCount
      file.storedByteCount = storedByteCount
      files.append(file)
      return
    }
    let exactName = ExactText(String(name)), folder = folders[exactName] ?? InspectionFolder()
    folders[exactName] = folder
    folder.add(parts.dropFirst(), byteCount, storedByteCount)
  }

  func item(named name: String) -> Inspection.Item {
    var item = Inspection.Item(name: name, isFolder: true)
    let below = files + folders.map { $1.item(named: $0.text) }
    item.items = below.sorted { ($1.storedByteCount, $0.name) < ($0.storedByteCount, $1.name) }
    item.fileCount = below.map(\.fileCount).clampedSum()
    item.byteCount = below.map(\.byteCount).clampedSum()
    item.storedByteCount = below.map(\.storedByteCount).clampedSum()
    return item
  }
}
