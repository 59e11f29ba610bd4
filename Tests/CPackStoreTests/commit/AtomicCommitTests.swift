import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Commits without syncs: whole after a crash of the process, and gone as a whole, without harm, after a loss of power.
  @Suite struct AtomicCommitTests {
    private static let atomic = Change(
      name: "atomic second version",
      prepare: { disk in try Store(disk, create: true).commit { try $0.add("p", "/one") } },
      perform: { disk in
        try Store(disk).commit(PKS_ATOMIC) {
          try $0.add("p", "/two")
          try $0.add("q", "/other")
        }
      })

    /// A reader looked at the control file while an atomic commit was writing the current slot. For that moment the other
    /// slot counted, of an older generation that a snapshot of the same process held. The reader locked its byte, saw the
    /// newer generation at the second look, and unlocked the byte: with that the older snapshot's hold was gone, and the
    /// next collection took its files.
    @Test func aHalfWrittenSlotCostsNoSnapshotItsHold() throws {
      let disk = Disk(), seam = Seam(disk)
      disk.put(["f": .file("one")], at: "/one")
      disk.put(["f": .file("two")], at: "/two")
      let writer = try Store(disk, create: true)
      try writer.commit(keep: 1) { try $0.add("p", "/one") }
      let reader = try Store("/store", seam: seam)
      let held = try reader.snapshot()
      try writer.commit(PKS_ATOMIC, keep: 1) { try $0.add("p", "/two") }
      _ = try reader.snapshot()
      try writer.commit(PKS_ATOMIC, keep: 1) { try $0.add("p", "/one") }
      let slots = try #require(disk.read("/store/CONTROL"))
      let newest = ControlFile.copies(of: ControlFile.newestSlot(in: slots))
      var isTorn = false
      func flip() {
        isTorn.toggle()
        disk.damageControl(newest)
      }
      var wasTorn = false
      seam.onCall = { call in
        if call == .read && !wasTorn { flip() }
        if call == .lock && isTorn { flip() }
        wasTorn = true
        return 0
      }
      let now = try reader.snapshot()
      seam.onCall = nil
      #expect(wasTorn && !isTorn)
      #expect(now.generation == held.generation + 2)
      try writer.commit(keep: 1) { try $0.add("p", "/two") }
      try writer.commit(keep: 1) { try $0.add("q", "/two") }
      try writer.commit(keep: 1) { try $0.prioritise("q", 1) }
      #expect(try held.faults(deep: true) == [])
      #expect(try held.find("f").node == .file("one"))
    }

    @Test func nothingIsSynced() throws {
      let disk = try Self.atomic.start()
      let before = sim_call_count(disk.raw, SIM_CALL_SYNC)
      try Self.atomic.perform(disk)
      #expect(sim_call_count(disk.raw, SIM_CALL_SYNC) == before)
    }

    /// After a loss of power the machine's boot id is another: the last durable generation counts, whatever survived.
    @Test func everyCutOfPowerGivesTheDurableGeneration() throws {
      let base = try Self.atomic.start(), before = try Store(base).state()
      let calls = try Self.calls(base)
      for cut in 0...(calls + 1) {
        let disk = base.clone()
        sim_stop_after(disk.raw, cut)
        try? Self.atomic.perform(disk)
        for (index, left) in disk.crashes(budget: 8, seed: cut).enumerated() {
          #expect(whatIsWrong(with: left, allowed: [before]) == nil, "cut \(cut), state \(index)")
          #expect(whatIsWrongWithNext(on: left) == nil, "cut \(cut), state \(index)")
        }
      }
    }

    /// After the process alone has died everything it wrote is there.
    @Test func everyDeathOfTheProcessGivesOldOrNew() throws {
      let base = try Self.atomic.start(), before = try Store(base).state()
      let calls = try Self.calls(base)
      let end = base.clone()
      try Self.atomic.perform(end)
      let after = try Store(end).state()
      for cut in 0...(calls + 1) {
        let disk = base.clone()
        sim_stop_after(disk.raw, cut)
        let finished = (try? Self.atomic.perform(disk)) != nil
        let left = disk.clone()  // the same start of the machine
        #expect(whatIsWrong(with: left, allowed: finished ? [after] : [before, after]) == nil, "cut \(cut)")
        #expect(whatIsWrongWithNext(on: left) == nil, "cut \(cut)")
      }
    }

    /// Several atomic commits leave the durable generation's slot and files alone.
    @Test func manyInARow() throws {
      let disk = try Self.atomic.start(), durable = try Store(disk).state()
      let store = try Store(disk)
      for round in 0..<6 {
        try store.commit(PKS_ATOMIC, keep: 1) { try $0.add("p", round % 2 == 0 ? "/two" : "/other") }
        for (index, left) in disk.crashes(budget: 6, seed: UInt64(round)).enumerated() {
          #expect(whatIsWrong(with: left, allowed: [durable]) == nil, "round \(round), state \(index)")
        }
      }
      #expect(try store.state()["p"]?.content == Change.folders["/other"])
    }

    /// A durable commit makes the atomic ones before it durable, and each of its syncs is needed for that.
    @Test func durableAfterAtomic() throws {
      let durable = Change(
        name: "durable after atomic",
        prepare: { disk in
          let store = try Store(disk, create: true)
          try store.commit(PKS_ATOMIC) { try $0.add("p", "/one") }
          try store.commit(PKS_ATOMIC) { try $0.add("q", "/other") }
        }, perform: { disk in try Store(disk).commit { try $0.prioritise("p", 4) } })
      let base = try durable.start(), before = try Store(base.crash(SIM_CRASH_MIN)).state()
      let end = base.clone()
      try durable.perform(end)
      let after = try Store(end).state()
      #expect(after.count == 2 && after["p"]?.priority == 4)
      let calls = sim_operation_count(end.raw), syncs = sim_call_count(end.raw, SIM_CALL_SYNC)
      for cut in 0...(calls + 1) {
        let disk = base.clone()
        sim_stop_after(disk.raw, cut)
        let finished = (try? durable.perform(disk)) != nil
        for (index, left) in disk.crashes(budget: 8, seed: cut).enumerated() {
          #expect(
            whatIsWrong(with: left, allowed: finished ? [after] : [before, after]) == nil, "cut \(cut), state \(index)")
        }
      }
      for ignored in 0..<syncs {
        let disk = base.clone()
        sim_ignore_sync(disk.raw, ignored)
        try durable.perform(disk)
        let isRed = disk.crashes(budget: 40, seed: ignored).contains { whatIsWrong(with: $0, allowed: [after]) != nil }
        #expect(isRed, "sync \(ignored) of \(syncs) is of no use")
      }
    }

    /// The slot of an atomic generation is written over in place. A write that failed half-way left it damaged, and the store
    /// went back to the durable generation before, although the power had stayed on.
    @Test func aControlWriteThatFails() throws {
      let disk = try Self.atomic.start(), store = try Store(disk)
      try Self.atomic.perform(disk)
      let shown = try store.state()
      for durability in [PKS_ATOMIC, PKS_DURABLE] {
        sim_fail(disk.raw, SIM_CALL_WRITE, "*/CONTROL", 0, EIO, false)
        #expect(try status { try store.commit(durability) { try $0.prioritise("p", 5) } } == PKS_IO_ERROR)
        #expect(try Store(disk).state() == shown)
      }
    }

    /// A durable and an atomic transaction had stored the same bytes, each for its own pack: the atomic one, which comes second,
    /// must not put its unsynced file in the place of the durable one.
    @Test func equalSegmentsOfTwoWriters() throws {
      let disk = Disk()
      disk.put(.sample(seed: 3), at: "/one")
      let store = try Store(disk, create: true)
      let first = try store.begin(PKS_DURABLE), second = try store.begin(PKS_ATOMIC)
      try first.add("p", "/one")
      try second.add("q", "/one")
      _ = try first.commit()
      let durable = try store.state()
      _ = try second.commit()
      #expect(try store.state().count == 2)
      for (index, left) in disk.crashes(budget: 60, seed: 1).enumerated() {
        #expect(whatIsWrong(with: left, allowed: [durable]) == nil, "state \(index)")
      }
    }

    private static func calls(_ base: Disk) throws -> UInt64 {
      let disk = base.clone()
      try atomic.perform(disk)
      return sim_operation_count(disk.raw)
    }
  }
}
