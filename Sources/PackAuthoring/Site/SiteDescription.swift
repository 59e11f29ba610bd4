import PackFormats
import PackStore

/// The description of the versions that a site's store keeps, and of their files. It includes versions that no channel offers, so
/// that a new offer changes only a root. Missing files are written.
struct SiteDescription {
  /// The description of a version, independent of channels.
  fileprivate struct Version {
    let version: PackVersion
    let manifest: VersionManifest
    let digest: Digest256
    let byteCount: UInt32
  }

  /// The contents of a new root, and the files that it refers to.
  struct Contents {
    var sheets: [SiteRoot.Sheet] = []
    var packs: [SiteRoot.Pack] = []

    /// All files that the root refers to, without the root, and their lengths.
    var files: [SitePath: UInt64] = [:]
  }

  /// The files of all kept versions, and their lengths.
  private(set) var files: [SitePath: UInt64] = [:]

  /// The size of the written files in bytes.
  private(set) var newByteCount: UInt64 = 0

  /// The files in the folder, including newly written ones.
  private(set) var known: ManifestIndex

  private let snapshot: Snapshot
  private let kept: [PackVersion]
  private let folder: SiteFolder
  private let checksFiles: Bool
  private let isWithoutFrames: Bool
  private let listsChanges: Bool
  private var tables: [SegmentID: VersionManifest.Segment] = [:]
  private var versions: [PackID: [UInt64: Version]] = [:]

  /// The download size for an empty store, by the SHA-256 of the manifest.
  private var downloads: [Digest256: UInt64] = [:]

  /// Describes the versions that `snapshot` keeps, and writes missing frame tables and manifests. ``SiteFolder/syncNames()`` makes
  /// their names durable.
  ///
  /// - Parameters:
  ///   - leaving: versions to omit, because they will be dropped.
  ///   - known: the files in the folder.
  ///   - roots: the previous roots. Their entries for versions with the same layout are reused.
  ///   - checksFiles: whether to read existing files, rather than check only their lengths.
  ///   - listsChanges: whether to build change lists for clients with earlier versions.
  ///   - progress: receives the described and the total bytes of segments.
  init(
    of snapshot: Snapshot, leaving: Set<PackVersion>, in folder: SiteFolder, known: ManifestIndex, roots: [SiteRoot],
    checksFiles: Bool = false, listsChanges: Bool = true,
    progress: (_ byteCount: UInt64, _ total: UInt64) -> Void
  ) throws {
    self.snapshot = snapshot
    kept = snapshot.keptVersions.filter { !leaving.contains($0) }
    self.folder = folder
    self.checksFiles = checksFiles
    self.listsChanges = listsChanges
    isWithoutFrames = try folder.isWithoutFrames
    for offer in roots.flatMap(\.packs).flatMap(\.offers) { downloads[offer.manifest] = offer.downloadByteCount }
    self.known = known
    var missing: [PackVersion] = []
    for version in kept {
      if let manifest = try wholeManifest(of: version) {
        for segment in manifest.segments { tables[segment.id] = segment }
        try describe(version, manifest, isNew: false)
      } else {
        missing.append(version)
      }
    }
    try describeSegments(of: missing, progress)
    for version in missing {
      var segments: [VersionManifest.Segment] = []
      for segment in try snapshot.segments(of: version) { segments.append(tables[segment.id]!) }
      let lists = try listsChanges ? makeChangeLists(to: version) : []
      try describe(version, VersionManifest(version, segments: segments, changeLists: lists), isNew: true)
    }
  }

  /// Returns the manifest in the folder that describes a version, if its tables and change lists exist.
  private mutating func wholeManifest(of version: PackVersion) throws -> VersionManifest? {
    while let manifest = known.manifest(of: version) {
      let lists = try removeDamagedLists(of: manifest)
      let hasTables =
        checksFiles ? manifest.segments.allSatisfy(folder.holdsTable) : known.hasTables(of: manifest, in: folder)
      if lists == 0, hasTables, namesSegments(manifest, of: version) { return manifest }
      known.refuse(manifest)
    }
    return nil
  }

  /// Whether a manifest lists the version's current segments in the store. A repair, or a publication after a loss, may have stored
  /// the pages of a version in other segments, with the same layout.
  private func namesSegments(_ manifest: VersionManifest, of version: PackVersion) -> Bool {
    guard !isWithoutFrames, !folder.isServedCopy else { return true }
    // A damaged version keeps its manifest until a repair.
    guard let segments = try? snapshot.segments(of: version) else { return true }
    return Set(segments.map(\.id)) == Set(manifest.segments.map(\.id))
  }

  /// Deletes change lists that do not match their names. If they cannot be built again, later changes would accept the damaged
  /// lists because of their length.
  ///
  /// - Returns: the number of damaged or lost lists.
  private func removeDamagedLists(of manifest: VersionManifest) throws -> Int {
    guard checksFiles, !folder.isServedCopy else { return 0 }
    let damaged = manifest.changeLists.filter { !folder.holds($0) }
    for list in damaged { try folder.remove(.changes(list.digest)) }
    return damaged.count
  }

