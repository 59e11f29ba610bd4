public import PackStore

extension ForeignArchive {
  /// The unpacked content of an archive, in a temporary folder, before it is installed.
  public struct Unpacked: Sendable {
    /// The folder to install: the whole folder, or `Contents` of an asset pack.
    public var folder: FilePath
    public var totals: Totals
    /// The manifest, if the archive is an Apple asset pack.
    public var manifest: AssetPackManifest?

    /// Returns the path under which an entry of the archive is installed; `nil` if it is not installed.
    public func installedPath(of path: String) -> String? {
      guard manifest != nil else { return path }
      // Compares bytes: a slash and a following combining mark are one character.
      let prefix = (AssetPackManifest.contents + "/").utf8
      return path.utf8.starts(with: prefix) ? String(decoding: path.utf8.dropFirst(prefix.count), as: UTF8.self) : nil
    }

    /// Returns the installed entries, by their paths in the pack.
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

  /// The result of installing an archive.
  public struct InstallResult: Sendable {
    public var install: Store.InstallResult
    public var totals: Totals
    public var manifest: AssetPackManifest?
  }

  /// Unpacks the archive into an empty folder, and returns the part to install.
  public func unpackForInstall(
    into folder: FilePath, visit: ((Entry) throws -> Void)? = nil, progress: ((Totals) -> Void)? = nil
  ) throws -> Unpacked {
    let totals = try unpack(into: folder, visit: visit, progress: progress)
    guard format == .appleArchive, let manifest = try manifest(in: folder) else {
      return Unpacked(folder: folder, totals: totals, manifest: nil)
    }
    return Unpacked(folder: folder.appending(AssetPackManifest.contents), totals: totals, manifest: manifest)
  }

  /// Returns the manifest of the unpacked archive; `nil` unless it is an asset pack: a manifest, a folder and nothing else.
  private func manifest(in folder: FilePath) throws -> AssetPackManifest? {
    // Checked without following links: a link in place of the folder could lead to any folder of this machine.
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

  /// Returns the name of the pack to make from the archive.
  ///
  /// - Parameters:
  ///   - manifest: the manifest, if the archive is an Apple asset pack.
  ///   - chosen: the name that the caller chose.
  /// - Throws: `invalidArgument` if neither the caller nor the archive specifies a name.
  public func packName(_ manifest: AssetPackManifest?, chosen: PackID? = nil) throws -> PackID {
    if let chosen { return chosen }
    guard let manifest else {
      var error = PackStoreError(.invalidArgument, "the archive does not name its pack", file: name)
      error.specificRemedy = "name the pack"
      throw error
    }
    guard let pack = try? PackID(validating: manifest.assetPackID) else {
      var error = PackStoreError(
        .invalidArgument,
        "the archive belongs to the pack '\(shown(manifest.assetPackID.utf8))', an invalid name of a pack",
        file: name)
      error.specificRemedy = "name the pack"
      throw error
    }
    return pack
  }
}

extension Store {
  /// Installs the content of an archive as the next version of a pack. If the archive is damaged, hostile, or of an unsupported
  /// kind, nothing is installed.
  ///
  /// - Parameters:
  ///   - archive: the archive. It is first unpacked into a temporary folder, which is deleted afterwards.
  ///   - pack: the pack that gets the version; `nil`: the name in an Apple asset pack.
  ///   - options: compression, layout, mapped files, skipped files, attributes: by default the attributes of Apple's asset pack.
  ///     Links are stored as links.
  ///   - temporaryFolder: a folder with space for the unpacked archive.
  ///   - unpackProgress: called on a thread of the store, after each entry and after every 256 KiB.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store.
  /// - Throws: `corrupt` and `refused` for the archive, `invalidArgument` if the pack has no name, and the errors of installing a
  ///   folder.
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
