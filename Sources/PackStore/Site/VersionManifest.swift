/// What a client has to know of a pack version before it fetches any of it: where its trees begin, and which segments
/// of the site hold its bytes. The file is named by its SHA-256, which the site's root signs.
package struct VersionManifest: Hashable, Sendable {
  package var pack: PackID
  package var number: UInt64
  package var catalog: CatalogID

  /// The id of the layout's root page.
  package var layout: Digest256

  /// The SHA-256 of the version's attributes; nil when it has none.
  package var attributes: Digest256?

  /// Nanoseconds since 1970.
  package var committedAt: Int64

  package var fileCount: UInt64
  package var linkCount: UInt64
  package var folderCount: UInt64

  /// The sum of the files' sizes, in bytes.
  package var byteCount: UInt64

  /// Each once, those that were needed first first: so that the last are usually the newest.
  package var segments: [Segment]

  /// In place of pages, for clients that keep the version with which one begins: each catalog once.
  package var changeLists: [ChangeList]

  package init(
    pack: PackID, number: UInt64, catalog: CatalogID, layout: Digest256, attributes: Digest256?, committedAt: Int64,
    fileCount: UInt64, linkCount: UInt64, folderCount: UInt64, byteCount: UInt64, segments: [Segment],
    changeLists: [ChangeList] = []
  ) {
    self.pack = pack
    self.number = number
    self.catalog = catalog
    self.layout = layout
    self.attributes = attributes
    self.committedAt = committedAt
    self.fileCount = fileCount
    self.linkCount = linkCount
    self.folderCount = folderCount
    self.byteCount = byteCount
    self.segments = segments
    self.changeLists = changeLists
  }

  /// A segment file of the site, and its frame table.
  package struct Segment: Hashable, Sendable {
    package var id: SegmentID
    package var kind: SegmentKind

    /// Of the segment file, in bytes.
    package var byteCount: UInt64

    /// The SHA-256 of the frame table.
    package var table: Digest256

    package var tableByteCount: UInt32

    package init(id: SegmentID, kind: SegmentKind, byteCount: UInt64, table: Digest256, tableByteCount: UInt32) {
      self.id = id
      self.kind = kind
      self.byteCount = byteCount
      self.table = table
      self.tableByteCount = tableByteCount
    }
  }

  /// A file that says what catalog and layout have that an earlier version has not: `Docs/FORMAT.md`, section 25.
  package struct ChangeList: Hashable, Sendable {
    /// With which it begins.
    package var from: CatalogID

    /// The SHA-256 of the file.
    package var digest: Digest256

    package var byteCount: UInt32

    package init(from: CatalogID, digest: Digest256, byteCount: UInt32) {
      self.from = from
      self.digest = digest
      self.byteCount = byteCount
    }
  }
}

/// What a segment's chunks are.
package enum SegmentKind: UInt8, Hashable, Sendable {
  /// Of assets.
  case data = 1
  /// Pages of catalogs and layouts, and attributes.
  case metadata = 2
}

extension VersionManifest {
  /// The most bytes that a manifest may have.
  package static let byteCountLimit = 64 << 20

  /// The most bytes that a frame table may have.
  package static let tableByteCountLimit = 64 << 20

  /// The most change lists of a version.
  package static let changeListLimit = 16

  /// How many bytes a change list may have.
  package static let changeListByteCounts = 136...4 << 20

  private static let magic: StaticString = "PKSVERS0"
  private static let changeListByteCount = 68
  private static let segmentByteCount = 64
  private static let frameTableHeaderByteCount = 48

