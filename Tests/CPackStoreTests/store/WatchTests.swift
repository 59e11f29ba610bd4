import CPackStore
import CPackStoreTesting
import Testing

extension Store {
  /// The newest generation's number, by the cheap check.
  func newest() throws -> UInt64 {
    var generation: UInt64 = 0
    try attempt { pks_store_generation(&generation, raw, $0) }
    return generation
  }
}

extension Core {
  /// A store that moved on is seen by every process, at once, and costs nothing to look for while it did not.
  @Suite struct WatchTests {
    private static func disk() throws -> Disk {
      let disk = Disk()
      for number in 0..<4 { disk.put(["f": .file("\(number)")], at: "/\(number)") }
      try Store(disk, create: true).commit { try $0.add("p", "/0") }
      return disk
    }

    private static func calls(_ disk: Disk) -> UInt64 { sim_call_count(disk.raw, SIM_CALL_ANY) }

    @Test func anUnchangedStoreIsLookedAtWithoutACall() throws {
      let disk = try Self.disk(), store = try Store(disk)
      let before = Self.calls(disk)
      for _ in 0..<3 {
        #expect(try store.newest() == 2)
        #expect(try store.snapshot().generation == 2)
      }
      #expect(Self.calls(disk) == before)
    }

    @Test(arguments: [PKS_DURABLE, PKS_ATOMIC]) func whatOthersCommitIsSeenAtOnce(_ durability: pks_durability) throws {
      let disk = try Self.disk(), reader = try Store(disk)
      let writer = try Store(disk, process: sim_start_process(disk.raw, 2))
      for round in UInt64(3)..<9 {
        try writer.commit(durability) { try $0.add("p", "/\(round % 4)") }
        #expect(try reader.newest() == round)
        let snapshot = try reader.snapshot()
        #expect(snapshot.generation == round)
        #expect(try snapshot.find("f").node == .file("\(round % 4)"))
        let before = Self.calls(disk)
        #expect(try reader.newest() == round)
        #expect(try reader.snapshot().generation == round)
        #expect(Self.calls(disk) == before, "seen once, it costs nothing any more")
      }
    }

    /// Where the control file cannot be mapped it is read, each time.
    @Test(arguments: [true, false]) func withoutAMapping(_ isRefused: Bool) throws {
      let disk = try Self.disk(), seam = Seam(disk)
      var maps = 0
      // The first mapping of a store is that of its control file.
      seam.onCall = { call in
        maps += call == .map ? 1 : 0
        return isRefused && call == .map && maps == 1 ? 12 : 0  // ENOMEM
      }
      seam.isMappingLive = isRefused
      let reader = try Store("/store", seam: seam)
      let writer = try Store(disk, process: sim_start_process(disk.raw, 2))
      for round in UInt64(3)..<6 {
        try writer.commit { try $0.add("p", "/\(round % 4)") }
        for _ in 0..<2 {
          let before = sim_call_count(disk.raw, SIM_CALL_READ)
          #expect(try reader.newest() == round)
          #expect(sim_call_count(disk.raw, SIM_CALL_READ) == before + 1)
        }
        #expect(try reader.snapshot().generation == round)
      }
    }

    /// The number of the new generation may arrive before the rest of its slot does, of either copy. A reader that looks in between
    /// reads copies that fail their sums: the new generation, whose files are all there, or the old one; when the rest has
    /// arrived, it must be the new one.
    @Test func aSlotThatArrivesInParts() throws {
      let disk = try Self.disk(), old = try #require(disk.read("/store/CONTROL"))
      try Store(disk).commit { try $0.add("p", "/1") }
      let new = try #require(disk.read("/store/CONTROL")), slot = ControlFile.newestSlot(in: new)
      for mask in 0..<256 {  // which parts of the copies arrived: four pieces of 128 bytes of each
        sim_put_file(disk.raw, "/store/CONTROL", old, old.count)
        let reader = try Store(disk)
        #expect(try reader.newest() == 2)
        var torn = old
        for part in 0..<8 where mask >> part & 1 == 1 {
          let begin = ControlFile.Copy(slot: slot, number: part / 4).offset + part % 4 * 128
          torn.replaceSubrange(begin..<begin + 128, with: new[begin..<begin + 128])
        }
        sim_put_file(disk.raw, "/store/CONTROL", torn, torn.count)
        // What a mapping shows of the first copy says when to look; any other part that is new is as good as all.
        let seen: UInt64 = mask & 1 == 0 ? 2 : 3
        #expect(try reader.newest() == seen, "parts \(mask)")
        #expect(try reader.snapshot().generation == seen, "parts \(mask)")
        sim_put_file(disk.raw, "/store/CONTROL", new, new.count)
        #expect(try reader.newest() == 3, "parts \(mask)")
        #expect(try reader.snapshot().generation == 3, "parts \(mask)")
      }
    }

    /// An atomic commit that the machine's restart took back leaves its number in its slot. The next commit has the same
    /// number, and writes the same slot: no number changes, and yet it must be seen.
    @Test func aNumberThatComesTwice() throws {
      let disk = try Self.disk()
      try Store(disk).commit(PKS_ATOMIC) { try $0.add("p", "/1") }
      let after = disk.crash(SIM_CRASH_MAX), reader = try Store(after)
      #expect(try reader.newest() == 2)
      #expect(try reader.snapshot().find("f").node == .file("0"))
      let writer = try Store(after, process: sim_start_process(after.raw, 2))
      #expect(try writer.commit { try $0.add("p", "/2") } == 3)
      #expect(try reader.newest() == 3)
      #expect(try reader.snapshot().find("f").node == .file("2"))
    }

    /// Numbers that no commit wrote are read about, and believed no more than that.
    @Test func nonsense() throws {
      let disk = try Self.disk(), control = try #require(disk.read("/store/CONTROL")), reader = try Store(disk)
      for bit in 0..<64 {
        for copy in ControlFile.copies {
          _ = sim_corrupt(disk.raw, "/store/CONTROL", UInt64(copy.offset + 32 + bit / 8), 1 << (bit % 8))
          #expect(try reader.newest() == 2)
          _ = sim_corrupt(disk.raw, "/store/CONTROL", UInt64(copy.offset + 32 + bit / 8), 1 << (bit % 8))
          #expect(try reader.newest() == 2)
        }
      }
      #expect(disk.read("/store/CONTROL") == control)
    }
  }
}
