import Foundation
import PackDelivery
import PackFormats
import PackStore
import Testing

/// Which roots are taken. Each rule has a test that would fail without it.
@Suite struct TrustTests {
  static let ours = SiteKey().publicKey, theirs = SiteKey().publicKey
  static let place = "https://example.com/packs", mirror = "https://mirror.example.com/packs"

  static let here = TrustBook.PlaceKey(location: place)

  static let day: Int64 = 86_400_000_000_000
  static let other = try! Store.Product("other")

  func root(
    key: SitePublicKey? = Self.ours, product: Store.Product = .standard, sequence: UInt64 = 5, madeAt: Int64 = 0,
    expiresAt: Int64? = nil, content: UInt8 = 0
  ) -> RootClaims {
    root(
      by: key.map { RootClaims.Signer(rootKeys: [$0]) }, product: product, sequence: sequence, madeAt: madeAt,
      expiresAt: expiresAt, content: content)
  }

  func root(
    by signer: RootClaims.Signer?, product: Store.Product = .standard, channel: SiteChannel = .live,
    sequence: UInt64 = 5, madeAt: Int64 = 0, expiresAt: Int64? = nil, content: UInt8 = 0
  ) -> RootClaims {
    RootClaims(
      signer: signer, product: product, channel: channel, sequence: sequence, madeAt: madeAt, expiresAt: expiresAt,
      digest: Digest256(hashing: [content]))
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
    _ root: RootClaims, _ book: inout TrustBook, at place: String = Self.place, channel: SiteChannel = .live,
    isLocal: Bool = false, key: SitePublicKey? = nil, allowsUnsigned: Bool = false, maximumAge: Int64? = nil,
    now: Int64 = 1000
  ) throws -> TrustBook.Verdict {
    try book.admit(
      root, at: .site(place, channel, isLocal: isLocal),
      TrustPolicy(key: key, allowsUnsigned: allowsUnsigned, maximumAge: maximumAge), now: now)
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

  /// A key that is named does not move a place that is pinned to another one.
  @Test func aNamedKeyMovesNoPlace() throws {
    refuses(.otherKey, try book()) { try admit(root(key: Self.theirs, sequence: 9), &$0, key: Self.theirs) }
    var book = try book()
    #expect(book.forget(.signed(Self.theirs, .standard)) == 0 && book.forget(.signed(Self.ours, Self.other)) == 0)
    #expect(book.forget(.signed(Self.ours, .standard)) == 1)
    #expect(try admit(root(key: Self.theirs, sequence: 1, content: 1), &book) == .pinned)
    refuses(.otherKey, book) { try admit(root(sequence: 9), &$0) }
  }

  @Test func anotherProductIsAnotherPublisher() throws {
    refuses(.otherKey, try book()) { try admit(root(product: Self.other, sequence: 9), &$0) }
    refuses(.otherKey, try book()) { try admit(root(product: Self.other, sequence: 9), &$0, key: Self.ours) }
  }

  // MARK: - Release keys and rotations

  private static let third = SiteKey().publicKey

  private func signer(
    _ keys: [SitePublicKey] = [ours], _ serial: UInt64 = 1, revokedBelow: UInt64 = 0, endsAt: Int64? = nil
  ) -> RootClaims.Signer {
    RootClaims.Signer(rootKeys: keys, serial: serial, revokedBelow: revokedBelow, endsAt: endsAt)
  }

  /// A key that was revoked is refused however high its numbers are, and the numbers become invalid.
  @Test func revokedKeysAreStale() throws {
    var book = try book(root(by: signer([Self.ours], 7), sequence: .max))
    #expect(try admit(root(by: signer([Self.ours], 8, revokedBelow: 8), sequence: 3, content: 3), &book) == .known)
    #expect(book.places[Self.here]?.serial == 8 && book.places[Self.here]?.sequence == 3)
    let after = book
    #expect(try admit(root(by: signer([Self.ours], 7), sequence: .max), &book) == .stale(seen: 3))
    #expect(try admit(root(by: signer([Self.ours], 8), sequence: 2, content: 2), &book) == .stale(seen: 3))
    #expect(book == after)
    refuses(.forkedRoot, book) { try admit(root(by: signer([Self.ours], 8), sequence: 3, content: 4), &$0) }
  }

  /// A renewed key continues the sequences: the root of a restored backup is not newer because of it. A later key that copies an old
  /// revocation restarts nothing either.
  @Test func aHigherSerialAloneRestartsNothing() throws {
    var book = try book(root(by: signer([Self.ours], 7), sequence: 5))
    let before = book
    for revokedBelow: UInt64 in [0, 6, 7] {
      let renewed = signer([Self.ours], 8, revokedBelow: revokedBelow)
      #expect(try admit(root(by: renewed, sequence: 4, content: 4), &book) == .stale(seen: 5))
      refuses(.forkedRoot, book) { try admit(root(by: renewed, sequence: 5, content: 4), &$0) }
    }
    #expect(book == before)
    #expect(try admit(root(by: signer([Self.ours], 8), sequence: 6, content: 6), &book) == .known)
    #expect(book.places[Self.here]?.serial == 8 && book.places[Self.here]?.sequence == 6)
    #expect(try admit(root(by: signer([Self.ours], 7), sequence: 9), &book) == .stale(seen: 6), "the key before")
  }

  @Test func endedKeysAreRefused() throws {
    refuses(.expired, TrustBook()) { try admit(root(by: signer(endsAt: 1000)), &$0) }
    var book = try book(root(by: signer(endsAt: 1001)))
    refuses(.expired, book) { try admit(root(by: signer(endsAt: 1001), sequence: 6), &$0, now: 2000) }
    // A new word of the root key puts the end off.
    #expect(try admit(root(by: signer([Self.ours], 2, endsAt: 3000), sequence: 6), &book, now: 2000) == .known)
  }

  /// The keys in a publisher's site bind its archives, deltas and other sites.
  @Test func replacedKeysSignNothingElse() throws {
    let (first, second) = (Self.ours, Self.theirs)
    var book = try book(root(by: signer([first, second], 7)))
    #expect(
      try book.admit(root(by: signer([first, second], 7)), at: .archive("/a"), TrustPolicy(), now: 1000) == .known)
    // A stolen old root key, with any serial; a replaced release key.
    for signer in [signer([first], 9), signer([first, Self.third], 9), signer([first, second], 6)] {
      refuses(.otherKey, book) { try $0.admit(root(by: signer), at: .archive("/a"), TrustPolicy(), now: 1000) }
      refuses(.otherKey, book) { try admit(root(by: signer), &$0, at: Self.mirror) }
      #expect(throws: DeliveryError.self) { try book.check(signer, of: .standard, at: "delta") }
    }
    try book.check(signer([first], 9), of: Self.other, at: "delta")  // another product
    #expect(try admit(root(by: signer([first, second], 8)), &book, at: Self.mirror) == .pinned)
    // The root before the rotation, by a mirror that lags.
    #expect(try admit(root(by: signer([first], 6), sequence: 99), &book) == .stale(seen: 5))
  }

