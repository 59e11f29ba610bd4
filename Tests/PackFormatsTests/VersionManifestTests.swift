import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct VersionManifestTests {
  let bytes: [UInt8]

  init() throws { bytes = try SiteFormatSamples.manifest.encode() }

  @Test func isReadAsItWasWritten() throws {
    #expect(try VersionManifest(decoding: bytes, file: "m") == SiteFormatSamples.manifest)
  }

  @Test func fieldsLieWhereTheFormatSays() {
    #expect(bytes.starts(with: "PKSVERS0".utf8))
    #expect(bytes.count == 164 + 8 + 2 * 64)
    #expect(Array(bytes[12..<24]) == [2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[24..<56]) == SiteFormatSamples.catalog(1).bytes)
    #expect(Array(bytes[56..<88]) == SiteFormatSamples.digest(2).bytes)
    #expect(Array(bytes[88..<120]) == SiteFormatSamples.digest(3).bytes)
    #expect(bytes[120] == 0xfb && bytes[127] == 0xff)  // -5
    #expect([128, 136, 144, 152, 160].map { bytes[$0] } == [6, 7, 8, 9, 8])
    #expect(Array(bytes[164..<172]) == Array("Tutorial".utf8))
    #expect(Array(bytes[172..<188]) == SiteFormatSamples.id(10).bytes)
    #expect(Array(bytes[188..<196]) == [0, 0, 0, 0, 0, 1, 0, 1])  // 1 << 40, data
    #expect(Array(bytes[196..<228]) == SiteFormatSamples.digest(11).bytes)
    #expect(Array(bytes[228..<236]) == [0x39, 0x30, 0, 0, 0, 0, 0, 0])
    #expect(bytes[259] == 2)  // metadata
  }

  @Test func everyPartIsMissed() {
    for count in bytes.indices {
      #expect(failure(decoding: Array(bytes.prefix(count))) == .corrupt, "\(count) bytes")
    }
    #expect(failure(decoding: bytes + [0]) == .corrupt)
  }

  @Test func everyFieldIsChecked() {
    #expect(failure(decoding: bytes.putting(UInt8(0), at: 0)) == .corrupt)
    #expect(failure(decoding: bytes.putting(SiteFormat.current + 1, at: 8)) == .newerFormat)
    #expect(failure(decoding: bytes.putting(UInt32(0), at: 8)) == .otherDraft)
    #expect(failure(decoding: bytes.putting(SiteFormat.current + 0x10000, at: 8)) == .otherDraft)
    #expect(failure(decoding: bytes.putting(UInt32(3), at: 12)) == .corrupt)  // segments
    #expect(failure(decoding: bytes.putting(UInt32(1), at: 12)) == .corrupt)
    #expect(failure(decoding: bytes.putting(UInt32.max, at: 12)) == .corrupt)
    #expect(failure(decoding: bytes.putting(UInt64(0), at: 16)) == .corrupt)  // number
    #expect(failure(decoding: bytes.putting(UInt32.max, at: 160)) == .corrupt)  // length of the name
    #expect(failure(decoding: bytes.putting(UInt32(0), at: 160)) == .corrupt)
    #expect(failure(decoding: bytes.putting(Array("../etc/x".utf8), at: 164)) == .corrupt)
    #expect(failure(decoding: bytes.putting(UInt8(0xff), at: 164)) == .corrupt)  // no UTF-8
    #expect(failure(decoding: bytes.putting(UInt8(0), at: 195)) == .corrupt)  // kind
    #expect(failure(decoding: bytes.putting(UInt8(3), at: 195)) == .corrupt)
    #expect(failure(decoding: bytes.putting(UInt64(1) << 56, at: 188)) == .corrupt)  // an empty file
    #expect(failure(decoding: bytes.putting(UInt32(47), at: 228)) == .corrupt)  // length of the table
    #expect(failure(decoding: bytes.putting(UInt32(64 << 20 + 1), at: 228)) == .corrupt)
    #expect(failure(decoding: bytes.putting(UInt32(1), at: 232)) == .corrupt)  // reserved
    #expect(failure(decoding: bytes.putting(Array(bytes[172..<188]), at: 236)) == .corrupt)  // one segment twice
    #expect(failure(decoding: bytes.putting(UInt8(1), at: 259)) == .corrupt)  // no metadata
  }

  // MARK: - Change lists

  private func manifest(_ lists: [VersionManifest.ChangeList]) -> VersionManifest {
    var manifest = SiteFormatSamples.manifest
    manifest.changeLists = lists
    return manifest
  }

  private static func list(_ byte: UInt8, byteCount: UInt32 = 5_000) -> VersionManifest.ChangeList {
    .init(
      from: SiteFormatSamples.catalog(byte), digest: SiteFormatSamples.digest(byte + 1), byteCount: byteCount)
  }

  @Test func changeListsComeLast() throws {
    let manifest = manifest([Self.list(20), Self.list(30, byteCount: 136)]), listed = try manifest.encode()
    #expect(try VersionManifest(decoding: listed, file: "m") == manifest)
    #expect(listed.count == bytes.count + 4 + 2 * 68 && Array(listed[..<bytes.count]) == bytes)
    #expect(Array(listed[bytes.count..<bytes.count + 4]) == [2, 0, 0, 0])
    #expect(Array(listed[bytes.count + 4..<bytes.count + 36]) == SiteFormatSamples.catalog(20).bytes)
    #expect(Array(listed[bytes.count + 36..<bytes.count + 68]) == SiteFormatSamples.digest(21).bytes)
    #expect(Array(listed[bytes.count + 68..<bytes.count + 72]) == [0x88, 0x13, 0, 0])
    for count in bytes.count + 1..<listed.count {
      #expect(failure(decoding: Array(listed.prefix(count))) == .corrupt, "\(count) bytes")
    }
    #expect(failure(decoding: listed + [0]) == .corrupt)
    #expect(failure(decoding: bytes + [0, 0, 0, 0]) == .corrupt, "none are not said")
  }

  @Test func everyChangeListIsChecked() throws {
    let manifest = SiteFormatSamples.manifest
    let wrong: [[VersionManifest.ChangeList]] = [
      [.init(from: manifest.catalog, digest: manifest.layout, byteCount: 200)],
      [Self.list(20), Self.list(20)], [Self.list(20, byteCount: 135)], [Self.list(20, byteCount: (4 << 20) + 1)],
      (0..<17).map { Self.list(40 + $0) },
    ]
    for lists in wrong { #expect(failure(decoding: try self.manifest(lists).encode()) == .corrupt, "\(lists)") }
    #expect(failure(decoding: try self.manifest((0..<16).map { Self.list(40 + $0) }).encode()) == nil)
  }

  @Test func faultsNameTheirPlace() {
    let fault = PackFormatsTests.failure {
      _ = try VersionManifest(decoding: bytes.putting(UInt64(0), at: 16), file: "m")
    }
    #expect(fault?.offset == 16)
  }

  @Test func noByteOfASegmentCountIsBelievedBeforeItsRoomIsThere() {
    var long = bytes
    long.append(contentsOf: [UInt8](repeating: 0, count: VersionManifest.byteCountLimit))
    #expect(failure(decoding: long) == .corrupt)
  }

  @Test func tooManySegmentsAreNotWritten() {
    var manifest = SiteFormatSamples.manifest
    manifest.segments = Array(repeating: manifest.segments[0], count: VersionManifest.byteCountLimit / 64)
    #expect(
      PackFormatsTests.failure { _ = try manifest.encode() }?.code == .invalidArgument)
  }

  @Test func opensOnlyWhatTheRootMeans() throws {
    let manifest = SiteFormatSamples.manifest
    var version = SiteRoot.Offer(
      number: 3, catalog: manifest.catalog, manifest: Digest256(hashing: bytes), manifestByteCount: UInt32(bytes.count),
      attributes: manifest.attributes)
    #expect(try version.openManifest(bytes, of: "Tutorial") == manifest)

    func refuses(_ version: SiteRoot.Offer, _ bytes: [UInt8], _ pack: PackID = "Tutorial") -> Bool {
      PackFormatsTests.failure { _ = try version.openManifest(bytes, of: pack) }?.code
        == .corrupt
    }
    #expect(refuses(version, bytes.putting(UInt8(99), at: 96)))
    #expect(refuses(version, bytes, "Other"))
    version.attributes = nil
    #expect(refuses(version, bytes))
    version.attributes = manifest.attributes
    version.number = 4
    #expect(refuses(version, bytes))
    version.number = 3
    version.catalog = SiteFormatSamples.catalog(99)
    #expect(refuses(version, bytes))
    version.catalog = manifest.catalog
    version.manifestByteCount += 1
    #expect(refuses(version, bytes))
  }

  private func failure(decoding bytes: [UInt8]) -> PackStoreError.Code? {
    PackFormatsTests.failure { _ = try VersionManifest(decoding: bytes, file: "m") }?.code
  }
}
