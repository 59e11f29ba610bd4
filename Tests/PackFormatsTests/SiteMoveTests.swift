import PackFormats
import PackStore
import Testing

/// Statements that a site moved.
@Suite struct SiteMoveTests {
  private let key = SiteKey()
  private static let url = "https://new.example.com/packs"

  private func move(to url: String = SiteMoveTests.url, by key: SiteKey? = nil) throws -> SiteMove {
    try SiteMove(to: url, of: .standard, by: key ?? self.key, madeAt: 7)
  }

  private func root(with move: SiteMove?) throws -> SiteRoot {
    var root = SiteRoot(
      sequence: 5, madeAt: 1, expiresAfter: nil, site: SiteID(ID128(copying: Array(0..<16))), product: .standard,
      packs: [])
    root.setMove(move)
    return root
  }

  private func decoded(_ root: SiteRoot, signedBy key: SiteKey) throws -> SignedSiteRoot {
    try SignedSiteRoot(decoding: try root.encode(signedBy: key), file: "root")
  }

  @Test func rootContainsTheStatement() throws {
    let move = try move(), signed = try decoded(root(with: move), signedBy: key)
    #expect(signed.move == move && signed.move?.url == Self.url && signed.root.hasMove)
    #expect(try decoded(root(with: nil), signedBy: key).move == nil)
  }

  @Test func releaseKeyKeepsAStatementAndCannotMakeOne() throws {
    let release = try SiteKey().delegated(
      by: key, serial: 2, madeAt: 0, endsAt: nil, product: .standard, channels: [])
    #expect(try decoded(root(with: move()), signedBy: release).move?.url == Self.url)
    let error = #expect(throws: PackStoreError.self) { try move(by: release) }
    #expect(error?.code == .untrusted)
  }

  /// A stolen release key has the statements of no key but its own.
  @Test func statementOfAnotherKeyIsIgnored() throws {
    #expect(try decoded(root(with: move(by: SiteKey())), signedBy: key).move == nil)
    let other = try SiteMove(to: Self.url, of: try Store.Product("other"), by: key, madeAt: 7)
    #expect(try decoded(root(with: other), signedBy: key).move == nil)
    #expect(try SignedSiteRoot(decoding: root(with: move()).encode(signedBy: nil), file: "root").move == nil)
  }

  @Test func changedBytesAreRefused() throws {
    let bytes = try move().extensionBytes
    for index in bytes.indices {
      var bent = bytes
      bent[index] ^= 1
      #expect(throws: PackStoreError.self, "byte \(index)") { try SiteMove(extensionBytes: bent, file: "root") }
    }
    for count in bytes.indices {
      #expect(throws: PackStoreError.self) { try SiteMove(extensionBytes: Array(bytes.prefix(count)), file: "root") }
    }
    #expect(throws: PackStoreError.self) { try SiteMove(extensionBytes: bytes + [0], file: "root") }
  }

  @Test(arguments: [
    "", "packs", "ftp://example.com/packs", "HTTPS://example.com", "https://", "https:///packs",
    "https://user@example.com/",
    "https://example.com/packs?key=1", "https://example.com/#top", "https://example.com/a b",
    "https://ex\u{e4}mple.com/",
    "https://example.com\\packs", "https://example.com/\n", String(repeating: "https://example.com/", count: 200),
  ])
  func unsuitableURLs(url: String) {
    let error = #expect(throws: PackStoreError.self) { try move(to: url) }
    #expect(error?.code == .invalidArgument)
  }
}
