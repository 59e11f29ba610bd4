import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Commits to a store of which parts are damaged: what cannot be known is kept, and the commit is done.
  @Suite struct DamagedCommitTests {
    /// Collection once failed with CORRUPT when it could not read a layout, and with it every commit: a store with one
    /// bad page could not even be added to.
    @Test func layoutOfTheCurrentGeneration() throws {
      let disk = try Self.disk()
      try Store(disk).commit { try $0.remove("q") }  // leaves garbage to collect
      let segments = Set(disk.list("/store/segments"))
      try Self.damageMetadata(of: disk)
      try Store(disk).commit { try $0.prioritise("p", 5) }
      #expect(Set(disk.list("/store/segments")).isSuperset(of: segments), "nothing is collected blindly")
      let state = try Store(disk).state()
      #expect(state["p"]?.content == Change.folders["/one"] && state["p"]?.priority == 5)
    }

    /// The same for a generation that a reader holds, of which a run or the very file is damaged.
    @Test(arguments: ["run", "generation"]) func pinnedGeneration(kind: String) throws {
      let disk = try Self.disk()
      let reader = try Store(disk, process: sim_start_process(disk.raw, 2))
      let snapshot = try reader.snapshot()
      try Store(disk).commit { try $0.remove("q") }
      let files = disk.list("/store/index").filter {
        kind == "run" ? $0.hasSuffix(".run") : $0 == Self.name(snapshot.generation)
      }
      let segments = Set(disk.list("/store/segments")), index = Set(disk.list("/store/index"))
      let damaged = try #require(files.first), path = "/store/index/\(damaged)"
      if kind == "run" {
        // Cut off, it cannot be opened: but a process that has mapped it may not touch the rest either.
        let bytes = try #require(disk.read(path))
        sim_corrupt(disk.raw, path, UInt64(bytes.count - 1), 1)
      } else {
        sim_corrupt(disk.raw, path, 30, 1)
      }
      let store = try? Store(disk)
      guard let store else { return #expect(kind == "run") }  // the current generation names that run, too
      try store.commit { try $0.prioritise("p", 5) }
      #expect(Set(disk.list("/store/segments")).isSuperset(of: segments))
      if kind == "generation" {
        #expect(Set(disk.list("/store/index")).isSuperset(of: index), "its runs are not known")
      }
      _ = snapshot
    }

    /// The generation of the slot that the commit leaves alone is gone or damaged.
    @Test(arguments: [true, false]) func sparedGeneration(isGone: Bool) throws {
      let disk = try Self.disk()
      try Store(disk).commit(PKS_ATOMIC) { try $0.add("r", "/small") }
      let store = try Store(disk)
      let current = try store.snapshot().generation
      let path = "/store/index/\(Self.name(current - 1))"
      #expect(disk.exists(path))
      if isGone { sim_remove(disk.raw, path) } else { sim_corrupt(disk.raw, path, 30, 1) }
      try store.commit(PKS_ATOMIC) { try $0.prioritise("p", 5) }
      #expect(try Store(disk).state()["p"]?.priority == 5)
    }

    /// Errors of the machine stay errors.
    @Test func otherFailures() throws {
      let disk = try Self.disk()
      try Store(disk).commit { try $0.remove("q") }
      let transaction = try Store(disk).begin()
      try transaction.prioritise("p", 5)
      sim_fail(disk.raw, SIM_CALL_READ, "*segments/*", 0, 5, true)
      sim_fail(disk.raw, SIM_CALL_MAP, "*segments/*", 0, 5, true)
      #expect(try status { _ = try transaction.commit() } == PKS_IO_ERROR)
    }

    /// What was found damaged is not referred to by what is added afterwards: once, a pack that was added again to mend
    /// the store lay in the damaged frames as before. Nor is a segment that comes to have the name of the damaged one
    /// taken for it.
    ///
    /// An atomic commit kept the damaged file of that name, as it keeps files that may be durable; and map assets were not
    /// asked at all.
    @Test(arguments: [PKS_DURABLE, PKS_ATOMIC], [[], ["*"]])
    func addingDoesNotReuseDamagedFrames(_ durability: pks_durability, map: [String]) throws {
      let disk = Disk(seed: 3), folder = Folder.sample(seed: 5)
      disk.put(folder, at: "/source")
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/source", map: map) }
      for segment in disk.list("/store/segments") {
        let path = "/store/segments/\(segment)"
        for frame in try frames(of: path, on: disk).prefix(1) { sim_corrupt(disk.raw, path, frame.lowerBound, 1) }
      }
      let snapshot = try store.snapshot()
      for path in folder.keys { _ = try? snapshot.find(path) }
      try store.commit(durability) { try $0.add("again", "/source", map: map) }
      #expect(try store.snapshot().descendants(in: 1).count == folder.count)
      #expect(try Store(disk).snapshot().descendants(in: 1).count == folder.count)
    }

    /// An add that began before a repair and was committed after it once referred to the segments that the repair had left
    /// behind, and the damage was back.
    @Test func stagedBeforeARepair() throws {
      let disk = try Self.disk(), store = try Store(disk)
      let transaction = try store.begin()
      try transaction.add("again", "/one")
      let segment = try #require(disk.list("/store/segments").first { disk.read("/store/segments/\($0)")![12] == 1 })
      let frame = try #require(try frames(of: "/store/segments/\(segment)", on: disk).first)
      sim_corrupt(disk.raw, "/store/segments/\(segment)", frame.lowerBound, 1)
      _ = try disk.repair()
      #expect(try status { _ = try transaction.commit() } == PKS_CONFLICT)
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    // MARK: Parts

    private static func name(_ generation: UInt64) -> String {
      let digits = String(generation, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits + ".generation"
    }

    private static func disk() throws -> Disk {
      let disk = Disk(seed: 12)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.add("q", "/other") }
      return disk
    }

    /// One byte in every frame of every metadata segment.
    private static func damageMetadata(of disk: Disk) throws {
      for segment in disk.list("/store/segments") {
        let path = "/store/segments/\(segment)"
        guard let bytes = disk.read(path), bytes[12] == PKS__SEGMENT_METADATA.rawValue else { continue }
        for frame in try frames(of: path, on: disk) { sim_corrupt(disk.raw, path, frame.lowerBound, 1) }
      }
    }
  }
}
