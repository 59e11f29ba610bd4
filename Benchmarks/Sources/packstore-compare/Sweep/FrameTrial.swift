import Foundation

/// Encodes given bytes as frames by libzstd alone, and measures their size and the cost of decoding them.
///
/// For questions that no current store can answer, such as dictionaries. One thread.
struct FrameTrial: Codable {
  let label: String
  let rawByteCount: Int
  let frameCount: Int
  let frameByteCount: Int
  let dictionaryByteCount: Int
  var encode: Timing
  var decode: Timing
  /// Of decoding the frame that holds an asset chosen at random. Per asset.
  var randomDecode: Timing?

  /// Bytes that a store writes for every frame in addition to its data: a row in the segment and one in the index.
  static let rowByteCount = 24 + 32

  /// The size in a store.
  var byteCount: Int { frameByteCount + frameCount * Self.rowByteCount + dictionaryByteCount }

  var encodeMegabytesPerSecond: Double { Double(rawByteCount) / 1e6 / encode.cpu }
  var decodeMegabytesPerSecond: Double { Double(rawByteCount) / 1e6 / decode.cpu }

  mutating func keepBest(of other: FrameTrial) {
    encode.keepBest(of: other.encode)
    decode.keepBest(of: other.decode)
    if let otherRandom = other.randomDecode { randomDecode?.keepBest(of: otherRandom) }
  }
}

/// What to try.
struct FrameSetting {
  let label: String
  let parameters: ZstdParameters
  /// Neighbouring stretches of the raw bytes, one per frame.
  let frames: [Range<Int>]
  var dictionary: Data?
}

extension FrameTrial {
  /// Encodes and decodes `raw` with the setting; then decodes the frames numbered in `randomFrames`, in that order.
  init(_ setting: FrameSetting, of raw: UnsafeRawBufferPointer, randomFrames: [Int] = []) throws {
    let encoder = try ZstdEncoder(setting.parameters, dictionary: setting.dictionary)
    let longest = setting.frames.map(\.count).max() ?? 0
    let room = Buffer(byteCount: ZstdEncoder.capacity(for: longest))
    var encodedFrames = EncodedFrames()
    let encode = try Timing.ofThread {
      for frame in setting.frames {
        let rawFrame = UnsafeRawBufferPointer(rebasing: raw[frame])
        let length = try encoder.encode(rawFrame, into: room.bytes)
        encodedFrames.append(
          length.map { UnsafeRawBufferPointer(rebasing: room.bytes[..<$0]) } ?? rawFrame, isRaw: length == nil)
      }
    }

    let decoder = try ZstdDecoder(dictionary: setting.dictionary)
    let out = Buffer(byteCount: longest)
    func decodeFrame(_ index: Int) throws {
      try encodedFrames.decode(
        index, with: decoder, into: UnsafeMutableRawBufferPointer(rebasing: out.bytes[..<setting.frames[index].count]))
    }
    let decode = try Timing.ofThread { for index in setting.frames.indices { try decodeFrame(index) } }
    let random = try Timing.ofThread { for index in randomFrames { try decodeFrame(index) } }.timing
    let count = Double(randomFrames.count)

    label = setting.label
    rawByteCount = setting.frames.reduce(0) { $0 + $1.count }
    frameCount = setting.frames.count
    frameByteCount = encodedFrames.byteCount
    dictionaryByteCount = setting.dictionary?.count ?? 0
    self.encode = encode.timing
    self.decode = decode.timing
    randomDecode = randomFrames.isEmpty ? nil : Timing(wall: random.wall / count, cpu: random.cpu / count)
  }

  /// Tries all settings `rounds` times in turns and keeps the best times.
  static func measure(
    _ settings: [FrameSetting], of raw: Data, rounds: Int, randomFrames: (FrameSetting) -> [Int] = { _ in [] }
  ) throws -> [FrameTrial] {
    var trials: [FrameTrial] = []
    for round in 1...rounds {
      for (index, setting) in settings.enumerated() {
        let trial = try raw.withUnsafeBytes { try FrameTrial(setting, of: $0, randomFrames: randomFrames(setting)) }
        note("    \(setting.label), round \(round): \(megabytes(trial.byteCount)) MB")
        if round == 1 { trials.append(trial) } else { trials[index].keepBest(of: trial) }
      }
    }
    return trials
  }
}

/// Frames back to back in memory, as in a segment.
private struct EncodedFrames {
  private var bytes = Data()
  private var frames: [(range: Range<Int>, isRaw: Bool)] = []

  var byteCount: Int { bytes.count }

  mutating func append(_ frame: UnsafeRawBufferPointer, isRaw: Bool) {
    frames.append((bytes.count..<(bytes.count + frame.count), isRaw))
    bytes.append(contentsOf: frame)
  }

  func decode(_ index: Int, with decoder: ZstdDecoder, into out: UnsafeMutableRawBufferPointer) throws {
    let (range, isRaw) = frames[index]
    try bytes.withUnsafeBytes { all in
      let frame = UnsafeRawBufferPointer(rebasing: all[range])
      if isRaw { out.copyMemory(from: frame) } else { try decoder.decode(frame, into: out) }
    }
  }
}
