import PackFormats
public import PackStore

extension Store {
  /// Says what a site offers this store: of each pack the version that is for it, what its attributes say, and what it
  /// takes to fetch.
  ///
  ///     let offers = try await store.offers(at: "https://example.com/packs")
  ///     let essential = offers.packs.filter { $0.offer?.attributes.downloadPolicy.name == "essential" }
  ///
  /// The site is judged as for a pull; but nothing is pinned, and nothing is written. Whatever the number of packs, that takes
  /// three requests, and one empty answer where nothing has changed since a pull.
  ///
  /// A store draws when it first pulls whether it is among a share of all devices: until then such versions are refused as
  /// ``OfferObstacle/undrawnShare``, unless the options name a device.
  ///
  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, or the path of a folder or archive.
  ///   - options: as for a pull. Those of them that say how packs are taken or fetched mean nothing here.
  /// - Throws: as a pull would: `DeliveryError` for what the site, the network or a key is to blame for, `PackStoreError` for
  ///   the store; `CancellationError`.
  public func offers(at site: String, options: PullOptions = .init()) async throws -> SiteOffers {
    try await Store.offers(at: site, to: self, options: options)
  }

  /// The same for a store that is not there yet: the site is judged as at first contact.
  ///
  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, or the path of a folder or archive.
  ///   - options: as for a pull.
  /// - Throws: as a pull would.
  public static func offers(at site: String, options: PullOptions = .init()) async throws -> SiteOffers {
    try await offers(at: site, to: nil, options: options)
  }

  private static func offers(at site: String, to store: Store?, options: PullOptions) async throws -> SiteOffers {
    let source = try makeSource(site, options)
    do {
      let offers = try await BlockingExecutor.runAsync {
        try await OfferReader(for: store, from: source, options: options).read()
      }
      await source.close()
      return offers
    } catch {
      await source.close()
      throw error
    }
  }
}
