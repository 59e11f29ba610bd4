import PackStore
import Testing

@testable import PackPublishing

/// The files that are read from a served site.
@Suite struct ServedTests {
  private let digest = Digest256(hashing: Array("root".utf8))

  @Test func predecessors() throws {
    let beta = try SiteChannel("beta")
    var predecessor = RemoteSitePredecessor(roots: [.live: digest])
    predecessor.roots.updateValue(nil, forKey: beta)
    let text = "packstore predecessor 1\nroot beta -\nroot live \(digest.hex)\n"
    #expect(predecessor.text == text)
    #expect(try RemoteSitePredecessor(decoding: Array(text.utf8), file: "p") == predecessor)
  }

  @Test(arguments: [
    "", "packstore predecessor 2\nroot live -\n", "packstore predecessor 1\n", "packstore predecessor 1\nroot beta -\n",
    "packstore predecessor 1\nroot live -", "packstore predecessor 1\nroot live -\nroot live -\n",
    "packstore predecessor 1\nroot live ab\n", "packstore predecessor 1\nroot live - \n",
    "packstore predecessor 1\nroot LIVE -\nroot live -\n", "packstore predecessor 1\nroot live -\nmore\n",
  ])
  func damagedPredecessors(text: String) {
    #expect(throws: PackStoreError.self) { try RemoteSitePredecessor(decoding: Array(text.utf8), file: "p") }
  }

  /// A frame table of two frames, 64 to 164 and 200 to 300.
  private func table(_ change: (inout [UInt8]) -> Void = { _ in }) -> (bytes: [UInt8], segment: VersionManifest.Segment)
  {
    let id = SegmentID(ID128(copying: Array(0..<16)))
    func field(_ number: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    var bytes =
      Array("PKSFRAM0".utf8) + field(0, 4) + field(1, 4) + id.id.bytes + field(20_000, 8) + field(2, 4) + field(0, 4)
    for offset in [64, 200] as [UInt64] {
      bytes += field(offset, 7) + [1] + field(100, 4) + field(400, 4) + digest.bytes
    }
    change(&bytes)
    let segment = VersionManifest.Segment(
      id: id, kind: .data, byteCount: 20_000, table: Digest256(hashing: bytes), tableByteCount: UInt32(bytes.count))
    return (bytes, segment)
  }

  @Test func frameRows() throws {
    let (bytes, segment) = table()
    let rows = try FrameRows(bytes, of: segment, file: "t")
    #expect(
      rows.rows.map(\.offset) == [64, 200] && rows.rows.allSatisfy { $0.byteCount == 100 && $0.digest == digest })
    #expect(rows.end == 300)
  }

  @Test(arguments: [
    (0, 1), (12, 2), (16, 9), (32, 1), (33, 0), (40, 3), (40, 255), (43, 255), (48, 63), (56, 0), (59, 255), (96, 163),
    (102, 1),
    (104, 0), (105, 255),
  ])
  func damagedFrameRows(offset: Int, value: UInt8) {
    let (bytes, segment) = table { $0[offset] = value }
    #expect(throws: PackStoreError.self) { try FrameRows(bytes, of: segment, file: "t") }
    for count in [0, 47, 48, bytes.count - 1] {
      #expect(throws: PackStoreError.self) { try FrameRows(Array(bytes.prefix(count)), of: segment, file: "t") }
    }
  }
}
