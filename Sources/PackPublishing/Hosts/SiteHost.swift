public import PackAuthoring
public import PackFormats
public import PackStore

/// The seam between a site and where it is kept: what is done to a site is done in a folder, which is the site itself
/// (``FolderHost``), or a copy of what a storage has (``BucketSite``).
public protocol SiteHost: Sendable {
  /// As errors name it.
  var location: String { get }

  /// Whether a site was made there.
  func exists() async throws -> Bool

  /// Lends the site for reading its roots and the list of its versions. Neither catalogs and attributes of versions nor the content of
  /// packs need be there.
  func read<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result

  /// Lends the site for reading its versions: catalogs, attributes, and stored sizes. The content of packs may be missing.
  func readVersions<Result: Sendable>(_ body: @Sendable (Site) async throws -> Result) async throws -> Result

  /// Lends the site for a change; what comes of it counts when this returns. `body` may be called several times, where another
  /// publisher was faster.
  ///
  /// - Parameters:
  ///   - key: the one that signed the site before.
  ///   - makesSite: makes a site where there is none.
  ///   - isDryRun: nothing is to come of it.
  ///   - events: told what happens besides.
  ///   - reading: the versions whose content `body` reads; nil: it reads none.
  @discardableResult
  func change<Result: Sendable>(
    signedBy key: SiteKey, makesSite: Bool, isDryRun: Bool, events: @escaping @Sendable (SiteChangeEvent) -> Void,
    reading: (@Sendable (Site) async throws -> [PackVersion])?,
    _ body: @Sendable (Site) async throws -> Result
  ) async throws -> Result

  /// Ends what it takes to reach the site. Nothing else may be called then.
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
