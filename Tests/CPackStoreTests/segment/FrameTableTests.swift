import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct FrameTableTests {
    private static func read(_ bytes: [UInt8]) throws -> pks__frame_table {
      var table = pks__frame_table()
      try bytes.withUnsafeBytes { bytes in
        try attempt { pks__frame_table_read(bytes.baseAddress, bytes.count, "table", &table, $0) }
      }
      return table
    }

    private static func store() throws -> (Disk, Store) {
      let disk = Disk(seed: 3)
      disk.put(.sample(seed: 1), at: "/one")
      disk.put(.changedSample(seed: 1), at: "/two")
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.add("p", "/two") }
      return (disk, store)
    }

    /// Rows lead to the frames: their stored bytes have the SHA-256 that the table says, and decode to as many bytes. A
    /// frame of a metadata segment holds the page that the table says.
    @Test func tellsWhereFramesLie() throws {
      let (disk, store) = try Self.store(), snapshot = try store.snapshot()
      var kinds: Set<Bool> = [], frames = 0
      for segment in try snapshot.segments(of: 0, version: 2) {
        let file = disk.read("/store/segments/\(hex(segment.id))")!, bytes = try snapshot.frameTable(of: segment.id)
        var table = pks__frame_table()
        try bytes.withUnsafeBytes { bytes in
          try attempt { pks__frame_table_read(bytes.baseAddress, bytes.count, "table", &table, $0) }
          #expect((table.kind == PKS__SEGMENT_METADATA) == segment.isMetadata)
          #expect(table.file_length == file.count && segment.length == file.count)
          #expect(withUnsafeBytes(of: table.segment) { Array($0) } == segment.id)
          let decoder = pks__decoder_create()
          defer { pks__decoder_destroy(decoder) }
          for index in 0..<table.frame_count {
            let frame = pks__frame_table_at(&table, index)
            let stored = Array(file[Int(frame.offset)..<Int(frame.offset) + Int(frame.stored_length)])
            #expect(pks__id(of: stored).array == frame.digest.array)
            var raw =
              frame.codec == PKS__CODEC_RAW.rawValue ? stored : [UInt8](repeating: 0, count: Int(frame.raw_length))
            if frame.codec == PKS__CODEC_ZSTD.rawValue {
              #expect(pks__decode(decoder, stored, stored.count, &raw, raw.count))
            }
            frames += 1
            guard segment.isMetadata else { continue }
            #expect(pks__frame_table_page(&table, index)!.pointee.array == pks__id(of: raw).array)
          }
        }
        kinds.insert(segment.isMetadata)
      }
      #expect(kinds == [true, false] && frames > 6)
    }

    /// Each segment once, and that of the layout's root last: it is where a new version's pages are.
    @Test func segmentsOfAVersion() throws {
      let (_, store) = try Self.store(), snapshot = try store.snapshot()
      let first = try snapshot.segments(of: 0, version: 1), second = try snapshot.segments(of: 0, version: 2)
      #expect(Set(first.map(\.id)).count == first.count && Set(second.map(\.id)).count == second.count)
      #expect(first.count == 2 && first[1].isMetadata && second.last!.isMetadata)
      #expect(
        second.map(\.isMetadata) == [false, false, true], "its own data and pages, and the data that it goes on with")
      #expect(second.map(\.id).contains(first[0].id) && !second.map(\.id).contains(first[1].id))
      #expect(try status { _ = try snapshot.segments(of: 0, version: 9) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.segments(of: 7, version: 1) } == PKS_NOT_FOUND)
      #expect(try status { _ = try snapshot.segments(of: 0, version: 2, stopAfter: 1) } == PKS_CANCELLED)
      let version = snapshot.packs[0].current
      #expect(withUnsafeBytes(of: version.layout) { Array($0) } != withUnsafeBytes(of: version.catalog) { Array($0) })
    }

    @Test func refusals() throws {
      let (disk, store) = try Self.store(), snapshot = try store.snapshot()
      let data = try snapshot.segments(of: 0, version: 1)[0]
      #expect(try status { _ = try snapshot.frameTable(of: data.id, stopAfter: 3) } == PKS_CANCELLED)
      #expect(try status { _ = try snapshot.frameTable(of: [UInt8](repeating: 7, count: 16)) } == PKS_PURGED)
      _ = sim_corrupt(disk.raw, "/store/segments/\(hex(data.id))", 70, 1)
      #expect(try status { _ = try snapshot.frameTable(of: data.id) } == PKS_CORRUPT, "frames are checked on the way")
      let reader = try Store("/store", vfs: disk.vfs, readOnly: true, home: disk)
      #expect(try status { _ = try reader.snapshot().frameTable(of: data.id) } == PKS_INVALID_ARGUMENT)
    }

    // MARK: Hostile tables

    private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    struct Row: Sendable {
      var offset: UInt64 = 64, codec: UInt64 = 1, stored: UInt64 = 10, raw: UInt64 = 20
    }

    private static func build(_ rows: [Row], kind: UInt64 = 1, length: UInt64 = 1000, count: UInt64? = nil) -> [UInt8] {
      var bytes =
        Array("PKSFRAM0".utf8) + number(UInt64(pks_draft_format()), 4) + number(kind, 4)
        + [UInt8](repeating: 5, count: 16)
      bytes += number(length, 8) + number(count ?? UInt64(rows.count), 4) + number(0, 4)
      for row in rows {
        bytes += number(row.offset | row.codec << 56, 8) + number(row.stored, 4) + number(row.raw, 4)
        bytes += [UInt8](repeating: 1, count: 32)
      }
      return bytes + (kind == 2 ? [UInt8](repeating: 2, count: 32 * rows.count) : [])
    }

    @Test func rulesThatHold() throws {
      #expect(try Self.read(Self.build([])).frame_count == 0)
      let rows = [Row(), Row(offset: 74, codec: 0, stored: 900, raw: 900), Row(offset: 980, stored: 20)]
      #expect(try Self.read(Self.build(rows)).frame_count == 3)
      #expect(try Self.read(Self.build(rows, kind: 2)).pages != nil)
      #expect(try Self.read(Self.build([Row(raw: 16 << 20)])).frame_count == 1)
    }

    @Test(arguments: [
      [Row(offset: 63)], [Row(offset: 991)], [Row(offset: 1 << 55)], [Row(stored: 0)], [Row(stored: 21)],
      [Row(raw: 16 << 20 | 1)], [Row(codec: 2)], [Row(codec: 0)], [Row(), Row(offset: 73)],
      [Row(offset: 200), Row(offset: 100)], [Row(stored: 0xffff_ffff, raw: 0xffff_ffff)],
    ]) func rowsThatLie(_ rows: [Row]) throws {
      #expect(try status { _ = try Self.read(Self.build(rows)) } == PKS_CORRUPT)
    }

    @Test func tablesThatLie() throws {
      let good = Self.build([Row(), Row(offset: 100)], kind: 2)
      for length in 0..<good.count {
        #expect(try status { _ = try Self.read(Array(good.prefix(length))) } == PKS_CORRUPT, "length \(length)")
      }
      #expect(try status { _ = try Self.read(good + [0]) } == PKS_CORRUPT)
      for count: UInt64 in [0, 1, 3, 0xffff_ffff] {
        #expect(try status { _ = try Self.read(Self.build([Row(), Row(offset: 100)], count: count)) } == PKS_CORRUPT)
      }
      for kind: UInt64 in [0, 3] {
        #expect(try status { _ = try Self.read(Self.build([Row()], kind: kind)) } == PKS_CORRUPT)
      }
      for (format, expected) in otherDrafts {
        var other = good
        other.replaceSubrange(8..<12, with: format)
        #expect(try status { _ = try Self.read(other) } == expected)
      }
      var other = good
      other[7] = UInt8(ascii: "1")
      #expect(try status { _ = try Self.read(other) } == PKS_CORRUPT)
    }
  }
}
