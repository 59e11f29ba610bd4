import CPackStoreTesting
import Testing

extension Core {
  @Suite struct ChecksumTests {
    /// Values of XXH3-64 that stand in stores: they may never change.
    @Test func goldenSums() {
      var random = Random(0x67_6F6C_6465_6E)
      let bytes = random.bytes(100_000)
      let sums = [0, 1, 40, 240, 241, 1024, 8191, 65536, 100_000].map { pks__checksum(bytes, $0) }
      #expect(sums == Self.golden)
    }

    private static let golden: [UInt64] = [
      3_244_421_341_483_603_138, 3_547_770_832_784_427_690, 7_578_065_089_269_298_852, 4_428_933_282_443_866_081,
      6_072_499_466_144_922_252, 10_153_703_778_762_188_498, 15_403_146_020_838_437_378, 12_978_599_147_525_323_850,
      11_437_368_236_373_073_503,
    ]

    /// The vector form gives what the portable one gives, wherever the bytes lie and whatever surrounds them.
    @Test func kindsAgree() throws {
      guard let vector = pks__checksum_for(PKS__CHECKSUM_AVX2) else { return }
      let portable = try #require(pks__checksum_for(PKS__CHECKSUM_PORTABLE))
      let seed = testSeed(78)
      var random = Random(seed)
      let bytes = random.bytes(300_000)
      bytes.withUnsafeBytes { bytes in
        for round in 0..<3_000 {
          let length = round < 1_100 ? round : random.below(round % 8 == 0 ? 200_000 : 5_000)
          let begin = bytes.baseAddress! + random.below(bytes.count - length)
          let expected = portable(begin, length)
          #expect(vector(begin, length) == expected, "seed \(seed), round \(round): \(length) bytes")
          #expect(pks__checksum(begin, length) == expected, "seed \(seed), round \(round): \(length) bytes")
        }
      }
    }
  }
}
