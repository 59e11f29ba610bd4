import PackAuthoring
import PackDelivery
import PackFormats
public import PackStore
import Synchronization

/// Makes a mirror of a site, or updates one: all channels, versions, labels and deltas that the site's roots refer to, in a folder or a
/// bucket. The roots stay as the publisher signed them, so the copy needs no key. A mirror refuses publications.
///
///     let copy = SiteCopy(from: .served(RemoteSiteLocation("https://example.com/packs"), channels: []), to: .folder("mirror"))
///     let result = try await copy.run()
///
/// Immutable files are copied first, then the roots of other channels, then the root of `live`; files that left the site are deleted
/// last, one run after the roots that referred to them. So the mirror serves at every moment, and an interrupted copy continues.
///
/// Use it in one task at a time.
public struct SiteCopy: Sendable {
  public struct Result: Hashable, Codable, Sendable {
    /// The channels of the mirror, in order.
    public let channels: [SiteChannel]

    /// The files of the mirror, without roots.
    public let fileCount: Int

    /// The files that were copied now, and their bytes.
    public let copiedFileCount: Int
    public let copiedByteCount: UInt64

    /// The files that left the site and were deleted.
    public let deletedFileCount: Int

    private enum CodingKeys: String, CodingKey {
      case channels
      case fileCount = "files", copiedFileCount = "copiedFiles", copiedByteCount = "copiedBytes"
      case deletedFileCount = "deletedFiles"
    }
  }

  private let origin: SiteStatusReader.Place
  private let target: SiteStatusReader.Place

  /// A root key that the site must have; `nil`: any.
  public var trustedKey: SitePublicKey?

  /// The folder for temporary files.
  package var temporaryParent: FilePath

  /// Called before each step, with its name; tests stop a copy there.
  package var checkpoint: @Sendable (String) throws -> Void = { _ in }

  private static let parallelCount = 6

  /// - Parameters:
  ///   - origin: the site: a folder, a bucket, or a web server. The caller closes a bucket.
  ///   - target: a folder or a bucket without a site, or with an earlier copy.
  public init(from origin: SiteStatusReader.Place, to target: SiteStatusReader.Place) {
    self.origin = origin
    self.target = target
    temporaryParent = FilePath(processEnvironment()["TMPDIR"] ?? "/tmp")
  }

