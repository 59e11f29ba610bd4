import PackFormats
package import PackStore

/// Versions of sites, fetched into a store of their own for a repair to take chunks and pages from.
///
/// A repair compares each chunk with the SHA-256 that the damaged store names, so that nothing depends on who signed a site: no key
/// is pinned, and unsigned folders serve as well.
package final class SiteDonor: Sendable {
  private let contacts: [SiteContact]
  private let channel: SiteChannel
  private let options: Store.PullOptions
  private let store: Store

  /// Where the fetched versions are.
  package var path: FilePath { store.path }

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
      return SiteDonor(contacts, try Store(at: scratch, options: .createIfMissing), options)
    } catch {
      for contact in contacts { await contact.close() }
      throw error
    }
  }

  private init(_ contacts: [SiteContact], _ store: Store, _ options: Store.PullOptions) {
    self.contacts = contacts
    self.store = store
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

  /// Fetches the lost versions of each pack that the sites offer by number; also all other versions of the pack if one is not offered,
  /// because they may share chunks with it.
  ///
  /// - Returns: whether anything was fetched that had not been fetched before.
  /// - Throws: the errors of `Store.pull`.
  package func fetch(
    _ losses: [Store.RepairResult.Loss], progress: (@Sendable (Store.PullProgress) -> Void)?
  ) async throws -> Bool {
    let lost = Dictionary(grouping: losses, by: \.pack).mapValues { Set($0.compactMap(\.version)) }
    return try await fetch(progress) { pack, offers in
      guard let numbers = lost[pack] else { return [] }
      let named = offers.filter { numbers.contains($0) }
      return named.isEmpty || named.count < numbers.count ? offers : named
    }
  }

  /// Fetches all versions that the sites offer.
  package func fetchAll(progress: (@Sendable (Store.PullProgress) -> Void)?) async throws {
    _ = try await fetch(progress) { _, offers in offers }
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
    for offer in wanted where try !has(offer) {
      try await pull(offer, progress)
      isNew = true
    }
    return isNew
  }

  private func has(_ offer: Offer) throws -> Bool {
    try store.read { snapshot in snapshot.version(offer.number, of: offer.pack) != nil }
  }

  private func pull(_ offer: Offer, _ progress: (@Sendable (Store.PullProgress) -> Void)?) async throws {
    var options = options
    options.adopts = true
    options.wantedVersion = .init(number: offer.number, isHeld: false)
    let contact = contacts[offer.site], pull = options
    try await BlockingExecutor.runAsync {
      _ = try await Puller(
        into: self.store, from: contact.source, root: contact.root, packs: [offer.pack], options: pull, isPlan: false,
        report: progress
      ).run()
    }
  }
}
