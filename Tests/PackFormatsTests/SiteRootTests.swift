import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct SiteRootTests {
  let key = SiteKey()
  let bytes: [UInt8]

  init() throws { bytes = try SiteFormatSamples.root.encode(signedBy: key) }

  @Test func isReadAsItWasWritten() throws {
    let signed = try SignedSiteRoot(decoding: bytes, file: "root")
    #expect(signed.root == SiteFormatSamples.root)
    #expect(signed.rootKey == key.publicKey && signed.authority?.firstKey == key.publicKey)
    #expect(signed.digest == Digest256(hashing: bytes))
  }

  @Test func anEmptySiteIsOne() throws {
    let root = SiteRoot(
      sequence: 1, madeAt: 0, expiresAfter: nil, site: SiteID(SiteFormatSamples.id(1)), product: .standard, packs: [])
    #expect(try SignedSiteRoot(decoding: try root.encode(signedBy: key), file: "root").root == root)
  }

  /// Where the authority of a key that signs for itself ends: 60 bytes, and then 4, 96, 4 + 7, 4, 64.
  private let names = 60 + 179

  /// The offset of the number of packs, and of the first pack's offer.
  private let packs = 307
  private var offer: Int { packs + 21 }

  @Test func fieldsLieWhereTheFormatSays() throws {
    #expect(bytes.starts(with: "PKSROOT0".utf8))
    #expect(bytes[12] == 0 && bytes[16] == 17)
    #expect(Array(bytes[40..<56]) == SiteFormatSamples.id(20).bytes)
    #expect(Array(bytes[56..<64]) == [179, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[60..<names]) == (try key.authority(for: .standard).bytes))
    #expect(Array(bytes[96..<128]) == key.publicKey.bytes)
    #expect(Array(bytes[names..<250]) == [7, 0, 0, 0] + Array("default".utf8))
    #expect(Array(bytes[250..<258]) == [4, 0, 0, 0] + Array("live".utf8))
    #expect(Array(bytes[258..<267]) == [5, 0, 0, 0] + Array("en-US".utf8))
    #expect(Array(bytes[267..<271]) == [1, 0, 0, 0])
    #expect(Array(bytes[271..<303]) == SiteFormatSamples.digest(31).bytes)
    #expect(Array(bytes[303..<307]) == [0xbc, 2, 0, 0])
    #expect(Array(bytes[packs..<packs + 4]) == [2, 0, 0, 0])
    #expect(
      Array(bytes[packs + 4..<packs + 21]) == [1, 0, 0, 0, 65, 0xfd, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[offer..<offer + 8]) == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[offer + 16..<offer + 48]) == SiteFormatSamples.catalog(21).bytes)
    #expect(Array(bytes[offer + 124..<offer + 136]) == [0x10, 0x27, 0, 0] + [UInt8](repeating: 0, count: 8))
    let last = offer + 136 + 17 + 136
    #expect(Array(bytes[last + 84..<last + 116]) == SiteFormatSamples.digest(32).bytes)
    #expect(Array(bytes[last + 8..<last + 16]) == [5, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[last + 116..<last + 128]) == [0, 0, 0, 0, 4, 0, 0, 0, 0xf4, 1, 0, 0])
    #expect(
      Array(bytes[last + 128..<last + 140]) == [3, 0, 0, 0] + Array("2.0".utf8) + [1, 0, 0, 0] + Array("3".utf8))
    let table = last + 140 + 108
    #expect(Array(bytes[table..<table + 12]) == [1, 0, 0, 0, 1, 0, 1, 0, 46, 0, 0, 0])
    #expect(Array(bytes[table + 12..<table + 21]) == [2, 0, 0, 0, 1, 0, 0, 0, 65])
    #expect(Array(bytes[table + 42..<table + 58]) == [4, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0])
    #expect(bytes.count == table + 58 + 64)
  }

  /// Every bit counts: a root that was changed anywhere is not the publisher's any more.
  @Test func everyByteIsSigned() {
    let shaped = Set(0..<8).union(56..<names)  // what cannot be taken apart is not looked at
    for index in bytes.indices where !(8..<12).contains(index) {
      let code = failure(decoding: bytes.putting(bytes[index] ^ 1, at: index))
      #expect(code == .untrusted || shaped.contains(index) && code == .corrupt, "byte \(index)")
    }
    for count in bytes.indices { #expect(failure(decoding: Array(bytes.prefix(count))) != nil, "\(count) bytes") }
    #expect(failure(decoding: bytes + [0]) == .untrusted)
  }

  /// Only the owner of the key can say so, and yet even the owner's nonsense is not believed.
  @Test func everyFieldIsChecked() throws {
    #expect(failure(decoding: bytes.putting(SiteFormat.keySets + 1, at: 8)) == .newerFormat)
    #expect(failure(decoding: bytes.putting(UInt32(0), at: 8)) == .otherDraft)
    #expect(failure(decoding: bytes.putting(SiteFormat.current + 0x10000, at: 8)) == .otherDraft)
    try expectCorrupt(UInt32(1), at: 12)  // a closed channel with packs
    try expectCorrupt(UInt32(2), at: 12)
    try expectCorrupt(UInt64(0), at: 16)  // sequence
    try expectCorrupt(Int64(-1), at: 32)  // expiry
    try expectCorrupt(UInt32.max, at: names)  // the product's name
    try expectCorrupt(UInt32(0), at: names)
    try expectCorrupt(UInt8(ascii: "D"), at: names + 4)
    try expectCorrupt(UInt8(ascii: "-"), at: names + 4)
    try expectCorrupt(UInt32(0), at: 250)  // the channel's name
    try expectCorrupt(UInt32.max, at: 250)
    try expectCorrupt(UInt8(ascii: "_"), at: 254)
    try expectCorrupt(UInt32.max, at: 258)  // the language
    try expectCorrupt(UInt8(ascii: "_"), at: 262)
    try expectCorrupt(UInt8(ascii: "E"), at: 262)  // not as it is written
    try expectCorrupt(UInt32(3), at: 267)  // sheets
    try expectCorrupt(UInt32(15), at: 303)  // length of the sheet
    try expectCorrupt(UInt32.max, at: 303)
    try expectCorrupt(UInt32(3), at: packs)
    try expectCorrupt(UInt32(1), at: packs)
    try expectCorrupt(UInt32.max, at: packs)
    try expectCorrupt(UInt32.max, at: packs + 4)  // the first pack's name
    try expectCorrupt(UInt8(ascii: "/"), at: packs + 8)
    try expectCorrupt(UInt8(ascii: "C"), at: packs + 8)  // not before the next one
    try expectCorrupt(UInt8(ascii: "B"), at: packs + 8)  // the next one's
    try expectCorrupt(UInt32(0), at: packs + 13)  // offers
    try expectCorrupt(UInt32(1_001), at: packs + 13)
    try expectCorrupt(UInt32.max, at: packs + 13)
    try expectCorrupt(UInt32.max, at: packs + 17)  // deltas
    try expectCorrupt(UInt64(0), at: offer)  // number of the version
    try expectCorrupt(UInt32(0), at: offer + 80)  // length of the manifest
    try expectCorrupt(UInt32.max, at: offer + 80)
    try expectCorrupt(UInt32(10_001), at: offer + 124)  // share
    try expectCorrupt(UInt32(80), at: offer + 128)  // length of the lowest app version
    let second = offer + 136 + 17
    try expectCorrupt(UInt64(2), at: second + 136)  // a version that is offered twice
    let third = second + 136
    try expectCorrupt(UInt8(ascii: "x"), at: third + 132)  // the lowest app version
    try expectCorrupt(Array("02.".utf8), at: third + 132)  // not as it is written
    try expectCorrupt(UInt8(ascii: "1"), at: third + 139)  // no version of the app
    let delta = third + 140
    try expectCorrupt(SiteFormatSamples.catalog(22).bytes, at: delta)  // from a version to itself
    try expectCorrupt(UInt32(0), at: delta + 96)  // length of the header
    try expectCorrupt(UInt64(499), at: delta + 100)  // shorter than its header
    try expectCorrupt(UInt64.max, at: delta + 100)
  }

  /// Where the extensions begin: after the second pack's delta.
  private var extensions: Int { offer + 136 + 17 + 136 + 140 + 108 }

  @Test func extensionsAreChecked() throws {
    let row = extensions + 16
    try expectCorrupt(UInt32(0), at: extensions)  // number of extensions: the table is missing
    try expectCorrupt(UInt32(2), at: extensions)
    try expectCorrupt(UInt32.max, at: extensions)
    try expectCorrupt(UInt16(0), at: extensions + 4)  // type
    try expectCorrupt(UInt16(0), at: extensions + 6)  // flags: the table is critical
    try expectCorrupt(UInt16(3), at: extensions + 6)
    try expectCorrupt(UInt32(45), at: extensions + 8)  // length
    try expectCorrupt(UInt32(47), at: extensions + 8)
    try expectCorrupt(UInt32.max, at: extensions + 8)
    try expectCorrupt(UInt32(1), at: extensions + 12)  // rows
    try expectCorrupt(UInt32(3), at: extensions + 12)
    try expectCorrupt(UInt32.max, at: extensions + 12)
    try expectCorrupt(UInt8(ascii: "/"), at: row + 4)  // a pack's name
    try expectCorrupt(UInt8(ascii: "B"), at: row + 4)  // not before the next one
    try expectCorrupt(UInt8(ascii: "0"), at: row + 4)  // a pack of the root is missing
    try expectCorrupt(UInt64(0), at: row + 5)  // highest number
    try expectCorrupt(UInt64(1) << 53, at: row + 5)
    try expectCorrupt(UInt64(2), at: row + 26)  // below an offer of the pack
    try expectCorrupt(UInt64(4), at: row + 34)  // an epoch below an offer's
    try expectCorrupt(UInt64(18), at: row + 34)  // an epoch above the sequence
  }

  /// A reader ignores an unknown extension, unless the extension is critical.
  @Test func unknownExtensionsAreIgnoredOrRefused() throws {
    func signed(_ extra: [UInt8], count: UInt32 = 2) throws -> [UInt8] {
      let body = Array(bytes.dropLast(64)).putting(count, at: extensions) + extra
      return body + (try key.signature(of: body, as: .root))
    }
    let root = try SignedSiteRoot(decoding: try signed([9, 0, 0, 0, 2, 0, 0, 0, 7, 7]), file: "root").root
    #expect(root.packs == SiteFormatSamples.root.packs && root.highest == SiteFormatSamples.root.highest)
    #expect(root.otherExtensions == [.init(type: 9, bytes: [7, 7])])
    #expect(try SignedSiteRoot(decoding: root.encode(signedBy: key), file: "root").root == root)
    let critical = try signed([9, 0, 1, 0, 2, 0, 0, 0, 7, 7])
    #expect(throws: PackStoreError.self) { try SignedSiteRoot(decoding: critical, file: "root") }
    do { _ = try SignedSiteRoot(decoding: critical, file: "root") } catch let error as PackStoreError {
      #expect(error.code == .newerFormat && error.reason.contains("extension 9"))
    }
    #expect(failure(decoding: try signed([9, 0, 2, 0, 0, 0, 0, 0])) == .corrupt, "unknown flag")
    #expect(failure(decoding: try signed([1, 0, 0, 0, 0, 0, 0, 0])) == .corrupt, "the table's type twice")
    #expect(failure(decoding: try signed([9, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0], count: 3)) == .corrupt)
  }

  /// A signature of one kind of bytes is not valid for another kind, nor for the bytes without a kind.
  @Test func signaturesAreOfOneKind() throws {
    let body = Array(bytes.dropLast(64))
    for kind in SignedKind.allCases {
      #expect(failure(decoding: body + (try key.signature(of: body, as: kind))) == (kind == .root ? nil : .untrusted))
    }
  }

  @Test func closedRootsKeepTheirTable() throws {
    var root = SiteFormatSamples.root
    (root.packs, root.isClosed) = ([], true)
    root.highest["Gone"] = .init(number: 9, epoch: 3)
    #expect(try SignedSiteRoot(decoding: try root.encode(signedBy: key), file: "root").root.highest.count == 3)
  }

  @Test func whatIsLeftOverIsAnError() throws {
    let body = Array(bytes.dropLast(64)) + [0]
    #expect(failure(decoding: body + (try key.signature(of: body, as: .root))) == .corrupt)
  }

  @Test func anUnsignedRootSaysSo() throws {
    let unsigned = try SiteFormatSamples.root.encode(signedBy: nil)
    #expect(try SignedSiteRoot(decoding: unsigned, file: "root").authority == nil)
    #expect(failure(decoding: unsigned.putting(UInt8(1), at: unsigned.count - 1)) == .untrusted)
    // A signature of one key under the name of none.
    #expect(failure(decoding: unsigned.dropLast(64) + bytes.suffix(64)) == .untrusted)
  }

  @Test func nobodySignsForAnother() throws {
    let other = SiteKey(), body = Array(bytes.dropLast(64))
    #expect(failure(decoding: body + (try other.signature(of: body, as: .root))) == .untrusted)
    // By a word that the key of the root never gave.
    let theirs = Array(bytes.prefix(60)) + (try other.authority(for: .standard).bytes) + body.dropFirst(names)
    #expect(failure(decoding: theirs + bytes.suffix(64)) == .untrusted)
  }

  /// A release key signs only the channels and products of its delegation.
  @Test func releaseKeysKeepToTheirWord() throws {
    let beta = try SiteChannel("beta"), product = try Store.Product("levels")
    var root = SiteFormatSamples.root
    let release = try SiteKey().delegated(
      by: key, serial: 7, madeAt: 5, endsAt: 9, product: .standard, channels: [beta])
    #expect(PackFormatsTests.failure { _ = try root.encode(signedBy: release) }?.code == .untrusted)
    root.channel = beta
    let signed = try SignedSiteRoot(decoding: try root.encode(signedBy: release), file: "root")
    #expect(signed.rootKey == key.publicKey && signed.authority?.releaseKey == release.publicKey)
    #expect(signed.authority?.delegation.serial == 7 && signed.authority?.delegation.endsAt == 9)
    // Its owner may write anything down; it is not believed.
    let authority = try release.authority(for: .standard, beta).bytes
    for (channel, name) in [("live", Store.Product.standard), ("beta", product)] {
      root.channel = try SiteChannel(channel)
      root.product = name
      let honest = try root.encode(signedBy: key)
      let length = 60 + (try key.authority(for: name).bytes.count)
      var writer = ByteWriter()
      writer.append(UInt32(authority.count))
      let body = Array(honest.prefix(56)) + writer.bytes + authority + honest[length..<honest.count - 64]
      #expect(
        failure(decoding: body + (try release.signature(of: body, as: .root))) == .untrusted, "\(channel) \(name)")
    }
  }

  @Test func closedChannelsHaveNoPacks() throws {
    var root = SiteFormatSamples.root
    root.packs = []
    root.isClosed = true
    #expect(try SignedSiteRoot(decoding: try root.encode(signedBy: key), file: "root").root == root)
  }

  @Test func moreThanClientsReadIsNotWritten() {
    var root = SiteFormatSamples.root
    root.packs[0].offers = (1...1_001).map { number in
      var offer = root.packs[0].offers[0]
      offer.number = UInt64(number)
      return offer
    }
    #expect(
      PackFormatsTests.failure { _ = try root.encode(signedBy: key) }?.code
        == .invalidArgument)
  }

  @Test func expires() {
    var root = SiteFormatSamples.root
    #expect(root.expiresAt == 1_800_000_000_000_000_000)
    root.expiresAfter = .max
    #expect(root.expiresAt == .max, "as late as can be said")
    root.expiresAfter = nil
    #expect(root.expiresAt == nil)
  }

  @Test func sequencesRiseWhateverTheClock() {
    #expect(SiteRoot.nextSequence(after: nil, at: 1_700_000_000_000_999_999) == 1_700_000_000_000)
    #expect(SiteRoot.nextSequence(after: 1_800_000_000_000, at: 1_700_000_000_000_000_000) == 1_800_000_000_001)
    #expect(SiteRoot.nextSequence(after: nil, at: -5) == 1)
    #expect(SiteRoot.nextSequence(after: .max, at: 0) == .max)
  }

  private func expectCorrupt(_ integer: some FixedWidthInteger, at offset: Int) throws {
    var writer = ByteWriter()
    writer.append(integer)
    try expectCorrupt(writer.bytes, at: offset)
  }

  /// Signs a changed root again, as its publisher could.
  private func expectCorrupt(_ changed: [UInt8], at offset: Int) throws {
    let body = Array(bytes.dropLast(64)).putting(changed, at: offset)
    #expect(failure(decoding: body + (try key.signature(of: body, as: .root))) == .corrupt, "at \(offset)")
  }

  private func failure(decoding bytes: some Sequence<UInt8>) -> PackStoreError.Code? {
    PackFormatsTests.failure { _ = try SignedSiteRoot(decoding: Array(bytes), file: "root") }?.code
  }
}
