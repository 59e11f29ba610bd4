import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The store of a site takes publications alone, and keeps the segments that they name.
  @Suite struct SiteStoreTests {
    private static func site() throws -> (Disk, Store) {
      let disk = Disk(seed: 31)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      let store = try Store(disk, create: true)
      try store.commit(keep: 3, publication: true) { try $0.add("p", "/one") }
      return (disk, store)
    }

    /// A site's segments were taken away under its clients by three commits of any kind: no commit that is not part of a
    /// publication may happen, whatever it stages.
    @Test func otherCommitsAreRefused() throws {
      let (disk, store) = try Self.site()
      try store.commit(keep: 3, publication: true) { try $0.add("p", "/two") }
      let before = disk.list("/store/segments"), generation = try store.snapshot().generation
      for durability in [PKS_DURABLE, PKS_ATOMIC] {
        #expect(try status { _ = try store.begin(durability) } == PKS_IS_SITE)
      }
      #expect(try status { _ = try Store(disk).begin() } == PKS_IS_SITE, "a second opener")
      #expect(try store.snapshot().generation == generation && disk.list("/store/segments") == before)
      #expect(disk.list("/store/tmp") == [], "what was refused leaves nothing")
      #expect(try store.snapshot().isSite && Store(disk).snapshot().isSite)
    }

    /// What was begun before the store became a site's is judged when it is committed.
    @Test func aCommitThatBeganBefore() throws {
      let disk = Disk(seed: 32)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let stages: [(Transaction) throws -> Void] = [
        { try $0.add("q", "/two") }, { try $0.remove("p") }, { try $0.prioritise("p", 3) }, { try $0.pin("p", 1) },
        { try $0.unpin("p") }, { try $0.trim("p", 1) }, { $0.collect() },
      ]
      let transactions = try stages.map { stage in
        let transaction = try store.begin()
        try stage(transaction)
        return transaction
      }
      #expect(try !store.snapshot().isSite)
      let marked = try store.commit(publication: true) { _ in }
      #expect(marked == 3, "the mark alone is a commit")
      #expect(try store.commit(publication: true) { _ in } == 3, "and is made once")
      for transaction in transactions {
        #expect(try status { _ = try transaction.commit() } == PKS_IS_SITE)
      }
      #expect(try store.snapshot().generation == 3 && store.snapshot().packNames == ["p"])
    }

    @Test func namedSegmentsStay() throws {
      let (disk, store) = try Self.site()
      let first = Set(disk.list("/store/segments"))
      try store.commit(publication: true) { try $0.remove("p") }
      for _ in 0..<4 {
        try store.commit(publication: true) { transaction in
          for segment in first { try transaction.keep(segment) }
          transaction.collect()
        }
        #expect(first.isSubset(of: disk.list("/store/segments")))
      }
      for _ in 0..<2 { try store.commit(publication: true) { $0.collect() } }
      #expect(disk.list("/store/segments") == [], "without being named they go, though nothing was dropped lately")
    }

    @Test(arguments: [false, true]) func repairs(withoutIndex: Bool) throws {
      let disk = try Self.site().0
      disk.put([:], at: "/store/versions")
      if withoutIndex {
        for name in disk.list("/store/index") { sim_remove(disk.raw, "/store/index/\(name)") }
      }
      sim_remove(disk.raw, "/store/CONTROL")
      #expect(try status { try disk.repair() } == PKS_IS_SITE)
      #expect(try !disk.repair(dryRun: true).totals.was_whole)
      #expect(try !disk.repair(publication: true).totals.has_lost)
      #expect(try Store(disk).snapshot().isSite)
    }
  }
}
