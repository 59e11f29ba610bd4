import PackFormats
import PackStore

/// What a channel of a site is to offer: which versions of each pack, and for which devices, in the order in which clients
/// try them.
struct ChannelPlan: Hashable {
  struct Offer: Hashable {
    var number: UInt64

    /// What the version holds; nil: what it holds in the site's store.
    var catalog: CatalogID?

    /// Of 10,000 devices.
    var share = OfferTerms.everyDevice

    /// Nil: all.
    var appVersions: AppVersionRange?

    fileprivate var withoutContent: Offer { Offer(number: number, share: share, appVersions: appVersions) }
  }

  /// None is empty.
  private(set) var packs: [PackID: [Offer]] = [:]

  /// Versions whose offers were taken away, and those that had to give way to a lower one or were halted, by their numbers: they
  /// are in the middle of no chain of deltas any more. Others were followed by something newer.
  private(set) var withdrawn: [PackID: Set<UInt64>] = [:]

  init() {}

  /// What a root says.
  init(_ root: SiteRoot) {
    for pack in root.packs {
      packs[pack.id] = pack.offers.map {
        Offer(number: $0.number, catalog: $0.catalog, share: $0.share, appVersions: $0.appVersions)
      }
    }
  }

  func offers(of pack: PackID) -> [Offer] { packs[pack] ?? [] }

  func offers(_ number: UInt64, of pack: PackID) -> Bool { offers(of: pack).contains { $0.number == number } }

  /// Whether both offer the same versions to the same devices, of whatever content.
  func saysTheSame(as other: ChannelPlan) -> Bool {
    Set(packs.keys) == Set(other.packs.keys) && packs.keys.allSatisfy { saysTheSame(as: other, of: $0) }
  }

  /// The same of one pack.
  func saysTheSame(as other: ChannelPlan, of pack: PackID) -> Bool {
    offers(of: pack).map(\.withoutContent) == other.offers(of: pack).map(\.withoutContent)
  }

  /// A higher version that is offered to devices that a new offer is for as well.
  func higherOffer(than offer: Offer, of pack: PackID) -> Offer? {
    offers(of: pack).first { other in
      other.number > offer.number && AppVersionRange.overlap(other.appVersions, offer.appVersions)
    }
  }

  // MARK: - Changes

  /// Offers a version.
  ///
  /// One that is for all devices comes first, and takes the place of those that it covers: every client that one of them
  /// fits, it fits as well. One for a share of devices stays where it is, or comes first if it is new; what is behind it is
  /// for the other devices.
  ///
  /// - Parameter platforms: those that a version is for; empty: all.
  mutating func offer(_ offer: Offer, of pack: PackID, platforms: (UInt64) throws -> Set<Platform>) rethrows {
    var offers = offers(of: pack)
    let place = offers.firstIndex { $0.number == offer.number }
    if let place, offer.share < OfferTerms.everyDevice {
      offers[place] = offer
    } else {
      if let place { offers.remove(at: place) }
      if offer.share == OfferTerms.everyDevice {
        let covered = try covered(by: offer, among: offers, platforms)
        offers.removeAll { covered.contains($0) }
        let gone = covered.filter { $0.number > offer.number || $0.share == 0 }
        withdrawn[pack, default: []].formUnion(gone.map(\.number))
      }
      offers.insert(offer, at: 0)
    }
    withdrawn[pack]?.remove(offer.number)
    packs[pack] = offers
  }

  /// Those that fit no client that another one does not fit as well.
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

  /// Whether one range has every version of the app that another has.
  private static func covers(_ range: AppVersionRange?, _ other: AppVersionRange?) -> Bool {
    guard let range else { return true }
    return other.map(range.contains) ?? false
  }

  /// Offers a version no more.
  mutating func withdraw(_ number: UInt64, of pack: PackID) {
    let offers = offers(of: pack).filter { $0.number != number }
    packs[pack] = offers.isEmpty ? nil : offers
    withdrawn[pack, default: []].insert(number)
  }

  /// Offers no version of a pack any more.
  mutating func withdraw(_ pack: PackID) {
    withdrawn[pack, default: []].formUnion(offers(of: pack).map(\.number))
    packs[pack] = nil
  }

  /// The same, of what a generation has.
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
