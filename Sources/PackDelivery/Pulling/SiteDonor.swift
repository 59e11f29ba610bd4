import PackFormats
package import PackStore
import Synchronization

/// Versions of sites, fetched into a store of their own for a repair to take chunks and pages from.
///
/// A repair compares each chunk with the SHA-256 that the damaged store names, so that nothing depends on who signed a site: no key
/// is pinned, and unsigned folders serve as well.
package final class SiteDonor: Sendable {
  private let contacts: [SiteContact]
  /// One for each site: sites may have other content under the same number, or another origin.
  private let stores: [Store]
  private let fetched = Mutex<Set<Offer>>([])
  private let channel: SiteChannel
  private let options: Store.PullOptions

  /// The folders of the fetched versions: stores to take chunks and pages from.
  package var paths: [FilePath] { stores.map(\.path) }

  /// Reads and judges the roots of all sites.
  ///
  /// - Parameters:
  ///   - sites: as for a pull: URLs, folders or archives.
  ///   - scratch: an empty folder. The caller removes it.
  ///   - authorize: returns the authorization for a site; `nil` if it needs none.
  ///   - options: of them, the channel, the trusted key, and limits of the network count.
  /// - Throws: `DeliveryError` if a site cannot be read or its root is refused.
  package static func open(
    _ sites: [String], scratch: FilePath, authorize: (String) throws -> SiteAuthorization?, options: Store.PullOptions
  ) async throws -> SiteDonor {
    var options = options
    options.allowsUnsigned = options.trustedKey == nil
    options.allowsDowngrade = true
    options.platform = nil
    options.usesDeltas = false
    options.durability = .atomic
    options.keptVersionCount = 1000
    options.collectionPercent = 0
    var contacts: [SiteContact] = []
    do {
      for site in sites {
        options.authorization = try authorize(site)
        contacts.append(try await SiteContact.open(site, packs: nil, options: options))
      }
      let stores = try sites.indices.map { try Store(at: scratch.appending("\($0)"), options: .createIfMissing) }
      return SiteDonor(contacts, stores, options)
    } catch {
      for contact in contacts { await contact.close() }
      throw error
    }
  }

  private init(_ contacts: [SiteContact], _ stores: [Store], _ options: Store.PullOptions) {
    self.contacts = contacts
    self.stores = stores
    self.options = options
    channel = options.channel ?? .live
  }

  package func close() async { for contact in contacts { await contact.close() } }

  /// A version at one of the sites.
  private struct Offer: Hashable {
    let site: Int
    let pack: PackID
    let number: UInt64
  }

  /// Fetches the lost versions that the sites offer, by number.
  ///
  /// - Returns: whether anything was fetched that had not been fetched before.
  /// - Throws: the errors of `Store.pull`.
  package func fetch(
    _ losses: [Store.RepairResult.Loss], progress: (@Sendable (Store.PullProgress) -> Void)?
  ) async throws -> Bool {
    let lost = Dictionary(grouping: losses, by: \.pack).mapValues { Set($0.compactMap(\.version)) }
    return try await fetch(progress) { pack, offers in offers.filter { lost[pack]?.contains($0) ?? false } }
  }

  /// Fetches all versions that the sites offer: any of them may share chunks with a lost version.
  ///
  /// - Returns: whether anything was fetched that had not been fetched before.
  @discardableResult
  package func fetchAll(progress: (@Sendable (Store.PullProgress) -> Void)?) async throws -> Bool {
    try await fetch(progress) { _, offers in offers }
  }

  private func fetch(
    _ progress: (@Sendable (Store.PullProgress) -> Void)?, _ choose: (PackID, [UInt64]) -> [UInt64]
  ) async throws -> Bool {
    var wanted: [Offer] = []
    for (site, contact) in contacts.enumerated() {
      let root = try contact.source.decodeRoot(contact.root.bytes, of: channel).root
      for pack in root.packs {
        wanted += choose(pack.id, pack.offers.map(\.number)).map { Offer(site: site, pack: pack.id, number: $0) }
      }
    }
    var isNew = false
    for offer in wanted where !fetched.withLock({ $0.contains(offer) }) {
      try await pull(offer, progress)
      _ = fetched.withLock { $0.insert(offer) }
      isNew = true
    }
    return isNew
  }

  private func pull(_ offer: Offer, _ progress: (@Sendable (Store.PullProgress) -> Void)?) async throws {
    var options = options
    options.adopts = true
    options.wantedVersion = .init(number: offer.number, isHeld: false)
    let contact = contacts[offer.site], store = stores[offer.site], pull = options
    try await BlockingExecutor.runAsync {
      _ = try await Puller(
        into: store, from: contact.source, root: contact.root, packs: [offer.pack], options: pull, isPlan: false,
        report: progress
      ).run()
    }
  }
}
