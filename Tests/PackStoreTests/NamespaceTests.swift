import Foundation
import PackStore
import Testing

/// The merged namespace: the winning, listed and hidden files.
@Suite struct NamespaceTests {
  private static func makeStore(_ folder: borrowing TemporaryFolder) async throws -> Store {
    let store = try folder.store()
    try await store.install(
      folder: FilePath(
        folder.makeFolder("1", ["shared": "one", "Only/One": "1", "Folder/a": "a", "clash": "file", "é": "x"])),
      as: "One")
    try await store.install(
      folder: FilePath(
        folder.makeFolder("2", ["shared": "two", "Only/Two": "2", "Folder/b/c": "c", "clash/inside": "folder"])),
      as: "Two")
    return store
  }

  @Test func firstInstalledWins() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    #expect(try store.contents(of: "shared") == Data("one".utf8))
    #expect(try store.contents(of: "shared", pack: "Two") == Data("two".utf8))
    #expect(try store.contents(of: "Only/Two") == Data("2".utf8))
    #expect(throws: PackStoreError.self) { try store.contents(of: "Only/Two", pack: "One") }
    #expect(try store.packs().map(\.id) == ["One", "Two"])
  }

  @Test func higherPriorityWins() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    try await store.setPriority(1, of: "Two")
    #expect(try store.contents(of: "shared") == Data("two".utf8))
    #expect(try store.packs().map(\.id) == ["Two", "One"])
    #expect(try store.contents(of: "clash/inside") == Data("folder".utf8))
    #expect(throws: PackStoreError.self) { try store.contents(of: "clash") }
    try await store.remove("Two")
    #expect(try store.contents(of: "shared") == Data("one".utf8))
  }

  @Test func listing() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let root = try store.entries()
    #expect(root.map(\.path) == ["Folder", "Only", "clash", "shared", "é"])
    #expect(root.map(\.kind) == [.folder, .folder, .file, .file, .file])
    #expect(root[0].pack == nil && root[3].pack == "One")
    let only = try store.entries(in: "Only")
    #expect(only.map(\.path) == ["Only/One", "Only/Two"])
    #expect(only.map(\.name) == ["One", "Two"])
    #expect(only.map(\.byteCount) == [1, 1])
    #expect(try store.entries(in: "Only", pack: "Two").map(\.path) == ["Only/Two"])
    #expect { try store.entries(in: "None") } throws: { ($0 as? PackStoreError)?.code == .notFound }
  }

  @Test func descendants() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    try store.read { snapshot in
      let all = try snapshot.entries(depth: .descendants).map(\.path)
      #expect(all == ["Folder/a", "Folder/b/c", "Only/One", "Only/Two", "clash", "shared", "é"])
      #expect(try snapshot.entries(in: "Folder", depth: .descendants).map(\.path) == ["Folder/a", "Folder/b/c"])
    }
  }

  @Test func cursorsLendAssets() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    try store.read { snapshot in
      var texts: [String] = []
      var cursor = try snapshot.cursor(in: "Only")
      while let asset = try cursor.next() { texts.append(String(decoding: try asset.contents(), as: UTF8.self)) }
      #expect(texts == ["1", "2"])
      #expect(try cursor.next() == nil)

      var count = 0
      try snapshot.forEachAsset(depth: .descendants) { count += $0.byteCount }
      #expect(count == "one12acfilex".utf8.count)
    }
  }

  @Test func conflicts() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let conflicts = try store.conflicts()
    #expect(conflicts.map(\.hidden.path) == ["clash/inside", "shared"])
    #expect(conflicts.map(\.hidden.pack) == ["Two", "Two"])
    #expect(conflicts.map(\.winner) == ["One", "One"])
    #expect(conflicts.map(\.winnerPath) == ["clash", "shared"])
  }

  @Test func emptyStore() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    #expect(try store.entries().isEmpty)
    #expect(try store.conflicts().isEmpty)
    #expect(try store.packs().isEmpty)
  }
}
