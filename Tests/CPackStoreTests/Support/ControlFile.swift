import CPackStore
import CPackStoreTesting

/// The control file's layout, for tests that damage or compose one.
enum ControlFile {
  static let size = Int(PKS__CONTROL_SIZE), copySize = Int(PKS__CONTROL_COPY_SIZE)

  /// A copy of a slot.
  struct Copy: Hashable, CustomStringConvertible {
    var slot, number: Int
    var offset: Int { Int(pks__control_offset(slot, number)) }
    var description: String { "copy \(number) of slot \(slot)" }
  }

  static let copies = [0, 1].flatMap { number in [0, 1].map { Copy(slot: $0, number: number) } }

  static func copies(of slot: Int) -> [Copy] { copies.filter { $0.slot == slot } }

  /// The generation that the first copy of a slot names.
  static func generation(of slot: Int, in bytes: [UInt8]) -> UInt64 {
    let at = Copy(slot: slot, number: 0).offset + Int(PKS__CONTROL_GENERATION_OFFSET)
    return (0..<8).reduce(0) { $0 | UInt64(bytes[at + $1]) << (8 * $1) }
  }

  /// The slot of the higher generation; the first if both name the same.
  static func newestSlot(in bytes: [UInt8]) -> Int {
    generation(of: 1, in: bytes) > generation(of: 0, in: bytes) ? 1 : 0
  }
}

extension Disk {
  /// Flips a bit in copies of the store's control file.
  func damageControl(_ copies: [ControlFile.Copy], at offset: Int = 100) {
    for copy in copies { _ = sim_corrupt(raw, "/store/CONTROL", UInt64(copy.offset + offset), 1) }
  }

  /// Damages both copies of the newest slot, or of the other one.
  func loseControlSlot(newest: Bool = true) {
    let slot = ControlFile.newestSlot(in: read("/store/CONTROL")!)
    damageControl(ControlFile.copies(of: newest ? slot : 1 - slot))
  }
}
