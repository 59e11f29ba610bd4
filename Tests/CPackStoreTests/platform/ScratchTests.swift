import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Arrays that move from the heap to a file.
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
  }
}
