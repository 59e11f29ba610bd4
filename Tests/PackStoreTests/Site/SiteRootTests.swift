import Testing

@testable import PackStore

@Suite struct SiteRootTests {
  let key = SiteKey()
  let bytes: [UInt8]

  init() throws { bytes = try SiteFormatSamples.root.encode(signedBy: key) }

  @Test func isReadAsItWasWritten() throws {
    let signed = try SignedSiteRoot(decoding: bytes, file: "root")
    #expect(signed.root == SiteFormatSamples.root)
    #expect(signed.publicKey == key.publicKey)
    #expect(signed.digest == Digest256(hashing: bytes))
  }

  @Test func anEmptySiteIsOne() throws {
    let root = SiteRoot(
      sequence: 1, madeAt: 0, expiresAfter: nil, site: SiteID(SiteFormatSamples.id(1)), product: .standard, packs: [])
    #expect(try SignedSiteRoot(decoding: try root.encode(signedBy: key), file: "root").root == root)
  }

  @Test func fieldsLieWhereTheFormatSays() {
    #expect(bytes.starts(with: "PKSROOT0".utf8))
    #expect(bytes[12] == 2 && bytes[16] == 17)
    #expect(Array(bytes[40..<72]) == key.publicKey.bytes)
    #expect(Array(bytes[72..<88]) == SiteFormatSamples.id(20).bytes)
    #expect(Array(bytes[88..<99]) == [7, 0, 0, 0] + Array("default".utf8))
    #expect(Array(bytes[99..<116]) == [1, 0, 0, 0, 65, 0xfd, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[116..<124]) == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[124..<156]) == SiteFormatSamples.catalog(21).bytes)
    #expect(bytes.count == 99 + 17 + 76 + 17 + 2 * 76 + 108 + 64)
  }

  /// Every bit counts: a root that was changed anywhere is not the publisher's any more.
  @Test func everyByteIsSigned() {
    for index in bytes.indices where !(8..<12).contains(index) {
      let code = failure(decoding: bytes.putting(bytes[index] ^ 1, at: index))
      #expect(code == .untrusted || index < 8 && code == .corrupt, "byte \(index)")
    }
    for count in bytes.indices { #expect(failure(decoding: Array(bytes.prefix(count))) != nil, "\(count) bytes") }
    #expect(failure(decoding: bytes + [0]) == .untrusted)
  }

  /// Only the owner of the key can say so, and yet even the owner's nonsense is not believed.
  @Test func everyFieldIsChecked() throws {
    #expect(failure(decoding: bytes.putting(SiteFormat.current + 1, at: 8)) == .newerFormat)
    #expect(failure(decoding: bytes.putting(UInt32(0), at: 8)) == .otherDraft)
    #expect(failure(decoding: bytes.putting(SiteFormat.current + 0x10000, at: 8)) == .otherDraft)
    try expectCorrupt(UInt32(3), at: 12)  // packs
    try expectCorrupt(UInt32(1), at: 12)
    try expectCorrupt(UInt32.max, at: 12)
    try expectCorrupt(UInt64(0), at: 16)  // sequence
    try expectCorrupt(Int64(-1), at: 32)  // expiry
    try expectCorrupt(UInt32.max, at: 88)  // the product's name
    try expectCorrupt(UInt32(0), at: 88)
    try expectCorrupt(UInt8(ascii: "D"), at: 92)
    try expectCorrupt(UInt8(ascii: "-"), at: 92)
    try expectCorrupt(UInt32.max, at: 99)  // the first pack's name
    try expectCorrupt(UInt8(ascii: "/"), at: 103)
    try expectCorrupt(UInt8(ascii: "C"), at: 103)  // not before the next one
    try expectCorrupt(UInt8(ascii: "B"), at: 103)  // the next one's
    try expectCorrupt(UInt32(0), at: 108)  // versions
    try expectCorrupt(UInt32(1_001), at: 108)
    try expectCorrupt(UInt32.max, at: 108)
    try expectCorrupt(UInt32.max, at: 112)  // deltas
    try expectCorrupt(UInt64(0), at: 116)  // number of the version
    try expectCorrupt(UInt32(0), at: 188)  // length of the manifest
    try expectCorrupt(UInt32.max, at: 188)
    let second = 192 + 17
    try expectCorrupt(UInt64(2), at: second + 76)  // two versions of one number
    let delta = second + 2 * 76
    try expectCorrupt(SiteFormatSamples.catalog(22).bytes, at: delta)  // from a version to itself
    try expectCorrupt(SiteFormatSamples.catalog(99).bytes, at: delta + 32)  // to no version
    try expectCorrupt(UInt32(0), at: delta + 96)  // length of the header
    try expectCorrupt(UInt64(499), at: delta + 100)  // shorter than its header
    try expectCorrupt(UInt64.max, at: delta + 100)
  }

  @Test func whatIsLeftOverIsAnError() throws {
    let body = Array(bytes.dropLast(64)) + [0]
    #expect(failure(decoding: body + (try key.signature(of: body))) == .corrupt)
  }

  @Test func anUnsignedRootSaysSo() throws {
    let unsigned = try SiteFormatSamples.root.encode(signedBy: nil)
    #expect(try SignedSiteRoot(decoding: unsigned, file: "root").publicKey == nil)
    #expect(failure(decoding: unsigned.putting(UInt8(1), at: unsigned.count - 1)) == .untrusted)
    // A signature of one key under the name of none.
    #expect(failure(decoding: bytes.putting([UInt8](repeating: 0, count: 32), at: 40)) == .untrusted)
  }

  @Test func nobodySignsForAnother() throws {
    let other = SiteKey()
    #expect(failure(decoding: bytes.putting(other.publicKey.bytes, at: 40)) == .untrusted)
    let body = Array(bytes.dropLast(64))
    #expect(failure(decoding: body + (try other.signature(of: body))) == .untrusted)
  }

  @Test func moreThanClientsReadIsNotWritten() {
    var root = SiteFormatSamples.root
    root.packs[0].versions = (1...1_001).map { number in
      var version = root.packs[0].versions[0]
      version.number = UInt64(number)
      return version
    }
    #expect(
      PackStoreTests.failure { _ = try root.encode(signedBy: key) }?.code
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
    #expect(failure(decoding: body + (try key.signature(of: body))) == .corrupt, "at \(offset)")
  }

  private func failure(decoding bytes: [UInt8]) -> PackStoreError.Code? {
    PackStoreTests.failure { _ = try SignedSiteRoot(decoding: bytes, file: "root") }?.code
  }
}
