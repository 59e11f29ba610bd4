import PackStore

extension VersionManifest {
  /// The maximum size of a manifest in bytes.
  package static let byteCountLimit = 64 << 20

  /// The maximum size of a frame table in bytes.
  package static let tableByteCountLimit = 64 << 20

  /// The maximum number of change lists of a version.
  package static let changeListLimit = 16

  /// The valid sizes of a change list in bytes.
  package static let changeListByteCounts = 136...4 << 20

  private static let magic: StaticString = "PKSVERS0"
  private static let changeListByteCount = 68
  private static let segmentByteCount = 64
  private static let frameTableHeaderByteCount = 48

  /// Returns the bytes of the manifest file.
  ///
  /// - Throws: `invalidArgument` if the version has so many segments that clients would refuse the manifest.
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
      throw PackStoreError(
        .invalidArgument, "has too many segments for a site", about: .version(pack, number), detail: .limit)
    }
    return writer.bytes
  }

  /// Appends the change lists; without any, it appends no bytes.
  private func encodeChangeLists(to writer: inout ByteWriter) {
    guard !changeLists.isEmpty else { return }
    writer.append(UInt32(clamping: changeLists.count))
    for list in changeLists {
      writer.append(list.from.bytes)
      writer.append(list.digest.bytes)
      writer.append(list.byteCount)
    }
  }

  /// Decodes an untrusted manifest.
  ///
  /// - Parameter file: the file name for errors.
  /// - Throws: `corrupt`, `newerFormat`.
  package init(decoding bytes: [UInt8], file: String) throws {
    var reader = ByteReader(bytes[...], file: file)
    guard bytes.count <= Self.byteCountLimit else { throw reader.corrupt("manifest is too long") }
    try reader.header(Self.magic)
    let segmentCount = try reader.count(limit: .max, byteCount: Self.segmentByteCount, "too many segments")
    let number: UInt64 = try reader.integer()
    guard 1...PackVersion.lastNumber ~= number else {
      throw reader.corrupt("invalid version number", at: reader.offset - 8)
    }
    let catalog = CatalogID(digest: try reader.digest())
    let layout = try reader.digest(), attributes = try reader.attributes()
    let committedAt: Int64 = try reader.integer()
    let fileCount: UInt64 = try reader.integer(), linkCount: UInt64 = try reader.integer()
    let folderCount: UInt64 = try reader.integer(), byteCount: UInt64 = try reader.integer()
    let pack = try reader.packID()
    var segments: [Segment] = []
    segments.reserveCapacity(segmentCount)
    for _ in 0..<segmentCount { segments.append(try Self.segment(from: &reader)) }
    let changeLists = try reader.remaining == 0 ? [] : Self.changeLists(to: catalog, from: &reader)
    try reader.end()
    guard Set(segments.map(\.id)).count == segmentCount else { throw reader.corrupt("duplicate segment") }
    guard segments.contains(where: { $0.kind == .metadata }) else { throw reader.corrupt("missing metadata segment") }
    self.init(
      pack: pack, number: number, catalog: catalog, layout: layout, attributes: attributes, committedAt: committedAt,
      fileCount: fileCount, linkCount: linkCount, folderCount: folderCount, byteCount: byteCount, segments: segments,
      changeLists: changeLists)
  }

  private static func changeLists(to catalog: CatalogID, from reader: inout ByteReader) throws -> [ChangeList] {
    let begin = reader.offset
    let count = try reader.count(limit: changeListLimit, byteCount: changeListByteCount, "too many change lists")
    var lists: [ChangeList] = []
    for _ in 0..<count {
      let list = ChangeList(
        from: CatalogID(digest: try reader.digest()), digest: try reader.digest(), byteCount: try reader.integer())
      guard changeListByteCounts ~= Int(list.byteCount), list.from != catalog else {
        throw reader.corrupt("invalid change list entry", at: begin)
      }
      lists.append(list)
    }
    guard count > 0, Set(lists.map(\.from)).count == count else {
      throw reader.corrupt("empty list of change lists, or a duplicate entry", at: begin)
    }
    return lists
  }

  private static func segment(from reader: inout ByteReader) throws -> Segment {
    let begin = reader.offset
    let id = SegmentID(try reader.id128())
    let length: UInt64 = try reader.integer()
    let byteCount = length & (1 << 56 - 1)
    guard let kind = SegmentKind(rawValue: UInt8(length >> 56)), byteCount > 0 else {
      throw reader.corrupt("invalid segment entry", at: begin)
    }
    let table = try reader.digest()
    let tableByteCount: UInt32 = try reader.integer()
    guard Self.frameTableHeaderByteCount...Self.tableByteCountLimit ~= Int(tableByteCount) else {
      throw reader.corrupt("invalid length of a frame table", at: begin)
    }
    try reader.reserved()
    return Segment(id: id, kind: kind, byteCount: byteCount, table: table, tableByteCount: tableByteCount)
  }
}
