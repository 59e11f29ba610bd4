import Foundation
import PackStore
import Testing

@testable import packstore_bench

/// `packstore-bench pauses` without a clock: the bytes it reads, and its end.
@Suite struct PausesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(in: nil) }

  private func store(assetByteCount: Int) throws -> Store {
    let source = try folder.newFolder()
    let bytes = Buffer(byteCount: assetByteCount)
    Content.compressible.fill(bytes.bytes, seed: 1)
    try Data(UnsafeRawBufferPointer(bytes.bytes)).write(to: URL(fileURLWithPath: source + "/level.wad"))
    let store = try Store(at: FilePath(folder.path + "/store"))
    try store.write { try $0.install(folder: FilePath(source), as: "Game") }
    return store
  }

  @Test func readsAreCountedUntilItIsOver() throws {
    let reader = try PauseReader(store(assetByteCount: 300_000))
    var asked = 0
    let pauses = try reader.read(count: 100) {
      asked += 1
      return asked == 7
    }
    #expect(pauses.reads == 7)
    #expect(0 < pauses.medianNs && pauses.medianNs <= pauses.p999Ns && pauses.p999Ns <= pauses.longestNs)
    #expect(try reader.read(count: 3) { false }.reads == 3)
  }

  @Test func anAssetMayBeAsLongAsOneRead() throws {
    #expect(try PauseReader(store(assetByteCount: PauseReader.rangeLength)).read(count: 2) { false }.reads == 2)
  }

  @Test func aStoreWithoutLongAssetsIsRefused() throws {
    let store = try store(assetByteCount: PauseReader.rangeLength - 1)
    let error = #expect(throws: Unavailable.self) { try PauseReader(store) }
    #expect(error?.reason == "the store has no asset of 64 KiB or more")
  }

  @Test func quantilesAreThoseOfTheReads() {
    let pauses = Pauses([30, 10, 20])
    #expect(pauses.reads == 3 && pauses.medianNs == 20 && pauses.longestNs == 30)
  }
}
