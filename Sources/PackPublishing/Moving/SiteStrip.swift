public import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

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

  /// Copies a site without the frames of its data. The copy contains everything that a publication needs, and its size is a few
  /// percent of the site's.
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
    try await BlockingExecutor.runAsync {
      guard exists(at: path) else { throw PackStoreError(.notAStore, "not a site", about: .site(path.string)) }
      return try await SiteStrip(path, to: copy, isDryRun: isDryRun).run()
    }
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
  private static let parallelCount = 4

  init(_ path: FilePath, to copy: FilePath, isDryRun: Bool) {
    self.path = path
    self.copy = copy
    self.isDryRun = isDryRun
  }

  func run() async throws -> Site.StripResult {
    guard try !pathExists(copy) || namesInFolder(copy).isEmpty else {
      throw PackStoreError(
        .exists, "the folder for the copy is not empty", about: .folder(copy.string), detail: .fileExists)
    }
    for _ in 0..<Self.roundCount {
      let before = try SiteState(ofSiteAt: path)
      do {
        let result = try await copyOnce()
        if try SiteState(ofSiteAt: path) == before { return result }
      } catch {
        try takeBack()
        guard try SiteState(ofSiteAt: path) != before else { throw error }
        continue
      }
      try takeBack()
    }
    throw PackStoreError(.conflict, "published to by another process since the copy began", about: .site(path.string))
  }

  private func takeBack() throws {
    guard !isDryRun else { return }
    for name in try namesInFolder(copy) { removeTree(copy.appending(name)) }
  }

  /// Copies all files once; the control file last: without it, the copy is not a store.
  private func copyOnce() async throws -> Site.StripResult {
    let snapshot = try Store(at: path, options: .readOnly).makeSnapshot()
    let tables = StripTables(snapshot, in: path)
    var byteCount: UInt64 = 0, remoteByteCount: UInt64 = 0, files: [MirroredFile] = [], remote: [MirroredFile] = []
    for segment in try segments(of: snapshot) {
      if segment.kind == .metadata {
        files.append(try file("segments/\(segment.id)"))
      } else {
        remote.append(MirroredFile("tables/\(segment.id)", byteCount: try tables.byteCount(of: segment.id)))
        remoteByteCount = remoteByteCount.addingClamped(segment.byteCount)
      }
    }
    for folder in ["index", SitePath.rootFolder, "versions", "frames", "changes", "attributes", "history"] {
      let names = try namesInFolder(FilePlace(folder, in: path)).filter { !$0.hasSuffix(".new") }
      files += try names.map { try file("\(folder)/\($0)") }
    }
    for name in [SitePath.root(.live).description] + SiteFolderCopy.lists where pathExists(path.appending(name)) {
      files.append(try file(name))
    }
    let control = try file("CONTROL")
    byteCount = try Site.copyNotes(from: path, to: copy, isDryRun: true)
    for file in files + remote + [control] { byteCount = byteCount.addingClamped(file.byteCount) }
    if !isDryRun { try await copyFiles(files, remote, tables, control) }
    return Site.StripResult(
      byteCount: Int(clamping: byteCount), remoteByteCount: Int(clamping: remoteByteCount),
      remoteSegmentCount: remote.count)
  }

  private func copyFiles(
    _ files: [MirroredFile], _ remote: [MirroredFile], _ tables: StripTables, _ control: MirroredFile
  ) async throws {
    try makeFolder(copy)
    let own = ["index", "segments", "tables", "tmp", "incoming", SitePath.rootFolder]
    for name in own + SitePath.folders { try makeFolder(copy.appending(name)) }
    let target = MirrorFolder(path: copy)
    let mirror = SiteMirror(source: MirroredSource(source: FolderSource(path.string)), target: target)
    do {
      try await mirror.copy(files, parallelCount: Self.parallelCount)
      try await SiteMirror(source: tables, target: target).copy(remote, parallelCount: Self.parallelCount)
      try Site.copyNotes(from: path, to: copy)
      for name in own + SitePath.folders { try syncFolder(copy.appending(name)) }
      try await mirror.copy(control)
    } catch SourceFault.siteChanged(let error) { throw error }
    try syncFolder(copy)
  }

  private func segments(of snapshot: Snapshot) throws -> [Snapshot.Segment] {
    var seen: Set<SegmentID> = [], segments: [Snapshot.Segment] = []
    for pack in snapshot.packs + snapshot.removedPacks {
      for version in snapshot.versions(of: pack.id) {
        segments += try snapshot.segments(of: version).filter { seen.insert($0.id).inserted }
      }
    }
    return segments
  }

  private func file(_ name: String) throws -> MirroredFile {
    MirroredFile(name, byteCount: try InputFile(name, in: path).byteCount)
  }
}

/// The tables of a site's data segments, as the core checks and returns them.
private struct StripTables: MirrorSource {
  private let snapshot: Snapshot
  private let path: FilePath

  init(_ snapshot: Snapshot, in path: FilePath) {
    self.snapshot = snapshot
    self.path = path
  }

  func byteCount(of segment: SegmentID) throws -> UInt64 {
    var byteCount: UInt64 = 0
    try snapshot.writeTable(of: segment) { byteCount = byteCount.addingClamped(UInt64($0.count)) }
    return byteCount
  }

  func fetch(
    _ file: MirroredFile, isFresh: Bool, restart: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    guard let id = ID128(hex: file.path.dropFirst("tables/".count)) else { throw damage(of: file) }
    try snapshot.writeTable(of: SegmentID(id), to: body)
  }

  func damage(of file: MirroredFile) -> any Error {
    PackStoreError(.corrupt, "the table of the segment changed", file: "\(path)/\(file.path)")
  }
}
