import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct SegmentTests {
    struct Chunk { var id: pks__id, bytes: [UInt8] }

    /// A sealed segment of raw frames.
    private final class Sealed {
      let home = ScratchHome()
      var frames: [[Chunk]] = []
      var rows: [pks__frame_row] = []
      var alignments: [UInt64] = []
      var id = pks__segment_id()
      var length: UInt64 = 0

      init(frameCount: Int) throws {
        var writer = pks__segment_writer(), random = Random(UInt64(frameCount))
        try attempt { pks__segment_writer_open(&writer, home.folder, "segment", PKS__SEGMENT_DATA, $0) }
        for _ in 0..<frameCount {
          let chunks = (0...random.below(4)).map { _ in
            let bytes = random.bytes(1 + random.below(700))
            return Chunk(id: pks__id(of: bytes), bytes: bytes)
          }
          var end: UInt32 = 0, row = pks__frame_row()
          let ends = chunks.map { chunk in
            end += UInt32(chunk.bytes.count)
            return end
          }
          let stored = chunks.flatMap(\.bytes), alignment = random.pick([1, 8, 64, 4096] as [UInt64])
          try attempt {
            pks__segment_writer_append(
              &writer, stored, UInt32(stored.count), PKS__CODEC_RAW.rawValue, alignment, chunks.map(\.id), ends,
              UInt32(chunks.count), &row, $0)
          }
          frames.append(chunks)
          rows.append(row)
          alignments.append(alignment)
        }
        #expect(pks__segment_writer_frame_count(&writer) == frameCount)
        var file: pks_vfs_file = -1
        try attempt { pks__segment_writer_seal(&writer, sha256, &id, &length, &file, $0) }
        home.close(file)
      }

      func open() throws -> UnsafeMutablePointer<pks__segment> {
        var segment: UnsafeMutablePointer<pks__segment>?
        try attempt { pks__segment_open(&segment, home.vfs, home.handle, "segment", &id, $0) }
        return segment!
      }
    }

    /// Reads everything that a segment holds through its table.
    private static func readAll(_ segment: UnsafeMutablePointer<pks__segment>) throws -> [[Chunk]] {
      try attempt { pks__segment_need_table(segment, $0) }
      var frames: [[Chunk]] = []
      for index in 0..<segment.pointee.frame_count {
        var frame = pks__frame(), chunks: [Chunk] = []
        try attempt { pks__segment_frame(segment, index, &frame, $0) }
        let stored = try [UInt8](unsafeUninitializedCapacity: Int(frame.ref.stored_length)) { buffer, count in
          try attempt {
            pks__frame_read_stored(segment, &frame.ref, buffer.baseAddress, $0)
          }
          count = Int(frame.ref.stored_length)
        }
        for row in frame.first_chunk..<(frame.first_chunk + frame.chunk_count) {
          var place = pks__chunk_place(), id: UnsafePointer<pks__id>?
          try attempt { pks__segment_chunk(segment, row, &place, $0) }
          try attempt { pks__segment_chunk_id(segment, row, &id, $0) }
          if place.frame != index || place.end > stored.count {
            throw Failure(status: PKS_CORRUPT, text: "", file: "", system: 0, needed: 0)
          }
          chunks.append(Chunk(id: id!.pointee, bytes: Array(stored[Int(place.begin)..<Int(place.end)])))
        }
        frames.append(chunks)
      }
      return frames
    }

    @Test(arguments: [1, 2, 60, 400]) func comesBack(frameCount: Int) throws {
      let sealed = try Sealed(frameCount: frameCount)
      let segment = try sealed.open()
      defer { pks__segment_close(segment) }
      let frames = try Self.readAll(segment)
      #expect(frames.map { $0.map(\.bytes) } == sealed.frames.map { $0.map(\.bytes) })
      #expect(frames.joined().map(\.id.array) == sealed.frames.joined().map(\.id.array))
      for (row, alignment) in zip(sealed.rows, sealed.alignments) {
        #expect(pks__place_offset(pks__get64(row.place)) % alignment == 0)
      }
      #expect(sealed.length == UInt64(sealed.home.read("segment").count))
    }

    /// A segment is named by its table: the first half of the SHA-256 of the table's body.
    @Test func identity() throws {
      let sealed = try Sealed(frameCount: 20), file = sealed.home.read("segment")
      func number(_ offset: Int) -> Int {
        (0..<8).reduce(0) { $0 | Int(file[file.count - 64 + offset + $1]) << (8 * $1) }
      }
      let body = Array(file[number(16)..<(number(16) + number(24))])
      #expect(withUnsafeBytes(of: sealed.id) { Array($0) } == Array(pks__id(of: body).array.prefix(16)))
      #expect(try Sealed(frameCount: 20).home.read("segment") == file, "the same frames make the same file")
    }

    /// Flipped anywhere but in padding, a byte is seen; nowhere does it change what is read.
    @Test func damage() throws {
      let sealed = try Sealed(frameCount: 12), file = sealed.home.read("segment")
      var seen = 0
      for at in stride(from: 0, to: file.count, by: 13) {
        _ = sim_corrupt(sealed.home.disk.raw, "/home/segment", UInt64(at), 0x40)
        let segment = try sealed.open()
        if let frames = try? Self.readAll(segment) {
          #expect(frames.map { $0.map(\.bytes) } == sealed.frames.map { $0.map(\.bytes) }, "byte \(at)")
        } else {
          seen += 1
        }
        pks__segment_close(segment)
        _ = sim_corrupt(sealed.home.disk.raw, "/home/segment", UInt64(at), 0x40)
      }
      let stored = sealed.frames.joined().reduce(0) { $0 + $1.bytes.count }
      #expect(seen * 13 > stored)
      let left = sealed.home.disk.counts
      #expect(left.maps == 0 && left.handles == 1)
    }

    @Test func truncatedOrGone() throws {
      let sealed = try Sealed(frameCount: 5), file = sealed.home.read("segment")
      for length in [0, 1, 63, 64, 4095, 4096, file.count - 65, file.count - 1] {
        sealed.home.put("segment", Array(file.prefix(length)))
        let segment = try sealed.open()
        #expect(try status { _ = try Self.readAll(segment) } == PKS_CORRUPT, "length \(length)")
        pks__segment_close(segment)
      }
      _ = sim_remove(sealed.home.disk.raw, "/home/segment")
      #expect(try status { _ = try sealed.open() } == PKS_PURGED)
    }

    /// A table whose sums fit and whose rows cannot be true: a frame never takes more room than its bytes do, a raw one just as
    /// much, no frame is larger than a frame may be, and chunks follow each other.
    @Test(arguments: [
      (PKS__CODEC_ZSTD, 60, [50]), (PKS__CODEC_RAW, 60, [50]), (PKS__CODEC_RAW, 50, [60]), (PKS__CODEC_ZSTD, 50, [0]),
      (PKS__CODEC_ZSTD, 50, [17 << 20]), (PKS__CODEC_RAW, 50, [30, 20, 50]), (PKS__CODEC_RAW, 50, [60, 50]),
      (pks__codec(rawValue: 2), 50, [60]),
    ]) func rowsThatLie(_ codec: pks__codec, _ stored: Int, _ ends: [UInt32]) throws {
      let home = ScratchHome(), bytes = [UInt8](repeating: 7, count: stored)
      var writer = pks__segment_writer(), row = pks__frame_row(), id = pks__segment_id(), length: UInt64 = 0
      var file: pks_vfs_file = -1, segment: UnsafeMutablePointer<pks__segment>?
      try attempt { pks__segment_writer_open(&writer, home.folder, "segment", PKS__SEGMENT_DATA, $0) }
      let ids = ends.map { _ in pks__id(of: bytes) }
      try attempt {
        pks__segment_writer_append(
          &writer, bytes, UInt32(stored), codec.rawValue, 1, ids, ends, UInt32(ends.count), &row, $0)
      }
      try attempt { pks__segment_writer_seal(&writer, sha256, &id, &length, &file, $0) }
      home.close(file)
      try attempt { pks__segment_open(&segment, home.vfs, home.handle, "segment", &id, $0) }
      defer { pks__segment_close(segment) }
      try attempt { pks__segment_need_table(segment!, $0) }
      let statuses = try (0..<UInt32(ends.count)).map { row in
        var place = pks__chunk_place()
        return try status { try attempt { pks__segment_chunk(segment!, row, &place, $0) } }
      }
      #expect(statuses.contains(PKS_CORRUPT))
    }

    @Test func abandonedWriters() throws {
      let home = ScratchHome(), memory = pks__memory_counts_now().open
      var writer = pks__segment_writer()
      pks__segment_writer_abandon(&writer)
      try attempt { pks__segment_writer_open(&writer, home.folder, "segment", PKS__SEGMENT_METADATA, $0) }
      pks__segment_writer_abandon(&writer)
      #expect(home.disk.counts.handles == 1 && pks__memory_counts_now().open == memory)
    }
  }
}
