import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct FileWriterTests {
    /// Where the calls of a trace wrote, and how much.
    private static func writes(_ disk: Disk) -> [(offset: Int, count: Int)] {
      disk.trace.matches(of: /write \/home\/file (\d+)\+(\d+)/).map { (Int($0.1)!, Int($0.2)!) }
    }

    private static let block = Int(PKS__WRITE_BLOCK)

    /// What is appended is what the file holds, whatever the pieces; and it is written in whole, aligned blocks, all that
    /// are at hand at once, but for what ends the file.
    @Test func writesWholeBlocks() throws {
      let home = ScratchHome(), seed = testSeed(79), size = Self.block
      var random = Random(seed), expected: [UInt8] = []
      home.disk.startTrace()
      var writer = pks__file_writer()
      try attempt { pks__file_writer_open(&writer, home.vfs, home.handle, "file", $0) }
      for length in [1, 63, size - 64, size, 3 * size + 5, 0, size - 5, 2 * size, 17]
        + (0..<40).map({ _ in random.below(9_000) })
      {
        let bytes = random.bytes(length)
        try attempt { pks__file_writer_append(&writer, bytes, bytes.count, $0) }
        expected += bytes
        #expect(writer.length == expected.count)
      }
      try attempt { pks__file_writer_finish(&writer, false, $0) }
      #expect(home.read("file") == expected, "seed \(seed)")
      let writes = Self.writes(home.disk)
      #expect(writes.allSatisfy { $0.offset % size == 0 } && writes.dropLast().allSatisfy { $0.count % size == 0 })
      #expect(writes.contains { $0.count == 2 * size })
    }

    /// On a full disk the error says how much room the whole append would have needed, not the block that did not fit.
    @Test func fullDisk() throws {
      let home = ScratchHome(), size = Self.block, bytes = [UInt8](repeating: 7, count: 3 * size + 10)
      sim_set_capacity(home.disk.raw, UInt64(size) + 5)
      var writer = pks__file_writer()
      try attempt { pks__file_writer_open(&writer, home.vfs, home.handle, "file", $0) }
      defer { pks__file_writer_abandon(&writer) }
      do {
        try attempt { pks__file_writer_append(&writer, bytes, bytes.count, $0) }
        Issue.record("there was room")
      } catch let failure as Failure {
        #expect(failure.status == PKS_NO_SPACE && failure.needed == UInt64(3 * size + 10))
      }
    }

    /// After a flush, or what was skipped, writes fall into step again.
    @Test func fallsIntoStepAgain() throws {
      let home = ScratchHome(), size = Self.block
      var random = Random(80)
      let bytes = random.bytes(3 * size)
      home.disk.startTrace()
      var writer = pks__file_writer()
      try attempt { pks__file_writer_open(&writer, home.vfs, home.handle, "file", $0) }
      try attempt { pks__file_writer_append(&writer, bytes, 1_000, $0) }
      try attempt { pks__file_writer_flush(&writer, $0) }
      try attempt { pks__file_writer_skip(&writer, 5_000, $0) }
      try bytes.withUnsafeBytes { bytes in
        try attempt { pks__file_writer_append(&writer, bytes.baseAddress! + 5_000, bytes.count - 5_000, $0) }
      }
      try attempt { pks__file_writer_finish(&writer, false, $0) }
      #expect(Self.writes(home.disk).map(\.offset) == [0, 5_000, size])
      #expect(home.read("file") == Array(bytes[..<1_000]) + [UInt8](repeating: 0, count: 4_000) + bytes[5_000...])
    }
  }
}
