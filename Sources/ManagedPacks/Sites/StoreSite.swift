/// A site that a store pulls from.
struct StoreSite: PackSite {
  let store: Store
  let site: ManagedConfiguration.Site
  let template: Store.PullOptions
  let onFirstContact: @Sendable (String, SitePublicKey) -> Void

  var location: String { site.location }

  /// - Parameter template: what holds for every pull; the site's own settings take its place.
  init(
    _ site: ManagedConfiguration.Site, of store: Store, appVersion: AppVersion?, template: Store.PullOptions,
    onFirstContact: @escaping @Sendable (String, SitePublicKey) -> Void
  ) {
    self.store = store
    self.onFirstContact = onFirstContact
    self.site = site
    var options = template
    options.channel = site.channel
    options.trustedKey = site.trustedKey
    options.allowsUnsigned = site.allowsUnsigned
    options.appVersion = appVersion ?? options.appVersion
    self.template = options
  }

  func listing() async throws -> SiteListing {
    try await settleChannel()
    var options = template
    // Else a share of all devices would be refused until the first pull draws one.
    options.device = try options.device ?? DeviceFile(inStore: store.path).readOrMake()
    return SiteListing(try await store.offers(at: site.location, options: options))
  }

  /// Another channel is followed as a whole: the packs that are here change together, before one is pulled.
  private func settleChannel() async throws {
    guard try await store.changesChannel(at: site.location, options: template) else { return }
    var options = template
    options.onlyInstalled = true
    try await store.pull(from: site.location, options: options)
  }

  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack {
    try await settleChannel()
    var options = template
    options.pause = pause
    let result: Store.PullResult
    do {
      result = try await store.pull(from: site.location, packs: [pack], options: options, progress: progress)
    } catch let error as DeliveryError where error.code == .noPack {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.name)
    }
    if result.isFirstContact, let key = result.key { onFirstContact(site.location, key) }
    let outcome = result.packs.first { $0.pack == pack }?.outcome ?? .absent
    return PulledPack(outcome, origin: result.origin, channel: result.channel, root: result.rootNumber)
  }
}

extension SiteListing {
  fileprivate init(_ offers: Store.SiteOffers) {
    self.init(origin: offers.origin, channel: offers.channel, root: offers.rootNumber)
    isStale = offers.isStale
    primaryLanguage = offers.primaryLanguage
    packs = offers.packs.map { pack in
      Entry(
        id: pack.pack,
        offer: pack.offer.map {
          Offer(version: $0.version, attributes: $0.attributes, downloadByteCount: $0.downloadByteCount)
        })
    }
  }
}
