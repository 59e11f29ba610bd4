import Foundation
import Testing

@testable import PackStore

/// Names of products and ids of origins.
@Suite struct OriginTests {
  @Test func productsHaveNames() throws {
    for name in ["default", "a", "0", "a.b-c_d", String(repeating: "x", count: 64)] {
      #expect(try Store.Product(name).name == name)
    }
    for name in ["", "A", "-a", ".a", "_a", "a b", "a/b", "ä", String(repeating: "x", count: 65)] {
      #expect(throws: PackStoreError.self, "\(name)") { try Store.Product(name) }
    }
  }

  @Test func idsTellOriginsApart() throws {
    let one = try #require(SitePublicKey([UInt8](repeating: 1, count: 32)))
    let two = try #require(SitePublicKey([UInt8](repeating: 2, count: 32)))
    let origins: [Store.Origin] = [
      .local, .unknown, .unsigned(.standard), .unsigned(try Store.Product("other")), .signed(one, .standard),
      .signed(two, .standard), .signed(one, try Store.Product("other")),
    ]
    #expect(Set(origins.map(\.id)).count == origins.count)
    #expect(origins[0].id == "local" && origins[1].id == "unknown")
    #expect(origins.dropFirst(2).allSatisfy { $0.id.utf8.count == 16 })
    for origin in origins { #expect(Store.Origin(origin.core) == origin) }
  }

  /// A folder that was unpacked from a publisher's archive belongs to the publisher.
  @Test func foldersOfAPublisher() async throws {
    let folder = TemporaryFolder(), store = try folder.store()
    let first = FilePath(try folder.makeFolder("first", ["a.txt": Data("one".utf8)]))
    let second = FilePath(try folder.makeFolder("second", ["a.txt": Data("two".utf8)]))
    let one = Store.Origin.unsigned(try Store.Product("one")), two = Store.Origin.unsigned(try Store.Product("two"))
    func install(_ origin: Store.Origin?, _ version: UInt64?, _ content: FilePath) async throws {
      var options = Store.InstallOptions(version: version)
      options.provenance = origin.map { Provenance($0, .archive, serial: 0, sequence: 0) }
      try await store.install(folder: content, as: "Pack", options: options)
    }
    await #expect { try await install(one, nil, first) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
    try await install(one, 5, first)
    let pack = try #require(try store.makeSnapshot().pack("Pack"))
    #expect(pack.origin == one && pack.version.number == 5)
    // Neither another publisher nor this machine may change the pack.
    for origin in [two, nil] {
      await #expect { try await install(origin, 6, second) } throws: { ($0 as? PackStoreError)?.code == .otherOrigin }
    }
    await #expect { try await install(one, 4, second) } throws: { error in
      [.exists, .downgrade].contains((error as? PackStoreError)?.code)
    }
    try await install(one, 6, second)
    // The publisher's floor outlives the pack.
    try await store.remove("Pack")
    await #expect { try await install(one, 5, first) } throws: { ($0 as? PackStoreError)?.code == .downgrade }
    try await install(one, 6, second)
  }
}
