import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Testing

/// Storage behind an app's own interface.
private struct AssetLibrary: Sendable {
  let store: Store

  func load(_ name: String) async throws -> Data? {
    do {
      return try await store.read(name)
    } catch let error as PackStoreError where error.code == .notFound {
      return nil
    }
  }

  func loadAll(_ names: [String]) async throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in names {
      do {
        found[name] = try await store.read(name)
      } catch let error as PackStoreError where error.code == .notFound {
        continue
      }
    }
    return found
  }
}

/// The first steps of a new user: store, read, update.
@Suite struct UseTests {
  @Test func storageBackend() async throws {
    let playground = try Playground()
    let store = try await Store.open(at: playground.path("store"))
    let source = try playground.folder("source", ["a.txt": Data("one".utf8), "b/c.bin": noise(300_000, 1)])
    let result = try await store.install(folder: source, as: "Base", options: .init(level: 1, mappedPaths: ["*.bin"]))
    #expect(result.version.description == "Base@1" && "\(result)".hasPrefix("Base@1: "))
    let library = AssetLibrary(store: store)
    #expect(try await library.load("a.txt") == Data("one".utf8))
    #expect(try await library.load("none") == nil)
    #expect(try await library.loadAll(["a.txt", "none", "b/c.bin"]).count == 2)
  }

  @Test func reading() async throws {
    let playground = try Playground()
    let bytes = noise(300_000, 2)
    let store = try Store(at: playground.url.appendingPathComponent("store"))
    try await store.install(folder: playground.folder("source", ["folder/raw": bytes]), as: "Base")
    let snapshot = try store.makeSnapshot()
    #expect(try await snapshot.read("folder/raw") == bytes)
    #expect(try await snapshot.read("folder/raw", pack: "Base", range: 10..<20) == bytes[10..<20])
    try store.read { snapshot in
      let asset = try snapshot.asset("folder/raw")
      #expect(try asset.bytes().byteCount == bytes.count && asset.contents() == bytes)
      var start = [UInt8](unsafeUninitializedCapacity: 4) { memory, count in
        count = (try? asset.read(into: UnsafeMutableRawBufferPointer(memory), range: 0..<4)) ?? 0
      }
      #expect(start.elementsEqual(bytes.prefix(4)))
      start = try [UInt8](capacity: 100) { span in
        try asset.read(appendingTo: &span, range: 0..<50)
        try asset.read(appendingTo: &span, range: 50..<100)
      }
      #expect(start.elementsEqual(bytes.prefix(100)))
    }
    var streamed = Data()
    for try await buffer in try store.stream(of: "folder/raw", bufferByteCount: 70_000) { streamed += buffer }
    #expect(streamed == bytes)
    #expect(try await store.withSnapshot { try $0.entries(in: "folder").map(\.path) } == ["folder/raw"])
  }

  @Test func updating() async throws {
    let playground = try Playground()
    let author = try Store(at: playground.path("author")), device = try Store(at: playground.path("device"))
    let site = try Site(at: playground.path("site")), key = SiteKey()
    for change in 1...2 as ClosedRange<UInt64> {
      try await author.install(folder: playground.folder("source", ["a": noise(200_000, change)]), as: "Game")
      try await site.publish(from: author, signedBy: key)
      let pull = ProgressTask { [site] report in
        try await device.pull(
          from: site.path.string, options: .init(trustedKey: key.publicKey), progress: report)
      }
      var last = 0.0
      for await progress in pull { last = progress.fraction }
      #expect((0...1).contains(last))
      #expect(try await pull.value.packs.map(\.description) == ["Game@\(change) updated"])
      #expect(try await device.read("a") == noise(200_000, change))
    }
    try await device.rollBack("Game")
    #expect(try await device.read("a") == noise(200_000, 1))
    #expect(try await device.pull(from: site.path.string).packs.map(\.outcome) == [.held])
    try await device.unpin("Game")
    try await device.pin("Game", version: 2)
    try await device.setPriority(3, of: "Game")
    try await device.copy("Game", from: author.makeSnapshot(), options: .init(adopts: true))
    try await device.trim("Game", keeping: 1)
    #expect(try device.versions(of: "Game").map(\.number) == [2])
    try await device.remove("Game")
    #expect(try device.packs().isEmpty)
  }

  @Test func valuesAreCodable() async throws {
    let playground = try Playground()
    let store = try Store(at: playground.path("store"))
    let result = try await store.install(folder: playground.folder("source", ["a": Data([1])]), as: "Base")
    let copy = try JSONDecoder().decode(Store.InstallResult.self, from: JSONEncoder().encode(result))
    #expect(copy == result)
    let pack = try #require(try store.packs().first)
    #expect(try JSONDecoder().decode(Store.Pack.self, from: JSONEncoder().encode(pack)) == pack)
    let statistics = try await store.statistics()
    #expect(try JSONDecoder().decode(Store.Statistics.self, from: JSONEncoder().encode(statistics)) == statistics)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([PackID].self, from: Data(#"["no/name"]"#.utf8)) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([CatalogID].self, from: Data(#"["12"]"#.utf8)) }
  }
}
