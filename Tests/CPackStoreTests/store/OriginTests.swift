import CPackStore
import CPackStoreTesting
import Testing

/// Origins and floors: what a table accepts, and that only such tables are read.
extension Core {
  @Suite struct OriginTests {
    static func signed(_ product: String, key: UInt8 = 1) -> pks__origin {
      var origin = pks__origin()
      origin.kind = PKS_ORIGIN_SIGNED
      withUnsafeMutableBytes(of: &origin.key) { $0[0] = key }
      withUnsafeMutableBytes(of: &origin.product) { $0.copyBytes(from: product.utf8) }
      return origin
    }

    static func floor(_ origin: UInt32, _ pack: String, version: UInt64) -> pks__floor {
      var floor = pks__floor()
      floor.origin = origin
      floor.version = version
      floor.sequence = 10 * version
      withUnsafeMutableBytes(of: &floor.pack) { $0.copyBytes(from: pack.utf8) }
      return floor
    }

    private static func add(_ origin: pks__origin, to table: inout pks__origin_table) throws -> UInt32 {
      var origin = origin, number: UInt32 = 0
      try attempt { pks__origins_add(&table, &origin, &number, $0) }
      return number
    }

    private static func bytes(_ table: inout pks__origin_table) throws -> [UInt8] {
      var out = pks__scratch()
      defer { pks__scratch_free(&out) }
      try attempt { error in
        withUnsafeMutablePointer(to: &out) { out in
          var pen = pks__byte_writer(out: out, status: PKS_OK, error: error)
          pks__origins_write(&pen, &table, pks__origins_have_epochs(&table))
          return pen.status
        }
      }
      return out.content
    }

    /// What is read from `bytes`, written again; nil when it is refused.
    private static func reread(_ bytes: [UInt8], hasEpochs: Bool = false) throws -> [UInt8]? {
      try bytes.withUnsafeBytes { buffer in
        var reader = pks__reader_make(buffer.baseAddress, buffer.count), table = pks__origin_table()
        defer { pks__origins_free(&table) }
        #expect(pks__origins_read(&reader, hasEpochs, &table))
        return reader.failed ? nil : try Self.bytes(&table) + Array(buffer.suffix(pks__reader_left(&reader)))
      }
    }

    @Test func aZeroedTableIsTheLocalOrigin() throws {
      var table = pks__origin_table(), origin = pks__origin()
      defer { pks__origins_free(&table) }
      #expect(pks__origins_rank(&table, 0) == 0 && pks__origins_rank(&table, 1) == UInt32.max)
      #expect(pks__origins_get(&table, 0, &origin) && origin.kind == PKS_ORIGIN_LOCAL)
      let bytes = try Self.bytes(&table)
      #expect(try Self.reread(bytes) == bytes)
    }

    @Test func originsAreListedOnceAndKeepTheirNumbers() throws {
      var table = pks__origin_table()
      defer { pks__origins_free(&table) }
      let one = try Self.add(Self.signed("one"), to: &table), two = try Self.add(Self.signed("two"), to: &table)
      #expect([one, two] == [1, 2])
      #expect(try Self.add(Self.signed("one"), to: &table) == one)
      #expect(try Self.add(Self.signed("one", key: 2), to: &table) == 3)
      pks__origins_remove(&table, one)
      #expect(pks__origins_rank(&table, one) == UInt32.max)
      #expect(try Self.add(Self.signed("one"), to: &table) == 4, "a number is never given again")
      #expect((0...4).map { pks__origins_rank(&table, $0) } == [0, UInt32.max, 1, 2, 3])
      let bytes = try Self.bytes(&table)
      #expect(try Self.reread(bytes) == bytes)
    }

    @Test func orders() throws {
      var table = pks__origin_table()
      defer { pks__origins_free(&table) }
      for product in ["one", "two", "three"] { _ = try Self.add(Self.signed(product), to: &table) }
      try attempt { pks__origins_move(&table, 3, 0, $0) }
      #expect((0...3).map { pks__origins_rank(&table, $0) } == [1, 2, 3, 0])
      try attempt { pks__origins_move(&table, 1, 3, $0) }
      #expect((0...3).map { pks__origins_rank(&table, $0) } == [3, 1, 2, 0])
      try attempt { pks__origins_move(&table, 2, 2, $0) }
      #expect((0...3).map { pks__origins_rank(&table, $0) } == [3, 1, 2, 0])
    }

