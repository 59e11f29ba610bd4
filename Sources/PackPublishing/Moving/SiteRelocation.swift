public import PackAuthoring
import PackDelivery
public import PackFormats
import PackStore

/// Moves a site between folders and buckets: versions, channels, labels, deltas and the publisher's lists. Afterwards the new place accepts
/// publications, and the former place refuses them. Its roots state the new URL, signed by the root key, and clients follow.
///
///     let move = SiteRelocation(
///       from: FolderHost("public/packs"), to: bucket, url: "https://cdn.example.com/packs", rootKey: root, signedBy: key)
///     try await move.run()
///
/// The steps: all files are copied; the roots of the new place are signed again; then the roots of the former place are signed with
/// the statement. Both places serve at every moment. An interrupted move continues if it is run again.
///
/// Use it in one task at a time.
public struct SiteRelocation: Sendable {
  private let origin: any SiteHost
  private let target: any SiteHost
  private let url: String
  private let rootKey: SiteKey
  private let key: SiteKey

  /// The private part of the records of the new roots; `nil`: none.
  public var changeNote: ChangeNote?

  /// The folder for temporary files: from a bucket to a bucket, all files of the site.
  public var temporaryParent: FilePath

  /// Called before each step, with its name; tests stop a move there.
  package var checkpoint: @Sendable (String) throws -> Void = { _ in }

  /// How often a move begins again because the site was published to.
  private static let roundCount = 5

  /// - Parameters:
  ///   - origin: a site in a folder (`FolderHost`) or a bucket (`BucketSite`). The caller closes it.
  ///   - target: a folder or a bucket without a site. The caller closes it.
  ///   - url: the URL by which clients reach the target.
  ///   - rootKey: the site's root key.
  ///   - key: a key that may sign all channels; it may be the root key.
  public init(
    from origin: any SiteHost, to target: any SiteHost, url: String, rootKey: SiteKey, signedBy key: SiteKey
  ) {
    self.origin = origin
    self.target = target
    self.url = url
    self.rootKey = rootKey
    self.key = key
    temporaryParent = FilePath(processEnvironment()["TMPDIR"] ?? "/tmp")
  }

  /// - Parameter events: receives events of transfers, on any thread.
  /// - Throws: `notAStore`, `noSite` for a missing site; `exists` if the target has a site or other files; `untrusted` if one of the keys
  ///   may not sign; `invalidArgument` for an unsuitable URL or place; `refused` for a mirror, a copy without frames, a site that moved
  ///   elsewhere, a key set or a signing request; `conflict` if the site was published to repeatedly; `busy`; `unreachable`, `denied`,
  ///   `badResponse`; `corrupt`, `noSpace`, `ioError`; `CancellationError`.
  public func run(events: @escaping @Sendable (SiteChangeEvent) -> Void = { _ in }) async throws {
    // Each run copies the roots again and states another time, so that no run would sign the bytes of an earlier one.
    guard key.signingTime == nil, rootKey.signingTime == nil else {
      throw PackStoreError(
        .refused, "a move cannot be signed by requests, because each run signs other bytes",
        about: .site(origin.location), remedy: "sign with a key or a command")
    }
    let (product, moved) = try await origin.read { (try $0.product, try $0.movedTo) }
    guard let product else {
      throw PackStoreError(.notFound, "does not have a root yet", about: .site(origin.location))
    }
    guard key.sets == nil else {
      throw PackStoreError(
        .refused, "signed by a key set, which cannot sign the statement of a move", about: .site(origin.location),
        remedy: "copy the site, and change the URL by an update of the app")
    }
    guard rootKey.rootKey == key.rootKey else {
      throw PackStoreError(
        .untrusted, "the key was not authorized by the given root key", about: .site(origin.location),
        remedy: "use the root key \(key.rootKey)")
    }
    let move = try SiteMove(to: url, of: product, by: rootKey, madeAt: nanoseconds())
    guard moved != url else { return try finish() }
    for round in 1...Self.roundCount {
      do {
        try await runOnce(move, events)
        return try finish()
      } catch let error as PackStoreError where error.code == .conflict && round < Self.roundCount {}
    }
  }

  private func runOnce(_ move: SiteMove, _ events: @escaping @Sendable (SiteChangeEvent) -> Void) async throws {
    try checkpoint("copy")
    let state = try await transfer(events)
    // The roots that state the move must not be newer than the roots of the new place.
    let now = nanoseconds(), key = key, changeNote = changeNote
    try checkpoint("arrive")
    try await arrive(events)
    try checkpoint("leave")
    try await origin.change(signedBy: key, makesSite: false, isDryRun: false, events: events, reading: nil) { site in
      try await site.noting(changeNote).leave(for: move, signedBy: key, ifIn: state, now: now)
    }
    try checkpoint("left")
  }

