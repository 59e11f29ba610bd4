import PackAuthoring
import PackStore

/// A publisher's copy of a site: a site in a folder, on which all that works on sites works, and which is made what an image
/// says. A file that is there under the name of one that never changes stays; so the next command fetches what changed.
///
/// - `site/` is the site.
/// - `mirror` says of which image it is a copy. It is not there while that is not known: while it is changed.
/// - `lock` carries the lock that one publisher of this machine holds at a time.
struct WorkFolder: Sendable {
  let path: FilePath
  var site: FilePath { path.appending("site") }

  /// Removed with its owner, unless it is to be kept.
  private let isTemporary: Bool
  private let lock: FileLock

  /// What is known of the folder.
  struct Mirror: Hashable {
    var number: UInt64
    var image: Digest256

    /// Whether all files are there, or those alone that need no fetching for reading.
    var text: String { "packstore mirror\nnumber \(number)\nimage \(image.hex)\n" }
  }

  private static let mirrorName = "mirror"
  private let parallelCount: Int

  /// - Parameter path: nil: a temporary folder.
  init(_ path: FilePath?, temporaryParent: FilePath, parallelCount: Int, waits: Bool) throws {
    self.parallelCount = parallelCount
    isTemporary = path == nil
    self.path = try path ?? makeTemporaryFolder(in: temporaryParent)
    try makeFolder(self.path)
    lock = try FileLock(
      FilePlace("lock", in: self.path), waits: waits, reason: "another process works in the folder '\(self.path)'")
  }

  func end() {
    if isTemporary { removeTree(path) }
    withExtendedLifetime(lock) {}
  }

  // MARK: - What it is a copy of

  func mirror() throws -> Mirror? {
    do {
      let file = try InputFile(Self.mirrorName, in: path)
      var lines = TextLines(try file.contents(limit: 1024), file: file.place.text)
      guard lines.next(["packstore"]) == ["packstore", "mirror"], let number = UInt64(try lines.value("number")),
        let image = Digest256(hex: try lines.value("image"))
      else { return nil }
      return Mirror(number: number, image: image)
    } catch let error as PackStoreError where [.notFound, .corrupt].contains(error.code) { return nil }
  }

  /// Says that all of the folder is as an image says.
  func remember(_ image: SignedSiteImage) throws {
    let mirror = Mirror(number: image.image.number, image: image.digest)
    try replaceFile(Self.mirrorName, in: path, by: Array(mirror.text.utf8), draft: Self.mirrorName + ".new")
  }

  /// From now on it may be anything.
  func forget() throws {
    try? removeFile(FilePlace(Self.mirrorName, in: path))
    try syncFolder(path)
  }

  // MARK: - From an image to the folder

  /// Which files a command needs.
  enum Extent: Sendable {
    case all

    /// What says what the site has, and none of the content.
    case description

    func includes(_ path: SiteImage.Path) -> Bool {
      guard self == .description, case .site(let path) = path else { return true }
      switch path {
      case .segment, .delta: return false
      default: return true
      }
    }
  }

  /// Makes the folder what an image says; nil: an empty one, in which a site can be made.
  ///
  /// - Parameter committed: when the image was, in nanoseconds since 1970.
  /// - Returns: how many bytes were fetched.
  @discardableResult
  func take(
    _ image: SiteImage?, committed: Int64, from storage: any ObjectStorage, _ extent: Extent = .all
  ) async throws -> UInt64 {
    try forget()
    guard let image else {
      if pathExists(site) { removeTree(site) }
      return 0
    }
    for folder in Self.folders.reversed() { try makeFolder(site.appending(folder)) }
    try removeAll(but: image)
    let missing = try image.files.filter { path, file in
      guard path != .control, extent.includes(path) else { return false }
      return try !has(path, file)
    }
    let byteCount = try await fetch(missing, from: storage)
    var retired: [SitePath: RetiredFiles.Entry] = [:]
    for case (.site(let path), let file) in image.files {
      guard let state = file.retired else { continue }
      let since: Int64 = if case .since(let time) = state { time } else { committed }
      retired[path] = .init(since: since, byteCount: file.byteCount)
    }
    try replaceFile(
      RetiredFiles.fileName, in: site, by: RetiredFiles(retired).encode(), draft: RetiredFiles.fileName + ".new")
    for folder in Self.folders { try syncFolder(FilePlace(folder, in: site)) }
    // Last: it is the store's word that all else is there.
    if let control = image.files[.control] { _ = try await fetch([.control: control], from: storage) }
    try syncFolder(site)
    return byteCount
  }

  private static let folders =
    SitePath.folders + [SitePath.rootFolder, "segments", "index", "tmp"]

