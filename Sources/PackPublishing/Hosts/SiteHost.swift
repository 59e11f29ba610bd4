public import PackAuthoring
public import PackFormats
public import PackStore

/// The interface between a site and its place of storage. Work on a site happens in a folder, which is the site itself
/// (``FolderHost``), or a copy of the stored site (``BucketSite``).
public protocol SiteHost: Sendable {
  /// The site's name in errors.
  var location: String { get }

  /// Whether the folder that a change works in has the content of the packs; if not, reading content downloads it.
  var hasContent: Bool { get }

  /// Whether a site exists there.
  func exists() async throws -> Bool

  /// Calls `body` with the site, for reading its roots and the list of its versions. Catalogs and attributes of versions, and the
  /// content of packs, may be missing.
  func read<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result

  /// Calls `body` with the site, for reading its versions: catalogs, attributes, and stored sizes. The content of packs may be
  /// missing.
  func readVersions<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result

  /// Calls `body` with the site, for a change, which takes effect when this returns. `body` may be called several times, if another
  /// publisher was faster.
  ///
  /// - Parameters:
  ///   - key: the key that signed the site before.
  ///   - makesSite: whether to create a missing site.
  ///   - isDryRun: whether to discard the change.
  ///   - events: receives events.
  ///   - reading: the versions whose content `body` reads; `nil`: none.
  @discardableResult
  func change<Result: Sendable>(
    signedBy key: SiteKey, makesSite: Bool, isDryRun: Bool, events: @escaping @Sendable (SiteChangeEvent) -> Void,
    reading: (@Sendable (Site) async throws -> [PackVersion])?,
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result

  /// Closes connections to the site. It cannot be used afterwards.
  func close() async
}

extension SiteHost {
  public func readVersions<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result {
    try await read(body)
  }
}

/// A site that is a folder.
public struct FolderHost: SiteHost {
  public let path: FilePath

  public init(_ path: FilePath) { self.path = path }

  public var location: String { path.string }
  public var hasContent: Bool { true }

  public func exists() async throws -> Bool { Site.exists(at: path) }

  public func read<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result {
    try await body(try Site(existingAt: path))
  }

  @discardableResult
  public func change<Result: Sendable>(
    signedBy key: SiteKey, makesSite: Bool, isDryRun: Bool,
    events: @escaping @Sendable (SiteChangeEvent) -> Void = { _ in },
    reading: (@Sendable (Site) async throws -> [PackVersion])? = nil,
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result {
    let isNew = !pathExists(path)
    let site = try makesSite ? Site(at: path) : Site(existingAt: path)
    do {
      return try await body(site)
    } catch {
      if isNew { Site.removeUnused(at: path) }
      throw error
    }
  }

  public func close() async {}
}
