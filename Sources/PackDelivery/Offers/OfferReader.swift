import PackFormats
import PackStore

/// Reads a site's offers: root, trust, attributes. Writes nothing.
///
/// Runs on a thread that may block.
final class OfferReader {
  private let store: Store?
  private let source: any SiteSource
  private let options: Store.PullOptions
  private let reader: SiteReader
  private var result = Store.SiteOffers()
  /// The date of the newest root accepted at the place, in nanoseconds since 1970.
  private var acceptedAt: Int64 = 0

  /// - Parameter store: the store; `nil`: the site is judged as at first contact.
  init(for store: Store?, from source: any SiteSource, options: Store.PullOptions) {
    self.store = store
    self.source = source
    self.options = options
    reader = SiteReader(
      source, within: MetadataBudget(of: options, for: source), memory: store.map { RememberedSites(inStore: $0.path) })
  }

  /// Reads the root again if the site has changed since.
  func read() async throws -> Store.SiteOffers {
    let book = try store.map { try TrustFile(inStore: $0.path).read() } ?? TrustBook()
    let channel = options.channel ?? book.channel(at: source.location)
    try await source.readFromRoot {
      try await readRoot(of: channel, book)
    } _: { root, _ in
      result.packs = result.isStale ? [] : try await packs(of: root)
    }
    result.wireByteCount = reader.tally.byteCount
    result.requestCount = reader.tally.requestCount
    return result
  }

  /// Judges a root as a pull would, without pinning.
  private func readRoot(of channel: SiteChannel, _ book: TrustBook) async throws -> SignedSiteRoot {
    let policy = TrustPolicy(options), place = source.rootPlace(of: channel), now = options.now
    let (signed, verdict) = try await reader.readRoot(of: channel) { claims in
      var judging = book
      let verdict = try judging.admit(claims, at: place, policy, now: now)
      acceptedAt = max(claims.madeAt, judging.newestDate(at: place) ?? claims.madeAt)
      return verdict
    }
    let root = signed.root
    result.isStale = if case .stale = verdict { true } else { false }
    if !result.isStale { try source.requireOpen(root) }
    result.key = signed.rootKey
    result.origin = Store.Origin(of: signed)
    result.isFirstContact = try verdict == .pinned || isUntried(signed)
    result.channel = source.isArchive ? nil : channel
    result.primaryLanguage = root.primaryLanguage
    result.rootNumber = RootNumber(signed)
    result.siteID = "\(root.site)"
    result.madeAt = Date(timeIntervalSince1970: Double(root.madeAt) / 1e9)
    result.expiresAt = root.expiresAt.map { Date(timeIntervalSince1970: Double($0) / 1e9) }
    return signed
  }

  /// Whether the store never accepted anything from the root's origin, and the caller does not vouch for its key.
  private func isUntried(_ root: SignedSiteRoot) throws -> Bool {
    guard root.authority != nil, options.trustedKey == nil else { return false }
    return try store.map { try !$0.makeSnapshot().origins.contains(result.origin) } ?? true
  }

  // MARK: - Packs

  private func packs(of signed: SignedSiteRoot) async throws -> [Store.SiteOffers.Pack] {
    let root = signed.root
    try await reader.readAttributes(root.packs.flatMap(\.offers).compactMap(\.attributes), in: root)
    let snapshot = try store?.makeSnapshot()
    let device = try store.flatMap { try DeviceFile(inStore: $0.path).read() }
    let time = SelectionTime(acceptedAt: acceptedAt, clock: options.now, answeredAt: reader.answeredAt)
    let installed = InstalledPacks(of: snapshot, from: result.origin)
    var finder = OfferFinder(
      client: SiteClient(options), root: root, firstKey: signed.authority?.firstKey, attributes: reader.attributes,
      time: time.nanoseconds)
    if !source.isArchive { finder.installed = installed.releases(of: root) }
    let selections = try root.packs.map { entry in
      try finder.find(in: entry, current: installed.current[entry.id]) { device }
    }
    let blocked = source.isArchive ? [:] : try installed.blocked(by: selections, of: root, finder) { device }
    return try zip(root.packs, selections).map { entry, found in
      let pack = installed.packs[entry.id], current = installed.current[entry.id]
      return Store.SiteOffers.Pack(
        pack: entry.id, priority: entry.priority,
        offer: try found.offer.map { try offer($0, primaryLanguage: root.primaryLanguage) },
        refusals: found.refusals.map { .init(version: $0.offer.number, obstacle: $0.obstacle) },
        currentVersion: current?.number,
        withheld: withheld(
          found, pack, blockingPack: blocked[entry.id], newest: source.isArchive ? nil : root.highest[entry.id]?.number)
      )
    }
  }

  /// Returns the newest version, if a pull would not install it.
  private func withheld(
    _ found: OfferSelection, _ pack: Store.Pack?, blockingPack: PackID?, newest: UInt64?
  ) -> WithheldVersion? {
    guard let newest else { return nil }
    if let pack, pack.origin != result.origin { return WithheldVersion(newest, .otherOrigin) }
    guard pack?.version.number ?? 0 < newest else { return nil }
    if pack?.isHeld == true { return WithheldVersion(newest, .held) }
    if let blockingPack, found.offer?.number == newest {
      return WithheldVersion(newest, .releaseIncomplete, blockingPack: blockingPack)
    }
    return found.withheld(newest: newest)
  }

  private func offer(
    _ offer: SiteRoot.Offer, primaryLanguage: LanguageTag?
  ) throws -> Store.SiteOffers.Offer {
    let attributes = try reader.attributes(of: offer) ?? Attributes()
    return Store.SiteOffers.Offer(
      version: offer.number, attributes: attributes, language: attributes.language ?? primaryLanguage,
      appVersions: offer.appVersions, downloadByteCount: Int(clamping: offer.downloadByteCount))
  }
}
