import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The disk claims success and does something else: reads show flipped bits, other places, old content or too little;
  /// writes get lost or hit another place. That is noticed, or does no harm: what is shown is what was committed, or an error.
  @Suite struct LyingDiskTests {
    private static let ofReads = [SIM_LIE_FLIPPED, SIM_LIE_MISDIRECTED, SIM_LIE_STALE, SIM_LIE_SHORT]
    private static let ofWrites = [SIM_LIE_FLIPPED, SIM_LIE_MISDIRECTED, SIM_LIE_LOST]

    /// Opening a store and reading all of it. An old control file shows the generation before, whole.
    @Test(arguments: ofReads) func lyingReads(_ lie: sim_lie) throws {
      let base = try Change.secondVersion.start()
      let old = try Shown(base.clone())
      try Change.secondVersion.perform(base)
      let new = try Shown(base.clone())
      try Self.everyCall(of: [SIM_CALL_READ, SIM_CALL_MAP], lie, on: base, perform: { _ = try Shown($0) }) {
        disk, place in
        guard let shown = try Self.errorOrResult({ try Shown(disk) }), shown != .nothing else { return }
        #expect(shown == new || (lie == SIM_LIE_STALE && shown == old), "\(place)")
      }
    }

    /// A change beside reads that lie: it fails, or what it commits is right. The source folder is not ours to check.
    @Test(arguments: ofReads) func lyingReadsOfWriters(_ lie: sim_lie) throws {
      for change in [Change.severalPacks, .merge, .mapUpdate, .resumedDelivery] {
        try Self.everyCallOfChange([SIM_CALL_READ, SIM_CALL_MAP], lie, change)
      }
    }

    /// A change whose writes go elsewhere: what was hit is noticed when it is read.
    @Test(arguments: ofWrites) func lyingWrites(_ lie: sim_lie) throws {
      for change in [Change.create, .firstAdd, .severalPacks, .collection, .resumedDelivery] {
        try Self.everyCallOfChange([SIM_CALL_WRITE], lie, change)
      }
    }

    private static func everyCallOfChange(_ calls: [sim_call], _ lie: sim_lie, _ change: Change) throws {
      let trial = try Trial(change)
      try everyCall(of: calls, lie, on: trial.base, perform: trial.perform) { disk, place in
        _ = try errorOrResult { try trial.perform(disk) }
        sim_clear_faults(disk.raw)
        guard let shown = try errorOrResult({ try Shown(disk) }), shown != .nothing else { return }
        #expect(trial.liveStates.contains(shown), "\(place)")
      }
    }

    /// Lets each call of some kinds lie in turn, in a few ways.
    private static func everyCall(
      of calls: [sim_call], _ lie: sim_lie, on base: Disk, perform: (Disk) throws -> Void,
      check: (Disk, String) throws -> Void
    ) throws {
      for call in calls {
        let whole = base.clone()
        try perform(whole)
        for number in 0..<sim_call_count(whole.raw, call) {
          for seed in 0..<3 + Campaign.scale {
            let disk = base.clone(), memory = pks__memory_counts_now().open
            let place = "lie \(lie.rawValue), call \(number) of kind \(call.rawValue), seed \(Campaign.seed) + \(seed)"
            sim_tell_lie(disk.raw, lie, call, "/store/*", number, Campaign.seed &+ seed, false)
            try check(disk, place)
            #expect(!disk.hasLeaks, "\(place): \(disk.counts)")
            #expect(pks__memory_counts_now().open == memory, "\(place): memory leaks")
          }
        }
      }
    }

    /// `nil` when the core reports an error, whichever.
    private static func errorOrResult<Result>(_ body: () throws -> Result) throws -> Result? {
      do { return try body() } catch is Failure { return nil }
    }
  }
}
