import Foundation
import PackFormats
import PackStore
import Synchronization
import Testing

@testable import PackAuthoring

/// Changes of many packs and channels, each channel by one root, under conditions.
@Suite struct SiteEditTests {
  let folder: TemporaryFolder
  let key = SiteKey()
  private let announced = Announced()
  private let beta: SiteChannel

  private final class Announced: Sendable { let channels = Mutex<[SiteChannel]>([]) }

  init() throws {
    folder = try TemporaryFolder()
    beta = try SiteChannel("beta")
  }

  /// A site with versions 1 to 3 of the packs A and B, which no channel offers.
  private func site() async throws -> Site {
    let announced = announced
    let site = try Site(at: FilePath(folder.path("site"))) { channel, _ in
      announced.channels.withLock { $0.append(channel) }
    }
    let store = try folder.store()
    for pack in ["A", "B"] as [PackID] {
      for number in 1...3 {
        let content = try folder.makeFolder("content", ["file": Data("\(pack) \(number)".utf8)])
        try await store.install(folder: FilePath(content), as: pack)
        try await site.publish(
          [.init(pack)], from: store, signedBy: key, options: .init(keptVersionCount: 9, deltaCount: 0, channel: nil))
      }
    }
    announced.channels.withLock { $0 = [] }
    return site
  }

  private func offers(_ site: Site, _ channel: SiteChannel) throws -> [String] {
    let found = try site.channels().first { $0.channel == channel }
    return (found?.packs ?? []).flatMap { pack in
      pack.offers.map { "\(pack.pack)@\($0.version) \($0.share)" + ($0.appVersions.map { " \($0)" } ?? "") }
    }
  }

  private func sequence(_ site: Site, _ channel: SiteChannel) throws -> UInt64 {
    try site.channels().first { $0.channel == channel }?.sequence ?? 0
  }

  private func edit(
    _ site: Site, _ edits: [Site.OfferEdit], ifRoots expected: [SiteChannel: UInt64] = [:], back: Bool = false
  ) async throws {
    var options = Site.PublishOptions()
    options.takesBack = back
    try await site.edit(edits, ifRoots: expected, signedBy: key, options: options)
  }

  @Test func severalPacksAndChannelsChangeByOneRootEach() async throws {
    let site = try await site()
    let results = try await site.edit(
      [
        .init(beta, .promote("A", version: 3)), .init(.live, .promote("A", version: 1)),
        .init(.live, .promote("B", version: 2)), .init(beta, .promote("B", version: 3, share: try DeviceShare("5%"))),
      ], signedBy: key)
    #expect(results.map(\.channel) == [beta, .live] && results.allSatisfy { !$0.isUnchanged })
    #expect(announced.channels.withLock { $0 } == [beta, .live])
    #expect(try offers(site, .live) == ["A@1 100%", "B@2 100%"])
    #expect(try offers(site, beta) == ["A@3 100%", "B@3 5%"])
  }

  @Test func failedEditChangesNoChannel() async throws {
    let site = try await site()
    try await edit(site, [.init(.live, .promote("A", version: 2)), .init(beta, .promote("A", version: 2))])
    let before = folder.files("site").filter { ["root", "roots/beta"].contains($0.key) }
    let wrong: [[Site.OfferEdit]] = [
      [.init(beta, .promote("A", version: 3)), .init(.live, .promote("A", version: 1))],
      [.init(beta, .promote("A", version: 3)), .init(.live, .promote("A", version: 9))],
      [.init(beta, .promote("B", version: 3)), .init(.live, .demote("A", version: 2))],
      [.init(beta, .close), .init(.live, .close)],
      [.init(.live, .promote("A", version: 3)), .init(.live, .copyOffers(of: try SiteChannel("none")))],
      [.init(.live, .promote("A", version: 3)), .init(.live, .copyOffers(of: .live))],
      [.init(.live, .promote("A", version: 3)), .init(beta, .replace(["A": [.init(3), .init(2)]]))],
    ]
    for edits in wrong {
      await #expect(throws: PackStoreError.self, "\(edits)") { try await edit(site, edits) }
      #expect(folder.files("site").filter { ["root", "roots/beta"].contains($0.key) } == before, "\(edits)")
    }
  }