  // MARK: - Segments

  private mutating func describeSegments(
    of versions: [PackVersion], _ progress: (UInt64, UInt64) -> Void
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
      try describe(segment)
      done = done.addingClamped(segment.byteCount)
    }
  }

  private mutating func describe(_ segment: Snapshot.Segment) throws {
    // The segment may come from a version that is not described any more. Without frames, its table cannot be written again.
    let file = SitePath.frames(segment.id)
    if isWithoutFrames || folder.isElsewhere(file), let described = known.segment(segment.id, in: folder) {
      tables[segment.id] = described
      return
    }
    var hash = DigestBuilder()
    var byteCount: UInt64 = 0
    // Replaces an existing file, because it may be damaged. A correct file is identical.
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

  // MARK: - Change lists

  /// The maximum number of earlier versions with change lists to one version. Each list requires reading both catalogs once.
  private static let changeListCount = 8

  /// Builds the change lists to a version from earlier versions that the store keeps, including versions that will leave it,
  /// because clients have them. Lists are optional: without a list, clients fetch pages.
  private mutating func makeChangeLists(to version: PackVersion) throws -> [VersionManifest.ChangeList] {
    var lists: [VersionManifest.ChangeList] = []
    let earlier = snapshot.versions(of: version.pack).filter {
      $0.number < version.number && $0.catalog != version.catalog
    }
    guard !earlier.isEmpty, let lister = try Self.ifThereIsOne({ try ChangeLister(to: version, in: snapshot) }) else {
      return []
    }
    for from in earlier.sorted(by: { $0.number > $1.number }) where lists.count < Self.changeListCount {
      try Task.checkCancellation()
      guard !lists.contains(where: { $0.from == from.catalog }),
        let bytes = try Self.ifThereIsOne({ try lister.changes(from: from) })
      else { continue }
      let digest = Digest256(hashing: bytes)
      try folder.write(.changes(digest)) { file in try file.write(bytes) }
      newByteCount += UInt64(bytes.count)
      lists.append(.init(from: from.catalog, digest: digest, byteCount: UInt32(bytes.count)))
    }
    return lists
  }

  /// Calls `make`. Returns `nil` if the versions have little in common, or if data of one version is lost.
  private static func ifThereIsOne<List: ~Copyable>(_ make: () throws -> List) throws -> List? {
    do {
      return try make()
    } catch let error as PackStoreError where [.invalidArgument, .purged, .corrupt, .notFound].contains(error.code) {
      return nil
    }
  }

  // MARK: - Versions

  private mutating func describe(_ version: PackVersion, _ manifest: VersionManifest, isNew: Bool) throws {
    let bytes = try manifest.encode()
    let described = Version(
      version: version, manifest: manifest, digest: Digest256(hashing: bytes), byteCount: UInt32(bytes.count))
    if isNew {
      try folder.write(.version(described.digest)) { file in try file.write(bytes) }
      newByteCount += UInt64(bytes.count)
      known.add(manifest)
    }
    files.merge(described.files) { first, _ in first }
    versions[version.pack, default: [:]][version.number] = described
  }

  private mutating func offer(_ planned: ChannelPlan.Offer, of version: Version) throws -> SiteRoot.Offer {
    let download = try downloads[version.digest] ?? downloadByteCount(of: version)
    downloads[version.digest] = download
    return SiteRoot.Offer(
      number: planned.number, catalog: version.version.catalog, manifest: version.digest,
      manifestByteCount: version.byteCount, attributes: version.version.attributesDigest, downloadByteCount: download,
      share: planned.share, rollout: planned.rollout, appVersions: planned.appVersions, release: planned.release)
  }

  private func downloadByteCount(of version: Version) throws -> UInt64 {
    let tables = version.manifest.segments.map { UInt64($0.tableByteCount) }.clampedSum()
    return try snapshot.downloadByteCount(of: version.version).addingClamped(tables)
      .addingClamped(UInt64(version.byteCount))
  }

  // MARK: - Roots

  /// Returns the contents of a channel's root according to its plan, and writes its attribute sheets.
  ///
  /// - Parameters:
  ///   - current: the previous root.
  ///   - deltas: the site's deltas.
  mutating func contents(
    of plan: ChannelPlan, current: SiteRoot?, deltas: DeltaIndex
  ) throws -> Contents {
    var contents = Contents()
    var attributes: [Digest256: Attributes] = [:]
    for pack in snapshot.packs.sorted(by: { $0.id < $1.id }) {
      var entry = SiteRoot.Pack(id: pack.id, priority: pack.priority, offers: [], deltas: [])
      for planned in plan.offers(of: pack.id) {
        guard let version = versions[pack.id]?[planned.number] else { continue }
        entry.offers.append(try offer(planned, of: version))
        contents.files.merge(version.files) { first, _ in first }
        if let digest = version.version.attributesDigest, attributes[digest] == nil {
          attributes[digest] = try snapshot.attributes(of: version.version)
        }
      }
      guard !entry.offers.isEmpty else { continue }
      let selection = DeltaSelection(
        for: entry.offers, kept: Set(kept.filter { $0.pack == pack.id }.map(\.catalog)),
        trustsRoot: folder.isServedCopy,
        after: current?.packs.first { $0.id == pack.id }, withdrawing: plan.withdrawn[pack.id] ?? [])
      for delta in try usable(deltas.of(pack.id), selection) {
        contents.files[.delta(delta.header)] = delta.byteCount
        entry.deltas.append(delta)
      }
      contents.packs.append(entry)
    }
    contents.sheets = try sheets(with: attributes, current: current?.sheets ?? [])
    for sheet in contents.sheets { contents.files[.sheet(sheet.digest)] = UInt64(sheet.byteCount) }
    return contents
  }

  /// Returns the deltas to list. Omits missing deltas.
  private func usable(_ known: [DeltaIndex.Delta], _ selection: DeltaSelection) throws -> [SiteRoot.Delta] {
    let present = try known.filter { delta in
      guard selection.isCandidate(delta) else { return false }
      // A delta that is missing in the folder is listed only if it exists on the served site.
      return try isWithoutFrames || folder.isElsewhere(.delta(delta.row.header))
        || folder.byteCount(of: .delta(delta.row.header)) == delta.row.byteCount
          && (!checksFiles || folder.holds(delta.row))
    }
    return selection.choose(from: present)
  }

  // MARK: - Sheets of attributes

  /// Up to this length, a sheet is written again for new attributes. A longer sheet stays, and a second sheet contains the new
  /// attributes, so that a change of one pack among thousands stays small.
  private static let longSheetByteCount: UInt32 = 64 << 10

  /// Returns sheets with all these attributes: the previous sheets, if they contain all attributes and are not mostly outdated.
  private mutating func sheets(
    with attributes: [Digest256: Attributes], current: [SiteRoot.Sheet]
  ) throws -> [SiteRoot.Sheet] {
    guard !attributes.isEmpty else { return [] }
    let present = try current.compactMap { sheet in
      folder.holds(sheet) ? (sheet: sheet, digests: Set(try folder.sheet(sheet).digests)) : nil
    }
    let all = present.reduce(into: Set<Digest256>()) { $0.formUnion($1.digests) }
    let missing = attributes.filter { !all.contains($0.key) }
    let isMostlyUsed = all.count <= 2 * (attributes.count - missing.count)
    guard isMostlyUsed, !present.isEmpty else { return [try write(AttributeSheet(attributes.values))] }
    guard !missing.isEmpty else { return present.map(\.sheet) }
    guard present[0].sheet.byteCount > Self.longSheetByteCount else {
      return [try write(AttributeSheet(attributes.values))]
    }
    let rest = attributes.filter { !present[0].digests.contains($0.key) }
    let second = AttributeSheet(rest.values)
    guard try second.encode().count <= Int(present[0].sheet.byteCount) else {
      return [try write(AttributeSheet(attributes.values))]
    }
    return [present[0].sheet, try write(second)]
  }

  private mutating func write(_ sheet: AttributeSheet) throws -> SiteRoot.Sheet {
    let bytes = try sheet.encode()
    let made = SiteRoot.Sheet(digest: Digest256(hashing: bytes), byteCount: UInt32(bytes.count))
    guard !folder.holds(made) else { return made }
    try folder.write(.sheet(made.digest)) { file in try file.write(bytes) }
    newByteCount += UInt64(bytes.count)
    return made
  }
}

extension SiteDescription.Version {
  /// The files that the version refers to, and their lengths.
  fileprivate var files: [SitePath: UInt64] { manifest.files.merging([.version(digest): UInt64(byteCount)]) { $1 } }
}

extension VersionManifest {
  init(_ version: PackVersion, segments: [Segment], changeLists: [ChangeList]) {
    self.init(
      pack: version.pack, number: version.number, catalog: version.catalog, layout: version.layout,
      attributes: version.attributesDigest, committedAt: version.committedAtNanoseconds,
      fileCount: UInt64(version.fileCount),
      linkCount: UInt64(version.linkCount), folderCount: UInt64(version.folderCount),
      byteCount: UInt64(version.byteCount), segments: segments, changeLists: changeLists)
  }

  /// Whether this is the manifest of a version with its current layout. Its segments are then the layout's segments, and its change
  /// lists lead to the version.
  func describes(_ version: PackVersion) -> Bool { describes(version, inLayout: version.layout) }

  /// Whether this is the manifest of a version whose layout has the given id.
  func describes(_ version: PackVersion, inLayout layout: Digest256) -> Bool {
    var description = VersionManifest(version, segments: segments, changeLists: changeLists)
    description.layout = layout
    return self == description
  }
}
