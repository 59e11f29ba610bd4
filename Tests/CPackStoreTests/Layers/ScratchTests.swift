import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Arrays that move from the heap to a file, and maps in them.
  @Suite struct ScratchTests {
    @Test func movesToAFileAndBackToNothing() throws {
      let home = ScratchHome()
      let memory = pks__memory_counts_now().open
      var scratch = pks__scratch(), random = Random(1), expected: [UInt8] = []
      pks__scratch_init(&scratch, home.folder)
      while expected.count < 3 * Int(PKS__SCRATCH_HEAP_MAX) {
        let piece = random.bytes(random.below(30_000))
        expected += piece
        try scratch.append(piece)
        #expect(scratch.mapped == (scratch.capacity > UInt64(PKS__SCRATCH_HEAP_MAX)))
      }
      #expect(scratch.mapped && scratch.content == expected)
      #expect(home.disk.list("/home") == [], "the file has no name: a killed process leaves none")
      #expect(home.disk.counts.maps == 1)
      pks__scratch_free(&scratch)
      #expect(home.disk.counts.maps == 0 && home.disk.counts.handles == 1)
      #expect(pks__memory_counts_now().open == memory)
    }

    @Test func zerosAndReservedRoom() throws {
      var scratch = pks__scratch()
      try attempt { pks__scratch_reserve(&scratch, 100, $0) }
      #expect(scratch.length == 0 && scratch.capacity >= 100)
      try scratch.append([1, 2])
      try attempt { pks__scratch_append(&scratch, nil, 3, $0) }
      #expect(scratch.content == [1, 2, 0, 0, 0])
      pks__scratch_free(&scratch)
      pks__scratch_free(&scratch)
    }

    /// A full disk is an error, not a signal when the mapping is touched; the array stays as it was.
    @Test func fullDisk() throws {
      let home = ScratchHome()
      var scratch = pks__scratch(), random = Random(2)
      pks__scratch_init(&scratch, home.folder)
      let bytes = random.bytes(Int(PKS__SCRATCH_HEAP_MAX))
      try scratch.append(bytes)
      sim_set_capacity(home.disk.raw, UInt64(PKS__SCRATCH_HEAP_MAX) + 1000)
      #expect(try status { try scratch.append([0]) } == PKS_NO_SPACE)
      #expect(scratch.content.elementsEqual(bytes))
      sim_set_capacity(home.disk.raw, .max)
      try scratch.append([7])
      #expect(scratch.content == bytes + [7])
      pks__scratch_free(&scratch)
      #expect(home.disk.list("/home") == [])
    }

    @Test func impossibleSizes() throws {
      var scratch = pks__scratch()
      try scratch.append([1])
      for count in [.max, .max - 1, .max / 2] as [UInt64] {
        #expect(try status { try attempt { pks__scratch_reserve(&scratch, count, $0) } } == PKS_OUT_OF_MEMORY)
      }
      pks__scratch_free(&scratch)
    }

    /// Against a dictionary: few keys, so that equal ones are frequent, and some that fall into one another's places.
    @Test(arguments: [10, 1_000, 30_000]) func mapAgainstModel(count: Int) throws {
      let home = ScratchHome()
      var map = pks__map(), random = Random(UInt64(count)), model: [UInt64: [UInt32]] = [:]
      pks__map_init(&map, home.folder)
      for value in 0..<UInt32(count) {
        let key = random.chance(1, in: 2) ? random.next() % 40 : random.next()
        try attempt { pks__map_insert(&map, key, value, $0) }
        model[key, default: []].append(value)
      }
      let others: [UInt64] = (0..<200).map { _ in random.next() } + (0..<50)
      for key in Array(model.keys) + others {
        var found: [UInt32] = [], probe: UInt64 = 0, value: UInt32 = 0
        while pks__map_next(&map, key, &probe, &value) { found.append(value) }
        #expect(found.sorted() == model[key, default: []], "key \(key)")
      }
      #expect(map.count == UInt64(count))
      pks__map_free(&map)
      #expect(home.disk.counts.maps == 0)
    }

    @Test func emptyMap() {
      var map = pks__map(), probe: UInt64 = 0, value: UInt32 = 0
      #expect(!pks__map_next(&map, 0, &probe, &value))
      pks__map_free(&map)
    }
  }
}