  /// A mirror without the root key's latest delegation is not an alarm, because the newest accepted root is still
  /// valid.
  @Test func rootsOfEndedKeysMayBeStale() throws {
    var book = try book(root(by: signer([Self.ours], 2)))
    #expect(try admit(root(by: signer(endsAt: 1000), sequence: 9), &book) == .stale(seen: 5))
  }

  /// Clients follow root keys, even after missed rotations; an older key is never accepted again.
  @Test func rotationsAreFollowed() throws {
    let (first, second, third) = (Self.ours, Self.theirs, Self.third)
    var book = try book()
    refuses(.otherKey, book) { try admit(root(by: signer([second, third]), sequence: 9), &$0) }
    #expect(try admit(root(by: signer([first, second, third]), sequence: 6, content: 6), &book) == .known)
    #expect(book.places[Self.here]?.rootKey == third && book.places[Self.here]?.firstKey == first)
    for keys in [[first], [first, second], [first, second, SiteKey().publicKey], [third]] {
      refuses(.otherKey, book) { try admit(root(by: signer(keys), sequence: 9), &$0) }
    }
    #expect(book.places[Self.here]?.origin == .signed(first, .standard), "whose packs they are stays")
    #expect(TrustBook(text: book.text) == book)
  }

  /// A key that is named may be any that led to the present one.
  @Test func aNamedKeyMayHaveBeenFollowed() throws {
    for key in [Self.ours, Self.theirs] {
      var book = TrustBook()
      #expect(try admit(root(by: signer([Self.ours, Self.theirs])), &book, key: key) == .known)
    }
    refuses(.otherKey, TrustBook()) { try admit(root(by: signer([Self.ours, Self.theirs])), &$0, key: Self.third) }
  }

