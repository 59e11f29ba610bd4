import Foundation
import PackAuthoring
import PackDelivery
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackPublishing

/// The status of one site in a folder, in a bucket, and on a web server.
@Suite struct SiteStatusReaderTests {
  private let folder: TemporaryFolder
  private let key = SiteKey()
  private let bucket = SimulatedBucket(seed: 1, faultRate: 0)

  init() throws { folder = try TemporaryFolder() }

  private var site: BucketSite { bucket.makeSite(in: folder) }

  private func install(_ content: String) async throws -> Store {
    let store = try Store(at: FilePath(folder.path("store")))
    try await store.install(folder: FilePath(folder.makeFolder("source", ["file": Data(content.utf8)])), as: "P")
    return store
  }

  private static let options = Site.PublishOptions(level: 1, deltaCount: 0)

  @Test func bucketShowsOffersSpaceAndLostObjects() async throws {
    for content in ["one", "two"] {
      let store = try await install(content)
      try await site.change(signedBy: key, makesSite: true) { [key] site in
        try await site.publish(from: store, signedBy: key, options: Self.options)
      }
    }
    let reader = SiteStatusReader(.bucket(site))
    let whole = try await reader.run()
    #expect(whole.channels.map(\.channel) == [.live] && whole.channels[0].offers.map(\.version) == [2])
    #expect(whole.space?.keptByteCount ?? 0 > 0 && whole.missingDeltas?.map(\.from) == [1])
    #expect(whole.objects?.faults.isEmpty == true && !whole.isUrgent)
    let segments = bucket.keys.filter { $0.path.hasPrefix("segments/") }.sorted()
    #expect(segments.count >= 2 && whole.objects?.checkedCount ?? 0 >= segments.count)
    var reported = 0
    for lost in segments {
      let object = bucket.state.withLock { $0.objects.removeValue(forKey: lost) }
      defer { bucket.state.withLock { $0.objects[lost] = object } }
      // Without a metadata segment, the bucket cannot be read at all.
      guard let status = try? await reader.run() else { continue }
      #expect(status.isUrgent && status.objects?.faults.map(\.path) == [lost.path])
      reported += 1
    }
    #expect(reported > 0)
    #expect(try await reader.run(checksObjects: false).objects == nil)
  }

  @Test func sharesAreOfTheTimeOfTheStatus() async throws {
    let path = FilePath(folder.path("public")), site = try Site(at: path)
    for (content, channel) in [("one", .live), ("two", nil)] as [(String, SiteChannel?)] {
      let options = Site.PublishOptions(
        level: 1, deltaCount: 0, channel: channel, expiry: .after(.seconds(400 * 86_400)))
      try await site.publish(from: install(content), signedBy: key, options: options)
    }
    func shares(after seconds: Double) async throws -> [String] {
      let status = try await SiteStatusReader(.folder(path)).run(now: Date() + seconds)
      return status.channels[0].offers.map { "\($0.version) \($0.share)" }
    }
    let steps = try RolloutSchedule("1,100", every: .seconds(86_400))
    try await site.promote("P", version: 2, to: .live, schedule: steps, signedBy: key)
    #expect(try await shares(after: 0) == ["2 1%", "1 100%"])
    #expect(try await shares(after: 2 * 86_400) == ["2 100%", "1 100%"])
    try await site.setRollout(of: "P", version: 2, on: .live, to: .halt, signedBy: key)
    #expect(try await shares(after: 2 * 86_400) == ["2 0%", "1 100%"])
  }

  @Test(arguments: ["versions", "segments", "frames", "attributes"])
  func servedSiteShowsLostFiles(kind: String) async throws {
    let store = try await install("one")
    let path = FilePath(folder.path("site"))
    let local = try Site(at: path)
    try await local.publish(from: store, signedBy: key, options: Self.options)
    let beta = try SiteChannel("beta")
    try await local.promote("P", version: 1, to: beta, signedBy: key)
    let location = RemoteSiteLocation("file://\(folder.path("site"))")
    let reader = SiteStatusReader(.served(location, channels: [beta]))
    let mistyped = SiteStatusReader(.served(location, channels: [try SiteChannel("bta")]))
    await #expect(throws: PackStoreError.self) { try await mistyped.run() }
    let whole = try await reader.run()
    #expect(whole.channels.map(\.channel) == [beta, .live] && whole.keys.map(\.releaseKey) == [key.publicKey])
    #expect(whole.alarms.isEmpty && whole.missingDeltas == nil && whole.space?.keptByteCount == nil)
    #expect(whole.objects?.checkedCount ?? 0 >= 4)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("site/\(kind)")).sorted()
    guard let name = names.first else { return #expect(kind == "attributes") }
    try FileManager.default.removeItem(atPath: folder.path("site/\(kind)/\(name)"))
    let status = try await reader.run()
    #expect(status.isUrgent && status.objects?.faults.map(\.path) == ["\(kind)/\(name)"])
    let inFolder = try await SiteStatusReader(.folder(path)).run()
    #expect(inFolder.objects?.faults.contains { $0.path == "\(kind)/\(name)" } == true)
  }
}
