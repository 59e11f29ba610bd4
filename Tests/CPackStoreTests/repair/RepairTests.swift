import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// A damaged store is repaired: nothing that could still be read is lost, nothing is wrong, and what is left is whole.
  @Suite struct RepairTests {
    /// Two packs with history, map assets, an atomic past, and many small assets, so that runs and catalogs have pages.
    // The suites of the core run one after another.
    nonisolated(unsafe) private static let made = try! make()
    static var disk: Disk { made.0 }
    static var states: [UInt64: StoreState] { made.1 }

    /// The disk, and what the store showed, generation by generation.
    private static func make() throws -> (Disk, [UInt64: StoreState]) {
      let disk = Disk(seed: 21)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      var random = Random(21)
      var many = Folder(uniqueKeysWithValues: (0..<160).map { ("f\($0 % 5)/\($0)", .file(random.text(80))) })
      disk.put(many, at: "/many")
      many["f1/more"] = .file(random.bytes(900))
      many["f2/2"] = nil
      disk.put(many, at: "/more")
      let store = try Store(disk, create: true)
      var states: [UInt64: StoreState] = [:]
      let changes: [(Transaction) throws -> Void] = [
        { try $0.add("p", "/one", map: ["large"]) }, { try $0.add("m", "/many", priority: 2) },
        { try $0.add("p", "/two", map: ["large"]) }, { try $0.add("m", "/more") },
      ]
      for (number, change) in changes.enumerated() {
        let generation = try store.commit(number == 1 ? PKS_ATOMIC : PKS_DURABLE, change)
        states[generation] = try store.state()
      }
      return (disk, states)
    }

    static var whole: StoreState { states[states.keys.max()!]! }

    /// Every asset that can be read, by pack.
    private static func readable(_ disk: Disk) -> [String: Folder] {
      guard let snapshot = try? Store(disk).snapshot() else { return [:] }
      var readable: [String: Folder] = [:]
      for (index, pack) in snapshot.packs.enumerated() {
        let name = String(cString: pack.name)
        for path in states[snapshot.generation]![name]!.content.keys {
          if let found = try? snapshot.find(path, in: UInt32(index)), found.pack == UInt32(index) {
            readable[name, default: [:]][path] = found.node
          }
        }
      }
      return readable
    }

    /// Whether a pack after the repair is one of what it may be: all that is left of it, or a part under a new number.
    private static func fits(_ pack: PackState, _ original: PackState, isRebuilt: Bool) -> Bool {
      let isSubset = pack.content.allSatisfy { original.content[$0.key] == $0.value }
      let isSame = pack.content.count == original.content.count
      let hasNumber = isSame ? pack.version == original.version : pack.version > original.version
      return isSubset && hasNumber && (isRebuilt || pack.priority == original.priority)
    }

    /// Repairs a damaged disk and says what is wrong with the outcome.
    static func whatIsWrong(_ disk: Disk, note: (RepairReport) -> Void = { _ in }) -> String? {
      // Where a control slot is lost and what it held cannot be adopted, a repair goes back to what the store shows, or
      // brings back more.
      let other = disk.clone(), control = Self.disk.read("/store/CONTROL")!
      let mayHide = (try? Store(disk).mayHideCommit) ?? false
      sim_put_file(other.raw, "/store/CONTROL", control, control.count)
      guard mayHide else { return whatIsWrong(disk, comparedWith: disk, note: note) }
      let copy = disk.clone()
      guard let first = whatIsWrong(disk, comparedWith: other, note: note) else { return nil }
      return whatIsWrong(copy, comparedWith: copy).map { "\(first); or \($0)" }
    }

    private static func whatIsWrong(
      _ disk: Disk, comparedWith original: Disk, note: (RepairReport) -> Void = { _ in }
    ) -> String? {
      let before = readable(original)
      let opened = try? Store(original).snapshot().generation
      let allowed = opened.map { [states[$0]!] } ?? states.sorted { $0.key > $1.key }.map(\.value)
      do {
        let report = try disk.repair()
        note(report)
        if disk.hasLeaks { return "leaks: \(disk.counts)" }
        if !disk.list("/store/tmp").isEmpty { return "left in tmp: \(disk.list("/store/tmp"))" }
        let faults = try Store(disk).snapshot().faults(deep: true)
        if !faults.isEmpty { return "faults after \(report.notes): \(faults)" }
        if let wrong = whatIsWrong(try Store(disk).state(), before, allowed, report) { return wrong }
        if try !disk.repair().totals.was_whole { return "is not whole when asked again" }
        try performNext(disk)
        try Store(disk).commit { try $0.prioritise("next", 1) }
        let again = try Store(disk).snapshot().faults(deep: true)
        return again.isEmpty ? nil : "after the next commits: \(again)"
      } catch {
        return "\(error)"
      }
    }

    private static func whatIsWrong(
      _ after: StoreState, _ before: [String: Folder], _ allowed: [StoreState], _ report: RepairReport
    ) -> String? {
      for (name, folder) in before {
        for (path, node) in folder where after[name]?.content[path] != node {
          return "\(name) \(path) could be read and is lost: \(report.notes)"
        }
      }
      var lost = 0
      for (name, pack) in after {
        let original = allowed.compactMap { $0[name] }.first {
          fits(pack, $0, isRebuilt: report.totals.is_rebuilt)
        }
        guard let original else { return "\(name) is none that was: \(report.notes)" }
        lost += original.content.count - pack.content.count
      }
      if report.totals.lost_asset_count != UInt64(lost) && report.totals.lost_pack_count == 0 {
        return "\(lost) are lost, not \(report.totals.lost_asset_count): \(report.notes)"
      }
      if report.totals.has_lost == report.lost.isEmpty || (lost > 0 && report.lost.isEmpty) {
        return "says nothing of losses"
      }
      let gone = allowed[0].keys.filter { after[$0] == nil }
      return gone.isEmpty || report.totals.has_lost || report.totals.is_rebuilt
        ? nil : "\(gone) are gone without a word"
    }

    // MARK: One kind of damage

    @Test func healthyStoreIsLeftAlone() throws {
      let disk = Self.disk.clone(), before = sim_fingerprint(disk.raw)
      let report = try disk.repair()
      #expect(report.totals.was_whole && !report.totals.has_lost && report.totals.generation == 0)
      #expect(report.notes.isEmpty && report.faults.isEmpty)
      sim_put_file(disk.raw, "/store/LOCK", disk.read("/store/LOCK")!, 0)
      let other = Self.disk.clone()
      sim_put_file(other.raw, "/store/LOCK", other.read("/store/LOCK")!, 0)
      #expect(sim_fingerprint(disk.raw) == sim_fingerprint(other.raw) && before != 0)
    }

    static var files: [String] { disk.list("/store").filter { !$0.hasSuffix("/") && $0 != "LOCK" && $0 != "READERS" } }

    enum Damage: CaseIterable {
      case gone, empty, halved, zeroed, flippedFirst, flippedMiddle, flippedLast, longer

      func apply(to path: String, on disk: Disk) {
        guard var bytes = disk.read(path) else { return }
        switch self {
        case .gone:
          sim_remove(disk.raw, path)
          return
        case .empty: bytes = []
        case .halved: bytes.removeLast(bytes.count / 2)
        case .zeroed: bytes = Array(repeating: 0, count: bytes.count)
        case .flippedFirst: if !bytes.isEmpty { bytes[0] ^= 1 }
        case .flippedMiddle: if !bytes.isEmpty { bytes[bytes.count / 2] ^= 1 }
        case .flippedLast: if !bytes.isEmpty { bytes[bytes.count - 1] ^= 1 }
        case .longer: bytes += [1, 2, 3]
        }
        sim_put_file(disk.raw, path, bytes, bytes.count)
      }
    }

    @Test(arguments: Damage.allCases) func oneFile(_ damage: Damage) throws {
      #expect(Self.files.count >= 8)
      for file in Self.files {
        let disk = Self.disk.clone()
        damage.apply(to: "/store/\(file)", on: disk)
        #expect(Self.whatIsWrong(disk) == nil, "\(damage) \(file)")
      }
    }

    @Test(arguments: Damage.allCases) func twoFiles(_ first: Damage) throws {
      var random = Random(UInt64(Damage.allCases.firstIndex(of: first)!))
      for (number, a) in Self.files.enumerated() {
        let disk = Self.disk.clone(), b = Self.files[random.below(Self.files.count)]
        let second = Damage.allCases[random.below(Damage.allCases.count)]
        first.apply(to: "/store/\(a)", on: disk)
        second.apply(to: "/store/\(b)", on: disk)
        #expect(Self.whatIsWrong(disk) == nil, "pair \(number): \(first) \(a), \(second) \(b)")
      }
    }

    /// What is in segments is enough: all of index/, CONTROL, or both may be gone.
    @Test(arguments: [["CONTROL"], ["index"], ["CONTROL", "index"], ["CONTROL", "index", "tmp", "LOCK", "READERS"]])
    func lostIndex(gone: [String]) throws {
      let disk = Self.disk.clone()
      for name in gone { sim_remove(disk.raw, "/store/\(name)") }
      let report = try disk.repair()
      #expect(!report.totals.has_lost, "\(report.notes)")
      #expect(report.totals.is_rebuilt == gone.contains("index"))
      let state = try Store(disk).state()
      for (name, pack) in Self.whole {
        #expect(state[name]?.content == pack.content && state[name]?.version == pack.version)
        #expect(state[name]?.mapped == pack.mapped)
      }
      #expect(try Store(disk).snapshot().versions(of: "p") == [2, 1])
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    /// Damaged copies of control slots are written again, and nothing else is: the store is at the same generation, with
    /// the same files.
    @Test func damagedControlSlots() throws {
      let newest = Self.states.keys.max()!, files = Self.disk.list("/store/index")
      for copies in [[0], [1], [2], [3], [0, 1], [0, 2], [1, 3], [2, 3]].map({ $0.map { ControlFile.copies[$0] } }) {
        for at in [0, 9, 12, 16, 32, 33, 39, 40, 48, 56, 71, 72, 73, 80, 100, 504, 600, 4_095] {
          let disk = Self.disk.clone()
          disk.damageControl(copies, at: at)
          let isLost = copies.count == 2 && copies[0].slot == copies[1].slot
          let hidesNothing = isLost && copies[0].slot != ControlFile.newestSlot(in: Self.disk.read("/store/CONTROL")!)
          #expect(try Store(disk).snapshot().generation == newest, "\(copies), byte \(at)")
          #expect(try Store(disk).mayHideCommit == hidesNothing, "\(copies), byte \(at)")
          let damaged = disk.read("/store/CONTROL"), planned = try disk.repair(dryRun: true)
          #expect(!planned.totals.was_whole && !planned.totals.has_lost, "\(copies), byte \(at)")
          #expect(disk.read("/store/CONTROL") == damaged && disk.list("/store/index") == files)
          let report = try disk.repair()
          #expect(
            !report.totals.was_whole && !report.totals.has_lost && !report.totals.is_rebuilt, "\(copies), byte \(at)")
          #expect(report.totals.mended_copy_count == copies.count, "\(copies), byte \(at)")
          #expect(try Store(disk).state() == Self.whole, "\(copies), byte \(at)")
          #expect(try !Store(disk).mayHideCommit && Store(disk).snapshot().faults(deep: true).isEmpty)
          #expect(try disk.repair().totals.was_whole, "\(copies), byte \(at)")
        }
      }
    }

    /// What a lost slot named, and what damage of its own keeps from being adopted, is brought back as far as it can be read.
    @Test func hiddenGenerationThatIsDamaged() throws {
      let newest = Self.states.keys.max()!, generation = "/store/index/\(hex16(newest)).generation"
      let runs = Self.files.filter { $0.hasSuffix(".run") }
      var brought = 0
      for file in [generation] + runs.map({ "/store/\($0)" }) {
        let disk = Self.disk.clone()
        disk.loseControlSlot()
        sim_corrupt(disk.raw, file, UInt64(disk.read(file)!.count - 20), 1)
        guard let older = try? Store(disk), try older.mayHideCommit else { continue }
        let report = try disk.repair()
        #expect(!report.totals.was_whole && !report.totals.has_lost, "\(file)")
        #expect(try Store(disk).state().mapValues(\.content) == Self.whole.mapValues(\.content), "\(file)")
        #expect(try !Store(disk).mayHideCommit && Store(disk).snapshot().faults(deep: true).isEmpty)
        try performNext(disk)
        brought += 1
      }
      #expect(brought >= 2)
    }

    /// What an atomic commit left when the power went is not brought back on trust: its files were never synced.
    @Test func unsyncedGenerationsAreNotTrusted() throws {
      let base = Self.disk.clone()
      try Store(base).commit(PKS_ATOMIC) { try $0.add("p", "/other") }
      let old = Self.whole, new = try Store(base).state(), control = try #require(base.read("/store/CONTROL"))
      for (index, disk) in base.crashes(budget: 40, seed: 3).enumerated() {
        sim_put_file(disk.raw, "/store/CONTROL", control, control.count)
        disk.loseControlSlot()
        #expect(try Store(disk).state() == old, "state \(index)")
        try disk.repair()
        // Where its file is left and damaged, nothing tells that it was atomic.
        let state = try Store(disk).state()
        #expect(state == old || state == new, "state \(index)")
        #expect(try Store(disk).snapshot().faults(deep: true).isEmpty, "state \(index)")
      }
    }

    /// Tables were once looked at in mappings alone, where a sector that cannot be read ends the process. They are read
    /// before; verification tells of those that cannot be read, and a repair does without them.
    @Test func unreadableTables() throws {
      var runs = 0
      for file in Self.files where file.hasSuffix(".run") || file.hasPrefix("segments/") {
        let disk = Self.disk.clone(), before = Self.readable(disk), without = Self.disk.clone()
        sim_remove(without.raw, "/store/\(file)")
        // Runs that were merged into others since are not looked at.
        if file.hasSuffix(".run") && (try? Store(without)) != nil { continue }
        sim_fail(disk.raw, SIM_CALL_READ, "*\(file)", 0, EIO, true)
        let faults = try Store(disk).snapshot().verify(deep: false).faults
        #expect(faults.contains { $0.status == PKS_IO_ERROR.rawValue }, "\(file): \(faults)")
        let report = try disk.repair()
        sim_clear_faults(disk.raw)
        #expect(!report.totals.was_whole && report.totals.generation > 0, "\(file)")
        #expect(try Store(disk).snapshot().faults(deep: true).isEmpty, "\(file)")
        if file.hasSuffix(".run") {
          runs += 1
          #expect(!report.totals.has_lost, "\(file): \(report.notes)")
          #expect(try Store(disk).state().mapValues(\.content) == before, "\(file)")
        }
      }
      #expect(runs > 0)
    }

    // MARK: What is kept

    /// Priority, pins, hold, history of a removed pack, dates and numbers are as they were.
    @Test func everythingThatPacksHave() throws {
      let disk = Self.disk.clone()
      try Store(disk).commit {
        try $0.pin("m", 1)
        try $0.rollBack("p", to: 1)
        try $0.add("r", "/small")
      }
      try Store(disk).commit { try $0.add("r", "/other") }
      try Store(disk).commit { try $0.remove("r", keepHistory: true) }
      let snapshot = try Store(disk).snapshot()
      let packs = snapshot.packs, removed = snapshot.removedPacks
      // A byte of padding at the head of each segment: everything is stored again.
      for segment in disk.list("/store/segments") { sim_corrupt(disk.raw, "/store/segments/\(segment)", 20, 1) }
      let report = try disk.repair()
      #expect(!report.totals.has_lost && report.totals.damaged_segment_count == report.totals.segment_count)
      let repaired = try Store(disk).snapshot()
      #expect(repaired.generation > snapshot.generation)
      for (old, new) in zip(packs + removed, repaired.packs + repaired.removedPacks) {
        let name = String(cString: old.name)
        #expect(String(cString: new.name) == name && old.priority == new.priority, "\(name)")
        #expect(old.held == new.held && old.version_count == new.version_count, "\(name)")
        #expect(snapshot.versions(of: name) == repaired.versions(of: name), "\(name)")
        #expect(old.current.committed_at_ns == new.current.committed_at_ns, "\(name)")
      }
      #expect(packs.count == repaired.packs.count && removed.count == repaired.removedPacks.count)
      #expect(try repaired.faults(deep: true).isEmpty)
      try Store(disk).commit { try $0.rollBack("r") }
    }

    /// An older version that lacks something goes; the current one stays as it is.
    @Test func olderVersionsAreWholeOrGone() throws {
      let disk = Disk(seed: 4)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/other") }
      let old = Set(disk.list("/store/segments"))
      try store.commit { try $0.add("p", "/one") }
      for segment in old {
        let path = "/store/segments/\(segment)"
        for frame in try frames(of: path, on: disk) where disk.read(path)![12] == 1 {
          sim_corrupt(disk.raw, path, frame.lowerBound, 1)
        }
      }
      let report = try disk.repair()
      #expect(report.totals.lost_version_count == 1 && report.totals.lost_asset_count == 0)
      #expect(report.lost.map(\.description) == ["lost p@1 0 "])
      #expect(try Store(disk).state()["p"]?.content == Change.folders["/one"])
      #expect(try Store(disk).snapshot().versions(of: "p") == [2])
    }

    /// A dry run says the same and changes nothing.
    @Test func dryRun() throws {
      let disk = Self.disk.clone()
      for segment in disk.list("/store/segments") {
        let path = "/store/segments/\(segment)"
        sim_corrupt(disk.raw, path, try frames(of: path, on: disk)[0].lowerBound, 1)
      }
      let index = disk.list("/store/index"), segments = disk.list("/store/segments"),
        control = disk.read("/store/CONTROL")
      let planned = try disk.repair(dryRun: true)
      #expect(disk.list("/store/index") == index && disk.list("/store/segments") == segments)
      #expect(disk.read("/store/CONTROL") == control && disk.list("/store/tmp").isEmpty)
      let done = try disk.repair()
      #expect(planned.notes == done.notes && planned.totals.lost_asset_count == done.totals.lost_asset_count)
      #expect(planned.totals.generation == 0 && done.totals.generation > 0 && !planned.notes.isEmpty)
    }

    /// Readers go on with the generation that they have, and a repaired store takes commits meanwhile.
    @Test func readersGoOn() throws {
      let disk = Self.disk.clone()
      let reader = try Store(disk, process: sim_start_process(disk.raw, 2))
      let snapshot = try reader.snapshot()
      let before = try snapshot.state()
      let segment = try #require(disk.list("/store/segments").first)
      sim_corrupt(disk.raw, "/store/segments/\(segment)", 20, 1)
      try disk.repair()
      #expect(try snapshot.state() == before)
      #expect(try reader.snapshot().generation > snapshot.generation)
      try performNext(disk)
      #expect(try snapshot.state() == before)
    }

    /// A process that has the store open when its control file is made afresh would go on committing to the file that
    /// no reader sees any more, and collect what the repair had made.
    @Test func writersMustOpenAgain() throws {
      let disk = Self.disk.clone()
      let writer = try Store(disk, process: sim_start_process(disk.raw, 2))
      let transaction = try writer.begin()
      try transaction.prioritise("p", 7)
      sim_remove(disk.raw, "/store/CONTROL")
      try disk.repair()
      #expect(try status { _ = try transaction.commit() } == PKS_CONFLICT)
      try performNext(disk)
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    /// A repair that waited for the lock while another put a new control file in place once wrote to the one that it had
    /// opened before, which no reader sees any more.
    @Test func repairsOneAfterTheOther() throws {
      let disk = Self.disk.clone(), seam = Seam(disk)
      let segment = try #require(disk.list("/store/segments").first)
      var isFirst = true
      seam.onCall = { call in
        guard call == .lock, isFirst else { return 0 }
        isFirst = false
        sim_remove(disk.raw, "/store/CONTROL")
        _ = try? disk.repair()
        sim_corrupt(disk.raw, "/store/segments/\(segment)", 20, 1)
        return 0
      }
      let report = try disk.repair(seam: seam)
      #expect(!isFirst && report.totals.generation > 0)
      let snapshot = try Store(disk).snapshot()
      #expect(snapshot.generation == report.totals.generation)
      #expect(try snapshot.faults(deep: true).isEmpty)
      try performNext(disk)
    }

    // MARK: Interruption

    enum Ruin: CaseIterable { case frames, headers, generation, index, control, everything }

    /// A store with damage that leaves something to find in each of the places where repair looks.
    private static func ruined(_ ruin: Ruin) throws -> Disk {
      let disk = Self.disk.clone()
      for segment in disk.list("/store/segments") {
        let path = "/store/segments/\(segment)"
        if ruin == .headers || ruin == .everything { sim_corrupt(disk.raw, path, 20, 1) }
        if ruin == .frames { sim_corrupt(disk.raw, path, try frames(of: path, on: disk).last!.lowerBound, 1) }
      }
      let generation = disk.list("/store/index").filter { $0.hasSuffix(".generation") }.max()!
      if ruin == .generation { sim_corrupt(disk.raw, "/store/index/\(generation)", 30, 1) }
      if ruin == .index || ruin == .everything { sim_remove(disk.raw, "/store/index") }
      if ruin == .control || ruin == .everything { sim_remove(disk.raw, "/store/CONTROL") }
      return disk
    }

    /// The power goes at every call that changes the disk: what is left is the store as it was or repaired, and repairing
    /// it again comes to the same.
    @Test(arguments: Ruin.allCases) func everyCut(_ ruin: Ruin) throws {
      let base = try Self.ruined(ruin), end = base.clone()
      try end.repair()
      let after = try Store(end).state(), calls = sim_operation_count(end.raw)
      let before = (try? Store(base).state()).map { [$0, after] } ?? [after]
      // One in three, and all of them when there is time.
      for cut in stride(from: 0, through: calls, by: Campaign.scale > 1 || ruin == .everything ? 1 : 3) {
        let disk = base.clone()
        sim_stop_after(disk.raw, cut)
        let finished = (try? disk.repair()) != nil
        for (index, left) in disk.crashes(budget: 3, seed: cut).enumerated() {
          let place: Comment = "\(ruin), cut \(cut) of \(calls), state \(index)"
          if let state = try? Store(left).state() { #expect(finished ? state == after : before.contains(state), place) }
          if finished { #expect(Self.fault(of: left, after, index == 0) == nil, place) }
          try left.repair()
          #expect(Self.fault(of: left, after, index == 0) == nil, place)
        }
      }
    }

    private static func fault(of disk: Disk, _ state: StoreState, _ deep: Bool) -> String? {
      CPackStoreTests.whatIsWrong(with: disk, allowed: [state], deep: deep)
    }

    /// Every call fails once: the repair says so, and the store is as it was; or it tried again. Once, a single failed read
    /// was taken for damage, and cost what could not be read at that moment.
    @Test(arguments: Ruin.allCases) func everyCallFailsOnce(_ ruin: Ruin) throws {
      let base = try Self.ruined(ruin), end = base.clone()
      try end.repair()
      let after = try Store(end).state(), calls = sim_call_count(end.raw, SIM_CALL_ANY)
      var refusals = 0
      for call in stride(from: Campaign.seed % 17, to: calls, by: Campaign.scale > 1 ? 1 : 17) {
        let disk = base.clone(), memory = pks__memory_counts_now().open
        sim_fail(disk.raw, SIM_CALL_ANY, nil, call, EIO, false)
        let status = try status { try disk.repair() }
        sim_clear_faults(disk.raw)
        let place: Comment = "\(ruin), call \(call) of \(calls), status \(status.rawValue)"
        refusals += status == PKS_OK ? 0 : 1
        #expect(!disk.hasLeaks && pks__memory_counts_now().open == memory, place)
        try disk.repair()
        // A large comparison in an expectation would be printed.
        let isSame = try Store(disk).state().mapValues(\.content) == after.mapValues(\.content)
        #expect(isSame, place)
        #expect(try Store(disk).snapshot().faults(deep: true).isEmpty, place)
      }
      #expect(refusals > 0)
    }

    @Test func everyAllocationFailsOnce() throws {
      let base = try Self.ruined(.everything), end = base.clone(), before = pks__memory_counts_now().allocations
      try end.repair()
      let made = pks__memory_counts_now().allocations - before
      for ordinal in stride(from: UInt64(0), to: made, by: Campaign.scale > 1 ? 1 : 13) {
        let disk = base.clone(), counts = pks__memory_counts_now()
        pks__memory_fail_at(ordinal, false)
        let status = try status { try disk.repair() }
        pks__memory_fail_at(UInt64.max, false)
        let place: Comment = "allocation \(ordinal) of \(made), status \(status.rawValue)"
        #expect([PKS_OK, PKS_OUT_OF_MEMORY].contains(status), place)
        #expect(!disk.hasLeaks && pks__memory_counts_now().open == counts.open, place)
        #expect(status == PKS_OK || !disk.exists("/store/CONTROL"), place)
      }
      #expect(made > 100)
    }

    // MARK: Donors

    /// Another store with the same content heals everything, whatever its chunks lie in.
    @Test func donorsHealEverything() throws {
      let disk = Self.disk.clone()
      let donor = try Store("/donor", vfs: disk.vfs, create: true, home: disk)
      try donor.commit(keep: 9) { try $0.add("others", "/more") }
      try donor.commit(keep: 9) { try $0.add("one", "/one") }
      try donor.commit(keep: 9) { try $0.add("two", "/two") }
      try donor.commit(keep: 9) { try $0.add("many", "/many") }
      for segment in disk.list("/store/segments") { sim_remove(disk.raw, "/store/segments/\(segment)") }
      let report = try disk.repair(from: ["/donor"])
      #expect(!report.totals.has_lost, "\(report.notes)")
      #expect(!report.healed.isEmpty && report.healed.allSatisfy { $0.origin == "/donor" })
      let state = try Store(disk).state()
      for (name, pack) in Self.whole {
        #expect(state[name]?.content == pack.content && state[name]?.version == pack.version)
      }
      #expect(try Store(disk).snapshot().versions(of: "m") == [2, 1])
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    @Test func donorsThatAreNone() throws {
      let disk = Self.disk.clone()
      sim_remove(disk.raw, "/store/CONTROL")
      #expect(try status { try disk.repair(from: ["/one"]) } == PKS_NOT_A_STORE)
      #expect(!disk.exists("/store/CONTROL") && disk.list("/store/tmp").isEmpty && !disk.hasLeaks)
      #expect(try status { try disk.repair("/one") } == PKS_NOT_A_STORE)
      #expect(try status { try disk.repair("/nowhere") } == PKS_NOT_A_STORE)
    }

    // MARK: Random damage

    /// Bytes, ranges and whole files, at random: whatever could be read before can be read after.
    @Test func randomDamage() throws {
      let seed = Campaign.seed, rounds = 60 * Int(Campaign.scale)
      var origins: Set<String> = [], losses = 0, rebuilt = 0
      for round in 0..<rounds {
        var random = Random(seed &* 1_000_003 &+ UInt64(round))
        let disk = Self.disk.clone()
        for _ in 0..<1 + random.below(4) {
          let path = "/store/\(Self.files[random.below(Self.files.count)])"
          guard let bytes = disk.read(path), !bytes.isEmpty else { continue }
          if random.below(4) == 0 {
            Damage.allCases[random.below(Damage.allCases.count)].apply(to: path, on: disk)
          } else {
            for _ in 0..<1 + random.below(5) {
              sim_corrupt(disk.raw, path, UInt64(random.below(bytes.count)), 1 << UInt8(random.below(8)))
            }
          }
        }
        let wrong = Self.whatIsWrong(disk) { report in
          origins.formUnion(report.healed.map(\.origin))
          losses += report.lost.count
          rebuilt += report.totals.is_rebuilt ? 1 : 0
        }
        #expect(wrong == nil, "PACKSTORE_SEED=\(seed), round \(round)")
      }
      #expect(origins == ["intact parts of damaged segments", "the index as it was"])
      #expect(losses > 0 && rebuilt > 0)
    }
  }
}
