import Foundation
import PackStore
import Testing

/// Stores over another one, by way of the library.
@Suite struct BaseStoreTests {
  @Test func aBaseBeneath() async throws {
    let folder = TemporaryFolder()
    let path = FilePath(folder.path("store")), base = FilePath(folder.path("base"))
    let files = ["a/text": Data("of the app".utf8), "noise": noise(300_000, seed: 1)]
    do {
      let below = try Store(at: base)
      try await below.install(folder: FilePath(folder.makeFolder("one", files)), as: "P")
    }
    do {
      let store = try Store(at: path, base: base)
      #expect(try await store.read("noise") == files["noise"])
      try await store.install(folder: FilePath(folder.makeFolder("two", ["above": Data("above".utf8)])), as: "Q")
    }
    do {
      let store = try Store(at: path, base: base)
      #expect(try store.makeSnapshot().packs.map(\.id) == ["P", "Q"])
      #expect(try await store.verify(deep: true).faults.isEmpty)
    }
    let alone = try Store(at: path)
    await #expect { try await alone.read("noise") } throws: { ($0 as? PackStoreError)?.code == .purged }
    #expect(try await alone.read("above") == Data("above".utf8))
    let shown = try Store(at: path, base: base, options: .readOnly)
    #expect(try await shown.read("noise") == files["noise"])
  }

  @Test func whatIsNoBase() async throws {
    let folder = TemporaryFolder(), path = FilePath(folder.path("store"))
    #expect { try Store(at: path, base: FilePath(folder.path("nothing"))) } throws: {
      ($0 as? PackStoreError)?.code == .notAStore
    }
    #expect { try Store(at: path, base: path) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }
}
