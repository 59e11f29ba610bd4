import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct DeltaBlockListTests {
  /// A header in the long form with these counts and rows. Its other fields have no meaning.
  private func header(parts: UInt32, groups: UInt32, rows: [(byteCount: UInt32, digest: Digest256)]) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Array("PKSDELT0".utf8) + Array(repeating: 0, count: 140))
    writer.append(parts)
    writer.append(groups)
    writer.append(Array(repeating: 0, count: 20))
    for row in rows {
      writer.append(row.byteCount)
      writer.append(UInt32(1))
      writer.append(row.digest.bytes)
    }
    return writer.bytes
  }

  @Test func blocksFollowTheHeader() throws {
    let digests = ["one", "two"].map { Digest256(hashing: Array($0.utf8)) }
    let header = header(parts: 1, groups: 1, rows: [(30, digests[0]), (.max, digests[1])])
    let list = try DeltaBlockList(header: header, file: "delta")
    let first = UInt64(header.count)
    #expect(
      list.blocks == [
        .init(offset: first, byteCount: 30, digest: digests[0]),
        .init(offset: first + 30, byteCount: Int(UInt32.max), digest: digests[1]),
      ])
    #expect(list.endOffset == first + 30 + UInt64(UInt32.max))
  }

  @Test func shortDeltasHaveNoBlocksAfterTheHeader() throws {
    let header = Array("PKSDELT1".utf8) + Array(repeating: 0xff, count: 200)
    let list = try DeltaBlockList(header: header, file: "delta")
    #expect(list.blocks == [] && list.endOffset == UInt64(header.count))
  }

  @Test func impossibleCountsAreRefused() throws {
    let row = (byteCount: UInt32(30), digest: Digest256.zero)
    for counts in [(UInt32.max, UInt32.max), (2, 0), (0, 2)] {
      #expect(throws: PackStoreError.self) {
        try DeltaBlockList(header: header(parts: counts.0, groups: counts.1, rows: [row]), file: "delta")
      }
    }
    #expect(throws: PackStoreError.self) { try DeltaBlockList(header: Array("PKSDELT0".utf8), file: "delta") }
  }

  @Test func bothFormsAreDeltas() {
    for (start, isDelta) in [("PKSDELT0..", true), ("PKSDELT1..", true), ("PKSDELT2..", false), ("PKSDELT", false)] {
      #expect(DeltaBlockList.isDelta(start: Array(start.utf8)) == isDelta)
    }
    #expect(PackFileKind(start: Array("PKSDELT1".utf8)) == .delta)
  }
}
