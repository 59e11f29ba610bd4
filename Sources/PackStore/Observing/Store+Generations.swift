import CPackStore

/// Detecting new generations.
extension Store {
  /// Returns the newest generation, committed by any process.
  ///
  /// - Complexity: a few loads if no process has committed since this store's last check. Otherwise, or if the store's control file
  ///   cannot be mapped (network file systems, files that other users own or may write), one system call.
  /// - Throws: `corrupt`, `ioError`, `forked`.
  public func newestGeneration() throws -> Generation {
    var generation: UInt64 = 0
    try check { pks_store_generation(&generation, pointer, $0) }
    return Generation(rawValue: generation)
  }

  /// Opens the newest generation, so that the next snapshot of it needs no system call, and returns its number.
  ///
  /// Calling this is never necessary: every new snapshot shows the newest generation. It moves the cost of opening files from the
  /// first read after a commit to a moment of the app's choice.
  ///
  /// - Throws: the errors of ``makeSnapshot()``.
  @discardableResult
  public func refresh() throws -> Generation { try makeSnapshot().generation }

  /// Returns the generations of this store as a sequence: the newest one first, then each newer one.
  ///
  ///     for try await generation in store.generations() { try await reload(store.makeSnapshot()) }
  ///
  /// See ``Store/Generations``.
  ///
  /// - Parameter interval: the interval of checks for commits of other processes. A check costs as much as ``newestGeneration()``.
  public func generations(every interval: Duration = .milliseconds(100)) -> Generations {
    Generations(store: self, interval: interval)
  }
}
