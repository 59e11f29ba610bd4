import PackFormats
import PackStore

/// The planned offers of a channel: each pack's versions and their devices, in the order in which clients try them.
struct ChannelPlan: Hashable {
  struct Offer: Hashable {
    var number: UInt64

    /// The content of the version; `nil` for its content in the site's store.
    var catalog: CatalogID?

    /// The share, in ten-thousandths of all devices; before the first step of a rollout.
    var share = OfferTerms.everyDevice

    /// The changes of the share over time; `nil` if it is fixed.
    var rollout: Rollout?

    /// The app versions that the offer is for; `nil` for all.
    var appVersions: AppVersionRange?

    /// The release that the offer is a member of; `nil` if none.
    var release: PackRelease?

    fileprivate var withoutContent: Offer {
      Offer(number: number, share: share, rollout: rollout, appVersions: appVersions, release: release)
    }

    /// Whether the offer is for all devices at any time.
    var isForAllDevices: Bool { share == OfferTerms.everyDevice && rollout == nil }

    var isHalted: Bool { rollout.map { $0.state == .halted } ?? (share == 0) }
  }

  /// The offers of each pack; never empty.
  private(set) var packs: [PackID: [Offer]] = [:]

  /// The numbers of versions that were withdrawn, replaced by a lower version, or halted. No chain of deltas leads through them. A
  /// newer version followed all other versions.
  private(set) var withdrawn: [PackID: Set<UInt64>] = [:]

  init() {}

  /// Creates the plan of a root.
  init(_ root: SiteRoot) {
    for pack in root.packs {
      packs[pack.id] = pack.offers.map {
        Offer(
          number: $0.number, catalog: $0.catalog, share: $0.share, rollout: $0.rollout, appVersions: $0.appVersions,
          release: $0.release)
      }
    }
  }

  func offers(of pack: PackID) -> [Offer] { packs[pack] ?? [] }

  func offers(_ number: UInt64, of pack: PackID) -> Bool { offers(of: pack).contains { $0.number == number } }

  /// Whether both plans offer the same versions to the same devices, regardless of content.
  func saysTheSame(as other: ChannelPlan) -> Bool {
    Set(packs.keys) == Set(other.packs.keys) && packs.keys.allSatisfy { saysTheSame(as: other, of: $0) }
  }

  /// Whether both plans offer the same versions of one pack to the same devices.
  func saysTheSame(as other: ChannelPlan, of pack: PackID) -> Bool {
    offers(of: pack).map(\.withoutContent) == other.offers(of: pack).map(\.withoutContent)
  }

  /// Returns a higher version that is offered to some of the devices that a new offer is for.
  func higherOffer(than offer: Offer, of pack: PackID) -> Offer? {
    offers(of: pack).first { other in
      other.number > offer.number && AppVersionRange.overlap(other.appVersions, offer.appVersions)
    }
  }

  // MARK: - Changes

  /// Offers a version.
  ///
  /// An offer for all devices comes first, and replaces the offers that it covers, because it fits all their clients. An offer for
  /// a share of devices keeps its place, or comes first if it is new; the offers after it are for the other devices.
  ///
  /// - Parameter platforms: returns the platforms that a version is for; empty for all.
  mutating func offer(_ offer: Offer, of pack: PackID, platforms: (UInt64) throws -> Set<Platform>) rethrows {
    var offers = offers(of: pack)
    let place = offers.firstIndex { $0.number == offer.number }
    if let place, !offer.isForAllDevices {
      offers[place] = offer
    } else {
      if let place { offers.remove(at: place) }
      if offer.isForAllDevices {
        let covered = try covered(by: offer, among: offers, platforms)
        offers.removeAll { covered.contains($0) }
        let gone = covered.filter { $0.number > offer.number || $0.isHalted }
        withdrawn[pack, default: []].formUnion(gone.map(\.number))
      }
      offers.insert(offer, at: 0)
    }
    withdrawn[pack]?.remove(offer.number)
    packs[pack] = offers
    alignRelease(with: offer, of: pack)
  }

  /// Changes the offer of a version in place.
  mutating func change(_ number: UInt64, of pack: PackID, _ body: (inout Offer) throws -> Void) rethrows {
    guard let place = offers(of: pack).firstIndex(where: { $0.number == number }) else { return }
    try body(&packs[pack, default: []][place])
    alignRelease(with: offers(of: pack)[place], of: pack)
  }

  /// The offers of a release, in order of their packs.
  func members(of release: PackReleaseID) -> [(pack: PackID, number: UInt64)] {
    packs.sorted { $0.key < $1.key }.flatMap { pack, offers in
      offers.filter { $0.release?.id == release }.map { (pack, $0.number) }
    }
  }

  /// Sets the name, the share and the rollout of a release in its other members. Another version of the pack leaves the release.
  private mutating func alignRelease(with offer: Offer, of changed: PackID) {
    guard let release = offer.release else { return }
    for (pack, offers) in packs {
      for (place, other) in offers.enumerated() where other.release?.id == release.id {
        guard pack != changed || other.number == offer.number else {
          packs[pack]?[place].release = nil
          continue
        }
        packs[pack]?[place].release = release
        packs[pack]?[place].share = offer.share
        packs[pack]?[place].rollout = offer.rollout
      }
    }
  }

  /// Returns the offers whose clients all fit the other offer, too.
  private func covered(
    by offer: Offer, among others: [Offer], _ platforms: (UInt64) throws -> Set<Platform>
  ) rethrows -> [Offer] {
    let own = try platforms(offer.number)
    return try others.filter { other in
      let others = try platforms(other.number)
      let coversPlatforms = own.isEmpty || (!others.isEmpty && own.isSuperset(of: others))
      return coversPlatforms && Self.covers(offer.appVersions, other.appVersions)
    }
  }

  /// Whether one range contains every app version of another.
  private static func covers(_ range: AppVersionRange?, _ other: AppVersionRange?) -> Bool {
    guard let range else { return true }
    return other.map(range.contains) ?? false
  }

  /// Withdraws a version.
  mutating func withdraw(_ number: UInt64, of pack: PackID) {
    let offers = offers(of: pack).filter { $0.number != number }
    packs[pack] = offers.isEmpty ? nil : offers
    withdrawn[pack, default: []].insert(number)
  }

  /// Withdraws all versions of a pack.
  mutating func withdraw(_ pack: PackID) {
    withdrawn[pack, default: []].formUnion(offers(of: pack).map(\.number))
    packs[pack] = nil
  }

  /// Returns the plan without versions that the snapshot lacks.
  func restricted(to snapshot: Snapshot) -> ChannelPlan {
    var plan = ChannelPlan()
    plan.withdrawn = withdrawn
    for (pack, offers) in packs {
      let kept = offers.filter { offer in
        guard let version = snapshot.version(offer.number, of: pack) else { return false }
        return offer.catalog == nil || offer.catalog == version.catalog
      }
      if !kept.isEmpty { plan.packs[pack] = kept }
    }
    return plan
  }
}
