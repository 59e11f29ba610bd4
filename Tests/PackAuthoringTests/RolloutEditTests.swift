import Foundation
import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Releases in steps: start, pause, resume, halt, and the end by a higher version. The time of each edit is given.
@Suite struct RolloutEditTests {
  private static let hour: Int64 = 3_600_000_000_000
  private static let start: Int64 = 1_800_000_000_000_000_000

  let folder: TemporaryFolder
  let key = SiteKey()

  init() throws { folder = try TemporaryFolder() }

  /// A site with versions 1 to 4 of the pack A. `live` offers version 1.
  private func site() async throws -> Site {
    let site = try Site(at: FilePath(folder.path("site"))), store = try folder.store()
    for number in 1...4 {
      let content = try folder.makeFolder("content", ["file": Data("A \(number)".utf8)])
      try await store.install(folder: FilePath(content), as: "A")
      var options = Site.PublishOptions(
        deltaCount: 0, channel: number == 1 ? .live : nil, expiry: .after(.seconds(400 * 86_400)))
      options.keptVersionCount = 10
      try await site.publish([.init("A")], from: store, signedBy: key, options: options)
    }
    return site
  }

  private func edit(
    _ site: Site, after hours: Int64, _ change: (inout Site.PublishOptions) -> Void = { _ in }
  ) -> ChannelEdit {
    var options = Site.PublishOptions()
    change(&options)
    var edit = ChannelEdit(of: .live, of: site, signedBy: key, options: options)
    edit.now = Self.start + hours * Self.hour
    return edit
  }

  private func schedule(_ text: String = "1,10,100") throws -> RolloutSchedule {
    try RolloutSchedule(text, every: .seconds(86_400))
  }

  private func root(_ site: Site) throws -> SiteRoot {
    try #require(try site.folder.readRoot(of: .live)?.root)
  }

  /// The shares of the offers, in the order of the root, so many hours after the start.
  private func shares(_ site: Site, at hours: Int64) throws -> [UInt64: UInt32] {
    let root = try root(site)
    let pairs = root.packs[0].offers.map { ($0.number, root.share(of: $0, at: Self.start + hours * Self.hour)) }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  @Test func stepsApplyAtTheirTimes() async throws {
    let site = try await site()
    let result = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    #expect(result.offers["A"]?.first?.share.description == "1%" && result.offers["A"]?.first?.rollout?.state == .open)
    for (hours, share) in [(0, 100), (23, 100), (24, 1_000), (47, 1_000), (48, 10_000), (9_999, 10_000)]
      as [(Int64, UInt32)]
    {
      #expect(try shares(site, at: hours) == [2: share, 1: 10_000])
    }
    let description = try #require(try site.channels().first)
    #expect(description.packs[0].offers[0].rollout?.steps.map(\.share.description) == ["10%", "100%"])
  }

  @Test func pauseKeepsTheShareAndResumeMovesTheSteps() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    let epoch = try root(site).highest["A"]?.epoch
    _ = try edit(site, after: 30).setRollout(of: "A", 2, to: .pause)
    #expect(try shares(site, at: 5_000)[2] == 1_000)
    #expect(try root(site).highest["A"]?.epoch != epoch, "a pause takes later shares away")
    #expect(try edit(site, after: 40).setRollout(of: "A", 2, to: .pause).offers["A"]?.first?.rollout?.state == .paused)
    #expect(try root(site).packs[0].offers[0].rollout?.asOf == Self.start + 30 * Self.hour, "the first pause counts")
    _ = try edit(site, after: 130).setRollout(of: "A", 2, to: .resume)
    #expect(try shares(site, at: 130)[2] == 1_000 && shares(site, at: 147)[2] == 1_000)
    #expect(try shares(site, at: 148)[2] == 10_000, "18 hours were left")
    _ = try edit(site, after: 131).setRollout(of: "A", 2, to: .resume)
    #expect(try shares(site, at: 148)[2] == 10_000)
  }

