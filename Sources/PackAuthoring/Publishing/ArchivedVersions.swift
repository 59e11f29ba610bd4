import PackFormats
import PackStore

/// Versions in archives. Their frames are copied to the site unchanged, and each is checked against its signed digest.
struct ArchivedVersions: PublicationSource {
  let product: Store.Product?
  let packs: Set<PackID>?

  private let entries: [ArchivedPacks.Entry]
  private let site: Store
  private let progress: (@Sendable (Site.PublishProgress) -> Void)?
  private let deliveries = OpenDeliveries()

  /// Discards the deliveries' data in the store after the transaction.
  private final class OpenDeliveries {
    var all: [Delivery] = []
  }

  /// - Parameter wanted: the versions; `nil` for the highest version of each pack.
  init(_ wanted: [Site.PublishedPack]?, of archives: ArchivedPacks, for publication: Publication) throws {
    site = publication.site.store
    progress = publication.progress
    product = archives.entries.first?.product
    let all = archives.entries
    let packs = Set(all.map(\.pack))
    self.packs = packs
    entries = try (wanted ?? packs.sorted().map { Site.PublishedPack($0) }).map { try Self.find($0, among: all) }
    let authorities = try Self.authorities(of: publication.folder)
    for entry in entries { try SignedArchive(at: entry.path).requireNotReplaced(by: authorities) }
  }

  private static func find(
    _ wanted: Site.PublishedPack, among entries: [ArchivedPacks.Entry]
  ) throws -> ArchivedPacks.Entry {
    let ofPack = entries.filter { $0.pack == wanted.pack }
    guard let highest = ofPack.last else {
      throw PackStoreError.noPack(wanted.pack, among: Set(entries.map(\.pack)), of: "the source")
    }
    guard let number = wanted.version else { return highest }
    guard let entry = ofPack.first(where: { $0.number == number }) else {
      throw PackStoreError(
        .notFound, "no archive contains this version (available: \(listed(ofPack.map { "\($0.number)" })))",
        about: .version(wanted.pack, number), detail: .noVersion)
    }
    return entry
  }

  /// Returns the authorities that signed the site's roots. A damaged root has none, and prevents changes of its channel.
  private static func authorities(of folder: SiteFolder) throws -> [SigningAuthority] {
    try folder.channels().compactMap { try folder.readRoot(of: $0, acceptsDamage: true)?.authority }
  }

  func close() {
    for delivery in deliveries.all { delivery.close(discarding: true) }
    deliveries.all = []
  }

  // MARK: - Content

  /// Restores lost versions of the site in the same way as all other versions.
  func stage(
    restoring missing: [SiteChange.MissingVersion], above numbers: [PackID: UInt64],
    in transaction: inout Transaction
  ) throws -> StagedVersions {
    var staged = StagedVersions()
    for entry in entries {
      let result = try stage(entry, in: &transaction)
      staged.published.append(result)
      let isRestored = missing.contains {
        $0.pack == entry.pack && $0.number == entry.number && $0.catalog == entry.catalog
      }
      if isRestored { staged.restored.append(result.version) }
    }
    return staged
  }

  private func stage(
    _ entry: ArchivedPacks.Entry, in transaction: inout Transaction
  ) throws -> Store.InstallResult {
    let archive = try SignedArchive(at: entry.path)
    guard archive.signed.digest == entry.digest else {
      throw PackStoreError(.sourceChanged, "replaced since it was opened", file: entry.path.string)
    }
    let result = try take(archive, in: &transaction)
    let priority = archive.pack.priority
    if transaction.packs.first(where: { $0.id == entry.pack })?.priority != priority {
      try transaction.setPriority(priority, of: entry.pack)
    }
    return result
  }

  private func take(_ archive: SignedArchive, in transaction: inout Transaction) throws -> Store.InstallResult {
    try Task.checkCancellation()
    let opened = try Delivery.open(
      archive.manifest, priority: archive.pack.priority, by: .ownWord, in: transaction)
    guard let delivery = opened else {
      // The version is already current.
      var copyOptions = Store.CopyOptions()
      copyOptions.isOwn = true
      return try transaction.copy(archive.pack.id, from: site.makeSnapshot(), options: copyOptions)
    }
    deliveries.all.append(delivery)
    while case .want(let want) = try delivery.next() {
      try Task.checkCancellation()
      try give(want, of: archive, to: delivery)
      let totals = delivery.totals
      if totals.isPlanned {
        progress?(.take(archive.pack.id, byteCount: totals.byteCount, totalByteCount: totals.totalByteCount))
      }
    }
    return try delivery.stage()
  }

  private func give(_ want: Want, of archive: SignedArchive, to delivery: Delivery) throws {
    let segment = archive.manifest.segments[want.segment].id
    let path: SitePath = want.isTable ? .frames(segment) : .segment(segment)
    let bytes = try archive.files.read(path, at: want.offset, byteCount: want.byteCount)
    guard case .mismatch(var error, _) = try bytes.withUnsafeBytes(delivery.give) else { return }
    error.subject = .file(archive.files.name(of: path))
    error.offset = want.offset
    error.specificRemedy = "fetch or create the archive again"
    throw error
  }
}
