import ArgumentParser
import PackDelivery
import PackStore

struct Stat: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "stat",
    abstract: "Show the size of packs and the disk space they use.",
    discussion: """
      SIZE is the total size of the files; UNIQUE counts equal data once; STORED is its compressed size. ON DISK is \
      the size of all kept versions of the pack in the store's files and the cache folder, including catalogs; SHARED \
      is the part of it that other packs also need; FREED is the space that removing the pack frees, including space \
      in the cache folder. ORIGIN is shown if some packs were not added here; see 'packstore trust'. DATA is shown if \
      packs are purgeable: their placement, and missing data of the current version. Generations that open readers \
      retain are listed last, with the processes if the system reports them.

      For a store with a base, ON DISK includes the data that packs need in the base; 'in the base' is its size. \
      'mapped mode' shows whether a program may read this store in mapped mode, which requires a folder that only \
      this user can write to.

      For sites and archives, no content is downloaded; disk figures are those of a store with the versions that \
      clients try first.

        packstore stat Packs
        packstore stat https://example.com/packs
        packstore stat Packs --by-extension --top 10
      """
  )

  @OptionGroup var store: LookArgument
  @OptionGroup(title: "Sites and archives") var look: PreviewOptions
  @Flag(help: "Also show sizes by file name extension, largest first.")
  var byExtension = false

  @Option(help: .init("With --by-extension: maximum number of extensions (default: all).", valueName: "n"))
  var top: Int?

  @OptionGroup var report: ReportOptions

  var subject: Failure.Facts { .init(store: store.store) }

  func validate() throws {
    guard let top else { return }
    if !byExtension { throw ValidationError("--top needs --by-extension") }
    if top < 1 { throw ValidationError("invalid --top: use at least 1") }
  }

  func run() async throws {
    var place = store.place(look)
    place.storeOptions.usesMappedMode = true
    let listing = StatisticsListing(byExtension: byExtension, top: top, json: report.json)
    try await place.read(.first, report) { try listing.print($0) }
  }
}

/// The statistics of a store as text or JSON.
struct StatisticsListing {
  var byExtension = false
  var top: Int?
  var json = false

  func print(_ opened: Store) throws {
    let snapshot = try opened.makeSnapshot()
    let packs = snapshot.packs, removed = snapshot.removedPacks
    let statistics = try snapshot.statistics()
    let kinds = byExtension ? try Array(snapshot.kinds().prefix(top ?? .max)) : nil
    let held = try snapshot.heldGenerations()
    let present = try Presence(packs, in: snapshot)
    let origins = PackOrigins(packs + removed)
    let output = Output()
    if json {
      try output.json(StatReport(statistics, packs, removed, origins, held, kinds, present, opened.mappedMode))
    } else {
      try output.lines(
        text(statistics, packs, removed, origins, present) + text(statistics.space, present)
          + (opened.mappedMode == .off ? [] : ["mapped mode             \(text(opened.mappedMode))"]) + text(held)
          + (kinds.map(text) ?? []))
    }
    try output.flush()
  }

  private func text(
    _ statistics: Store.Statistics, _ packs: [Store.Pack], _ removed: [Store.Pack], _ origins: PackOrigins,
    _ present: Presence
  ) -> [String] {
    // The table removes the spaces of empty columns at the end of a line.
    var table = Table(
      ("PACK", .left), ("ASSETS", .right), ("SIZE", .right), ("UNIQUE", .right), ("STORED", .right),
      ("ON DISK", .right),
      ("SHARED", .right), ("FREED", .right), (present.isShown ? "DATA" : "", .left),
      (origins.areNamed ? "ORIGIN" : "", .left))
    for pack in packs {
      guard let usage = statistics.packs[pack.id], let space = statistics.space.packs[pack.id] else { continue }
      table.add(["\(pack.version)"] + cells(usage) + cells(space) + [present.text(pack), origins[pack.id] ?? ""])
    }
    for pack in removed {
      guard let space = statistics.space.packs[pack.id] else { continue }
      table.add(["\(pack.id.name) (removed)", "", "", "", ""] + cells(space) + ["", origins[pack.id] ?? ""])
    }
    let space = statistics.space
    let needed = [space.ownByteCount, space.sharedByteCount, space.baseByteCount].clampedSum()
    let sums = [needed, space.sharedByteCount, space.freedByteCount].map(formatBytes)
    table.add(["all"] + cells(statistics.all) + sums + ["", ""])

    let all = statistics.all
    return table.lines + [
      "",
      "saved by deduplication  \(saving(from: all.byteCount, to: all.uniqueByteCount))",
      "saved by compression    \(saving(from: all.uniqueByteCount, to: all.storedByteCount))",
    ]
  }