  @Test func offersOfAnotherChannelAreCopied() async throws {
    let site = try await site(), range = try AppVersionRange("2.0..<3")
    try await edit(
      site,
      [
        .init(.live, .promote("A", version: 1)), .init(.live, .promote("B", version: 1)),
        .init(beta, .promote("A", version: 2)),
        .init(beta, .promote("A", version: 3, appVersions: .range(range))),
        .init(beta, .promote("B", version: 3, share: try DeviceShare("50%"))),
      ])
    let results = try await site.edit([.init(.live, .copyOffers(of: beta))], signedBy: key)
    #expect(results.count == 1 && !results[0].isUnchanged)
    #expect(try offers(site, .live) == ["A@3 100% 2.0..<3", "A@2 100%", "B@1 100%"])
    let again = try await site.edit([.init(.live, .copyOffers(of: beta))], signedBy: key)
    #expect(again[0].isUnchanged && again[0].sequence == results[0].sequence)
    let other = try SiteChannel("other")
    try await edit(site, [.init(other, .copyOffers(of: beta))])
    #expect(try offers(site, other) == ["A@3 100% 2.0..<3", "A@2 100%"])
  }

  @Test func copyRefusesToStepDownAndListsThePacks() async throws {
    let site = try await site()
    try await edit(
      site,
      [
        .init(.live, .promote("A", version: 3)), .init(.live, .promote("B", version: 2)),
        .init(beta, .promote("A", version: 2)), .init(beta, .promote("B", version: 1)),
      ])
    let error = await #expect(throws: PackStoreError.self) {
      try await edit(site, [.init(.live, .copyOffers(of: beta))])
    }
    #expect(error?.detail == .stepBack && error?.reason.contains("A@2 is lower than version 3") == true)
    #expect(error?.reason.contains("B@1 is lower than version 2") == true)
    #expect(try offers(site, .live) == ["A@3 100%", "B@2 100%"])
    try await edit(site, [.init(.live, .copyOffers(of: beta))], back: true)
    #expect(try offers(site, .live) == ["A@2 100%", "B@1 100%"])
  }

  /// A rollout of a higher version is taken back by a copy of the lower one, and a higher one replaces it.
  @Test func copyComparesRolloutsToo() async throws {
    let site = try await site()
    try await edit(
      site,
      [
        .init(.live, .promote("A", version: 1)), .init(beta, .promote("A", version: 1)),
        .init(.live, .promote("A", version: 2, share: try DeviceShare("5%"))),
      ])
    await #expect(throws: PackStoreError.self) { try await edit(site, [.init(.live, .copyOffers(of: beta))]) }
    try await edit(site, [.init(beta, .promote("A", version: 3)), .init(.live, .copyOffers(of: beta))])
    #expect(try offers(site, .live) == ["A@3 100%"])
  }

  @Test func conditionsCompareRoots() async throws {
    let site = try await site()
    try await edit(site, [.init(beta, .promote("A", version: 3))], ifRoots: [beta: 0])
    let number = try sequence(site, beta)
    for expected in [[beta: 0], [beta: number + 1], [beta: number, .live: 1]] {
      let error = await #expect(throws: PackStoreError.self) {
        try await edit(site, [.init(.live, .copyOffers(of: beta))], ifRoots: expected)
      }
      #expect(error?.code == .conflict)
    }
    #expect(try offers(site, .live) == [])
    try await edit(
      site, [.init(.live, .copyOffers(of: beta))], ifRoots: [beta: number, .live: try sequence(site, .live)])
    #expect(try offers(site, .live) == ["A@3 100%"])
  }

  @Test func dryRunReportsDownloadsOfAllPacks() async throws {
    let site = try await site()
    try await edit(
      site,
      [
        .init(.live, .promote("A", version: 1)), .init(.live, .promote("B", version: 1)),
        .init(beta, .promote("A", version: 2)), .init(beta, .promote("B", version: 3)),
      ])
    let planned = try await site.edit([.init(.live, .copyOffers(of: beta))], signedBy: key, isDryRun: true)
    #expect(planned[0].updates.map { "\($0.from) \($0.to.number)" } == ["A@1 2", "B@1 3"])
    #expect(planned[0].offers["B"]?.map(\.version) == [3] && !planned[0].isUnchanged)
    #expect(try offers(site, .live) == ["A@1 100%", "B@1 100%"])
  }
}
