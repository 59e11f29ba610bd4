import Foundation
import PackDelivery
import PackStore
import SystemPackage
import Testing

/// Which roots are taken. Each rule has a test that would fail without it.
@Suite struct TrustTests {
  static let ours = SiteKey().publicKey, theirs = SiteKey().publicKey
  static let site = SiteID(ID128(copying: [UInt8](repeating: 0xaa, count: 16)))
  static let otherSite = SiteID(ID128(copying: [UInt8](repeating: 0xbb, count: 16)))
  static let place = "https://example.com/packs", mirror = "https://mirror.example.com/packs"

  func root(
    site: SiteID = Self.site, key: SitePublicKey? = Self.ours, sequence: UInt64 = 5, expiresAt: Int64? = nil,
    content: UInt8 = 0
  ) -> RootClaims {
    RootClaims(site: site, key: key, sequence: sequence, expiresAt: expiresAt, digest: Digest256(hashing: [content]))
  }

  /// A book after one contact.
  func book(_ root: RootClaims? = nil) throws -> TrustBook {
    var book = TrustBook()
    let verdict = try admit(root ?? self.root(), &book)
    #expect(verdict == .pinned)
    return book
  }

  @discardableResult
  func admit(
    _ root: RootClaims, _ book: inout TrustBook, at place: String = Self.place, isLocal: Bool = false,
    key: SitePublicKey? = nil, allowsUnsigned: Bool = false, now: Int64 = 1000
  ) throws -> TrustBook.Verdict {
    try book.admit(root, at: place, isLocal: isLocal, TrustPolicy(key: key, allowsUnsigned: allowsUnsigned), now: now)
  }

  func refuses(
    _ code: DeliveryError.Code, _ book: TrustBook, sourceLocation: Testing.SourceLocation = #_sourceLocation,
    _ body: (inout TrustBook) throws -> TrustBook.Verdict
  ) {
    var after = book
    do {
      _ = try body(&after)
      Issue.record("it was taken", sourceLocation: sourceLocation)
    } catch {
      #expect((error as? DeliveryError)?.code == code, sourceLocation: sourceLocation)
    }
    #expect(after == book, "what is refused changes nothing", sourceLocation: sourceLocation)
  }

  @Test func firstContactPins() throws {
    var book = try book()
    #expect(try admit(root(), &book) == .known)
    refuses(.otherKey, book) { try admit(root(key: Self.theirs, sequence: 6), &$0) }
  }

  @Test func aNamedKeyIsTheOnlyOne() throws {
    refuses(.otherKey, TrustBook()) { try admit(root(), &$0, key: Self.theirs) }
    refuses(.otherKey, try book()) { try admit(root(), &$0, key: Self.theirs) }
    var named = TrustBook()
    #expect(try admit(root(), &named, key: Self.ours) == .known)
    refuses(.otherKey, named) { try admit(root(key: Self.theirs), &$0) }
  }

  @Test func aNamedKeyReplacesThePinnedOne() throws {
    var book = try book()
    #expect(try admit(root(key: Self.theirs, sequence: 1, content: 1), &book, key: Self.theirs) == .known)
    #expect(try admit(root(key: Self.theirs, sequence: 2, content: 2), &book) == .known)
    refuses(.otherKey, book) { try admit(root(sequence: 9), &$0) }
    refuses(.olderRoot, book) { try admit(root(key: Self.theirs, sequence: 1, content: 1), &$0, key: Self.theirs) }
  }

  @Test func anotherSiteAtAKnownPlaceIsAChangedKey() throws {
    let other = root(site: Self.otherSite, key: Self.theirs)
    refuses(.otherKey, try book()) { try admit(other, &$0) }
    // Even with the same key: the count of roots would begin anew.
    refuses(.otherKey, try book()) { try admit(root(site: Self.otherSite), &$0) }
    var book = try book()
    #expect(try admit(other, &book, key: Self.theirs) == .known)
    #expect(try admit(other, &book) == .known)
  }