  /// Returns lines about the store's folder.
  private func text(_ space: Store.Statistics.Space, _ present: Presence) -> [String] {
    let total = space.total
    let parts: [(String, Store.Statistics.Space.Files)] = [
      (formatCount(space.segments.count, "segment"), space.segments), ("tables", space.tables), ("index", space.index),
      ("half-fetched", space.incoming), ("unfinished", space.temporary), ("other", space.other),
    ]
    let shown = parts.filter { $0.1.byteCount > 0 }.map { "\($0) of \(formatBytes($1.byteCount))" }
    let unneeded = space.deadByteCount.addingClamped(space.unneededByteCount)
    return [
      "on disk                 \(formatBytes(total.byteCount)): \(shown.joined(separator: ", "))",
      "allotted                \(formatBytes(total.allocatedByteCount))",
      "needed by no version    \(formatBytes(unneeded)), of that \(formatBytes(space.unneededByteCount)) in whole files",
    ] + (space.baseByteCount > 0 ? ["in the base             \(formatBytes(space.baseByteCount))"] : [])
      + (present.folder.map { cache(space, $0) } ?? [])
  }

  private func text(_ mode: Store.MappedMode) -> String {
    switch mode {
    case .on: "possible"
    case .otherOwner: "not possible: the store's folder, or one above it, belongs to another user"
    case .writableByOthers: "not possible: other users can write to the store's folder, or to one above it"
    case .notLocal: "not possible: the store may not be on a local disk"
    case .off, .unknown: "not possible: the write permissions of the store are unknown"
    }
  }

  /// Returns lines about the cache folder.
  private func cache(_ space: Store.Statistics.Space, _ folder: Store.CacheFolder) -> [String] {
    let budget = folder.byteBudget.map { ", of at most \(formatBytes($0))" } ?? ""
    let missing = space.packs.values.map(\.missingByteCount).clampedSum()
    return [
      "cache folder            \(escaped(folder.path.string))",
      "in the cache folder     \(formatBytes(space.cache.byteCount)) in \(formatCount(space.cache.count, "file"))\(budget)",
      "purged or vanished      \(formatBytes(missing))",
    ]
  }

  /// Returns a table of the kinds of files, after an empty line.
  private func text(_ kinds: [Store.Statistics.Kind]) -> [String] {
    var table = Table(("EXTENSION", .left), ("FILES", .right), ("SIZE", .right), ("UNIQUE", .right), ("STORED", .right))
    for kind in kinds {
      let name = kind.fileExtension.isEmpty ? "(none)" : escaped("." + kind.fileExtension)
      table.add(
        [name, formatCount(kind.fileCount)]
          + [kind.byteCount, kind.uniqueByteCount, kind.storedByteCount].map(formatBytes))
    }
    return [""] + table.lines
  }

  /// Returns lines about the generations that readers retain; empty if no reader retains one.
  private func text(_ held: Snapshot.HeldGenerations) -> [String] {
    guard !held.generations.isEmpty else { return [] }
    let numbers = held.generations.map { hold in
      let processes = hold.processes.isEmpty ? "" : " by \(hold.processes.map(String.init).joined(separator: ", "))"
      return "  generation \(hold.generation)\(processes): \(formatBytes(hold.keptByteCount))"
    }
    let more = held.hasMore ? ["  and perhaps more: nothing is collected until readers release generations"] : []
    return ["held by readers         \(formatBytes(held.keptByteCount))"] + numbers + more
  }

  private func cells(_ usage: Store.Statistics.Usage) -> [String] {
    [formatCount(usage.assetCount)] + [usage.byteCount, usage.uniqueByteCount, usage.storedByteCount].map(formatBytes)
  }

  private func cells(_ space: Store.Statistics.Space.Pack) -> [String] {
    [space.neededByteCount, space.sharedByteCount, space.freedByteCount].map(formatBytes)
  }

  private func saving(from before: Int, to after: Int) -> String {
    "\(formatBytes(max(before - after, 0))) (\(formatPercent(max(before - after, 0), of: before)))"
  }
}

