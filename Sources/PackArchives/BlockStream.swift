import CPackArchives
import PackStore

/// Decodes Apple's compressed container: `pbz` and a letter, the block size, and for each block its raw length, its length, and its
/// bytes.
final class BlockStream: ByteStream {
  /// The maximum block size; Apple's tools write blocks of 1 to 16 MiB.
  static let blockLimit = 16 << 20

  enum Coding: UInt8 {
    case lzfse = 0x65  // "e"
    case lz4 = 0x34  // "4"
    case deflate = 0x7A  // "z"
    case xz = 0x78  // "x"
  }

  private let source: StreamReader
  private let coding: Coding
  private let faults: ArchiveFaults
  private var budget: ByteBudget
  private var block: [UInt8] = []
  private var position = 0
  private var hasEnded = false

  /// - Throws: `refused` for an unsupported encoding.
  init(_ source: StreamReader, _ budget: ByteBudget, _ faults: ArchiveFaults) throws {
    let header = try source.bytes(12, "the header of the blocks")
    guard let coding = Coding(rawValue: header[3]) else {
      let name = header[3] == 0x62 ? "LZBITMAP" : "an unknown code, '\(shown([header[3]]))'"
      throw faults.refused(
        "is compressed with \(name), which is not supported", remedy: "create it again with LZFSE, LZ4, LZMA or zlib")
    }
    self.source = source
    self.coding = coding
    self.budget = budget
    self.faults = faults
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while position == block.count {
      guard !hasEnded, try nextBlock() else { return 0 }
    }
    let part = block[position...].prefix(buffer.count)
    buffer.copyBytes(from: part)
    position += part.count
    return part.count
  }

  /// Reads and decodes a block; returns false at the end. The last block may be empty.
  private func nextBlock() throws -> Bool {
    if try source.isAtEnd() { return false }
    let header = try source.bytes(16, "the header of a block")
    let rawCount = UInt64(bigEndian: header[..<8]), storedCount = UInt64(bigEndian: header[8...])
    guard rawCount <= Self.blockLimit, storedCount <= Self.blockLimit + Self.blockLimit / 16 else {
      throw faults.refused(
        "has a block of \(max(rawCount, storedCount)) bytes; the limit is \(Self.blockLimit >> 20) MiB",
        remedy: "create it again with smaller blocks")
    }
    position = 0
    guard rawCount > 0 else {
      guard try storedCount == 0 && source.isAtEnd() else { throw faults.damaged("an empty block is not the last one") }
      block = []
      hasEnded = true
      return false
    }
    try budget.take(rawCount)
    let stored = try source.bytes(Int(storedCount), "a block")
    block = rawCount == storedCount ? stored : try decode(stored, Int(rawCount))
    return true
  }

  private func decode(_ stored: [UInt8], _ rawCount: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: rawCount) { target, count in
      let isWhole =
        switch coding {
        case .lzfse: pka_lzfse_decode(stored, stored.count, target.baseAddress!, rawCount)
        case .lz4: pka_lz4_decode(stored, stored.count, target.baseAddress!, rawCount)
        case .deflate: pka_deflate_decode(stored, stored.count, target.baseAddress!, rawCount)
        case .xz: pka_xz_decode(stored, stored.count, target.baseAddress!, rawCount)
        }
      guard isWhole else { throw faults.damaged("a compressed block is damaged") }
      count = rawCount
    }
  }
}
