import CPackStore
import CPackStoreTesting

/// What a disk shows: a store's content, or that there is no store.
enum Shown: Equatable, Sendable {
  case nothing
  case store(Picture)

  /// Opens the store and reads all of it.
  init(_ disk: Disk) throws {
    do {
      self = .store(try Store(disk).snapshot().picture())
    } catch let failure as Failure where failure.status == PKS_NOT_A_STORE || isLost(disk) {
      self = .nothing
    }
  }
}

/// What may be shown after a loss of power.
struct Verdict {
  var allowed: [Shown]
  /// Equal for equal verdicts.
  var id: UInt64 = 0

  init(_ allowed: [Shown]) {
    self.allowed = allowed
    for case .store(let picture) in allowed { id = id &* 31 &+ picture.sum }
    if allowed.contains(.nothing) { id = ~id }
  }
}

/// A change of a store with the disk where it begins, to be interrupted, and how to judge what a loss of power then leaves.
/// Its disks belong to one thread at a time, and so does it.
final class Trial: @unchecked Sendable {
  let name: String
  let base: Disk
  let perform: @Sendable (Disk) throws -> Void
  /// Calls that change the disk, and syncs among them.
  let calls, syncs: UInt64
  let interrupted, finished: Verdict
  /// Whether a durable commit may meet an atomic generation.
  let standsOnAtomic: Bool
  /// Faults that are there before the change, and may be there until it has mended them.
  let earlierFaults: Set<String>
  /// What may be shown while the power stays on.
  let liveStates: [Shown]
  /// What recovery makes of the states before and after, when nothing was interrupted.
  private let recovered: [Recovered]

  private struct Recovered {
    var from: Shown, to: Shown
    var segments: Set<String>
  }

  convenience init(_ change: Change) throws {
    let base = try change.start()
    let stages = try change.stages.map { stage in
      let disk = base.clone()
      try stage(disk)
      return disk
    }
    try self.init(change.name, base, stages, change.perform)
  }

  /// Opening what a crash left, and the next transaction on it.
  convenience init(recoveryOf left: Disk, name: String) throws {
    let stages = try Shown(left.clone()) == .nothing ? [try Self.opened(left)] : []
    try self.init("recovery of \(name)", left, stages, performRecovery)
  }

  /// What a store that does not open becomes before it is written to.
  private static func opened(_ left: Disk) throws -> Disk {
    guard isLost(left) else { return try Change.emptyStore() }
    let repaired = left.clone()
    try repaired.repair()
    return repaired
  }

  private init(
    _ name: String, _ base: Disk, _ stages: [Disk], _ perform: @escaping @Sendable (Disk) throws -> Void
  ) throws {
    self.name = name
    self.base = base
    self.perform = perform
    let end = base.clone()
    try perform(end)
    calls = sim_operation_count(end.raw)
    syncs = sim_call_count(end.raw, SIM_CALL_SYNC)
    let before = try Shown(base.crash(SIM_CRASH_MIN)), after = try Shown(end.crash(SIM_CRASH_MIN))
    interrupted = Verdict(try [before, after] + stages.map { try Shown($0.crash(SIM_CRASH_MIN)) })
    finished = Verdict([after])
    standsOnAtomic =
      try syncs > 0 && ([base] + stages).contains { try Shown($0.crash(SIM_CRASH_MIN)) != Shown($0.clone()) }
    earlierFaults = Set((try? Store(base.clone()).snapshot().faults(deep: true)) ?? [])
    let live = try [Shown(base.clone()), Shown(end.clone())]
    liveStates = try live + stages.map { try Shown($0) }
    recovered = try zip(live, [base.clone(), end.clone()]).map { shown, disk in
      try performRecovery(disk)
      return Recovered(from: shown, to: try Shown(disk), segments: Set(disk.list("/store/segments")))
    }
  }

  /// Opens what is left, writes to it, and compares with what becomes of a change that nothing interrupted: the store shows
  /// the same, durably, and no file lies about that nothing refers to. Otherwise what is wrong.
  ///
  /// A change that `hasFailed` and shows nevertheless is one whose very last sync failed: the next commit still spares the
  /// generation before, and it takes another one until the files of that are gone.
  func whatIsWrongAfterRecovery(of disk: Disk, hasFailed: Bool = false) -> String? {
    do {
      let shown = try Shown(disk)
      try performRecovery(disk)
      if disk.hasLeaks { return "leaks: \(disk.counts)" }
      let stray = disk.list("/store/tmp")
      if !stray.isEmpty { return "left in tmp: \(stray)" }
      guard let expected = recovered.first(where: { $0.from == shown }) else { return nil }
      if try Shown(disk) != expected.to || Shown(disk.crash(SIM_CRASH_MIN)) != expected.to {
        return "the next transaction leads elsewhere"
      }
      if hasFailed && shown == recovered[1].from { try performRecovery(disk) }
      let surplus = try Set(disk.list("/store/segments")).subtracting(expected.segments)
        .subtracting(Store(disk).snapshot().neededSegments())
      if !surplus.isEmpty { return "left in segments: \(surplus.sorted())" }
      return try Self.strayIndexFiles(disk).map { "left in index: \($0)" }
    } catch {
      return "recovery threw \(error)"
    }
  }

  /// What lies in `index/` that is neither a run that a generation names nor one of three generations: the new one, the one
  /// before, and the durable one that a commit on an atomic one spares.
  private static func strayIndexFiles(_ disk: Disk) throws -> [String]? {
    let files = disk.list("/store/index"), generations = files.filter { $0.hasSuffix(".generation") }
    var named: Set<String> = Set(generations)
    for name in generations {
      let bytes = disk.read("/store/index/\(name)")!
      var generation = pks__generation()
      try attempt { pks__generation_decode(bytes, bytes.count, name, &generation, $0) }
      defer { pks__generation_free(&generation) }
      for index in 0..<Int(generation.run_count) {
        let digits = String(generation.runs[index].name.name, radix: 16)
        named.insert(String(repeating: "0", count: 16 - digits.count) + digits + ".run")
      }
    }
    let stray = files.filter { !named.contains($0) }
    return stray.isEmpty && generations.count <= 3 ? nil : generations + stray
  }

  /// The disk as it is when the power goes after so many calls, and how to judge what is left of it.
  func interrupt(after cut: UInt64, prepare: (Disk) -> Void = { _ in }) -> (disk: Disk, verdict: Verdict) {
    let disk = base.clone()
    prepare(disk)
    sim_stop_after(disk.raw, cut)
    let hasFinished = (try? perform(disk)) != nil
    return (disk, hasFinished ? finished : interrupted)
  }
}
