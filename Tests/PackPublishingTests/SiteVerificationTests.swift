import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// Verification of buckets and served sites.
@Suite struct SiteVerificationTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)

  init() throws { folder = try TemporaryFolder() }

  private var bucketSite: BucketSite { bucket.makeSite(in: folder) }

  private static let options = Site.PublishOptions(level: 1, deltaCount: 1)

  private func install(_ content: String) async throws -> Store {
    let store = try Store(at: FilePath(folder.path("store")))
    let files = [
      "file": Data(content.utf8), "more": Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 7) }),
    ]
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
    return store
  }

  /// A site of two versions with a delta, in a folder in place of a web server.
  private func servedSite() async throws -> SiteStatusReader.Place {
    for content in ["one", "two"] {
      try await Site(at: FilePath(folder.path("site"))).publish(
        from: try await install(content), signedBy: key, options: Self.options)
    }
    return .served(RemoteSiteLocation("file://\(folder.path("site"))"), channels: [])
  }

  private func verify(
    _ place: SiteStatusReader.Place, deep: Bool = true, record: String? = nil
  ) async throws -> SiteVerification.Result {
    var options = SiteVerification.Options()
    options.isDeep = deep
    options.record = record.map { FilePath(folder.path($0)) }
    return try await SiteVerification(place, options: options).run()
  }

  private func names(_ kind: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path("site/\(kind)")))?.sorted() ?? []
  }

  @Test func soundServedSiteHasNoFaults() async throws {
    let place = try await servedSite()
    let shallow = try await verify(place, deep: false), deep = try await verify(place)
    #expect(shallow.isSound && shallow.readByteCount == 0 && deep.isSound)
    #expect(deep.fileCount == shallow.fileCount && deep.readByteCount > 40_000 && names("deltas").count == 1)
    #expect(try await verify(.folder(FilePath(folder.path("site")))).isSound)
  }

  /// Every kind of file, with one changed byte in the middle of its content.
  @Test(arguments: ["versions", "segments", "frames", "deltas", "changes"])
  func changedContentIsFound(kind: String) async throws {
    let place = try await servedSite()
    var found = 0
    for name in names(kind) {
      let url = URL(fileURLWithPath: folder.path("site/\(kind)/\(name)")), whole = try Data(contentsOf: url)
      var bent = whole
      bent[kind == "segments" ? 70 : whole.count / 2] ^= 0x10
      try bent.write(to: url)
      #expect(try await verify(place, deep: false).isSound || kind == "versions", "the length is the same")
      let faults = try await verify(place).faults
      try whole.write(to: url)
      guard !faults.isEmpty else { continue }  // a kept version without an offer
      found += 1
      #expect(faults.contains { $0.path == "\(kind)/\(name)" && $0.kind == .content }, "\(faults)")
    }
    #expect(found > 0)
    #expect(try await verify(place).isSound)
  }

  /// Header, padding and table of a segment are not in a frame. The sums of the table prove nothing to a client, and are not compared.
  @Test(arguments: [0, 9, 12, 40, -64, -20, -70, Int.min]) func changedBytesOutsideFramesAreFound(offset: Int)
    async throws
  {
    let place = try await servedSite()
    var found = 0
    for name in names("segments") {
      let url = URL(fileURLWithPath: folder.path("site/segments/\(name)")), whole = try Data(contentsOf: url)
      let body = whole[(whole.count - 48)...].prefix(8).enumerated().reduce(0) {
        $0 | Int($1.element) << (8 * $1.offset)
      }
      var bent = whole
      // The last one is in the body of the table, the one before in its sums.
      bent[offset == Int.min ? body + 70 : offset < 0 ? whole.count + offset : offset] ^= 0x10
      try bent.write(to: url)
      let faults = try await verify(place).faults
      try whole.write(to: url)
      guard !faults.isEmpty else { continue }
      found += 1
      #expect(faults == [.init(path: "segments/\(name)", kind: .content, byteCount: UInt64(whole.count))])
    }
    #expect((found > 0) == ![-20, -70].contains(offset))
  }

  @Test(arguments: [false, true]) func lostFilesAreFound(deep: Bool) async throws {
    let place = try await servedSite()
    for kind in ["segments", "deltas"] {
      for name in names(kind) {
        let path = folder.path("site/\(kind)/\(name)")
        try FileManager.default.moveItem(atPath: path, toPath: folder.path("away"))
        let faults = try await verify(place, deep: deep).faults
        try FileManager.default.moveItem(atPath: folder.path("away"), toPath: path)
        #expect(
          faults.isEmpty || faults == [.init(path: "\(kind)/\(name)", kind: .missing, byteCount: faults[0].byteCount)])
      }
    }
    try Data("damage".utf8).write(to: URL(fileURLWithPath: folder.path("site/root")))
    #expect(try await verify(place, deep: deep).damagedChannels == [.live])
  }

  @Test func recordContinuesAnInterruptedCheck() async throws {
    let place = try await servedSite()
    let name = try #require(names("segments").first), url = URL(fileURLWithPath: folder.path("site/segments/\(name)"))
    let whole = try Data(contentsOf: url)
    try Data("short".utf8).write(to: url)
    let first = try await verify(place, record: "record")
    try whole.write(to: url)
    let second = try await verify(place, record: "record")
    #expect(second.isSound)
    // A segment of a kept version only is not a file of the roots: then the first check is sound, and its record is deleted.
    #expect(second.skippedCount == (first.isSound ? 0 : first.fileCount - first.faults.count))
    #expect(second.readByteCount <= first.readByteCount || first.faults.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.path("record")))
    for damage in ["", "other\n", "packstore verified 1\n../x\n", "packstore verified 1\nversions/1"] {
      try Data(damage.utf8).write(to: URL(fileURLWithPath: folder.path("record")))
      await #expect(throws: PackStoreError.self, "\(damage)") { try await verify(place, record: "record") }
    }
  }

  /// The clock of the test advances by the requested delays only.
  @Test func rateIsLimited() async throws {
    let place = try await servedSite(), elapsed = Mutex(Duration.zero)
    var options = SiteVerification.Options()
    options.isDeep = true
    options.byteRateLimit = 1_000
    var verification = SiteVerification(place, options: options)
    verification.clock = TransferClock(
      now: { elapsed.withLock { $0 } }, sleep: { duration in elapsed.withLock { $0 += duration } }, watch: { _ in },
      random: { 0 })
    let result = try await verification.run()
    let seconds = elapsed.withLock { Double($0.components.seconds) }
    #expect(abs(seconds - Double(result.readByteCount) / 1_000) <= 1)
  }

  @Test func bucketIsComparedWithItsImage() async throws {
    for content in ["one", "two"] {
      let store = try await install(content)
      try await bucketSite.change(signedBy: key, makesSite: true) { [key] site in
        try await site.publish(from: store, signedBy: key, options: .init(level: 1, deltaCount: 0))
      }
    }
    let place = SiteStatusReader.Place.bucket(bucketSite)
    #expect(try await verify(place).isSound)
    let keys = bucket.keys.filter { $0.space == .shared }.sorted()
    #expect(keys.count > 6)
    for key in keys where key.path != "root" {
      let object = try #require(bucket.object(key))
      var bytes = object.bytes
      bytes[bytes.count / 2] ^= 1
      let bent = SimulatedBucket.Object(bytes: bytes, tag: object.tag, digest: object.digest)
      bucket.state.withLock { $0.objects[key] = bent }
      #expect(try await verify(place).faults.map(\.path) == [key.path])
      bucket.state.withLock { $0.objects[key] = nil }
      #expect(
        try await verify(place, deep: false).faults == [
          .init(path: key.path, kind: .missing, byteCount: UInt64(bytes.count))
        ])
      bucket.state.withLock { $0.objects[key] = object }
    }
  }
}
