import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Releases of several packs: all members have one share and one rollout, and change together.
@Suite struct ReleaseEditTests {
  private static let hour: Int64 = 3_600_000_000_000
  private static let start: Int64 = 1_800_000_000_000_000_000

  let folder: TemporaryFolder
  let key = SiteKey()

  init() throws { folder = try TemporaryFolder() }

  /// A site with versions 1 to 3 of the packs A, B and C. `live` offers version 1.
  private func site() async throws -> Site {
    let site = try Site(at: FilePath(folder.path("site"))), store = try folder.store()
    for number in 1...3 {
      for pack in ["A", "B", "C"] as [PackID] {
        let content = try folder.makeFolder("content", ["\(pack)": Data("\(pack) \(number)".utf8)])
        try await store.install(folder: FilePath(content), as: pack)
      }
      var options = Site.PublishOptions(
        deltaCount: 0, channel: number == 1 ? .live : nil, expiry: .after(.seconds(400 * 86_400)))
      options.keptVersionCount = 10
      try await site.publish([.init("A"), .init("B"), .init("C")], from: store, signedBy: key, options: options)
    }
    return site
  }

  @discardableResult
  private func edit(
    _ site: Site, _ changes: [Site.OfferEdit.Change], on channel: SiteChannel = .live, after hours: Int64 = 0,
    adjust: (inout Site.PublishOptions) -> Void = { _ in }
  ) throws -> Site.ChannelResult {
    var options = Site.PublishOptions()
    adjust(&options)
    var edit = SiteEdit(of: site, signedBy: key, options: options)
    edit.now = Self.start + hours * Self.hour
    return try edit.run(changes.map { .init(channel, $0) })[0]
  }

  private func promote(
    _ versions: [PackID: UInt64], share: DeviceShare = .all, steps: String? = nil, name: String? = nil
  ) throws -> Site.OfferEdit.Change {
    let release = PackRelease(name: try name.map { try PackReleaseName($0) })
    let schedule = try steps.map { try RolloutSchedule($0, every: .seconds(86_400)) }
    return .promoteRelease(release, versions, share: share, schedule: schedule)
  }

  private func root(_ site: Site, _ channel: SiteChannel = .live) throws -> SiteRoot {
    try #require(try site.folder.readRoot(of: channel)?.root)
  }

  private func offer(_ site: Site, _ pack: PackID, _ version: UInt64) throws -> SiteRoot.Offer? {
    try root(site).packs.first { $0.id == pack }?.offers.first { $0.number == version }
  }

  private func epochs(_ site: Site) throws -> [UInt64] { try root(site).packs.map { $0.offers[0].epoch } }

  /// Checks that the members of each release have the same share and rollout, which the encoder requires as well.
  private func shares(_ site: Site, at hours: Int64) throws -> String {
    let root = try root(site)
    return root.packs.flatMap { pack in
      pack.offers.map { offer in
        "\(pack.id)@\(offer.number)=\(root.share(of: offer, at: Self.start + hours * Self.hour) / 100)"
          + (offer.release == nil ? "" : "!")
      }
    }.joined(separator: " ")
  }

  @Test func packsOfAPromotionFormARelease() async throws {
    let site = try await site()
    let result = try edit(site, [promote(["A": 2, "B": 2], share: DeviceShare("5%"), name: "spring")])
    let release = try #require(try offer(site, "A", 2)?.release)
    #expect(try release.name?.text == "spring" && offer(site, "B", 2)?.release == release)
    #expect(result.offers["B"]?.first?.release == release)
    #expect(try shares(site, at: 0) == "A@2=5! A@1=100 B@2=5! B@1=100 C@1=100")
    #expect(try site.channels()[0].packs[0].offers[0].release == release)
    // A higher share keeps the release, so that it only adds devices.
    let before = try epochs(site)
    try edit(site, [promote(["A": 2, "B": 2], share: DeviceShare("20%"))])
    #expect(try offer(site, "A", 2)?.release == release && epochs(site) == before)
    // Another pack joins it. A change of one member changes all of them.
    try edit(site, [promote(["A": 2, "C": 2], share: DeviceShare("30%"))])
    #expect(try shares(site, at: 0) == "A@2=30! A@1=100 B@2=30! B@1=100 C@2=30! C@1=100")
    try edit(site, [.promote("B", version: 2, share: try DeviceShare("40%"))])
    #expect(try shares(site, at: 0) == "A@2=40! A@1=100 B@2=40! B@1=100 C@2=40! C@1=100")
    #expect(try offer(site, "C", 2)?.release == release)
  }

