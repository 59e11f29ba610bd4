import CPackStore

extension Store {
  /// How ``Store/collect(options:progress:)`` frees space.
  public struct CollectOptions: Hashable, Sendable {
    /// Bytes that may be copied at most; nil: no bound.
    public var copyByteLimit: Int?

    /// After that much time nothing more is begun; nil: no bound.
    public var timeLimit: Duration?

    /// Only finds out what there is to do.
    public var isDryRun: Bool

    /// Waits while another writer holds the lock; otherwise that is `busy`.
    public var waitsForWriters: Bool

    public init(
      copyByteLimit: Int? = nil, timeLimit: Duration? = nil, isDryRun: Bool = false, waitsForWriters: Bool = true
    ) {
      self.copyByteLimit = copyByteLimit
      self.timeLimit = timeLimit
      self.isDryRun = isDryRun
      self.waitsForWriters = waitsForWriters
    }

    /// Zero means "no bound" to the core, so that the smallest bound is one.
    fileprivate var core: pks_collect_request {
      var request = pks_collect_request()
      request.copy_bytes = copyByteLimit.map { UInt64(max($0, 1)) } ?? 0
      request.time_ns = timeLimit.map { UInt64(min(max($0 / .nanoseconds(1), 1), 1e18)) } ?? 0
      request.dry_run = isDryRun
      request.no_wait = !waitsForWriters
      return request
    }
  }

  /// What a collection freed; of a dry run, about what one would free by copying.
  public struct CollectResult: Hashable, Codable, Sendable {
    /// How much smaller the files of the store are now.
    public let freedByteCount: Int

    /// Bytes that were stored again.
    public let copiedByteCount: Int

    /// Segments that were emptied.
    public let emptiedSegmentCount: Int

    /// Generations that were made.
    public let commitCount: Int

    fileprivate init(_ totals: pks_collect_totals) {
      freedByteCount = Int(clamping: totals.freed_bytes)
      copiedByteCount = Int(clamping: totals.copied_bytes)
      emptiedSegmentCount = Int(clamping: totals.emptied_count)
      commitCount = Int(clamping: totals.commit_count)
    }
  }

  /// Frees what no version needs: first whole files, then dead bytes inside segments, by storing again what is needed of
  /// these.
  ///
  /// Commits free by themselves what takes no copying, and a part of the rest. This does all of it, or as much as the options
  /// allow, the segments first of which most goes for what is copied. Content, numbers, dates and attributes of all versions
  /// stay. Readers go on, and keep what they read until they are done; other writers wait for milliseconds.
  ///
  /// On a thread that may block. A cancelled task ends it soon, with `CancellationError`; what was freed by then stays so.
  ///
  /// - Parameters:
  ///   - options: bounds, and whether to do anything.
  ///   - progress: called on a thread of the store's, for each part again from the beginning.
  /// - Throws: `isSite` when the store is a site's, which publishing collects; `readOnly`; `busy`; `conflict` when other writers
  ///   were always faster; `corrupt` and `purged` when something that is needed cannot be read; `noSpace`, `ioError`,
  ///   `outOfMemory`; `CancellationError`.
  /// - Returns: what was freed.
  /// - Complexity: O(*n*) in the assets of the versions that lead to segments with dead bytes, and in what is copied.
  @discardableResult
  public func collect(
    options: CollectOptions = .init(), progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> CollectResult {
    try await BlockingExecutor.run { try self.collectNow(options, progress) }
  }

  /// The sizes of the segment files that commits of this object have unlinked since it was opened: what they freed, of earlier
  /// commits too. What readers hold comes with a later commit; what commits of other objects and processes freed is not in it.
  public var freedByteCount: Int { Int(clamping: pks_store_freed_bytes(pointer)) }

  private func collectNow(_ options: CollectOptions, _ progress: ((InstallProgress) -> Void)?) throws -> CollectResult {
    var observer = InstallObserver(progress: progress)
    var totals = pks_collect_totals()
    try Task.checkCancellation()
    try naming(path) {
      try check { error in
        withContext(&observer) { context in
          var request = options.core
          request.context = context
          request.progress = observeProgress
          return pks_store_collect(pointer, &request, &totals, error)
        }
      }
    }
    if !options.isDryRun { GenerationBell.shared.ring() }
    return CollectResult(totals)
  }
}
