import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The power goes at every call that changes the disk. What is left opens at the old generation or at the new one, whole, and
  /// can be written to again.
  @Suite struct CrashTests {
    /// Every cut of every change: nothing unsynced survives, all of it, and several mixtures; all mixtures where they are few.
    @Test(arguments: Change.all) func everyCut(_ change: Change) throws {
      let base = try change.start()
      let before = try change.state(of: base)
      let end = try Self.finish(change, base)
      let after = try change.state(of: end.disk)
      #expect(before != after || change.name == Change.collection.name)
      for cut in 0...(end.calls + 1) {
        let disk = base.clone()
        sim_stop_after(disk.raw, cut)
        let finished = (try? change.perform(disk)) != nil
        #expect(finished || cut <= end.calls)
        for (index, left) in disk.crashes(budget: 6, seed: cut).enumerated() {
          let place: Comment = "\(change.name), cut \(cut) of \(end.calls), state \(index)"
          #expect(
            whatIsWrong(with: left, allowed: finished ? [after] : [before, after], deep: index < 2) == nil, place)
          #expect(whatIsWrongWithNext(on: left) == nil, place)
        }
      }
    }

    /// The power goes again while the store that survived is opened and written to.
    @Test func everyCutOfRecovery() throws {
      let base = try Change.secondVersion.start()
      let calls = try Self.finish(.secondVersion, base).calls
      for cut in stride(from: UInt64(1), through: calls, by: 4) {
        let disk = base.clone()
        sim_stop_after(disk.raw, cut)
        try? Change.secondVersion.perform(disk)
        let left = disk.crash(SIM_CRASH_RANDOM, seed: cut)
        let before = try Store(left).state()
        let recovery = Change(name: "recovery", prepare: { _ in }, perform: performNext)
        let end = try Self.finish(recovery, left).calls
        for second in 0...end {
          let again = left.clone()
          sim_stop_after(again.raw, second)
          let finished = (try? performNext(again)) != nil
          for (index, state) in again.crashes(budget: 3, seed: second).enumerated() {
            let allowed = finished ? [before.next] : [before, before.next]
            #expect(
              whatIsWrong(with: state, allowed: allowed, deep: index == 0) == nil,
              "cuts \(cut), \(second), state \(index)")
          }
        }
      }
    }

    /// Each sync is needed: where one claims success and does nothing, some cut leaves a store that is broken or has lost
    /// what was committed.
    @Test(arguments: [Change.create, .firstAdd, .secondVersion]) func everySyncIsNeeded(_ change: Change) throws {
      let base = try change.start()
      let before = try change.state(of: base)
      let end = try Self.finish(change, base)
      let after = try change.state(of: end.disk)
      #expect(end.syncs >= 5)
      for ignored in 0..<end.syncs {
        #expect(
          Self.badStateIsFound(change, base, end.calls, ignored, before, after),
          "sync \(ignored) of \(end.syncs) is of no use")
      }
    }

    private static func badStateIsFound(
      _ change: Change, _ base: Disk, _ calls: UInt64, _ ignored: UInt64, _ before: StoreState?, _ after: StoreState?
    ) -> Bool {
      for cut in (0...(calls + 1)).reversed() {
        let disk = base.clone()
        sim_ignore_sync(disk.raw, ignored)
        sim_stop_after(disk.raw, cut)
        let finished = (try? change.perform(disk)) != nil
        for left in disk.crashes(budget: 12, seed: cut) {
          if whatIsWrong(with: left, allowed: finished ? [after] : [before, after]) != nil { return true }
        }
      }
      return false
    }

    /// Performs a change to its end: how many calls changed the disk, and how many were syncs.
    private static func finish(_ change: Change, _ base: Disk) throws -> (disk: Disk, calls: UInt64, syncs: UInt64) {
      let disk = base.clone()
      try change.perform(disk)
      #expect(!disk.hasLeaks)
      return (disk, sim_operation_count(disk.raw), sim_call_count(disk.raw, SIM_CALL_SYNC))
    }
  }
}
