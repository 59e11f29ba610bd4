import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The control file: two slots, of which at least one must count.
  @Suite struct ControlTests {
    private static let slotSize = Int(PKS__CONTROL_SLOT_SIZE)
    private static let boot = [UInt8](100..<116)
    private static let otherBoot = [UInt8](200..<216)

    private static func slot(_ generation: UInt64, durable: Bool = true, boot: [UInt8] = boot) -> pks__control_slot {
      var slot = pks__control_slot()
      slot.chunk_average = 16_384
      slot.generation = generation
      slot.file_length = 10 * generation
      slot.file_sum = 100 * generation
      slot.durable = durable
      withUnsafeMutableBytes(of: &slot.boot_id) { $0.copyBytes(from: boot) }
      withUnsafeMutableBytes(of: &slot.store_id) { $0.copyBytes(from: (0..<16).map { UInt8($0) }) }
      return slot
    }

    /// The bytes of a slot, by way of a new store's file.
    private static func bytes(_ slot: pks__control_slot) -> [UInt8] {
      var slot = slot
      var file = [UInt8](repeating: 0, count: 2 * slotSize)
      pks__control_encode_new(&slot, &file)
      return Array(file.prefix(slotSize))
    }

    private static func read(_ file: [UInt8], boot: [UInt8] = boot) throws -> pks__control {
      let home = ScratchHome()
      home.put("CONTROL", file)
      let handle = home.open("CONTROL", PKS__OPEN_READ)
      defer { home.close(handle) }
      var control = pks__control()
      try attempt { pks__control_read(home.vfs, handle, boot, &control, $0) }
      return control
    }

    private static func current(_ file: [UInt8], boot: [UInt8] = boot) throws -> UInt64 {
      var control = try read(file, boot: boot)
      return withUnsafePointer(to: &control) { pks__control_current($0).pointee.generation }
    }

    private static let empty = [UInt8](repeating: 0, count: slotSize)

    /// An atomic commit writes over the slot of the atomic one before it. Who read the file in the middle of that took the
    /// damaged slot for one that a crash had left, and showed the durable generation before for a moment.
    @Test func aSlotThatIsBeingWritten() throws {
      let home = ScratchHome()
      home.put("CONTROL", Self.bytes(Self.slot(4)) + Self.bytes(Self.slot(5, durable: false)))
      let handle = home.open("CONTROL", PKS__OPEN_READ)
      defer { home.close(handle) }
      for seed in 0..<64 as Range<UInt64> {
        sim_tell_lie(home.disk.raw, SIM_LIE_FLIPPED, SIM_CALL_READ, nil, 0, seed, false)
        var control = pks__control()
        try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) }
        #expect(withUnsafePointer(to: &control) { pks__control_current($0).pointee.generation } == 5, "seed \(seed)")
      }
    }

    @Test func theNewerSlotCounts() throws {
      let four = Self.bytes(Self.slot(4)), five = Self.bytes(Self.slot(5))
      #expect(try Self.current(four + five) == 5)
      #expect(try Self.current(five + four) == 5)
      #expect(try Self.current(four + Self.empty) == 4)
      #expect(try Self.current(Self.empty + four) == 4)
      #expect(try Self.current(four) == 4, "a file that ends after its first slot")
      let control = try Self.read(four + five)
      #expect(
        control.slots.1.file_length == 50 && control.slots.1.file_sum == 500 && control.slots.1.chunk_average == 16_384)
      #expect(withUnsafeBytes(of: control.slots.1.store_id) { Array($0) } == (0..<16).map { UInt8($0) })
    }

    /// Torn at any sector, or with any bit of it flipped, a slot does not count, and the other one does.
    @Test func tornSlot() throws {
      let four = Self.bytes(Self.slot(4)), five = Self.bytes(Self.slot(5)), three = Self.bytes(Self.slot(3))
      for mask in 1..<255 {  // which sectors of the new slot arrived
        var torn = three
        for sector in 0..<8 where mask >> sector & 1 == 1 {
          torn.replaceSubrange(sector * 512..<(sector + 1) * 512, with: five[sector * 512..<(sector + 1) * 512])
        }
        if torn != five && torn != three { #expect(try Self.current(four + torn) == 4, "sectors \(mask)") }
      }
      for bit in (0..<8 * 96).map({ $0 }) + ((8 * Self.slotSize - 80)..<8 * Self.slotSize) {
        var flipped = five
        flipped[bit / 8] ^= 1 << (bit % 8)
        #expect(try Self.current(four + flipped) == 4, "bit \(bit)")
      }
    }

    @Test func bothTorn() throws {
      var four = Self.bytes(Self.slot(4)), five = Self.bytes(Self.slot(5))
      four[20] ^= 1
      five[20] ^= 1
      #expect(try status { _ = try Self.read(four + five) } == PKS_CORRUPT)
      #expect(try status { _ = try Self.read(four + Self.empty) } == PKS_CORRUPT)
    }

    /// A file of the right size may be a control file that lost its beginning; any other is somebody else's.
    @Test func notAControlFile() throws {
      for file in [[], Self.empty, [UInt8](repeating: 0x41, count: 8_191), Array("PKSCTRL".utf8)] {
        #expect(try status { _ = try Self.read(file) } == PKS_NOT_A_STORE, "\(file.count) bytes")
      }
      #expect(try status { _ = try Self.read(Self.empty + Self.empty) } == PKS_CORRUPT)
    }

    /// An atomic slot counts until the machine starts anew; then the durable one does.
    @Test func atomicSlots() throws {
      let durable = Self.bytes(Self.slot(4)), atomic = Self.bytes(Self.slot(5, durable: false))
      #expect(try Self.current(durable + atomic) == 5)
      #expect(try Self.current(durable + atomic, boot: Self.otherBoot) == 4)
      #expect(try Self.current(atomic + durable, boot: Self.otherBoot) == 4)
      #expect(try Self.current(durable + atomic, boot: Self.boot.reversed()) == 4)
      #expect(try status { _ = try Self.read(atomic + atomic, boot: Self.otherBoot) } == PKS_CORRUPT)
      #expect(
        try Self.current(Self.bytes(Self.slot(4, boot: Self.otherBoot))) == 4,
        "a durable slot's boot id does not matter")
    }

    @Test(arguments: otherFormats) func otherFormat(format: [UInt8], expected: pks_status) throws {
      var other = Self.bytes(Self.slot(5))
      other.replaceSubrange(8..<12, with: format)
      let sum = other.withUnsafeBytes { pks__checksum($0.baseAddress, Self.slotSize - 8) }
      other.replaceSubrange((Self.slotSize - 8)..., with: withUnsafeBytes(of: sum.littleEndian) { Array($0) })
      let four = Self.bytes(Self.slot(4))
      for file in [other + Self.empty, four + other, other + four] {
        #expect(try status { _ = try Self.read(file) } == expected)
      }
    }

    /// What is written never takes away the newest durable generation.
    @Test func whichSlotIsWritten() throws {
      let cases: [(slots: [pks__control_slot?], boot: [UInt8], written: Int, spared: UInt64)] = [
        ([Self.slot(4), nil], Self.boot, 1, 4),
        ([nil, Self.slot(4)], Self.boot, 0, 4),
        ([Self.slot(4), Self.slot(5)], Self.boot, 0, 5),
        ([Self.slot(5), Self.slot(4)], Self.boot, 1, 5),
        ([Self.slot(4), Self.slot(5, durable: false)], Self.boot, 1, 4),
        ([Self.slot(5, durable: false), Self.slot(4)], Self.boot, 0, 4),
        ([Self.slot(4), Self.slot(5, durable: false)], Self.otherBoot, 1, 4),
        ([Self.slot(9, durable: false), Self.slot(4)], Self.otherBoot, 0, 4),
      ]
      for (number, (slots, boot, written, spared)) in cases.enumerated() {
        let file = slots.flatMap { $0.map(Self.bytes) ?? Self.empty }
        let home = ScratchHome()
        home.put("CONTROL", file)
        let handle = home.open("CONTROL", PKS__OPEN_READ_WRITE)
        defer { home.close(handle) }
        var control = pks__control(), next = Self.slot(10)
        try attempt { pks__control_read(home.vfs, handle, boot, &control, $0) }
        #expect(
          withUnsafePointer(to: &control) { pks__control_spared($0).pointee.generation } == spared, "case \(number)")
        let syncs = sim_call_count(home.disk.raw, SIM_CALL_SYNC_FILE)
        try attempt { pks__control_write(home.vfs, handle, &control, &next, true, $0) }
        #expect(sim_call_count(home.disk.raw, SIM_CALL_SYNC_FILE) == syncs + 1)
        let after = home.read("CONTROL"), other = (1 - written) * Self.slotSize
        #expect(
          Array(after[other..<(other + Self.slotSize)]) == Array(file[other..<(other + Self.slotSize)]),
          "case \(number)")
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
      home.put("CONTROL", three + four)
      sim_set_failed_sync(home.disk.raw, mode)
      func write(_ generation: UInt64) throws -> pks_status {
        let handle = home.open("CONTROL", PKS__OPEN_READ_WRITE)
        defer { home.close(handle) }
        var control = pks__control(), next = Self.slot(generation)
        try attempt { pks__control_read(home.vfs, handle, Self.boot, &control, $0) }
        return try status { try attempt { pks__control_write(home.vfs, handle, &control, &next, true, $0) } }
      }
      sim_fail(home.disk.raw, SIM_CALL_SYNC, nil, 0, EIO, false)
      #expect(try write(5) == PKS_IO_ERROR)
      #expect(try Self.current(home.read("CONTROL")) == 5)
      #expect(Array(home.read("CONTROL")[Self.slotSize...]) == four)
      #expect(try [4, 5].contains(Self.current(home.disk.crash(SIM_CRASH_MIN).read("/home/CONTROL")!)))
      #expect(try write(6) == PKS_OK)
      let after = home.read("CONTROL")
      #expect(Array(after[Self.slotSize...]) == four, "the slot that lasts was not written over")
      #expect(try Self.current(after) == 6)
      #expect(try Self.current(home.disk.crash(SIM_CRASH_MIN).read("/home/CONTROL")!) == 6)
    }
  }
}
