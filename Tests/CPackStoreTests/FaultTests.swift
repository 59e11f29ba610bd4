import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The machine says no: calls fail, the disk is full, memory is short. The store stays at the old generation or reaches the
  /// new one, says clearly what happened, and leaks nothing.
  @Suite struct FaultTests {
    private static let changes = [Change.firstAdd, .severalPacks, .merge, .mapUpdate]

    // MARK: Failing calls

    @Test(arguments: [Change.create] + changes) func everyCallFailsOnce(_ change: Change) throws {
      try Self.failEveryCall(change, sticky: false)
    }

    @Test(arguments: [Change.severalPacks]) func everyCallFailsFromThenOn(_ change: Change) throws {
      try Self.failEveryCall(change, sticky: true)
    }

    private static func failEveryCall(_ change: Change, sticky: Bool) throws {
      let base = try change.start(), before = try change.state(of: base)
      let end = base.clone()
      try change.perform(end)
      let after = try change.state(of: end)
      let calls = sim_call_count(end.raw, SIM_CALL_ANY)
      #expect(calls > 20)
      for call in 0..<calls {
        let disk = base.clone()
        let place: Comment = "\(change.name), call \(call) of \(calls)"
        let memory = pks__memory_counts_now().open
        sim_fail(disk.raw, SIM_CALL_ANY, nil, call, EIO, sticky)
        let status = try status { try change.perform(disk) }
        sim_clear_faults(disk.raw)
        #expect([PKS_OK, PKS_IO_ERROR, PKS_REFUSED].contains(status), "\(place): status \(status.rawValue)")
        #expect(!disk.hasLeaks, "\(place): \(disk.counts)")
        #expect(pks__memory_counts_now().open == memory, place)
        #expect(whatIsWrong(with: disk, allowed: status == PKS_OK ? [after] : [before, after]) == nil, place)
        for mode in [SIM_CRASH_MIN, SIM_CRASH_MAX] {
          let left = disk.crash(mode)
          #expect(
            whatIsWrong(with: left, allowed: status == PKS_OK ? [after] : [before, after], deep: false) == nil, place)
        }
        #expect(whatIsWrongWithNext(on: disk) == nil, place)
      }
    }

    // MARK: A full disk

    @Test(arguments: [Change.create] + changes) func everyBudget(_ change: Change) throws {
      let base = try change.start(), before = try change.state(of: base)
      let used = sim_used_bytes(base.raw)
      let end = base.clone()
      try change.perform(end)
      let after = try change.state(of: end)
      var refusals = 0, budget = used, isDone = false
      while !isDone {
        let disk = base.clone()
        let place: Comment = "\(change.name), \(budget - used) bytes"
        sim_set_capacity(disk.raw, budget)
        do {
          try change.perform(disk)
          isDone = true
          #expect(try change.state(of: disk) == after, place)
        } catch let failure as Failure {
          refusals += 1
          #expect(failure.status == PKS_NO_SPACE, "\(place): \(failure)")
          #expect(whatIsWrong(with: disk, allowed: [before]) == nil, place)
        }
        #expect(!disk.hasLeaks, place)
        sim_set_capacity(disk.raw, UInt64.max)
        #expect(whatIsWrongWithNext(on: disk) == nil, place)
        budget += 512
      }
      #expect(refusals > 0)
    }

    // MARK: Short memory

    @Test(arguments: changes) func everyAllocationFailsOnce(_ change: Change) throws {
      let base = try change.start(), before = try change.state(of: base)
      let end = base.clone()
      try change.perform(end)
      let after = try change.state(of: end)
      var ordinal: UInt64 = 0, refusals = 0
      while true {
        let disk = base.clone()
        let counts = pks__memory_counts_now()
        pks__memory_fail_at(ordinal, false)
        let status = try status { try change.perform(disk) }
        let made = pks__memory_counts_now().allocations - counts.allocations
        pks__memory_fail_at(UInt64.max, false)
        let place: Comment = "\(change.name), allocation \(ordinal)"
        refusals += status == PKS_OK ? 0 : 1
        #expect([PKS_OK, PKS_OUT_OF_MEMORY].contains(status), "\(place): status \(status.rawValue)")
        #expect(pks__memory_counts_now().open == counts.open, place)
        #expect(!disk.hasLeaks, "\(place): \(disk.counts)")
        #expect(whatIsWrong(with: disk, allowed: status == PKS_OK ? [after] : [before, after]) == nil, place)
        if ordinal >= made { break }
        ordinal += 1
      }
      #expect(refusals > 20)
    }
  }
}
