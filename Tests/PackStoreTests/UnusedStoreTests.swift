import Foundation
import PackStore
import Testing

/// Stores that are deleted again because the operation that made them failed.
@Suite struct UnusedStoreTests {
  private func names(in folder: borrowing TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test func nothingIsLeft() throws {
    let folder = TemporaryFolder()
    do { _ = try folder.store() }
    Store.removeUnused(at: FilePath(folder.path("store")))
    #expect(try names(in: folder) == [])
  }

  @Test func aStoreWithAPackStays() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", ["a": "1"])), as: "P")
    Store.removeUnused(at: FilePath(folder.path("store")))
    #expect(try names(in: folder) == ["source", "store"])
    #expect(try folder.store().contents(of: "a") == Data("1".utf8))
    #expect(try await folder.store().verify(deep: true).isSound)
    try await folder.store().install(folder: FilePath(folder.makeFolder("source", ["a": "2"])), as: "P")
  }

  /// What another process has begun goes on.
  @Test func aStoreThatIsWrittenToStays() throws {
    let folder = TemporaryFolder()
    let store = try folder.store(), source = FilePath(try folder.makeFolder("source", ["a": "1"]))
    var transaction = try store.makeTransaction()
    Store.removeUnused(at: FilePath(folder.path("store")))
    try transaction.install(folder: source, as: "P")
    try transaction.commit()
    #expect(try names(in: folder) == ["source", "store"])
    #expect(try folder.store().contents(of: "a") == Data("1".utf8))
  }

  /// Who had the store open makes nothing in a folder that is gone, and who opens it later gets a new one.
  @Test func aStoreThatIsOpenTakesNoMore() throws {
    let folder = TemporaryFolder()
    let store = try folder.store(), source = FilePath(try folder.makeFolder("source", ["a": "1"]))
    Store.removeUnused(at: FilePath(folder.path("store")))
    #expect(throws: PackStoreError.self) { try store.write { try $0.install(folder: source, as: "P") } }
    #expect(try names(in: folder) == ["source"])
    try folder.store().write { try $0.install(folder: source, as: "P") }
    #expect(try folder.store().contents(of: "a") == Data("1".utf8))
  }
}
