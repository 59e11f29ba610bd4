public import PackStore

extension Store {
  /// A site that installed packs can be updated from.
  public struct FollowedSite: Hashable, Sendable {
    /// A URL, or the absolute path of a folder, for ``Store/pull(from:packs:options:progress:)``.
    public let location: String

    /// The channel that the store follows there.
    public let channel: SiteChannel

    /// The origin of its packs.
    public let origin: Origin

    /// The installed packs of that origin, in order of names.
    public let packs: [PackID]
  }

  /// The sites that installed packs were pulled from, in order of locations. If several sites have one origin (mirrors), only the
  /// site with the newest root is included; places from which a site moved are not. Packs that were added locally, or came from
  /// archives or unsigned sites, have none.
  ///
  /// - Throws: the errors of a pull if the records about sites cannot be read, or are damaged.
  public func followedSites() throws -> [FollowedSite] {
    let book = try TrustFile(inStore: path).read()
    let installed = Dictionary(grouping: try packs(), by: \.origin)
    let sites = installed.compactMap { origin, packs -> FollowedSite? in
      let places = book.places.filter { key, place in
        place.origin == origin && book.channel(at: key.location) == key.channel && book.moves[key.location] == nil
      }
      let newest = places.max {
        ($0.value.serial, $0.value.sequence, $0.key.location) < ($1.value.serial, $1.value.sequence, $1.key.location)
      }
      return newest.map { place in
        FollowedSite(
          location: place.key.location, channel: place.key.channel, origin: origin, packs: packs.map(\.id).sorted())
      }
    }
    return sites.sorted { $0.location < $1.location }
  }
}
