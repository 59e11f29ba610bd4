import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// What commits free by themselves, and what a collection frees on request.
  @Suite struct CollectTests {
    private static func disk(seed: UInt64 = 9) -> Disk {
      let disk = Disk(seed: seed)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      return disk
    }

    private static func segments(_ disk: Disk) -> [String] { disk.list("/store/segments").sorted() }

    private static func size(_ disk: Disk) -> Int {
      segments(disk).reduce(0) { $0 + (disk.read("/store/segments/\($1)")?.count ?? 0) }
    }

    private static func faults(_ store: Store) throws -> [String] { try store.snapshot().faults(deep: true) }

    // MARK: Whole files

    /// What a removal leaves behind goes with the same commit.
    @Test func removedAtOnce() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let before = Self.segments(disk)
      try store.commit { try $0.add("q", "/other") }
      try store.commit { try $0.remove("q") }
      #expect(Self.segments(disk) == before)
      try store.commit { try $0.remove("p") }
      #expect(Self.segments(disk).isEmpty)
    }

    /// So does a version that is not kept any more.
    @Test func droppedVersionAtOnce() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let first = Self.segments(disk)
      try store.commit(keep: 1) { try $0.add("p", "/other") }
      #expect(Self.segments(disk).allSatisfy { !first.contains($0) })
    }

    /// For those who want the way back, until the next commit.
    @Test func generationIsKept() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let before = Self.segments(disk)
      try store.commit(keepGeneration: true) { try $0.remove("p") }
      #expect(Self.segments(disk) == before)
      try store.commit { try $0.add("q", "/small") }
      #expect(Self.segments(disk).allSatisfy { !before.contains($0) })
    }

    /// A reader of any process keeps what it reads; the first commit after it is done frees that.
    @Test func readerKeepsItsFiles() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      var reader: Snapshot? = try Store(disk, process: sim_start_process(disk.raw, 2)).snapshot()
      let shown = try reader?.state()
      try store.commit { try $0.remove("p") }
      #expect(!Self.segments(disk).isEmpty)
      #expect(try reader?.state() == shown)
      reader = nil
      #expect(try store.collect().freed_bytes > 0)
      #expect(Self.segments(disk).isEmpty)
    }

    /// Another transaction reuses what no version needs any more: it stands on a generation that has it.
    @Test func stagedTransactionKeepsItsFiles() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let transaction = try store.begin()
      try transaction.add("q", "/one")
      try store.commit { try $0.remove("p") }
      _ = try transaction.commit()
      #expect(try store.state()["q"]?.content == Change.folders["/one"])
      #expect(try Self.faults(store).isEmpty)
    }

    /// An atomic commit may be undone by a loss of power: what the durable generation needs stays.
    @Test func atomicCommitsFreeNothing() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let before = Self.segments(disk)
      try store.commit(PKS_ATOMIC) { try $0.remove("p") }
      #expect(Set(Self.segments(disk)).isSuperset(of: before))
      #expect(try Store(disk.crash(SIM_CRASH_MIN)).state()["p"]?.content == Change.folders["/one"])
    }

    /// On request it goes all the same, with one commit.
    @Test func atomicRemovalIsCollected() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit(PKS_ATOMIC) { try $0.remove("p") }
      let totals = try store.collect()
      #expect(totals.commit_count == 1 && totals.freed_bytes > 0 && Self.segments(disk).isEmpty)
    }

    /// A generation says that it dropped something, even if the files went with its commit: another process looks before it
    /// commits.
    @Test func nothingIsLeftOfAnotherProcess() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.add("q", "/other") }
      try store.commit { try $0.remove("q") }
      let other = try Store(disk, process: sim_start_process(disk.raw, 2)), before = try other.snapshot().generation
      let totals = try other.collect()
      #expect(totals.commit_count == 0 && totals.freed_bytes == 0)
      #expect(try other.snapshot().generation == before)
    }

    /// Nothing makes it certain that unlinked files are gone after a loss of power. The generation, which was synced, says
    /// that there is nothing to collect.
    @Test func whatALossOfPowerBringsBack() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let needed = Self.segments(disk)
      try store.commit { try $0.add("q", "/other") }
      try store.commit { try $0.remove("q") }
      try store.commit { try $0.pin("p", 1) }
      #expect(Self.segments(disk) == needed)
      let after = disk.crash(SIM_CRASH_MIN)
      #expect(Self.segments(after).count > needed.count)
      #expect(try Store(after).collect().freed_bytes > 0)
      #expect(Self.segments(after) == needed)
    }

    // MARK: Inside segments

    /// Nothing is lost, everything is where it was, and what is left to free is nothing.
    @Test func emptiesSegments() throws {
      let disk = try Change.emptying.start(), store = try Store(disk)
      let state = try store.state(), before = Self.size(disk)
      let dry = try store.collect(dryRun: true)
      #expect(dry.emptied_count > 0 && Self.size(disk) == before)
      let totals = try store.collect()
      #expect(totals.emptied_count >= dry.emptied_count && totals.freed_bytes > 0 && totals.copied_bytes > 0)
      #expect(Self.size(disk) < before)
      #expect(try store.state() == state)
      #expect(state.values.contains { !$0.mapped.isEmpty })
      #expect(try Self.faults(store).isEmpty)
      let again = try store.collect()
      #expect(again.emptied_count == 0 && again.commit_count == 0 && again.freed_bytes == 0)
      // A version that is kept, and was laid out again without being the current one.
      try store.commit { try $0.rollBack("q") }
      #expect(try store.state()["q"]?.content == Change.folders["/two"])
      #expect(try Self.faults(store).isEmpty)
    }

    /// Whatever came and went: content stays, faults there are none, a second collection finds nothing, and the store is hardly
    /// larger than one that only ever got what is kept.
    @Test(arguments: 0..<40) func randomHistories(_ seed: UInt64) throws {
      var random = Random(seed)
      let disk = Disk(seed: seed), store = try Store(disk, create: true)
      var folder = Folder.sample(seed: seed)
      let packs = ["p", "q", "r"]
      for step in 0..<12 {
        if random.chance(1, in: 3) {
          folder = .sample(seed: seed + UInt64(step))
        } else {
          folder = .changedSample(seed: seed)
        }
        disk.put(folder, at: "/source\(step)")
        let pack = random.pick(packs), map = random.chance(1, in: 2) ? ["large", "tool"] : []
        let keep = UInt32(random.below(3)) + 1
        switch random.below(5) {
        case 0 where store.has(pack): try store.commit { try $0.remove(pack, keepHistory: random.chance(1, in: 2)) }
        case 1 where store.has(pack): try store.commit { try $0.trim(pack, 1) }
        default: try store.commit(keep: keep) { try $0.add(pack, "/source\(step)", map: map) }
        }
        if random.chance(1, in: 4) { try store.collect(copying: UInt64(random.below(40_000)) + 1) }
      }
      let state = try store.state(), snapshot = try store.snapshot()
      let versions = packs.map { snapshot.versions(of: $0) }
      try store.collect()
      #expect(try store.state() == state)
      let after = try store.snapshot()
      #expect(packs.map { after.versions(of: $0) } == versions)
      #expect(try Self.faults(store).isEmpty)
      #expect(try store.collect().emptied_count == 0)
      // Frames are needed to three quarters at least; what is laid out in pieces compresses less well, and a map asset may
      // be there beside the same chunks of others.
      let fresh = try Self.freshCopy(of: after, versions: Array(zip(packs, versions)))
      #expect(Self.size(disk) <= Self.size(fresh) * 2 + 65_536, "\(Self.size(disk)) for \(Self.size(fresh))")
      for (pack, kept) in zip(packs, versions) {
        for version in kept.dropFirst() { try store.commit { try $0.rollBack(pack, to: version) } }
      }
      #expect(try Self.faults(store).isEmpty)
    }

    /// A store that only ever got these versions.
    private static func freshCopy(of snapshot: Snapshot, versions: [(pack: String, kept: [UInt64])]) throws -> Disk {
      let disk = Disk(seed: 1), store = try Store(disk, create: true)
      for (pack, kept) in versions {
        for version in kept.reversed() {
          try store.commit(keep: 1000) { try $0.copy(pack, from: snapshot, version: version) }
        }
      }
      return disk
    }

    /// A bound holds, and many bounded collections reach what one without a bound does.
    @Test func bounds() throws {
      let disk = try Change.emptying.start(), store = try Store(disk), twin = try Change.emptying.start()
      let all = try Store(twin).collect()
      #expect(try store.collect(copying: 1).copied_bytes == 0)
      var limit: UInt64 = 1
      while try store.collect(dryRun: true).emptied_count > 0 && limit < all.copied_bytes * 4 {
        // Layouts and catalogs come on top of what is copied of data.
        #expect(try store.collect(copying: limit).copied_bytes < limit + 100_000)
        limit *= 2
      }
      #expect(try store.collect(dryRun: true).emptied_count == 0)
      #expect(try store.state() == Store(twin).state())
      #expect(try Self.faults(store).isEmpty)
    }

    /// The store of a site is the publisher's.
    @Test func sitesAreRefused() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit(publication: true) { try $0.add("p", "/one") }
      #expect(try status { try store.collect() } == PKS_IS_SITE)
    }

    /// A frame that cannot be read is no reason to lose it: nothing changes, and the fault is told.
    @Test func damageIsTold() throws {
      let disk = try Change.emptying.start()
      let before = try Store(disk).snapshot().generation
      for segment in Self.segments(disk) where disk.read("/store/segments/\(segment)")?[12] == 1 {
        let count = disk.read("/store/segments/\(segment)")?.count ?? 0
        for at in stride(from: 70, to: count / 2, by: 50) {
          sim_corrupt(disk.raw, "/store/segments/\(segment)", UInt64(at), 1)
        }
      }
      let store = try Store(disk)
      #expect(try status { try store.collect() } == PKS_CORRUPT)
      #expect(try store.snapshot().generation <= before + 1)
    }
  }
}

extension Store {
  fileprivate func has(_ pack: String) -> Bool { (try? snapshot().packNames.contains(pack)) ?? false }
}
