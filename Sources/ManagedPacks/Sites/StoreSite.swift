/// A site from which a store pulls.
struct StoreSite: PackSite {
  let store: Store
  let site: ManagedConfiguration.Site
  let template: Store.PullOptions
  let onFirstContact: @Sendable (String, SitePublicKey) -> Void
  /// This app, if its version is known.
  let app: GroupApp?
  let otherApps: @Sendable () throws -> [GroupApp]
  let requestedPacks: @Sendable () throws -> Set<PackID>

  var location: String { site.location }

  /// - Parameters:
  ///   - template: the options of every pull; the site's own settings override them.
  ///   - otherApps: returns the other apps of the group; called whenever versions are chosen.
  ///   - requestedPacks: returns the packs with open requests: they are installed together with other packs of their releases.
  init(
    _ site: ManagedConfiguration.Site, of store: Store, app: GroupApp?, template: Store.PullOptions,
    onFirstContact: @escaping @Sendable (String, SitePublicKey) -> Void,
    otherApps: @escaping @Sendable () throws -> [GroupApp],
    requestedPacks: @escaping @Sendable () throws -> Set<PackID> = { [] }
  ) {
    self.store = store
    self.onFirstContact = onFirstContact
    self.app = app
    self.otherApps = otherApps
    self.requestedPacks = requestedPacks
    self.site = site
    var options = template
    options.channel = site.channel
    options.trustedKey = site.trustedKey
    options.allowsUnsigned = site.allowsUnsigned
    options.appVersion = app?.version ?? options.appVersion
    self.template = options
  }

  func listing() async throws -> SiteListing {
    try await settleChannel()
    let others = try otherApps()
    var options = template
    options.otherAppVersions = others.map(\.version)
    // Without an id, this device would be excluded from partial rollouts until the first pull generates one.
    options.device = try options.device ?? DeviceFile(inStore: store.path).readOrMake()
    var listing = SiteListing(try await store.offers(at: site.location, options: options))
    try await findDisagreements(in: &listing, others, options)
    return listing
  }

  /// Marks the packs that this app would be offered if the group had no other apps.
  private func findDisagreements(
    in listing: inout SiteListing, _ others: [GroupApp], _ options: Store.PullOptions
  ) async throws {
    guard let app, !others.isEmpty, listing.packs.contains(where: { $0.offer == nil }) else { return }
    var options = options
    options.otherAppVersions = []
    let alone = try await store.offers(at: site.location, options: options)
    for index in listing.packs.indices where listing.packs[index].offer == nil {
      let id = listing.packs[index].id
      guard let offer = alone.packs.first(where: { $0.pack == id })?.offer, let range = offer.appVersions,
        let other = others.first(where: { !range.contains($0.version) })
      else { continue }
      listing.packs[index].disagreement = AppDisagreement(own: app, other: other)
    }
  }

  /// Switches to another channel as a whole: all installed packs are updated together, before one is pulled.
  private func settleChannel() async throws {
    guard try await store.changesChannel(at: site.location, options: template) else { return }
    var options = template
    options.unnamedPacks = .installed
    options.wantedPacks = try requestedPacks()
    options.otherAppVersions = try otherApps().map(\.version)
    try await store.pull(from: site.location, options: options)
  }

  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack {
    try await settleChannel()
    var options = template
    options.otherAppVersions = try otherApps().map(\.version)
    options.wantedPacks = try requestedPacks()
    options.pause = pause
    let result: Store.PullResult
    do {
      result = try await store.pull(from: site.location, packs: [pack], options: options, progress: progress)
    } catch let error as DeliveryError where error.code == .noPack {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.name)
    }
    if result.isFirstContact, let key = result.key { onFirstContact(site.location, key) }
    let pulled = result.packs.first { $0.pack == pack }, outcome = pulled?.outcome ?? .absent
    if outcome == .notOffered, let disagreement = try await disagreement(about: pack) {
      throw disagreement.error(pack.name)
    }
    var answer = PulledPack(outcome, origin: result.origin, channel: result.channel, root: result.rootNumber)
    answer.blockingPack = pulled?.blockingPack
    answer.otherPacks = result.packs.filter { $0.pack != pack && [.updated, .healed].contains($0.outcome) }.map(\.pack)
    return answer
  }
}

extension StoreSite {
  fileprivate func disagreement(about pack: PackID) async throws -> AppDisagreement? {
    try await listing().packs.first { $0.id == pack }?.disagreement
  }
}

extension SiteListing {
  fileprivate init(_ offers: Store.SiteOffers) {
    self.init(origin: offers.origin, channel: offers.channel, root: offers.rootNumber)
    siteID = offers.siteID
    isStale = offers.isStale
    primaryLanguage = offers.primaryLanguage
    packs = offers.packs.map { pack in
      var entry = Entry(
        id: pack.pack,
        offer: pack.offer.map {
          Offer(version: $0.version, attributes: $0.attributes, downloadByteCount: $0.downloadByteCount)
        })
      entry.withheld = pack.withheld
      return entry
    }
  }
}
