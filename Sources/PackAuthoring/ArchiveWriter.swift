import PackStore

/// Writes one version of a site as an archive: its files one after another, those first that a client wants first.
struct ArchiveWriter {
  private let site: SiteFolder
  private let paths: [SitePath]
  private let note: PackagerNote?
  private let modifiedAt: UInt64

  /// - Parameters:
  ///   - root: what the site's root says: one version of one pack.
  ///   - note: how it was packed.
  init(of site: SiteFolder, _ root: SiteRoot, note: PackagerNote? = nil) throws {
    guard let pack = root.packs.first, let version = pack.versions.first else {
      preconditionFailure("an archive is of a version")
    }
    self.site = site
    self.note = note
    modifiedAt = UInt64(max(root.madeAt / 1_000_000_000, 0))
    let manifest = try version.openManifest(
      try site.read(.version(version.manifest), limit: VersionManifest.byteCountLimit), of: pack.id)
    let segments = manifest.segments.filter { $0.kind == .metadata } + manifest.segments.filter { $0.kind == .data }
    paths =
      [.root, .version(version.manifest)] + segments.map { SitePath.frames($0.id) }
      + segments.map { SitePath.segment($0.id) }
  }

  /// Makes the file, durably.
  ///
  /// - Returns: its length in bytes.
  func write(to draft: FilePlace) throws -> UInt64 {
    let writer = TarWriter(try NewFile(draft), modifiedAt: modifiedAt)
    for path in paths { try writer.add(path.description, from: site.open(path)) }
    if let note { try writer.add(PackagerNote.fileName, note.encode()) }
    return try writer.finish()
  }

  /// How long the file would be.
  func countBytes() throws -> UInt64 {
    let lengths =
      try paths.map { try site.byteCount(of: $0) ?? 0 } + [note].compactMap { $0.map { UInt64($0.encode().count) } }
    return lengths.reduce(TarWriter.endByteCount) { $0.addingClamped(TarWriter.byteCount(ofMember: $1)) }
  }
}
