public import PackStore

extension Store {
  /// Updates packs to the versions that a site offers: fetches the missing data, and commits everything in one atomic step.
  ///
  ///     let result = try await store.pull(from: "https://example.com/packs")
  ///
  /// Data of an interrupted pull is kept, and the next pull reuses it, in any process. Packs that are held since a rollback are
  /// skipped, and so are packs that the site no longer has.
  ///
  /// At first contact, the key that signed the site's root is pinned as soon as the root is accepted, before anything is fetched,
  /// so that a pull which resumes an interrupted one uses the same publisher. The key stays pinned even if the pull fails; the
  /// progress reports it.
  ///
  /// - Parameters:
  ///   - site: an `http:`, `https:` or `file:` URL, or the path of a folder or archive.
  ///   - packs: by default all that the site has.
  ///   - progress: called often, on a thread of the store.
  /// - Throws: `DeliveryError` for faults of the site, the network or a key; `PackStoreError` for the store; `CancellationError`,
  ///   soon after the task is cancelled. The store is then unchanged.
  @discardableResult
  public func pull(
    from site: String, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await pull(from: site, packs: packs, options: options, isPlan: false, progress: progress)
  }

  /// Pulls from a site at a URL.
  @discardableResult
  public func pull(
    from site: URL, packs: [PackID]? = nil, options: PullOptions = .init(),
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await pull(from: site.absoluteString, packs: packs, options: options, progress: progress)
  }

  /// Computes the data that ``pull(from:packs:options:progress:)-(String,_,_,_)`` would fetch. Fetches the necessary metadata, and
  /// keeps it for a pull; creates no version, and pins no key.
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

  /// Pulls from a source, which stays open.
  package func pull(
    from source: any SiteSource, packs: [PackID]?, options: PullOptions, isPlan: Bool = false,
    progress: (@Sendable (PullProgress) -> Void)? = nil
  ) async throws -> PullResult {
    try await BlockingExecutor.runAsync {
      try await SitePull(
        store: self, source: source, packs: packs, options: options, isPlan: isPlan, report: progress
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

/// Creates the source for a folder or an archive.
private func makeSource(atPath path: String, _ pace: Pace) throws -> any SiteSource {
  let isArchive = pathExists(FilePath(path)) && !isFolder(FilePath(path))
  return isArchive ? try ArchiveSource(path, pace: pace) : FolderSource(path, pace: pace)
}

extension Store.PullOptions {
  /// The pause and the rate limit of a pull.
  var pace: Pace {
    let ownLimit = byteRateLimit.map { RateLimit(bytesPerSecond: max($0, 1), clock: clock) }
    return Pace(pause: pause, limit: sharedRateLimit ?? ownLimit)
  }

  #if Delivery
    /// The options of the requests of a pull.
    func httpOptions(_ pace: Pace) -> HTTPSource.Options {
      var http = HTTPSource.Options()
      http.stallLimit = stallLimit
      http.limits = limits
      http.retry.attemptLimit = max(attemptLimit, 1)
      http.clock = clock
      http.pace = pace
      http.environment = environment ?? processEnvironment()
      http.authority = authority
      http.authorization = authorization
      http.network = network
      http.permitsHost = permitsHost
      return http
    }
  #endif
}

/// Creates the source for a URL or path.
package func makeSource(_ site: String, _ options: Store.PullOptions) throws -> any SiteSource {
  guard !site.isEmpty else { throw DeliveryError(.invalidLocation, "the name of the site is empty") }
  let pace = options.pace
  guard let scheme = site.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) else {
    return try makeSource(atPath: site, pace)
  }
  guard scheme.output.lowercased() != "file://" else {
    return try makeSource(atPath: path(ofFileURL: site), pace)
  }
  #if Delivery
    return try HTTPSource(site, options: options.httpOptions(pace))
  #else
    let shown = withoutSecrets(site)
    throw DeliveryError(.noHTTP, "this program was built without HTTP", at: shown)
  #endif
}
