public import PackStore

extension Store {
  /// Brings packs to the versions that a site offers: fetches what the store does not have, and commits all as one
  /// atomic switch.
  ///
  ///     let result = try await store.pull(from: "https://example.com/packs")
  ///
  /// What came of an interrupted pull is kept, and the next one goes on with it, in any process. A pack that is held
  /// since a rollback is left where it is, and so is one that the site has no more.
  ///
  /// At first contact the key that signed the site's root is pinned as soon as the root is accepted, before anything is
  /// fetched: a pull that goes on with an interrupted one takes it from the same publisher. It stays pinned when the pull
  /// fails, which the progress tells.
  ///
  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, or the path of a folder or archive.
  ///   - packs: by default all that the site has.
  ///   - progress: called often, on a thread of the store's.
  /// - Throws: `DeliveryError` for what the site, the network or a key is to blame for; `PackStoreError` for the store;
  ///   `CancellationError`, soon after the task is cancelled. The store shows what it showed before.
  @discardableResult
  public func pull(
    from site: String, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await pull(from: site, packs: packs, options: options, isPlan: false, progress: progress)
  }

  /// The same from a site at a URL.
  @discardableResult
  public func pull(
    from site: URL, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await pull(from: site.absoluteString, packs: packs, options: options, progress: progress)
  }

  /// Says what ``pull(from:packs:options:progress:)-(String,_,_,_)`` would fetch. Fetches the metadata that it takes to
  /// know that, and keeps it for a pull; no version is made, and no key is pinned.
  public func planPull(
    from site: String, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await pull(from: site, packs: packs, options: options, isPlan: true, progress: progress)
  }

  private func pull(
    from site: String, packs: [PackID]?, options: PullOptions, isPlan: Bool,
    progress: (@Sendable (PullProgress) -> Void)?
  ) async throws -> PullResult {
    let source = try makeSource(site, options)
    do {
      let result = try await pull(from: source, packs: packs, options: options, isPlan: isPlan, progress: progress)
      await source.close()
      return result
    } catch {
      await source.close()
      throw error
    }
  }

  /// The same from a source that stays open.
  package func pull(
    from source: any SiteSource, packs: [PackID]?, options: PullOptions, isPlan: Bool = false,
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await BlockingExecutor.runAsync {
      try await Puller(
        into: self, from: source, packs: packs, options: options, isPlan: isPlan, report: progress
      ).run()
    }
  }
}

/// The folder of a `file:` URL.
private func path(ofFileURL text: String) throws -> String {
  guard let url = URL(string: text), url.isFileURL, url.host ?? "" == "" || url.host == "localhost", !url.path.isEmpty
  else {
    let shown = withoutSecrets(text)
    throw DeliveryError(.invalidLocation, "not the URL of a folder on this machine", at: shown)
  }
  return url.path
}

/// A site in a folder, or in an archive.
private func makeSource(atPath path: String, _ pace: Pace) throws -> any SiteSource {
  let isArchive = pathExists(FilePath(path)) && !isFolder(FilePath(path))
  return isArchive ? try ArchiveSource(path, pace: pace) : FolderSource(path, pace: pace)
}

/// The source that a URL or path means.
package func makeSource(_ site: String, _ options: Store.PullOptions) throws -> any SiteSource {
  guard !site.isEmpty else { throw DeliveryError(.invalidLocation, "the name of the site is empty") }
  let ownLimit = options.byteRateLimit.map { RateLimit(bytesPerSecond: max($0, 1), clock: options.clock) }
  let limit = options.sharedRateLimit ?? ownLimit
  let pace = Pace(pause: options.pause, limit: limit)
  guard let scheme = site.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) else {
    return try makeSource(atPath: site, pace)
  }
  guard scheme.output.lowercased() != "file://" else {
    return try makeSource(atPath: path(ofFileURL: site), pace)
  }
  #if Delivery
    var http = HTTPSource.Options()
    http.stallLimit = options.stallLimit
    http.limits = options.limits
    http.retry.attemptLimit = max(options.attemptLimit, 1)
    http.clock = options.clock
    http.pace = pace
    http.environment = options.environment ?? processEnvironment()
    http.authority = options.authority
    http.authorization = options.authorization
    http.network = options.network
    return try HTTPSource(site, options: http)
  #else
    let shown = withoutSecrets(site)
    throw DeliveryError(.noHTTP, "this program was built without HTTP", at: shown)
  #endif
}
