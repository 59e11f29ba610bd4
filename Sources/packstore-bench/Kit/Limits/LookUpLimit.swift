import CXXHash

/// The minimum cost of a look-up by path: a hash of the path, and two reads in memory as large as an index. The second read depends
/// on the first.
final class LookUpLimit {
  private let words: UnsafeMutableBufferPointer<UInt64>

  /// - Parameter count: the number of entries, 64 bytes each.
  init(count: Int) {
    words = .allocate(capacity: count * 8)
    var generator = SeededGenerator(seed: 0)
    for index in words.indices { words[index] = generator.next() }
  }

  deinit { words.deallocate() }

  func lookUp(_ paths: AssetPaths) -> Int {
    let count = UInt64(words.count)
    var sum: UInt64 = 0
    for path in paths {
      let hash = XXH3_64bits(path.utf8, path.utf8Count)
      let bucket = words[Int(hash.multipliedFullWidth(by: count).high)]
      let record = words[Int((hash ^ bucket).multipliedFullWidth(by: count).high)]
      sum &+= record
    }
    return Int(truncatingIfNeeded: sum)
  }
}
