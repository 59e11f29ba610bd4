import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The disk is full: the owner is asked, purgeable data goes, and what failed is done.
  @Suite struct LowSpaceTests {
    /// A store with a purgeable pack of 60 KB and a durable one, on a disk on which nothing else is.
    private static func disk() throws -> Disk {
      let disk = Disk(seed: 9)
      var random = Random(4)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      disk.put(["big": .file(random.bytes(60_000))], at: "/big")
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("d", "/small") }
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/big") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      return disk
    }

    private static func addOne(_ disk: Disk, _ owner: Store.RoomOwner?) throws {
      try Store(disk, owner: owner).commit { try $0.add("q", "/one") }
    }

    /// However little room is left: what fits only without the purgeable pack is committed, and that pack is purged.
    @Test func purgeableDataMakesRoom() throws {
      let base = try Self.disk(), used = sim_used_bytes(base.raw)
      var madeRoom = 0, room: UInt64 = 0
      while room < 100_000 {
        let disk = base.clone(), alone = base.clone(), owner = Store.RoomOwner(agrees: true)
        sim_set_capacity(disk.raw, used + room)
        sim_set_capacity(alone.raw, used + room)
        let without = try status { try Self.addOne(alone, nil) }, with = try status { try Self.addOne(disk, owner) }
        #expect(without == PKS_OK || without == PKS_NO_SPACE)
        #expect(with == PKS_OK && !disk.hasLeaks, "room for \(room) bytes")
        #expect(owner.asked.isEmpty == (without == PKS_OK))
        if without != PKS_OK {
          madeRoom += 1
          #expect(try Store(disk).snapshot().availability(of: "p").missing_asset_count == 1)
        }
        let store = try Store(disk), snapshot = try store.snapshot()
        #expect(try snapshot.readable("q").content == Change.folders["/one"])
        #expect(try snapshot.readable("d").content == Change.folders["/small"])
        room += 3_000
      }
      #expect(madeRoom > 3)
    }

    /// An owner who does not agree keeps what there is.
    @Test func theOwnerDecides() throws {
      let disk = try Self.disk(), owner = Store.RoomOwner(agrees: false)
      sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + 4_096)
      #expect(try status { try Self.addOne(disk, owner) } == PKS_NO_SPACE)
      #expect(owner.asked.count >= 1)
      let snapshot = try Store(disk).snapshot()
      #expect(try snapshot.availability(of: "p").missing_bytes == 0 && !snapshot.packNames.contains("q"))
    }

    /// Durable data never goes: without anything purgeable it fails as ever.
    @Test func nothingDurableGoes() throws {
      let disk = try Self.disk()
      disk.vanish(disk.cacheSegments[0])
      sim_set_capacity(disk.raw, sim_used_bytes(disk.raw) + 4_096)
      #expect(try status { try Self.addOne(disk, .init(agrees: true)) } == PKS_NO_SPACE)
      #expect(try Store(disk).snapshot().readable("d").content == Change.folders["/small"])
      #expect(!disk.hasLeaks)
    }

    /// Each call that changes the disk finds it full, once: but for syncs it is made again, and the commit is done.
    @Test func everyCallFindsTheDiskFull() throws {
      let base = try Self.disk(), counted = base.clone()
      let before = sim_call_count(counted.raw, SIM_CALL_MUTATING)
      try Self.addOne(counted, nil)
      let calls = sim_call_count(counted.raw, SIM_CALL_MUTATING) - before
      var done = 0
      for call in 0..<calls {
        let disk = base.clone()
        sim_fail(disk.raw, SIM_CALL_MUTATING, nil, call, ENOSPC, false)
        let result = try status { try Self.addOne(disk, .init(agrees: true)) }
        #expect((result == PKS_OK || result == PKS_NO_SPACE) && !disk.hasLeaks, "call \(call)")
        done += result == PKS_OK ? 1 : 0
        let store = try Store(disk), snapshot = try store.snapshot()
        #expect(snapshot.packNames.contains("q") == (result == PKS_OK) || result == PKS_NO_SPACE, "call \(call)")
        #expect(try snapshot.readable("d").content == Change.folders["/small"])
        try store.commit { try $0.add("r", "/two") }
        #expect(try store.snapshot().readable("r").content == Change.folders["/two"])
      }
      #expect(done > Int(calls) / 2, "\(done) of \(calls)")
    }
  }
}
