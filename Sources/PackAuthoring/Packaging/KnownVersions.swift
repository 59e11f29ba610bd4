package import PackFormats
import PackStore

/// The versions of packs that roots of a site offer, of which nothing else is here.
public struct KnownVersions: Hashable, Sendable {
  private struct Known: Hashable, Sendable {
    /// The one that is offered first.
    var current: SiteRoot.Offer
    var highest: UInt64
  }

  let product: Store.Product
  private var packs: [PackID: Known] = [:]

  /// - Parameter roots: whose signatures were checked; of one site. First the one whose first offer is the present version.
  package init?(_ roots: [SiteRoot]) {
    guard let product = roots.first?.product else { return nil }
    self.product = product
    for pack in roots.flatMap(\.packs) {
      let highest = pack.offers.map(\.number).max() ?? 0
      if let known = packs[pack.id] {
        packs[pack.id]?.highest = max(known.highest, highest)
      } else {
        packs[pack.id] = pack.offers.first.map { Known(current: $0, highest: highest) }
      }
    }
  }

  /// The highest number of a version of the pack; nil: there is none.
  func highest(of pack: PackID) -> UInt64? { packs[pack]?.highest }

  /// The number of the present version.
  func current(of pack: PackID) -> UInt64? { packs[pack]?.current.number }

  /// Whether the present version of its pack has the same content and says the same.
  func isCurrent(_ version: PackVersion) -> Bool {
    guard let current = packs[version.pack]?.current else { return false }
    return current.catalog == version.catalog && current.attributes == version.attributesDigest
  }
}
