import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Tables: whatever happens to the bytes is seen before they are used.
  @Suite struct TableTests {
    private static func make(_ bodyLength: Int, kind: pks__table_kind = PKS__TABLE_RUN) throws -> [UInt8] {
      var body = pks__scratch(), tail = pks__scratch(), random = Random(UInt64(bodyLength))
      defer {
        pks__scratch_free(&body)
        pks__scratch_free(&tail)
      }
      try body.append(random.bytes(bodyLength))
      try attempt { pks__table_finish(&body, 0, kind, &tail, $0) }
      return body.content + tail.content
    }

    /// Opens the table in memory and checks all of it.
    private static func check(_ file: UnsafeBufferPointer<UInt8>, kind: pks__table_kind = PKS__TABLE_RUN) throws
      -> pks_status
    {
      try status {
        var table = pks__table()
        try attempt { pks__table_open_mapped(&table, nil, "table", file.baseAddress, UInt64(file.count), kind, $0) }
        defer { pks__table_close(&table) }
        try attempt { pks__table_check_all(&table, $0) }
      }
    }

    @Test func everyBitCounts() throws {
      var file = try Self.make(5_000)
      #expect(file.count == 2 * 4096 + 2 * 8 + 8 + 64)
      let memory = pks__memory_counts_now().open
      var unseen: [Int] = []
      for bit in 0..<(8 * file.count) {
        file[bit / 8] ^= 1 << (bit % 8)
        let status = try file.withUnsafeBufferPointer { try Self.check($0) }
        if status != PKS_CORRUPT { unseen.append(bit) }
        file[bit / 8] ^= 1 << (bit % 8)
      }
      #expect(unseen == [])
      #expect(try file.withUnsafeBufferPointer { try Self.check($0) } == PKS_OK)
      #expect(pks__memory_counts_now().open == memory)
    }

    @Test func everyLengthCounts() throws {
      let file = try Self.make(4_096) + [0]
      file.withUnsafeBufferPointer { file in
        for length in 0..<file.count {
          let expected = length == file.count - 1 ? PKS_OK : PKS_CORRUPT
          #expect(try! Self.check(UnsafeBufferPointer(rebasing: file.prefix(length))) == expected, "length \(length)")
        }
      }
      #expect(try file.withUnsafeBufferPointer { try Self.check($0) } == PKS_CORRUPT, "a byte too many")
    }

    /// A table of more pages than one group of sums covers: damage shows where it is, and elsewhere pages stay good.
    @Test func severalGroups() throws {
      var file = try Self.make(1_100 * 4096), random = Random(4)
      #expect(file.count == 1_100 * 4096 + 1_100 * 8 + 3 * 8 + 64)
      #expect(try file.withUnsafeBufferPointer { try Self.check($0) } == PKS_OK)
      for _ in 0..<40 {
        let at = random.chance(1, in: 2) ? random.below(file.count) : 1_100 * 4096 + random.below(1_100 * 8 + 24)
        file[at] ^= 0x10
        #expect(try file.withUnsafeBufferPointer { try Self.check($0) } == PKS_CORRUPT, "byte \(at)")
        file[at] ^= 0x10
      }
      file[600 * 4096 + 9] ^= 1
      try file.withUnsafeBufferPointer { file in
        var table = pks__table()
        try attempt {
          pks__table_open_mapped(&table, nil, "table", file.baseAddress, UInt64(file.count), PKS__TABLE_RUN, $0)
        }
        defer { pks__table_close(&table) }
        for page in [0, 599, 601, 1_099] as [UInt64] { try attempt { pks__table_check(&table, page * 4096, 4096, $0) } }
        #expect(try status { try attempt { pks__table_check(&table, 600 * 4096 + 4_000, 1, $0) } } == PKS_CORRUPT)
        #expect(try status { try attempt { pks__table_check(&table, 599 * 4096, 4_097, $0) } } == PKS_CORRUPT)
      }
    }

    @Test func referencesPastTheEnd() throws {
      let file = try Self.make(100)
      try file.withUnsafeBufferPointer { file in
        var table = pks__table()
        try attempt {
          pks__table_open_mapped(&table, nil, "table", file.baseAddress, UInt64(file.count), PKS__TABLE_RUN, $0)
        }
        defer { pks__table_close(&table) }
        try attempt { pks__table_check(&table, 4096, 0, $0) }
        for (offset, length) in [(4096, 1), (0, 4097), (4095, 2), (.max, 1), (.max, .max), (1, .max), (4097, 0)]
          as [(UInt64, UInt64)]
        {
          #expect(
            try status { try attempt { pks__table_check(&table, offset, length, $0) } } == PKS_CORRUPT,
            "\(offset), \(length)")
        }
      }
    }

    @Test func kindAndVersion() throws {
      var file = try Self.make(100)
      #expect(try file.withUnsafeBufferPointer { try Self.check($0, kind: PKS__TABLE_SEGMENT) } == PKS_CORRUPT)
      // A later version or another draft, with a sum that fits.
      let trailer = file.count - 64
      for (format, expected) in otherFormats {
        file.replaceSubrange(trailer + 8..<trailer + 12, with: format)
        let sum = file.withUnsafeBytes { pks__checksum($0.baseAddress! + trailer, 56) }
        file.replaceSubrange((trailer + 56)..., with: withUnsafeBytes(of: sum.littleEndian) { Array($0) })
        #expect(try file.withUnsafeBufferPointer { try Self.check($0) } == expected)
      }
    }

    @Test func openingFiles() throws {
      let home = ScratchHome()
      home.put("table", try Self.make(9_000))
      home.put("empty", [])
      var table = pks__table()
      try attempt { pks__table_open(&table, home.vfs, home.handle, "table", PKS__TABLE_RUN, $0) }
      try attempt { pks__table_check_all(&table, $0) }
      #expect(table.body_length == 12_288)
      pks__table_close(&table)
      #expect(
        try status { try attempt { pks__table_open(&table, home.vfs, home.handle, "empty", PKS__TABLE_RUN, $0) } }
          == PKS_CORRUPT)
      #expect(
        try status { try attempt { pks__table_open(&table, home.vfs, home.handle, "none", PKS__TABLE_RUN, $0) } }
          == PKS_IO_ERROR)
      #expect(home.disk.counts.maps == 0 && home.disk.counts.handles == 1)
    }
  }
}
