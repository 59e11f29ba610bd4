import PackStore

/// Versions of a store. They are copied to the site, and data that the site lacks is encoded.
struct StoreVersions: PublicationSource {
  let product: Store.Product? = nil
  let packs: Set<PackID>?

  private let snapshot: Snapshot
  private let wanted: [Site.PublishedPack]
  private let site: Store
  private let options: Site.PublishOptions
  private let progress: (@Sendable (Site.PublishProgress) -> Void)?

  /// - Parameter wanted: the versions; `nil` for the current version of each pack.
  init(_ wanted: [Site.PublishedPack]?, of source: Store, for publication: Publication) throws {
    site = publication.site.store
    options = publication.options
    progress = publication.progress
    guard source.id != site.id else {
      throw PackStoreError(.invalidArgument, "cannot be published to itself", about: .store(source.path.string))
    }
    snapshot = try source.makeSnapshot()
    packs = Set(snapshot.packs.map(\.id))
    self.wanted = wanted ?? snapshot.packs.map { Site.PublishedPack($0.id) }
    try check()
  }

  private func check() throws {
    for pack in wanted {
      guard let current = snapshot.pack(pack.pack) else {
        throw PackStoreError.noPack(pack.pack, among: snapshot.packs.map(\.id))
      }
      let number = pack.version ?? current.version.number
      guard snapshot.version(number, of: pack.pack) != nil else {
        throw PackStoreError.notKept(number, of: pack.pack, among: snapshot.versions(of: pack.pack))
      }
    }
  }

  /// Copies lost versions in ascending order, so that the order in which they were current is kept.
  func stage(
    restoring missing: [SiteChange.MissingVersion], above numbers: [PackID: UInt64],
    in transaction: inout Transaction
  ) throws -> StagedVersions {
    var staged = StagedVersions()
    for lost in missing.reversed() {
      guard snapshot.version(lost.number, of: lost.pack)?.catalog == lost.catalog else { continue }
      staged.restored.append(try copy(lost.pack, lost.number, from: snapshot, to: &transaction).version)
    }
    // Versions that the site still has stay current.
    let own = try site.makeSnapshot()
    for pack in Set(staged.restored.map(\.pack)).sorted() where own.pack(pack) != nil {
      _ = try copy(pack, nil, from: own, to: &transaction)
    }
    for pack in wanted {
      staged.published.append(try copy(pack.pack, pack.version, from: snapshot, to: &transaction))
    }
    return staged
  }

  private func copy(
    _ pack: PackID, _ version: UInt64?, from snapshot: Snapshot, to transaction: inout Transaction
  ) throws -> Store.InstallResult {
    var copyOptions = Store.CopyOptions(level: options.encodingLevel, layout: options.layout ?? .random)
    copyOptions.isOwn = true
    copyOptions.avoidedSegments = options.avoidedSegments
    if let priority = snapshot.pack(pack)?.priority { copyOptions.priority = priority }
    return try transaction.copy(pack, version: version, from: snapshot, options: copyOptions) { [progress] in
      progress?(.store(pack, $0))
    }
  }
}
