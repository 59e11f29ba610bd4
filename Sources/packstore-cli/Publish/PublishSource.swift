import PackAuthoring
import PackFormats
import PackStore

/// The kind of a publication's source.
enum PublishSource {
  case store(Store)
  case manifest(ManifestEvaluation)
  case archives([FilePath])

  /// Finds the kind of the source, and shows the problems of a manifest.
  init(_ name: String, _ report: ReportOptions) throws {
    let path = FilePath(name)
    if isFolder(path) {
      self = try Self.folder(name)
    } else if name.hasSuffix(".json") {
      self = .manifest(try evaluateManifest(name, report))
    } else if pathExists(path) {
      self = .archives([try Self.archive(name)])
    } else {
      self = .store(try openStore(at: name, options: .readOnly))  // reports the missing store
    }
  }

  private static func folder(_ name: String) throws -> Self {
    do {
      return .store(try openStore(at: name, options: .readOnly))
    } catch let error as PackStoreError where error.code == .notAStore {
      // A store that lost a part is not a folder of archives.
      guard try !namesInFolder(FilePath(name)).contains("segments") else { throw error }
      let archives = try ArchivedPacks.paths(inFolder: FilePath(name))
      guard archives.isEmpty else { return .archives(archives) }
      throw Failure(
        .notAStore, "'\(escaped(name))': neither a store nor a folder of archives",
        remedy: "name a store, or a folder of files that end in '.pack'", path: name)
    }
  }

  private static func archive(_ name: String) throws -> FilePath {
    let isOtherTar = try PackFileKind(FilePath(name)) == .archive && !isPackArchive(FilePath(name))
    guard PackFileKind(FilePath(name)) == .archive, !isOtherTar else {
      throw Failure(
        .wrongKind, "'\(escaped(name))': neither a manifest (.json) nor an archive of a pack",
        remedy:
          "name a store, or a file created by 'packstore package'; 'packstore import' installs other archives into a store",
        path: name)
    }
    return FilePath(name)
  }

  /// Fails when an option means nothing for such a source.
  func check(_ command: Publish) throws {
    let encoding: [(isGiven: Bool, name: String)] = [
      (command.encoding.level != nil, "--level"), (command.encoding.layout != nil, "--layout"),
    ]
    let numbering: [(isGiven: Bool, name: String)] = [
      (command.version != nil, "--version"), (command.encoding.label != nil, "--label"),
      (command.encoding.publishNotes, "--publish-notes"),
    ]
    let pruning: [(isGiven: Bool, name: String)] = [(command.prune, "--prune")]
    switch self {
    case .manifest: try refuse(pruning, of: command, "a manifest, which describes one pack")
    case .store: try refuse(numbering, of: command, "a store, whose versions already have numbers and labels")
    case .archives:
      try refuse(encoding + numbering, of: command, "archives, which are published unchanged")
      guard isFolder(FilePath(command.source)) else {
        return try refuse(pruning, of: command, "one archive, which contains one pack")
      }
    }
  }

  /// Fails for a store without packs, which is usually another store than the user meant.
  ///
  /// - Parameter makesSite: whether the site is new. On another one, `--prune` has its own limit.
  func requirePacks(_ command: Publish, makesSite: Bool) throws {
    guard case .store(let store) = self, !command.allowEmpty, command.packs.isEmpty, makesSite || !command.prune,
      try store.packs().isEmpty
    else { return }
    throw Failure(
      .refused, "'\(escaped(command.source))': the store has no packs",
      remedy: "add packs first, or publish without packs with --allow-empty", path: command.source)
  }

  private func refuse(
    _ options: [(isGiven: Bool, name: String)], of command: Publish, _ reason: String
  ) throws {
    guard let option = options.first(where: \.isGiven) else { return }
    throw Failure(
      .usage, "\(option.name): does not apply to '\(escaped(command.source))', \(reason)", remedy: "leave it out",
      path: command.source)
  }

  /// Which version of a pack is meant.
  func publishedPack(_ name: VersionName) throws -> Site.PublishedPack {
    if case .store(let store) = self { return try name.publishedPack(in: store.makeSnapshot()) }
    switch name.which {
    case .number(let number): return Site.PublishedPack(name.pack, version: number)
    case nil, .current: return Site.PublishedPack(name.pack)
    case .label(let label):
      throw Failure(
        .usage, "version '\(name.pack)@\(label)': only stores have labels", remedy: "name the version by its number",
        pack: name.pack)
    case .previous:
      throw Failure(
        .usage, "version '\(name.pack)@previous': only stores have previous versions",
        remedy: "name the version by its number", pack: name.pack)
    }
  }

  /// - Parameter version: the number of a manifest's version.
  func open(signedBy key: SiteKey, version: UInt64?) throws -> Site.Source {
    switch self {
    case .store(let store): .store(store)
    case .manifest(let evaluation): .manifest(evaluation, version: version)
    case .archives(let paths): .archives(try ArchivedPacks(at: paths, signedBy: key))
    }
  }
}
