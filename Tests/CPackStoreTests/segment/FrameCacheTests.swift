import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// How many frames a cache remembers.
  @Suite struct FrameCacheTests {
    /// A segment of raw frames of 512 bytes, and a cache of them.
    private final class Frames {
      let home = ScratchHome()
      var id = pks__segment_id()
      var segment: UnsafeMutablePointer<pks__segment>?
      var cache = pks__frame_cache()
      var readers = pks__frame_readers()
      var reader: UnsafeMutablePointer<pks__frame_reader>?
      private let bytes: [[UInt8]]

      init(count: Int, least: UInt32, most: UInt32) throws {
        var random = Random(3)
        bytes = (0..<count).map { _ in random.bytes(512) }
        var writer = pks__segment_writer(), length: UInt64 = 0, file: pks_vfs_file = -1
        try attempt { pks__segment_writer_open(&writer, home.folder, "segment", PKS__SEGMENT_DATA, $0) }
        for frame in bytes {
          var end: UInt32 = 512, row = pks__frame_row(), chunk = pks__id(of: frame)
          try attempt {
            pks__segment_writer_append(&writer, frame, 512, PKS__CODEC_RAW.rawValue, 8, &chunk, &end, 1, &row, $0)
          }
        }
        try attempt { pks__segment_writer_seal(&writer, sha256, &id, &length, &file, $0) }
        home.close(file)
        try attempt { pks__segment_open(&segment, home.vfs, home.handle, "segment", &id, $0) }
        try attempt { pks__segment_need_table(segment!, $0) }
        var limits = pks__frame_cache_limits(least_count: least, most_count: most, frame_bytes: 512)
        try attempt { pks__frame_cache_open(&cache, &limits, $0) }
        try attempt { pks__frame_readers_open(&readers, sha256, $0) }
        try attempt { pks__frame_reader_take(&readers, &reader, $0) }
      }

      deinit {
        pks__frame_reader_return(&readers, reader)
        pks__frame_readers_close(&readers)
        pks__frame_cache_close(&cache)
        pks__segment_close(segment)
      }

      func read(_ index: Int) throws {
        var frame = pks__frame(), part = [UInt8](repeating: 0, count: 100)
        try attempt { pks__segment_frame(segment!, UInt32(index), &frame, $0) }
        var source = pks__frame_source(segment: segment!, ref: frame.ref)
        try attempt { pks__frame_cache_read(&cache, reader!, &source, 200, 300, &part, $0) }
        #expect(part == Array(bytes[index][200..<300]))
      }
    }

    /// Who never comes back to a frame makes it remember no more.
    @Test func staysSmall() throws {
      let frames = try Frames(count: 300, least: 2, most: 40)
      for index in 0..<300 { try frames.read(index) }
      #expect(frames.cache.count == 2)
    }

    /// Who comes back makes it remember more, until all are there, or there is no more room.
    @Test(arguments: [(20, 20...24), (90, 40...40)])
    func growsAsIsNeeded(count: Int, expected: ClosedRange<UInt32>) throws {
      let frames = try Frames(count: count, least: 2, most: 40)
      for _ in 0..<60 {
        for index in 0..<count { try frames.read(index) }
      }
      #expect(expected.contains(frames.cache.count), "\(frames.cache.count)")
    }

    /// A frame that was forgotten long ago is like one that never was there.
    @Test func forgetsWhatItForgot() throws {
      let frames = try Frames(count: 400, least: 2, most: 40)
      for _ in 0..<3 {
        for index in 0..<400 { try frames.read(index) }
      }
      #expect(frames.cache.count == 2)
    }
  }
}
