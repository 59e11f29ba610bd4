import Foundation

/// The frames of a store's assets, in the order of its segments: libzstd's input for the comparison with the store.
struct StoreFrames {
  struct Frame {
    let file: Int
    let offset: Int
    let storedLength: Int
    let rawLength: Int
    let isRaw: Bool
    let dictionary: ZstdDictionary?
    /// The offsets of the frame's chunks in the raw bytes of all frames.
    let chunkBegins: [Int]
    /// The number of raw bytes in all earlier frames.
    let rawOffset: Int

    /// Decodes the stored bytes of the frame.
    func decode(
      _ stored: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer, with decoder: ZstdDecoder
    ) throws {
      if isRaw { out.copyMemory(from: stored) } else { try decoder.decode(stored, into: out, with: dictionary) }
    }
  }

  let files: [String]
  let frames: [Frame]

  var rawByteCount: Int { frames.last.map { $0.rawOffset + $0.rawLength } ?? 0 }

  /// Reads the tables of the store's data segments, in the order in which the segments were written.
  init(ofStoreAt path: String) throws {
    var files: [String] = []
    var frames: [Frame] = []
    for file in try Self.segments(ofStoreAt: path) {
      let segment = try SegmentTable(ofFileAt: file)
      guard !segment.isMetadata else { continue }
      let dictionaries = try (0..<segment.dictionaryCount).map { index in
        let row = segment.dictionary(index)
        return try ZstdDictionary(
          row.isRaw ? segment.bytes(of: row) : Self.decoded(segment.bytes(of: row), row.rawLength))
      }
      for frame in (0..<segment.frameCount).map(segment.frame) {
        let before = frames.last.map { $0.rawOffset + $0.rawLength } ?? 0
        frames.append(
          Frame(
            file: files.count, offset: frame.offset, storedLength: frame.storedLength,
            rawLength: frame.rawLength, isRaw: frame.isRaw, dictionary: frame.dictionary.map { dictionaries[$0] },
            chunkBegins: ([0] + frame.chunkEnds.dropLast()).map { before + $0 }, rawOffset: before))
      }
      files.append(file)
    }
    self.files = files
    self.frames = frames
  }

  private static func segments(ofStoreAt path: String) throws -> [String] {
    let folder = path + "/segments"
    let dated = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
      let file = "\(folder)/\(name)"
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      return (attributes[.modificationDate] as? Date ?? .distantPast, file)
    }
    return dated.sorted { $0 < $1 }.map(\.1)
  }

  private static func decoded(_ stored: Data, _ rawLength: Int) throws -> Data {
    var raw = Data(count: rawLength)
    try raw.withUnsafeMutableBytes { out in try stored.withUnsafeBytes { try ZstdDecoder().decode($0, into: out) } }
    return raw
  }

  /// Returns the index of the frame that contains the byte at `offset` in the raw bytes of all frames.
  func index(holding offset: Int) -> Int {
    var (low, high) = (0, frames.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if frames[middle].rawOffset <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
