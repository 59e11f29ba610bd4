import Foundation
import PackStore

/// Times single reads at random places of a store.
struct PauseReader {
  static let rangeLength = 64 << 10
  /// The maximum number of reads. Memory for their durations is reserved at the beginning, because growing the array would be a
  /// pause.
  static let mostReads = 4 << 20

  private let store: Store
  private let places: [(path: String, byteCount: Int)]

  /// - Throws: ``Unavailable`` if no asset is as long as a read.
  init(_ store: Store) throws {
    var places: [(path: String, byteCount: Int)] = []
    try store.makeSnapshot().forEachAsset(depth: .descendants) { asset in
      if asset.kind == .file, asset.byteCount >= Self.rangeLength { places.append((asset.path, asset.byteCount)) }
    }
    guard !places.isEmpty else { throw Unavailable("the store has no asset of \(Self.rangeLength >> 10) KiB or more") }
    self.store = store
    self.places = places
  }

  /// Reads until `isOver` returns true, at least once and at most `count` times.
  func read(count: Int, until isOver: () -> Bool) throws -> Pauses {
    let memory = Buffer(byteCount: Self.rangeLength)
    var generator = SeededGenerator(seed: 1)
    var nanoseconds: [UInt32] = []
    nanoseconds.reserveCapacity(count)
    repeat {
      let place = places.randomElement(using: &generator)!
      let begin = Int.random(in: 0...place.byteCount - Self.rangeLength, using: &generator)
      let before = monotonicNanoseconds()
      try store.read { snapshot in
        _ = try snapshot.asset(place.path).read(into: memory.bytes, range: begin..<begin + Self.rangeLength)
      }
      nanoseconds.append(UInt32(clamping: monotonicNanoseconds() - before))
    } while nanoseconds.count < count && !isOver()
    return Pauses(nanoseconds)
  }
}

/// The durations of reads.
struct Pauses: Encodable, Equatable {
  let reads: Int
  let medianNs: Double
  let p999Ns: Double
  let longestNs: Double

  /// - Precondition: `nanoseconds` is not empty.
  init(_ nanoseconds: [UInt32]) {
    let statistics = Statistics(nanoseconds.map(Double.init))
    reads = nanoseconds.count
    medianNs = statistics.median
    p999Ns = statistics.quantile(0.999)
    longestNs = statistics.quantile(1)
  }
}
