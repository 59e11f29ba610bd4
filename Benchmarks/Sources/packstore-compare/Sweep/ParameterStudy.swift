import Foundation

/// Large assets: do other parameters of zstd than a level's own pay, at the frame sizes in question?
enum ParameterStudy {
  private static let sampleByteCount = 64 << 20
  private static let stretch = 4 << 20

  static func measure(_ corpus: Corpus, rounds: Int) throws -> [FrameTrial] {
    let sample = try sample(of: corpus.folder)
    guard sample.count > 1 << 20 else { return [] }
    note("\(corpus.name), parameters: \(megabytes(sample.count)) MB")
    return try FrameTrial.measure(settings(for: sample.count), of: sample, rounds: rounds)
  }

  private static func settings(for byteCount: Int) -> [FrameSetting] {
    let short = [
      ZstdParameters(level: 1), ZstdParameters(level: 2), ZstdParameters(level: 3),
      ZstdParameters(minimumMatch: 4),
      ZstdParameters(minimumMatch: 4, hashLog: 17, chainLog: 16),
      ZstdParameters(level: 4), ZstdParameters(level: 5), ZstdParameters(level: 6),
    ]
    let long = [
      ZstdParameters(level: 1), ZstdParameters(level: 3),
      ZstdParameters(minimumMatch: 4),
      ZstdParameters(minimumMatch: 4, hashLog: 17, chainLog: 17),
      ZstdParameters(minimumMatch: 4, hashLog: 18, chainLog: 17),
      ZstdParameters(level: 4), ZstdParameters(level: 5),
    ]
    let window = [ZstdParameters(windowLog: 22), ZstdParameters(windowLog: 22, searchesLongDistances: true)]
    let sizes: [(frameSize: Int, parameters: [ZstdParameters])] = [
      (64 << 10, [short[2], short[3]]), (128 << 10, short), (256 << 10, [long[1], long[2]]), (1 << 20, long),
      (2 << 20, [long[1], long[2]]), (4 << 20, long + window),
    ]
    return sizes.flatMap { frameSize, parameters in
      let frames = stride(from: 0, to: byteCount, by: frameSize).map { $0..<min($0 + frameSize, byteCount) }
      return parameters.map {
        FrameSetting(label: "\(binarySize(frameSize)), \($0.description)", parameters: $0, frames: frames)
      }
    }
  }

  /// Stretches spread evenly over the large files; all of them when they are few.
  private static func sample(of tree: Corpus.Tree) throws -> Data {
    let files = tree.files.filter { $0.byteCount >= largeAssetByteCount }
    let byteCount = files.reduce(0) { $0 + $1.byteCount }
    let every = max(1, (byteCount + sampleByteCount - 1) / sampleByteCount)
    var sample = Data()
    var position = 0
    for file in files {
      let contents = try file.contents()
      var offset = 0
      while offset < contents.count {
        let length = min(stretch - position % stretch, contents.count - offset)
        if position / stretch % every == 0 { sample.append(contents[offset..<(offset + length)]) }
        offset += length
        position += length
      }
    }
    return sample
  }
}
