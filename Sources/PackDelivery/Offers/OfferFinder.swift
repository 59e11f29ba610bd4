import PackFormats
import PackStore

/// Finds which of a site's offers is for a client: the first one that fits.
struct OfferFinder {
  let client: SiteClient
  /// As the root says.
  let product: Store.Product
  /// The publisher's; nil: the site is not signed.
  let firstKey: SitePublicKey?
  /// Those of an offer; nil: it has none, or platforms do not count.
  let attributes: (SiteRoot.Offer) -> Attributes?

  /// What is offered of a pack; nil: nothing to this client. And the offers that come first in the root's order and are not
  /// for it.
  typealias Found = (offer: SiteRoot.Offer?, refusals: [(offer: SiteRoot.Offer, obstacle: OfferObstacle)])

  /// - Parameters:
  ///   - current: the version that the client has of the pack, if the pack is of the site's origin.
  ///   - storeDevice: asked only where a share decides; nil where the store has none yet.
  func find(
    in entry: SiteRoot.Pack, current: PackVersion?, storeDevice: () throws -> DeviceID?
  ) throws -> Found {
    var refusals: [(SiteRoot.Offer, OfferObstacle)] = []
    for offer in entry.offers {
      let terms = OfferTerms(
        platforms: attributes(offer)?.platforms ?? [], appVersions: offer.appVersions, share: offer.share)
      let version = OfferedVersion(pack: entry.id, number: offer.number, product: product, firstKey: firstKey)
      let obstacle = try terms.obstacle(
        to: client, version, isCurrent: offer.describes(current), storeDevice: storeDevice)
      guard let obstacle else { return (offer, refusals) }
      refusals.append((offer, obstacle))
    }
    return (nil, refusals)
  }

  /// Whether the root offers an installed version, and only the client's app version or platform excludes it.
  func excludes(_ installed: PackVersion, in entry: SiteRoot.Pack) -> Bool {
    guard let offer = entry.offers.first(where: { $0.describes(installed) }) else { return false }
    let terms = OfferTerms(platforms: attributes(offer)?.platforms ?? [], appVersions: offer.appVersions)
    let version = OfferedVersion(pack: entry.id, number: offer.number, product: product, firstKey: firstKey)
    let obstacle = terms.obstacle(to: client, version, isCurrent: true) { nil }
    return obstacle == .platform || obstacle == .appVersion
  }
}

extension SiteRoot.Offer {
  /// Whether it is of this version.
  func describes(_ version: PackVersion?) -> Bool {
    number == version?.number && catalog == version?.catalog && attributes == version?.attributesDigest
  }
}

extension SiteClient {
  init(_ options: Store.PullOptions) {
    self.init(
      appVersion: options.appVersion, otherAppVersions: options.otherAppVersions, platform: options.platform,
      device: options.device)
  }
}
