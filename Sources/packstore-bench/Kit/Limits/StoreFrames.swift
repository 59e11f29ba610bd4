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
      let segment = try SegmentTable(ofFileAt: file)
      guard !segment.isMetadata else { continue }
      for frame in (0..<segment.frameCount).map(segment.frame) {
        let before = frames.last.map { $0.rawOffset + $0.rawLength } ?? 0
        frames.append(
          Frame(
            file: files.count, offset: frame.offset, storedLength: frame.storedLength,
            rawLength: frame.rawLength, isRaw: frame.isRaw, rawOffset: before))
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