    @Test func floorsAreFoundWhateverTheOrderInWhichTheyCame() throws {
      var table = pks__origin_table()
      defer { pks__origins_free(&table) }
      let origins = try (0..<3).map { try Self.add(Self.signed("product-\($0)"), to: &table) }
      var random = Random(5)
      let floors = (0..<300).map { Self.floor(origins[$0 % 3], "pack-\($0 / 3)", version: UInt64($0 + 1)) }
      for floor in floors.shuffled(using: &random) {
        var floor = floor
        try attempt { pks__origins_set_floor(&table, &floor, $0) }
      }
      for (index, floor) in floors.enumerated() {
        #expect(pks__origins_floor(&table, floor.origin, "pack-\(index / 3)")?.pointee.version == floor.version)
      }
      #expect(pks__origins_floor(&table, origins[0], "pack-100") == nil)
      let bytes = try Self.bytes(&table)
      #expect(try Self.reread(bytes) == bytes)
      pks__origins_remove(&table, origins[2])
      #expect(pks__origins_floor(&table, origins[2], "pack-7") == nil && table.floor_count == 200)
    }

    /// Epochs and numbers that were taken back need a feature of generations, which no other table has.
    @Test func epochsAreReadAsTheyWereWritten() throws {
      var table = pks__origin_table()
      defer { pks__origins_free(&table) }
      _ = try Self.add(Self.signed("one"), to: &table)
      #expect(!pks__origins_have_epochs(&table))
      for (pack, epoch, takenBack) in [("a", 0, 0), ("b", 1 << 60, 0), ("c", 7, 5)] as [(String, UInt64, UInt64)] {
        var floor = Self.floor(1, pack, version: 3)
        (floor.epoch, floor.taken_back) = (epoch, takenBack)
        try attempt { pks__origins_set_floor(&table, &floor, $0) }
        #expect(pks__origins_have_epochs(&table) == (pack != "a"))
      }
      let bytes = try Self.bytes(&table)
      #expect(try Self.reread(bytes, hasEpochs: true) == bytes)
      #expect(try Self.reread(Array(bytes.dropLast(8)) + [0, 0, 0, 0, 0, 0, 32, 0], hasEpochs: true) == nil, "2^53")
      for length in 0..<bytes.count { #expect(try Self.reread(Array(bytes.prefix(length)), hasEpochs: true) == nil) }
      var plain = pks__origin_table()
      defer { pks__origins_free(&plain) }
      var floor = Self.floor(try Self.add(Self.signed("one"), to: &plain), "a", version: 3)
      try attempt { pks__origins_set_floor(&plain, &floor, $0) }
      let unneeded = try Self.bytes(&plain) + [UInt8](repeating: 0, count: 16)
      #expect(try Self.reread(unneeded, hasEpochs: true) == nil, "the feature is not needed")
    }

    /// Changed at random, a table is refused, or is one that is written again alike.
    @Test func hostileBytes() throws {
      var table = pks__origin_table()
      defer { pks__origins_free(&table) }
      for product in ["one", "two"] { _ = try Self.add(Self.signed(product), to: &table) }
      for pack in ["a", "b"] {
        var floor = Self.floor(1, pack, version: 3)
        try attempt { pks__origins_set_floor(&table, &floor, $0) }
      }
      let seed = testSeed(77), bytes = try Self.bytes(&table), memory = pks__memory_counts_now().open
      var random = Random(seed), refused = 0
      for length in 0..<bytes.count { #expect(try Self.reread(Array(bytes.prefix(length))) == nil, "length \(length)") }
      for round in 0..<4_000 {
        var hostile = bytes
        let at = random.below(hostile.count)
        hostile[at] = random.chance(1, in: 2) ? random.pick([0, 0xff, 0x7f, 1]) : hostile[at] ^ 1 << random.below(8)
        let again = try Self.reread(hostile)
        refused += again == nil ? 1 : 0
        // A flag that means nothing is dropped.
        if let again { #expect(again.count == hostile.count, "seed \(seed), round \(round)") }
      }
      #expect(refused > 500)
      #expect(pks__memory_counts_now().open == memory)
    }
  }
}
