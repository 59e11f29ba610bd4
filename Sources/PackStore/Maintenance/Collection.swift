import CPackStore

extension Store {
  /// How ``Store/collect(options:progress:)`` frees space.
  public struct CollectOptions: Hashable, Sendable {
    /// The maximum number of bytes to copy; `nil`: no limit.
    public var copyByteLimit: Int?

    /// The time after which no further step begins; `nil`: no limit.
    public var timeLimit: Duration?

    /// Whether to estimate the result without changing anything.
    public var isDryRun: Bool

    /// Whether to wait while another writer holds the lock, rather than fail with `busy`.
    public var waitsForWriters: Bool

    public init(
      copyByteLimit: Int? = nil, timeLimit: Duration? = nil, isDryRun: Bool = false, waitsForWriters: Bool = true
    ) {
      self.copyByteLimit = copyByteLimit
      self.timeLimit = timeLimit
      self.isDryRun = isDryRun
      self.waitsForWriters = waitsForWriters
    }

    /// Zero means "no limit" to the core, so the smallest limit is 1.
    fileprivate var core: pks_collect_request {
      var request = pks_collect_request()
      request.copy_bytes = copyByteLimit.map { UInt64(max($0, 1)) } ?? 0
      request.time_ns = timeLimit.map { UInt64(min(max($0 / .nanoseconds(1), 1), 1e18)) } ?? 0
      request.dry_run = isDryRun
      request.no_wait = !waitsForWriters
      return request
    }
  }

  /// The result of a collection; for a dry run, an estimate of the part that needs copying.
  public struct CollectResult: Hashable, Codable, Sendable {
    /// The decrease of the total size of the store's files, in bytes.
    public let freedByteCount: Int

    /// Bytes stored again.
    public let copiedByteCount: Int

    /// Segments emptied.
    public let emptiedSegmentCount: Int

    /// Generations created.
    public let commitCount: Int

    private enum CodingKeys: String, CodingKey {
      case freedByteCount = "freedBytes", copiedByteCount = "copiedBytes", emptiedSegmentCount = "emptiedSegments"
      case commitCount = "commits"
    }

    fileprivate init(_ totals: pks_collect_totals) {
      freedByteCount = Int(clamping: totals.freed_bytes)
      copiedByteCount = Int(clamping: totals.copied_bytes)
      emptiedSegmentCount = Int(clamping: totals.emptied_count)
      commitCount = Int(clamping: totals.commit_count)
    }
  }

  /// Frees data that no version needs: first whole files, then dead bytes inside segments, by storing the live rest of those
  /// segments again.
  ///
  /// Commits already free everything that needs no copying, and part of the rest. This call frees the remainder, or as much as the
  /// options allow, beginning with the segments that free the most per copied byte. Content, numbers, dates and attributes of all
  /// versions stay. Readers are not blocked, and keep their files until they finish; other writers wait for milliseconds.
  ///
  /// Runs on a thread that may block. Cancelling the task ends it soon, with `CancellationError`; space freed until then stays
  /// free.
  ///
  /// - Parameters:
  ///   - options: limits, and whether to change anything.
  ///   - progress: called on a thread of the store, starting from zero for each part.
  /// - Throws: `isSite` for a site's store, which publishing collects; `readOnly`; `busy`; `conflict` if other writers committed
  ///   first in every attempt; `corrupt` and `purged` if needed data cannot be read; `noSpace`, `ioError`, `outOfMemory`;
  ///   `CancellationError`.
  /// - Returns: the freed and copied bytes.
  /// - Complexity: O(*n*) in the assets of the versions that use segments with dead bytes, and in the copied bytes.
  @discardableResult
  public func collect(
    options: CollectOptions = .init(), progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> CollectResult {
    try await BlockingExecutor.run { try self.collectNow(options, progress) }
  }

  /// The total size of the segment files that commits through this object have unlinked since it was opened, including garbage of
  /// earlier commits. Files that readers retain count only when a later commit unlinks them. Commits through other objects and
  /// processes do not count.
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
    if !options.isDryRun { GenerationNotifier.shared.ring() }
    return CollectResult(totals)
  }
}
