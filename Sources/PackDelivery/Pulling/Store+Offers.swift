import PackFormats
public import PackStore

extension Store {
  /// Returns the offers of a site for this store: for each pack the version for this client, its attributes, and its download size.
  ///
  ///     let offers = try await store.offers(at: "https://example.com/packs")
  ///     let essential = offers.packs.filter { $0.offer?.attributes.downloadPolicy.name == "essential" }
  ///
  /// The site is judged as for a pull, but no key is pinned and nothing is written. This takes three requests for any number of
  /// packs, or one empty answer if nothing changed since a pull.
  ///
  /// A store generates its device id at the first pull that needs it. Until then, versions for a share of devices are refused with
  /// ``OfferObstacle/undrawnShare``, unless the options contain a device.
  ///
  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, or the path of a folder or archive.
  ///   - options: as for a pull. Options about installing and fetching are ignored.
  /// - Throws: as a pull would: `DeliveryError` for faults of the site, the network or a key, `PackStoreError` for the store;
  ///   `CancellationError`.
  public func offers(at site: String, options: PullOptions = .init()) async throws -> SiteOffers {
    try await Store.offers(at: site, to: self, options: options)
  }

  /// Returns the offers for a store that does not exist yet: the site is judged as at first contact.
  ///
  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, or the path of a folder or archive.
  ///   - options: as for a pull.
  /// - Throws: as a pull would.
  public static func offers(at site: String, options: PullOptions = .init()) async throws -> SiteOffers {
    try await offers(at: site, to: nil, options: options)
  }

  /// Opens a site, or the place to which it moved according to the store's records.
  private static func source(
    of site: String, for store: Store?, _ options: PullOptions
  ) async throws -> any SiteSource {
    let source = try makeSource(site, options)
    do {
      guard let store, !source.isArchive, let move = try TrustFile(inStore: store.path).read().moves[source.location],
        let present = try source.opening(move, options)
      else { return source }
      await source.close()
      return present
    } catch {
      await source.close()
      throw error
    }
  }

  private static func offers(at site: String, to store: Store?, options: PullOptions) async throws -> SiteOffers {
    let source = try await source(of: site, for: store, options)
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
