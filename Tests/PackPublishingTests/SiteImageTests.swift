import PackAuthoring
import PackStore
import Testing

@testable import PackPublishing

/// Images as text: what they say is signed, to the last byte.
@Suite struct SiteImageTests {
  private let key = SiteKey()

  private func digest(_ text: String) -> Digest256 { Digest256(hashing: Array(text.utf8)) }

  private func sample() throws -> SiteImage {
    var image = SiteImage(site: SiteID(.random()), number: 3, before: digest("before"))
    let segment = SegmentID(.random())
    image.files = [
      .control: .init(byteCount: 16_384, digest: digest("control")),
      .index("0123456789abcdef.run"): .init(byteCount: 5, digest: digest("run")),
      .site(.root(.live)): .init(byteCount: 9, digest: digest("root")),
      .site(.segment(segment)): .init(byteCount: 1 << 40, digest: digest("segment"), retired: .withThis),
      .site(.frames(segment)): .init(byteCount: 0, digest: digest("frames"), retired: .since(12)),
    ]
    return image
  }

  @Test func textIsReadAsItWasWritten() throws {
    let signed = try SignedSiteImage(try sample(), of: .standard, signedBy: key)
    let read = try SignedSiteImage(decoding: signed.bytes, file: "image")
    #expect(read.image == signed.image && read.digest == signed.digest && read.authority == signed.authority)
    try read.requireFollowed(by: key, at: "here")
    let names = read.keys.map(\.description).sorted()
    #expect(
      names.count == 6
        && names.allSatisfy { $0.hasPrefix("blobs/") || $0.hasPrefix("segments/") || $0.hasPrefix("frames/") })
  }

  @Test func nothingOfItCanBeChanged() throws {
    let bytes = try SignedSiteImage(try sample(), of: .standard, signedBy: key).bytes
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1 << UInt8(index % 7)
      #expect(throws: (any Error).self, "byte \(index)") { try SignedSiteImage(decoding: changed, file: "image") }
      #expect(throws: (any Error).self, "length \(index)") {
        try SignedSiteImage(decoding: Array(bytes[..<index]), file: "image")
      }
    }
    #expect(throws: (any Error).self) { try SignedSiteImage(decoding: bytes + [10], file: "image") }
  }

  /// Who can only write to the bucket has no key that an image may be signed by.
  @Test func anotherKeyIsRefused() throws {
    let signed = try SignedSiteImage(try sample(), of: .standard, signedBy: SiteKey())
    let error = #expect(throws: PackStoreError.self) { try signed.requireFollowed(by: key, at: "here") }
    #expect(error?.code == .untrusted)
  }

  @Test func onlyFilesOfASiteAreNamed() {
    for text in [
      "", "LOCK", "index/x", "index/../CONTROL", "index/0123456789ABCDEF.run", "tmp/x", "retired", "segments/zz",
    ] {
      #expect(SiteImage.Path(text) == nil, "\(text)")
    }
  }
}
