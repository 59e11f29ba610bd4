/// The combined offers of an app's sites; each pack comes from one site.
struct PackCatalog: Sendable {
  /// The listings by site; `nil` for a site that did not answer.
  let listings: [SiteListing?]

  /// The errors of the sites that did not answer.
  let errors: [any Error]

  /// The packs offered to this app, sorted by id.
  let packs: [AssetPack]

  private let byID: [String: AssetPack]
  /// The packs for which no version suits all apps of the group.
  let disagreements: [String: AppDisagreement]
  /// The newest versions that updates would not install, by pack.
  let withheld: [String: WithheldVersion]
  /// The publishers of all listed packs, including packs for other apps and devices.
  private let listed: [String: Store.Origin]

  /// - Parameters:
  ///   - answers: in the order of the configuration: the first site that lists a pack offers it.
  ///   - localOrigin: the publisher of an installed pack, whose site takes precedence for that pack.
  /// - Throws: the first error if no site answered.
  init(_ answers: [Result<SiteListing, any Error>], localOrigin: (PackID) -> Store.Origin?) throws {
    listings = answers.map { try? $0.get() }
    errors = answers.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    if let error = errors.first, errors.count == answers.count { throw error }
    var byID: [String: AssetPack] = [:]
    var listed: [String: Store.Origin] = [:]
    var disagreements: [String: AppDisagreement] = [:]
    var withheld: [String: WithheldVersion] = [:]
    for (site, listing) in listings.enumerated() {
      guard let listing else { continue }
      for entry in listing.packs {
        let earlier = listed[entry.id.name], origin = entry.origin ?? listing.origin
        guard earlier == nil || earlier != origin && localOrigin(entry.id) == origin else { continue }
        listed[entry.id.name] = origin
        disagreements[entry.id.name] = entry.disagreement
        withheld[entry.id.name] = entry.withheld
        byID[entry.id.name] = entry.offer.map { offer in
          AssetPack(
            id: entry.id, version: offer.version, downloadByteCount: offer.downloadByteCount,
            attributes: offer.attributes, origin: origin, site: site)
        }
      }
    }
    self.byID = byID
    self.listed = listed
    self.disagreements = disagreements
    self.withheld = withheld
    packs = byID.values.sorted { $0.id < $1.id }
  }

  func pack(_ id: String) -> AssetPack? { byID[id] }

  /// Returns the error for a pack that is not offered.
  func error(ofMissing id: String) -> any Error {
    disagreements[id]?.error(id) ?? ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
  }

  func isListed(_ id: String) -> Bool { listed[id] != nil }

  /// The language of packs that specify none: the first language that a site specifies.
  var primaryLanguage: LanguageTag? { listings.lazy.compactMap { $0?.primaryLanguage }.first }

  /// Returns the root that offers a pack.
  func source(of pack: AssetPack) -> Journal.Source? {
    guard listings.indices.contains(pack.site), let listing = listings[pack.site] else { return nil }
    return Journal.Source(origin: pack.origin, channel: listing.channel, root: listing.root)
  }

  /// Returns the listings of a publisher's sites.
  func listings(of origin: Store.Origin) -> [SiteListing] { listings.compactMap { $0 }.filter { $0.origin == origin } }
}
