import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Removing packs takes as much as what goes, however many packs stay.
  @Suite struct RemovalTests {
    /// A store with this many small packs, behind a seam that can count.
    private static func store(packs: Int) throws -> (store: Store, seam: Seam) {
      let disk = Disk(seed: 6), seam = Seam(disk)
      _ = try Store(disk, create: true)
      let store = try Store("/store", seam: seam)
      for pack in 0..<packs {
        disk.put(["\(pack)": .file("content of \(pack)")], at: "/source")
        try store.commit(PKS_ATOMIC) { try $0.add("p\(pack)", "/source") }
      }
      return (store, seam)
    }

    /// Each removal copied all packs: 500 of 1,000 took a second to be staged.
    @Test func stagingCopiesNoOtherPacks() throws {
      func allocations(packs: Int) throws -> Int {
        let (store, _) = try Self.store(packs: packs)
        let transaction = try store.begin()
        let before = pks__memory_counts_now().allocations
        for pack in 0..<packs / 2 { try transaction.remove("p\(2 * pack)") }
        let made = pks__memory_counts_now().allocations - before
        #expect(transaction.packs.count == packs - packs / 2)
        _ = try transaction.commit()
        return Int(made)
      }
      let few = try allocations(packs: 20), many = try allocations(packs: 80)
      #expect(many < 6 * few, "four times as many packs took \(few) and \(many) allocations")
    }

    /// Each commit that collects read the layouts of all packs that stay: removing 500 of 1,000 one by one took 11 s.
    @Test func collectingReadsNoLayoutTwice() throws {
      func reads(packs: Int) throws -> Int {
        let (store, seam) = try Self.store(packs: packs)
        for pack in 0..<3 { try store.commit(PKS_ATOMIC) { try $0.remove("p\(pack)") } }
        var reads = 0
        seam.onCall = { call in
          if call == .read { reads += 1 }
          return 0
        }
        try store.commit(PKS_ATOMIC) { try $0.remove("p3") }
        seam.onCall = nil
        return reads
      }
      let few = try reads(packs: 12), many = try reads(packs: 48)
      #expect(many < few + 12, "\(few) and \(many) reads")
    }

    /// Removals between other changes of one transaction: what is staged after them sees the packs that are left.
    @Test func betweenOtherChanges() throws {
      let disk = Disk(seed: 7), store = try Store(disk, create: true)
      let folders = Dictionary(
        uniqueKeysWithValues: ["a", "b", "c", "d", "e"].enumerated().map {
          (
            $1,
            ["own/\($1)": Node.file("\($1)"), "contested": Node.file(String(repeating: $1, count: $0 + 1))] as Folder
          )
        })
      for (pack, folder) in folders { disk.put(folder, at: "/\(pack)") }
      for pack in ["a", "b", "c", "d"] { try store.commit { try $0.add(pack, "/\(pack)") } }
      try store.commit { transaction in
        try transaction.add("e", "/e", priority: 2)
        try transaction.remove("b")
        try transaction.remove("a")
        try transaction.prioritise("d", 5)
        try transaction.remove("e")
        try transaction.add("b", "/b")
        #expect(try status { try transaction.remove("a") } == PKS_NOT_FOUND)
        try transaction.remove("c", keepHistory: true)
        #expect(transaction.packs == ["d": 5, "b": 0])
      }
      let snapshot = try store.snapshot()
      #expect(snapshot.packNames == ["d", "b"])
      #expect(try snapshot.state().mapValues(\.content) == folders.filter { ["d", "b"].contains($0.key) })
      #expect(try snapshot.find("contested").node == .file("dddd"))
      #expect(try snapshot.faults(deep: true) == [])
    }
  }
}
