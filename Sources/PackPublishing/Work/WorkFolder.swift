import PackAuthoring
import PackFormats
import PackStore

/// A publisher's copy of a site: a folder that all operations on sites accept, updated to the state of an image. Immutable files
/// that exist are kept, so the next command fetches only the changes.
///
/// - `site/` is the site, or a copy without frames: it then has only the tables of data segments, and no frame tables, change lists
///   and deltas, except new ones and those whose content was requested.
/// - `tables/` has the tables of segments that are present with their frames.
/// - `mirror` records the image of which the folder is a copy. It does not exist while the folder is changed.
/// - `image` is that image, so that it need not be fetched.
/// - `lock` is the lock that one publisher of this machine holds at a time.
///
/// A temporary folder does not outlive the command or a crash: nothing in it is synced, and `mirror` and `image` are not written.
struct WorkFolder: Sendable {
  let path: FilePath
  let site: FilePath

  /// Whether it is deleted with its owner.
  private let isTemporary: Bool

  /// Whether files of the site are made durable.
  private let syncs: Bool
  private let lock: FileLock

  /// The image that the folder is a copy of.
  typealias Mirror = ImageMark

  private static let mirrorName = "mirror"
  private static let imageName = "image"
  private static let tablesName = "tables"
  private static let notesName = "notes"
  private let parallelCount: Int

  /// - Parameters:
  ///   - path: `nil`: a temporary folder.
  ///   - site: the folder of the site, which stays; `nil`: a folder in the work folder.
  init(
    _ path: FilePath?, site: FilePath? = nil, temporaryParent: FilePath, parallelCount: Int, waits: Bool
  ) throws {
    self.parallelCount = parallelCount
    isTemporary = path == nil
    syncs = path != nil || site != nil
    self.path = try path ?? makeTemporaryFolder(in: temporaryParent)
    self.site = site ?? self.path.appending("site")
    try makeFolder(self.path)
    try makeFolder(self.path.appending(Self.tablesName))
    lock = try FileLock(
      FilePlace("lock", in: self.path), waits: waits, reason: "another process uses the work folder",
      about: .folder(self.path.string))
  }

  /// Opens the copy as a site whose files may be missing here if the image has them.
  func openSite(of image: SiteImage?) throws -> Site {
    try Site(copyAt: site, elsewhere: image?.publicFiles ?? [])
  }

  func end() {
    if isTemporary { removeTree(path) }
    withExtendedLifetime(lock) {}
  }

  // MARK: - What it is a copy of

  func mirror() throws -> Mirror? {
    try ImageMark(Self.mirrorName, in: path)
  }

  /// Records that the whole folder matches an image, except omitted files.
  func remember(_ image: SignedSiteImage) throws {
    guard !isTemporary else { return }
    try replaceFile(Self.imageName, in: path, by: image.bytes, draft: Self.imageName + ".new")
    let mirror = ImageMark(of: image)
    try replaceFile(Self.mirrorName, in: path, by: Array(mirror.text.utf8), draft: Self.mirrorName + ".new")
  }

  /// Returns the recorded image, if it has this digest.
  func image(_ digest: Digest256) -> SignedSiteImage? {
    guard let file = try? InputFile(Self.imageName, in: path),
      let bytes = try? file.contents(limit: SignedSiteImage.byteCountLimit), Digest256(hashing: bytes) == digest
    else { return nil }
    return try? SignedSiteImage(decoding: bytes, file: file.place.text)
  }

  /// Removes the record, before the folder is changed.
  func forget() throws {
    guard !isTemporary else { return }
    try? removeFile(FilePlace(Self.mirrorName, in: path))
    try syncFolder(path)
  }

  // MARK: - From an image to the folder

  /// The files that a command needs.
  enum Extent: Sendable, Equatable {
    /// All files for changing the site, except frames and files that are not read without them.
    ///
    /// - Parameter content: segments whose frames are needed, too.
    case publishing(content: Set<SegmentID> = [])

    /// All files, for a conversion: it writes frame tables and manifests again, from the frames.
    case everything

    /// The description of the site's contents, without the contents.
    case description
  }

