import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

/// Copies all files of a site's folder to another folder, including the publisher's files: immutable files first, then the lists and
/// the index of the store, then roots, and the control file last. Files that an interrupted copy left are kept.
struct SiteFolderCopy {
  private let path: FilePath
  private let copy: FilePath

  /// The publisher's lists.
  static let lists = ["retired", "numbers", "offered"]
  private static let parallelCount = 4

  init(from path: FilePath, to copy: FilePath) {
    self.path = path
    self.copy = copy
  }

  /// - Throws: `corrupt` if a file has other content than its name or a manifest records; `conflict` if the site changed since; `noSpace`,
  ///   `ioError`; `CancellationError`.
  func run() async throws {
    let source = FolderSource(path.string)
    do {
      let rules = try await rules(source)
      let folders = ["segments"] + SitePath.folders, all = folders + ["index", SitePath.rootFolder]
      for name in all + ["tmp", "tables"] {
        try makeFolder(copy.appending(name))
        if name != "tmp" { makeReadable(folder: copy.appending(name)) }
      }
      try await copyFiles(try folders.flatMap(names), rules, source, replaces: false)
      try await copyFiles(try names(in: "index"), [:], source, replaces: true)
      try await copyFiles(Self.lists.filter { pathExists(path.appending($0)) }, [:], source, replaces: true)
      try Site.copyNotes(from: path, to: copy)
      for name in all { try syncFolder(copy.appending(name)) }
      try await copyFiles(try names(in: SitePath.rootFolder), [:], source, replaces: true)
      try syncFolder(copy.appending(SitePath.rootFolder))
      let live = "\(SitePath.root(.live))"
      try await copyFiles(pathExists(path.appending(live)) ? [live] : [], [:], source, replaces: true)
      try await copyFiles(["CONTROL"], [:], source, replaces: true)
      try syncFolder(copy)
    } catch SourceFault.siteChanged(let error) {
      throw PackStoreError(.conflict, error.reason, about: .site(path.string))
    }
  }

  private func names(in folder: String) throws -> [String] {
    try namesInFolder(FilePlace(folder, in: path)).filter { !$0.hasSuffix(".new") }.map { "\(folder)/\($0)" }
  }

  private func copyFiles(
    _ names: [String], _ rules: [String: ContentRule], _ source: FolderSource, replaces: Bool
  ) async throws {
    let mirror = SiteMirror(source: MirroredSource(source: source), target: MirrorFolder(path: copy))
    let path = path
    try await forEachInParallel(names.sorted(), count: Self.parallelCount) { name in
      try Task.checkCancellation()
      let byteCount: UInt64
      do { byteCount = try InputFile(name, in: path).byteCount } catch let error as PackStoreError
        where error.code == .notFound
      { return }  // collected since
      if !replaces, try await mirror.target.has(MirroredFile(name, byteCount: byteCount)) { return }
      var parts: [ContentChecker.Part] = []
      if let rule = rules[name], let file = SitePath(name), rule.byteCount == byteCount {
        let reader = ContentReader(source, rules: [:], byteRateLimit: nil, clock: .system)
        guard let known = try await reader.parts(of: file, rule) else {
          throw PackStoreError(.corrupt, "its digests are missing or damaged", file: "\(path)/\(name)")
        }
        parts = known
      }
      try await mirror.copy(MirroredFile(name, byteCount: byteCount, parts: parts))
    }
  }

  /// The files with known digests: the files of roots and of all manifests, and the manifests themselves.
  private func rules(_ source: FolderSource) async throws -> [String: ContentRule] {
    let served = RemoteSiteCopy(source, channels: try RemoteSiteLocation.channels(inFolder: path))
    var rules = try await ServedSurvey(served).run(now: 0, hasHistory: true).rules
    for name in try names(in: "versions") {
      guard case .version(let digest)? = SitePath(name) else { continue }
      let bytes = try InputFile(name, in: path).contents(limit: VersionManifest.byteCountLimit)
      rules[.version(digest)] = ContentRule(byteCount: UInt64(bytes.count), content: .digest(digest))
      guard let manifest = try? VersionManifest(decoding: bytes, file: name) else { continue }
      rules.merge(manifest.contentRules) { first, _ in first }
    }
    return Dictionary(rules.map { ($0.key.description, $0.value) }) { first, _ in first }
  }
}
