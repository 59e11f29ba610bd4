import PackFormats
import PackStore

/// The parts of a segment's file with known content: frames, the zeros between them, and the body of its table, whose SHA-256 begins with
/// the segment's id. The sums behind the body are not among them: `Docs/FORMAT.md`, sections 6 and 7.
struct SegmentParts {
  private let rows: FrameRows
  private let segment: VersionManifest.Segment

  private static let headerByteCount: UInt64 = 64
  private static let namedByteCount: UInt64 = 16
  private static let groupPageCount: UInt64 = 512

  /// More zeros are not in a segment.
  private static let gapByteLimit: UInt64 = 1 << 20

  init(_ rows: FrameRows, of segment: VersionManifest.Segment) {
    self.rows = rows
    self.segment = segment
  }

  /// - Parameter read: reads a number of bytes of the file from an offset on.
  /// - Returns: `nil` if header or trailer differ from the format.
  func parts(
    _ read: (_ begin: UInt64, _ count: UInt64) async throws -> [UInt8]
  ) async throws -> [ContentChecker.Part]? {
    guard segment.byteCount > Self.headerByteCount + FrameRows.trailerByteCount else { return nil }
    let header = try await read(0, Self.namedByteCount)
    let trailer = try await read(
      segment.byteCount - FrameRows.trailerByteCount, FrameRows.trailerByteCount)
    guard let body = try? body(trailer, header) else { return nil }
    let headerEnd = ContentChecker.Part(offset: Self.headerByteCount, byteCount: 0, digest: .zero)
    var parts: [ContentChecker.Part] = [], end = Self.namedByteCount
    for part in [headerEnd] + rows.parts + [body] {
      guard part.offset >= end, part.offset - end <= Self.gapByteLimit else { return nil }
      if part.offset > end { parts.append(Self.zeros(from: end, to: part.offset)) }
      if part.byteCount > 0 { parts.append(part) }
      end = part.offset.addingClamped(part.byteCount)
    }
    return parts
  }

  private static func zeros(from begin: UInt64, to end: UInt64) -> ContentChecker.Part {
    let zeros = [UInt8](repeating: 0, count: Int(end - begin))
    return .init(offset: begin, byteCount: end - begin, digest: Digest256(hashing: zeros))
  }

  /// Returns the body of the table.
  ///
  /// - Throws: `corrupt`.
  private func body(_ trailer: [UInt8], _ header: [UInt8]) throws -> ContentChecker.Part {
    let kind = UInt32(segment.kind.rawValue), file = "\(SitePath.segment(segment.id))"
    var first = ByteReader(header[...], file: file), last = ByteReader(trailer[...], file: file)
    guard try first.take(8).elementsEqual("PKSSEGM0".utf8), try last.take(8).elementsEqual("PKSTABLE".utf8),
      try first.integer(UInt32.self) == last.integer(UInt32.self), try first.integer(UInt32.self) == kind,
      try last.integer(UInt32.self) == 1
    else { throw last.corrupt("unexpected file type", at: 0) }
    let begin: UInt64 = try last.integer(), byteCount: UInt64 = try last.integer(), total: UInt64 = try last.integer()
    let page = FrameRows.pageByteCount, pages = byteCount / page
    let sums = pages.addingClamped(pages.addingClamped(Self.groupPageCount - 1) / Self.groupPageCount)
    guard begin % page == 0, byteCount % page == 0, byteCount > 0, total == segment.byteCount,
      begin <= total, byteCount <= total, sums <= total,
      begin.addingClamped(byteCount).addingClamped(8 * sums).addingClamped(FrameRows.trailerByteCount) == total
    else { throw last.corrupt("the table does not fill the end of the file", at: 16) }
    let id = segment.id.id.bytes
    let digest = (id + [UInt8](repeating: 0, count: Digest256.byteCount - id.count)).withUnsafeBytes {
      Digest256(copying: $0)
    }
    return .init(offset: begin, byteCount: byteCount, digest: digest, digestByteCount: id.count)
  }
}
