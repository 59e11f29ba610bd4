import PackArchives
import Synchronization

/// A download manifest as a site: JSON that lists one archive for each pack, as Apple's tools write it. Each version is fetched as a
/// whole file, which continues after an interruption. The store keeps the chunks of an archive that it does not have yet.
///
/// The manifest is not signed. An archive that PackStore signed keeps its publisher in every manifest. All other archives
/// have an unsigned origin of their own for each manifest URL, and are accepted only if the app permits that.
struct DownloadManifestSite: PackSite {
  private let site: ManagedConfiguration.Site
  private let store: Store
  private let packs: LocalPacks
  /// The folder of partial downloads: ``GroupFolder/archives``.
  private let folder: FilePath
  private let template: Store.PullOptions
  private let transport: (any FileTransport)?
  private let onFirstContact: @Sendable (String, SitePublicKey) -> Void

  var location: String { site.location }

  /// - Parameters:
  ///   - template: the options of every request and installation.
  ///   - transport: fetches files; `nil` for the network.
  init(
    _ site: ManagedConfiguration.Site, of store: Store, in folder: FilePath, app: GroupApp?,
    template: Store.PullOptions, transport: (any FileTransport)?,
    onFirstContact: @escaping @Sendable (String, SitePublicKey) -> Void
  ) {
    self.site = site
    self.store = store
    packs = LocalPacks(of: store)
    self.folder = folder
    self.transport = transport
    self.onFirstContact = onFirstContact
    var options = template
    options.trustedKey = site.trustedKey
    options.allowsUnsigned = site.allowsUnsigned && site.trustedKey == nil
    options.appVersion = app?.version ?? options.appVersion
    options.channel = nil
    options.unsignedProduct = Self.product(of: site.location)
    self.template = options
  }

  /// The product of all unsigned archives that the manifest at a location lists.
  private static func product(of location: String) -> Store.Product {
    let text = location.prefix { $0 != "#" }
    let name = "url-" + Digest256(hashing: Array(text.utf8)).hex.prefix(32)
    return (try? Store.Product(name)) ?? .standard
  }

  private var origin: Store.Origin { .unsigned(template.unsignedProduct ?? .standard) }

  // MARK: - Manifest

  /// All listings of a manifest are newer than the installation of a pack from it: a manifest has no number.
  func listing() async throws -> SiteListing {
    let archives = try await archives()
    let local = try packs.current().packs
    var listing = SiteListing(origin: origin, root: RootNumber(serial: 0, sequence: 1))
    listing.packs = archives.map { archive in
      let offer = SiteListing.Offer(
        version: archive.number, attributes: archive.attributes, downloadByteCount: archive.byteCount)
      // Only the archive names its publisher, and only the publisher of an installed pack may update it.
      let known = local[archive.id.name]?.pack.origin
      return .init(id: archive.id, offer: offer, origin: known?.key == nil ? nil : known)
    }
    return listing
  }

  private func archives() async throws -> [ListedArchive] {
    try await DownloadManifestFile(location, template, transport: transport).archives()
  }

  // MARK: - Packs

  func pull(
    _ pack: PackID, pause: Store.PullPause, progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> PulledPack {
    guard let archive = try await archives().first(where: { $0.id == pack }) else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: pack.name)
    }
    if let outcome = try outcomeWithoutDownload(archive) { return outcome }
    guard let url = archive.url, FileLocation(url) != nil else {
      throw DeliveryError(
        .invalidLocation, "the download manifest lists '\(pack)' without an https URL", at: archive.url ?? location)
    }
    try makeFolder(folder, isSecret: true)
    let place = folder.appending(pack.name)
    try makeFolder(place, isSecret: true)
    let lock = try await FileLock.acquire(FilePlace(ArchiveDownload.lockName, in: place), by: template.clock)
    defer { withExtendedLifetime(lock) {} }
    // Another process may have installed the pack while this one waited for the lock.
    if let outcome = try outcomeWithoutDownload(archive) { return outcome }
    let (download, kind) = try await fetch(archive, url, in: place, pause, progress)
    let installation = ArchiveInstallation(archive, origin: origin, in: store, template)
    do {
      let pulled: PulledPack
      switch kind {
      case .pack: pulled = try await installation.installPack(download.path, onFirstContact: onFirstContact)
      case .appleArchive: pulled = try await installation.installAppleArchive(download.path, unpackingIn: place)
      }
      download.discard()
      return pulled
    } catch {
      // The same bytes would fail again.
      if ArchiveInstallation.isFaultOfArchive(error) { download.discard() }
      throw error
    }
  }

  /// Returns the result if nothing has to be fetched: the pack is complete, or stays at a version after a rollback.
  private func outcomeWithoutDownload(_ archive: ListedArchive) throws -> PulledPack? {
    guard let local = try packs.current().packs[archive.id.name]?.pack else { return nil }
    let isWhole = try packs.isWhole(archive.id.name)
    if local.isHeld, isWhole || local.version.number != archive.number {
      return PulledPack(.held, origin: local.origin)
    }
    // A manifest has no way to take a version back.
    guard isWhole, local.version.number >= archive.number else { return nil }
    let isOwn = local.origin == origin || local.origin.key != nil
    return PulledPack(isOwn ? .unchanged : .otherOrigin, origin: local.origin)
  }

  private func fetch(
    _ archive: ListedArchive, _ url: String, in place: FilePath, _ pause: Store.PullPause,
    _ progress: @escaping @Sendable (Store.PullProgress) -> Void
  ) async throws -> (ArchiveDownload, ArchiveDownload.Kind) {
    var options = template
    options.pause = pause
    let download = try ArchiveDownload(
      of: archive, in: place, permit: { [template] in try template.permitsHost?($0) },
      accept: { [template, location] kind in
        guard kind == .appleArchive, !template.allowsUnsigned else { return }
        throw Self.unsigned(archive, at: location)
      },
      record: { byteCount, total in
        var now = Store.PullProgress(phase: .fetch)
        now.pack = archive.id
        now.byteCount = byteCount
        now.totalByteCount = total
        progress(now)
      })
    if !download.isComplete {
      let transport = transport ?? fileTransport(options)
      try await unwrapped {
        try await transport.fetch(
          download.request(url, fields: template.requestFields(for: url, listedAt: location)), to: download)
      }
    }
    return (download, try await BlockingExecutor.run { try download.finish() })
  }

  private static func unsigned(_ archive: ListedArchive, at location: String) -> DeliveryError {
    var error = DeliveryError(.notSigned, "the archive of '\(archive.id)' is not signed", at: archive.url ?? location)
    error.specificRemedy =
      "set PackStoreAllowsUnsigned to true without PackStoreTrustedKey, to accept unsigned archives"
    return error
  }
}

extension ListedArchive {
  /// The number of the version in the store, whose numbers begin at 1. Apple's tool writes 0 by default.
  package var number: UInt64 { max(version, 1) }
}
