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