  /// Whether a file is there as it should be. Of one that never changes its length tells; others are read.
  private func has(_ path: SiteImage.Path, _ file: SiteImage.File) throws -> Bool {
    do {
      let present = try InputFile(path.description, in: site)
      guard try present.byteCount == file.byteCount else { return false }
      if case .site(let path) = path, !path.isRoot { return true }
      return try Self.digest(of: present) == file.digest
    } catch let error as PackStoreError where [.notFound, .wrongKind].contains(error.code) { return false }
  }

  private func removeAll(but image: SiteImage) throws {
    let wanted = Set(image.files.keys.map(\.description))
    for folder in Self.folders where folder != "tmp" {
      for name in try namesInFolder(FilePlace(folder, in: site)) where !wanted.contains("\(folder)/\(name)") {
        try removeFile(FilePlace("\(folder)/\(name)", in: site))
      }
    }
    for name in ["CONTROL", SitePath.root(.live).description] where !wanted.contains(name) {
      try? removeFile(FilePlace(name, in: site))
    }
  }

  private func fetch(_ files: [SiteImage.Path: SiteImage.File], from storage: any ObjectStorage) async throws -> UInt64
  {
    let queue = files.sorted { $0.key.description < $1.key.description }
    try await forEachInParallel(queue, count: parallelCount) { path, file in
      try await fetch(path, file, from: storage)
    }
    return files.values.map(\.byteCount).clampedSum()
  }

  private func fetch(_ path: SiteImage.Path, _ file: SiteImage.File, from storage: any ObjectStorage) async throws {
    let key = SiteImage.key(path, file)
    let name = "\(storage.location): \(key)"
    let draft = Draft(FilePlace(path.description + ".new", in: site))
    let isThere = try await storage.fetch(key, byteCount: file.byteCount, restart: { try draft.begin() }) { bytes in
      try draft.write(bytes)
    }
    guard isThere else { throw MissingObject(key: key) }
    guard let written = try draft.end(), written.digest == file.digest, written.byteCount == file.byteCount else {
      var error = PackStoreError(.corrupt, "the object is not what the publisher of the site stored", file: name)
      error.specificRemedy = "restore it from another version of the bucket, or from a mirror of the site"
      throw error
    }
    try renameFile(draft.place, to: FilePlace(path.description, in: site))
  }

  // MARK: - From the folder to an image

  /// What the folder is now, as the image after another one.
  ///
  /// - Parameter base: of files that never change and are in it, nothing is read.
  func image(of id: SiteID, after base: SignedSiteImage?) throws -> SiteImage {
    var image = SiteImage(site: id, number: (base?.image.number ?? 0) + 1, before: base?.digest)
    let retired = try readRetired()
    for path in try paths() {
      let file = try InputFile(path.description, in: site)
      let byteCount = try file.byteCount
      var entry = SiteImage.File(byteCount: byteCount, digest: .zero)
      let before = base?.image.files[path]
      if case .site(let name) = path, !name.isRoot, let before, before.byteCount == byteCount {
        entry.digest = before.digest
      } else {
        entry.digest = try Self.digest(of: file)
      }
      if case .site(let name) = path, let since = retired.entries[name]?.since {
        entry.retired = before.map { $0.retired == nil ? .withThis : .since(since) } ?? .withThis
      }
      image.files[path] = entry
    }
    return image
  }

  private func readRetired() throws -> RetiredFiles {
    do {
      let file = try InputFile(RetiredFiles.fileName, in: site)
      return try RetiredFiles(decoding: try file.contents(limit: RetiredFiles.byteCountLimit), file: file.place.text)
    } catch let error as PackStoreError where error.code == .notFound { return RetiredFiles() }
  }

  /// All files of the site that are to be stored.
  private func paths() throws -> [SiteImage.Path] {
    var names = try Self.folders.filter { $0 != "tmp" }.flatMap { folder in
      try namesInFolder(FilePlace(folder, in: site)).map { "\(folder)/\($0)" }
    }
    names += ["CONTROL", SitePath.root(.live).description].filter { pathExists(site.appending($0)) }
    return names.compactMap(SiteImage.Path.init)
  }

  func place(of path: SiteImage.Path) -> FilePlace { FilePlace(path.description, in: site) }

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

/// The storage does not have what a ledger or an image names: another publisher may have been at work since they were read.
struct MissingObject: Error {
  let key: ObjectKey
}

/// A file that comes in pieces, perhaps from the front once more.
private final class Draft {
  let place: FilePlace
  private var file: NewFile?
  private var hash = DigestBuilder()
  private var byteCount: UInt64 = 0

  init(_ place: FilePlace) { self.place = place }

  func begin() throws {
    file = try NewFile(place)
    hash = DigestBuilder()
    byteCount = 0
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try file?.write(bytes)
    hash.update(bytes)
    byteCount += UInt64(bytes.count)
  }

  func end() throws -> (digest: Digest256, byteCount: UInt64)? {
    guard let file else { return nil }
    try file.sync()
    self.file = nil
    return (hash.finish(), byteCount)
  }
}

/// Does something for each of some values, for several at a time. The first that throws ends it.
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
