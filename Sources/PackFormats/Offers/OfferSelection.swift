import PackStore

/// The choice among the offers of a pack for a client at a time: the first offer that fits.
package struct OfferSelection {
  /// The first offer that fits; `nil` if none does.
  package private(set) var offer: SiteRoot.Offer?

  /// The offers before it in the order of the root, with the reason why each does not fit.
  package private(set) var refusals: [(offer: SiteRoot.Offer, obstacle: OfferObstacle)] = []

  /// - Parameters:
  ///   - entry: a pack of the root.
  ///   - firstKey: the publisher's first root key; `nil` if the root is unsigned.
  ///   - time: the time of the selection, in nanoseconds since 1970.
  ///   - platforms: returns the platforms in the attributes of an offer; empty for all.
  ///   - isCurrent: whether an offer describes the client's current version of the pack.
  ///   - hasRelease: whether the client has a release: ``InstalledReleases``.
  ///   - storeDevice: called only if a share decides and the client specifies no device; returns `nil` if the store has no id yet.
  package init(
    of entry: SiteRoot.Pack, in root: SiteRoot, signedBy firstKey: SitePublicKey?, for client: SiteClient,
    at time: Int64, platforms: (SiteRoot.Offer) -> Set<Platform>, isCurrent: (SiteRoot.Offer) -> Bool,
    hasRelease: (PackReleaseID) -> Bool = { _ in false }, storeDevice: () throws -> DeviceID?
  ) rethrows {
    for offer in entry.offers {
      let terms = OfferTerms(offer, in: root, platforms: platforms(offer), at: time)
      let version = OfferedVersion(
        pack: entry.id, number: offer.number, product: root.product, firstKey: firstKey, release: offer.release?.id)
      let hasIt = isCurrent(offer) || offer.release.map { hasRelease($0.id) } ?? false
      let obstacle = try terms.obstacle(to: client, version, isCurrent: hasIt, storeDevice: storeDevice)
      guard let obstacle else {
        self.offer = offer
        return
      }
      refusals.append((offer, obstacle))
    }
  }
}