  @Test func theRootOfAnotherChannelIsRefused() throws {
    let beta = try SiteChannel("beta")
    refuses(.otherChannel, TrustBook()) { try admit(root(by: signer(), channel: beta), &$0) }
    refuses(.otherChannel, try book()) { try admit(root(by: signer(), channel: beta, sequence: 9), &$0) }
    refuses(.otherChannel, TrustBook()) {
      try admit(root(by: nil, channel: beta), &$0, isLocal: true, allowsUnsigned: true)
    }
  }

  /// Each channel of a place has its own count; all of them are of one publisher.
  @Test func channelsAreCountedByThemselves() throws {
    let beta = try SiteChannel("beta")
    var book = try book()
    refuses(.otherKey, book) { try admit(root(by: signer([Self.theirs]), channel: beta), &$0, channel: beta) }
    refuses(.otherKey, book) {
      try admit(root(by: signer(), product: Self.other, channel: beta), &$0, channel: beta)
    }
    #expect(try admit(root(by: signer(), channel: beta, sequence: 2), &book, channel: beta) == .known)
    #expect(try admit(root(by: signer(), channel: beta, sequence: 1), &book, channel: beta) == .stale(seen: 2))
    #expect(try admit(root(sequence: 6, content: 6), &book) == .known)
    // Each in the place of the other.
    refuses(.otherChannel, book) { try admit(root(sequence: 9), &$0, channel: beta) }
    refuses(.otherChannel, book) { try admit(root(by: signer(), channel: beta, sequence: 9), &$0) }
    #expect(book.places.values.map(\.sequence).sorted() == [2, 6])
    #expect(book.channel(at: Self.place) == .live)
    book.follow(beta, at: Self.place)
    #expect(book.channel(at: Self.place) == beta && book.channel(at: Self.mirror) == .live)
    #expect(TrustBook(text: book.text) == book)
    // A change that has begun is followed, and counts as a change until it is completed.
    #expect(!book.changes(to: beta, at: Self.place) && book.changes(to: .live, at: Self.place))
    book.begin(.live, at: Self.place)
    #expect(TrustBook(text: book.text) == book)
    #expect(book.channel(at: Self.place) == .live && book.changes(to: .live, at: Self.place))
    #expect(book.changes(to: beta, at: Self.place) && !book.changes(to: beta, at: Self.mirror))
    #expect(book.forget(.signed(Self.ours, .standard)) == 2 && book.channel(at: Self.place) == .live)
    #expect(book == TrustBook())
  }

