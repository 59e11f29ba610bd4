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

/// The seed of property tests: `PACKSTORE_SEED` replays one, otherwise each has its own fixed one. A failing test prints it.
func testSeed(_ standard: UInt64) -> UInt64 {
  ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) } ?? standard
}
