extension AssetPackManager {
  /// Returns whether a pack is complete on this machine. Contacts no site and reads no file: the modification times of the folders
  /// that contain its files show whether a file was deleted. A truncated file is detected when it is read, and by the next
  /// ``ensureLocalAvailability(of:requireLatestVersion:)``.
  public nonisolated func assetPackIsAvailableLocally(withID id: String) -> Bool {
    (try? core)?.packs.isAvailable(id) ?? false
  }

  /// Returns the bytes of a file, memory-mapped if they are stored in one piece.
  ///
  /// If several packs contain the path, packs in the current language come first, then packs without a language, then packs in
  /// other languages. Among equals, the pack with the highest priority wins.
  ///
  /// - Parameters:
  ///   - path: a path relative to the root of the namespace.
  ///   - id: the pack to search; `nil` for all packs.
  ///   - options: without `mappedIfSafe` and `alwaysMapped`, the bytes are copied into memory.
  /// - Throws: ``ManagedBackgroundAssetsError``; ``ManagedPacksError`` `invalidPath`; `PackStoreError` if the store cannot be read.
  public nonisolated func contents(
    at path: FilePath, searchingInAssetPackWithID id: String? = nil, options: Data.ReadingOptions = .mappedIfSafe
  ) throws -> Data {
    try contents(at: path, id, options, try ownLanguage())
  }

  /// Returns the bytes of a file, with packs in `language` preceding packs in other languages.
  public nonisolated func contents(
    at path: FilePath, searchingInAssetPackWithID id: String? = nil, options: Data.ReadingOptions = .mappedIfSafe,
    asLocalizedFor language: Locale.Language
  ) throws -> Data {
    try contents(at: path, id, options, LanguageTag(language.minimalIdentifier))
  }

  /// Opens a private file with the bytes of an asset. The caller closes it.
  ///
  /// - Throws: the errors of ``contents(at:searchingInAssetPackWithID:options:)``.
  public nonisolated func descriptor(
    for path: FilePath, searchingInAssetPackWithID id: String? = nil
  ) throws -> FileDescriptor {
    try descriptor(for: path, id, try ownLanguage())
  }

  /// Opens a private file with the bytes of an asset, with packs in `language` preceding packs in other languages.
  public nonisolated func descriptor(
    for path: FilePath, searchingInAssetPackWithID id: String? = nil, asLocalizedFor language: Locale.Language
  ) throws -> FileDescriptor {
    try descriptor(for: path, id, LanguageTag(language.minimalIdentifier))
  }

  /// Returns the URL of a plain file with the bytes of an asset, or of a folder with the files that all packs have below a path.
  /// Its content does not change until the process ends, even if packs are updated or removed.
  ///
  /// The first request writes the file, which takes time and disk space. ``contents(at:searchingInAssetPackWithID:options:)`` and
  /// ``descriptor(for:searchingInAssetPackWithID:)`` need neither.
  ///
  /// - Throws: the errors of ``contents(at:searchingInAssetPackWithID:options:)``, also if nothing exists at the path.
  public nonisolated func url(for path: FilePath) throws -> URL { try url(for: path, try ownLanguage()) }

  /// Returns the URL of a plain file, with packs in `language` preceding packs in other languages. The language has no effect on
  /// folders.
  public nonisolated func url(for path: FilePath, asLocalizedFor language: Locale.Language) throws -> URL {
    try url(for: path, LanguageTag(language.minimalIdentifier))
  }

  // MARK: - Installed packs

  /// Returns the installed version of a pack.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` if the pack is not installed.
  public nonisolated func localVersion(ofAssetPackWithID id: String) throws -> Int {
    Int(clamping: try localPack(id).version.number)
  }

  /// The method of measuring a pack's size.
  public enum SizeCalculationMethod: Sendable {
    /// The sum of the file sizes.
    case logical
    /// The sum of the files' compressed sizes in the store. Data that several files or packs share counts for each of them.
    case allocated
  }

