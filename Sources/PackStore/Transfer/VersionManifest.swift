/// The description of a pack version that a client reads before it fetches the version: the roots of its catalog and layout, and
/// the segments of the site that contain its bytes. The file name is the file's SHA-256, which the site's signed root contains.
package struct VersionManifest: Hashable, Sendable {
  package var pack: PackID
  package var number: UInt64
  package var catalog: CatalogID

  /// The id of the layout's root page.
  package var layout: Digest256

  /// The SHA-256 of the version's attributes; `nil` if it has none.
  package var attributes: Digest256?

  /// The date of the commit, in nanoseconds since 1970.
  package var committedAt: Int64

  package var fileCount: UInt64
  package var linkCount: UInt64
  package var folderCount: UInt64

  /// The sum of the files' sizes, in bytes.
  package var byteCount: UInt64

  /// The segments, each once, in the order in which they were first needed. The last ones are therefore usually the newest.
  package var segments: [Segment]

  /// Change lists to this version, which replace pages for a client that keeps a list's start version. Start catalogs differ.
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

    /// The size of the segment file, in bytes.
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

  /// A reference to a file with the catalog and layout parts that an earlier version lacks: `Docs/FORMAT.md`, section 25.
  package struct ChangeList: Hashable, Sendable {
    /// The catalog of the start version.
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

/// The kind of a segment's chunks.
package enum SegmentKind: UInt8, Hashable, Sendable {
  /// Contents of assets.
  case data = 1
  /// Pages of catalogs and layouts, and attributes.
  case metadata = 2
}
