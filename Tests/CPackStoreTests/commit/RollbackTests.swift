import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Going back to a kept version, holding a pack there, and keeping versions beyond their time.
  @Suite struct RollbackTests {
    private static func disk(_ folders: [String: Folder] = Change.folders) -> Disk {
      let disk = Disk(seed: 9)
      for (path, folder) in folders { disk.put(folder, at: path) }
      return disk
    }

    private static func content(_ store: Store, _ pack: String = "p") throws -> Folder? {
      try store.state()[pack]?.content
    }

    private static func faults(_ store: Store) throws -> [String] { try store.snapshot().faults(deep: true) }

    /// Which version is current then.
    private static func rollBack(_ store: Store, to version: UInt64 = 0) throws -> UInt64 {
      var now: UInt64 = 0
      try store.commit { now = try $0.rollBack("p", to: version).number }
      return now
    }

    private static func add(_ store: Store, _ folder: String, keep: UInt32 = 0) throws -> pks_add_result {
      var result = pks_add_result()
      try store.commit(keep: keep) { result = try $0.add("p", folder) }
      return result
    }

    @Test func backAndForth() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.add("p", "/two") }
      let raw = disk.bytesOfFrames
      #expect(try Self.rollBack(store) == 1)
      #expect(try Self.content(store) == Change.folders["/one"])
      #expect(try Self.rollBack(store) == 2)
      #expect(try Self.content(store) == Change.folders["/two"])
      #expect(try Self.rollBack(store, to: 1) == 1)
      let snapshot = try store.snapshot()
      #expect(snapshot.versions(of: "p") == [1, 2] && snapshot.packs[0].held && snapshot.packs[0].current.number == 1)
      #expect(disk.bytesOfFrames == raw, "no asset's bytes were moved")
      #expect(try Self.faults(store).isEmpty)
    }

    /// A version is what it was: number, identity and date.
    @Test func theVersionStays() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      var first = pks_pack_version()
      try store.commit { first = try $0.add("p", "/one").version }
      try store.commit { try $0.add("p", "/two") }
      try store.commit { try $0.rollBack("p") }
      let now = try store.snapshot().packs[0].current
      #expect(now.number == first.number && now.committed_at_ns == first.committed_at_ns)
      #expect(
        withUnsafeBytes(of: now.catalog) { Array($0) } == withUnsafeBytes(of: first.catalog) { Array($0) })
    }

    @Test func whatIsNotThere() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let transaction = try store.begin()
      #expect(try status { try transaction.rollBack("q") } == PKS_NOT_FOUND)
      #expect(try status { try transaction.rollBack("p") } == PKS_NOT_FOUND, "there is no earlier version")
      #expect(try status { try transaction.rollBack("p", to: 2) } == PKS_NOT_FOUND)
      #expect(try status { try transaction.pin("p", 2) } == PKS_NOT_FOUND)
      #expect(try status { try transaction.pin("q", 1) } == PKS_NOT_FOUND)
      #expect(try status { try transaction.unpin("q") } == PKS_NOT_FOUND)
      #expect(try transaction.commit() == 2, "nothing was staged")
    }

    /// The next version does not come by accident, and its number is new.
    @Test func held() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      for folder in ["/one", "/two"] { try store.commit { try $0.add("p", folder) } }
      try store.commit { try $0.rollBack("p") }
      #expect(try status { try store.commit { try $0.add("p", "/other") } } == PKS_HELD)
      #expect(try Self.add(store, "/one").unchanged)
      try store.commit { try $0.prioritise("p", 4) }
      #expect(try store.snapshot().packs[0].held)
      try store.commit { try $0.unpin("p") }
      #expect(try Self.add(store, "/other").version.number == 3)
      #expect(try store.snapshot().versions(of: "p") == [3, 1], "2 was current longest ago")
      try store.commit { try $0.rollBack("p", to: 3) }
      let snapshot = try store.snapshot()
      #expect(snapshot.packs[0].held && snapshot.versions(of: "p") == [3, 1], "a pack can be held where it is")
    }

    @Test func pinsAndKeeping() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.pin("p", 1) }
      for round in 0..<4 { try store.commit { try $0.add("p", round % 2 == 0 ? "/two" : "/small") } }
      #expect(try store.snapshot().versions(of: "p") == [5, 4, 1])
      try store.commit { try $0.rollBack("p", to: 1) }
      #expect(try Self.content(store) == Change.folders["/one"])
      #expect(try Self.faults(store).isEmpty)
      try store.commit { try $0.unpin("p") }
      try store.commit(keep: 1) { try $0.add("p", "/other") }
      #expect(try store.snapshot().versions(of: "p") == [6])
      try store.commit { try $0.prioritise("p", 1) }
      try store.commit { try $0.prioritise("p", 2) }
      #expect(try Self.faults(store).isEmpty)
      #expect(try Self.content(store) == Change.folders["/other"])
    }

    /// A pack that was removed with its history kept comes back with it; what its segments hold is spared meanwhile.
    @Test func removedAndBroughtBack() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("q", "/small") }
      for folder in ["/one", "/two"] { try store.commit { try $0.add("p", folder, priority: 7) } }
      try store.commit { try $0.remove("p", keepHistory: true) }
      for priority in 1...3 as ClosedRange<Int32> { try store.commit { try $0.prioritise("q", priority) } }
      var snapshot = try store.snapshot()
      #expect(snapshot.packNames == ["q"] && snapshot.versions(of: "p") == [2, 1])
      #expect(snapshot.removedPacks.map(\.removed) == [true])
      #expect(try Self.content(store) == nil)
      #expect(try Self.rollBack(store) == 2)
      #expect(try Self.content(store) == Change.folders["/two"])
      #expect(try Self.faults(store).isEmpty)
      snapshot = try store.snapshot()
      #expect(snapshot.packNames == ["p", "q"] && snapshot.packs[0].priority == 7 && snapshot.removedPacks.isEmpty)

      // Adding to it goes on where it was.
      try store.commit { try $0.remove("p", keepHistory: true) }
      #expect(try status { try store.commit { try $0.add("p", "/other") } } == PKS_HELD)
      try store.commit { try $0.unpin("p") }
      #expect(try Self.add(store, "/other", keep: 9).version.number == 3)
      #expect(try store.snapshot().versions(of: "p") == [3, 2, 1])
      #expect(try Self.faults(store).isEmpty)

      // Without its history it is gone, also when that is removed later.
      try store.commit { try $0.remove("p", keepHistory: true) }
      try store.commit { try $0.remove("p") }
      #expect(try store.snapshot().versions(of: "p").isEmpty)
      #expect(try status { try store.commit { try $0.remove("p") } } == PKS_NOT_FOUND)
    }

    /// What was promised to be mappable is so again.
    @Test func mapAssets() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", map: ["large", "tool"]) }
      let mapped = try store.state()["p"]?.mapped
      try store.commit { try $0.add("p", "/small") }
      try store.commit { try $0.rollBack("p") }
      #expect(mapped?.count == 2)
      #expect(try store.state()["p"]?.mapped == mapped)
      #expect(try Self.faults(store).isEmpty)
    }

    /// Two writers: what one of them rolls back the other must not have changed.
    @Test func conflicts() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      for folder in ["/one", "/two"] { try store.commit { try $0.add("p", folder) } }
      let back = try store.begin(), other = try store.begin(), pin = try store.begin()
      try back.rollBack("p")
      try pin.pin("p", 1)
      try other.add("p", "/small")
      _ = try other.commit()
      #expect(try status { _ = try back.commit() } == PKS_CONFLICT)
      #expect(try status { _ = try pin.commit() } == PKS_CONFLICT, "the version was dropped")
      #expect(try Self.content(store) == Change.folders["/small"])
    }

    /// A number that another writer had given, pinned and removed with its history came to mean other content: as there was
    /// no such pack before or after, nothing seemed to have changed.
    @Test func numbersOfRemovedPacks() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.remove("p", keepHistory: true) }
      let first = try store.begin()
      try first.add("p", "/two")
      try store.commit {
        try $0.add("p", "/other")
        try $0.pin("p", 2)
        try $0.remove("p", keepHistory: true)
      }
      #expect(try status { _ = try first.commit() } == PKS_CONFLICT)
      #expect(try store.snapshot().versions(of: "p") == [2, 1])
      #expect(try status { try store.commit { try $0.add("p", "/two", version: .max) } } == PKS_INVALID_ARGUMENT)
    }

    /// Any history of versions, removals, pins and ways back: each version is what it was, and no file is missing or left.
    @Test(arguments: 1...6) func randomHistories(_ number: UInt64) throws {
      let seed = testSeed(100 + number)
      var random = Random(seed), folders: [String: Folder] = [:]
      for index in 0..<5 {
        let base = seed + UInt64(index / 2)
        folders["/f\(index)"] = index % 2 == 0 ? .sample(seed: base) : .changedSample(seed: base)
      }
      let disk = Self.disk(folders), store = try Store(disk, create: true)
      var known: [String: [UInt64: Folder]] = [:]
      for round in 0..<40 {
        let pack = random.pick(["p", "q"]), place: Comment = "seed \(seed), round \(round)"
        let versions = try store.snapshot().versions(of: pack)
        let durability = random.chance(1, in: 3) ? PKS_ATOMIC : PKS_DURABLE
        try store.commit(durability, keep: UInt32(1 + random.below(3))) { transaction in
          switch random.below(8) {
          case 0 where !versions.isEmpty: try transaction.remove(pack, keepHistory: random.chance(2, in: 3))
          case 1 where !versions.isEmpty: try transaction.pin(pack, random.pick(versions))
          case 2...4 where !versions.isEmpty: try transaction.rollBack(pack, to: random.pick(versions))
          default:
            let folder = random.pick(folders.keys.sorted())
            if !versions.isEmpty { try transaction.unpin(pack) }
            let result = try transaction.add(pack, folder)
            known[pack, default: [:]][result.version.number] = folders[folder]
          }
        }
        let snapshot = try store.snapshot()
        for (name, state) in try snapshot.state() { #expect(state.content == known[name]?[state.version], place) }
        let faults = try snapshot.faults(deep: round % 8 == 0)
        #expect(faults.isEmpty, place)
      }
      #expect(!disk.hasLeaks || disk.list("/store/tmp").isEmpty)
    }
  }
}

extension Disk {
  /// The sizes of all data segments together, those that a later commit will collect included.
  var bytesOfFrames: Int {
    list("/store/segments").compactMap { read("/store/segments/\($0)") }.filter { $0[12] == 1 }.map(\.count).reduce(
      0, +)
  }
}
