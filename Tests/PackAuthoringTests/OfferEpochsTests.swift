import PackFormats
import PackStore
import Testing

@testable import PackAuthoring

/// Which acts give the offers of a pack a new epoch.
@Suite struct OfferEpochsTests {
  private typealias Offer = SiteRoot.Offer

  private static let sequence: UInt64 = 100

  private static func offer(_ number: UInt64, _ share: UInt32 = 10_000, _ range: String? = nil) -> Offer {
    Offer(
      number: number, catalog: CatalogID(digest: Digest256(hashing: [UInt8(number)])), manifest: .zero,
      manifestByteCount: 1, share: share, appVersions: range.map { try! AppVersionRange($0) })
  }

  private static func root(_ packs: [SiteRoot.Pack], highest: [PackID: SiteRoot.Highest]? = nil) -> SiteRoot {
    SiteRoot(
      sequence: 50, madeAt: 0, expiresAfter: nil, site: SiteID(ID128(copying: [UInt8](repeating: 1, count: 16))),
      product: .standard, packs: packs, highest: highest)
  }

  private static func pack(_ offers: [Offer], _ id: PackID = "P") -> SiteRoot.Pack {
    SiteRoot.Pack(id: id, priority: 0, offers: offers, deltas: [])
  }

  private func stamp(
    _ before: SiteRoot?, _ after: [SiteRoot.Pack], known: [PackID: UInt64] = [:],
    platforms: [UInt64: Set<Platform>] = [:]
  ) -> (packs: [SiteRoot.Pack], highest: [PackID: SiteRoot.Highest]) {
    OfferEpochs(current: before, known: known, sequence: Self.sequence) { platforms[$1] ?? [] }.stamp(after)
  }

  /// The next offers of a pack, and whether the act takes something away.
  private static let acts: [(before: [Offer], after: [Offer], takesAway: Bool)] = [
    ([offer(1)], [offer(1)], false),
    ([offer(1)], [offer(2)], false),
    ([offer(1)], [offer(2, 500), offer(1)], false),
    ([offer(2, 500), offer(1)], [offer(2, 2_000), offer(1)], false),
    ([offer(2, 500), offer(1)], [offer(2)], false),
    ([offer(2, 0), offer(1)], [offer(3)], false),
    ([offer(1)], [offer(2, 10_000, "2.0..."), offer(1)], false),
    ([offer(1, 10_000, "..<2")], [offer(1)], false),
    ([offer(2, 10_000, "2.0...")], [offer(2, 10_000, "2.0..."), offer(1, 10_000, "..<2")], false),
    // A step back, for all devices or for some.
    ([offer(2)], [offer(1)], true),
    ([offer(2)], [offer(1, 500), offer(2)], true),
    ([offer(1, 500), offer(2)], [offer(1, 600), offer(2)], true),
    ([offer(1, 500), offer(2)], [offer(1, 500), offer(2)], false),
    ([offer(2)], [offer(1, 10_000, "..<2"), offer(2)], true),
    // A withdrawal.
    ([offer(2), offer(1)], [offer(1)], true),
    ([offer(2, 500), offer(1)], [offer(1)], true),
    ([offer(2, 10_000, "..<2"), offer(3, 10_000, "2.0...")], [offer(3, 10_000, "2.0...")], true),
    ([offer(2)], [offer(3, 5_000)], true),
    // A halt, a lower share, fewer app versions.
    ([offer(2, 500), offer(1)], [offer(2, 0), offer(1)], true),
    ([offer(2, 500), offer(1)], [offer(2, 499), offer(1)], true),
    ([offer(2)], [offer(2, 10_000, "2.0...")], true),
    ([offer(2, 10_000, "1.0..<3")], [offer(2, 10_000, "1.0..<2")], true),
  ]

