import PackStore

/// What a site's root is to say of the generation that its store shows, and the files that it takes. Files that are not
/// there yet are made on the way.
struct SiteDescription {
  private(set) var packs: [SiteRoot.Pack] = []

  /// All files that the root leads to, without the root, and how long they are.
  private(set) var files: [SitePath: UInt64] = [:]

  /// Bytes of files that were made.
  private(set) var newByteCount: UInt64 = 0

  private let folder: SiteFolder
  private let checksFiles: Bool
  private var tables: [SegmentID: VersionManifest.Segment] = [:]

  /// Describes every kept version of every pack of `snapshot`, and makes the frame tables and manifests that are
  /// missing. Their names are durable when this returns.
  ///
  /// - Parameters:
  ///   - current: the root until now. What it says of a version that has not moved is so.
  ///   - checksFiles: reads the frame tables and deltas that are there, rather than believe those that are as long as
  ///     they should be.
  ///   - progress: told of bytes of segments that were described, and of all that will be.
  init(
    of snapshot: Snapshot, in folder: SiteFolder, current: SiteRoot?, checksFiles: Bool = false,
    progress: (_ byteCount: UInt64, _ total: UInt64) -> Void
  ) throws {
    self.folder = folder
    self.checksFiles = checksFiles
    let known = knownManifests(current)
    var versions: [(PackVersion, VersionManifest?)] = []
    for pack in snapshot.packs {
      for version in snapshot.versions(of: pack.id) {
        let manifest = known[version.catalog]?.first { $0.describes(version) }
        for segment in manifest?.segments ?? [] { tables[segment.id] = segment }
        versions.append((version, manifest))
      }
    }
    try describeSegments(of: versions.filter { $0.1 == nil }.map(\.0), in: snapshot, progress)
    for pack in snapshot.packs.sorted(by: { $0.id < $1.id }) {
      packs.append(try describe(pack, versions.filter { $0.0.pack == pack.id }, in: snapshot, current))
    }
    try folder.syncNames()
  }

  /// Manifests of the root until now, by catalog, of which all files are there.
  private func knownManifests(_ root: SiteRoot?) -> [CatalogID: [VersionManifest]] {
    var known: [CatalogID: [VersionManifest]] = [:]
    for pack in root?.packs ?? [] {
      for version in pack.versions {
        // One that cannot be read is made again.
        guard let manifest = try? folder.manifest(of: version, in: pack.id), manifest.segments.allSatisfy(hasTable)
        else { continue }
        known[version.catalog, default: []].append(manifest)
      }
    }
    return known
  }

  private func hasTable(_ segment: VersionManifest.Segment) -> Bool {
    guard !checksFiles else { return folder.holdsTable(of: segment) }
    return (try? folder.byteCount(of: .frames(segment.id))) == UInt64(segment.tableByteCount)
  }

  // MARK: - Segments

  private mutating func describeSegments(
    of versions: [PackVersion], in snapshot: Snapshot, _ progress: (UInt64, UInt64) -> Void
  ) throws {
    var missing: [Snapshot.Segment] = []
    var seen = Set(tables.keys)
    for version in versions {
      for segment in try snapshot.segments(of: version) where seen.insert(segment.id).inserted {
        missing.append(segment)
      }
    }
    let total = missing.map(\.byteCount).clampedSum()
    var done: UInt64 = 0
    for segment in missing {
      try Task.checkCancellation()
      progress(done, total)
      try describe(segment, in: snapshot)
      done = done.addingClamped(segment.byteCount)
    }
  }

  private mutating func describe(
    _ segment: Snapshot.Segment, in snapshot: Snapshot
  ) throws {
    let file = SitePath.frames(segment.id)
    var hash = DigestBuilder()
    var byteCount: UInt64 = 0
    // Written even when there is one of that name: nothing says that it is right, and it would be the same.
    try folder.write(file) { output in
      try snapshot.writeFrameTable(of: segment.id) { bytes in
        hash.update(bytes)
        byteCount += UInt64(bytes.count)
        try output.write(bytes)
      }
    }
    newByteCount += byteCount
    tables[segment.id] = VersionManifest.Segment(
      id: segment.id, kind: segment.kind, byteCount: segment.byteCount, table: hash.finish(),
      tableByteCount: UInt32(byteCount))
  }

  // MARK: - Versions

  private mutating func describe(
    _ pack: Store.Pack, _ versions: [(PackVersion, VersionManifest?)], in snapshot: Snapshot,
    _ current: SiteRoot?
  ) throws -> SiteRoot.Pack {
    var described: [SiteRoot.Version] = []
    for (version, known) in versions { described.append(try describe(version, known, in: snapshot)) }
    let catalogs = Set(described.map(\.catalog))
    let deltas = current?.packs.first { $0.id == pack.id }?.deltas ?? []
    var kept: [SiteRoot.Delta] = []
    for delta in deltas where catalogs.contains(delta.from) && delta.to == described[0].catalog {
      // A delta spares bytes; one that is not there spares none.
      guard try folder.byteCount(of: .delta(delta.header)) == delta.byteCount, try !checksFiles || folder.holds(delta)
      else { continue }
      files[.delta(delta.header)] = delta.byteCount
      kept.append(delta)
    }
    return SiteRoot.Pack(id: pack.id, priority: pack.priority, versions: described, deltas: kept)
  }

  private mutating func describe(
    _ version: PackVersion, _ known: VersionManifest?, in snapshot: Snapshot
  ) throws -> SiteRoot.Version {
    let manifest: VersionManifest
    if let known {
      manifest = known
    } else {
      var segments: [VersionManifest.Segment] = []
      for segment in try snapshot.segments(of: version) { segments.append(tables[segment.id]!) }
      manifest = VersionManifest(version, segments: segments)
    }
    let bytes = try manifest.encode()
    let digest = Digest256(hashing: bytes)
    if known == nil {
      try folder.write(.version(digest)) { file in try file.write(bytes) }
      newByteCount += UInt64(bytes.count)
    }
    files[.version(digest)] = UInt64(bytes.count)
    for segment in manifest.segments {
      files[.frames(segment.id)] = UInt64(segment.tableByteCount)
      files[.segment(segment.id)] = segment.byteCount
    }
    return SiteRoot.Version(
      number: version.number, catalog: version.catalog, manifest: digest, manifestByteCount: UInt32(bytes.count))
  }
}

extension VersionManifest {
  init(_ version: PackVersion, segments: [Segment]) {
    self.init(
      pack: version.pack, number: version.number, catalog: version.catalog, layout: version.layout,
      attributes: version.attributesDigest, committedAt: version.committedAtNanoseconds,
      fileCount: UInt64(version.fileCount),
      linkCount: UInt64(version.linkCount), folderCount: UInt64(version.folderCount),
      byteCount: UInt64(version.byteCount), segments: segments)
  }

  /// Whether it is the manifest of a version as it lies now: then its segments are those of the layout.
  func describes(_ version: PackVersion) -> Bool { self == VersionManifest(version, segments: segments) }
}
