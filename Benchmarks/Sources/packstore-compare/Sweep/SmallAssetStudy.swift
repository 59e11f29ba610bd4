import Foundation

/// Small assets: a frame each with a dictionary trained on the pack, or frames that neighbours share?
enum SmallAssetStudy {
  private static let byteLimit = 512 << 20
  private static let pieceLength = 16 << 10  // assets enter shared frames chunk by chunk

  static func measure(_ corpus: Corpus, rounds: Int) throws -> [FrameTrial] {
    let inOrder = try SmallAssets(corpus.folder, byteLimit: byteLimit, byExtension: false)
    guard inOrder.bytes.count > 1 << 20 else { return [] }
    note("\(corpus.name), small assets: \(inOrder.assets.count) distinct files, \(megabytes(inOrder.bytes.count)) MB")
    let byExtension = try SmallAssets(corpus.folder, byteLimit: byteLimit, byExtension: true)

    return try FrameTrial.measure(try settings(for: inOrder), of: inOrder.bytes, rounds: rounds) {
      frames(ofRandomAssetsIn: inOrder, $0)
    }
      + FrameTrial.measure(settingsByExtension(byExtension), of: byExtension.bytes, rounds: rounds) {
        frames(ofRandomAssetsIn: byExtension, $0)
      }
  }

  private static func settings(for assets: SmallAssets) throws -> [FrameSetting] {
    let standard = ZstdParameters()
    let fine = ZstdParameters(minimumMatch: 4)
    let small = try assets.trainDictionary(64 << 10)
    let large = try assets.trainDictionary(112 << 10)
    var settings = [FrameSetting(label: "a frame each", parameters: standard, frames: assets.assets)]
    for (dictionary, size) in [(small, 64), (large, 112)] {
      settings.append(
        .init(
          label: "a frame each, dictionary \(size) KiB", parameters: standard, frames: assets.assets,
          dictionary: dictionary))
    }
    for size in [8, 16, 32, 64, 128] {
      let frames = assets.sharedFrames(size << 10, pieceLength: pieceLength)
      settings.append(.init(label: "shared \(size) KiB", parameters: standard, frames: frames))
      settings.append(.init(label: "shared \(size) KiB, minMatch 4", parameters: fine, frames: frames))
      if size <= 32 {
        settings.append(
          .init(
            label: "shared \(size) KiB, dictionary 112 KiB", parameters: standard, frames: frames, dictionary: large))
      }
    }
    let shared = assets.sharedFrames(32 << 10, pieceLength: pieceLength)
    for level: Int32 in [6, 12] {
      let parameters = ZstdParameters(level: level)
      settings.append(
        .init(
          label: "a frame each, dictionary 112 KiB, level \(level)", parameters: parameters, frames: assets.assets,
          dictionary: large))
      settings.append(.init(label: "shared 32 KiB, level \(level)", parameters: parameters, frames: shared))
      settings.append(
        .init(
          label: "shared 32 KiB, dictionary 112 KiB, level \(level)", parameters: parameters, frames: shared,
          dictionary: large))
    }
    return settings
  }

  private static func settingsByExtension(_ assets: SmallAssets) -> [FrameSetting] {
    [16, 32, 64, 128].map { size in
      FrameSetting(
        label: "shared \(size) KiB, in order of extension", parameters: .init(),
        frames: assets.sharedFrames(size << 10, pieceLength: pieceLength))
    }
  }

  /// Returns, for randomly chosen assets, the frame where each begins; most assets are in one frame.
  private static func frames(ofRandomAssetsIn assets: SmallAssets, _ setting: FrameSetting) -> [Int] {
    var generator = SeededGenerator(seed: 2)
    let ends = setting.frames.map(\.upperBound)
    return (0..<2_000).map { _ in
      let begin = assets.assets[Int.random(in: 0..<assets.assets.count, using: &generator)].lowerBound
      return ends.partitioningIndex { $0 > begin }
    }
  }
}

/// The distinct small files of a folder, one after another in memory.
private struct SmallAssets {
  private(set) var bytes = Data()
  private(set) var assets: [Range<Int>] = []

  /// In bytewise order of paths, or by extension first: files of a kind next to each other.
  init(_ tree: Corpus.Tree, byteLimit: Int, byExtension: Bool) throws {
    var files = tree.files.filter { $0.byteCount > 0 && $0.byteCount < largeAssetByteCount }
    if byExtension { files.sort { ($0.extension, $0.path) < ($1.extension, $1.path) } }
    var seen: Set<Data> = []
    for file in files where bytes.count < byteLimit {
      let contents = try file.contents()
      guard seen.insert(contents).inserted else { continue }  // a store keeps equal files once
      assets.append(bytes.count..<(bytes.count + contents.count))
      bytes.append(contents)
    }
  }

  /// Trained on files spread evenly over all, a hundred times the dictionary's size together.
  func trainDictionary(_ capacity: Int) throws -> Data {
    let stride = max(1, bytes.count / (100 * capacity))
    var samples = Data()
    var lengths: [Int] = []
    for index in Swift.stride(from: 0, to: assets.count, by: stride) {
      samples.append(bytes[assets[index]])
      lengths.append(assets[index].count)
    }
    return try ZstdTrainer.train(samples, lengths: lengths, capacity: capacity)
  }

  /// Frames of neighbouring pieces, as the core forms them: a piece that does not fit begins the next frame.
  func sharedFrames(_ limit: Int, pieceLength: Int) -> [Range<Int>] {
    var frames: [Range<Int>] = []
    var begin = 0
    var end = 0
    for asset in assets {
      for pieceBegin in stride(from: asset.lowerBound, to: asset.upperBound, by: pieceLength) {
        let pieceEnd = min(pieceBegin + pieceLength, asset.upperBound)
        if end > begin, pieceEnd - begin > limit {
          frames.append(begin..<end)
          begin = end
        }
        end = pieceEnd
      }
    }
    if end > begin { frames.append(begin..<end) }
    return frames
  }
}

extension Corpus.File {
  fileprivate var `extension`: String { URL(fileURLWithPath: path).pathExtension }
}

extension [Int] {
  /// The first index whose element satisfies `predicate`, in an array where all that do come last.
  fileprivate func partitioningIndex(where predicate: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
