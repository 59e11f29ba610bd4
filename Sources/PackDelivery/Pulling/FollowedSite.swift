public import PackStore

extension Store {
  /// A site by which packs that are here can be updated.
  public struct FollowedSite: Hashable, Sendable {
    /// A URL, or the absolute path of a folder: what ``Store/pull(from:packs:options:progress:)`` takes.
    public let location: String

    /// The channel that is followed there.
    public let channel: SiteChannel

    /// By whose word its packs are changed.
    public let origin: Origin

    /// The packs of that origin that are here, in order of names.
    public let packs: [PackID]
  }

  /// The sites that packs here were pulled from, in order of locations. Where there are several of one origin, which are mirrors, it is
  /// the one whose newest root is the newest. Packs that were added here, or came from archives or sites that are not signed,
  /// have none.
  ///
  /// - Throws: what a pull throws when what is remembered of sites cannot be read, or is damaged.
  public func followedSites() throws -> [FollowedSite] {
    let book = try TrustFile(inStore: path).read()
    let installed = Dictionary(grouping: try packs(), by: \.origin)
    let sites = installed.compactMap { origin, packs -> FollowedSite? in
      let places = book.places.filter { key, place in
        place.origin == origin && book.channel(at: key.location) == key.channel
      }
      let newest = places.max { ($0.value.sequence, $0.key.location) < ($1.value.sequence, $1.key.location) }
      return newest.map { place in
        FollowedSite(
          location: place.key.location, channel: place.key.channel, origin: origin, packs: packs.map(\.id).sorted())
      }
    }
    return sites.sorted { $0.location < $1.location }
  }
}
