package import PackFormats
public import PackStore

extension Site {
  /// The result of a copy without frames.
  public struct StripResult: Hashable, Codable, Sendable {
    /// The size of the copy's files in bytes.
    public let byteCount: Int

    /// The size and the number of the segments whose frames the copy lacks. It contains only their tables.
    public let remoteByteCount: Int
    public let remoteSegmentCount: Int

    private enum CodingKeys: String, CodingKey {
      case byteCount = "bytes", remoteByteCount = "remoteBytes", remoteSegmentCount = "remoteSegments"
    }
  }

  /// Copies a site without the frames of its data. The copy contains everything that a publication needs, and has a few hundredths
  /// of the site's size.
  ///
  /// Files published to the copy complement the files of the original site. `FORMAT.md`, section 21, describes a copy without
  /// frames.
  ///
  /// - Parameters:
  ///   - path: the site's folder, which is only read. It may be a copy without frames.
  ///   - copy: a new or empty folder.
  ///   - isDryRun: whether to determine the size of the copy without creating it.
  /// - Throws: `notAStore` if the site does not exist; `exists` if the folder of the copy is not empty; `conflict` if publications
  ///   changed the site during every attempt; `noSpace`, `ioError`, `outOfMemory`, `corrupt`.
  public static func strip(
    _ path: FilePath, to copy: FilePath, isDryRun: Bool = false
  ) async throws -> StripResult {
    try await BlockingExecutor.run {
      guard exists(at: path) else { throw PackStoreError(.notAStore, "not a site", about: .site(path.string)) }
      return try SiteStrip(path, to: copy, isDryRun: isDryRun).run()
    }
  }
}

extension Site {
  /// The parts of a site according to its own files. For a copy without frames, they include files that the copy lacks.
  package struct Inventory: Sendable {
    /// All files that clients may fetch, except roots: files of roots and kept versions, and retired files.
    package var files: Set<SitePath> = []

    /// Data segments of kept versions.
    package var dataSegments: Set<SegmentID> = []
  }

  /// - Parameter isConverting: whether roots of the previous draft are skipped, because their files are not read.
  /// - Throws: `corrupt`, `ioError`, `outOfMemory`.
  package func inventory(isConverting: Bool = false) throws -> Inventory {
    var inventory = Inventory(), folder = folder
    folder.isConverting = isConverting
    for channel in try folder.channels() where try !folder.isOfPreviousDraft(channel) {
      guard let root = try folder.readRoot(of: channel)?.root else { continue }
      inventory.files.formUnion(try root.files(in: folder).keys)
    }
    let versions = try store.makeSnapshot().keptVersions
    inventory.files.formUnion(try ManifestIndex(in: folder).files(of: versions).keys)
    inventory.files.formUnion(try folder.readRetired().entries.keys)
    inventory.dataSegments = try dataSegments(of: versions)
    return inventory
  }

  /// Returns the data segments that versions need.
  ///
  /// - Throws: `notFound`, `corrupt`, `ioError`, `outOfMemory`.
  package func dataSegments(of versions: [PackVersion]) throws -> Set<SegmentID> {
    let snapshot = try store.makeSnapshot(), known = ManifestIndex(in: folder)
    var segments: Set<SegmentID> = []
    for version in versions {
      if let manifest = known.manifest(of: version) {
        segments.formUnion(manifest.segments.filter { $0.kind == .data }.map(\.id))
      } else {
        segments.formUnion(try snapshot.segments(of: version).filter { $0.kind == .data }.map(\.id))
      }
    }
    return segments
  }

  /// Returns the segments of versions described by manifests, each once.
  ///
  /// - Throws: `corrupt`, `ioError`, `outOfMemory`.
  package func segments(of versions: [PackVersion]) throws -> [VersionManifest.Segment] {
    let known = ManifestIndex(in: folder)
    var seen: Set<SegmentID> = []
    return versions.flatMap { known.manifest(of: $0)?.segments ?? [] }.filter { seen.insert($0.id).inserted }
  }

  /// Writes the table of a data segment, for a copy without its frames.
  ///
  /// - Throws: `purged` if the segment is missing; `corrupt`, `noSpace`, `ioError`, `outOfMemory`.
  package func writeTable(of segment: SegmentID, to place: FilePlace) throws {
    let output = try NewFile(place)
    try store.makeSnapshot().writeTable(of: segment) { try output.write($0) }
    try output.sync()
  }
}

/// One copy without frames.
///
/// The site is only read, without a lock. The copy contains one generation with its roots. If the control file shows a publication
/// during the copy, the copy begins again.
struct SiteStrip {
  private let path: FilePath
  private let copy: FilePath
  private let isDryRun: Bool

  private static let roundCount = 5
  private static let bufferByteCount = 1 << 20

  init(_ path: FilePath, to copy: FilePath, isDryRun: Bool) {
    self.path = path
    self.copy = copy
    self.isDryRun = isDryRun
  }

