import Foundation

/// The cost of reading a small asset without a store: all assets are in one open plain file, in sequence.
final class PackedFile {
  private let file: FileHandle
  private let path = AssetPaths(["packed file"])
  private let ranges: [Range<Int>]
  private let rawLengths: [Int]
  private let isRaw: [Bool]
  private let decoder = ZstdDecoder()
  private let room: Buffer

  /// - Parameter compressing: whether to compress each asset separately like the core at level 3, unless this saves too little.
  init(_ dataSet: DataSet, compressing: Bool, at target: String) throws {
    let folder = try FileFolder(dataSet.folder)
    let encoder = try ZstdEncoder()
    let encoded = Buffer(byteCount: ZstdEncoder.capacity(for: dataSet.longest))
    var bytes = Data()
    var ranges: [Range<Int>] = []
    var isRaw: [Bool] = []
    for path in dataSet.paths {
      try MappedFile(path, in: folder).withBytes { raw in
        let length = compressing ? try encoder.encode(raw, into: encoded.bytes) : nil
        let stored = length.map { UnsafeRawBufferPointer(rebasing: encoded.bytes[..<$0]) } ?? raw
        ranges.append(bytes.count..<(bytes.count + stored.count))
        isRaw.append(length == nil)
        bytes.append(contentsOf: stored)
      }
    }
    try bytes.write(to: URL(fileURLWithPath: target))
    file = try FileHandle(forReadingFrom: URL(fileURLWithPath: target))
    room = Buffer(byteCount: encoded.bytes.count)
    self.ranges = ranges
    self.isRaw = isRaw
    rawLengths = dataSet.assets.map(\.byteCount)
  }

  func read(_ asset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    let range = ranges[asset]
    if isRaw[asset] {
      let target = UnsafeMutableRawBufferPointer(rebasing: memory[..<range.count])
      return try readFully(file.fileDescriptor, at: range.lowerBound, into: target, path[0])
    }
    let stored = UnsafeMutableRawBufferPointer(rebasing: room.bytes[..<range.count])
    try readFully(file.fileDescriptor, at: range.lowerBound, into: stored, path[0])
    let target = UnsafeMutableRawBufferPointer(rebasing: memory[..<rawLengths[asset]])
    try decoder.decode(UnsafeRawBufferPointer(stored), into: target)
  }
}

/// The cost of reading a small asset from a store's frames: `pread` of the frame, libzstd, and a copy of the asset's part.
final class StoredFrameLimit {
  private let frames: StoreFrames
  private let files: [FileHandle]
  private let path = AssetPaths(["segment"])
  private let decoder = ZstdDecoder()
  private let stored: Buffer
  private let raw: Buffer
  /// The offset of each asset in the raw bytes of all frames.
  private let positions: [Int]
  private let lengths: [Int]

  init(_ dataSet: DataSet, ofStoreAt path: String) throws {
    let limit = try FrameLimit(ofStoreAt: path)
    frames = limit.frames
    files = try frames.files.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) }
    stored = Buffer(byteCount: frames.frames.map(\.storedLength).max() ?? 0)
    raw = Buffer(byteCount: frames.frames.map(\.rawLength).max() ?? 0)
    lengths = dataSet.assets.map(\.byteCount)
    positions = try Self.positions(of: dataSet, in: limit)
  }

  /// Finds each asset's first chunk, which the asset's other bytes follow. If other parts are stored elsewhere, because another
  /// asset contains them, the limit reads the same number of bytes after the first chunk.
  private static func positions(of dataSet: DataSet, in limit: FrameLimit) throws -> [Int] {
    let all = Buffer(byteCount: max(limit.frames.rawByteCount, 1))
    _ = try limit.decodeAll(into: all.bytes, with: FrameDecoders(threadCount: 1))
    let begins = limit.frames.frames.flatMap(\.chunkBegins)
    var places: [UInt64: [Int]] = [:]
    for (begin, end) in zip(begins, begins.dropFirst() + [limit.frames.rawByteCount]) {
      places[key(UnsafeRawBufferPointer(rebasing: all.bytes[begin..<end])), default: []].append(begin)
    }
    let folder = try FileFolder(dataSet.folder)
    return try dataSet.paths.map { path in
      try MappedFile(path, in: folder).withBytes { raw in
        let candidates = places[key(raw)] ?? [0]
        let place = candidates.first { begin in
          begin + raw.count <= all.bytes.count
            && memcmp(all.bytes.baseAddress! + begin, raw.baseAddress!, raw.count) == 0
        }
        return place ?? candidates[0]
      }
    }
  }

  /// Returns a checksum of the first 1024 bytes. An asset's first chunk is at least as long, or contains the whole asset.
  private static func key(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    Checksums.sum(UnsafeRawBufferPointer(rebasing: bytes.prefix(1024)))
  }

  func read(_ asset: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    var position = positions[asset]
    var done = 0
    while done < lengths[asset], position < frames.rawByteCount {
      let frame = frames.frames[frames.index(holding: position)]
      let bytes = try decoded(frame)
      let begin = position - frame.rawOffset
      let count = min(lengths[asset] - done, frame.rawLength - begin)
      memcpy(memory.baseAddress! + done, bytes.baseAddress! + begin, count)
      done += count
      position += count
    }
  }

  private func decoded(_ frame: StoreFrames.Frame) throws -> UnsafeMutableRawBufferPointer {
    let target = UnsafeMutableRawBufferPointer(rebasing: stored.bytes[..<frame.storedLength])
    try readFully(files[frame.file].fileDescriptor, at: frame.offset, into: target, path[0])
    // Raw frames are used in place, because a minimum cost must not include another copy.
    if frame.isRaw { return target }
    let out = UnsafeMutableRawBufferPointer(rebasing: raw.bytes[..<frame.rawLength])
    try frame.decode(UnsafeRawBufferPointer(target), into: out, with: decoder)
    return out
  }
}
