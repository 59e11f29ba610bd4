package import PackFormats
import PackStore

/// The versions of packs that a site's roots offer, for use without the site's other files.
public struct PublishedVersionIndex: Hashable, Sendable {
  let product: Store.Product

  /// The first offer of each pack.
  private var current: [PackID: SiteRoot.Offer] = [:]

  /// The highest number of each pack that any channel ever offered.
  private var highest: [PackID: UInt64] = [:]

  /// - Parameter roots: verified roots of one site, beginning with the root whose first offer is the current version.
  package init?(_ roots: [SiteRoot]) {
    guard let product = roots.first?.product else { return nil }
    self.product = product
    for root in roots {
      highest.merge(root.highest.mapValues(\.number)) { max($0, $1) }
      for pack in root.packs where current[pack.id] == nil { current[pack.id] = pack.offers.first }
    }
  }

  /// Returns the highest number of the pack that any channel ever offered; `nil` if the pack was never offered.
  func highest(of pack: PackID) -> UInt64? { highest[pack] }

  /// Returns the number of the current version.
  func current(of pack: PackID) -> UInt64? { current[pack]?.number }

  /// Whether the current version of the pack has the same content and attributes.
  func isCurrent(_ version: PackVersion) -> Bool {
    guard let current = current[version.pack] else { return false }
    return current.catalog == version.catalog && current.attributes == version.attributesDigest
  }
}
