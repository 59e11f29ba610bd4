import Foundation

/// The table of a segment file, read at the offsets in section 7 of the format.
struct SegmentTable {
  struct Frame {
    let offset: Int
    let storedLength: Int
    let rawLength: Int
    let isRaw: Bool
    /// The index of the frame's dictionary in this segment; `nil` if it has none.
    var dictionary: Int?
    /// The ends of the frame's chunks in its raw bytes.
    var chunkEnds: [Int] = []
  }

  /// The length of the file.
  let byteCount: Int
  let isMetadata: Bool
  let frameCount: Int
  let chunkCount: Int
  let dictionaryCount: Int
  /// The offset of the end of the frames, where the table begins.
  let framesEnd: Int
  private let file: Data
  private let rows: Int
  private let ends: Int
  private let dictionaryRows: Int

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
    dictionaryRows = body + file.number(UInt64.self, at: body + 48)
    dictionaryCount = file.number(UInt32.self, at: body + 56)
  }

  func frame(_ index: Int) -> Frame {
    let row = rows + index * 24
    let first = file.number(UInt32.self, at: row + 12)
    let next = index + 1 < frameCount ? file.number(UInt32.self, at: row + 24 + 12) : chunkCount
    let chunkEnds = (first..<max(first, next)).map { file.number(UInt32.self, at: ends + $0 * 4) }
    let codec = codec(at: row)
    return Frame(
      offset: offset(at: row), storedLength: file.number(UInt32.self, at: row + 8),
      rawLength: chunkEnds.last ?? 0, isRaw: codec == 0, dictionary: codec >= 2 ? codec - 2 : nil, chunkEnds: chunkEnds)
  }

  /// Returns a stored dictionary in the form of a frame.
  func dictionary(_ index: Int) -> Frame {
    let row = dictionaryRows + index * 56
    return Frame(
      offset: offset(at: row), storedLength: file.number(UInt32.self, at: row + 8),
      rawLength: file.number(UInt32.self, at: row + 12), isRaw: codec(at: row) == 0)
  }

  /// Returns the stored bytes of a frame or dictionary.
  func bytes(of frame: Frame) -> Data { file.dropFirst(frame.offset).prefix(frame.storedLength) }

  private func codec(at row: Int) -> Int { file.number(UInt8.self, at: row + 7) }

  private func offset(at row: Int) -> Int {
    file.number(UInt32.self, at: row) | file.number(UInt16.self, at: row + 4) << 32
      | file.number(UInt8.self, at: row + 6) << 48
  }
}

extension Data {
  fileprivate func number<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Int {
    withUnsafeBytes { Int(Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))) }
  }
}
