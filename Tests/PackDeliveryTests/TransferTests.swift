import Foundation
import PackDelivery
import PackStore
import Testing

/// Memory of transfers.
@Suite struct TransferTests {
  /// Buffers never overlap, are parts of the ring, and are returned.
  @Test(arguments: 1...20) func ringGivesDistinctMemory(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let folders = [FilePath(FileManager.default.temporaryDirectory.path), FilePath("/proc/none"), nil]
    var ring = TransferRing(byteCount: 1000, in: folders[Int(seed % 3)])
    var taken: [UnsafeMutableRawBufferPointer] = []
    var refusals = 0, total = 0
    for step in 0..<2000 {
      if Bool.random(using: &generator), let bytes = ring.take(Int.random(in: 1...400, using: &generator)) {
        for other in taken {
          #expect(
            bytes.baseAddress! >= other.baseAddress! + other.count
              || bytes.baseAddress! + bytes.count <= other.baseAddress!)
        }
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: step) }
        taken.append(bytes)
        total += 1
      } else if let oldest = taken.first {
        #expect(oldest.allSatisfy { $0 == oldest[0] }, "no other task wrote there")
        ring.returnOldest()
        taken.removeFirst()
        refusals += 1
      }
      #expect(taken.reduce(0) { $0 + $1.count } <= 1000)
    }
    #expect(total > 100 && refusals > 100)
  }

  @Test func ringIsUsedWhole() {
    var ring = TransferRing(byteCount: 100)
    #expect(ring.take(101) == nil)
    #expect(ring.take(60) != nil)
    #expect(ring.take(40) != nil)
    #expect(ring.take(1) == nil)
    ring.returnOldest()
    #expect(ring.take(61) == nil)
    #expect(ring.take(60) != nil, "where the oldest was")
    #expect(ring.take(1) == nil)
    ring.returnOldest()
    #expect(ring.take(40) != nil)
    ring.returnOldest()
    ring.returnOldest()
    #expect(ring.take(100) != nil)
  }
}
