import PackFormats
import PackStore

/// Finds different sites that one root key signs for the same product. Clients take them for one publisher's copies of one site: their
/// packs of the same name replace each other, and accepted versions of one site bind the other.
struct SharedKey {
  let store: FilePath

  /// Returns the location of another followed site of the same origin that is not a copy of this one; `nil` if none is known.
  ///
  /// Sites of this origin whose roots cannot be read are skipped: this is a hint, and fails no pull.
  func otherSite(than signed: SignedSiteRoot, at location: String) throws -> String? {
    guard signed.authority != nil else { return nil }
    let book = try TrustFile(inStore: store).read(), origin = Store.Origin(of: signed)
    let others = book.places.filter { place, known in
      known.origin == origin && place.location != location && book.channel(at: place.location) == place.channel
    }
    return others.keys.map { $0 }.sorted { $0.location < $1.location }.first { place in
      guard let bytes = rootBytes(of: place),
        let other = try? SignedSiteRoot(decoding: bytes, file: place.location),
        other.authority?.firstKey == signed.authority?.firstKey
      else { return false }
      return other.root.site != signed.root.site
    }?.location
  }

  /// The last root of a place: as it is remembered of a URL, or as it is in a folder.
  private func rootBytes(of place: TrustBook.PlaceKey) -> [UInt8]? {
    if let site = try? RememberedSites(inStore: store).read(place) { return site.root }
    let folder = FilePath(place.location)
    guard folder.isAbsolute else { return nil }
    return try? InputFile("\(SitePath.root(place.channel))", in: folder).contents(limit: SiteRoot.byteCountLimit)
  }
}
