import Foundation
import PackAuthoring
import PackStore
import Testing

@testable import ManagedPacks

/// The type that the server of the other suites expects.
typealias Playground = TestFolder

/// What Apple's client lacks: files are searched, versions pinned and rolled back, channels followed; and all of it by HTTP.
@Suite struct BeyondTests {
  let folder = TestFolder()
  let sites = SiteTests()
  let publisher: SiteTests.Publisher

  init() { publisher = SiteTests.Publisher(folder: folder, name: "a") }

  private func manager(_ location: String? = nil, channel: SiteChannel? = nil) throws -> AssetPackManager {
    try sites.manager([.init(location ?? publisher.site.string, channel: channel)])
  }

  private func text(_ manager: AssetPackManager, _ path: FilePath) throws -> String {
    String(decoding: try manager.contents(at: path), as: UTF8.self)
  }

  @Test func searchesFiles() async throws {
    try await publisher.publish(
      [
        "One": ["Films/a.m4v": "1", "Films/deep/b.m4v": "22", "c.txt": "3"],
        "Two": ["Films/a.m4v": "other", "Sounds/d.m4a": "4"],
      ], attributes: ["Two": Attributes(priority: 2)])
    let manager = try manager()
    #expect(try manager.files(matching: "*").isEmpty)
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    func found(_ pattern: String, in pack: String? = nil) throws -> [String] {
      try manager.files(matching: pattern, searchingInAssetPackWithID: pack).map { "\($0.path)=\($0.byteCount)" }
    }
    #expect(try found("*.m4v") == ["Films/a.m4v=5", "Films/deep/b.m4v=2"])
    #expect(try found("*.m4v", in: "One") == ["Films/a.m4v=1", "Films/deep/b.m4v=2"])
    #expect(try found("/*.txt") == ["c.txt=1"] && found("Films/*") == ["Films/a.m4v=5"])
    #expect(try found("**/d.*") == ["Sounds/d.m4a=1"] && found("none") == [])
    #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "None")) { try found("*", in: "None") }
    #expect { try found("[") } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  /// The app leaves a bad version without a site, and the version is not fetched again until the app requests it.
  @Test func rollsBack() async throws {
    try await publisher.publish(["One": ["a.txt": "good"]])
    let manager = try manager()
    try await manager.ensureLocalAvailability(of: manager.allAssetPacks)
    try await manager.pin(assetPackWithID: "One")
    for content in ["fair", "bad"] {
      try await publisher.publish(["One": ["a.txt": content]])
      let pack = try await manager.assetPack(withID: "One")
      try await manager.ensureLocalAvailability(of: pack, requireLatestVersion: true)
    }
    #expect(try manager.localVersions(ofAssetPackWithID: "One") == [3, 2, 1] && text(manager, "a.txt") == "bad")
    try FileManager.default.moveItem(atPath: publisher.site.string, toPath: "\(publisher.site).away")
    #expect(try await manager.rollBack(assetPackWithID: "One") == 2)
    #expect(try text(manager, "a.txt") == "fair" && manager.localVersion(ofAssetPackWithID: "One") == 2)
    #expect(try await manager.rollBack(assetPackWithID: "One", toVersion: 1) == 1)
    #expect(try text(manager, "a.txt") == "good")
    await #expect { try await manager.rollBack(assetPackWithID: "One", toVersion: 9) } throws: {
      ($0 as? PackStoreError)?.code == .notFound
    }
    try FileManager.default.moveItem(atPath: "\(publisher.site).away", toPath: publisher.site.string)
    #expect(try await manager.checkForUpdates() == ([], []))
    #expect(try text(manager, "a.txt") == "good")
    try await manager.unpin(assetPackWithID: "One")
    let pack = try await manager.assetPack(withID: "One")
    try await manager.ensureLocalAvailability(of: pack, requireLatestVersion: true)
    #expect(try text(manager, "a.txt") == "bad")
    for call in 0..<3 {
      await #expect(throws: ManagedBackgroundAssetsError.assetPackNotFound(withID: "None")) {
        switch call {
        case 0: try await manager.rollBack(assetPackWithID: "None")
        case 1: try await manager.pin(assetPackWithID: "None")
        default: try await manager.unpin(assetPackWithID: "None")
        }
      }
    }
  }

  /// The packs that are here change together with the channel, to a lower version too.
  @Test func followsAnotherChannel() async throws {
    let beta = try SiteChannel("beta")
    try await publisher.publish(["One": ["a.txt": "old"], "Two": ["b.txt": "two"]])
    try await publisher.publish(["One": ["a.txt": "new"]], channel: beta)
    let stable = try manager()
    try await stable.ensureLocalAvailability(of: stable.allAssetPacks)
    #expect(try text(stable, "a.txt") == "old")
    let tester = try manager(channel: beta)
    _ = try await tester.manifest
    #expect(try text(tester, "a.txt") == "new" && text(stable, "a.txt") == "new")
    #expect(try await tester.checkForUpdates() == ([], []))
    #expect(tester.assetPackIsAvailableLocally(withID: "Two"))
    let back = try manager(channel: .live)
    _ = try await back.manifest
    #expect(try text(back, "a.txt") == "old" && text(back, "b.txt") == "two")
    #expect(try await back.status(ofAssetPackWithID: "One").contains(.upToDate))
  }

  #if Delivery
    /// From a web server: progress counts transferred bytes, an update is a delta, and an unreachable server is an
    /// error.
    @Test func byHTTP() async throws {
      var state: UInt64 = 7
      let noise = (0..<600_000).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Character(Unicode.Scalar(UInt8(0x21 + (state >> 33) % 0x5e)))
      }
      try await publisher.publish(["One": ["a.bin": String(noise), "b.txt": "b"]])
      var server: WebServer? = try WebServer.nginx(folder, serving: "site-a")
      let url = try #require(server?.url)
      let manager = try manager(url)
      let pack = try await manager.assetPack(withID: "One")
      /// The transferred bytes, from the last report of a download.
      func byteCount(_ updates: AssetPackManager.DownloadStatusUpdates) async -> Int {
        var last: Progress?
        for await case .downloading(_, let progress) in updates { last = progress }
        return Int(last?.completedUnitCount ?? 0)
      }
      let updates = manager.statusUpdates(forAssetPackWithID: "One")
      try await manager.ensureLocalAvailability(of: pack)
      let fetched = await byteCount(updates)
      #expect(fetched > 400_000 && abs(fetched - pack.downloadSize) < pack.downloadSize / 10)
      #expect(try manager.contents(at: "a.bin") == Data(String(noise).utf8))
      #expect(server?.requests.contains { $0.range != nil } == true)

      try await publisher.publish(["One": ["a.bin": "!" + String(noise), "b.txt": "b"]])
      let changes = manager.statusUpdates(forAssetPackWithID: "One")
      #expect(try await manager.checkForUpdates() == (["One"], []))
      let changed = await byteCount(changes)
      #expect(changed > 0 && changed < fetched / 10)
      #expect(try manager.contents(at: "a.bin").count == noise.count + 1)

      server = nil
      await #expect { try await manager.manifest } throws: { ($0 as? DeliveryError)?.code == .unreachable }
      #expect(try manager.contents(at: "b.txt") == Data("b".utf8))
      #expect(await manager.localStatus(ofAssetPackWithID: "One").contains(.downloaded))
    }
  #endif
}
