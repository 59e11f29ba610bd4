import Foundation
import Testing

@testable import packstore_bench

@Suite struct DataTests {
  @Test(arguments: Content.allCases)
  func contentIsAFunctionOfItsSeed(_ content: Content) {
    #expect(bytes(content, 10_001, seed: 1) == bytes(content, 10_001, seed: 1))
    #expect(bytes(content, 10_001, seed: 1) != bytes(content, 10_001, seed: 2))
  }

  /// Written down, so that a change of a generator does not go unnoticed: figures of two versions would not be of the
  /// same data any more.
  @Test func contentIsTheSameEverywhere() {
    #expect(checksum(.compressible) == Expected.compressible)
    #expect(checksum(.incompressible) == Expected.incompressible)
    #expect(checksum(.text) == Expected.text)
  }

  @Test func contentsCompressAsTheirNamesSay() throws {
    #expect(try 2.0...2.7 ~= ratio(.compressible))
    #expect(try ratio(.incompressible) == 1)
    #expect(try 3.0...6.0 ~= ratio(.text))
  }

  @Test(arguments: [0, 1, 7, 8, 9, 63, 64, 65])
  func shortContents(_ byteCount: Int) {
    for content in Content.allCases { #expect(bytes(content, byteCount, seed: 3).count == byteCount) }
  }

  @Test(arguments: DataKind.allCases)
  func plansAreFunctionsOfTheirArgumentsAndHaveTheSizeAsked(_ kind: DataKind) {
    let megabyte = 1_000_000
    let large = AssetPlans.large(kind, byteCount: 300 * megabyte)
    #expect(large == AssetPlans.large(kind, byteCount: 300 * megabyte))
    #expect(large.reduce(0) { $0 + $1.byteCount } == 300 * megabyte)
    #expect(large.allSatisfy { $0.byteCount >= 1 << 20 })

    let small = AssetPlans.small(kind.contents, byteCount: 10 * megabyte, seed: 5)
    #expect(small == AssetPlans.small(kind.contents, byteCount: 10 * megabyte, seed: 5))
    #expect(small != AssetPlans.small(kind.contents, byteCount: 10 * megabyte, seed: 6))
    #expect(small.reduce(0) { $0 + $1.byteCount } == 10 * megabyte)
    #expect(small.allSatisfy { 1...64 << 10 ~= $0.byteCount })
    #expect(8_000...12_000 ~= 10 * megabyte / small.count)

    let tree = AssetPlans.tree(kind, byteCount: 50 * megabyte, seed: 5)
    #expect(tree == AssetPlans.tree(kind, byteCount: 50 * megabyte, seed: 5))
    #expect(Set(tree.map(\.path)).count == tree.count)
    #expect(tree.reduce(0) { $0 + $1.byteCount } == 50 * megabyte)
  }

  @Test func aGameHasFewLargeFilesAndManySmallOnes() {
    let plans = AssetPlans.game(byteCount: 400_000_000, seed: 1)
    let small = plans.filter { $0.byteCount <= 64 << 10 }
    let large = plans.filter { $0.byteCount >= 4 << 20 }
    #expect(small.count > plans.count / 2)
    #expect(large.reduce(0) { $0 + $1.byteCount } > 400_000_000 / 2)
  }

  @Test func foldersOfNames() {
    #expect(Set(AssetPlans.names(2_500).map(\.path)).count == 2_500)
    let plans = AssetPlans.folders([3, 5])
    #expect(plans.filter { $0.path.hasPrefix(AssetPlans.folderName(3) + "/") }.count == 3)
    #expect(plans.filter { $0.path.hasPrefix(AssetPlans.folderName(5) + "/") }.count == 5)
  }

  @Test func randomRangesStayInside() throws {
    let assets = [10, 5_000, 100, 70_000].enumerated().map {
      DataSet.Asset(path: "\($0.offset)", byteCount: $0.element)
    }
    let dataSet = DataSet("test", folder: "", assets: assets)
    let ranges = RandomRanges(dataSet, length: 4_096, count: 500, seed: 1)
    #expect(ranges.all.count > 400)
    for place in ranges.all {
      #expect(place.offset >= 0 && place.offset + 4_096 <= dataSet.assets[place.asset].byteCount)
      #expect(place.path.string == dataSet.assets[place.asset].path)
    }
    let again = RandomRanges(dataSet, length: 4_096, count: 500, seed: 1)
    #expect(ranges.all.map(\.position) == again.all.map(\.position))
  }

  @Test func rangesReadOnceAreFarApart() throws {
    let folder = try TemporaryFolder(in: nil)
    let plans = [1 << 20, 700_000, 100_000].enumerated().map {
      AssetPlan(path: "\($0.offset)", byteCount: $0.element, content: .text)
    }
    let dataSet = try DataSetMaker.makeHollow("hollow", plans, at: folder.path)
    let ranges = RandomRanges(dataSet, length: 64 << 10, oneIn: 512 << 10, seed: 1).all
    #expect(ranges.count == 3)
    let ordered = ranges.sorted { $0.position < $1.position }
    for (place, next) in zip(ordered, ordered.dropFirst()) {
      #expect(next.position - place.position - 64 << 10 >= 128 << 10 || next.asset != place.asset)
    }
    #expect(ranges.allSatisfy { $0.offset + 64 << 10 <= dataSet.assets[$0.asset].byteCount })
  }

  private func bytes(_ content: Content, _ byteCount: Int, seed: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    bytes.withUnsafeMutableBytes { content.fill($0, seed: seed) }
    return bytes
  }

  private func checksum(_ content: Content) -> UInt64 {
    bytes(content, 100_000, seed: 1).withUnsafeBytes(Checksums.sum)
  }

  private func ratio(_ content: Content) throws -> Double {
    let raw = bytes(content, 128 << 10, seed: 1)
    let room = Buffer(byteCount: ZstdEncoder.capacity(for: raw.count))
    let length = try raw.withUnsafeBytes { try ZstdEncoder().encode($0, into: room.bytes) }
    return Double(raw.count) / Double(length ?? raw.count)
  }
}

private enum Expected {
  static let compressible: UInt64 = 4_151_674_865_494_534_589
  static let incompressible: UInt64 = 2_491_352_912_008_237_403
  static let text: UInt64 = 16_093_329_020_211_940_520
}
