import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Index runs against a model: look-ups, seeks, frames and chunks.
  @Suite struct RunTests {
    struct Record: Equatable {
      var path: String, pack: UInt16, kind: UInt32, executable: Bool, size: UInt64, target: String
      var extents: [[UInt64]]  // frame, skip, end
    }

    private final class Built {
      let home = ScratchHome(), hasher = PathHasher()
      var records: [Record] = []
      var frameLengths: [UInt32] = []
      var chunks: [(prefix: UInt64, segment: UInt32, row: UInt32)] = []
      var run = pks__run()

      init(recordCount: Int, seed: UInt64) throws {
        var writer = pks__run_writer(), random = Random(seed)
        pks__run_writer_init(&writer, home.folder, hasher.raw, 3)
        defer { pks__run_writer_free(&writer) }
        try addSegments(&writer, &random)
        try addRecords(&writer, &random, recordCount)
        var length: UInt64 = 0, sum: UInt64 = 0
        try attempt { pks__run_writer_finish(&writer, "run", true, &length, &sum, $0) }
        try attempt { pks__run_open(&run, home.vfs, home.handle, "run", $0) }
        #expect(run.table.file_length == length && run.table.trailer_sum == sum)
        #expect(length == UInt64(home.read("run").count))
      }

      deinit { pks__run_close(&run) }

      private func addSegments(_ writer: inout pks__run_writer, _ random: inout Random) throws {
        var chunkNumber: UInt32 = 0
        for segment in 0..<3 as Range<UInt32> {
          var info = pks__run_segment_info(), number: UInt32 = 0
          info.chunk_count = segment == 2 ? 0 : 700
          info.kind = PKS__SEGMENT_DATA.rawValue
          info.file_length = 1_000 + UInt64(segment)
          withUnsafeMutableBytes(of: &info.id) { $0[0] = UInt8(segment) }
          try attempt { pks__run_writer_add_segment(&writer, &info, &number, $0) }
          #expect(number == segment)
          for row in 0..<info.chunk_count {
            // Some prefixes are equal, some share a directory slot.
            let prefix = random.chance(1, in: 10) ? UInt64(random.below(5)) : random.next()
            chunks.append((prefix, segment, row))
            try attempt { pks__run_writer_add_chunk(&writer, prefix, chunkNumber, $0) }
            chunkNumber += 1
          }
        }
        for index in 0..<300 as Range<UInt32> {
          var info = pks__run_frame_info(), number: UInt32 = 0
          info.ref.raw_length = 1 + UInt32(random.below(2_000))
          info.ref.offset = UInt64(index) * 5_000
          info.ref.codec = index % 2
          info.ref.stored_length =
            info.ref.codec == PKS__CODEC_RAW.rawValue ? info.ref.raw_length : 1 + info.ref.raw_length / 2
          info.segment = index % 3
          info.ref.sum = UInt64(index)
          frameLengths.append(info.ref.raw_length)
          try attempt { pks__run_writer_add_frame(&writer, &info, &number, $0) }
          #expect(number == index)
        }
      }

      private func addRecords(_ writer: inout pks__run_writer, _ random: inout Random, _ count: Int) throws {
        var paths: Set<String> = []
        while paths.count < count {
          paths.insert(
            (0...random.below(3)).map { _ in "n\(random.below(40))" }.joined(
              separator: random.pick(["/", "/", "-", "/!"])))
        }
        for path in paths.sorted() {
          for pack in 0..<3 as Range<UInt16> where random.chance(1, in: 2) {
            let record = newRecord(path, pack, &random)
            try add(record, &writer)
            records.append(record)
          }
        }
      }

      private func newRecord(_ path: String, _ pack: UInt16, _ random: inout Random) -> Record {
        var record = Record(
          path: path, pack: pack, kind: UInt32(random.below(4)), executable: false, size: 0, target: "", extents: [])
        if record.kind == PKS__RECORD_LINK.rawValue {
          record.target = "to/\(random.below(1_000))"
          record.size = UInt64(record.target.utf8.count)
        } else if record.kind == PKS__RECORD_FILE.rawValue {
          record.executable = random.chance(1, in: 3)
          for _ in 0..<random.pick([0, 1, 1, 3]) {
            record.size += 1 + UInt64(random.below(500))
            record.extents.append([UInt64(random.below(300)), UInt64(random.below(100)), record.size])
          }
        }
        return record
      }

      private func add(_ record: Record, _ writer: inout pks__run_writer) throws {
        let extents = record.extents.map {
          pks__extent(frame: pks__put32(UInt32($0[0])), skip: pks__put32(UInt32($0[1])), end: pks__put64($0[2]))
        }
        var path = record.path, target = record.target
        try path.withUTF8 { path in
          try target.withUTF8 { target in
            try extents.withUnsafeBufferPointer { extents in
              try path.withMemoryRebound(to: CChar.self) { path in
                var item = pks__run_item()
                item.path = path.baseAddress
                item.path_length = path.count
                item.pack = record.pack
                item.kind = pks__record_kind(rawValue: record.kind)
                item.flags = record.executable ? UInt8(PKS__FLAG_EXECUTABLE) : 0
                item.size = record.size
                item.target = target.baseAddress
                item.extents = extents.baseAddress
                item.extent_count = UInt64(extents.count)
                try attempt { pks__run_writer_add(&writer, &item, $0) }
              }
            }
          }
        }
      }
    }

    private static func decode(_ entry: pks__run_entry) -> Record {
      func text(_ bytes: UnsafeRawPointer?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
      }
      let folder = text(entry.folder, Int(entry.folder_length)), name = text(entry.name, Int(entry.name_length))
      let isLink = entry.kind == PKS__RECORD_LINK
      var extents = (0..<(entry.extents == nil ? 0 : Int(entry.extent_count))).map { index in
        let extent = entry.extents[index]
        return [UInt64(pks__get32(extent.frame)), UInt64(pks__get32(extent.skip)), pks__get64(extent.end)]
      }
      if Int32(entry.flags) & Int32(PKS__FLAG_ONE_EXTENT) != 0 {
        extents = [[UInt64(entry.frame), UInt64(entry.skip), entry.size]]
      }
      return Record(
        path: folder.isEmpty ? name : folder + "/" + name, pack: entry.pack, kind: entry.kind.rawValue,
        executable: Int32(entry.flags) & Int32(PKS__FLAG_EXECUTABLE) != 0, size: entry.size,
        target: isLink ? text(entry.target, Int(entry.size)) : "",
        extents: extents)
    }

    private static func find(_ built: Built, _ path: String) throws -> [Record] {
      var probe = pks__run_probe(), entry = pks__run_entry(), found = true, records: [Record] = []
      let length = path.utf8.count, hash = built.hasher.hash(path)
      while true {
        try attempt { pks__run_find(&built.run, hash, path, length, &probe, &entry, &found, $0) }
        guard found else { return records.sorted { $0.pack < $1.pack } }
        records.append(decode(entry))
      }
    }

    @Test(arguments: [0, 1, 40, 3_000]) func lookUps(count: Int) throws {
      let built = try Built(recordCount: count, seed: UInt64(count))
      let byPath = Dictionary(grouping: built.records, by: \.path)
      for (path, records) in byPath { #expect(try Self.find(built, path) == records) }
      for path in ["x", "n1/", "/n1", "n", "n1/n2/n3/n4/n5", ""]
        + byPath.keys.prefix(300).flatMap({ [$0 + "/n1", $0 + "0", String($0.dropLast())] })
      {
        #expect(try Self.find(built, path) == byPath[path, default: []], "\(path)")
      }
    }

    @Test(arguments: [0, 1, 40, 3_000]) func walkAndSeek(count: Int) throws {
      let built = try Built(recordCount: count, seed: UInt64(count) + 1)
      var offsets: [UInt64] = [], records: [Record] = [], offset: UInt64 = 0
      while offset < built.run.records.length {
        var entry = pks__run_entry()
        try attempt { pks__run_entry_at(&built.run, offset, &entry, $0) }
        offsets.append(offset)
        records.append(Self.decode(entry))
        offset = entry.next
      }
      #expect(records == built.records && offset == built.run.records.length)
      var random = Random(3)
      for _ in 0..<1_500 {
        var path = random.pick(records.map(\.path) + ["", "n", "z", "n2/", "n2"])
        if random.chance(1, in: 2) { path += random.pick(["", "/", "0", "!", "/n"]) }
        if random.chance(1, in: 4) { path.removeLast(min(1, path.count)) }
        var found: UInt64 = 0
        try attempt { pks__run_seek(&built.run, path, path.utf8.count, &found, $0) }
        let expected = records.firstIndex { $0.path >= path }.map { offsets[$0] } ?? built.run.records.length
        #expect(found == expected, "\(path)")
        if found != expected { return }
      }
    }

    @Test func frames() throws {
      let built = try Built(recordCount: 10, seed: 9)
      var start: UInt64 = 0, starts: [UInt64] = []
      for (index, length) in built.frameLengths.enumerated() {
        var info = pks__run_frame_info()
        try attempt { pks__run_frame_at(&built.run, UInt32(index), &info, $0) }
        #expect(
          info.raw_start == start && info.ref.raw_length == length && info.ref.sum == UInt64(index)
            && info.segment == UInt32(index % 3))
        #expect(info.ref.offset == UInt64(index) * 5_000 && info.ref.codec == UInt32(index % 2))
        starts.append(start)
        start += UInt64(length)
      }
      for index in built.frameLengths.indices {
        var found: UInt32 = 0
        for position in [starts[index], starts[index] + UInt64(built.frameLengths[index]) - 1] {
          for first in [0, index / 2, index] {
            try attempt { pks__run_frame_find(&built.run, UInt32(first), position, &found, $0) }
            #expect(found == UInt32(index))
          }
        }
      }
      var info = pks__run_frame_info(), found: UInt32 = 0
      #expect(try status { try attempt { pks__run_frame_at(&built.run, 300, &info, $0) } } == PKS_CORRUPT)
      #expect(try status { try attempt { pks__run_frame_find(&built.run, 0, start, &found, $0) } } == PKS_CORRUPT)
    }

    /// A chunk is among the hints of its prefix, and hints are few.
    @Test func chunks() throws {
      let built = try Built(recordCount: 10, seed: 10)
      var hints = 0
      for (prefix, segment, row) in built.chunks {
        var probe: UInt32 = 0, foundSegment: UInt32 = 0, foundRow: UInt32 = 0, more = true, isThere = false
        while true {
          try attempt { pks__run_find_chunk(&built.run, prefix, &probe, &foundSegment, &foundRow, &more, $0) }
          guard more else { break }
          hints += 1
          isThere = isThere || (foundSegment == segment && foundRow == row)
        }
        #expect(isThere, "prefix \(prefix)")
      }
      let equal = Dictionary(grouping: built.chunks, by: \.prefix).values.reduce(0) { $0 + $1.count * $1.count }
      #expect(hints <= equal + 4)
    }

    /// Every page is checked before it is believed: whatever byte is flipped, a look-up gives the truth or CORRUPT.
    @Test func damage() throws {
      let built = try Built(recordCount: 200, seed: 11), whole = built.home.read("run")
      let byPath = Dictionary(grouping: built.records, by: \.path)
      let sample = Array(byPath.keys.sorted().prefix(12))
      var refused = 0
      for at in stride(from: 0, to: whole.count, by: 61) {
        _ = sim_corrupt(built.home.disk.raw, "/home/run", UInt64(at), 0x04)
        let status = try status {
          pks__run_close(&built.run)
          try attempt { pks__run_open(&built.run, built.home.vfs, built.home.handle, "run", $0) }
          for path in sample { #expect(try Self.find(built, path) == byPath[path]!, "byte \(at)") }
        }
        #expect([PKS_OK, PKS_CORRUPT].contains(status))
        refused += status == PKS_CORRUPT ? 1 : 0
        _ = sim_corrupt(built.home.disk.raw, "/home/run", UInt64(at), 0x04)
      }
      #expect(refused > 20)
    }
  }
}