  @Test func aKnownSiteAtAnotherPlaceHasTheSameKey() throws {
    var book = try book()
    #expect(try admit(root(), &book, at: Self.mirror) == .known)
    refuses(.otherKey, book) { try admit(root(key: Self.theirs), &$0, at: "https://elsewhere.example.com") }
    refuses(.olderRoot, book) { try admit(root(sequence: 4), &$0, at: Self.mirror) }
  }

  @Test func rootsDoNotGoBack() throws {
    var book = try book()
    refuses(.olderRoot, book) { try admit(root(sequence: 4, content: 4), &$0) }
    refuses(.olderRoot, book) { try admit(root(content: 1), &$0) }
    try admit(root(sequence: 6, content: 6), &book)
    refuses(.olderRoot, book) { try admit(root(), &$0) }
  }

  @Test func rootsExpire() throws {
    var book = TrustBook()
    refuses(.expired, book) { try admit(root(expiresAt: 1000), &$0) }
    #expect(try admit(root(expiresAt: 1001), &book) == .pinned)
    refuses(.expired, TrustBook()) {
      try admit(root(key: nil, expiresAt: 999), &$0, isLocal: true, allowsUnsigned: true)
    }
  }

  @Test func unsignedSitesAreForFoldersOnly() throws {
    let unsigned = root(key: nil)
    refuses(.badSignature, TrustBook()) { try admit(unsigned, &$0, allowsUnsigned: true) }
    refuses(.badSignature, TrustBook()) { try admit(unsigned, &$0, isLocal: true) }
    refuses(.otherKey, TrustBook()) { try admit(unsigned, &$0, isLocal: true, key: Self.ours, allowsUnsigned: true) }
    refuses(.otherKey, try book()) { try admit(unsigned, &$0, isLocal: true, allowsUnsigned: true) }
    var book = TrustBook()
    #expect(try admit(unsigned, &book, isLocal: true, allowsUnsigned: true) == .unsigned)
    #expect(book == TrustBook(), "nothing is pinned")
  }

  // MARK: - On disk

  @Test func isKept() throws {
    let folder = TestFolder()
    try FileManager.default.createDirectory(atPath: "\(folder.path)/tmp", withIntermediateDirectories: true)
    let file = TrustFile(inStore: FilePath(folder.path))
    #expect(try file.read() == TrustBook())
    var expected = TrustBook()
    for place in [
      Self.place, "/a folder/with\na line break%0A", "/ends in\r", "/has\r\n\r\n both%25\u{301}", "/\u{301}a \u{301}b",
      Self.mirror,
    ] {
      try admit(root(), &expected, at: place)
      _ = try file.update { try admit(root(), &$0, at: place) }
      #expect(try file.read() == expected)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/tmp") == [])
    // What is refused is not written.
    #expect(throws: DeliveryError.self) { try file.update { try admit(root(key: Self.theirs), &$0) } }
    #expect(try file.read() == expected)
  }

  @Test func aDamagedFileTrustsNobody() throws {
    let folder = TestFolder()
    let file = TrustFile(inStore: FilePath(folder.path))
    let text = try book().text
    let key = Self.ours.description
    let damaged = [
      "", "packstore trust 1\n", String(text.dropLast()), text + "\n", text + "place \(Self.site) \(Self.place)\n",
      "packstore trust 0\nplace \(Self.site) x\n", text.replacingOccurrences(of: " 5 ", with: " -5 "),
      text.replacingOccurrences(of: "site aa", with: "site A"), text + "key x y\n",
      text.replacingOccurrences(of: key, with: String(key.dropFirst())), text + text.split(separator: "\n")[1] + "\n",
    ]
    for text in damaged {
      try folder.write(text.utf8, to: "trust")
      #expect(throws: DeliveryError.self, "\(text)") { try file.read() }
      #expect(throws: DeliveryError.self) { try file.update { _ in } }
    }
    let expected = try book()
    #expect(TrustBook(text: text) == expected)
  }
}