/// The placement of packs, and the part of them that can be read.
private struct Presence {
  let folder: Store.CacheFolder?
  let availability: [PackID: Store.Availability]

  init(_ packs: [Store.Pack], in snapshot: Snapshot) throws {
    folder = snapshot.cacheFolder
    availability = try Dictionary(
      uniqueKeysWithValues: packs.map { ($0.id, try snapshot.availability(of: $0.version)) })
  }

  /// Whether to show the placement. False if the store never had a purgeable pack, and no pack lacks data.
  var isShown: Bool { folder != nil || availability.values.contains { !$0.isWhole } }

  func text(_ pack: Store.Pack) -> String {
    guard isShown else { return "" }
    guard let availability = availability[pack.id] else { return pack.placement.rawValue }
    return switch availability.state {
    case .present: pack.placement.rawValue
    case .partial where availability.missingByteCount == 0: "\(pack.placement.rawValue), lacks parts of its catalog"
    case .purged where pack.placement == .durable: "\(pack.placement.rawValue), lost"
    case .partial: "\(pack.placement.rawValue), lacks \(formatBytes(availability.missingByteCount))"
    case .purged: "\(pack.placement.rawValue), purged"
    }
  }
}

extension Store.Statistics {
  /// The bytes of chunks that several packs use.
  fileprivate var shared: (unique: Int, stored: Int) {
    (
      max(all.uniqueByteCount - packs.values.map(\.ownUniqueByteCount).clampedSum(), 0),
      max(all.storedByteCount - packs.values.map(\.ownStoredByteCount).clampedSum(), 0)
    )
  }
}

extension Store.Statistics.Usage {
  fileprivate var assetCount: Int { [fileCount, linkCount, folderCount].clampedSum() }
}

private struct StatReport: Encodable {
  struct Usage: Encodable {
    let files, links, folders, bytes, chunks, uniqueBytes, storedBytes: Int

    init(_ usage: Store.Statistics.Usage) {
      files = usage.fileCount
      links = usage.linkCount
      folders = usage.folderCount
      bytes = usage.byteCount
      chunks = usage.chunkCount
      uniqueBytes = usage.uniqueByteCount
      storedBytes = usage.storedByteCount
    }
  }

  struct Files: Encodable {
    let files, bytes, allocatedBytes: Int

    init(_ files: Store.Statistics.Space.Files) {
      self.files = files.count
      bytes = files.byteCount
      allocatedBytes = files.allocatedByteCount
    }
  }

  struct PackSpace: Encodable {
    let neededBytes, currentBytes, pageBytes, ownBytes, baseBytes, sharedBytes, missingBytes: Int
    let freedBytes, freedAllocatedBytes, cacheBytes: Int

    init(_ space: Store.Statistics.Space.Pack) {
      neededBytes = space.neededByteCount
      currentBytes = space.currentByteCount
      pageBytes = space.pageByteCount
      ownBytes = space.ownByteCount
      baseBytes = space.baseByteCount
      sharedBytes = space.sharedByteCount
      freedBytes = space.freedByteCount
      missingBytes = space.missingByteCount
      freedAllocatedBytes = space.freedAllocatedByteCount
      cacheBytes = space.cacheByteCount
    }
  }

  struct Availability: Encodable {
    let state: String
    let missingBytes, missingAssets: Int

    init(_ availability: Store.Availability) {
      state = availability.state.rawValue
      missingBytes = availability.missingByteCount
      missingAssets = availability.missingAssetCount
    }
  }

  struct CacheFolder: Encodable {
    let path: String
    /// `nil` if the size is unlimited.
    let budget: Int?
  }

  struct PackUsage: Encodable {
    let pack: String
    /// `nil` if all packs are local.
    let origin: String?
    let version: UInt64
    let usage: Usage
    let ownUniqueBytes, ownStoredBytes: Int
    let placement: String
    let placedByHand: Bool
    let availability: Availability
    let space: PackSpace
  }

  struct RemovedPack: Encodable {
    let pack: String
    let origin: String?
    let space: PackSpace
  }

  struct Space: Encodable {
    let segments, tables, index, incoming, tmp, other, total, cache: Files
    let ownBytes, sharedBytes, baseBytes, deadBytes, tableBytes, unneededBytes, freedBytes, sharedFileBytes: Int

