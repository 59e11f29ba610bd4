import PackFormats
import PackStore

/// Writes one version of a site as an archive: its files in sequence, in the order in which clients need them.
struct ArchiveWriter {
  private let site: SiteFolder

  /// The channel of the root, which readers of an archive ignore.
  private let channel: SiteChannel

  /// The files after the root.
  private let paths: [SitePath]
  private let note: PackagerNote?
  private let modifiedAt: UInt64

  /// - Parameters:
  ///   - root: the site's root, with one version of one pack.
  ///   - note: the packager's note; `nil` for an archive without one.
  init(of site: SiteFolder, _ root: SiteRoot, note: PackagerNote? = nil) throws {
    guard let pack = root.packs.first, let offer = pack.offers.first else {
      preconditionFailure("an archive is of a version")
    }
    self.site = site
    channel = root.channel
    self.note = note
    modifiedAt = UInt64(max(root.madeAt / 1_000_000_000, 0))
    let manifest = try site.manifest(of: offer, in: pack.id)
    let segments = manifest.segments.filter { $0.kind == .metadata } + manifest.segments.filter { $0.kind == .data }
    paths =
      root.sheets.map { .sheet($0.digest) } + [.version(offer.manifest)] + segments.map { .frames($0.id) }
      + segments.map { .segment($0.id) }
  }

  /// Writes the archive to a new file, durably.
  ///
  /// - Returns: the length of the archive in bytes.
  func write(to draft: FilePlace) throws -> UInt64 {
    let writer = TarWriter(try NewFile(draft), modifiedAt: modifiedAt)
    try writer.add(SitePath.root(.live).description, from: site.open(.root(channel)))
    for path in paths { try writer.add(path.description, from: site.open(path)) }
    if let note { try writer.add(PackagerNote.fileName, note.encode()) }
    return try writer.finish()
  }

  /// Returns the length of the archive, without writing it.
  func countBytes() throws -> UInt64 {
    let lengths =
      try ([.root(channel)] + paths).map { try site.byteCount(of: $0) ?? 0 }
      + [note].compactMap { $0.map { UInt64($0.encode().count) } }
    return lengths.reduce(TarWriter.endByteCount) { $0.addingClamped(TarWriter.byteCount(ofMember: $1)) }
  }
}