  /// Copies the site.
  ///
  /// - Returns: the state of the site that the target has.
  private func transfer(_ events: @escaping @Sendable (SiteChangeEvent) -> Void) async throws -> SiteState {
    switch (origin, target) {
    case (let folder as FolderHost, let next as FolderHost):
      try requireFrames(folder.path)
      let state = try SiteState(ofSiteAt: folder.path)
      try await requireVacant(next.path)
      try await SiteFolderCopy(from: folder.path, to: next.path).run()
      return try same(state, at: folder.path)
    case (let folder as FolderHost, let bucket as BucketSite):
      try requireFrames(folder.path)
      let state = try SiteState(ofSiteAt: folder.path)
      try await bucket.storeWhole(try Site(existingAt: folder.path), signedBy: key, events: events)
      return try same(state, at: folder.path)
    case (let bucket as BucketSite, let next as FolderHost):
      try await requireVacant(next.path)
      try await bucket.fetchWhole(into: next.path)
      return try SiteState(ofSiteAt: next.path)
    case (let bucket as BucketSite, let next as BucketSite):
      let folder = try makeTemporaryFolder(in: temporaryParent)
      defer { removeTree(folder) }
      try await bucket.fetchWhole(into: folder)
      try await next.storeWhole(try Site(existingAt: folder), signedBy: key, events: events)
      return try SiteState(ofSiteAt: folder)
    default:
      throw PackStoreError(
        .invalidArgument, "cannot move a site between these places", about: .site(origin.location),
        remedy: "name folders, or buckets as s3://bucket/prefix")
    }
  }

  /// - Throws: `refused` for a copy without frames: the new place would lack the data.
  private func requireFrames(_ path: FilePath) throws {
    guard try Site(existingAt: path).isWithoutFrames else { return }
    throw PackStoreError(
      .refused, "a copy without frames, which lacks the data of its packs", about: .site(path.string),
      remedy: "move the site that it was copied from")
  }

  private func same(_ state: SiteState, at path: FilePath) throws -> SiteState {
    guard try SiteState(ofSiteAt: path) == state else {
      throw PackStoreError(.conflict, "changed while it was copied", about: .site(path.string))
    }
    return state
  }

  /// Prepares the folder of the target: a mark lets it refuse publications until the former place is closed.
  private func requireVacant(_ path: FilePath) async throws {
    func occupied(_ reason: String) -> PackStoreError {
      PackStoreError(
        .exists, reason, about: .site(path.string), detail: .fileExists, remedy: "name another folder")
    }
    guard try MirrorMark.exists(in: path) || namesInFolder(path).isEmpty else {
      throw occupied(Site.exists(at: path) ? "a site exists there" : "the folder is not empty")
    }
    let name = SitePath.root(.live).description
    if pathExists(path.appending(name)) {
      let bytes = try InputFile(name, in: path).contents(limit: SiteRoot.byteCountLimit)
      let id = try await origin.read { $0.store.id }
      guard (try? SignedSiteRoot(decoding: bytes, file: name))?.root.site == id else {
        throw occupied("a mirror of another site exists there")
      }
    }
    try makeFolder(path)
    makeReadable(folder: path)
    try replaceFile(
      MirrorMark.fileName, in: path, by: Array(MirrorMark.text(of: origin.location).utf8),
      draft: MirrorMark.fileName + ".new")
  }

  /// Signs the roots of the new place again.
  private func arrive(_ events: @escaping @Sendable (SiteChangeEvent) -> Void) async throws {
    let key = key, changeNote = changeNote
    guard let folder = target as? FolderHost else {
      return try await target.change(
        signedBy: key, makesSite: false, isDryRun: false, events: events, reading: nil
      ) { try await $0.noting(changeNote).arrive(signedBy: key) }
    }
    try await Site(arrivingAt: folder.path).noting(changeNote).arrive(signedBy: key)
  }

  /// Lets the new place accept publications.
  private func finish() throws {
    guard let folder = target as? FolderHost, MirrorMark.exists(in: folder.path) else { return }
    try removeFile(FilePlace(MirrorMark.fileName, in: folder.path))
    try syncFolder(folder.path)
  }

  private func nanoseconds() -> Int64 { Int64(min(max(Date().timeIntervalSince1970 * 1e9, 0), 9e18)) }
}
