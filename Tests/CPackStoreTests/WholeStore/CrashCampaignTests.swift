import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The power goes at every call that changes the disk, in every change of a store, and again while the store that survived
  /// is opened and written to. Whatever of the unsynced writes and names survives, whole, torn at a sector or in another
  /// order: the store shows the old generation or the new one, byte for byte.
  @Suite struct CrashCampaignTests {
    /// Distinct states of the disk, by the names and bytes in the store's folder.
    private static let target = 40_000 * Int(Campaign.scale)
    private static let workers = ProcessInfo.processInfo.activeProcessorCount

    @Test func everyStateIsOldOrNew() throws {
      let start = ContinuousClock.now
      let seen = SeenStates()
      // A disk belongs to one thread: each worker has trials of its own.
      let trials = try (0..<Self.workers).map { _ in try Change.all.map { try Trial($0) } }
      DispatchQueue.concurrentPerform(iterations: Self.workers) { worker in
        var explorer = Explorer(seen: seen)
        seen.run {
          for (index, trial) in trials[worker].enumerated() {
            for cut in 0...(trial.calls + 1) where (Int(cut) + index) % Self.workers == worker {
              try explorer.interrupt(trial, after: cut)
            }
          }
          var states = -1
          while seen.distinct < Self.target, explorer.newStates > states {
            states = explorer.newStates
            try explorer.goOn()
          }
        }
      }
      let seconds = start.duration(to: .now) / .seconds(1)
      print(
        """
        crash campaign, seed \(Campaign.seed): \(seen.distinct) distinct states among \(seen.examined), \
        \(seen.interruptions) interruptions, \(seen.recoveries) recoveries, \
        \(Int(Double(seen.distinct) / seconds)) distinct states a second
        """)
      #expect(seen.faults.isEmpty, "seed \(Campaign.seed)\n\(seen.faults.prefix(20).joined(separator: "\n"))")
      #expect(seen.distinct >= Self.target)
    }
  }
}

/// What all workers saw.
private final class SeenStates: @unchecked Sendable {
  private let lock = NSLock()
  private var fingerprints: Set<UInt64> = [], judged: Set<UInt64> = []
  private var texts: [String] = []
  private var counts = (examined: 0, interruptions: 0, recoveries: 0)

  var distinct: Int { lock.withLock { fingerprints.count } }
  var examined: Int { lock.withLock { counts.examined } }
  var interruptions: Int { lock.withLock { counts.interruptions } }
  var recoveries: Int { lock.withLock { counts.recoveries } }
  var faults: [String] { lock.withLock { texts } }

  /// Notes a state: whether it was not seen before, and whether it was not judged by the same verdict before.
  func note(_ fingerprint: UInt64, _ verdict: Verdict) -> (isNew: Bool, isUnjudged: Bool) {
    lock.withLock {
      counts.examined += 1
      let judgement = fingerprint &* 0x9e37_79b9_7f4a_7c15 ^ verdict.id
      return (fingerprints.insert(fingerprint).inserted, judged.insert(judgement).inserted)
    }
  }

  func noteInterruption() { lock.withLock { counts.interruptions += 1 } }
  func noteRecovery() { lock.withLock { counts.recoveries += 1 } }
  func report(_ fault: String) { lock.withLock { texts.append(fault) } }

  func run(_ body: () throws -> Void) {
    do { try body() } catch { report("\(error)") }
  }
}

/// One worker of the campaign, with the interrupted disks that are its share.
private struct Explorer {
  /// A disk whose power just went.
  private struct Cut {
    var trial: Trial
    var place: UInt64
    var disk: Disk
    var verdict: Verdict
    var isRecovery: Bool
    var rounds: UInt64 = 0
    /// All states were looked at, or most of those drawn last were seen before.
    var isExhausted = false
  }

  /// States of one cut that are looked at in one round; all in the first one, if there are no more.
  private static let budget: UInt64 = 24
  /// New states of a round that make another one of the same cut worth while.
  private static let worthwhile = 6
  /// Of so many interruptions one is followed by a recovery that is interrupted as well.
  private static let recoveryStride = 24
  /// Of so many states one is walked over in full, and written to.
  private static let deepStride: UInt64 = 401

  let seen: SeenStates
  private(set) var newStates = 0
  private var cuts: [Cut] = []

  init(seen: SeenStates) { self.seen = seen }

  mutating func interrupt(_ trial: Trial, after place: UInt64, isRecovery: Bool = false) throws {
    let (disk, verdict) = trial.interrupt(after: place)
    cuts.append(Cut(trial: trial, place: place, disk: disk, verdict: verdict, isRecovery: isRecovery))
    seen.noteInterruption()
  }

  /// One round over all cuts. The first of a cut may also go on from one of its states, and interrupt the recovery at each
  /// call.
  mutating func goOn() throws {
    for number in cuts.indices {
      let cut = cuts[number]
      if cut.isExhausted { continue }
      let count = sim_crash_state_count(cut.disk.raw), known = newStates
      let seed = Campaign.seed &* 1_000_003 &+ cut.rounds &* 7_919 &+ UInt64(number)
      for index in 0..<min(count, Self.budget) {
        judge(Disk(sample: cut.disk, budget: Self.budget, seed: seed, index: index), cut)
      }
      cuts[number].rounds += 1
      cuts[number].isExhausted = count <= Self.budget || newStates - known < Self.worthwhile
      if cut.rounds == 0 && !cut.isRecovery && number % Self.recoveryStride == 0 { try recover(cut, seed) }
    }
  }

  private mutating func recover(_ cut: Cut, _ seed: UInt64) throws {
    let left = cut.disk.crash(SIM_CRASH_RANDOM, seed: seed)
    let recovery = try Trial(recoveryOf: left, name: "\(cut.trial.name), cut \(cut.place)")
    seen.noteRecovery()
    for place in 0...(recovery.calls + 1) { try interrupt(recovery, after: place, isRecovery: true) }
  }

  private mutating func judge(_ left: Disk, _ cut: Cut) {
    let fingerprint = sim_fingerprint_of(left.raw, "/store")
    let (isNew, isUnjudged) = seen.note(fingerprint, cut.verdict)
    newStates += isNew ? 1 : 0
    guard isUnjudged else { return }
    do {
      if !cut.verdict.allowed.contains(try Shown(left)) { throw ShowsAnotherState() }
      if fingerprint % Self.deepStride == 0, let fault = try whatIsWrongInDepth(left, cut.trial) {
        throw HasFault(text: fault)
      }
    } catch {
      seen.report("\(cut.trial.name), cut \(cut.place) of \(cut.trial.calls), round \(cut.rounds): \(error)")
    }
  }

  private struct ShowsAnotherState: Error {}
  private struct HasFault: Error { var text: String }

  private func whatIsWrongInDepth(_ left: Disk, _ trial: Trial) throws -> String? {
    if case .store = try Shown(left) {
      let faults = try Store(left).snapshot().faults(deep: true).filter { !trial.earlierFaults.contains($0) }
      if !faults.isEmpty { return "faults: \(faults)" }
    }
    return trial.whatIsWrongAfterRecovery(of: left)
  }
}
