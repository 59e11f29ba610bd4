import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The control file: two slots of two copies each, of which at least one must count.
  @Suite struct ControlTests {
    private static let boot = [UInt8](100..<116)
    private static let otherBoot = [UInt8](200..<216)

    private static func slot(
      _ generation: UInt64, durable: Bool = true, inDoubt: Bool = false, boot: [UInt8] = boot
    ) -> pks__control_slot {
      var slot = pks__control_slot()
      slot.chunk_average = 16_384
      slot.generation = generation
      slot.file_length = 10 * generation
      slot.file_sum = 100 * generation
      slot.durable = durable
      slot.in_doubt = inDoubt
      slot.predecessor = generation - 1
      withUnsafeMutableBytes(of: &slot.boot_id) { $0.copyBytes(from: boot) }
      withUnsafeMutableBytes(of: &slot.store_id) { $0.copyBytes(from: (0..<16).map { UInt8($0) }) }
      return slot
    }

    /// The bytes of one copy of a slot, by way of a new store's file.
    private static func bytes(_ slot: pks__control_slot) -> [UInt8] {
      var slot = slot
      var file = [UInt8](repeating: 0, count: ControlFile.size)
      pks__control_encode_new(&slot, &file)
      return Array(file.prefix(ControlFile.copySize))
    }

    /// A file of two slots, each in two copies.
    private static func file(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] { first + second + first + second }

    private static func read(_ file: [UInt8], boot: [UInt8] = boot) throws -> pks__control {
      let home = ScratchHome()
      home.put("CONTROL", file)
      let handle = home.open("CONTROL", PKS_VFS_OPEN_READ)
      defer { home.close(handle) }
      var control = pks__control()
      try attempt { pks__control_read(home.vfs, handle, boot, &control, $0) }
      return control
    }

    private static func current(_ control: pks__control) -> pks__control_slot {
      withUnsafePointer(to: control) { pks__control_current($0).pointee }
    }

    private static func current(_ file: [UInt8], boot: [UInt8] = boot) throws -> UInt64 {
      current(try read(file, boot: boot)).generation
    }

    private static let empty = [UInt8](repeating: 0, count: ControlFile.copySize)

    /// Copies with their sums put right, after something of them was changed.
    private static func summed(_ bytes: [UInt8]) -> [UInt8] {
      let sum = bytes.withUnsafeBytes { pks__checksum($0.baseAddress, 504) }
      var changed = bytes
      changed.replaceSubrange(504..<512, with: withUnsafeBytes(of: sum.littleEndian) { Array($0) })
      return changed
    }

    /// An atomic commit writes over the slot of the atomic one before it. Who read the file in the middle of that took the
    /// damaged slot for one that a crash had left, and showed the durable generation before for a moment.
    @Test func aSlotThatIsBeingWritten() throws {
      let home = ScratchHome()
      home.put("CONTROL", Self.file(Self.bytes(Self.slot(4)), Self.bytes(Self.slot(5, durable: false))))
      let handle = home.open("CONTROL", PKS_VFS_OPEN_READ)
      defer { home.close(handle) }
      for seed in 0..<64 as Range<UInt64> {
        sim_tell_lie(home.disk.raw, SIM_LIE_FLIPPED, SIM_CALL_READ, nil, 0, seed, false)
        var control = pks__control()
        try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) }
        #expect(Self.current(control).generation == 5, "seed \(seed)")
      }
    }

    @Test func theNewerSlotCounts() throws {
      let four = Self.bytes(Self.slot(4)), five = Self.bytes(Self.slot(5))
      #expect(try Self.current(Self.file(four, five)) == 5)
      #expect(try Self.current(Self.file(five, four)) == 5)
      #expect(try Self.current(Self.file(four, Self.empty)) == 4)
      #expect(try Self.current(Self.file(Self.empty, four)) == 4)
      #expect(try Self.current(four) == 4, "a file that ends after its first copy")
      #expect(try Self.current(Array(four.prefix(512))) == 4, "a file that ends after what a copy says")
      let control = try Self.read(Self.file(four, five))
      #expect(
        control.slots.1.file_length == 50 && control.slots.1.file_sum == 500 && control.slots.1.chunk_average == 16_384
          && control.slots.1.predecessor == 4)
      #expect(withUnsafeBytes(of: control.slots.1.store_id) { Array($0) } == (0..<16).map { UInt8($0) })
      #expect(withUnsafePointer(to: control) { !pks__control_needs_mending($0) })
    }

    /// A damaged copy costs nothing, and two of different slots cost nothing, in whatever bit they are damaged. With both
    /// copies of a slot damaged the other slot is left, and the slot may hide something if it was the newer one.
    @Test func damagedCopies() throws {
      let whole = Self.file(Self.bytes(Self.slot(4)), Self.bytes(Self.slot(5)))
      let bits = Array(0..<8 * 96) + [8 * 200, 8 * 503, 8 * 504, 8 * 511 + 7, 8 * 512, 8 * 4_095 + 7]
      for (index, bit) in bits.enumerated() {
        for mask in 1..<16 {  // which copies
          var file = whole
          for (number, copy) in ControlFile.copies.enumerated() where mask >> number & 1 == 1 {
            let flipped = bits[(index + number) % bits.count]
            file[copy.offset + flipped / 8] ^= 1 << (flipped % 8)
          }
          let isLost = [0, 1].map { slot in mask >> slot & 0b101 == 0b101 }
          guard isLost != [true, true] else {
            #expect(try status { _ = try Self.read(file) } == PKS_CORRUPT, "bit \(bit), copies \(mask)")
            continue
          }
          let control = try Self.read(file)
          #expect(Self.current(control).generation == (isLost[1] ? 4 : 5), "bit \(bit), copies \(mask)")
          let mayHide = withUnsafePointer(to: control) { control in (0..<2).map { pks__control_may_hide(control, $0) } }
          #expect(mayHide[1] == isLost[1] && mayHide[0] == (mask & 0b101 != 0 && !isLost[1]), "copies \(mask)")
          #expect(withUnsafePointer(to: control) { pks__control_needs_mending($0) })
        }
      }
    }

    /// A copy that cannot be read is like a damaged one.
    @Test func unreadableCopies() throws {
      let home = ScratchHome()
      home.put("CONTROL", Self.file(Self.bytes(Self.slot(4)), Self.bytes(Self.slot(5))))
      let handle = home.open("CONTROL", PKS_VFS_OPEN_READ)
      defer { home.close(handle) }
      // The whole file is read first, then its copies one by one.
      for unreadable in 0..<3 {
        sim_fail(home.disk.raw, SIM_CALL_READ, nil, 0, EIO, true)
        var control = pks__control()
        #expect(
          try status { try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) } } == PKS_IO_ERROR)
        sim_clear_faults(home.disk.raw)
        let seam = Seam(home.disk)
        var reads = 0
        seam.onCall = { call in
          guard call == .read else { return 0 }
          reads += 1
          return reads == 1 || reads == unreadable + 2 ? EIO : 0
        }
        try attempt { pks__control_read(seam.vfs, handle, Self.boot, &control, $0) }
        #expect(Self.current(control).generation == 5 && control.is_unreadable, "copy \(unreadable)")
        #expect(withUnsafePointer(to: control) { pks__control_needs_mending($0) })
      }
    }

    /// A crash in the middle of a commit leaves each copy as it was or as it was to be: the old generation or the new one.
    /// What was promised last of one generation is the weaker.
    @Test func cutWrites() throws {
      let four = Self.slot(4), three = Self.slot(3), five = Self.slot(5)
      let atomic = Self.slot(5, durable: false), doubted = Self.slot(5, durable: false, inDoubt: true)
      let stale = Self.slot(9, durable: false, boot: Self.otherBoot), six = Self.slot(6, durable: false)
      let cases: [(old: pks__control_slot, new: pks__control_slot, counts: pks__control_slot)] = [
        (three, five, five), (stale, five, five), (atomic, six, six), (atomic, doubted, doubted),
        (five, atomic, atomic),
        (five, doubted, doubted),
      ]
      for (number, (old, new, counts)) in cases.enumerated() {
        for copies in [(old, new), (new, old)] {
          let file = Self.bytes(four) + Self.bytes(copies.0) + Self.bytes(four) + Self.bytes(copies.1)
          let control = try Self.read(file), current = Self.current(control)
          #expect(current.generation == counts.generation && current.durable == counts.durable, "case \(number)")
          #expect(current.in_doubt == counts.in_doubt, "case \(number)")
          #expect(withUnsafePointer(to: control) { pks__control_needs_mending($0) && !pks__control_may_hide($0, 1) })
        }
      }
    }

    /// Mending writes what is damaged or was cut, and nothing else.
    @Test(arguments: [false, true]) func mending(sync: Bool) throws {
      let four = Self.bytes(Self.slot(4)), five = Self.bytes(Self.slot(5)), whole = Self.file(four, five)
      var flipped = five
      flipped[100] ^= 1
      for file in [whole, four + flipped + four + five, Self.empty + five + four + five, four + five + four + four] {
        let home = ScratchHome()
        home.put("CONTROL", file)
        let handle = home.open("CONTROL", PKS_VFS_OPEN_READ_WRITE)
        defer { home.close(handle) }
        var control = pks__control()
        try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) }
        let writes = sim_call_count(home.disk.raw, SIM_CALL_WRITE), syncs = sim_call_count(home.disk.raw, SIM_CALL_SYNC)
        try attempt { pks__control_mend(home.vfs, handle, &control, sync, $0) }
        #expect(sim_call_count(home.disk.raw, SIM_CALL_WRITE) - writes == (file == whole ? 0 : 1))
        #expect(sim_call_count(home.disk.raw, SIM_CALL_SYNC) - syncs == (sync ? 1 : 0))
        #expect(home.read("CONTROL") == whole)
      }
    }

    @Test func bothSlotsLost() throws {
      var four = Self.bytes(Self.slot(4)), five = Self.bytes(Self.slot(5))
      four[20] ^= 1
      five[20] ^= 1
      #expect(try status { _ = try Self.read(Self.file(four, five)) } == PKS_CORRUPT)
      #expect(try status { _ = try Self.read(Self.file(four, Self.empty)) } == PKS_CORRUPT)
    }

    /// A file of the right size may be a control file that lost its beginning; any other is another program's.
    @Test func notAControlFile() throws {
      for file in [[], Self.empty, [UInt8](repeating: 0x41, count: 8_191), Array("PKSCTRL".utf8)] {
        #expect(try status { _ = try Self.read(file) } == PKS_NOT_A_STORE, "\(file.count) bytes")
      }
      #expect(try status { _ = try Self.read(Self.file(Self.empty, Self.empty)) } == PKS_CORRUPT)
    }

    /// An atomic slot counts until the machine starts again; then the durable one does.
    @Test func atomicSlots() throws {
      let durable = Self.bytes(Self.slot(4)), atomic = Self.bytes(Self.slot(5, durable: false))
      #expect(try Self.current(Self.file(durable, atomic)) == 5)
      #expect(try Self.current(Self.file(durable, atomic), boot: Self.otherBoot) == 4)
      #expect(try Self.current(Self.file(atomic, durable), boot: Self.otherBoot) == 4)
      #expect(try Self.current(Self.file(durable, atomic), boot: Self.boot.reversed()) == 4)
      #expect(try status { _ = try Self.read(Self.file(atomic, atomic), boot: Self.otherBoot) } == PKS_CORRUPT)
      #expect(
        try Self.current(Self.file(Self.bytes(Self.slot(4, boot: Self.otherBoot)), Self.empty)) == 4,
        "a durable slot's boot id does not matter")
    }

    /// Another version, or another draft, is said to be that: where its sums fit, and where all that there is of a control
    /// file names it, wherever that has its sums. A store of the first draft had two slots and sums elsewhere.
    @Test func otherFormats() throws {
      let four = Self.bytes(Self.slot(4))
      func with(_ format: UInt32, in bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        changed.replaceSubrange(8..<12, with: withUnsafeBytes(of: format.littleEndian) { Array($0) })
        return changed
      }
      let newer = pks_format() + 1, feature = pks_format() | 0x1_0000, draft: UInt32 = 0x8_0000
      for (format, expected) in [
        (newer, PKS_NEWER_FORMAT), (feature, PKS_NEWER_FORMAT), (draft, PKS_OTHER_DRAFT), (0, PKS_OTHER_DRAFT),
      ] {
        let summed = Self.summed(with(format, in: four)), unsummed = with(format, in: four)
        for file in [
          Self.file(summed, Self.empty), Self.file(four, summed), Self.file(summed, four),
          Self.file(unsummed, unsummed), unsummed + Self.empty, unsummed + unsummed,
        ] {
          #expect(try status { _ = try Self.read(file) } == expected)
        }
        #expect(try Self.current(Self.file(four, unsummed)) == 4, "a damaged copy of this version")
      }
    }

    /// What is written never takes away the newest durable generation.
    @Test func whichSlotIsWritten() throws {
      let cases: [(slots: [pks__control_slot?], boot: [UInt8], written: Int, spared: UInt64)] = [
        ([Self.slot(4), nil], Self.boot, 1, 4),
        ([nil, Self.slot(4)], Self.boot, 0, 4),
        ([Self.slot(4), Self.slot(4)], Self.boot, 1, 4),
        ([Self.slot(4), Self.slot(5)], Self.boot, 0, 5),
        ([Self.slot(5), Self.slot(4)], Self.boot, 1, 5),
        ([Self.slot(4), Self.slot(5, durable: false)], Self.boot, 1, 4),
        ([Self.slot(5, durable: false), Self.slot(4)], Self.boot, 0, 4),
        ([Self.slot(4), Self.slot(5, durable: false)], Self.otherBoot, 1, 4),
        ([Self.slot(9, durable: false), Self.slot(4)], Self.otherBoot, 0, 4),
      ]
      for (number, (slots, boot, written, spared)) in cases.enumerated() {
        let copies = slots.map { $0.map(Self.bytes) ?? Self.empty }, file = Self.file(copies[0], copies[1])
        let home = ScratchHome()
        home.put("CONTROL", file)
        let handle = home.open("CONTROL", PKS_VFS_OPEN_READ_WRITE)
        defer { home.close(handle) }
        var control = pks__control(), next = Self.slot(10), gone = false
        try attempt { pks__control_read(home.vfs, handle, boot, &control, $0) }
        #expect(
          withUnsafePointer(to: &control) { pks__control_spared($0).pointee.generation } == spared, "case \(number)")
        let syncs = sim_call_count(home.disk.raw, SIM_CALL_SYNC_FILE)
        try attempt { pks__control_write(home.vfs, handle, &control, &next, true, &gone, $0) }
        #expect(sim_call_count(home.disk.raw, SIM_CALL_SYNC_FILE) == syncs + 1)
        let after = home.read("CONTROL")
        for copy in ControlFile.copies {
          let range = copy.offset..<copy.offset + ControlFile.copySize
          #expect(
            Array(after[range]) == (copy.slot == written ? Self.bytes(next) : Array(file[range])), "case \(number)")
        }
        #expect(try Self.current(after, boot: boot) == 10, "case \(number)")
        // Written and synced, it survives.
        let lost = home.disk.crash(SIM_CRASH_MIN).read("/home/CONTROL")!
        #expect(lost == after)
      }
    }

    /// A slot whose sync failed may or may not last: it counts for now, but the next commit writes over it, and the one that
    /// is known to last stays.
    @Test(arguments: [SIM_FAILED_SYNC_LOSES, SIM_FAILED_SYNC_KEEPS]) func aSyncThatFailed(_ mode: sim_failed_sync)
      throws
    {
      let home = ScratchHome(), four = Self.bytes(Self.slot(4)), three = Self.bytes(Self.slot(3))
      home.put("CONTROL", Self.file(three, four))
      sim_set_failed_sync(home.disk.raw, mode)
      func write(_ generation: UInt64) throws -> pks_status {
        let handle = home.open("CONTROL", PKS_VFS_OPEN_READ_WRITE)
        defer { home.close(handle) }
        var control = pks__control(), next = Self.slot(generation), gone = true
        try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) }
        let result = try status {
          try attempt { pks__control_write(home.vfs, handle, &control, &next, true, &gone, $0) }
        }
        #expect(!gone)
        return result
      }
      func isFourThere(_ bytes: [UInt8]) -> Bool {
        ControlFile.copies(of: 1).allSatisfy { Array(bytes[$0.offset..<$0.offset + ControlFile.copySize]) == four }
      }
      sim_fail(home.disk.raw, SIM_CALL_SYNC, nil, 0, EIO, false)
      #expect(try write(5) == PKS_IO_ERROR)
      #expect(try Self.current(home.read("CONTROL")) == 5)
      #expect(isFourThere(home.read("CONTROL")))
      #expect(try [4, 5].contains(Self.current(home.disk.crash(SIM_CRASH_MIN).read("/home/CONTROL")!)))
      #expect(try write(6) == PKS_OK)
      let after = home.read("CONTROL")
      #expect(isFourThere(after), "the slot that lasts was not written over")
      #expect(try Self.current(after) == 6)
      #expect(try Self.current(home.disk.crash(SIM_CRASH_MIN).read("/home/CONTROL")!) == 6)
    }

    /// A write that fails in either copy leaves the slot as it was, and says that nothing of the new one is left.
    @Test(arguments: [UInt64(0), 1]) func aWriteThatFails(copy: UInt64) throws {
      let home = ScratchHome(), file = Self.file(Self.bytes(Self.slot(3)), Self.bytes(Self.slot(4)))
      home.put("CONTROL", file)
      let handle = home.open("CONTROL", PKS_VFS_OPEN_READ_WRITE)
      defer { home.close(handle) }
      var control = pks__control(), next = Self.slot(5), gone = false
      try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) }
      sim_fail(home.disk.raw, SIM_CALL_WRITE, nil, copy, EIO, false)
      let result = try status { try attempt { pks__control_write(home.vfs, handle, &control, &next, true, &gone, $0) } }
      #expect(result == PKS_IO_ERROR && gone)
      #expect(home.read("CONTROL") == file && home.disk.crash(SIM_CRASH_MAX).read("/home/CONTROL")! == file)
    }
  }
}
