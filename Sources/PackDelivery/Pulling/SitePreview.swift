import PackFormats
package import PackStore

/// Versions of a site in a temporary store, without their frames: root, attributes, manifests and pages are fetched. The store
/// reports files, chunks and sizes as on the site, but contains no asset data: reading an asset is `corrupt`.
///
///     let store = try Store(at: temporaryFolder)
///     try await SitePreview(of: "https://example.com/packs").fill(store)
package struct SitePreview: Sendable {
  /// The versions of the channel to include.
  package enum Scope: Sendable {
    /// For each pack, the version that clients try first.
    case first
    /// The first one becomes the current version, the others are kept versions before it.
    case all
  }

  private let site: String
  private let options: Store.PullOptions

  /// - Parameters:
  ///   - site: as for a pull: a URL, a folder, or an archive.
  ///   - options: the channel, the trusted key, and network limits apply. No key is stored.
  package init(of site: String, options: Store.PullOptions = .init()) {
    self.site = site
    var options = options
    options.leavesOutFrames = true
    options.usesDeltas = false
    options.allowsDowngrade = true
    options.durability = .atomic
    options.keptVersionCount = 1000
    options.collectionPercent = 0
    self.options = options
  }

  /// Adds versions to an empty store.
  ///
  /// - Parameters:
  ///   - packs: by default all.
  ///   - progress: called often, on a thread that may block.
  /// - Throws: the errors of a pull.
  package func fill(
    _ store: Store, with packs: [PackID]? = nil, _ scope: Scope,
    progress: (@Sendable (Store.PullProgress) -> Void)? = nil
  ) async throws {
    let contact = try await SiteContact.open(site, packs: packs, options: options)
    do {
      try await BlockingExecutor.runAsync {
        let root = try contact.source.decodeRoot(contact.root.bytes, of: options.channel ?? .live).root
        for pack in root.packs where packs?.contains(pack.id) ?? true {
          let offers: [SiteRoot.Offer] = scope == .first ? Array(pack.offers.prefix(1)) : pack.offers
          // The first one is added last, and is current then.
          for offer in offers.reversed() {
            try await pull(offer.number, of: pack.id, into: store, contact, progress)
          }
        }
      }
    } catch {
      await contact.close()
      throw error
    }
    await contact.close()
  }

  private func pull(
    _ number: UInt64, of pack: PackID, into store: Store, _ contact: SiteContact,
    _ progress: (@Sendable (Store.PullProgress) -> Void)?
  ) async throws {
    var options = options
    options.wantedVersion = .init(number: number, isHeld: false)
    _ = try await Puller(
      into: store, from: contact.source, root: contact.root, packs: [pack], options: options, isPlan: false,
      report: progress
    ).run()
  }
}
