import PackFormats
package import PackStore

/// Versions of a site in a store that was made for looking at them, without their frames: root, attributes, manifests and pages are
/// fetched, and what the store says of files, chunks and sizes is what the site has. Their bytes are not there: reading an asset
/// is `corrupt`.
///
///     let store = try Store(at: temporaryFolder)
///     try await SitePreview(of: "https://example.com/packs").fill(store)
package struct SitePreview: Sendable {
  /// Which of the versions that the channel offers.
  package enum Scope: Sendable {
    /// Of each pack the one that clients try first.
    case first
    /// The first one becomes the current version, the others are those before it.
    case all
  }

  private let site: String
  private let options: Store.PullOptions

  /// - Parameters:
  ///   - site: as for a pull: a URL, a folder, or an archive.
  ///   - options: of them, the channel, what is trusted, and limits of the network count. No key is remembered.
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

  /// Brings versions into a store that has none.
  ///
  /// - Parameters:
  ///   - packs: by default all.
  ///   - progress: called often, on a thread that may block.
  /// - Throws: what a pull throws.
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
          // The first one comes last, and is current then.
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
