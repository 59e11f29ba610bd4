import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct GenerationTests {
    private static func make(seed: UInt64 = 1, packCount: Int = 3) throws -> pks__generation {
      var generation = pks__generation(), random = Random(seed)
      generation.number = 77
      generation.next_pack_number = 1
      generation.has_shadows = true
      for number in 0..<packCount {
        var index: UInt32 = 0
        try attempt { pks__generation_add_pack(&generation, "pack-\(number)", Int32(random.below(5)) - 2, &index, $0) }
        for version in 1...(1 + UInt64(random.below(3))) {
          var new = pks__version()
          new.number = version
          new.committed_at_ns = -5
          new.file_count = random.next()
          withUnsafeMutableBytes(of: &new.catalog) { $0[3] = UInt8(version) }
          try attempt { pks__generation_push_version(&generation, index, &new, 2, $0) }
        }
        var run = pks__run_name(name: random.next(), file_length: 4_096, trailer_sum: random.next())
        let numbers = [UInt32(number + 1), 1]
        try attempt { pks__generation_add_run(&generation, &run, numbers, 2, $0) }
      }
      if packCount > 1 {
        var origin = OriginTests.signed("game"), number: UInt32 = 0
        try attempt { pks__origins_add(&generation.origins, &origin, &number, $0) }
        for (index, pack) in ["a", "pack-0"].enumerated() {
          var floor = OriginTests.floor(number, pack, version: UInt64(index + 1))
          try attempt { pks__origins_set_floor(&generation.origins, &floor, $0) }
        }
        generation.packs[0].origin = number
        pks__generation_sort(&generation)
        generation.predecessor = 76
        generation.durable = true
        withUnsafeMutableBytes(of: &generation.path_key) { $0[5] = 7 }
        generation.packs[0].held = true
        generation.packs[0].versions[0].pinned = true
        try attempt { pks__generation_remove_pack(&generation, 1, true, $0) }
      }
      return generation
    }

    private static func encode(_ generation: inout pks__generation) throws -> [UInt8] {
      var bytes = pks__scratch()
      defer { pks__scratch_free(&bytes) }
      try attempt { pks__generation_encode(&generation, &bytes, $0) }
      return bytes.content
    }

    private static func decode(_ bytes: [UInt8]) throws -> pks__generation {
      var generation = pks__generation()
      try attempt { pks__generation_decode(bytes, bytes.count, "generation", &generation, $0) }
      return generation
    }

    private static func names(_ generation: pks__generation) -> [String] {
      (0..<Int(generation.pack_count)).map { index in
        withUnsafeBytes(of: generation.packs[index].name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      }
    }

    /// `bytes` with the checksum at their end made to fit.
    private static func resum(_ bytes: [UInt8]) -> [UInt8] {
      let body = Array(bytes.dropLast(8))
      let sum = body.withUnsafeBytes { pks__checksum($0.baseAddress, $0.count) }
      return body + withUnsafeBytes(of: sum.littleEndian) { Array($0) }
    }

    @Test(arguments: [0, 1, 3, 200]) func comesBack(packCount: Int) throws {
      let memory = pks__memory_counts_now().open
      var generation = try Self.make(packCount: packCount)
      let bytes = try Self.encode(&generation)
      var decoded = try Self.decode(bytes)
      #expect(decoded.number == 77 && decoded.has_shadows && !decoded.has_garbage)
      #expect(decoded.next_pack_number == UInt32(packCount + 1) && decoded.run_count == UInt32(packCount))
      #expect(Self.names(decoded) == Self.names(generation) && decoded.removed_count == generation.removed_count)
      #expect(try Self.encode(&decoded) == bytes)
      var copy = pks__generation()
      try attempt { pks__generation_copy(&generation, &copy, $0) }
      #expect(try Self.encode(&copy) == bytes)
      pks__generation_free(&generation)
      pks__generation_free(&decoded)
      pks__generation_free(&copy)
      #expect(pks__memory_counts_now().open == memory)
    }

    @Test func everyTruncationAndEveryBit() throws {
      var generation = try Self.make()
      let bytes = try Self.encode(&generation), memory = pks__memory_counts_now().open
      for length in 0..<bytes.count {
        #expect(try status { _ = try Self.decode(Array(bytes.prefix(length))) } == PKS_CORRUPT, "length \(length)")
      }
      #expect(try status { _ = try Self.decode(bytes + [0]) } == PKS_CORRUPT)
      for bit in 0..<(8 * bytes.count) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << (bit % 8)
        #expect(try status { _ = try Self.decode(flipped) } == PKS_CORRUPT, "bit \(bit)")
      }
      #expect(pks__memory_counts_now().open == memory)
      pks__generation_free(&generation)
    }

    /// With a checksum that fits: contradictions are CORRUPT, nothing crashes, nothing leaks, no count is believed before there are bytes for it.
    @Test func hostileButSummed() throws {
      let seed = testSeed(31)
      var random = Random(seed), generation = try Self.make()
      let bytes = try Self.encode(&generation)
      pks__generation_free(&generation)
      let memory = pks__memory_counts_now().open
      var refused = 0
      for round in 0..<4_000 {
        var hostile = bytes
        for _ in 0...random.below(2) {
          let at = random.below(hostile.count - 8)
          if random.chance(1, in: 2) {
            hostile[at] = random.pick([0, 0xff, 0x7f, 1])
          } else {
            hostile[at] ^= 1 << random.below(8)
          }
        }
        if random.chance(1, in: 8) { hostile.removeLast(random.below(hostile.count - 30)) }
        let status = try status {
          var decoded = try Self.decode(Self.resum(hostile))
          pks__generation_free(&decoded)
        }
        #expect(
          [PKS_OK, PKS_CORRUPT, PKS_NEWER_FORMAT, PKS_OTHER_DRAFT].contains(status),
          "seed \(seed), round \(round): \(status.rawValue)")
        refused += status == PKS_OK ? 0 : 1
      }
      #expect(refused > 500)
      #expect(pks__memory_counts_now().open == memory)
    }

    /// A pack whose number was never given was accepted when the sum was right: another pack would get the same one later,
    /// and its records with it. Fuzzing found it.
    @Test(arguments: [0, 4, UInt32.max]) func numberThatWasNeverGiven(number: UInt32) throws {
      var generation = try Self.make(packCount: 3)
      defer { pks__generation_free(&generation) }
      #expect(generation.next_pack_number == 4)
      generation.packs[1].number = number
      let bytes = try Self.encode(&generation)
      let status = try status { _ = try Self.decode(bytes) }
      #expect(status == PKS_CORRUPT, "\(status.rawValue)")
    }

    @Test(arguments: otherFormats) func otherFormat(format: [UInt8], expected: pks_status) throws {
      var generation = try Self.make()
      var bytes = try Self.encode(&generation)
      pks__generation_free(&generation)
      bytes.replaceSubrange(8..<12, with: format)
      #expect(try status { _ = try Self.decode(Self.resum(bytes)) } == expected)
    }

    /// A later version that adds what only writers must know leaves the store readable for this one.
    @Test func aFeatureForWriters() throws {
      var generation = try Self.make()
      var bytes = try Self.encode(&generation)
      try attempt { pks__generation_check_change(&generation, false, $0) }
      pks__generation_free(&generation)
      bytes.replaceSubrange(8..<12, with: [1, 0, 0, 0x40])
      var read = try Self.decode(Self.resum(bytes))
      defer { pks__generation_free(&read) }
      #expect(read.writer_features == 0x40 && read.pack_count + read.removed_count == 3)
      for isPublication in [false, true] {
        let found = try status { try attempt { pks__generation_check_change(&read, isPublication, $0) } }
        #expect(found == PKS_NEWER_FORMAT)
      }
    }

    /// Packs of an earlier origin win over those of a later one, whatever the priorities.
    @Test func originsComeBeforePriorities() throws {
      var generation = pks__generation(), index: UInt32 = 0
      defer { pks__generation_free(&generation) }
      generation.next_pack_number = 1
      var numbers: [UInt32] = []
      for product in ["one", "two"] {
        var origin = OriginTests.signed(product), number: UInt32 = 0
        try attempt { pks__origins_add(&generation.origins, &origin, &number, $0) }
        numbers.append(number)
      }
      for (name, priority, origin) in [("a", 9, 2), ("b", 1, 1), ("c", -5, 0), ("d", 7, 1)] as [(String, Int32, Int)] {
        try attempt { pks__generation_add_pack(&generation, name, priority, &index, $0) }
        generation.packs[Int(index)].origin = [0, numbers[0], numbers[1]][origin]
        pks__generation_sort(&generation)
      }
      #expect(Self.names(generation) == ["c", "d", "b", "a"])
      for (place, number) in [numbers[1], numbers[0]].enumerated() {
        let rank = pks__origins_rank(&generation.origins, number)
        try attempt { pks__origins_move(&generation.origins, rank, UInt32(place), $0) }
      }
      pks__generation_sort(&generation)
      #expect(Self.names(generation) == ["a", "d", "b", "c"])
    }

    /// By priority, highest first, then first installed first; a pack that comes back is a new one.
    @Test func order() throws {
      var generation = pks__generation(), index: UInt32 = 0
      generation.next_pack_number = 1
      for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", -1), ("e", 5)] as [(String, Int32)] {
        try attempt { pks__generation_add_pack(&generation, name, priority, &index, $0) }
        #expect(pks__generation_find_pack(&generation, name) == index)
      }
      #expect(Self.names(generation) == ["b", "e", "a", "c", "d"])
      generation.packs[Int(pks__generation_find_pack(&generation, "d"))].priority = 9
      pks__generation_sort(&generation)
      #expect(Self.names(generation) == ["d", "b", "e", "a", "c"])
      try attempt { pks__generation_remove_pack(&generation, pks__generation_find_pack(&generation, "b"), false, $0) }
      try attempt { pks__generation_add_pack(&generation, "b", 5, &index, $0) }
      #expect(Self.names(generation) == ["d", "e", "b", "a", "c"])
      #expect(pks__generation_find_number(&generation, 2) == .max)
      #expect(pks__generation_find_number(&generation, 6) == pks__generation_find_pack(&generation, "b"))
      #expect(pks__generation_find_pack(&generation, "x") == .max)
      for pack in 0..<Int(generation.pack_count) { #expect(generation.packs[pack].version_count == 0) }
      pks__generation_free(&generation)
    }

    /// Any order is brought into the one in which packs win.
    @Test(arguments: [2, 3, 50, 700]) func sorting(count: Int) throws {
      let seed = testSeed(71)
      var random = Random(seed), generation = pks__generation(), index: UInt32 = 0
      generation.next_pack_number = 1
      for number in 0..<count { try attempt { pks__generation_add_pack(&generation, "p\(number)", 0, &index, $0) } }
      for pack in 0..<count { generation.packs[pack].priority = Int32(random.below(count / 2)) }
      pks__generation_sort(&generation)
      let order = (0..<count).map { (-Int(generation.packs[$0].priority), generation.packs[$0].number) }
      #expect(zip(order, order.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
      pks__generation_free(&generation)
    }

    @Test func keptVersions() throws {
      var generation = pks__generation(), index: UInt32 = 0
      generation.next_pack_number = 1
      try attempt { pks__generation_add_pack(&generation, "p", 0, &index, $0) }
      for number in 1...5 as ClosedRange<UInt64> {
        var version = pks__version()
        version.number = number
        try attempt { pks__generation_push_version(&generation, index, &version, number == 5 ? 2 : 3, $0) }
      }
      #expect(generation.packs[0].version_count == 2)
      #expect(generation.packs[0].versions[0].number == 5 && generation.packs[0].versions[1].number == 4)
      pks__generation_free(&generation)
    }

    /// Pinned versions stay, one that is current again is there once, and the highest number is never forgotten.
    @Test func pinnedVersions() throws {
      var generation = pks__generation(), index: UInt32 = 0
      generation.next_pack_number = 1
      try attempt { pks__generation_add_pack(&generation, "p", 0, &index, $0) }
      func push(_ number: UInt64, keep: UInt32) throws {
        var version = pks__version()
        version.number = number
        try attempt { pks__generation_push_version(&generation, index, &version, keep, $0) }
      }
      func numbers() -> [UInt64] {
        (0..<Int(generation.packs[0].version_count)).map { generation.packs[0].versions[$0].number }
      }
      for number in 1...3 as ClosedRange<UInt64> { try push(number, keep: 9) }
      generation.packs[0].versions[2].pinned = true
      try push(7, keep: 2)
      #expect(numbers() == [7, 3, 1], "2 went, 1 is pinned")
      try push(3, keep: .max)
      #expect(numbers() == [3, 7, 1] && generation.packs[0].highest_version == 7)
      try push(8, keep: 1)
      #expect(numbers() == [8, 1])
      pks__generation_free(&generation)
    }

    /// A removed pack keeps its history under its old number, and comes back with it under a new one.
    @Test func removedPacks() throws {
      var generation = pks__generation(), index: UInt32 = 0
      generation.next_pack_number = 1
      for name in ["p", "q"] {
        var version = pks__version()
        version.number = 4
        try attempt { pks__generation_add_pack(&generation, name, 6, &index, $0) }
        try attempt { pks__generation_push_version(&generation, index, &version, 2, $0) }
      }
      try attempt { pks__generation_remove_pack(&generation, 0, true, $0) }
      #expect(
        pks__generation_find_pack(&generation, "p") == .max && pks__generation_find_removed(&generation, "p") == 0)
      var decoded = try Self.decode(try Self.encode(&generation))
      #expect(Self.names(decoded) == ["q"] && decoded.removed_count == 1 && decoded.removed[0].versions[0].number == 4)
      try attempt { pks__generation_add_pack(&decoded, "p", 9, &index, $0) }
      #expect(decoded.removed_count == 0 && Self.names(decoded) == ["p", "q"])
      #expect(decoded.packs[0].number == 3 && decoded.packs[0].version_count == 1)
      try attempt { pks__generation_remove_pack(&decoded, 1, true, $0) }
      pks__generation_forget_removed(&decoded, 0)
      #expect(decoded.removed_count == 0)
      pks__generation_free(&generation)
      pks__generation_free(&decoded)
    }

    /// A version's number is given once: 0, the same twice, and one above the highest that there was make no sense.
    @Test(arguments: [0, 1, 9]) func numbersThatMakeNoSense(number: UInt64) throws {
      var generation = pks__generation(), index: UInt32 = 0
      generation.next_pack_number = 1
      try attempt { pks__generation_add_pack(&generation, "p", 0, &index, $0) }
      for number in [1, 2] as [UInt64] {
        var version = pks__version()
        version.number = number
        try attempt { pks__generation_push_version(&generation, index, &version, 2, $0) }
      }
      generation.packs[0].versions[0].number = number
      let bytes = try Self.encode(&generation)
      #expect(try status { _ = try Self.decode(bytes) } == PKS_CORRUPT)
      pks__generation_free(&generation)
    }

    /// Two packs of one name, or of one number, would make a look-up mean either.
    @Test func packsThatAreTheSame() throws {
      for isName in [true, false] {
        var generation = try Self.make(packCount: 3)
        if isName {
          withUnsafeMutableBytes(of: &generation.packs[1].name) { $0.copyBytes(from: "pack-0\0".utf8) }
          withUnsafeMutableBytes(of: &generation.packs[0].name) { $0.copyBytes(from: "pack-0\0".utf8) }
        } else {
          generation.packs[1].number = generation.packs[0].number
        }
        let bytes = try Self.encode(&generation)
        #expect(try status { _ = try Self.decode(bytes) } == PKS_CORRUPT)
        pks__generation_free(&generation)
      }
    }
  }
}
