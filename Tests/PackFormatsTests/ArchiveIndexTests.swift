import Testing

@testable import PackFormats
@testable import PackStore

@Suite struct ArchiveIndexTests {
  private static let segment = SitePath.segment(SegmentID(SiteFormatSamples.id(1)))
  private static let version = SitePath.version(SiteFormatSamples.digest(2))

  /// An archive of files by name, in order.
  private static func archive(_ files: KeyValuePairs<String, [UInt8]>) -> [UInt8] {
    var archive: [UInt8] = []
    for (name, bytes) in files {
      archive += TarHeader(name: name, byteCount: UInt64(bytes.count), modifiedAt: 1).encode()
      archive += bytes
      archive += [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
    }
    return archive + [UInt8](repeating: 0, count: 1024)
  }

  private static let sample = archive([
    "root": [1, 2, 3], version.description: [], segment.description: [UInt8](repeating: 7, count: 1000),
  ])

  private func index(_ bytes: [UInt8]) throws -> ArchiveIndex {
    try ArchiveIndex(byteCount: UInt64(bytes.count), file: "a.pack") { offset, count in
      Array(bytes[Int(offset)..<Int(offset) + count])
    }
  }

  private func isRefused(_ bytes: [UInt8]) -> Bool {
    do {
      _ = try index(bytes)
      return false
    } catch { return (error as? PackStoreError)?.code == .corrupt }
  }

  @Test func membersLieWhereTheirBytesAre() throws {
    let index = try index(Self.sample)
    #expect(index.members.count == 3)
    #expect(index.members[.root(.live)] == ArchiveIndex.Member(offset: 512, byteCount: 3))
    #expect(index.members[Self.version] == ArchiveIndex.Member(offset: 1536, byteCount: 0))
    #expect(index.members[Self.segment] == ArchiveIndex.Member(offset: 2048, byteCount: 1000))
  }

  @Test func zerosAtTheEndMeanNothing() throws {
    #expect(try index(Self.sample + [UInt8](repeating: 0, count: 9_000)).members.count == 3)
  }

  /// With any number of bytes cut off, no member extends beyond the end.
  @Test func everyPartIsMissed() {
    for count in stride(from: 0, to: Self.sample.count, by: 7) {
      #expect(isRefused(Array(Self.sample.prefix(count))), "\(count) bytes")
    }
  }

  @Test func everyByteOfAHeaderCounts() {
    for offset in 0..<512 {
      #expect(isRefused(Self.sample.putting(Self.sample[offset] ^ 0x21, at: offset)), "\(offset)")
    }
  }

  @Test(arguments: ["/root", "../root", "root/", "CONTROL", "segments/../root", "other", "./root", "segments/x"])
  func namesThatNoSiteHas(_ name: String) { #expect(isRefused(Self.archive(["root": [1], name: [2]]))) }

  @Test func filesThatComeTwice() { #expect(isRefused(Self.archive(["root": [1], "root": [1]]))) }

  @Test func archivesWithoutARoot() {
    #expect(isRefused(Self.archive([Self.segment.description: [1]])))
    #expect(isRefused(Self.archive([:])))
  }

  @Test func whatIsNoPlainFile() {
    for type in "\u{0}123567xgLKS" {  // old files, links, devices, folders, extended headers, long names, sparse files
      var header = TarHeader(name: "root", byteCount: 0, modifiedAt: 0).encode()
      header[156] = type.asciiValue!
      #expect(isRefused(signed(header) + [UInt8](repeating: 0, count: 1024)), "\(type)")
    }
    let plain = TarHeader(name: "root", byteCount: 0, modifiedAt: 0).encode()
    for (offset, byte) in [(157, 65), (345, 65), (257, 65), (263, 32), (99, 65), (124, 56), (135, 57)] {
      let changed = signed(plain.putting(UInt8(byte), at: offset))
      #expect(isRefused(changed + [UInt8](repeating: 0, count: 1024)), "\(offset)")
    }
    #expect(!isRefused(signed(plain) + [UInt8](repeating: 0, count: 1024)))
  }

  @Test(arguments: [0, 1, 511, 1 << 33 - 1, 1 << 33, 1 << 40, UInt64(1) << 63, .max])
  func sizes(_ byteCount: UInt64) throws {
    let header = TarHeader(name: "root", byteCount: byteCount, modifiedAt: 1_700_000_000)
    #expect(TarHeader(decoding: header.encode()[...]) == header)
    // No such file is that long, and saying so does no harm.
    guard byteCount > 0 else { return }
    #expect(isRefused(header.encode() + [UInt8](repeating: 0, count: 1024).dropLast(512)))
    #expect(isRefused(header.encode() + [UInt8](repeating: 0, count: 512)))
  }

  @Test func sizesThatOverflow() {
    var header = TarHeader(name: "root", byteCount: .max, modifiedAt: 0).encode()
    #expect(isRefused(header + [UInt8](repeating: 0, count: 4096)))
    header[125] = 1
    #expect(isRefused(signed(header) + [UInt8](repeating: 0, count: 4096)))
    #expect(TarHeader.paddedByteCount(.max) == nil && TarHeader.paddedByteCount(513) == 1024)
  }

  /// With the right sum.
  private func signed(_ header: [UInt8]) -> [UInt8] {
    let blank = header.putting([UInt8](repeating: 32, count: 8), at: 148)
    let sum = String(blank.reduce(0) { $0 + Int($1) }, radix: 8)
    return blank.putting(Array((String(repeating: "0", count: 6 - sum.count) + sum + "\0 ").utf8), at: 148)
  }
}