  /// - Throws: `invalidArgument` for a version of so many segments that no client would read of it.
  package func encode() throws -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.magic.withUTF8Buffer(Array.init))
    writer.append(SiteFormat.current)
    writer.append(UInt32(clamping: segments.count))
    writer.append(number)
    writer.append(catalog.bytes)
    writer.append(layout.bytes)
    writer.append(attributes: attributes)
    writer.append(committedAt)
    for count in [fileCount, linkCount, folderCount, byteCount] { writer.append(count) }
    writer.append(UInt32(pack.name.utf8.count))
    writer.append(pack.name.utf8)
    for segment in segments {
      precondition(segment.byteCount < 1 << 56)
      writer.append(segment.id.id.bytes)
      writer.append(segment.byteCount | UInt64(segment.kind.rawValue) << 56)
      writer.append(segment.table.bytes)
      writer.append(segment.tableByteCount)
      writer.append(UInt32(0))
    }
    encodeChangeLists(to: &writer)
    guard writer.bytes.count <= Self.byteCountLimit else {
      throw PackStoreError(.invalidArgument, "the version has too many segments for a site", file: "\(pack)@\(number)")
    }
    return writer.bytes
  }

  /// Nothing where there are none.
  private func encodeChangeLists(to writer: inout ByteWriter) {
    guard !changeLists.isEmpty else { return }
    writer.append(UInt32(clamping: changeLists.count))
    for list in changeLists {
      writer.append(list.from.bytes)
      writer.append(list.digest.bytes)
      writer.append(list.byteCount)
    }
  }

  /// Takes apart bytes from outside.
  ///
  /// - Parameter file: what errors name.
  /// - Throws: `corrupt`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    guard bytes.count <= Self.byteCountLimit else { throw reader.corrupt("the manifest is too long") }
    try reader.header(Self.magic)
    let segmentCount = try reader.count(limit: .max, byteCount: Self.segmentByteCount, "too many segments")
    number = try reader.integer()
    guard 1...PackVersion.lastNumber ~= number else {
      throw reader.corrupt("no version has this number", at: reader.offset - 8)
    }
    catalog = CatalogID(digest: try reader.digest())
    layout = try reader.digest()
    attributes = try reader.attributes()
    committedAt = try reader.integer()
    fileCount = try reader.integer()
    linkCount = try reader.integer()
    folderCount = try reader.integer()
    byteCount = try reader.integer()
    pack = try reader.packID()
    segments = []
    segments.reserveCapacity(segmentCount)
    for _ in 0..<segmentCount { segments.append(try Self.segment(from: &reader)) }
    changeLists = try reader.remaining == 0 ? [] : Self.changeLists(to: catalog, from: &reader)
    try reader.end()
    guard Set(segments.map(\.id)).count == segmentCount else { throw reader.corrupt("a segment is named twice") }
    guard segments.contains(where: { $0.kind == .metadata }) else { throw reader.corrupt("no segment has the catalog") }
  }

  private static func changeLists(to catalog: CatalogID, from reader: inout ByteReader) throws -> [ChangeList] {
    let begin = reader.offset
    let count = try reader.count(limit: changeListLimit, byteCount: changeListByteCount, "too many change lists")
    var lists: [ChangeList] = []
    for _ in 0..<count {
      let list = ChangeList(
        from: CatalogID(digest: try reader.digest()), digest: try reader.digest(), byteCount: try reader.integer())
      guard changeListByteCounts ~= Int(list.byteCount), list.from != catalog else {
        throw reader.corrupt("no change list is like this", at: begin)
      }
      lists.append(list)
    }
    guard count > 0, Set(lists.map(\.from)).count == count else {
      throw reader.corrupt("a change list is named twice, or none", at: begin)
    }
    return lists
  }

  private static func segment(from reader: inout ByteReader) throws -> Segment {
    let begin = reader.offset
    let id = SegmentID(try reader.id128())
    let length: UInt64 = try reader.integer()
    let byteCount = length & (1 << 56 - 1)
    guard let kind = SegmentKind(rawValue: UInt8(length >> 56)), byteCount > 0 else {
      throw reader.corrupt("no segment is like this", at: begin)
    }
    let table = try reader.digest()
    let tableByteCount: UInt32 = try reader.integer()
    guard Self.frameTableHeaderByteCount...Self.tableByteCountLimit ~= Int(tableByteCount) else {
      throw reader.corrupt("no frame table has this length", at: begin)
    }
    try reader.reserved()
    return Segment(id: id, kind: kind, byteCount: byteCount, table: table, tableByteCount: tableByteCount)
  }
}
