import PackAuthoring
import PackFormats
import PackStore
import Testing

@testable import PackPublishing

/// Images as text: every byte is signed.
@Suite struct SiteImageTests {
  private let key = SiteKey()

  private func digest(_ text: String) -> Digest256 { Digest256(hashing: Array(text.utf8)) }

  private func sample() throws -> SiteImage {
    var image = SiteImage(site: SiteID(.random()), number: 3, before: digest("before"))
    let segment = SegmentID(.random())
    image.files = [
      .control: .init(byteCount: 16_384, digest: digest("control")),
      .index("0123456789abcdef.run"): .init(byteCount: 5, digest: digest("run")),
      .index("0123456789abcdef.generation"): .init(content: Array("generation".utf8)),
      .site(.root(.live)): .init(content: []),
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
      names.count == 5
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

  /// Short files that are new with each image are part of it, not objects, and their entries are correct.
  @Test func shortFilesAreWithin() throws {
    let signed = try SignedSiteImage(try sample(), of: .standard, signedBy: key)
    let files = try SignedSiteImage(decoding: signed.bytes, file: "image").image.files
    let generation = try #require(files[.index("0123456789abcdef.generation")])
    #expect(generation.content == Array("generation".utf8))
    #expect(generation.byteCount == 10 && generation.digest == digest("generation"))
    #expect(SiteImage.key(.index("0123456789abcdef.generation"), generation) == nil)
    #expect(files[.control]?.content == nil && files[.site(.root(.live))]?.content == [])
  }

  /// Short files that clients fetch are objects, and within the image as well, the shortest ones first.
  @Test func copiesAreWithin() throws {
    var image = try sample()
    let paths = (0..<100).map { SiteImage.Path.site(.sheet(digest("sheet \($0)"))) }
    for (number, path) in paths.enumerated() {
      image.files[path] = .init(content: Array(repeating: 1, count: 500 + number))
    }
    image.files[paths[3]]?.retired = .since(12)
    image.limitCopies()
    let signed = try SignedSiteImage(image, of: .standard, signedBy: key)
    let read = try SignedSiteImage(decoding: signed.bytes, file: "image").image
    #expect(read == image && paths.allSatisfy { read.files[$0]?.byteCount != nil })
    let within = paths.filter { read.files[$0]?.content != nil }
    let byteCount = within.reduce(0) { $0 + Int(read.files[$1]?.byteCount ?? 0) }
    #expect(within == paths.prefix(within.count + 1).filter { $0 != paths[3] })
    #expect(byteCount <= SiteImage.copyByteLimit && byteCount > SiteImage.copyByteLimit - 600)
    #expect(read.keys.isSuperset(of: paths.compactMap { if case .site(let name) = $0 { .file(name) } else { nil } }))
  }

  /// Another file is never taken from an image, nor more of it than there may be.
  @Test func nothingElseIsWithin() throws {
    let long = [UInt8](repeating: 7, count: 16 << 10), short = [UInt8](repeating: 7, count: 2 << 10)
    let segment = SegmentID(.random()), sheet = SiteImage.Path.site(.sheet(digest("sheet")))
    for (path, content, isRight) in [
      (SiteImage.Path.control, long, true), (.control, long + [7], false), (.table(segment), [7], false),
      (.numbers, long, true), (.offered, long, true), (.numbers, long + [7], false),
      (sheet, short, true), (sheet, short + [7], false), (.site(.segment(segment)), [7], false),
      (.site(.delta(digest("delta"))), [], false), (.site(.version(digest("version"))), short, true),
      (.site(.frames(segment)), long, false), (.site(.changes(digest("list"))), [7], true),
    ] {
      var image = SiteImage(site: SiteID(.random()), number: 1, before: nil)
      image.files[path] = .init(content: content)
      let bytes = try SignedSiteImage(image, of: .standard, signedBy: key).bytes
      #expect((try? SignedSiteImage(decoding: bytes, file: "image"))?.image == (isRight ? image : nil), "\(path)")
    }
  }

  /// Who can only write to the bucket has no key that an image may be signed by.
  @Test func anotherKeyIsRefused() throws {
    let signed = try SignedSiteImage(try sample(), of: .standard, signedBy: SiteKey())
    let error = #expect(throws: PackStoreError.self) { try signed.requireFollowed(by: key, at: "here") }
    #expect(error?.code == .untrusted)
  }

  @Test func onlyFilesOfASiteAreNamed() {
    for text in [
      "", "LOCK", "index/x", "index/../CONTROL", "index/0123456789ABCDEF.run", "tmp/x",
      "index/0123456789abcdef\u{301}.run", "index/0123456789abcdef.run.run", "index/0123456789abcde.run",
      "tables/0123456789ABCDEF0123456789ABCDEF", "tables/", "CONTROL/", "/CONTROL", "retired", "segments/zz",
    ] {
      #expect(SiteImage.Path(text) == nil, "\(text)")
    }
  }
}