  /// The word for a key of one channel takes nothing from the keys of the others.
  @Test func aWordForAChannelIsForThatChannel() throws {
    let beta = try SiteChannel("beta")
    func signer(_ serial: UInt64, _ channels: [SiteChannel]) -> RootClaims.Signer {
      RootClaims.Signer(rootKeys: [Self.ours], serial: serial, channels: channels)
    }
    var book = TrustBook()
    try admit(root(by: signer(5, [.live])), &book)
    try admit(root(by: signer(6, [beta]), channel: beta), &book, channel: beta)
    // A mirror of the live channel, an archive and a delta by the key of the lower serial.
    #expect(try admit(root(by: signer(5, [.live])), &book, at: Self.mirror) == .pinned)
    #expect(try book.admit(root(by: signer(5, [.live])), at: .archive("/a"), TrustPolicy(), now: 1000) == .known)
    try book.check(signer(5, [.live]), of: .standard, at: "/d")
    try book.check(signer(5, []), of: .standard, at: "/d")
    // A key that was replaced on its channel signs nothing.
    for old in [signer(4, [.live]), signer(4, [])] {
      refuses(.otherKey, book) {
        try $0.admit(root(by: old), at: .archive("/a"), TrustPolicy(), now: 1000)
      }
      #expect(throws: DeliveryError.self) { try book.check(old, of: .standard, at: "/d") }
    }
    #expect(throws: DeliveryError.self) { try book.check(signer(5, [beta]), of: .standard, at: "/d") }
    // A word for all channels is one for each.
    try admit(root(by: signer(7, []), channel: beta), &book, channel: beta)
    #expect(throws: DeliveryError.self) { try book.check(signer(6, [.live]), of: .standard, at: "/d") }
    try book.check(signer(1, [try SiteChannel("other")]), of: .standard, at: "/d")
  }

  /// Each place has its own count, and a mirror may lag behind.
  @Test func placesAreCountedByThemselves() throws {
    var book = try book()
    #expect(try admit(root(sequence: 3, content: 3), &book, at: Self.mirror) == .pinned)
    #expect(try admit(root(sequence: 4, content: 4), &book, at: Self.mirror) == .known)
    #expect(book.places.values.map(\.sequence).sorted() == [4, 5])
  }

  @Test func olderRootsAreStale() throws {
    var book = try book()
    let before = book
    #expect(try admit(root(sequence: 4, content: 4), &book) == .stale(seen: 5))
    #expect(book == before)
    try admit(root(sequence: 6, content: 6), &book)
    #expect(try admit(root(), &book) == .stale(seen: 6))
  }

  /// A root of another key or product is that first, however old it is.
  @Test func strangersAreStrangersWhateverTheTime() throws {
    for (expiresAt, madeAt) in [(999, 0), (nil, 10 * Self.day)] as [(Int64?, Int64)] {
      let stranger = root(key: Self.theirs, sequence: 9, madeAt: madeAt, expiresAt: expiresAt)
      refuses(.otherKey, try book()) { try admit(stranger, &$0) }
      refuses(.otherKey, TrustBook()) { try admit(stranger, &$0, key: Self.ours) }
      let other = root(product: Self.other, sequence: 9, madeAt: madeAt, expiresAt: expiresAt)
      refuses(.otherKey, try book()) { try admit(other, &$0) }
      refuses(.forkedRoot, try book()) { try admit(root(madeAt: madeAt, expiresAt: expiresAt, content: 1), &$0) }
      refuses(.notSigned, TrustBook()) {
        try admit(root(key: nil, madeAt: madeAt, expiresAt: expiresAt), &$0, isLocal: true)
      }
    }
  }

