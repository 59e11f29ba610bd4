public import PackFormats
public import PackStore

/// A folder that delivers packs to clients, through any web server or directly. It is a store that is optimized for small
/// downloads, with additional signed files.
///
///     let site = try Site(at: "public/packs")
///     let (key, _) = try SiteKey.readOrMakeRelease("site.key")
///     try await site.publish(from: store, signedBy: key)
///
/// - Each channel has one root, which lists everything that its clients see. It is replaced atomically: clients see the old or the
///   new state, even if the publisher crashes.
/// - Only the owner of the key decides which versions clients accept; the folder may be on any server.
/// - Any number of processes may publish to a site. They wait for each other.
public final class Site: Sendable {
  /// The directory, as passed by the caller.
  public var path: FilePath { store.path }

  /// The site's store, for reading.
  public let store: Store

  let folder: SiteFolder

  /// Opens the site in the directory `path`, or creates one there.
  ///
  /// - Throws: `notAStore` if the directory contains other files, or a store that is not a site; the errors of `Store(at:)`.
  public convenience init(at path: FilePath) throws { try self.init(SiteFolder(path: path)) }

  init(store: Store, folder: SiteFolder) {
    self.store = store
    self.folder = folder
  }

  init(_ folder: SiteFolder) throws {
    let path = folder.path
    try folder.requireNoMirror()
    let isNew = !pathExists(path)
    store = try Store(at: path)
    if isNew { makeReadable(folder: path) }
    self.folder = folder
    let snapshot = try store.makeSnapshot()
    if try !folder.isSite, !snapshot.isSite {
      guard snapshot.packs.isEmpty, snapshot.removedPacks.isEmpty else {
        var error = PackStoreError(.notAStore, "a store, not a site", about: .site(path.string))
        error.specificRemedy = "name another folder for the site"
        throw error
      }
      // A failed installation in this folder may have left its records.
      for name in InstallLog.fileNames { try removeFile(FilePlace(name, in: path)) }
      try folder.makeFolders()
    }
  }

  /// Opens the existing site in the directory `path`.
  ///
  /// - Throws: `notAStore` if the directory contains other files, or does not exist; the errors of `Store(at:)`.
  public convenience init(existingAt path: FilePath) throws {
    guard Self.exists(at: path) else {
      throw PackStoreError(.notAStore, "not a site", about: .site(path.string), detail: .noControlFile)
    }
    try self.init(at: path)
  }

  /// Opens the copy of a served site that a publisher continues from.
  package convenience init(servedCopyAt path: FilePath) throws {
    var folder = SiteFolder(path: path)
    folder.isServedCopy = true
    try self.init(folder)
  }

  /// Opens a publisher's copy of a site, or creates one.
  ///
  /// - Parameter elsewhere: the files of the served site. Its frame tables, change lists, deltas and data segments need not be in
  ///   the copy.
  package convenience init(copyAt path: FilePath, elsewhere: Set<SitePath>) throws {
    var folder = SiteFolder(path: path)
    folder.elsewhere = elsewhere
    try self.init(folder)
  }

  /// Deletes a site that was created for a publication that then failed. Does not delete a site with a root, or a site to which
  /// another process is publishing.
  package static func removeUnused(at path: FilePath) {
    let folder = SiteFolder(path: path)
    guard let lock = try? folder.lock(waits: false), (try? folder.channels().isEmpty) == true else { return }
    for name in [SitePath.rootFolder] + SitePath.folders { try? removeEmptyFolder(FilePlace(name, in: path)) }
    try? removeFile(folder.lockFile)
    Store.removeUnused(at: path)
    withExtendedLifetime(lock) {}
  }

  /// Publishes versions of packs: they become current on the site.
  ///
  /// Only data that the site lacks is encoded and written. An older version than the site's current version also becomes current,
  /// and clients go back to it. Other packs are not changed. If nothing changed, nothing is written.
  ///
  /// - Parameters:
  ///   - packs: by default the current versions of all packs of a store, the pack of a manifest, or for archives the highest
  ///     version of each pack.
  ///   - source: the source of these versions.
  ///   - key: the key that signed the site before.
  ///   - options: compression, deltas, expiry and the product.
  ///   - isDryRun: whether to report the result without the publisher's lock. Data that the site lacks is still encoded, in
  ///     temporary files of the site's store, and discarded. Deltas are not reported.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` if the source lacks a pack or version; `untrusted` if the site is signed by another key, or an archive by
  ///   a replaced key; `refused` for a manifest with errors, or if more packs would be withdrawn than allowed; `exists` if the site
  ///   has another version with the same number; `held`; `busy`; `CancellationError`; `invalidArgument`; `noSpace`, `ioError`,
  ///   `outOfMemory`, `corrupt`. The site is then unchanged, except that it offers the published versions after a cancellation
  ///   during the building of deltas. A delta that cannot be built is not an error.
  @discardableResult
  public func publish(
    _ packs: [PublishedPack]? = nil, from source: Source, signedBy key: SiteKey, options: PublishOptions = .init(),
    isDryRun: Bool = false, progress: (@Sendable (PublishProgress) -> Void)? = nil
  ) async throws -> PublishResult {
    try await BlockingExecutor.run {
      var publication = Publication(site: self, source: source, key: key, options: options, progress: progress)
      publication.isDryRun = isDryRun
      return try publication.run(packs)
    }
  }

  /// Publishes versions of a store.
  @discardableResult
  public func publish(
    _ packs: [PublishedPack]? = nil, from store: Store, signedBy key: SiteKey, options: PublishOptions = .init(),
    isDryRun: Bool = false, progress: (@Sendable (PublishProgress) -> Void)? = nil
  ) async throws -> PublishResult {
    try await publish(
      packs, from: .store(store), signedBy: key, options: options, isDryRun: isDryRun, progress: progress)
  }
}
