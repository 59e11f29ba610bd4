import Foundation

/// The frames of a store's assets as they lie in its segments, in order: what libzstd is given to decode beside the store.
struct StoreFrames {
  struct Frame {
    let file: Int
    let offset: Int
    let storedLength: Int
    let rawLength: Int
    let isRaw: Bool
    /// Raw bytes of all frames before.
    let rawOffset: Int
  }

  let files: [String]
  let frames: [Frame]

  var rawByteCount: Int { frames.last.map { $0.rawOffset + $0.rawLength } ?? 0 }

  /// Reads the tables of the data segments of the store at `path`.
  init(ofStoreAt path: String) throws {
    var files: [String] = []
    var frames: [Frame] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: path + "/segments").sorted() {
      let file = path + "/segments/" + name
      guard let segment = try SegmentTable(ofFileAt: file) else { continue }
      for (index, frame) in segment.frames.enumerated() {
        let before = frames.last.map { $0.rawOffset + $0.rawLength } ?? 0
        frames.append(
          Frame(
            file: files.count, offset: frame.offset, storedLength: frame.storedLength,
            rawLength: segment.rawLengths[index], isRaw: frame.codec == 0, rawOffset: before))
      }
      files.append(file)
    }
    self.files = files
    self.frames = frames
  }

  /// The frame that holds the raw byte `offset`, counted over all frames.
  func index(holding offset: Int) -> Int {
    var (low, high) = (0, frames.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if frames[middle].rawOffset <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }
}

/// The rows of a data segment's table: section 7 of the format.
private struct SegmentTable {
  struct Row {
    let offset: Int
    let codec: UInt8
    let storedLength: Int
    let firstChunk: Int
  }

  let frames: [Row]
  let rawLengths: [Int]

  /// Nil for a metadata segment.
  init?(ofFileAt path: String) throws {
    let file = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    let trailer = file.count - 64
    guard trailer >= 64 else { throw CocoaError(.fileReadCorruptFile) }
    func number<Number: FixedWidthInteger>(_: Number.Type, _ offset: Int) -> Int {
      file.withUnsafeBytes { Int(Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))) }
    }
    let body = number(UInt64.self, trailer + 16)
    guard number(UInt32.self, body + 4) == 1 else { return nil }
    let frameCount = number(UInt32.self, body + 8)
    let chunkCount = number(UInt32.self, body + 12)
    let rows = body + number(UInt64.self, body + 16)
    let ends = body + number(UInt64.self, body + 32)
    let frames = (0..<frameCount).map { index in
      let row = rows + index * 24
      return Row(
        offset: number(UInt32.self, row) | number(UInt16.self, row + 4) << 32 | number(UInt8.self, row + 6) << 48,
        codec: UInt8(number(UInt8.self, row + 7)),
        storedLength: number(UInt32.self, row + 8),
        firstChunk: number(UInt32.self, row + 12)
      )
    }
    self.frames = frames
    rawLengths = frames.indices.map { index in
      let lastChunk = (index + 1 < frameCount ? frames[index + 1].firstChunk : chunkCount) - 1
      return number(UInt32.self, ends + lastChunk * 4)
    }
  }
}