  /// A root of an outdated mirror may have expired: that is not an alarm while the newest accepted root is valid.
  /// Afterwards it is one, because old roots would otherwise hide forever that no new one comes.
  @Test func anExpiredMirrorIsStaleWhileTheNewestRootCounts() throws {
    var book = TrustBook()
    try admit(root(sequence: 6, madeAt: 2 * Self.day, expiresAt: 4 * Self.day), &book, now: 2 * Self.day)
    let old = root(sequence: 5, madeAt: Self.day, expiresAt: 3 * Self.day)
    #expect(try admit(old, &book, now: 4 * Self.day - 1) == .stale(seen: 6))
    refuses(.expired, book) { try admit(old, &$0, now: 4 * Self.day) }
    #expect(try admit(old, &book, maximumAge: Self.day, now: 3 * Self.day) == .stale(seen: 6))
    refuses(.tooOld, book) { try admit(old, &$0, maximumAge: Self.day, now: 3 * Self.day + 1) }
    // Extremes do not trap.
    let odd = [root(sequence: 1, madeAt: .min, expiresAt: .max), root(sequence: 1, madeAt: .max)]
    for root in odd { #expect(try admit(root, &book, now: 2 * Self.day) == .stale(seen: 6)) }
    refuses(.expired, book) { try admit(root(sequence: 1, madeAt: .max, expiresAt: .min), &$0, now: 2 * Self.day) }
  }

  @Test func twoRootsOfOneNumberAreAnAlarm() throws {
    refuses(.forkedRoot, try book()) { try admit(root(content: 1), &$0) }
  }

  /// Archives come from any place: the floors of the packs determine their order.
  @Test func archivesArePinnedNowhere() throws {
    var book = try book()
    let before = book
    for (key, sequence) in [(Self.theirs, 9), (Self.ours, 1)] as [(SitePublicKey, UInt64)] {
      let claims = root(key: key, sequence: sequence)
      #expect(try book.admit(claims, at: .archive(Self.place), TrustPolicy(), now: 1000) == .known)
    }
    #expect(book == before)
    refuses(.otherKey, book) {
      try $0.admit(root(key: Self.theirs), at: .archive("/a"), TrustPolicy(key: Self.ours), now: 1000)
    }
    #expect(
      try book.admit(root(key: nil), at: .archive("/a"), TrustPolicy(allowsUnsigned: true), now: 1000) == .unsigned)
  }

  /// A clock that was set back revives nothing, and a root of a wrong clock outlasts nothing.
  @Test func timeDoesNotGoBack() throws {
    var book = TrustBook()
    try admit(root(madeAt: 5 * Self.day), &book, now: 5 * Self.day)
    refuses(.expired, book) { try admit(root(sequence: 6, expiresAt: 4 * Self.day), &$0, now: 3 * Self.day) }
    refuses(.fromTheFuture, book) { try admit(root(sequence: 6, madeAt: 6 * Self.day + 1), &$0, now: 0) }
    #expect(try admit(root(sequence: 6, madeAt: 6 * Self.day), &book, now: 0) == .known)
    refuses(.fromTheFuture, TrustBook()) { try admit(root(madeAt: .max), &$0) }
    #expect(try admit(root(madeAt: .min), &book, at: Self.mirror) == .pinned)
  }

  @Test func oldRootsAreRefusedOnDemand() throws {
    refuses(.tooOld, TrustBook()) { try admit(root(), &$0, maximumAge: 999) }
    refuses(.tooOld, TrustBook()) { try admit(root(madeAt: .min), &$0, maximumAge: .max) }
    var book = TrustBook()
    #expect(try admit(root(), &book, maximumAge: 1000) == .pinned)
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
    refuses(.notSigned, TrustBook()) { try admit(unsigned, &$0, isLocal: true) }
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
    // A refused root is not written.
    #expect(throws: DeliveryError.self) { try file.update { try admit(root(key: Self.theirs), &$0) } }
    #expect(try file.read() == expected)
  }

  @Test func aDamagedFileTrustsNoKey() throws {
    let folder = TestFolder()
    let file = TrustFile(inStore: FilePath(folder.path))
    let text = try book().text
    let key = Self.ours.description
    let line = text.split(separator: "\n")[1]
    let damaged = [
      "", "packstore trust 0.2\n", "packstore trust 0\n", String(text.dropLast()), text + "\n", text + line + "\n",
      text + "site x\n", text.replacingOccurrences(of: " 5 ", with: " -5 "), text + "key x y\n",
      text.replacingOccurrences(of: " default ", with: " Default "),
      text.replacingOccurrences(of: " 0 https", with: " 00 https"),
      text.replacingOccurrences(of: " 0 https", with: " https"),
      text.replacingOccurrences(of: key, with: String(key.dropFirst())),
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
