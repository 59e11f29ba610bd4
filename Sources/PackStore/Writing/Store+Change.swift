/// Single changes, each in its own commit. If another writer changes the same pack before the commit, the change is staged again.
/// Each call corresponds to the method of ``Transaction`` with the same name, and throws its errors and the errors of
/// ``Transaction/commit()``. Cancelling the task ends it with `CancellationError` and leaves the store unchanged.
///
/// For several changes in one commit, see ``change(options:_:)``.
extension Store {
  /// Installs a folder as the next version of a pack: chunks, deduplicates, compresses and commits it.
  ///
  /// If the content equals the current version's, no new version is created. Private memory is bounded for any folder.
  ///
  /// - Parameters:
  ///   - folder: the folder to install.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store.
  @discardableResult
  public func install(
    folder: FilePath, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.install(folder: folder, as: pack, options: options, progress: progress)
    }
  }

  /// Computes the result of installing a folder. The installation is staged and dropped: the store does not change, but must be
  /// writable.
  ///
  /// - Parameters:
  ///   - folder: the folder.
  ///   - pack: the pack that would get the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - transactionOptions: the options of the transaction.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store.
  /// - Throws: the errors of an installation, except errors that only a commit detects.
  public func planInstall(
    folder: FilePath, as pack: PackID, options: InstallOptions = .init(),
    transaction transactionOptions: Transaction.Options = .init(),
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await BlockingExecutor.run {
      var transaction = try self.makeTransaction(options: transactionOptions)
      return try transaction.install(folder: folder, as: pack, options: options, progress: progress)
    }
  }

  /// Installs selected files of a folder as the next version of a pack, as if they were in a folder of their own.
  ///
  /// - Parameters:
  ///   - selection: the folder, the files to install, and their paths.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store.
  @discardableResult
  public func install(
    _ selection: Selection, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.install(selection, as: pack, options: options, progress: progress)
    }
  }

  /// Makes a version of another store, or of this one, the pack's current version here.
  ///
  /// - Parameters:
  ///   - pack: its name in both stores.
  ///   - version: the number of a version that `source` keeps; by default its current one.
  ///   - source: a snapshot of the store to copy from.
  ///   - options: priority, origin, and how new chunks are compressed.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store.
  @discardableResult
  public func copy(
    _ pack: PackID, version: UInt64? = nil, from source: Snapshot, options: CopyOptions = .init(),
    durability: Durability = .durable, progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.copy(pack, version: version, from: source, options: options, progress: progress)
    }
  }

  /// Sets the attributes of a pack: creates a new version with the current content.
  ///
  /// - Parameters:
  ///   - attributes: the new attributes.
  ///   - pack: an installed pack.
  ///   - version: its number; by default one more than the highest number the pack ever had.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called on a thread of the store.
  @discardableResult
  public func setAttributes(
    _ attributes: Attributes, of pack: PackID, version: UInt64? = nil, durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.setAttributes(attributes, of: pack, version: version, progress: progress)
    }
  }

  /// Removes a pack, and its history unless it is to be kept. Existing snapshots still show it.
  public func remove(_ pack: PackID, keepsHistory: Bool = false, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.remove(pack, keepsHistory: keepsHistory) }
  }

  /// Makes a kept version of a pack current again, by default the previous one, and holds the pack there until
  /// ``unpin(_:durability:)``.
  @discardableResult
  public func rollBack(
    _ pack: PackID, toVersion version: UInt64? = nil, allowsPurged: Bool = false, durability: Durability = .durable
  ) async throws -> PackVersion {
    try await change(options: .init(durability: durability)) {
      try $0.rollBack(pack, toVersion: version, allowsPurged: allowsPurged)
    }
  }

  /// Drops older versions of a pack: keeps pinned versions and the `count` versions that were current last.
  public func trim(_ pack: PackID, keeping count: Int, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.trim(pack, keeping: count) }
  }

  /// Pins a version: it is kept regardless of the number of versions to keep.
  public func pin(_ pack: PackID, version: UInt64, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.pin(pack, version: version) }
  }

  /// Removes all pins of the pack, and its hold after a rollback.
  public func unpin(_ pack: PackID, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.unpin(pack) }
  }

  /// Sets the priority of a pack: if several packs have the same path, the highest priority wins.
  public func setPriority(_ priority: Int32, of pack: PackID, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.setPriority(priority, of: pack) }
  }

  /// Stages changes and commits them in one atomic step, on a thread that may block. If another writer changes the same pack
  /// between staging and commit, stages them again.
  ///
  ///     try await store.change { transaction in
  ///       try transaction.install(folder: "Assets/Level1", as: "Level1")
  ///       try transaction.remove("Tutorial")
  ///     }
  ///
  /// Data stored in the first round is found again, so that another round costs little. If `body` must run only once, call `write`
  /// instead.
  ///
  /// - Parameters:
  ///   - options: durability, waiting, and the number of versions to keep.
  ///   - body: called once for each round, at most five times. It must decide by the transaction's view, not by earlier reads.
  /// - Throws: the errors of `body`, and the store is unchanged; the errors of ``Transaction/commit()``, including `conflict` after
  ///   the last round; `CancellationError`.
  @discardableResult
  public func change<Result: Sendable>(
    options: Transaction.Options = .init(), _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await BlockingExecutor.run {
      for _ in 1..<Self.changeRoundCount {
        do {
          return try self.write(options: options, body)
        } catch let error as PackStoreError where error.code == .conflict {}
      }
      return try self.write(options: options, body)
    }
  }

  /// The number of times a change is staged before a conflict is an error.
  package static let changeRoundCount = 5
}
