import Testing

import PackStore

@testable import PackFormats

@Suite struct DeltaSignatureTests {
  @Test func changedByteInvalidatesSignature() throws {
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
