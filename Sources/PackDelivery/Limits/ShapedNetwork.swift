import PackStore
import Synchronization

/// Simulates a network between this machine and a server: rate, latency, losses and resets. It is below all code that retries, so
/// transfers react to it as to a real network.
///
/// The fate of a request depends on the seed, its target, and the number of earlier requests for the same target, but not on other
/// requests. So a simulation can be repeated with requests in any order.
package final class ShapedNetwork: Sendable {
  /// A request and its result.
  package struct Exchange: Hashable, Sendable {
    /// The URL's path and query.
    package var target: String
    /// The requested range; `nil` for the whole file.
    package var range: String?
    /// The status of the answer; `nil` without an answer.
    package var status: Int?
    /// The received bytes of the body.
    package var byteCount = 0
    package var stallCount = 0
    /// The reason why the transfer failed.
    package var fault: String?
    /// The simulated time.
    package var begin: Duration
    package var end: Duration
  }

  package static let segmentByteCount = 1460

  let shape: NetworkShape
  private let seed: UInt64
  let clock: SimulatedClock
  let limit: RateLimit?
  let observe: @Sendable (Exchange) -> Void
  /// The number of requests for each target and range.
  private let counts = Mutex<[String: UInt64]>([:])

  package init(
    _ shape: NetworkShape, seed: UInt64, clock: SimulatedClock,
    observe: @escaping @Sendable (Exchange) -> Void = { _ in }
  ) {
    self.shape = shape
    self.seed = seed
    self.clock = clock
    self.observe = observe
    limit = shape.bytesPerSecond.map { RateLimit(bytesPerSecond: $0, clock: clock.transferClock) }
  }

  /// The random events of one request.
  func makeFate(_ target: String, _ range: String?) -> NetworkFate {
    let name = "\(range ?? "") \(target)"
    let count = counts.withLock { counts in
      counts[name, default: 0] += 1
      return counts[name] ?? 0
    }
    return NetworkFate(seed: seed, name: name, count: count, shape)
  }
}

/// The losses and resets among the bytes of one request.
struct NetworkFate: Sendable {
  private var random: SplitMix64
  private let shape: NetworkShape
  /// The offset at which the connection is reset; `nil` for no reset.
  let resetOffset: Int?
  private var offset = 0
  private var nextSegment = 0

  init(seed: UInt64, name: String, count: UInt64, _ shape: NetworkShape) {
    // FNV-1a, because Swift's own hashes differ between runs.
    let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    random = SplitMix64(state: seed ^ hash ^ (count &* 0x9e37_79b9_7f4a_7c15))
    self.shape = shape
    let isReset = random.next() < shape.resets
    let place = random.next()
    resetOffset = isReset ? Int(place * 65_536) : nil
  }

  /// Returns the number of the next bytes before a reset, and the number of their segments that arrive late.
  mutating func advance(_ count: Int) -> (byteCount: Int, stallCount: Int) {
    let isCut = resetOffset.map { $0 < offset + count } ?? false
    let taken = isCut ? max((resetOffset ?? 0) - offset, 0) : count
    var stallCount = 0
    offset += taken
    while nextSegment < offset {
      if shape.loss > 0, random.next() < shape.loss { stallCount += 1 }
      nextSegment += ShapedNetwork.segmentByteCount
    }
    return (taken, stallCount)
  }
}