  /// Updates the folder to an image; `nil`: empties it, so that a site can be created. Existing frames stay.
  ///
  /// - Parameter committed: the time of the image's commit, in nanoseconds since 1970.
  /// - Returns: the number of bytes fetched.
  @discardableResult
  func take(
    _ image: SiteImage?, committed: Int64, from storage: any ObjectStorage, _ extent: Extent = .publishing()
  ) async throws -> UInt64 {
    try forget()
    guard let image else {
      if pathExists(site) { removeTree(site) }
      return 0
    }
    for folder in Self.folders.reversed() { try makeFolder(site.appending(folder), isSecret: folder == Self.notesName) }
    try removeAll(but: image)
    let missing = try missing(of: image, extent)
    let roots = missing.filter { path, _ in if case .site(let name) = path { name.isRoot } else { false } }
    var byteCount = try await fetch(missing.filter { roots[$0.key] == nil }, from: storage)
    // The files of the roots exist: from now on the folder can be served.
    byteCount = byteCount.addingClamped(try await fetch(roots, from: storage))
    var retired: [SitePath: RetiredFiles.Entry] = [:]
    for case (.site(let path), let file) in image.files {
      guard let state = file.retired else { continue }
      let since: Int64 = if case .since(let time) = state { time } else { committed }
      retired[path] = .init(since: since, byteCount: file.byteCount)
    }
    try replaceFile(
      RetiredFiles.fileName, in: site, by: RetiredFiles(retired).encode(), draft: RetiredFiles.fileName + ".new")
    if syncs { for folder in Self.folders { try syncFolder(FilePlace(folder, in: site)) } }
    // Last: it makes the store valid, so everything else must exist.
    var controlByteCount: UInt64 = 0
    if let control = image.files[.control] {
      controlByteCount = try await fetch([.control: control], from: storage)
      if syncs { try syncFolder(site) }
    }
    return byteCount.addingClamped(controlByteCount)
  }

  /// Files of the site outside its folders.
  private static let topNames = [
    "CONTROL", SitePath.root(.live).description, "\(SiteImage.Path.numbers)", "\(SiteImage.Path.offered)",
  ]

  private static let folders =
    SitePath.folders + [SitePath.rootFolder, "segments", tablesName, notesName, "index", "tmp"]

  /// Returns the files to fetch, except the control file.
  private func missing(of image: SiteImage, _ extent: Extent) throws -> [SiteImage.Path: SiteImage.File] {
    let remote: Set<SegmentID> =
      switch extent {
      case .publishing(let content): try remoteSegments(of: image).subtracting(content)
      case .everything: []
      case .description: Set(image.tabledSegments)
      }
    return try image.files.filter { path, file in
      switch path {
      case .control: return false
      // The next record of the history follows from the root alone.
      case .note, .site(.record): guard extent == .everything else { return false }
      case .table(let id): guard remote.contains(id), extent != .description else { return false }
      case .site(.segment(let id)): guard !remote.contains(id), extent != .description else { return false }
      // With all frames present, it is not a copy without frames: a missing file counts as lost.
      case .site(let name) where name.mayBeElsewhere:
        guard remote.isEmpty, extent != .description else { return false }
      default: break
      }
      return try !has(path, file)
    }
  }

  /// Returns segments of which only the tables are needed, because their frames are not here.
  private func remoteSegments(of image: SiteImage) throws -> Set<SegmentID> {
    try Set(
      image.tabledSegments.filter { id in
        guard let file = image.files[.site(.segment(id))] else { return false }
        return try !has(.site(.segment(id)), file)
      })
  }

  /// Whether a file exists and is correct: for immutable files by the length, for others by the content.
  private func has(_ path: SiteImage.Path, _ file: SiteImage.File) throws -> Bool {
    do {
      let present = try InputFile(path.description, in: site)
      guard try present.byteCount == file.byteCount else { return false }
      if path.isImmutable { return true }
      return try Self.digest(of: present) == file.digest
    } catch let error as PackStoreError where [.notFound, .wrongKind].contains(error.code) { return false }
  }

  /// Whether the folder has the content of a file, which is read.
  func hasContent(_ path: SiteImage.Path, _ file: SiteImage.File) throws -> Bool {
    guard try has(path, file) else { return false }
    return try Self.digest(of: InputFile(path.description, in: site)) == file.digest
  }

  private func removeAll(but image: SiteImage) throws {
    let wanted = Set(image.files.keys.map(\.description))
    for folder in Self.folders where folder != "tmp" {
      for name in try namesInFolder(FilePlace(folder, in: site)) where !wanted.contains("\(folder)/\(name)") {
        try removeFile(FilePlace("\(folder)/\(name)", in: site))
      }
    }
    for name in Self.topNames where !wanted.contains(name) {
      try? removeFile(FilePlace(name, in: site))
    }
    for name in try namesInFolder(path.appending(Self.tablesName)) {
      try removeFile(FilePlace("\(Self.tablesName)/\(name)", in: path))
    }
  }

  private func fetch(_ files: [SiteImage.Path: SiteImage.File], from storage: any ObjectStorage) async throws -> UInt64
  {
    let mirror = SiteMirror(
      source: MirroredImage(files: files, storage: storage), target: MirrorFolder(path: site), syncs: syncs)
    try await mirror.copy(
      files.map { MirroredFile($0.key.description, byteCount: $0.value.byteCount, digest: $0.value.digest) },
      parallelCount: parallelCount)
    return files.values.filter { $0.content == nil }.map(\.byteCount).clampedSum()
  }

  // MARK: - From the folder to an image