  @Test func newReleaseHasANewID() async throws {
    let site = try await site()
    try edit(site, [promote(["A": 2, "B": 2], share: DeviceShare("50%"))])
    let first = try offer(site, "A", 2)?.release?.id
    try edit(site, [promote(["A": 3, "C": 2], share: DeviceShare("50%"))])
    let second = try offer(site, "A", 3)?.release?.id
    #expect(try first != nil && second != nil && first != second && offer(site, "A", 2)?.release?.id == first)
    // A pack has one member of a release: a release with another version of it is a new one.
    try edit(site, [promote(["A": 3, "B": 2], share: DeviceShare("50%"))]) { $0.takesBack = true }
    #expect(try offer(site, "A", 2)?.release?.id == first && offer(site, "B", 2)?.release != nil)
    #expect(try offer(site, "A", 3)?.release?.id == offer(site, "B", 2)?.release?.id)
  }

  @Test func rolloutOfAReleaseChangesAsAWhole() async throws {
    let site = try await site()
    try edit(site, [promote(["A": 2, "B": 2], steps: "1,10,100")])
    #expect(try shares(site, at: 24) == "A@2=10! A@1=100 B@2=10! B@1=100 C@1=100")
    try edit(site, [.setRollout("B", version: 2, .pause)], after: 30)
    #expect(try shares(site, at: 900) == "A@2=10! A@1=100 B@2=10! B@1=100 C@1=100")
    try edit(site, [.setRollout("A", version: 2, .halt)], after: 40)
    #expect(try shares(site, at: 900) == "A@2=0! A@1=100 B@2=0! B@1=100 C@1=100")
    try edit(site, [.setRollout("A", version: 2, .resume)], after: 50)
    #expect(try shares(site, at: 50) == "A@2=10! A@1=100 B@2=10! B@1=100 C@1=100")
    // The last step of all members has passed: they cover the earlier versions.
    try edit(site, [.setRollout("A", version: 2, .resume)], after: 200)
    #expect(try shares(site, at: 200) == "A@2=100! B@2=100! C@1=100" && !root(site).hasRollouts)
  }

  @Test func newerVersionEndsTheRolloutOfTheRelease() async throws {
    let site = try await site()
    try edit(site, [promote(["A": 2, "B": 2], steps: "1,10,100")])
    try edit(site, [.promote("A", version: 3, share: try DeviceShare("5%"))], after: 25)
    #expect(try shares(site, at: 900) == "A@3=5 A@2=10! A@1=100 B@2=10! B@1=100 C@1=100")
    try edit(site, [.promote("A", version: 3)], after: 26) { $0.haltsPrevious = true }
    #expect(try shares(site, at: 900) == "A@3=100 B@2=0! B@1=100 C@1=100")
  }

  /// The members of a release have other numbers than single offers: a change between them is restrictive, except for all devices.
  @Test func otherDrawsGetANewEpoch() async throws {
    let site = try await site()
    try edit(site, [.promote("A", version: 2, share: try DeviceShare("5%"))])
    let first = try epochs(site)
    try edit(site, [promote(["A": 2, "B": 2], share: DeviceShare("50%"))])
    #expect(try epochs(site)[0] > first[0] && epochs(site)[1] == first[1])
    let second = try epochs(site)
    try edit(site, [.promote("A", version: 3), .promote("B", version: 3)])
    #expect(try epochs(site) == second)
    try edit(site, [promote(["A": 3, "B": 3])])
    #expect(try epochs(site) == second, "all devices have them already")
  }

  @Test func copiesKeepTheRelease() async throws {
    let site = try await site(), beta = try SiteChannel("beta")
    try edit(site, [promote(["A": 2, "B": 2], name: "spring")], on: beta)
    try edit(site, [.copyOffers(of: beta)])
    #expect(try root(site).packs.map(\.offers[0].release) == root(site, beta).packs.map(\.offers[0].release) + [nil])
  }

  @Test func replacementSetsReleases() async throws {
    let site = try await site(), release = PackRelease()
    let share = try DeviceShare("5%")
    let planned: [PackID: [Site.PlannedOffer]] = [
      "A": [.init(2, share: share, release: release), .init(1)],
      "B": [.init(2, share: share, release: release), .init(1)],
    ]
    try edit(site, [.replace(planned)])
    #expect(try shares(site, at: 0) == "A@2=5! A@1=100 B@2=5! B@1=100")
    #expect(try edit(site, [.replace(planned)]).isUnchanged)
    try edit(site, [.replace(["A": [.init(2, share: share), .init(1)], "B": planned["B"] ?? []])])
    #expect(try shares(site, at: 0) == "A@2=5 A@1=100 B@2=5! B@1=100")
  }
}
