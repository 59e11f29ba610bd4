/// Ranges of equal length at random places of a data set.
struct RandomRanges {
  struct Place {
    let asset: Int
    let path: AssetPath
    let offset: Int
    /// The offset of the range in the data set, with all assets in sequence.
    let position: Int
  }

  let all: [Place]

  /// Creates ranges at `count` random places. Each byte of the data set is equally likely. Omits places in assets that are shorter
  /// than a range.
  init(_ dataSet: DataSet, length: Int, count: Int, seed: UInt64) {
    var ends: [Int] = []
    for asset in dataSet.assets { ends.append((ends.last ?? 0) + asset.byteCount) }
    var generator = SeededGenerator(seed: seed)
    all = (0..<count).compactMap { _ in
      let position = Int.random(in: 0..<ends.last!, using: &generator)
      let asset = ends.firstIndex { $0 > position }!
      let begin = ends[asset] - dataSet.assets[asset].byteCount
      let room = dataSet.assets[asset].byteCount - length
      guard room >= 0 else { return nil }
      let offset = min(position - begin, room)
      return Place(asset: asset, path: dataSet.paths[asset], offset: offset, position: begin + offset)
    }
  }

  /// Creates one range in the first half of every `stretch` bytes of each asset, in random order. The ranges are so far apart that
  /// reading one range does not decode the next.
  init(_ dataSet: DataSet, length: Int, oneIn stretch: Int, seed: UInt64) {
    precondition(length <= stretch / 2)
    var generator = SeededGenerator(seed: seed)
    var places: [Place] = []
    var begin = 0
    for (index, asset) in dataSet.assets.enumerated() {
      for first in stride(from: 0, through: asset.byteCount - stretch, by: stretch) {
        let offset = first + Int.random(in: 0...(stretch / 2 - length), using: &generator)
        places.append(Place(asset: index, path: dataSet.paths[index], offset: offset, position: begin + offset))
      }
      begin += asset.byteCount
    }
    all = places.shuffled(using: &generator)
  }
}
