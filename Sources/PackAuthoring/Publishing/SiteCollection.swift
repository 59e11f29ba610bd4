public import PackFormats
public import PackStore

extension Site {
  /// The result of ``collect(signedBy:options:isDryRun:)``.
  public struct CollectionResult: Hashable, Codable, Sendable {
    /// Versions that the policy does not keep. Their files stay for the grace period.
    public let droppedVersions: [PackVersion]

    /// Files that were deleted, because their grace period was over or nothing needed them.
    public let deletedFileCount: Int
    public let freedByteCount: Int

    /// Bytes of files that left the roots and are still available.
    public let retiredByteCount: Int
  }

  /// Removes versions that the site's policy does not keep, and deletes files whose grace period is over, without a publication.
  ///
  /// - Parameters:
  ///   - key: the key that signed the site before.
  ///   - options: `keptVersionCount` and `gracePeriod` in place of the policy, and whether to wait; others are ignored.
  ///   - isDryRun: whether to compute the versions to drop without changing anything.
  /// - Throws: `untrusted` if the site is signed by another key, or a later key replaced it; `invalidArgument`; `busy`; `noSpace`,
  ///   `ioError`, `outOfMemory`, `corrupt`.
  @discardableResult
  public func collect(
    signedBy key: SiteKey, options: PublishOptions = .init(), isDryRun: Bool = false
  ) async throws -> CollectionResult {
    try await BlockingExecutor.run {
      try SiteCollection(of: self, signedBy: key, options: options, isDryRun: isDryRun).run()
    }
  }
}

/// A collection of a site: a publication without new versions. ``SiteChange`` describes how the site stays consistent.
struct SiteCollection {
  let site: Site
  let key: SiteKey
  let options: Site.PublishOptions
  let isDryRun: Bool
  var folder: SiteFolder

  /// The current time, in nanoseconds since 1970.
  var now = nanosecondsSince1970()

  init(of site: Site, signedBy key: SiteKey, options: Site.PublishOptions, isDryRun: Bool = false) {
    self.site = site
    self.key = key
    self.options = options
    self.isDryRun = isDryRun
    folder = site.folder
  }

  func run() throws -> Site.CollectionResult {
    let lock = try isDryRun ? nil : folder.lock(waits: options.waitsForOthers)
    defer { withExtendedLifetime(lock) {} }
    var change = try SiteChange(
      of: site.store, named: site.store.id, channel: nil, in: folder, signedBy: key, options: options, now: now,
      progress: nil)
    try change.requireOwnChannel()
    let before = try files(of: change)
    if !isDryRun { try change.settle() }
    let surplus = try surplus(in: change)
    if !isDryRun {
      change.leaving = Set(surplus)
      try change.finish()
      try change.drop(surplus)
      try change.collect()
    }
    let after = isDryRun ? before : try files(of: change)
    let deleted = before.filter { after[$0.key] == nil }
    return Site.CollectionResult(
      droppedVersions: surplus, deletedFileCount: deleted.count,
      freedByteCount: Int(clamping: deleted.values.clampedSum()),
      retiredByteCount: Int(clamping: change.retired.byteCount))
  }

  private func surplus(in change: SiteChange) throws -> [PackVersion] {
    let snapshot = try site.store.makeSnapshot()
    return try snapshot.packs.flatMap { pack in
      let versions = snapshot.versions(of: pack.id)
      let reasons = try change.reasons(for: versions, of: pack.id) { try snapshot.attributes(of: $0).isPurgeable }
      return versions.filter { reasons[$0.number] == nil }
    }
  }

  /// The site's immutable files, and their lengths.
  private func files(of change: SiteChange) throws -> [SitePath: UInt64] {
    let known = change.files.merging(change.retired.entries.mapValues(\.byteCount)) { first, _ in first }
    guard !folder.isCopy else { return known }
    return try folder.immutableFiles { _ in true }
  }
}
