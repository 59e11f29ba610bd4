import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Maps in scratch memory: what they find, and that no choice of keys makes them slow.
  @Suite struct HashMapTests {
    /// Against a dictionary: few keys, so that equal ones are frequent, and some that fall into one another's places.
    @Test(arguments: [10, 1_000, 30_000]) func mapAgainstModel(count: Int) throws {
      let home = ScratchHome()
      var map = pks__hash_map(), random = Random(UInt64(count)), model: [UInt64: [UInt32]] = [:]
      pks__hash_map_init(&map, home.folder)
      for value in 0..<UInt32(count) {
        let key = random.chance(1, in: 2) ? random.next() % 40 : random.next()
        try attempt { pks__hash_map_insert(&map, key, value, $0) }
        model[key, default: []].append(value)
      }
      let others: [UInt64] = (0..<200).map { _ in random.next() } + (0..<50)
      for key in Array(model.keys) + others {
        var found: [UInt32] = [], probe: UInt64 = 0, value: UInt32 = 0
        while pks__hash_map_next(&map, key, &probe, &value) { found.append(value) }
        #expect(found.sorted() == model[key, default: []], "key \(key)")
      }
      #expect(map.count == UInt64(count))
      pks__hash_map_free(&map)
      #expect(home.disk.counts.maps == 0)
    }

    @Test func emptyMap() {
      var map = pks__hash_map(), probe: UInt64 = 0, value: UInt32 = 0
      #expect(!pks__hash_map_next(&map, 0, &probe, &value))
      pks__hash_map_free(&map)
    }

    // MARK: Chosen keys

    /// A map with a key of its own, as one of a store has.
    private static func withMap<Result>(_ body: (inout pks__hash_map) throws -> Result) rethrows -> Result {
      let home = ScratchHome()
      home.folder.pointee.key = pks__hash_key(words: (0x1234_5678_9abc_def0, 0x0fed_cba9_8765_4321))
      var map = pks__hash_map()
      pks__hash_map_init(&map, home.folder)
      defer { pks__hash_map_free(&map) }
      return try body(&map)
    }

    /// A table of 12.8 MB named pages by ids that began alike, and took 23 seconds: maps placed an id by its first eight
    /// bytes. Ids of any form are placed in a few steps each.
    @Test(arguments: [0, 8, 16, 28]) func idsThatDifferInFourBytes(at: Int) throws {
      let count: UInt32 = 20_000
      try Self.withMap { map in
        func id(_ number: UInt32) -> pks__id {
          var id = pks__id()
          withUnsafeMutableBytes(of: &id) { $0.storeBytes(of: number.littleEndian, toByteOffset: at, as: UInt32.self) }
          return id
        }
        var ids = (0..<count).map(id)
        for number in 0..<count {
          try attempt { pks__hash_map_insert_id(&map, &ids[Int(number)], number, $0) }
        }
        #expect(map.steps < 6 * UInt64(count), "each is placed twice at most on average, and looks at few slots")
        ids.withUnsafeBufferPointer { ids in
          for number in 0..<count {
            var probe: UInt64 = 0, value: UInt32 = 0, wanted = id(number)
            let found = pks__hash_map_next_id(
              &map, &wanted, { UnsafePointer($0!.assumingMemoryBound(to: pks__id.self) + Int($1)) }, ids.baseAddress,
              &probe,
              &value)
            #expect(found && value == number && probe < 100)
          }
        }
      }
    }

    /// Numbers are placed by the secret, too: these all had one place under multiplication by the golden ratio.
    @Test func numbersOfOnePlace() throws {
      var inverse: UInt64 = 1
      for _ in 0..<6 { inverse = inverse &* (2 &- inverse &* 0x9e37_79b9_7f4a_7c15) }
      try Self.withMap { map in
        let count: UInt32 = 20_000
        for number in 0..<count {
          try attempt { pks__hash_map_insert(&map, UInt64(number) << 45 &* inverse, number, $0) }
        }
        #expect(map.steps < 6 * UInt64(count))
      }
    }

    /// The vectors of SipHash-1-3 for the key 00 01 ... 0f and the bytes 00 01 ...
    @Test func sipHash() {
      var key = pks__hash_key(words: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
      let bytes = (0..<64).map { UInt8($0) }
      #expect(pks__keyed_hash(&key, bytes, 0) == 0xabac_0158_050f_c4dc)
      #expect(pks__keyed_hash(&key, bytes, 1) == 0xc9f4_9bf3_7d57_ca93)
      #expect(pks__keyed_hash(&key, bytes, 8) == 0x369095118d299a8e)
      #expect(pks__keyed_hash(&key, bytes, 15) == 0xd320_d86d_2a51_9956)
    }
  }
}