  @Test func haltSetsTheShareToZeroAndResumeRestoresIt() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    _ = try edit(site, after: 30).setRollout(of: "A", 2, to: .pause)
    _ = try edit(site, after: 40).setRollout(of: "A", 2, to: .halt)
    #expect(try shares(site, at: 5_000) == [2: 0, 1: 10_000])
    #expect(throws: PackStoreError.self) { try edit(site, after: 41).setRollout(of: "A", 2, to: .pause) }
    _ = try edit(site, after: 50).setRollout(of: "A", 2, to: .resume)
    #expect(try shares(site, at: 50)[2] == 1_000 && shares(site, at: 67)[2] == 1_000)
    #expect(try shares(site, at: 68)[2] == 10_000, "18 hours were left at the pause")
  }

  @Test func fixedSharesCanBeHaltedButNotPaused() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, DeviceShare("5%"))
    #expect(throws: PackStoreError.self) { try edit(site, after: 1).setRollout(of: "A", 2, to: .pause) }
    _ = try edit(site, after: 1).setRollout(of: "A", 2, to: .halt)
    #expect(try shares(site, at: 9)[2] == 0)
    _ = try edit(site, after: 2).setRollout(of: "A", 2, to: .resume)
    #expect(try shares(site, at: 9)[2] == 500 && !root(site).hasRollouts)
    // Also an offer for all devices, which no device without the version gets while it is halted.
    _ = try edit(site, after: 3).setRollout(of: "A", 1, to: .halt)
    #expect(try shares(site, at: 9) == [2: 500, 1: 0])
    #expect(throws: PackStoreError.self) { try edit(site, after: 4).setRollout(of: "A", 3, to: .halt) }
  }

  @Test func fixedShareOfZeroCannotBeResumed() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .none)
    #expect(throws: PackStoreError.self) { try edit(site, after: 1).setRollout(of: "A", 2, to: .resume) }
    // A halted version has a share to return to.
    _ = try edit(site, after: 2).promote("A", 2, .asBefore, DeviceShare("5%"))
    _ = try edit(site, after: 3).setRollout(of: "A", 2, to: .halt)
    _ = try edit(site, after: 4).setRollout(of: "A", 2, to: .resume)
    #expect(try shares(site, at: 9)[2] == 500)
  }

  @Test func higherVersionEndsAnUnfinishedRollout() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    _ = try edit(site, after: 25).promote("A", 3, .asBefore, .all, schedule())
    #expect(try shares(site, at: 5_000) == [3: 10_000, 2: 1_000, 1: 10_000])
    _ = try edit(site, after: 26) { $0.haltsPrevious = true }.promote("A", 4, .asBefore, .all, schedule("2%,50%"))
    #expect(try shares(site, at: 26) == [4: 200, 3: 0, 2: 0, 1: 10_000])
    #expect(try root(site).packs[0].offers.filter { $0.rollout != nil }.map(\.number) == [4])
  }

  @Test func copyOmitsHaltedAndUnfinishedReleases() async throws {
    let site = try await site(), other = try SiteChannel("other")
    func copy(after hours: Int64) throws -> [UInt64] {
      var edit = SiteEdit(of: site, signedBy: key, options: .init())
      edit.now = Self.start + hours * Self.hour
      return try edit.run([.init(other, .copyOffers(of: .live))])[0].offers["A"]?.map(\.version) ?? []
    }
    _ = try edit(site, after: 0).setRollout(of: "A", 1, to: .halt)
    #expect(try copy(after: 1) == [])
    _ = try edit(site, after: 2).promote("A", 2, .asBefore, .all, schedule())
    #expect(try copy(after: 3) == [])
    #expect(try copy(after: 60) == [2], "the last step has passed")
  }

  @Test func replacementEndsReleasesInStepsAndHalts() async throws {
    let site = try await site()
    let planned: [Site.PlannedOffer] = [.init(2, share: try DeviceShare("1%")), .init(1)]
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    _ = try edit(site, after: 1).replaceOffers(by: ["A": planned])
    #expect(try shares(site, at: 5_000) == [2: 100, 1: 10_000])
    _ = try edit(site, after: 2).setRollout(of: "A", 1, to: .halt)
    _ = try edit(site, after: 3).replaceOffers(by: ["A": planned])
    #expect(try shares(site, at: 5_000) == [2: 100, 1: 10_000] && !root(site).hasRollouts)
  }

  @Test func publicationEndsAnUnfinishedRollout() async throws {
    let site = try await site(), store = try folder.store()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    let content = try folder.makeFolder("content", ["file": Data("A 5".utf8)])
    try await store.install(folder: FilePath(content), as: "A")
    try await site.publish([.init("A")], from: store, signedBy: key, options: .init(deltaCount: 0))
    #expect(try !root(site).hasRollouts && root(site).packs[0].offers.map(\.number) == [5])
  }

  @Test func finishedRolloutsLeaveTheRoot() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    _ = try edit(site, after: 48).promote("A", 3, .asBefore, DeviceShare("5%"))
    #expect(try shares(site, at: 48) == [3: 500, 2: 10_000] && !root(site).hasRollouts, "version 1 is covered")
    #expect(throws: PackStoreError.self) { try edit(site, after: 49).setRollout(of: "A", 2, to: .pause) }
  }

  @Test func repeatedStartDoesNotLowerTheShare() async throws {
    let site = try await site()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    #expect(throws: PackStoreError.self) { try edit(site, after: 25).promote("A", 2, .asBefore, .all, schedule()) }
    _ = try edit(site, after: 25).promote("A", 2, .asBefore, .all, schedule("10,100"))
    #expect(try shares(site, at: 25)[2] == 1_000 && shares(site, at: 49)[2] == 10_000)
    _ = try edit(site, after: 26) { $0.takesBack = true }.promote("A", 2, .asBefore, .all, schedule())
    #expect(try shares(site, at: 26)[2] == 100)
  }

  @Test func horizonStopsTheStepsUntilTheNextRoot() async throws {
    let site = try await site()
    let bounded: (inout Site.PublishOptions) -> Void = { $0.rolloutHorizon = .after(.seconds(30 * 3_600)) }
    _ = try edit(site, after: 0, bounded).promote("A", 2, .asBefore, .all, schedule("1,2,5,10,100"))
    #expect(try shares(site, at: 5_000)[2] == 200)
    // The steps at 48 and 72 hours did not count, so that a pause does not add devices.
    _ = try edit(site, after: 80).setRollout(of: "A", 2, to: .pause)
    #expect(try shares(site, at: 5_000)[2] == 200 && root(site).horizon == 30 * Self.hour)
    _ = try edit(site, after: 80) { $0.rolloutHorizon = .unlimited }.setRollout(of: "A", 2, to: .resume)
    #expect(try shares(site, at: 97)[2] == 200 && shares(site, at: 98)[2] == 500 && root(site).horizon == nil)
  }

  @Test func stepsNeedAnExpiry() async throws {
    let site = try await site()
    let never: (inout Site.PublishOptions) -> Void = { $0.expiry = .never }
    #expect(throws: PackStoreError.self) {
      try edit(site, after: 0, never).promote("A", 2, .asBefore, .all, schedule())
    }
    #expect(try root(site).packs[0].offers.map(\.number) == [1], "nothing was written")
    let beta = try SiteChannel("beta"), steps = try schedule()
    for isDryRun in [true, false] {
      var options = Site.PublishOptions()
      options.expiry = .never
      let edit = SiteEdit(of: site, signedBy: key, options: options, isDryRun: isDryRun)
      #expect(throws: PackStoreError.self) {
        try edit.run([
          .init(beta, .promote("A", version: 2)), .init(.live, .promote("A", version: 2, schedule: steps)),
        ])
      }
    }
    #expect(try site.channels().map(\.channel) == [.live], "nor to another channel")
    try await site.promote("A", version: 2, to: beta, signedBy: key)
    try await site.promote("A", version: 2, to: .live, schedule: steps, signedBy: key)
    let roots = try site.channels()
    await #expect(throws: PackStoreError.self) { try await site.refresh(signedBy: key, options: .init(expiry: .never)) }
    #expect(try site.channels() == roots, "a refresh writes all roots or none")
  }

  @Test func otherPublicationsKeepTheRollout() async throws {
    let site = try await site(), store = try folder.store()
    _ = try edit(site, after: 0).promote("A", 2, .asBefore, .all, schedule())
    let before = try root(site).packs[0].offers[0].rollout
    let content = try folder.makeFolder("content", ["file": Data("B".utf8)])
    try await store.install(folder: FilePath(content), as: "B")
    try await site.publish([.init("B")], from: store, signedBy: key, options: .init(deltaCount: 0))
    let after = try root(site).packs[0].offers
    #expect(after.map(\.number) == [2, 1] && after[0].rollout == before && after[0].epoch == 0)
  }

  @Test func invalidSchedulesAreRefused() throws {
    for text in ["", ",", "0", "5,5", "10,5", "101", "1,,2", "a", "1.001", "-1"] {
      #expect(throws: PackStoreError.self, "\(text)") { try schedule(text) }
    }
    #expect(throws: PackStoreError.self) { try RolloutSchedule("1,2", every: .zero) }
    let all = (1...66).map(String.init).joined(separator: ",")
    #expect(throws: PackStoreError.self) { try schedule(all) }
    #expect(try schedule(String(all.dropLast(3))).shares.count == RolloutSchedule.shareLimit)
    #expect(try schedule("0.25%,1").shares.map(\.description) == ["0.25%", "1%"])
    var offer = ChannelPlan.Offer(number: 1)
    #expect(throws: PackStoreError.self) { try schedule().start(&offer, of: "A", at: .max - 5) }
  }

  /// Steps so far in the future that a delay overflows are an error, not a trap.
  @Test func stepsAtTheEndOfTimeCannotMove() {
    var offer = ChannelPlan.Offer(
      number: 1, share: 1, rollout: Rollout(state: .paused, asOf: 0, steps: [.init(time: .max, share: 2)]))
    let moment = RolloutMoment(time: 1, end: .max)
    #expect(throws: PackStoreError.self) { try offer.apply(.resume, to: "A", at: moment) }
    #expect(throws: PackStoreError.self) { try offer.apply(.halt, to: "A", at: moment) }
    #expect(offer.rollout?.state == .paused)
    offer.rollout?.asOf = 10
    #expect(throws: Never.self) { try offer.apply(.resume, to: "A", at: moment) }
    #expect(
      offer.rollout?.asOf == 10 && offer.rollout?.steps.first?.time == .max, "a clock that is behind moves nothing")
  }
}
