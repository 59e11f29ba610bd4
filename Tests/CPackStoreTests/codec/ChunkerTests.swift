import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Cuts are part of the format: every implementation gives these.
  @Suite struct ChunkerTests {
    private static let kinds = [PKS__SCAN_SCALAR, PKS__SCAN_AVX2, PKS__SCAN_AVX512, PKS__SCAN_NEON]

    /// By the scan that the chunker chooses, or by one of the kind.
    private static func cuts(
      _ bytes: [UInt8], average: UInt32, scan: (@convention(c) (UnsafePointer<UInt8>?, Int, Int, UInt32) -> Int)? = nil
    ) -> [Int] {
      var chunker = pks__chunker_make(average)
      var ends: [Int] = [], begin = 0
      bytes.withUnsafeBufferPointer { bytes in
        while begin < bytes.count {
          let rest = bytes.baseAddress! + begin, count = bytes.count - begin
          begin +=
            scan.map { pks__chunker_cut_by($0, &chunker, rest, count) } ?? pks__chunker_cut(&chunker, rest, count)
          ends.append(begin)
        }
      }
      return ends
    }

    /// CRC-32 as in zlib, of the ends as little-endian 32-bit integers.
    private static func crc(_ ends: [Int]) -> UInt32 {
      var crc: UInt32 = .max
      for end in ends {
        for byte in (0..<4).map({ UInt8(truncatingIfNeeded: end >> (8 * $0)) }) {
          crc ^= UInt32(byte)
          for _ in 0..<8 { crc = crc & 1 != 0 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
        }
      }
      return ~crc
    }

    struct Golden: Sendable {
      var average: UInt32, count: Int, first: [Int], lastInside: Int?, crc: UInt32
    }

    private static let golden = [
      Golden(average: 1024, count: 1037, first: [], lastInside: nil, crc: 0x8c82_7176),
      Golden(
        average: 8192, count: 122,
        first: [
          5368, 10226, 14915, 19763, 24060, 34268, 38517, 55724, 61402, 66041, 73593, 79909, 88278, 101003, 108449,
          120950,
        ],
        lastInside: 1_044_960, crc: 0xcf27_6f67),
      Golden(
        average: 16384, count: 71,
        first: [
          11455, 19763, 34268, 55724, 79909, 88278, 101003, 121844, 131252, 151525, 163271, 177054, 186178, 205730,
          214361, 238567,
        ],
        lastInside: 1_037_934, crc: 0x4228_b5c1),
      Golden(
        average: 65536, count: 14,
        first: [
          79909, 156847, 208307, 250795, 411264, 446653, 506289, 553038, 586031, 689045, 758845, 828600, 897466,
          1_048_576,
        ],
        lastInside: 897_466, crc: 0xe7a4_70b7),
    ]

    @Test func goldenCuts() {
      var random = Random(0x67_6F6C_6465_6E)
      let bytes = random.bytes(1 << 20)
      for golden in Self.golden {
        let ends = Self.cuts(bytes, average: golden.average)
        #expect(ends.count == golden.count, "average \(golden.average)")
        #expect(Array(ends.prefix(golden.first.count)) == golden.first, "average \(golden.average)")
        if let last = golden.lastInside { #expect(ends[ends.count - 2] == last, "average \(golden.average)") }
        #expect(ends.last == bytes.count)
        #expect(Self.crc(ends) == golden.crc, "average \(golden.average)")
        for kind in Self.kinds {
          guard let scan = pks__scan_for(kind) else { continue }
          #expect(Self.cuts(bytes, average: golden.average, scan: scan) == ends, "kind \(kind.rawValue)")
        }
      }
    }

    /// The vector scans that this processor has find the same candidates as the scalar one, wherever a stretch begins and ends.
    @Test(arguments: kinds.map(\.rawValue)) func vectorScansAgree(kind: UInt32) throws {
      guard let vector = pks__scan_for(pks__scan_kind(rawValue: kind)) else { return }
      let scalar = try #require(pks__scan_for(PKS__SCAN_SCALAR))
      let seed = testSeed(77)
      var random = Random(seed)
      let mixed = random.bytes(20_000) + [UInt8](repeating: 0, count: 3_000) + random.text(20_000)
      let thresholds: [UInt32] = [
        0, 1, .max, .max - 1, pks__chunker_make(1024).threshold, pks__chunker_make(16384).threshold, 1 << 28, 1 << 31,
      ]
      mixed.withUnsafeBufferPointer { bytes in
        for round in 0..<6_000 {
          let from = 31 + random.below(bytes.count - 31)
          let length = round % 2 == 0 ? random.below(200) : random.below(6_000)
          let to = min(bytes.count, from + length), threshold = random.pick(thresholds)
          let expected = scalar(bytes.baseAddress, from, to, threshold),
            found = vector(bytes.baseAddress, from, to, threshold)
          #expect(found == expected, "seed \(seed), round \(round): [\(from), \(to)) below \(threshold)")
          if found != expected { return }
        }
      }
    }

    /// A scan reads nothing outside its window.
    @Test func scansStayInside() throws {
      var random = Random(5)
      let outside = random.bytes(400), inside = random.bytes(200)
      for kind in Self.kinds {
        guard let scan = pks__scan_for(kind) else { continue }
        let results = [UInt8(0), 0xff, 0x5a].map { filler in
          var bytes = outside.map { $0 ^ filler }
          bytes.replaceSubrange(100..<300, with: inside)
          return bytes.withUnsafeBufferPointer { scan($0.baseAddress, 131, 300, 1 << 26) }
        }
        #expect(Set(results).count == 1, "kind \(kind.rawValue)")
      }
    }

    /// A cut depends on content alone: after an insertion cuts fall into step again.
    @Test func cutsResynchronise() {
      var random = Random(9)
      let old = random.bytes(200_000)
      var new = old
      new.insert(contentsOf: random.bytes(77), at: 50_000)
      let oldCuts = Set(Self.cuts(old, average: 1024).map { $0 + 77 }), newCuts = Self.cuts(new, average: 1024)
      let late = newCuts.filter { $0 > 60_000 }
      #expect(late.allSatisfy { oldCuts.contains($0) })
      #expect(Set(Self.cuts(old, average: 1024).filter { $0 <= 50_000 }).isSubset(of: newCuts + [50_000]))
    }

    @Test func sizesAreBounded() {
      var random = Random(3)
      for bytes in [
        random.bytes(300_000), [UInt8](repeating: 0, count: 300_000), [UInt8](repeating: 0xff, count: 300_000),
      ] {
        let ends = Self.cuts(bytes, average: 2048)
        let sizes = zip(ends, [0] + ends).map { $0 - $1 }
        #expect(sizes.dropLast().allSatisfy { $0 >= 1024 && $0 <= 8192 })
        #expect(sizes.last! <= 8192)
      }
      // A run of one value makes the largest chunks, not the smallest.
      for value in UInt8.min...UInt8.max {
        #expect(
          Self.cuts([UInt8](repeating: value, count: 10_000), average: 1024) == [4096, 8192, 10_000], "value \(value)")
      }
    }

    /// With fewer bytes at hand than a whole chunk, the answer is all of them or the cut that more bytes would give.
    @Test func fewBytes() {
      var random = Random(4)
      let bytes = random.bytes(5_000)
      var chunker = pks__chunker_make(1024)
      let whole = pks__chunker_cut(&chunker, bytes, bytes.count)
      for count in 1...5_000 { #expect(pks__chunker_cut(&chunker, bytes, count) == min(count, whole)) }
    }
  }
}
