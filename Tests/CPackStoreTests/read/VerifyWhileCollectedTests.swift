import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  @Suite struct VerifyWhileCollectedTests {
    /// Of nine processes that read and wrote, one that verified its snapshot said that a segment was gone. A run lists
    /// segments that nothing needs any more, and another process collected one of those between the moment that the walk
    /// checked it and the one that it used it. What nothing needs may go at any moment, and is no fault.
    @Test func whatNothingNeedsMayGoAtAnyMoment() throws {
      let disk = Disk()
      disk.put(["f": .file("one"), "g": .file("both")], at: "/one")
      disk.put(["f": .file("two"), "g": .file("both")], at: "/two")
      let writer = try Store(disk, create: true)
      try writer.commit { try $0.add("p", "/one") }
      try writer.commit(keep: 1, keepGeneration: true) { try $0.add("p", "/two") }
      let unneeded = try Self.collected(next: disk)
      #expect(!unneeded.isEmpty)
      var moment = 0, calls = 0
      repeat {
        let copy = disk.clone(), seam = Seam(copy)
        let snapshot = try Store("/store", seam: seam).snapshot()
        moment += 1
        calls = 0
        seam.onCall = { _ in
          calls += 1
          if calls == moment { for name in unneeded { #expect(sim_remove(copy.raw, "/store/segments/\(name)") == 0) } }
          return 0
        }
        #expect(try snapshot.faults(deep: true) == [], "gone before call \(moment)")
        seam.onCall = nil
      } while moment < calls
      #expect(calls > 20)
    }

    /// The segments that the next commit's collection takes.
    private static func collected(next disk: Disk) throws -> Set<String> {
      let after = disk.clone()
      try Store(after).commit { try $0.prioritise("p", 1) }
      return Set(disk.list("/store/segments")).subtracting(after.list("/store/segments"))
    }
  }
}