  /// Returns the current state of the site as the image after another one: the files in the folder, and the other image's files
  /// that are missing here and that clients may still fetch.
  ///
  /// - Parameters:
  ///   - site: the site in the folder.
  ///   - base: the previous image: its immutable files are not read again.
  ///   - isConverting: whether channels may have roots of the previous draft.
  ///   - erased: the records whose private parts the next image omits.
  func image(
    of site: Site, after base: SignedSiteImage?, isConverting: Bool = false, withoutNotesOf erased: Set<Digest256> = []
  ) throws -> SiteImage {
    for record in erased { try removeFile(place(of: .note(record))) }
    var image = SiteImage(site: site.store.id, number: (base?.image.number ?? 0) + 1, before: base?.digest)
    let retired = try readRetired(), inventory = try site.inventory(isConverting: isConverting)
    let before = base?.convertible.files ?? [:]
    for path in try paths() { image.files[path] = try entry(of: path, before[path]) }
    for (path, file) in before {
      if case .note(let record) = path, !erased.contains(record) { image.files[path] = file }
      guard case .site(let name) = path, name.mayBeElsewhere, image.files[path] == nil else { continue }
      if name.isRecord || inventory.files.contains(name) { image.files[path] = file }
    }
    for path in Array(image.files.keys) {
      guard case .site(let name) = path else { continue }
      let wasRetired = before[path].map { $0.retired != nil } ?? false
      image.files[path]?.retired = retired.entries[name].map { wasRetired ? .since($0.since) : .withThis }
      // Also for retired segments, while they exist: a root may still refer to them.
      if case .segment(let id) = name { image.files[.table(id)] = before[.table(id)] }
    }
    for id in inventory.dataSegments where image.files[.table(id)] == nil {
      try site.writeTable(of: id, to: newTable(id))
      image.files[.table(id)] = try entry(of: .table(id), nil)
    }
    image.limitCopies()
    return image
  }

  private func entry(of path: SiteImage.Path, _ before: SiteImage.File?) throws -> SiteImage.File {
    let file = try InputFile(place(of: path).path)
    let byteCount = try file.byteCount
    let limit = path.isKeptWithin ? path.contentByteLimit : 0
    if limit > 0, byteCount <= limit { return SiteImage.File(content: try file.contents(limit: limit)) }
    if path.isImmutable, let before, before.byteCount == byteCount {
      return SiteImage.File(byteCount: byteCount, digest: before.digest)
    }
    return SiteImage.File(byteCount: byteCount, digest: try Self.digest(of: file))
  }

  private func newTable(_ id: SegmentID) -> FilePlace { FilePlace("\(Self.tablesName)/\(id)", in: path) }

  private func readRetired() throws -> RetiredFiles {
    do {
      let file = try InputFile(RetiredFiles.fileName, in: site)
      return try RetiredFiles(decoding: try file.contents(limit: RetiredFiles.byteCountLimit), file: file.place.text)
    } catch let error as PackStoreError where error.code == .notFound { return RetiredFiles() }
  }

  /// Returns all files of the site that must be stored.
  private func paths() throws -> [SiteImage.Path] {
    var names = try Self.folders.filter { !["tmp", Self.tablesName].contains($0) }.flatMap { folder in
      try namesInFolder(FilePlace(folder, in: site)).map { "\(folder)/\($0)" }
    }
    names += Self.topNames.filter { pathExists(site.appending($0)) }
    return names.compactMap(SiteImage.Path.init)
  }

  func place(of path: SiteImage.Path) -> FilePlace {
    if case .table(let id) = path { newTable(id) } else { FilePlace(path.description, in: site) }
  }

  private static func digest(of file: InputFile) throws -> Digest256 {
    var hash = DigestBuilder()
    var offset: UInt64 = 0
    while true {
      try Task.checkCancellation()
      let bytes = try file.bytes(at: offset, upTo: 1 << 20)
      guard !bytes.isEmpty else { return hash.finish() }
      bytes.withUnsafeBytes { hash.update($0) }
      offset += UInt64(bytes.count)
    }
  }
}

/// Calls `body` for some values, several at a time. The first error ends it.
func forEachInParallel<Value: Sendable>(
  _ values: some Sequence<Value>, count: Int, _ body: @escaping @Sendable (Value) async throws -> Void
) async throws {
  var rest = values.makeIterator()
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<count {
      guard let value = rest.next() else { break }
      group.addTask { try await body(value) }
    }
    while try await group.next() != nil {
      if let value = rest.next() { group.addTask { try await body(value) } }
    }
  }
}

/// Runs two operations in parallel; one after the other if only one is allowed at a time.
func bothInParallel<First: Sendable, Second: Sendable>(
  count: Int, _ first: @escaping @Sendable () async throws -> First,
  _ second: @escaping @Sendable () async throws -> Second
) async throws -> (First, Second) {
  guard count > 1 else { return (try await first(), try await second()) }
  async let other = second()
  return (try await first(), try await other)
}
