public import PackStore

extension ForeignArchive {
  /// An archive's content on the way into a store, in a folder of its own.
  public struct Unpacked: Sendable {
    /// What is installed: the folder itself, or of an asset pack its `Contents`.
    public var folder: FilePath
    public var totals: Totals
    /// Where the archive is an asset pack of Apple's.
    public var manifest: AssetPackManifest?

    /// Where an entry of the archive is installed: nil for what is not.
    public func installedPath(of path: String) -> String? {
      guard manifest != nil else { return path }
      let prefix = AssetPackManifest.contents + "/"
      return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
    }

    /// The entries that are installed, by their paths in the pack.
    ///
    /// - Parameters:
    ///   - entries: the archive's entries, as ``ForeignArchive/unpackForInstall(into:visit:progress:)`` visits them.
    ///   - rules: which files and folders are skipped; `nil` if none.
    /// - Throws: the errors of reading a file `.packignore`.
    package func installed(_ entries: [Entry], ignoring rules: IgnoreRules?) throws -> [Entry] {
      let walk = rules.map { IgnoreWalk(folder, $0) }
      return try entries.compactMap { entry in
        guard let path = installedPath(of: entry.path),
          try walk?.ignoresAny(of: path, isFolder: entry.kind == .folder) != true
        else { return nil }
        return Entry(path: path, kind: entry.kind)
      }
    }
  }

  /// What installing an archive came to.
  public struct InstallResult: Sendable {
    public var install: Store.InstallResult
    public var totals: Totals
    public var manifest: AssetPackManifest?
  }

  /// Writes what the archive holds below a folder that is empty, and says what of it is to be installed.
  public func unpackForInstall(
    into folder: FilePath, visit: ((Entry) throws -> Void)? = nil, progress: ((Totals) -> Void)? = nil
  ) throws -> Unpacked {
    let totals = try unpack(into: folder, visit: visit, progress: progress)
    guard format == .appleArchive, let manifest = try manifest(in: folder) else {
      return Unpacked(folder: folder, totals: totals, manifest: nil)
    }
    return Unpacked(folder: folder.appending(AssetPackManifest.contents), totals: totals, manifest: manifest)
  }

  /// The manifest of what was unpacked: nil when it is no asset pack, which has a manifest and a folder and nothing else.
  private func manifest(in folder: FilePath) throws -> AssetPackManifest? {
    // By the items themselves: a link in the place of the folder would lead to whatever lies on this machine.
    let items = try itemsInFolder("", of: folder)
    guard
      items.map({ String(decoding: $0.name, as: UTF8.self) }) == [AssetPackManifest.contents, AssetPackManifest.name],
      items[0].kind == .folder
    else { return nil }
    let file = try InputFile(AssetPackManifest.name, in: folder)
    let faults = ArchiveFaults(file: name)
    guard try file.byteCount <= UInt64(AssetPackManifest.byteLimit) else {
      throw faults.refused("has a \(AssetPackManifest.name) of more than 1 MiB")
    }
    return try AssetPackManifest(decoding: file.contents(limit: AssetPackManifest.byteLimit), faults)
  }

  /// The name of the pack that is made of the archive.
  ///
  /// - Parameters:
  ///   - manifest: that of an asset pack of Apple's, where the archive is one.
  ///   - chosen: what the caller wants it to be.
  /// - Throws: `invalidArgument` when neither the caller nor the archive names a pack.
  public func packName(_ manifest: AssetPackManifest?, chosen: PackID? = nil) throws -> PackID {
    if let chosen { return chosen }
    guard let manifest else {
      var error = PackStoreError(.invalidArgument, "the archive does not name its pack", file: name)
      error.specificRemedy = "name the pack"
      throw error
    }
    guard let pack = try? PackID(validating: manifest.assetPackID) else {
      var error = PackStoreError(
        .invalidArgument, "the archive belongs to the pack '\(shown(manifest.assetPackID.utf8))', an invalid name here",
        file: name)
      error.specificRemedy = "name the pack"
      throw error
    }
    return pack
  }
}

extension Store {
  /// Installs what an archive holds as the next version of a pack. Where the archive is damaged, hostile, or of a kind
  /// that is not read, nothing is installed.
  ///
  /// - Parameters:
  ///   - archive: the archive. It is unpacked first, in a folder that is gone afterwards.
  ///   - pack: the pack that gets the version; nil for the one that an asset pack of Apple's names.
  ///   - options: compression, layout, mapped files, skipped files, attributes: by default the attributes of Apple's
  ///     asset pack. Links are stored as links.
  ///   - temporaryFolder: where there is room for what the archive holds.
  ///   - unpackProgress: called on a thread of the store's, after each entry and after every 256 KiB.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store's.
  /// - Throws: `corrupt` and `refused` for the archive, `invalidArgument` when there is no name for the pack, and what
  ///   installing a folder throws.
  @discardableResult
  public func install(
    _ archive: ForeignArchive, as pack: PackID? = nil, options: InstallOptions = .init(),
    transaction transactionOptions: Transaction.Options = .init(), temporaryFolder: FilePath = "/tmp",
    unpackProgress: (@Sendable (ForeignArchive.Totals) -> Void)? = nil,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> ForeignArchive.InstallResult {
    let folder = try makeTemporaryFolder(in: temporaryFolder)
    defer { removeTree(folder) }
    let unpacked = try await BlockingExecutor.run {
      try archive.unpackForInstall(into: folder, progress: unpackProgress)
    }
    let name = try archive.packName(unpacked.manifest, chosen: pack)
    var options = options
    options.links = .store
    options.attributes = options.attributes ?? unpacked.manifest?.attributes
    let install = try await change(options: transactionOptions) { [options] transaction in
      try transaction.install(folder: unpacked.folder, as: name, options: options, progress: progress)
    }
    return .init(install: install, totals: unpacked.totals, manifest: unpacked.manifest)
  }
}
