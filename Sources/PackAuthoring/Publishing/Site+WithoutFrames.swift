package import PackFormats
package import PackStore

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

  /// Whether the folder is a copy that lacks the frames of its data.
  ///
  /// - Throws: `ioError`.
  package var isWithoutFrames: Bool { get throws { try folder.isWithoutFrames } }

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
