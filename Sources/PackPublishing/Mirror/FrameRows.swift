package import PackStore

/// The rows of a frame table with a verified SHA-256: `FORMAT.md`, section 20.
package struct FrameRows {
  package struct Row {
    package let offset: UInt64
    package let byteCount: UInt32

    /// The digest of the stored bytes.
    package let digest: Digest256
  }

  /// The rows of the frames, then of the dictionaries.
  package let rows: [Row]

  /// The end of the last frame or dictionary in the segment's file.
  package var end: UInt64 { rows.map { $0.offset + UInt64($0.byteCount) }.max() ?? Self.headerEnd }

  /// The rows as parts with digests, in order.
  var parts: [ContentChecker.Part] {
    rows.map { .init(offset: $0.offset, byteCount: UInt64($0.byteCount), digest: $0.digest) }
      .sorted { $0.offset < $1.offset }
  }

  package static let pageByteCount: UInt64 = 4096
  package static let trailerByteCount: UInt64 = 64
  private static let headerEnd: UInt64 = 64
  private static let rowsBegin = 48, rowByteCount = 48, dictionaryByteCount = 80
  private static let dictionaryCountLimit = 64

  /// - Throws: `corrupt` if the table does not belong to the segment.
  package init(_ bytes: [UInt8], of segment: VersionManifest.Segment, file: String) throws {
    let kind = UInt64(segment.kind.rawValue)
    guard bytes.count >= Self.rowsBegin, Self.number(bytes, at: 12, 4) == kind,
      Array(bytes[16..<32]) == segment.id.id.bytes, Self.number(bytes, at: 32, 8) == segment.byteCount
    else { throw Self.damage(file) }
    try self.init(bytes, file: file)
  }

  private static func damage(_ file: String) -> PackStoreError {
    PackStoreError(.corrupt, "the frame table belongs to another segment", file: file)
  }

  /// Reads a table without a signed description of its segment: the digests of its rows are claims.
  ///
  /// - Throws: `corrupt` for another form.
  package init(_ bytes: [UInt8], file: String) throws {
    func damage() -> PackStoreError { Self.damage(file) }
    func number(at offset: Int, _ count: Int) -> UInt64 { Self.number(bytes, at: offset, count) }
    guard bytes.count >= Self.rowsBegin, bytes.starts(with: Array("PKSFRAM0".utf8)) else { throw damage() }
    let isMetadata = number(at: 12, 4) == UInt64(SegmentKind.metadata.rawValue)
    let segmentByteCount = number(at: 32, 8)
    let count = Int(number(at: 40, 4)), dictionaryCount = Int(number(at: 44, 4))
    let pages = isMetadata ? count * Digest256.byteCount : 0
    let dictionariesBegin = Self.rowsBegin + count * Self.rowByteCount + pages
    guard dictionaryCount <= (isMetadata ? 0 : Self.dictionaryCountLimit),
      bytes.count == dictionariesBegin + dictionaryCount * Self.dictionaryByteCount
    else { throw damage() }
    func row(at begin: Int, from end: UInt64) throws -> Row {
      let row = Row(
        offset: number(at: begin, 7), byteCount: UInt32(number(at: begin + 8, 4)),
        digest: bytes[(begin + 16)..<(begin + Self.rowByteCount)].withUnsafeBytes { Digest256(copying: $0) })
      guard row.byteCount > 0, row.offset >= end, row.offset + UInt64(row.byteCount) <= segmentByteCount else {
        throw damage()
      }
      return row
    }
    var rows: [Row] = []
    rows.reserveCapacity(count + dictionaryCount)
    for (begin, length, count) in [
      (Self.rowsBegin, Self.rowByteCount, count), (dictionariesBegin, Self.dictionaryByteCount, dictionaryCount),
    ] {
      var end = Self.headerEnd
      for index in 0..<count {
        let row = try row(at: begin + index * length, from: end)
        end = row.offset + UInt64(row.byteCount)
        rows.append(row)
      }
    }
    self.rows = rows
  }

  /// Returns the offset of the body of a segment's table, from the segment's trailer: section 6.
  package static func bodyOffset(inTrailer trailer: [UInt8]) -> UInt64 {
    trailer.count == Int(trailerByteCount) ? number(trailer, at: 16, 8) : 0
  }

  private static func number(_ bytes: [UInt8], at offset: Int, _ count: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }
}
