import Testing

@testable import PackStore

/// Names of products, ids of origins, and the signatures of deltas that name both.
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
    let one = SiteKey().publicKey, two = SiteKey().publicKey
    let origins: [Store.Origin] = [
      .local, .unknown, .unsigned(.standard), .unsigned(try Store.Product("other")), .signed(one, .standard),
      .signed(two, .standard), .signed(one, try Store.Product("other")),
    ]
    #expect(Set(origins.map(\.id)).count == origins.count)
    #expect(origins[0].id == "local" && origins[1].id == "unknown")
    #expect(origins.dropFirst(2).allSatisfy { $0.id.utf8.count == 16 })
    for origin in origins { #expect(Store.Origin(origin.core) == origin) }
  }

  @Test func everyByteOfADeltasSignatureCounts() throws {
    let key = SiteKey(), header = Digest256(hashing: [1, 2, 3])
    let signature = try DeltaSignature(of: header, by: key, product: try Store.Product("levels"), sequence: 17)
    let bytes = signature.bytes
    let read = try #require(DeltaSignature(bytes, of: header))
    #expect(bytes.count <= DeltaSignature.byteCountLimit && read == signature)
    #expect(read.authority.rootKey == key.publicKey && read.sequence == 17)
    #expect(read.authority.origin == .signed(key.publicKey, try Store.Product("levels")))
    #expect(DeltaSignature(bytes, of: Digest256(hashing: [1, 2])) == nil)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(DeltaSignature(changed, of: header) == nil, "byte \(index)")
    }
    for count in 0..<bytes.count { #expect(DeltaSignature(Array(bytes.prefix(count)), of: header) == nil) }
    #expect(DeltaSignature(bytes + [0], of: header) == nil)
  }
}