    init(_ space: Store.Statistics.Space) {
      segments = Files(space.segments)
      tables = Files(space.tables)
      cache = Files(space.cache)
      index = Files(space.index)
      incoming = Files(space.incoming)
      tmp = Files(space.temporary)
      other = Files(space.other)
      total = Files(space.total)
      ownBytes = space.ownByteCount
      sharedBytes = space.sharedByteCount
      baseBytes = space.baseByteCount
      deadBytes = space.deadByteCount
      tableBytes = space.tableByteCount
      unneededBytes = space.unneededByteCount
      freedBytes = space.freedByteCount
      sharedFileBytes = space.sharedFileByteCount
    }
  }

  struct Kind: Encodable {
    let `extension`: String
    let files, bytes, uniqueBytes, storedBytes: Int

    init(_ kind: Store.Statistics.Kind) {
      self.extension = kind.fileExtension
      files = kind.fileCount
      bytes = kind.byteCount
      uniqueBytes = kind.uniqueByteCount
      storedBytes = kind.storedByteCount
    }
  }

  let packs: [PackUsage]
  /// `nil` if the store has no cache folder.
  let cacheFolder: CacheFolder?
  /// The removed packs with kept versions.
  let removedPacks: [RemovedPack]
  let space: Space
  /// `nil` without `--by-extension`.
  let byExtension: [Kind]?
  let all: Usage
  let sharedUniqueBytes, sharedStoredBytes: Int
  let savedByDeduplication, savedByCompression: Int
  let segments, segmentBytes, indexRuns, indexBytes, diskBytes: Int

  struct Hold: Encodable {
    let generation: UInt64
    let keptBytes: Int
    let processes: [Int]
  }

  struct MappedMode: Encodable {
    let possible: Bool
    /// `nil` if mapped mode is possible.
    let reason: String?
  }

  let mappedMode: MappedMode
  let held: [Hold]
  let heldBytes: Int
  let heldMore: Bool

  init(
    _ statistics: Store.Statistics, _ packs: [Store.Pack], _ removed: [Store.Pack], _ origins: PackOrigins,
    _ held: Snapshot.HeldGenerations, _ kinds: [Store.Statistics.Kind]?,
    _ present: Presence, _ mappedMode: Store.MappedMode
  ) {
    let reason: String? =
      switch mappedMode {
      case .on: nil
      case .otherOwner: "other_owner"
      case .writableByOthers: "writable_by_others"
      case .notLocal: "not_local"
      case .off, .unknown: "unknown"
      }
    self.mappedMode = MappedMode(possible: reason == nil, reason: reason)
    cacheFolder = present.folder.map { CacheFolder(path: $0.path.string, budget: $0.byteBudget) }
    self.held = held.generations.map {
      Hold(generation: $0.generation.rawValue, keptBytes: $0.keptByteCount, processes: $0.processes)
    }
    heldBytes = held.keptByteCount
    heldMore = held.hasMore
    self.packs = packs.compactMap { pack in
      guard let usage = statistics.packs[pack.id], let space = statistics.space.packs[pack.id],
        let availability = present.availability[pack.id]
      else { return nil }
      return PackUsage(
        pack: pack.id.name, origin: origins[pack.id], version: pack.version.number, usage: Usage(usage),
        ownUniqueBytes: usage.ownUniqueByteCount, ownStoredBytes: usage.ownStoredByteCount,
        placement: pack.placement.rawValue, placedByHand: pack.isPlacedByHand, availability: Availability(availability),
        space: PackSpace(space))
    }
    removedPacks = removed.compactMap { pack in
      statistics.space.packs[pack.id].map {
        RemovedPack(pack: pack.id.name, origin: origins[pack.id], space: PackSpace($0))
      }
    }
    space = Space(statistics.space)
    byExtension = kinds.map { $0.map(Kind.init) }
    all = Usage(statistics.all)
    (sharedUniqueBytes, sharedStoredBytes) = statistics.shared
    savedByDeduplication = statistics.all.byteCount - statistics.all.uniqueByteCount
    savedByCompression = statistics.all.uniqueByteCount - statistics.all.storedByteCount
    segments = statistics.segmentCount
    segmentBytes = statistics.segmentByteCount
    indexRuns = statistics.runCount
    indexBytes = statistics.indexByteCount
    diskBytes = statistics.space.total.byteCount
  }
}
