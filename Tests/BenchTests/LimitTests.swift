import Foundation
import Testing

@testable import packstore_bench

/// Limits do the same work as the stores they are compared with.
@Suite struct LimitTests {
  /// Texts get a dictionary, bytes that have nothing in common share frames.
  @Test(arguments: [Content.text, .compressible])
  func smallAssetsAreFoundInTheFramesOfAStore(content: Content) throws {
    let folder = try TemporaryFolder(in: nil), data = try folder.newFolder(), work = try folder.newFolder()
    let plans = AssetPlans.small([content], byteCount: 6_000_000, seed: 3)
    let dataSet = try DataSetMaker.make("small", plans, seed: 3, at: data)
    try PackStoreContestant.swift.prepare(dataSet, in: work, threadCount: 2)
    let store = PackStoreContestant.store(in: work)
    let frames = try StoreFrames(ofStoreAt: store).frames
    #expect(frames.contains { $0.dictionary != nil } == (content == .text))
    let limit = try StoredFrameLimit(dataSet, ofStoreAt: store)
    let memory = Buffer(byteCount: dataSet.longest)
    for (index, asset) in dataSet.assets.enumerated() {
      try limit.read(index, into: memory.bytes)
      let expected = try Data(contentsOf: URL(fileURLWithPath: "\(data)/\(asset.path)"))
      #expect(expected.elementsEqual(memory.bytes[..<asset.byteCount]), "\(asset.path)")
    }
  }
}
