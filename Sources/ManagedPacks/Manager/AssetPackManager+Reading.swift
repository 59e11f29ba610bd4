extension AssetPackManager {
  /// Whether a pack is available locally as a whole. Contacts no site and reads no file: the times of the folders that contain its
  /// files show whether one was deleted. A file that was cut short is found when it is read, and by the next
  /// ``ensureLocalAvailability(of:requireLatestVersion:)``.
  public nonisolated func assetPackIsAvailableLocally(withID id: String) -> Bool {
    (try? core)?.packs.isAvailable(id) ?? false
  }

  /// The bytes of a file, mapped where they lie in one piece.
  ///
  /// Of packs that have the same path the one of highest priority wins; packs in the language that packs are read in come before
  /// those in another.
  ///
  /// - Parameters:
  ///   - path: relative to the root of the packs.
  ///   - id: the pack to look in; nil: all of them.
  ///   - options: without `mappedIfSafe` and `alwaysMapped`, a copy in memory.
  /// - Throws: ``ManagedBackgroundAssetsError``; ``ManagedPacksError`` `invalidPath`; `PackStoreError` for what the store is to
  ///   blame for.
  public nonisolated func contents(
    at path: FilePath, searchingInAssetPackWithID id: String? = nil, options: Data.ReadingOptions = .mappedIfSafe
  ) throws -> Data {
    try contents(at: path, id, options, try ownLanguage())
  }

  /// The same for a reader of a language.
  public nonisolated func contents(
    at path: FilePath, searchingInAssetPackWithID id: String? = nil, options: Data.ReadingOptions = .mappedIfSafe,
    asLocalizedFor language: Locale.Language
  ) throws -> Data {
    try contents(at: path, id, options, LanguageTag(language.minimalIdentifier))
  }

  /// Opens a file of its own with the bytes of an asset. The caller closes it.
  ///
  /// - Throws: as ``contents(at:searchingInAssetPackWithID:options:)``.
  public nonisolated func descriptor(
    for path: FilePath, searchingInAssetPackWithID id: String? = nil
  ) throws -> FileDescriptor {
    try descriptor(for: path, id, try ownLanguage())
  }

  /// The same for a reader of a language.
  public nonisolated func descriptor(
    for path: FilePath, searchingInAssetPackWithID id: String? = nil, asLocalizedFor language: Locale.Language
  ) throws -> FileDescriptor {
    try descriptor(for: path, id, LanguageTag(language.minimalIdentifier))
  }

  /// A plain file with the bytes of an asset, or a folder with all that the packs have below a path. It stays as it is until the
  /// process ends, whatever is updated or removed meanwhile.
  ///
  /// It is written the first time that it is asked for, which takes time and room: ``contents(at:searchingInAssetPackWithID:options:)``
  /// and ``descriptor(for:searchingInAssetPackWithID:)`` need neither.
  ///
  /// - Throws: as ``contents(at:searchingInAssetPackWithID:options:)``; also when nothing is there.
  public nonisolated func url(for path: FilePath) throws -> URL { try url(for: path, try ownLanguage()) }

  /// The same for a reader of a language. A folder shows what wins, whatever its language.
  public nonisolated func url(for path: FilePath, asLocalizedFor language: Locale.Language) throws -> URL {
    try url(for: path, LanguageTag(language.minimalIdentifier))
  }

  // MARK: - What is here

  /// The version of a pack that is here.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` when it is not.
  public nonisolated func localVersion(ofAssetPackWithID id: String) throws -> Int {
    Int(clamping: try localPack(id).version.number)
  }

  /// How a size is counted.
  public enum SizeCalculationMethod: Sendable {
    /// The sum of the sizes of the files.
    case logical
    /// What its files take in the store, compressed: bytes that they share, with each other or with other packs, count for each.
    case allocated
  }

  /// What a pack that is here takes, in bytes.
  ///
  /// - Throws: ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)`` when it is not here.
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

  /// What lies in a folder of all packs, or of one.
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

  /// The files of all packs, or of one, whose paths match a pattern: as in manifests, `*.m4v` takes names at any depth, and a pattern
  /// with `/` whole paths. In bytewise order of paths; of files with one path the one that wins.
  ///
  /// - Throws: `PackStoreError` `invalidArgument` for what is no pattern; ``ManagedBackgroundAssetsError/assetPackNotFound(withID:)``.
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

  /// The language that packs are read in, where any that is here has one.
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
