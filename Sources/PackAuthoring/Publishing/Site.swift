public import PackFormats
public import PackStore

/// A folder from which any web server, or none at all, gives clients the packs of a store: a store of its own, made for
/// small downloads, with signed files beside it.
///
///     let site = try Site(at: "public/packs")
///     let (key, _) = try SiteKey.readOrMakeRelease("site.key")
///     try await site.publish(from: store, signedBy: key)
///
/// - One root names all that clients see, and is replaced as a whole: they see the site as it was, or as it is,
///   whenever they look and whatever became of the publisher.
/// - The owner of the key says what clients believe; the folder may be on any server.
/// - Any number of processes may publish to a site; one waits for the other.
public final class Site: Sendable {
  /// The directory, as it was given.
  public var path: FilePath { store.path }

  /// What the site offers, as a store: for reading.
  public let store: Store

  let folder: SiteFolder

  /// Opens the site in the directory `path`, or makes one there.
  ///
  /// - Throws: `notAStore` when the directory holds something else, be it a store that is no site; what
  ///   `Store(at:)` throws.
  public convenience init(at path: FilePath) throws { try self.init(SiteFolder(path: path)) }

  private init(_ folder: SiteFolder) throws {
    let path = folder.path
    let isNew = !pathExists(path)
    store = try Store(at: path)
    if isNew { makeReadable(folder: path) }
    self.folder = folder
    let snapshot = try store.makeSnapshot()
    if try !folder.isSite, !snapshot.isSite {
      guard snapshot.packs.isEmpty, snapshot.removedPacks.isEmpty else {
        var error = PackStoreError(.notAStore, "a store of its own, not a site", about: .site(path.string))
        error.specificRemedy = "name another folder for the site"
        throw error
      }
      // An addition that failed may have left notes.
      for name in InstallLog.fileNames { try removeFile(FilePlace(name, in: path)) }
      try folder.makeFolders()
    }
  }

  /// Opens the site in the directory `path`, which is there.
  ///
  /// - Throws: `notAStore` when the directory holds something else, or there is none; what `Store(at:)`
  ///   throws.
  public convenience init(existingAt path: FilePath) throws {
    guard Self.exists(at: path) else {
      throw PackStoreError(.notAStore, "not a site", about: .site(path.string), detail: .noControlFile)
    }
    try self.init(at: path)
  }

  /// Opens the copy of what is served that a publisher goes on from.
  package convenience init(servedCopyAt path: FilePath) throws {
    var folder = SiteFolder(path: path)
    folder.isServedCopy = true
    try self.init(folder)
  }

  /// Opens a publisher's copy of a site, or makes one.
  ///
  /// - Parameter elsewhere: the files that the site has where it is served. Of these, frame tables, change lists, deltas and
  ///   segments with data need not be in the copy.
  package convenience init(copyAt path: FilePath, elsewhere: Set<SitePath>) throws {
    var folder = SiteFolder(path: path)
    folder.elsewhere = elsewhere
    try self.init(folder)
  }

  /// Takes back a site that was made for a publication that then failed. One that has a root stays, and so does one to which
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
  /// Only what the site lacks is encoded and written. A version that is older than the site's current one becomes
  /// current all the same: clients go back to it. Packs that are not meant stay as they are. When there is nothing new,
  /// nothing is written.
  ///
  /// - Parameters:
  ///   - packs: by default the current versions of all packs of a store, the pack of a manifest, and of each pack the version
  ///     with the highest number among archives.
  ///   - source: what has these versions.
  ///   - key: the one that signed the site before.
  ///   - options: compression, deltas, expiry and the product.
  ///   - isDryRun: says what would be, and takes no publisher's lock. What the site lacks is encoded all the same, among the
  ///     temporary files of the site's store, and dropped. What is said of deltas is nothing.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` when the source has no such pack or version; `untrusted` when the site is signed by another
  ///   key, or an archive by one that was replaced; `refused` for a manifest with errors, or when more would be pruned than is
  ///   allowed; `exists` when the site has another
  ///   version of the same number; `held`; `busy`; `CancellationError`; `invalidArgument`; `noSpace`, `ioError`,
  ///   `outOfMemory`, `corrupt`. The site then shows what it showed before; but when `CancellationError` came while deltas
  ///   were made, it shows what was published. A delta that cannot be made is no error.
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

  /// The same from a store.
  @discardableResult
  public func publish(
    _ packs: [PublishedPack]? = nil, from store: Store, signedBy key: SiteKey, options: PublishOptions = .init(),
    isDryRun: Bool = false, progress: (@Sendable (PublishProgress) -> Void)? = nil
  ) async throws -> PublishResult {
    try await publish(
      packs, from: .store(store), signedBy: key, options: options, isDryRun: isDryRun, progress: progress)
  }
}