  /// - Parameter progress: receives the number of checked files and the number of all files, on any thread.
  /// - Throws: `noSite`, `notAStore` for a missing site; `exists` if the target has other files or a site; `untrusted` if the site is
  ///   unsigned, or signed by another key than the trusted one or the mirror's; `stale` if the mirror has a newer root; `siteChanged` if
  ///   the site changed repeatedly; `corrupt` for files with other content than was signed; `unreachable`, `denied`, `badResponse`;
  ///   `noSpace`, `ioError`; `CancellationError`.
  @discardableResult
  public func run(
    progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> Result {
    let sink = try await MirrorSink.open(target, of: origin.name, temporaryParent)
    defer { sink.end() }
    let served = try await origin.open()
    do {
      let result = try await copy(served, to: sink, progress)
      await origin.close(served)
      return result
    } catch {
      await origin.close(served)
      throw error
    }
  }

  private func copy(
    _ served: RemoteSiteCopy, to sink: MirrorSink, _ progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws -> Result {
    for isLast in [false, true] {
      do {
        return try await copyOnce(served, to: sink, progress)
      } catch SourceFault.siteChanged(let error) {
        guard !isLast else { throw error }
        served.source.restart(ignoringValidators: false)
      } catch SourceFault.noRanges { throw DeliveryError.noRanges(of: served.source) }
    }
    preconditionFailure("unreachable: the last round returns or throws")
  }

  private func copyOnce(
    _ served: RemoteSiteCopy, to sink: MirrorSink, _ progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws -> Result {
    let survey = try await ServedSurvey(served).run(now: 0, hasHistory: true)
    try check(survey, served)
    let before = try await sink.filesOfRoots(survey.roots)
    try checkpoint("begin")
    try sink.begin()
    let (count, byteCount) = try await copyFiles(survey.rules, served, to: sink, progress)
    try sink.sync()
    let others = survey.roots.filter { $0.channel != .live }.sorted { $0.channel < $1.channel }
    for root in others + survey.roots.filter({ $0.channel == .live }) {
      try checkpoint("root \(root.channel)")
      try await sink.write(root)
    }
    try checkpoint("delete")
    let deleted = try await sink.removeFiles { survey.rules[$0] == nil && !before.contains($0) && !$0.isRecord }
    return Result(
      channels: survey.roots.map(\.channel).sorted(), fileCount: survey.rules.count, copiedFileCount: count,
      copiedByteCount: byteCount, deletedFileCount: deleted)
  }

  private func check(_ survey: ServedSurvey.Findings, _ served: RemoteSiteCopy) throws {
    if let channel = survey.damaged.first {
      throw PackStoreError(
        .corrupt, "the root is damaged", file: served.source.place(of: SitePath.root(channel).description))
    }
    for root in survey.roots {
      let keys = root.signed.authority?.rootKeys ?? []
      guard !keys.isEmpty, trustedKey.map(keys.contains) ?? true else {
        let signer = root.signed.rootKey.map { "signed by another key, \($0)" } ?? "not signed"
        throw PackStoreError(.untrusted, signer, about: .site(served.source.location))
      }
    }
  }

  /// Copies the missing files, several at a time.
  private func copyFiles(
    _ rules: [SitePath: ContentRule], _ served: RemoteSiteCopy, to sink: MirrorSink,
    _ progress: @escaping @Sendable (Int, Int) -> Void
  ) async throws -> (count: Int, byteCount: UInt64) {
    let mirror = SiteMirror(source: MirroredSource(source: served.source), target: sink.target)
    let copied = Mutex<(done: Int, count: Int, byteCount: UInt64)>((0, 0, 0))
    let queue = rules.sorted { ($1.value.byteCount, "\($0.key)") < ($0.value.byteCount, "\($1.key)") }
    try await forEachInParallel(queue, count: Self.parallelCount) { [checkpoint] path, rule in
      try Task.checkCancellation()
      let isThere = try await sink.target.has(MirroredFile(path.description, byteCount: rule.byteCount))
      if !isThere {
        try checkpoint("copy \(path)")
        let reader = ContentReader(served.source, rules: [:], byteRateLimit: nil, clock: .system)
        guard let parts = try await reader.parts(of: path, rule) else {
          throw SourceFault.siteChanged(
            DeliveryError(.corrupt, "its digests are missing or damaged", at: served.source.place(of: "\(path)")))
        }
        try await mirror.copy(MirroredFile(path.description, byteCount: rule.byteCount, parts: parts))
      }
      let done = copied.withLock { copied in
        copied.done += 1
        if !isThere { copied = (copied.done, copied.count + 1, copied.byteCount.addingClamped(rule.byteCount)) }
        return copied.done
      }
      progress(done, queue.count)
    }
    return copied.withLock { ($0.count, $0.byteCount) }
  }
}

extension RemoteSiteCopy.Root {
  var channel: SiteChannel { signed.root.channel }
}

extension SiteStatusReader.Place {
  /// The name in messages and in the mark of a mirror.
  var name: String {
    switch self {
    case .folder(let path): path.string
    case .bucket(let bucket): bucket.location
    case .served(let location, _): location.location
    }
  }

  /// Opens the served files.
  func open() async throws -> RemoteSiteCopy {
    switch self {
    case .folder(let path):
      return try RemoteSiteLocation(path.string).open(channels: RemoteSiteLocation.channels(inFolder: path))
    case .bucket(let bucket):
      return RemoteSiteCopy(StorageSource(bucket.storage), channels: try await bucket.channels())
    case .served(let location, let channels): return try location.open(channels: channels)
    }
  }

  /// Closes what ``open()`` opened; a bucket stays open.
  func close(_ served: RemoteSiteCopy) async {
    if case .bucket = self { return }
    await served.close()
  }
}

extension BucketSite {
  /// The channels of the committed image; only `live` for a copied site without a ledger.
  func channels() async throws -> [SiteChannel] {
    guard try await exists() else { return [.live] }
    return try await committedFiles().keys.compactMap { path -> SiteChannel? in
      guard case .site(.root(let channel)) = path else { return nil }
      return channel
    }
  }
}
