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
}