  /// Returns the size of an installed pack in bytes.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` if the pack is not installed.
  public func localSize(
    ofAssetPackWithID id: String, calculationMethod: SizeCalculationMethod
  ) async throws -> Int64 {
    let pack = try localPack(id)
    guard calculationMethod == .allocated else { return Int64(pack.version.byteCount) }
    let store = try core.store
    return try await BlockingExecutor.run {
      var byteCount: Int64 = 0
      try store.makeSnapshot().forEachAsset(pack: pack.id, depth: .descendants) { asset in
        if asset.kind == .file { byteCount = byteCount.addingClamped(Int64(try asset.storage().storedByteCount)) }
      }
      return byteCount
    }
  }

  /// Returns the entries of a folder, in all packs or in one.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/fileNotFound(at:)`` if the folder does not exist.
  public nonisolated func entries(
    in folder: FilePath = "", searchingInAssetPackWithID id: String? = nil, depth: Snapshot.Depth = .children
  ) throws -> [Snapshot.Entry] {
    let name = folder.isEmpty ? "" : try namespacePath(folder)
    do {
      return try core.store.makeSnapshot().entries(in: name, pack: try id.map { try localPack($0).id }, depth: depth)
    } catch let error as PackStoreError where error.code == .notFound {
      throw ManagedBackgroundAssetsError.fileNotFound(at: folder)
    }
  }

  /// Returns the files of all packs, or of one, whose paths match a pattern. As in manifests, `*.m4v` matches names
  /// at any depth, and a pattern with `/` matches whole paths. The result is sorted bytewise by path; if several packs contain a
  /// path, the file of the pack that takes precedence is returned.
  ///
  /// - Throws: `PackStoreError` `invalidArgument` for an invalid pattern;
  ///   ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
  /// - Complexity: O(*n*) in the files of the packs.
  public nonisolated func files(
    matching pattern: String, searchingInAssetPackWithID id: String? = nil
  ) throws -> [Snapshot.Entry] {
    let pattern = try PathPattern(pattern), pack = try id.map { try localPack($0).id }
    var files: [Snapshot.Entry] = []
    try core.store.makeSnapshot().forEachAsset(pack: pack, depth: .descendants) { asset in
      if asset.kind == .file, pattern.matches(asset.path) { files.append(asset.entry) }
    }
    return files
  }

  nonisolated func localPack(_ id: String) throws -> Store.Pack {
    guard let pack = try core.packs.current().packs[id]?.pack else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    }
    return pack
  }

  // MARK: - By language

  /// The language in which packs are read; `nil` if no installed pack has a language.
  private nonisolated func ownLanguage() throws -> LanguageTag? {
    let core = try core, contents = try core.packs.current()
    guard contents.hasLanguages else { return nil }
    return LanguageMatcher(
      available: contents.order.compactMap(\.language), primary: core.knownCatalog?.primaryLanguage
    )
    .resolve(preferred: core.preferredTags())
  }

  private nonisolated func contents(
    at path: FilePath, _ id: String?, _ options: Data.ReadingOptions, _ language: LanguageTag?
  ) throws -> Data {
    try core.reader.read(path, inPack: id, language: language) { snapshot, name, pack in
      let asset = try snapshot.asset(name, pack: pack)
      let isMapped = options.contains(.mappedIfSafe) || options.contains(.alwaysMapped)
      return isMapped ? try asset.contents() : try asset.contents(range: 0..<asset.byteCount)
    }
  }

  private nonisolated func descriptor(for path: FilePath, _ id: String?, _ language: LanguageTag?) throws
    -> FileDescriptor
  {
    try core.reader.read(path, inPack: id, language: language) { snapshot, name, pack in
      try snapshot.openDescriptor(of: name, pack: pack)
    }
  }

  private nonisolated func url(for path: FilePath, _ language: LanguageTag?) throws -> URL {
    let core = try core
    let found = try core.reader.read(path, inPack: nil, language: language) { snapshot, name, pack in
      let isFolder = try snapshot.asset(name).kind == .folder
      return try core.viewFolder().path(of: name, pack: isFolder ? nil : pack, in: snapshot)
    }
    return URL(fileURLWithPath: found.string)
  }
}
