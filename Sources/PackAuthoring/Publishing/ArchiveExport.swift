public import PackFormats
public import PackStore

extension Store {
  /// The result of an export to an archive.
  public struct ArchiveResult: Hashable, Codable, Sendable {
    public let version: PackVersion

    /// The root key that clients must trust.
    public let publicKey: SitePublicKey

    /// The size of the file.
    public let byteCount: Int
  }
}

extension Store {
  /// Writes one version of a pack as one file, for upload or manual transfer: a site in a tar file.
  ///
  /// During the export, a folder with `.partial` in its name exists next to the file; a crash may leave it. The complete file is
  /// written last.
  ///
  /// - Parameters:
  ///   - options: the options of a publication. The number of versions to keep is ignored.
  ///   - replacing: whether to replace an existing file. If false, an existing file is an error, `exists`.
  ///   - isDryRun: whether to create everything, and keep nothing.
  ///   - progress: called on a thread that may block.
  /// - Throws: `notFound` if the pack or version does not exist; `exists`; `CancellationError`; `invalidArgument`, `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`.
  public func export(
    _ pack: Site.PublishedPack, to file: FilePath, signedBy key: SiteKey, options: Site.PublishOptions = .init(),
    replacing: Bool = false, isDryRun: Bool = false,
    progress: (@Sendable (Site.PublishProgress) -> Void)? = nil
  ) async throws -> ArchiveResult {
    try await BlockingExecutor.run {
      var export = ArchiveExport(of: pack, from: self, file: file, isReplacing: replacing)
      export.isDryRun = isDryRun
      return try export.make(key, options, progress)
    }
  }
}

extension Store.ArchiveResult: CustomStringConvertible {
  /// A text such as `Tutorial@3 in 81920 bytes`.
  public var description: String { "\(version) in \(byteCount) bytes" }
}

/// The creation of an archive from a temporary site.
struct ArchiveExport {
  private let pack: Site.PublishedPack
  private let source: Store
  private let file: FilePath
  private let isReplacing: Bool
  private let workFolder: FilePath

  /// Whether to create everything, and keep nothing.
  var isDryRun = false

  init(of pack: Site.PublishedPack, from source: Store, file: FilePath, isReplacing: Bool) {
    self.pack = pack
    self.source = source
    self.file = file
    self.isReplacing = isReplacing
    workFolder = draftPath(nextTo: file, ending: ".partial")
  }

  func make(
    _ key: SiteKey, _ options: Site.PublishOptions, _ progress: (@Sendable (Site.PublishProgress) -> Void)?
  ) throws -> Store.ArchiveResult {
    try requireName(file)
    try makeFolder(workFolder)
    defer { removeTree(workFolder) }
    let site = try Site(at: workFolder.appending("site"))
    var publication = Publication(site: site, source: .store(source), key: key, options: options, progress: progress)
    publication.siteID = source.archiveID(of: pack.pack)
    publication.channel = key.archiveChannel
    let result = try publication.run([pack])
    let draft = FilePlace("archive", in: workFolder)
    guard let root = try site.folder.readRoot(of: key.archiveChannel)?.root else {
      preconditionFailure("a site to which something was published has a root")
    }
    let archive = try ArchiveWriter(of: site.folder, root)
    let byteCount = try isDryRun ? archive.countBytes() : archive.write(to: draft)
    if !isDryRun {
      try place(draft, at: FilePlace(file), replacing: isReplacing)
      try syncFolder(file.removingLastComponent())
    }
    return Store.ArchiveResult(
      version: result.packs[0].version, publicKey: key.rootKey, byteCount: Int(clamping: byteCount))
  }
}

extension Store {
  /// Returns an id that distinguishes archives of this store's packs from other archives.
  fileprivate func archiveID(of pack: PackID) -> SiteID {
    let digest = Digest256(hashing: Array("packstore archive".utf8) + id.id.bytes + Array(pack.name.utf8))
    return SiteID(ID128(copying: digest.bytes.prefix(ID128.byteCount)))
  }
}
