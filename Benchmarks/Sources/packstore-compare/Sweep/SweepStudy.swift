import ArgumentParser

/// One store of the sweep.
struct SweepPoint: Hashable, Codable {
  var chunkAverage = 16 << 10
  var frameSize = 128 << 10
  var sharedFrameSize = 32 << 10
  var level: Int32 = 3

  /// Measured once: it takes long, and its times are not close to anything.
  var isSlow: Bool { level > 6 }

  /// One size for all frames, as for assets that are read from front to back.
  static func sequential(_ frameSize: Int, chunkAverage: Int = 16 << 10, level: Int32 = 3) -> Self {
    Self(chunkAverage: chunkAverage, frameSize: frameSize, sharedFrameSize: frameSize, level: level)
  }
}

/// A question of the sweep.
enum SweepStudy: String, CaseIterable, Codable {
  case chunks, frames, shared, sequential, levels, dictionaries, parameters

  /// The stores to compare, the present default among them. Empty when the question does not need stores, or when the corpus cannot answer it.
  func points(for corpus: Corpus) -> [SweepPoint] {
    let shares = AssetShares(of: corpus.folder)
    switch self {
    case .chunks:
      return [4, 8, 16, 32, 64].map { SweepPoint(chunkAverage: $0 << 10) }
    case .frames:
      guard shares.large > 0.05 else { return [] }
      return [64, 128, 256, 512].map { SweepPoint(frameSize: $0 << 10) }
        + [128, 256].map { SweepPoint(chunkAverage: 8 << 10, frameSize: $0 << 10) }
        + [SweepPoint(frameSize: 256 << 10, level: 4), SweepPoint(chunkAverage: 8 << 10, level: 4)]
    case .shared:
      guard shares.small > 0.05 else { return [] }
      return [8, 16, 32, 64, 128].map { SweepPoint(sharedFrameSize: $0 << 10) }
    case .sequential:
      return [SweepPoint()] + [1, 2, 4, 8].map { .sequential($0 << 20) }
        + [8, 32].map { .sequential(4 << 20, chunkAverage: $0 << 10) }
        + [512 << 10, 1 << 20, 2 << 20, 4 << 20].map { .sequential($0, level: 4) }
        + [128, 256].map { SweepPoint(frameSize: 2 << 20, sharedFrameSize: $0 << 10, level: 4) }
        + [2, 4].map {
          SweepPoint(chunkAverage: 8 << 10, frameSize: $0 << 20, sharedFrameSize: 256 << 10, level: 4)
        }
    case .levels:
      let isSmallEnough = corpus.folder.byteCount < 100_000_000  // level 19 encodes 3 MB/s
      return ([1, 3, 4, 5, 6, 9, 12] + (isSmallEnough ? [19] : [])).map { SweepPoint(level: $0) }
        + [SweepPoint(chunkAverage: 8 << 10, level: 12)]
    case .dictionaries, .parameters:
      return []
    }
  }

  var title: String {
    switch self {
    case .chunks: "Average chunk"
    case .frames: "Frames of large assets"
    case .shared: "Frames that small assets share"
    case .sequential: "One size for all frames"
    case .levels: "Level"
    case .dictionaries: "Small assets: dictionaries against shared frames"
    case .parameters: "Parameters of zstd"
    }
  }

  static func list(_ text: String) throws -> [SweepStudy] {
    try text.split(separator: ",").map { name in
      guard let study = SweepStudy(rawValue: String(name)) else { throw ValidationError("unknown study '\(name)'") }
      return study
    }
  }
}

/// Assets below this size share frames, in the core as here.
let largeAssetByteCount = 64 << 10

/// The shares of a folder's bytes in large and in small assets.
struct AssetShares {
  let large: Double
  let small: Double

  init(of tree: Corpus.Tree) {
    let largeBytes = tree.files.filter { $0.byteCount >= largeAssetByteCount }.reduce(0) { $0 + $1.byteCount }
    large = Double(largeBytes) / Double(max(tree.byteCount, 1))
    small = 1 - large
  }
}
