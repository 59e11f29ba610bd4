import ArgumentParser
import PackDelivery
import PackFormats
import PackStore

struct Offers: AsyncParsableCommand, CommandWithSubject {
  static let configuration = CommandConfiguration(
    commandName: "offers",
    abstract: "List the versions that a site offers to a store.",
    discussion: """
      Lists each pack's version that a pull would install, its attributes, and its download size for an empty store. \
      REFUSED lists versions that come first in the site's order but are not for this client, with the reason: \
      platform, app version, share of devices, or a release in steps that has not reached the device, is paused or is \
      halted. NEWEST is the newest version that the channel ever offered, if a pull would not install it, with the \
      reason. A store generates its device id, which decides about shares, at its \
      first pull.

        packstore offers Packs https://example.com/packs
        packstore offers Packs public/packs --channel beta --app-version 2.1 --json

      The site is checked as for a pull, but no key is remembered and nothing is written. A missing store counts as \
      an empty one at first contact. 'packstore channels' shows the publisher's view; 'packstore pull --dry-run' \
      reports the data to download.
      """
  )

  @OptionGroup var store: StoreArgument

  @Argument(help: "The site: an http:, https: or file: URL, a folder or an archive.", completion: .directory)
  var site: String

  @OptionGroup var client: ClientOptions
  @OptionGroup(title: "Authorization") var authorization: AuthorizationOptions
  @OptionGroup(title: "Network limits") var network: NetworkOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    guard !site.isEmpty else { throw ValidationError("site missing: name a URL or a folder") }
    guard !store.store.contains("://") else { throw ValidationError("the store comes first, then the site") }
  }

  var subject: Failure.Facts { .init(store: store.store, site: withoutSecrets(site)) }

  func run() async throws {
    var options = client.options
    options.limits = network.limits
    options.environment = network.environment
    options.authorization = try authorization.authorizations(for: [site]).authorization(for: site)
    let offers =
      try await isVacant(store.store)
      ? Store.offers(at: site, options: options) : store.openForReading().offers(at: site, options: options)
    if !report.quiet { sayWarnings(about: offers) }
    let output = Output()
    if report.json {
      try output.json(OffersReport(offers))
    } else {
      try output.lines(lines(offers))
    }
    try output.flush()
  }

  // MARK: - Report

  private func sayWarnings(about offers: Store.SiteOffers) {
    if offers.isStale {
      warn(.staleRoot, "the site's root is older than a root seen before: the mirror may be out of date")
    } else if offers.packs.isEmpty {
      warn(.emptySite, "the site has no packs")
    }
    if offers.isFirstContact, let key = offers.key {
      warn(
        .firstContact, "a pull would trust the key \(key) of this site; compare it with the publisher's key"
      )
    }
  }

  private func lines(_ offers: Store.SiteOffers) -> [String] {
    guard !offers.packs.isEmpty else { return [] }
    var table = Table(
      ("PACK", .left), ("VERSION", .right), ("HERE", .right), ("POLICY", .left), ("PLATFORMS", .left),
      ("LANGUAGE", .left), ("DOWNLOAD", .right), ("REFUSED", .left),
      ("NEWEST", .left))
    for pack in offers.packs { table.add(row(pack)) }
    return table.lines
  }

  private func row(_ pack: Store.SiteOffers.Pack) -> [String] {
    let current = pack.currentVersion.map(String.init) ?? ""
    let refused = pack.refusals.map { "\($0.version): \($0.obstacle.words)" }.joined(separator: ", ")
    let newest = pack.withheld.map { "\($0.version): \($0.words)" } ?? ""
    guard let offer = pack.offer else { return [pack.pack.name, "none", current, "", "", "", "", refused, newest] }
    let platforms = offer.attributes.platforms.sorted().map(\.rawValue).joined(separator: ",")
    return [
      pack.pack.name, String(offer.version), current, offer.attributes.downloadPolicy.name,
      platforms.isEmpty ? "all" : platforms, offer.language?.description ?? "",
      formatBytes(offer.downloadByteCount), refused, newest,
    ]
  }
}

extension OfferObstacle {
  fileprivate var words: String { WithheldReason(self).words }

  /// As JSON has it.
  fileprivate var word: String { WithheldReason(self).word }
}

private struct OffersReport: Encodable {
  struct Pack: Encodable {
    let pack: String
    let priority: Int32
    let version, current: UInt64?
    let downloadBytes: Int?
    let language, appVersions: String?
    let attributes: AttributesMembers?
    let refusals: [Refusal]
    let withheld: WithheldReport?

    init(_ pack: Store.SiteOffers.Pack) {
      self.pack = pack.pack.name
      priority = pack.priority
      version = pack.offer?.version
      current = pack.currentVersion
      downloadBytes = pack.offer?.downloadByteCount
      language = pack.offer?.language?.description
      appVersions = pack.offer?.appVersions?.description
      attributes = pack.offer.map { AttributesMembers($0.attributes) }
      refusals = pack.refusals.map { Refusal(version: $0.version, obstacle: $0.obstacle.word) }
      withheld = pack.withheld.map(WithheldReport.init)
    }
  }

  struct Refusal: Encodable {
    let version: UInt64
    let obstacle: String
  }

  let packs: [Pack]
  let key: String?
  let origin, product: String?
  let channel, primaryLanguage: String?
  let madeAt: String
  let expiresAt: String?
  let stale, firstContact: Bool
  let wireBytes, requests: Int

  init(_ offers: Store.SiteOffers) {
    packs = offers.packs.map(Pack.init)
    key = offers.key?.description
    origin = offers.origin.id
    product = offers.origin.product?.name
    channel = offers.channel?.name
    primaryLanguage = offers.primaryLanguage?.description
    madeAt = formatDate(offers.madeAt)
    expiresAt = offers.expiresAt.map(formatDate)
    stale = offers.isStale
    firstContact = offers.isFirstContact
    wireBytes = offers.wireByteCount
    requests = offers.requestCount
  }
}
