import CPackStore

/// Noticing that a store moved on.
extension Store {
  /// The newest generation, by whichever process committed it.
  ///
  /// - Complexity: a few loads, as long as no process has committed anything since this store looked last; then, or
  ///   where the store's control file cannot be mapped (network file systems, files of other users or open to all), one
  ///   system call.
  /// - Throws: `corrupt`, `ioError`, `forked`.
  public func newestGeneration() throws -> Generation {
    var generation: UInt64 = 0
    try check { pks_store_generation(&generation, pointer, $0) }
    return Generation(rawValue: generation)
  }

  /// Opens the newest generation, so that the next snapshot of it costs no system call, and says which one it is.
  ///
  /// Calling this is never necessary: every new snapshot shows the newest generation. It moves the cost of opening
  /// files from the first read after a commit to a moment of the app's choice.
  ///
  /// - Throws: what ``makeSnapshot()`` throws.
  @discardableResult
  public func refresh() throws -> Generation { try makeSnapshot().generation }

  /// The generations of this store as they come: the newest one first, then each newer one that is seen.
  ///
  ///     for try await generation in store.generations() { try await reload(store.makeSnapshot()) }
  ///
  /// See ``Store/Generations``.
  ///
  /// - Parameter interval: how often to look for commits of others. A look costs what ``newestGeneration()`` costs.
  public func generations(every interval: Duration = .milliseconds(100)) -> Generations {
    Generations(store: self, interval: interval)
  }
}
