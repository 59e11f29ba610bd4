/// An asset to generate: its path, length and kind of content.
struct AssetPlan: Equatable {
  let path: String
  let byteCount: Int
  let content: Content
}

/// The kind of data to generate if the user gives no folder.
enum DataKind: String, CaseIterable, Codable {
  case compressible, incompressible, mixed, game

  /// The kinds of content in the data, with equal shares of bytes.
  var contents: [Content] {
    switch self {
    case .compressible: [.compressible]
    case .incompressible: [.incompressible]
    case .mixed, .game: [.compressible, .incompressible]
    }
  }
}

/// Plans sets of assets for workloads. Each set depends only on the arguments.
enum AssetPlans {
  /// Plans large assets of 4 to 64 MiB. For less than 100 MB of data, plans assets of 1 to 16 MiB, so that several exist.
  static func large(_ kind: DataKind, byteCount: Int) -> [AssetPlan] {
    let unit = byteCount < 100_000_000 ? 1 << 18 : 1 << 20
    return kind.contents.flatMap { content in
      cut(byteCount / kind.contents.count, into: [32, 16, 64, 8, 24].map { $0 * unit }, atLeast: 4 * unit).enumerated()
        .map {
          AssetPlan(path: "Large/\(content)-\(padded($0.offset, 3)).bin", byteCount: $0.element, content: content)
        }
    }
  }

  /// Plans small assets from 200 bytes to 49 KB, 10 KB on average. Most are shorter than the average. Each kind of content has the
  /// same number of bytes.
  static func small(_ contents: [Content], byteCount: Int, seed: UInt64) -> [AssetPlan] {
    var generator = SeededGenerator(seed: seed)
    return contents.flatMap { content in
      var plans: [AssetPlan] = []
      var left = byteCount / contents.count
      while left > 0 {
        let length = min(smallLength(&generator), left)
        let path = "Small/\(content)/\(padded(plans.count / 256, 4))/\(padded(plans.count % 256, 3)).bin"
        plans.append(AssetPlan(path: path, byteCount: length, content: content))
        left -= length
      }
      return plans
    }
  }

  /// Plans a tree of assets of all sizes.
  static func tree(_ kind: DataKind, byteCount: Int, seed: UInt64) -> [AssetPlan] {
    switch kind {
    case .game: game(byteCount: byteCount, seed: seed)
    default:
      large(kind, byteCount: byteCount / 4 * 3) + small(kind.contents, byteCount: byteCount / 4, seed: seed)
    }
  }

  /// Plans a tree like a game's: a few archives of levels, textures, music, films, and thousands of settings and scripts.
  static func game(byteCount: Int, seed: UInt64) -> [AssetPlan] {
    var generator = SeededGenerator(seed: seed)
    func share(_ percent: Int) -> Int { byteCount / 100 * percent }
    var plans: [AssetPlan] = []
    func add(_ lengths: [Int], _ content: Content, _ path: (Int) -> String) {
      plans += lengths.enumerated().map { AssetPlan(path: path($0.offset), byteCount: $0.element, content: content) }
    }
    func lengths(_ total: Int, _ range: ClosedRange<Int>) -> [Int] {
      var left = total
      var lengths: [Int] = []
      while left > 0 {
        // The smaller of two random numbers: short files are more frequent than long ones.
        let length = min(Int.random(in: range, using: &generator), Int.random(in: range, using: &generator))
        lengths.append(min(length, left))
        left -= lengths.last!
      }
      return lengths
    }
    add(cut(share(40), into: [24 << 20, 48 << 20], atLeast: 4 << 20), .compressible) {
      "Levels/level\(padded($0, 2)).wad"
    }
    add(lengths(share(22), 96 << 10...3 << 20), .compressible) { "Textures/\(padded($0 / 64, 3))/\(padded($0, 4)).dds" }
    add(lengths(share(14), 64 << 10...6 << 20), .incompressible) { "Music/\(padded($0, 3)).ogg" }
    add(cut(share(18), into: [32 << 20, 20 << 20], atLeast: 4 << 20), .incompressible) { "Films/\(padded($0, 2)).mp4" }
    add(lengths(share(3), 300...24 << 10), .text) { "Scripts/\(padded($0 / 100, 3))/\(padded($0, 5)).lua" }
    add(lengths(share(3), 200...8 << 10), .text) { "Settings/\(padded($0 / 200, 3))/\(padded($0, 5)).json" }
    return plans
  }

  /// Plans assets that are looked up and listed, but never read: one folder per 1000 assets, with paths of about 40 bytes.
  static func names(_ count: Int) -> [AssetPlan] {
    (0..<count).map { index in
      let path =
        "Levels/World\(padded(index / 100_000, 2))/Area\(padded(index / 1000 % 100, 2))/mesh_\(padded(index, 7)).mesh"
      return AssetPlan(path: path, byteCount: 1 + index % 200, content: .text)
    }
  }

  /// Plans one folder for each count, with that number of assets. The folder's name contains the count.
  static func folders(_ counts: [Int]) -> [AssetPlan] {
    counts.flatMap { count in
      (0..<count).map {
        AssetPlan(path: "\(folderName(count))/entry_\(padded($0, 7)).dat", byteCount: 1 + $0 % 200, content: .text)
      }
    }
  }

  static func folderName(_ count: Int) -> String { "folder-of-\(count)" }

  /// Divides `total` into pieces with the given lengths, in turn. The remainder becomes a piece if it has at least `least` bytes;
  /// otherwise it is added to the piece before it.
  private static func cut(_ total: Int, into lengths: [Int], atLeast least: Int) -> [Int] {
    var pieces: [Int] = []
    var left = total
    while left > 0 {
      let length = min(lengths[pieces.count % lengths.count], max(left, 1))
      if length < least, !pieces.isEmpty {
        pieces[pieces.count - 1] += length
      } else {
        pieces.append(length)
      }
      left -= length
    }
    return pieces
  }

  /// Returns a random length, skewed towards short lengths. The mean is 10 KB.
  private static func smallLength(_ generator: inout SeededGenerator) -> Int {
    let uniform = Double.random(in: 0..<1, using: &generator)
    return 200 + Int(uniform * uniform * uniform * uniform * 49_000)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
