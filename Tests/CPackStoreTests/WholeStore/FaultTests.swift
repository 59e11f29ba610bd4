import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The machine says no: calls fail, the disk is full, memory is short. The store stays at the old generation or reaches the
  /// new one, says clearly what happened, and leaks nothing: no descriptor, lock, mapping or block of memory, and after the
  /// next commit no file either.
  @Suite struct FaultTests {
    // MARK: Failing calls

    /// Every call of every change fails, once; and from then on, of which `make test` tries every fifth. Says how many places
    /// in the core made a call that failed.
    @Test func everyCallFails() throws {
      var sites: Set<UInt> = [], failures = 0
      for change in Change.all + [.look] {
        let test = try FaultTest(change)
        for sticky in [false, true] {
          let step = sticky && Campaign.scale == 1 ? 5 : 1
          for call in stride(from: sticky ? Campaign.seed % UInt64(step) : 0, to: test.calls(SIM_CALL_ANY), by: step) {
            let place = "\(change.name), call \(call) fails\(sticky ? " from then on" : "")"
            let site = try test.run(place) { sim_fail($0.raw, SIM_CALL_ANY, nil, call, EIO, sticky) }
            if let site { sites.insert(site) }
            failures += 1
          }
        }
      }
      print("faults: \(failures) failing calls, from \(sites.count) places in the core")
      #expect(sites.count >= 80)
    }

    /// Errors that a call gives in ordinary life, where those who call may look at which one it is.
    @Test(arguments: [
      (SIM_CALL_MUTATING, ENOSPC), (SIM_CALL_OPEN, EMFILE), (SIM_CALL_OPEN, ENOMEM), (SIM_CALL_MAP, ENOMEM),
      (SIM_CALL_LOCK, ENOLCK), (SIM_CALL_ANY, EINTR), (SIM_CALL_MUTATING, EROFS), (SIM_CALL_ANY, EACCES),
    ])
    func everyCallFailsAsUsual(_ call: sim_call, _ error: Int32) throws {
      for change in [Change.firstAdd, .severalPacks, .collection] {
        let test = try FaultTest(change)
        for number in 0..<test.calls(call) {
          let place = "\(change.name), call \(number) of kind \(call.rawValue) fails with \(error)"
          try test.run(place) { sim_fail($0.raw, call, nil, number, error, false) }
        }
      }
    }

    /// A failed sync proves nothing, and neither does a later one that succeeds: what it was for is lost, or there in spite
    /// of the error, or there in part.
    @Test(arguments: [SIM_FAILED_SYNC_LOSES, SIM_FAILED_SYNC_KEEPS, SIM_FAILED_SYNC_RANDOM])
    func everySyncFails(_ mode: sim_failed_sync) throws {
      for change in Change.durable {
        let test = try FaultTest(change)
        for sync in 0..<test.calls(SIM_CALL_SYNC) {
          // Runs that could not be joined stay as they are.
          try test.run("\(change.name), sync \(sync) fails", expects: [PKS_OK, PKS_IO_ERROR]) {
            sim_set_failed_sync($0.raw, mode)
            sim_fail($0.raw, SIM_CALL_SYNC, nil, sync, EIO, false)
          }
        }
      }
    }

    // MARK: A full disk

    @Test(arguments: [
      Change.create, .firstAdd, .severalPacks, .merge, .mapUpdate, .chain, .delivery, .deliveryByList,
    ])
    func everyBudget(_ change: Change) throws {
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

    @Test(arguments: [
      Change.create, .firstAdd, .severalPacks, .selection, .collectionBesideReader, .merge, .mapUpdate,
      .durableOnAtomic,
      .resumedDelivery, .deliveryByList, .delta, .chain, .deliveryByDelta, .deliveryByChain,
    ])
    func everyAllocationFails(_ change: Change) throws {
      let test = try FaultTest(change)
      for sticky in [false, true] {
        var ordinal: UInt64 = 0, refusals = 0
        while true {
          var made: UInt64 = 0
          let start = pks__memory_counts_now().allocations
          try test.run("\(change.name), allocation \(ordinal) fails", expects: [PKS_OK, PKS_OUT_OF_MEMORY]) { _ in
            pks__memory_fail_at(ordinal, sticky)
          } afterwards: { status in
            made = pks__memory_counts_now().allocations - start
            pks__memory_fail_at(UInt64.max, false)
            refusals += status == PKS_OK ? 0 : 1
          }
          if ordinal >= made { break }
          ordinal += 1
        }
        #expect(refusals >= 10)
      }
    }
  }
}

/// A change that is performed again and again, each time with another fault.
private struct FaultTest {
  let trial: Trial
  private let end: Disk

  init(_ change: Change) throws {
    trial = try Trial(change)
    end = trial.base.clone()
    try trial.perform(end)
  }

  /// Calls of a kind that the change makes.
  func calls(_ call: sim_call) -> UInt64 { sim_call_count(end.raw, call) }

  /// Performs the change with a fault and looks at what it left. Returns which place in the core made the call that failed.
  @discardableResult
  func run(
    _ place: String,
    expects: [pks_status] = [
      PKS_OK, PKS_IO_ERROR, PKS_REFUSED, PKS_NO_SPACE, PKS_OUT_OF_MEMORY, PKS_READ_ONLY, PKS_BUSY,
    ],
    inject: (Disk) -> Void, afterwards: (pks_status) -> Void = { _ in }
  ) throws -> UInt? {
    let disk = trial.base.clone()
    let memory = pks__memory_counts_now().open
    inject(disk)
    let result = try status { try trial.perform(disk) }
    afterwards(result)
    sim_clear_faults(disk.raw)
    sim_set_failed_sync(disk.raw, SIM_FAILED_SYNC_LOSES)
    // What cannot be read of a damaged control file may hide a commit: then nothing is written.
    let isRefused = result == PKS_CORRUPT && !trial.earlierFaults.isEmpty
    // What cannot be read of the cache folder counts as gone.
    let isPurged = result == PKS_PURGED && !trial.base.cacheSegments.isEmpty
    #expect(expects.contains(result) || isRefused || isPurged, "\(place): status \(result.rawValue)")
    #expect(pks__memory_counts_now().open == memory, "\(place): memory leaks")
    #expect(!disk.hasLeaks, "\(place): \(disk.counts)")
    let verdict = result == PKS_OK ? trial.finished : trial.interrupted
    for mode in [SIM_CRASH_MIN, SIM_CRASH_MAX] {
      #expect(try verdict.allowed.contains(Shown(disk.crash(mode))), "\(place): after a loss of power")
    }
    // An atomic generation's slot is written over in place, and cannot be put back where no call succeeds any more.
    let live = trial.standsOnAtomic ? trial.liveStates + trial.interrupted.allowed : trial.liveStates
    #expect(try live.contains(Shown(disk)), "\(place): shows another state")
    // A store whose making failed, and whose control file could not be taken back either, is there until the power goes.
    guard try result == PKS_OK || trial.base.exists("/store/CONTROL") || Shown(disk) == .nothing else {
      return site(disk)
    }
    let wrong = trial.whatIsWrongAfterRecovery(of: disk, hasFailed: result != PKS_OK)
    #expect(wrong == nil, "\(place)")
    return site(disk)
  }

  private func site(_ disk: Disk) -> UInt? {
    return sim_failed_site(disk.raw).map { UInt(bitPattern: $0) }
  }
}
