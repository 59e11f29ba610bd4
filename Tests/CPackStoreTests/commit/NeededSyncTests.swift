import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Each sync of each change is needed: where one claims success and does nothing, some loss of power leaves a store that
  /// is broken or has lost what was committed. So a change that forgets a sync turns these tests red.
  @Suite struct NeededSyncTests {
    /// Syncs that could go, by their number in the change, and why they could.
    private static let spare: [String: [Int: String]] = [
      Change.severalPacks.name: [2: joined, 5: joined], Change.merge.name: [2: joined],
      Change.emptying.name: [2: joined, 4: joined, 6: joined],
      Change.rollback.name: [1: joined], Change.comeback.name: [1: joined],
      Change.copy.name: [1: joined, 4: joined], Change.createAgain.name: [0: leftovers],
      Change.atomicThenDurable.name: [7: again],
      Change.delivery.name: [1: ghosts], Change.resumedDelivery.name: [1: ghosts],
      Change.deliveryByList.name: [1: ghosts],
      Change.collectionBesideReader.name: [2: held],
      Change.purgeableUpdate.name: [0: copied, 3: younger, 4: younger],
      Change.becomingPurgeable.name: [0: copied, 3: younger, 4: younger],
      Change.adoptingBase.name: [2: younger, 3: beneath, 4: beneath, 5: beneath],
      Change.repair.name: [6: reused, 7: reused, 8: reused, 9: reused, 13: folders],
    ]
    private static let joined = "a staged run that the same commit joins with others is never named; known only later"
    private static let copied =
      "a segment that is copied to the cache folder, unless a durable pack brings it in the same commit"
    private static let beneath = "tables and pages, which the base has, too: missed where it is gone"
    private static let younger = "needed where another process has just made the folder"
    private static let leftovers = "needed only where the control file itself had been taken back"
    private static let reused = "a segment that was durable before the repair, or its name; nothing tells which were"
    private static let folders = "needed where a folder of the store had to be made again"
    private static let ghosts = "missed by the next delivery of the same version alone: `ResumedDeliveryTests.ghosts`"
    private static let held =
      "what the slot named before is held by the reader, and a torn one is adopted by its generation's file"
    private static let again = "the folder is synced for the atomic commits' segments and again for this commit's"

    @Test(arguments: Change.durable) func everySyncIsNeeded(_ change: Change) throws {
      let trial = try Trial(change)
      let paths = try Self.syncedPaths(trial)
      #expect(paths.count == Int(trial.syncs) && !paths.isEmpty)
      for (number, path) in paths.enumerated() where Self.spare[change.name]?[number] == nil {
        let isMissed = try Self.isMissed(trial, UInt64(number))
        #expect(isMissed, "\(change.name): sync \(number) of \(paths.count), of \(path), is of no use")
      }
    }

    private static func isMissed(_ trial: Trial, _ ignored: UInt64) throws -> Bool {
      for cut in (0...(trial.calls + 1)).reversed() {
        let (disk, verdict) = trial.interrupt(after: cut) { sim_ignore_sync($0.raw, ignored) }
        for left in disk.crashes(budget: 48, seed: Campaign.seed &+ cut) {
          guard let shown = try? Shown(left), verdict.allowed.contains(shown) else { return true }
          // Pages of catalogs and layouts are no asset's bytes.
          if shown != .nothing, try !Store(left).snapshot().faults(deep: false).isEmpty { return true }
        }
      }
      return false
    }

    /// What each sync of a change syncs, in order; names that are drawn again each time are left out.
    private static func syncedPaths(_ trial: Trial) throws -> [String] {
      let disk = trial.base.clone()
      disk.startTrace()
      try trial.perform(disk)
      let lines: [Substring] = disk.trace.split(separator: "\n")
      return lines.compactMap { line -> String? in
        let words: [Substring] = line.split(separator: " ")
        guard words.count > 2, words[1] == "sync" else { return nil }
        return String(words[2].replacing(/[0-9a-f]{12,}/, with: "*"))
      }
    }
  }
}
