import PackAuthoring
import PackDelivery
import PackFormats
import PackStore

/// The place of a mirror, while a copy changes it.
struct MirrorSink: Sendable {
  private enum Kind: Sendable {
    case folder(FilePath)
    case bucket(BucketSite)
  }

  private let kind: Kind

  /// The mirrored place, for the mark of a folder.
  private let origin: String
  private let spool: FilePath?
  private let lock: FileLock?

  let target: any MirrorTarget

  private static let lockName = "mirror.lock"
  private static let folders = ["segments"] + SitePath.folders

  /// Opens a folder or a bucket that is empty or a mirror.
  ///
  /// - Throws: `exists` for a site, or a folder with other files; `invalidArgument` for a web server.
  static func open(
    _ place: SiteStatusReader.Place, of origin: String, _ temporaryParent: FilePath
  ) async throws -> MirrorSink {
    switch place {
    case .folder(let path): return try MirrorSink(path, origin)
    case .bucket(let bucket):
      guard try await !bucket.exists() else {
        throw occupied("a site with a ledger exists there", bucket.location, "use another prefix")
      }
      let spool = try makeTemporaryFolder(in: temporaryParent)
      return MirrorSink(
        kind: .bucket(bucket), origin: origin, spool: spool, lock: nil,
        target: MirrorBucket(storage: bucket.storage, spool: spool))
    case .served(let location, _):
      var error = PackStoreError(
        .invalidArgument, "a web server, to which nothing can be written", about: .site(location.location))
      error.specificRemedy = "name a folder, or a bucket as s3://bucket/prefix"
      throw error
    }
  }

  private init(_ path: FilePath, _ origin: String) throws {
    let isMirror = MirrorMark.exists(in: path)
    guard try isMirror || namesInFolder(path).allSatisfy({ $0 == Self.lockName }) else {
      throw Self.occupied(
        Site.exists(at: path) ? "a site exists there" : "the folder is not empty", path.string, "name another folder")
    }
    try makeFolder(path)
    makeReadable(folder: path)
    let lock = try FileLock(
      FilePlace(Self.lockName, in: path), waits: false, reason: "another process copies to it",
      about: .site(path.string))
    self.init(kind: .folder(path), origin: origin, spool: nil, lock: lock, target: MirrorFolder(path: path))
  }

  private init(kind: Kind, origin: String, spool: FilePath?, lock: FileLock?, target: any MirrorTarget) {
    self.kind = kind
    self.origin = origin
    self.spool = spool
    self.lock = lock
    self.target = target
  }

  private static func occupied(_ reason: String, _ location: String, _ remedy: String) -> PackStoreError {
    var error = PackStoreError(.exists, reason, about: .site(location), detail: .fileExists)
    error.specificRemedy = remedy
    return error
  }

  func end() {
    if let spool { removeTree(spool) }
    withExtendedLifetime(lock) {}
  }

  private var location: String {
    switch kind {
    case .folder(let path): path.string
    case .bucket(let bucket): bucket.location
    }
  }

  // MARK: - Steps

  /// Marks a folder as a mirror, before the first file.
  func begin() throws {
    guard case .folder(let path) = kind else { return }
    let text = Array(MirrorMark.text(of: origin).utf8)
    try replaceFile(MirrorMark.fileName, in: path, by: text, draft: MirrorMark.fileName + ".new")
    for name in Self.folders + [SitePath.rootFolder] {
      try makeFolder(path.appending(name))
      makeReadable(folder: path.appending(name))
    }
  }

  /// Makes the names of the immutable files durable, before a root refers to them.
  func sync() throws {
    guard case .folder(let path) = kind else { return }
    for name in Self.folders { try syncFolder(FilePlace(name, in: path)) }
  }

  /// Replaces a root.
  func write(_ root: RemoteSiteCopy.Root) async throws {
    let path = SitePath.root(root.channel)
    switch kind {
    case .folder(let folder):
      let file = try NewFile(FilePlace("\(path).new", in: folder))
      file.makeReadable()
      try file.write(root.bytes)
      try file.sync()
      try renameFile(file.place, to: FilePlace(path.description, in: folder))
      try syncFolder(root.channel == .live ? FilePlace(folder) : FilePlace(SitePath.rootFolder, in: folder))
    case .bucket(let bucket):
      let present = try await bucket.storage.read(.file(path), limit: SiteRoot.byteCountLimit)
      guard present?.bytes != root.bytes else { return }
      _ = try await bucket.storage.write(.bytes(root.bytes), to: .file(path), .always, latest: nil)
    }
  }

  /// Compares new roots with the mirror's, and returns the files that the mirror's roots refer to.
  ///
  /// - Throws: `untrusted` if the mirror is of another publisher; `stale` if it has a newer root.
  func filesOfRoots(_ next: [RemoteSiteCopy.Root]) async throws -> Set<SitePath> {
    let source: any SiteSource =
      switch kind {
      case .folder(let path): FolderSource(path.string)
      case .bucket(let bucket): StorageSource(bucket.storage)
      }
    let all = RemoteSiteCopy(source, channels: next.map(\.channel))
    var channels: [SiteChannel] = []
    for root in next {
      guard let bytes = try await Self.root(of: root.channel, in: all) else { continue }
      channels.append(root.channel)
      guard let signed = try? SignedSiteRoot(decoding: bytes, file: location) else { continue }
      try check(root.signed, follows: signed)
    }
    guard channels.contains(.live) else { return [] }
    let survey = ServedSurvey(RemoteSiteCopy(source, channels: channels))
    return Set(try await survey.run(now: 0, hasHistory: true).rules.keys)
  }

  /// Reads a root of the mirror; `nil` if it does not exist.
  private static func root(of channel: SiteChannel, in present: RemoteSiteCopy) async throws -> [UInt8]? {
    do {
      return try await present.readRoot(of: channel)?.bytes
    } catch let error as DeliveryError where error.code == .noSite { return nil }
  }

  private func check(_ next: SignedSiteRoot, follows present: SignedSiteRoot) throws {
    guard next.authority?.firstKey == present.authority?.firstKey, next.root.product == present.root.product else {
      var error = PackStoreError(.untrusted, "a mirror of another publisher's site", about: .site(location))
      error.specificRemedy = "copy each site to a place of its own"
      throw error
    }
    guard RootOrder(next) >= RootOrder(present) else {
      var error = PackStoreError(
        .stale, "has the root \(present.root.sequence) of '\(present.root.channel)', which is newer",
        about: .site(location))
      error.specificRemedy = "copy from the publisher's own place"
      throw error
    }
  }

  /// Deletes immutable files, after the roots were replaced. In a bucket whose objects cannot be listed, they stay.
  ///
  /// - Returns: the number of deleted files.
  func removeFiles(where isLoose: (SitePath) -> Bool) async throws -> Int {
    switch kind {
    case .folder(let path):
      var count = 0
      for folder in Self.folders {
        for name in try namesInFolder(FilePlace(folder, in: path)) {
          let file = SitePath("\(folder)/\(name)")
          guard file.map(isLoose) ?? name.hasSuffix(".new") else { continue }
          try removeFile(FilePlace("\(folder)/\(name)", in: path))
          count += file == nil ? 0 : 1
        }
      }
      return count
    case .bucket(let bucket):
      guard let objects = try await bucket.storage.list() else { return 0 }
      let loose = objects.keys.compactMap { SitePath($0) }.filter { !$0.isRoot && isLoose($0) }
      for file in loose { _ = try await bucket.storage.delete(.file(file), latest: .max) }
      return loose.count
    }
  }
}