  /// Shares are compared from the date of the next root on, which is 0 here.
  @Test func laterSharesCount() {
    func open(_ steps: [(Int64, UInt32)]) -> Rollout {
      Rollout(asOf: 0, steps: steps.map { .init(time: $0.0, share: $0.1) })
    }
    func rollout(_ rollout: Rollout?, _ share: UInt32 = 100) -> Offer {
      var offer = Self.offer(2, share)
      offer.rollout = rollout
      return offer
    }
    let acts: [(before: Offer, after: Offer, takesAway: Bool)] = [
      (rollout(open([(5, 200)])), rollout(open([(5, 200)])), false),
      (rollout(open([(5, 200)])), rollout(open([(5, 200), (9, 300)])), false),
      (rollout(open([(5, 200)])), rollout(nil, 200), false),
      (rollout(open([(5, 200)])), rollout(open([(4, 200)])), false),
      (rollout(open([(5, 200)])), rollout(open([(6, 200)])), true), (rollout(open([(5, 200)])), rollout(nil), true),
      (rollout(open([(5, 200)])), rollout(open([(5, 199)])), true),
      (rollout(open([(5, 200)])), rollout(Rollout(state: .paused, asOf: 4, steps: [.init(time: 5, share: 200)])), true),
      (rollout(open([(5, 200)])), rollout(Rollout(state: .halted, asOf: 4)), true),
      (rollout(Rollout(state: .halted, asOf: 4)), rollout(nil), false),
      (rollout(nil), rollout(open([(5, 200)])), false),
      (rollout(nil, 10_000), rollout(Rollout(state: .halted, asOf: 0), 10_000), true),
    ]
    for (index, act) in acts.enumerated() {
      let (_, table) = stamp(Self.root([Self.pack([act.before])]), [Self.pack([act.after])])
      #expect((table["P"]?.epoch == Self.sequence) == act.takesAway, "act \(index)")
    }
  }

  @Test(arguments: acts.indices) func actsThatTakeAway(index: Int) {
    let (before, after, takesAway) = Self.acts[index]
    let highest = SiteRoot.Highest(number: 3, epoch: 7)
    let offers = before.map { offer in
      var offer = offer
      offer.epoch = 5
      return offer
    }
    let (packs, table) = stamp(Self.root([Self.pack(offers)], highest: ["P": highest]), [Self.pack(after)])
    #expect(table["P"] == .init(number: 3, epoch: takesAway ? Self.sequence : 7))
    for offer in packs[0].offers {
      let old = before.first { $0.number == offer.number && $0 == Self.offerWithoutEpoch(offer) }
      #expect(offer.epoch == (takesAway ? Self.sequence : old == nil ? 7 : 5), "version \(offer.number)")
    }
  }

  private static func offerWithoutEpoch(_ offer: Offer) -> Offer {
    var offer = offer
    offer.epoch = 0
    return offer
  }

  /// A version for other platforms does not replace a version that leaves.
  @Test func platformsCount() {
    let before = Self.root([Self.pack([Self.offer(2), Self.offer(1)])])
    for (platforms, takesAway) in [([3: [.iOS]], true), ([2: [.iOS], 3: [.iOS]], false)]
      as [([UInt64: Set<Platform>], Bool)]
    {
      let table = stamp(before, [Self.pack([Self.offer(3), Self.offer(1)])], platforms: platforms).highest
      #expect(table["P"]?.epoch == (takesAway ? Self.sequence : 0))
    }
  }

  /// A pack that leaves the channel, and returns.
  @Test func theTableKeepsPacksThatLeft() {
    let before = Self.root([Self.pack([Self.offer(3)]), Self.pack([Self.offer(1)], "Q")])
    let (packs, table) = stamp(before, [Self.pack([Self.offer(1)], "Q")])
    #expect(table == ["P": .init(number: 3, epoch: Self.sequence), "Q": .init(number: 1, epoch: 0)])
    #expect(packs[0].offers[0].epoch == 0, "another pack loses nothing")
    let next = OfferEpochs(current: Self.root(packs, highest: table), known: [:], sequence: 200) { _, _ in [] }
      .stamp(packs + [Self.pack([Self.offer(2)], "R"), Self.pack([Self.offer(2)])])
    #expect(next.highest["P"] == .init(number: 3, epoch: Self.sequence))
    #expect(next.packs[2].offers[0].epoch == Self.sequence, "a lower version is offered after the withdrawal")
    #expect(next.packs[1].offers[0].epoch == 0 && next.highest["R"] == .init(number: 2, epoch: 0))
  }

  /// The offers of a lost root are unknown, and the offers that a thief signed do not count.
  @Test func withoutRootAllOffersGetANewEpoch() {
    let (packs, table) = stamp(nil, [Self.pack([Self.offer(2)])], known: ["P": 4, "Q": 9])
    #expect(packs[0].offers[0].epoch == Self.sequence)
    #expect(table == ["P": .init(number: 4, epoch: Self.sequence), "Q": .init(number: 9, epoch: Self.sequence)])
  }
}
