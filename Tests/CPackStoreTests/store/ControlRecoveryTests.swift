import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// A commit that was confirmed outlives damage of the control file: by the other copy of its slot, or by its generation's
  /// own file. Where neither says it, something does.
  @Suite struct ControlRecoveryTests {
    /// How a store came to where it is.
    enum History: String, CaseIterable {
      case new, durable, afterAtomic, atomic, rolledBack, repaired, switchFailed

      func make(seed: UInt64 = 5) throws -> Disk {
        let disk = Disk(seed: seed)
        for (path, folder) in Change.folders { disk.put(folder, at: path) }
        let store = try Store(disk, create: true)
        guard self != .new else { return disk }
        try store.commit { try $0.add("p", "/one") }
        try store.commit { try $0.add("p", "/two") }
        switch self {
        case .new: break
        case .durable: try store.commit { try $0.add("q", "/other") }
        case .rolledBack: try store.commit { try $0.rollBack("p") }
        case .atomic, .afterAtomic:
          try store.commit(PKS_ATOMIC) { try $0.add("q", "/other") }
          try store.commit(PKS_ATOMIC) { try $0.prioritise("q", 2) }
          if self == .afterAtomic { try store.commit { try $0.prioritise("q", 3) } }
        case .repaired:
          let segment = disk.list("/store/segments").first { disk.read("/store/segments/\($0)")?[12] == 1 }!
          sim_corrupt(disk.raw, "/store/segments/\(segment)", 20, 1)
          try disk.repair()
        case .switchFailed:
          sim_fail(disk.raw, SIM_CALL_SYNC, "*/CONTROL", 0, EIO, false)
          #expect(try status { try store.commit { try $0.add("q", "/other") } } == PKS_IO_ERROR)
          try store.commit { try $0.add("q", "/small") }
        }
        return disk
      }
    }

    /// What damage does to a copy: a flipped bit in what it says, in its sum or in its padding; a sector or a page of zeros;
    /// noise; what another copy says.
    private static let damages: [@Sendable (inout ArraySlice<UInt8>, inout Random) -> Void] = [
      { bytes, random in bytes[bytes.startIndex + random.below(88)] ^= 1 << UInt8(random.below(8)) },
      { bytes, random in bytes[bytes.startIndex + 504 + random.below(8)] ^= 1 << UInt8(random.below(8)) },
      { bytes, random in bytes[bytes.startIndex + 512 + random.below(3_584)] ^= 1 << UInt8(random.below(8)) },
      { bytes, _ in for at in bytes.indices.prefix(512) { bytes[at] = 0 } },
      { bytes, _ in for at in bytes.indices { bytes[at] = 0 } },
      { bytes, random in for at in bytes.indices { bytes[at] = UInt8(random.below(256)) } },
    ]

    /// Damages copies in turn by each kind of damage, each copy by the next kind.
    private static func damage(_ disk: Disk, _ copies: [ControlFile.Copy], kind: Int, _ random: inout Random) {
      var bytes = disk.read("/store/CONTROL")!
      for (number, copy) in copies.enumerated() {
        let range = copy.offset..<copy.offset + ControlFile.copySize
        damages[(kind + number) % damages.count](&bytes[range], &random)
      }
      sim_put_file(disk.raw, "/store/CONTROL", bytes, bytes.count)
    }

    /// Every set of copies, damaged in every way: while a slot is left, no confirmed commit is lost, on this start of the
    /// machine and on the next; reading writes nothing. Without a slot the store does not open.
    @Test(arguments: History.allCases) func everySetOfCopies(_ history: History) throws {
      let base = try history.make(), shown = try Store(base).state()
      let durable = try Store(base.crash(SIM_CRASH_MIN)).state(), newest = try Store(base).snapshot().generation
      let newestSlot = ControlFile.newestSlot(in: base.read("/store/CONTROL")!)
      var random = Random(Campaign.seed), hidden = 0
      for mask in 1..<16 {
        let copies = ControlFile.copies.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element)
        let lost = [0, 1].filter { slot in ControlFile.copies(of: slot).allSatisfy(copies.contains) }
        for kind in Self.damages.indices {
          let disk = base.clone(), place = "\(copies), damage \(kind), seed \(Campaign.seed)"
          Self.damage(disk, copies, kind: kind, &random)
          let control = disk.read("/store/CONTROL")
          guard lost.count < 2 else {
            #expect(try status { _ = try Store(disk) } == PKS_CORRUPT, "\(place)")
            continue
          }
          let store = try Store(disk), mayHide = try store.mayHideCommit
          #expect(try store.snapshot().generation == newest && store.state() == shown, "\(place)")
          // Of a lost slot that was the older one nothing tells that it was.
          let hidesNothing =
            lost.isEmpty || history == .atomic
            || (lost[0] == newestSlot && history != .new)
          #expect(mayHide == !hidesNothing, "\(place)")
          #expect(try store.snapshot().verify(deep: false).totals.damaged_copy_count == copies.count, "\(place)")
          #expect(disk.read("/store/CONTROL") == control, "\(place)")
          let restarted = try Store(disk.crash(SIM_CRASH_MAX)), safe = try Store(disk.crash(SIM_CRASH_MIN))
          #expect(try restarted.state() == durable && safe.state() == durable, "\(place)")
          try Self.goOn(disk, from: shown, mayHide: mayHide, place)
          hidden += mayHide ? 1 : 0
        }
      }
      #expect(hidden > 0 || history == .atomic)
    }

    /// A store that may hide a commit takes none until it is repaired; any other takes the next, and is sound after it.
    private static func goOn(_ disk: Disk, from shown: StoreState, mayHide: Bool, _ place: String) throws {
      if mayHide {
        #expect(try status { _ = try Store(disk).begin() } == PKS_CORRUPT, "\(place)")
        let report = try disk.repair()
        #expect(!report.totals.has_lost && !report.totals.is_rebuilt, "\(place)")
        #expect(try Store(disk).state() == shown, "\(place)")
      }
      try performNext(disk)
      for left in [disk, disk.crash(SIM_CRASH_MIN)] {
        #expect(try Store(left).state() == shown.next, "\(place)")
        #expect(try !Store(left).mayHideCommit && Store(left).snapshot().faults(deep: false).isEmpty, "\(place)")
      }
    }

    /// The newest slot is lost and found again, but above it lies a generation's file that cannot be read: whatever else is
    /// damaged, the store may hide a commit.
    @Test(arguments: [1, 2]) func aDoubtIsNotForgotten(commits: Int) throws {
      let disk = try History.durable.make()
      if commits == 2 { try Store(disk).commit { try $0.prioritise("q", 5) } }
      let control = disk.read("/store/CONTROL")!, newest = ControlFile.newestSlot(in: control)
      let above = String(ControlFile.generation(of: newest, in: control) + 1, radix: 16)
      let name = String(repeating: "0", count: 16 - above.count) + above
      sim_put_file(disk.raw, "/store/index/\(name).generation", [1, 2, 3], 3)
      disk.damageControl(ControlFile.copies(of: newest))
      #expect(try Store(disk).mayHideCommit)
      disk.damageControl([ControlFile.copies(of: 1 - newest)[1]])
      #expect(try Store(disk).mayHideCommit)
      #expect(try status { _ = try Store(disk).begin() } == PKS_CORRUPT)
    }

    /// A sector that cannot be read is like a damaged one.
    @Test func anUnreadableCopy() throws {
      let disk = try History.durable.make(), seam = Seam(disk), shown = try Store(disk).state()
      for unreadable in 0..<4 {
        var reads = 0
        seam.onCall = { call in
          guard call == .read else { return 0 }
          reads += 1
          return reads == 1 || reads == unreadable + 2 ? EIO : 0
        }
        let store = try Store("/store", seam: seam)
        seam.onCall = nil
        #expect(try store.state() == shown, "copy \(unreadable)")
      }
    }

    // MARK: What is not adopted

    /// A commit that failed, and said so, does not come back: its generation's file is gone before anything else is done.
    @Test func aCommitThatFailed() throws {
      let base = try History.durable.make(), shown = try Store(base).state()
      for (call, pattern) in [
        (SIM_CALL_SYNC, "*/index"), (SIM_CALL_WRITE, "*/CONTROL"), (SIM_CALL_RENAME, "*.generation"),
      ] {
        for durability in [PKS_DURABLE, PKS_ATOMIC] where durability == PKS_DURABLE || call != SIM_CALL_SYNC {
          let disk = base.clone()
          sim_fail(disk.raw, call, pattern, 0, EIO, false)
          let result = try status { try Store(disk).commit(durability) { try $0.add("p", "/small") } }
          #expect(result == PKS_IO_ERROR, "\(pattern)")
          for left in [disk] + disk.crashes(budget: 20, seed: Campaign.seed) {
            left.loseControlSlot(newest: false)
            #expect(try Store(left).state() == shown && Store(left).mayHideCommit, "\(pattern)")
          }
        }
      }
    }

    /// Files of generations that are none of this store's next: an older one, another store's, one of another place in
    /// history, an atomic one from before a restart, one that is damaged or lacks a run.
    @Test func filesThatDoNotSucceed() throws {
      let base = try History.durable.make(), newest = try Store(base).snapshot().generation
      let shown = try Store(base).state(), next = "/store/index/\(hex16(newest + 1)).generation"
      let after = base.clone(), other = try History.durable.make(seed: 6)
      for disk in [after, other] { try Store(disk).commit { try $0.add("p", "/small") } }
      let file = after.read(next)!, runs = after.list("/store/index").filter { $0.hasSuffix(".run") }
      func generation(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = file
        change(&bytes)
        let sum = bytes.dropLast(8).withUnsafeBytes { pks__checksum($0.baseAddress, $0.count) }
        return Array(bytes.dropLast(8)) + withUnsafeBytes(of: sum.littleEndian) { Array($0) }
      }
      // Offsets: flags 12, number 16, predecessor 24, store id 32, boot id 48.
      let candidates: [(name: String, bytes: [UInt8], isAdopted: Bool)] = [
        ("its own", generation { _ in }, true),
        ("with another sum", Array(file.dropLast()) + [file.last! ^ 1], false),
        ("of another store", other.read(next)!, false),
        ("of another store, by its id alone", generation { $0[32] ^= 1 }, false),
        ("of another predecessor", generation { $0[24] ^= 1 }, false),
        ("of another number", generation { $0[16] ^= 2 }, false),
        ("atomic, of this start", generation { $0[12] &= ~8 }, true),
        (
          "atomic, of another start",
          generation {
            $0[12] &= ~8; $0[48] ^= 1
          }, false
        ),
        ("durable, of another start", generation { $0[48] ^= 1 }, true),
      ]
      for (name, bytes, isAdopted) in candidates {
        let disk = base.clone()
        for run in runs { disk.write(after.read("/store/index/\(run)")!, to: "/store/index/\(run)") }
        for path in after.list("/store/segments") {
          disk.write(after.read("/store/segments/\(path)")!, to: "/store/segments/\(path)")
        }
        disk.write(bytes, to: next)
        #expect(try Store(disk).state() == shown, "\(name): without damage the control file alone counts")
        disk.loseControlSlot(newest: false)
        let store = try Store(disk)
        #expect(try store.snapshot().generation == newest + (isAdopted ? 1 : 0), "\(name)")
        #expect(try store.mayHideCommit == !isAdopted, "\(name)")
        for run in runs where !base.exists("/store/index/\(run)") && isAdopted {
          sim_remove(disk.raw, "/store/index/\(run)")
          #expect(try Store(disk).snapshot().generation == newest, "\(name), without a run")
          #expect(try Store(disk).mayHideCommit, "\(name), without a run")
        }
      }
    }

    /// A slot is adopted alike by those that had the store open before it was lost, and the collection of the next commit
    /// takes nothing of what they hold.
    @Test func openersAgree() throws {
      let disk = try History.afterAtomic.make(), before = try Store(disk), held = try before.snapshot()
      disk.loseControlSlot()
      let after = try Store(disk), process = try Store(disk, process: sim_start_process(disk.raw, 2))
      for store in [before, after, process] { #expect(try store.snapshot().generation == held.generation) }
      try process.commit(keep: 1) { try $0.add("p", "/small") }
      try process.commit(keep: 1) { try $0.add("p", "/one") }
      for store in [before, after, process] { #expect(try store.snapshot().generation == held.generation + 2) }
      #expect(try held.faults(deep: true).isEmpty)
    }
  }
}

/// A number as names of files have it.
func hex16(_ number: UInt64) -> String {
  String(repeating: "0", count: 16 - String(number, radix: 16).count) + String(number, radix: 16)
}
