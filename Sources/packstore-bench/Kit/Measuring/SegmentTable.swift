import Foundation

/// The table of a segment file, read at the offsets that section 7 of the format gives.
struct SegmentTable {
  struct Frame {
    let offset: Int
    let storedLength: Int
    let rawLength: Int
    let isRaw: Bool
  }

  /// Of the whole file.
  let byteCount: Int
  let isMetadata: Bool
  let frameCount: Int
  let chunkCount: Int
  /// Where the frames end and the table begins.
  let framesEnd: Int
  private let file: Data
  private let rows: Int
  private let ends: Int

  init(ofFileAt path: String) throws {
    let file = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    let trailer = file.count - 64
    guard trailer >= 64 else { throw CocoaError(.fileReadCorruptFile) }
    let body = file.number(UInt64.self, at: trailer + 16)
    guard body >= 0, body <= trailer - 48 else { throw CocoaError(.fileReadCorruptFile) }
    self.file = file
    byteCount = file.count
    isMetadata = file.number(UInt32.self, at: body + 4) == 2
    frameCount = file.number(UInt32.self, at: body + 8)
    chunkCount = file.number(UInt32.self, at: body + 12)
    rows = body + file.number(UInt64.self, at: body + 16)
    ends = body + file.number(UInt64.self, at: body + 32)
    framesEnd = file.number(UInt64.self, at: body + 40)
  }

  func frame(_ index: Int) -> Frame {
    let row = rows + index * 24
    let next = index + 1 < frameCount ? file.number(UInt32.self, at: row + 24 + 12) : chunkCount
    return Frame(
      offset: file.number(UInt32.self, at: row) | file.number(UInt16.self, at: row + 4) << 32
        | file.number(UInt8.self, at: row + 6) << 48,
      storedLength: file.number(UInt32.self, at: row + 8),
      rawLength: file.number(UInt32.self, at: ends + (next - 1) * 4),
      isRaw: file[file.startIndex + row + 7] == 0
    )
  }
}

extension Data {
  fileprivate func number<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Int {
    withUnsafeBytes { Int(Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))) }
  }
}