  func run() throws -> Site.StripResult {
    guard try !pathExists(copy) || namesInFolder(copy).isEmpty else {
      throw PackStoreError(
        .exists, "the folder for the copy is not empty", about: .folder(copy.string), detail: .fileExists)
    }
    for _ in 0..<Self.roundCount {
      let before = try state()
      var round = SiteStripRound(from: path, to: copy, isDryRun: isDryRun)
      do {
        try round.copyAll()
        if try state() == before { return round.result }
      } catch {
        try takeBack()
        guard try state() != before else { throw error }
        continue
      }
      try takeBack()
    }
    throw PackStoreError(.conflict, "published to by another process since the copy began", about: .site(path.string))
  }

  /// Returns the state that every publication changes.
  private func state() throws -> [[UInt8]] {
    let folder = SiteFolder(path: path)
    let roots = try folder.channels().map { try folder.read(.root($0), limit: SiteRoot.byteCountLimit) }
    return try [InputFile("CONTROL", in: path).contents(limit: Self.bufferByteCount)] + roots
  }

  private func takeBack() throws {
    guard !isDryRun else { return }
    for name in try namesInFolder(copy) { removeTree(copy.appending(name)) }
  }
}

/// All files, copied once.
private struct SiteStripRound {
  private let path: FilePath
  private let copy: FilePath
  private let isDryRun: Bool
  private var byteCount: UInt64 = 0
  private var remoteByteCount: UInt64 = 0
  private var remoteSegmentCount = 0

  init(from path: FilePath, to copy: FilePath, isDryRun: Bool) {
    self.path = path
    self.copy = copy
    self.isDryRun = isDryRun
  }

  var result: Site.StripResult {
    .init(
      byteCount: Int(clamping: byteCount), remoteByteCount: Int(clamping: remoteByteCount),
      remoteSegmentCount: remoteSegmentCount)
  }

  /// Copies all files. Copies the control file last: without it, the copy is not a store.
  mutating func copyAll() throws {
    let store = try Store(at: path, options: .readOnly)
    let snapshot = try store.makeSnapshot()
    try makeFolders()
    try copyFolder("index")
    try copySegments(of: snapshot)
    let folder = SiteFolder(path: path)
    for channel in try folder.channels() { try copyFile(SitePath.root(channel).description) }
    for name in ["versions", "frames", "changes", "attributes"] { try copyFolder(name) }
    let lists = [RetiredFiles.fileName, PublishedNumbers.fileName, OfferHistory.fileName]
    for name in lists where pathExists(path.appending(name)) {
      try copyFile(name)
    }
    try copyFile("CONTROL")
    if !isDryRun { try syncFolder(copy) }
  }

  private func makeFolders() throws {
    guard !isDryRun else { return }
    try makeFolder(copy)
    let own = ["index", "segments", "tables", "tmp", "incoming", SitePath.rootFolder]
    for name in own + SitePath.folders { try makeFolder(copy.appending(name)) }
  }

  private mutating func copySegments(of snapshot: Snapshot) throws {
    var seen: Set<SegmentID> = []
    for pack in snapshot.packs + snapshot.removedPacks {
      for version in snapshot.versions(of: pack.id) {
        for segment in try snapshot.segments(of: version) where seen.insert(segment.id).inserted {
          try Task.checkCancellation()
          if segment.kind == .metadata {
            try copyFile("segments/\(segment.id)")
          } else {
            try copyTable(of: segment, in: snapshot)
          }
        }
      }
    }
  }

  private mutating func copyTable(of segment: Snapshot.Segment, in snapshot: Snapshot) throws {
    let output = try open("tables/\(segment.id)")
    try snapshot.writeTable(of: segment.id) { bytes in
      byteCount += UInt64(bytes.count)
      try output?.write(bytes)
    }
    try output?.sync()
    remoteByteCount = remoteByteCount.addingClamped(segment.byteCount)
    remoteSegmentCount += 1
  }

  // MARK: - Files

  private func open(_ name: String) throws -> NewFile? {
    isDryRun ? nil : try NewFile(FilePlace(name, in: copy))
  }

  private mutating func copyFolder(_ name: String) throws {
    for file in try namesInFolder(path.appending(name)).sorted() where !file.hasSuffix(".new") {
      try copyFile("\(name)/\(file)")
    }
    if !isDryRun { try syncFolder(copy.appending(name)) }
  }

  private mutating func copyFile(_ name: String) throws {
    let input = try InputFile(name, in: path)
    let length = try input.byteCount
    byteCount = byteCount.addingClamped(length)
    guard let output = try open(name) else { return }
    var done: UInt64 = 0
    while done < length {
      let bytes = try input.bytes(at: done, upTo: 1 << 20)
      guard !bytes.isEmpty else { throw PackStoreError(.sourceChanged, "truncated while it was read", file: name) }
      try output.write(bytes)
      done += UInt64(bytes.count)
    }
    try output.sync()
  }
}

extension SiteFolder {
  /// Whether the folder is a copy with the tables of segments, but without their frames. Files of its roots may be missing.
  var isWithoutFrames: Bool {
    get throws {
      guard !isServedCopy else { return true }
      let tables = path.appending("tables")
      guard pathExists(tables) else { return false }
      let names = try namesInFolder(tables)
      guard !names.isEmpty else { return false }
      let segments = Set(try namesInFolder(path.appending("segments")))
      return names.contains { !segments.contains($0) }
    }
  }
}
