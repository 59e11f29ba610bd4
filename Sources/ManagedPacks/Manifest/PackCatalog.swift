/// What the sites of an app offer together: each pack by one site.
struct PackCatalog: Sendable {
  /// By site; nil where it did not answer.
  let listings: [SiteListing?]

  /// Why sites did not answer.
  let errors: [any Error]

  /// What is offered to this app, in order of ids.
  let packs: [AssetPack]

  private let byID: [String: AssetPack]
  /// What the apps of the group cannot agree on.
  let disagreements: [String: AppDisagreement]
  /// All that is listed, be it for others, and the publisher.
  private let listed: [String: Store.Origin]

  /// - Parameters:
  ///   - answers: in the configuration's order: the first site that has a pack gives it.
  ///   - localOrigin: the publisher of a pack that is here, whose site comes first for it.
  /// - Throws: the first error where no site answered.
  init(_ answers: [Result<SiteListing, any Error>], localOrigin: (PackID) -> Store.Origin?) throws {
    listings = answers.map { try? $0.get() }
    errors = answers.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    if let error = errors.first, errors.count == answers.count { throw error }
    var byID: [String: AssetPack] = [:]
    var listed: [String: Store.Origin] = [:]
    var disagreements: [String: AppDisagreement] = [:]
    for (site, listing) in listings.enumerated() {
      guard let listing else { continue }
      for entry in listing.packs {
        let earlier = listed[entry.id.name]
        guard earlier == nil || earlier != listing.origin && localOrigin(entry.id) == listing.origin else { continue }
        listed[entry.id.name] = listing.origin
        disagreements[entry.id.name] = entry.disagreement
        byID[entry.id.name] = entry.offer.map { offer in
          AssetPack(
            id: entry.id, version: offer.version, downloadByteCount: offer.downloadByteCount,
            attributes: offer.attributes,
            origin: listing.origin, site: site)
        }
      }
    }
    self.byID = byID
    self.listed = listed
    self.disagreements = disagreements
    packs = byID.values.sorted { $0.id < $1.id }
  }

  func pack(_ id: String) -> AssetPack? { byID[id] }

  /// Why there is no offer of a pack.
  func error(ofMissing id: String) -> any Error {
    disagreements[id]?.error(id) ?? ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
  }

  func isListed(_ id: String) -> Bool { listed[id] != nil }

  /// The language of packs that name none: the first site's that says one.
  var primaryLanguage: LanguageTag? { listings.lazy.compactMap { $0?.primaryLanguage }.first }

  /// The root that offers a pack.
  func source(of pack: AssetPack) -> Journal.Source? {
    guard listings.indices.contains(pack.site), let listing = listings[pack.site] else { return nil }
    return Journal.Source(origin: listing.origin, channel: listing.channel, root: listing.root)
  }

  /// The listing of a publisher's site.
  func listings(of origin: Store.Origin) -> [SiteListing] { listings.compactMap { $0 }.filter { $0.origin == origin } }
}
