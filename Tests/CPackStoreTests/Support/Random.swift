import CPackStoreTesting
import Foundation

/// SplitMix64: everything random comes from one of these, so that a seed replays a test.
struct Random: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 { sim_next_random(&state) }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  mutating func chance(_ part: Int, in whole: Int) -> Bool { below(whole) < part }

  mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: next().littleEndian) { bytes.append(contentsOf: $0) } }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Bytes that compress: words of a small vocabulary.
  mutating func text(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 16)
    while bytes.count < count { bytes.append(contentsOf: "word\(below(200)) ".utf8) }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}

/// The seeds of a property test: `PACKSTORE_SEED` replays one, or runs a range such as `1-1000`; otherwise it has its own fixed ones.
/// A failing test prints its seed.
func testSeeds(_ standard: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
  guard let text = ProcessInfo.processInfo.environment["PACKSTORE_SEED"] else { return standard }
  let ends = text.split(separator: "-").compactMap { UInt64($0) }
  return ends.count == 2 ? ends[0]...ends[1] : ends[0]...ends[0]
}

func testSeed(_ standard: UInt64) -> UInt64 { testSeeds(standard...standard).lowerBound }
