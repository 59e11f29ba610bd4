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

  /// Many bytes that compress, made fast: picks of eight bytes each from a vocabulary of 64.
  mutating func prose(_ count: Int) -> [UInt8] {
    let words = (0..<64).map { _ in next() & 0x3f3f_3f3f_3f3f_3f3f | 0x4040_4040_4040_4040 }
    return [UInt8](unsafeUninitializedCapacity: count + 80) { buffer, used in
      var at = 0
      while at < count {
        var picks = next()
        for _ in 0..<10 {
          UnsafeMutableRawPointer(buffer.baseAddress! + at).storeBytes(of: words[Int(picks & 63)], as: UInt64.self)
          picks >>= 6
          at += 8
        }
      }
      used = count
    }
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
