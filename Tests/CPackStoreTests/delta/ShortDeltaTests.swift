import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Deltas whose header contains the blocks.
  @Suite struct ShortDeltaTests {
    /// The header of a delta, and the lengths in its rows.
    private static func header(_ bytes: [UInt8]) throws -> (pks__delta_header, rows: [(stored: Int, raw: Int)]) {
      var header = pks__delta_header(), rows = pks__scratch(), blocks: UnsafePointer<pks__delta_block>?
      defer { pks__scratch_free(&rows) }
      let length = UInt32(truncatingIfNeeded: bytes.count)
      try attempt { pks__delta_read_header(bytes, length, "delta", &header, &rows, &blocks, $0) }
      let list = UnsafeBufferPointer(start: blocks, count: Int(header.part_count + header.group_count))
      return (header, list.map { (Int(pks__get32($0.stored_length)), Int(pks__get32($0.raw_length))) })
    }

    /// The delta with its sum corrected.
    private static func summed(_ bytes: [UInt8]) -> [UInt8] {
      let end = bytes.count - 8, sum = pks__checksum(bytes, end)
      return bytes[..<end] + (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt64($0))) }
    }

    private static func small() throws -> (pair: DeltaTests.Pair, delta: Delta) {
      var random = Random(31)
      let text = random.text(20_000)
      let pair = try DeltaTests.Pair([["a": .file(text)], ["a": .file(text[..<9_000] + [7] + text[9_000...])]])
      return (pair, try pair.delta())
    }

    @Test(arguments: [(15_000, true), (17_000, false)]) func formDependsOnLength(noise: Int, isShort: Bool) throws {
      var random = Random(32)
      let base: Folder = ["a": .file(random.bytes(5_000))]
      let after = base.merging(["b": .file(random.bytes(noise))]) { $1 }
      let (delta, _) = try DeltaTests.roundTrip(base, after)
      #expect(delta.isShort == isShort)
      #expect(delta.isShort == (delta.info.header_length == delta.info.length))
    }

    /// Groups with prefixes, and several groups.
    @Test func groupsOfAllFormsAreContained() throws {
      var random = Random(33)
      let text = random.text(1_500_000)
      var scattered = text
      for place in stride(from: 1_000, to: text.count, by: 40_000) { scattered[place] ^= 1 }
      let (copied, _) = try DeltaTests.roundTrip(["a": .file(text)], ["a": .file(scattered)], level: 18)
      let groups = try Self.header(copied.bytes).rows.count
      #expect(copied.isShort && groups > 1)
      func numbered(_ numbers: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in numbers {
          bytes += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8), 0, 7]
        }
        return bytes
      }
      let numbers = numbered(0..<4_000), moved = numbered(16..<4_016)
      let (covered, _) = try DeltaTests.roundTrip(["a": .file(numbers)], ["a": .file(moved)], level: 19)
      #expect(covered.isShort)
    }

    @Test func attributesAreContained() throws {
      let disk = Disk(seed: 34), attributes = Array(#"{"label":"second"}"#.utf8)
      let source = try Store("/source", vfs: disk.vfs, create: true, home: disk)
      let target = try Store("/target", vfs: disk.vfs, create: true, home: disk)
      disk.put(["a": .file("one")], at: "/1")
      disk.put(["a": .file("two")], at: "/2")
      try source.commit(keep: 9) { try $0.add("p", "/1") }
      try source.commit(keep: 9) { try $0.add("p", "/2", attributes: attributes) }
      try target.commit { try $0.add("p", "/1") }
      let delta = try source.snapshot().delta(of: "p", from: 1, to: 2)
      try target.commit { try $0.apply(delta.bytes) }
      #expect(delta.isShort)
      #expect(try target.snapshot().attributes(of: "p").first == attributes)
    }

    /// The file is one request, and nothing of it is requested again.
    @Test func deliveryRequestsOneRange() throws {
      var random = Random(35)
      let text = random.text(100_000)
      let after: Folder = ["a": .file(text + [1])]
      let published = try DeliveryTests.published([["a": .file(text)], after]), site = try Site(published)
      let delta = try Store(published).snapshot().delta(of: "p", from: 1, to: 2)
      let disk = try DeliveryTests.empty()
      try Store(disk).pull(Site(published, version: 1))
      let pull = try #require(try Store(disk).pull(site, by: [delta]))
      #expect(delta.isShort && pull.wants.map { $0.offset..<$0.offset + $0.length } == [0..<delta.bytes.count])
      #expect(pull.totals.bytes_total == delta.info.length && pull.totals.bytes_done == delta.info.length)
      try DeliveryTests.check(disk, after, version: 2)
    }

    /// A delta from an attacker, whose sum is correct: each byte with each of some values is refused or yields the version it names.
    @Test func changedBytesWithCorrectSumAreRefused() throws {
      let (pair, delta) = try Self.small()
      let generation = try pair.target.snapshot().generation
      for place in 8..<delta.bytes.count - 8 {
        for flip: UInt8 in [0x01, 0x80, 0xff] {
          var bytes = delta.bytes
          bytes[place] ^= flip
          let transaction = try pair.target.begin()
          defer { transaction.abort() }
          var result = pks_add_result()
          let outcome = try status { result = try transaction.apply(Self.summed(bytes)) }
          let isSame = withUnsafeBytes(of: &result.version.catalog) { catalog in
            withUnsafeBytes(of: delta.info.to_catalog) { catalog.elementsEqual($0) }
          }
          #expect(outcome != PKS_OK || isSame, "byte \(place), \(flip)")
        }
      }
      #expect(try pair.target.snapshot().generation == generation)
    }

    @Test func wrongLengthsAreRefused() throws {
      let (pair, delta) = try Self.small()
      let length = delta.bytes.count
      /// The delta with another length in its header, and as many bytes.
      func resized(_ count: Int) -> [UInt8] {
        var bytes = Array(delta.bytes.dropLast(8).prefix(count - 8))
        bytes += Array(repeating: 0, count: count - bytes.count)
        bytes.replaceSubrange(12..<16, with: (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) })
        return Self.summed(bytes)
      }
      #expect(resized(length) == delta.bytes)
      for count in [172, length - 1, length + 1, 16_384, 16_385] where count != length {
        #expect(try status { try pair.apply(resized(count)) } == PKS_CORRUPT, "\(count) bytes")
      }
    }

    /// Numbers of blocks that no short delta can have take neither time nor memory.
    @Test func impossibleCountsAreRefused() throws {
      let (_, delta) = try Self.small()
      let largest: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0x0f], tooLarge: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0x1f]
      // The counts are the 9th and 10th varint after the fixed bytes.
      var place = 88
      for _ in 0..<8 { place = delta.bytes[place...].firstIndex { $0 < 0x80 }! + 1 }
      for counts in [largest + largest, largest + [1], [1] + largest, tooLarge + [1]] {
        var bytes = Array(delta.bytes[..<place]) + counts + delta.bytes[(place + 2)...]
        bytes.replaceSubrange(12..<16, with: (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) })
        #expect(try status { _ = try Self.header(Self.summed(bytes)) } == PKS_CORRUPT)
      }
    }
  }
}
