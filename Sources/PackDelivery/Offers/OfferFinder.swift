import PackFormats
import PackStore

/// Finds the offer of a site for this client: the first one that fits.
struct OfferFinder {
  let client: SiteClient
  let root: SiteRoot
  /// The publisher's first key; `nil` for an unsigned site.
  let firstKey: SitePublicKey?
  /// Returns the attributes of an offer; `nil` if it has none, or if platforms are ignored.
  let attributes: (SiteRoot.Offer) -> Attributes?
  /// The time of the selection, in nanoseconds since 1970: ``SelectionTime``.
  let time: Int64
  /// The releases that the client has; `nil` if the source has no releases.
  var installed: InstalledReleases?

  /// - Parameters:
  ///   - current: the client's version of the pack, if the pack has the site's origin.
  ///   - storeDevice: called only if a share decides; returns `nil` if the store has no id yet.
  func find(
    in entry: SiteRoot.Pack, current: PackVersion?, storeDevice: () throws -> DeviceID?
  ) throws -> OfferSelection {
    try OfferSelection(
      of: entry, in: root, signedBy: firstKey, for: client, at: time,
      platforms: { attributes($0)?.platforms ?? [] }, isCurrent: { $0.describes(current) },
      hasRelease: { installed?.contains($0) ?? false }, storeDevice: storeDevice)
  }

  /// Whether an offer applies to the client, regardless of the offers in front of it. The parameters are as in `find`.
  func applies(
    _ offer: SiteRoot.Offer, in entry: SiteRoot.Pack, current: PackVersion?, storeDevice: () throws -> DeviceID?
  ) throws -> Bool {
    var single = entry
    single.offers = [offer]
    return try find(in: single, current: current, storeDevice: storeDevice).offer != nil
  }

  /// Whether the root offers a version, and only the client's app version or platform excludes it.
  ///
  /// - Parameter kept: the version as the store keeps it, which the offer must describe; `nil` if the store does not keep it.
  func excludes(_ number: UInt64, kept: PackVersion?, in entry: SiteRoot.Pack) -> Bool {
    guard let offer = entry.offers.first(where: { $0.number == number }), kept == nil || offer.describes(kept)
    else { return false }
    let terms = OfferTerms(platforms: attributes(offer)?.platforms ?? [], appVersions: offer.appVersions)
    let version = OfferedVersion(pack: entry.id, number: offer.number, product: root.product, firstKey: firstKey)
    let obstacle = terms.obstacle(to: client, version, isCurrent: true) { nil }
    return obstacle == .platform || obstacle == .appVersion
  }
}

extension SiteRoot.Offer {
  /// Whether the offer is for this version.
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
