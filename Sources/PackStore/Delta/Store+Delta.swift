extension Store {
  /// Applies an unsigned delta: the version that it leads to becomes the pack's current version.
  ///
  /// - Parameters:
  ///   - file: the file that contains the delta.
  ///   - options: priority, origin, and how new chunks are compressed.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store.
  /// - Throws: the errors of ``DeltaFile/init(_:)`` and of ``Transaction/apply(_:options:progress:)``.
  @discardableResult
  public func apply(
    delta file: FilePath, options: ApplyOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.apply(DeltaFile(file), options: options, progress: progress)
    }
  }
}
