import PackStore

/// The releases of a root that a client has: a member is the current version of its pack, and each installed pack with a member has
/// the member, or an offer in front of it. A halt does not divide such a release.
package struct InstalledReleases: Sendable {
  private var ids: Set<PackReleaseID> = []

  /// - Parameters:
  ///   - isInstalled: whether the client has a pack, of any version, from the root's publisher.
  ///   - isCurrent: whether an offer describes the client's current version of the pack.
  package init(
    in root: SiteRoot, isInstalled: (PackID) -> Bool, isCurrent: (SiteRoot.Pack, SiteRoot.Offer) -> Bool
  ) {
    guard root.hasReleases else { return }
    var incomplete: Set<PackReleaseID> = []
    for pack in root.packs where pack.offers.contains(where: { $0.release != nil }) && isInstalled(pack.id) {
      let current = pack.offers.firstIndex { isCurrent(pack, $0) }
      for (index, offer) in pack.offers.enumerated() {
        guard let id = offer.release?.id else { continue }
        if index == current { ids.insert(id) } else if current ?? .max > index { incomplete.insert(id) }
      }
    }
    ids.subtract(incomplete)
  }

  package func contains(_ id: PackReleaseID) -> Bool { ids.contains(id) }
}
