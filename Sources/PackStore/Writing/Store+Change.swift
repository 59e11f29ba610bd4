/// One change, one commit, staged again when another writer changed the same pack meanwhile. Each is the method of
/// ``Transaction`` of the same name, and throws what that and ``Transaction/commit()`` throw. A cancelled task ends it
/// with `CancellationError` and leaves the store as it was.
///
/// For several changes in one commit, see ``change(options:_:)``.
extension Store {
  /// Installs a folder as the next version of a pack: chunks, deduplicates, compresses and commits it.
  ///
  /// A folder whose content is the current version's makes no new version. Private memory stays bounded whatever the
  /// folder holds.
  ///
  /// - Parameters:
  ///   - folder: the folder to install.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store's.
  @discardableResult
  public func install(
    folder: FilePath, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.install(folder: folder, as: pack, options: options, progress: progress)
    }
  }

  /// Finds out what installing a folder would come to. It is staged and dropped: nothing of the store changes, but it has to be
  /// writable.
  ///
  /// - Parameters:
  ///   - folder: the folder.
  ///   - pack: the pack that would get the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - transactionOptions: those of the transaction that would install it.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store's.
  /// - Throws: what installing throws, but for what only a commit finds out.
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

  /// Installs what is selected of a folder as the next version of a pack, as if it lay in a folder of its own.
  ///
  /// - Parameters:
  ///   - selection: what to install of which folder, under which paths.
  ///   - pack: the pack that gets the version; it need not exist yet.
  ///   - options: compression, layout, links, mapped files.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store's.
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
  ///   - progress: called at least every 16 MiB or 1,000 files, on a thread of the store's.
  @discardableResult
  public func copy(
    _ pack: PackID, version: UInt64? = nil, from source: Snapshot, options: CopyOptions = .init(),
    durability: Durability = .durable, progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.copy(pack, version: version, from: source, options: options, progress: progress)
    }
  }

  /// Gives a pack other attributes: a new version of its present content.
  ///
  /// - Parameters:
  ///   - attributes: what the version is to say besides its content.
  ///   - pack: a pack that is installed.
  ///   - version: its number; by default one more than the highest that the pack ever had.
  ///   - durability: whether the commit survives a loss of power.
  ///   - progress: called on a thread of the store's.
  @discardableResult
  public func setAttributes(
    _ attributes: Attributes, of pack: PackID, version: UInt64? = nil, durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) {
      try $0.setAttributes(attributes, of: pack, version: version, progress: progress)
    }
  }

  /// Removes a pack, and its history unless that is kept. Snapshots that show it go on showing it.
  public func remove(_ pack: PackID, keepsHistory: Bool = false, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.remove(pack, keepsHistory: keepsHistory) }
  }

  /// Makes a kept version of a pack its current one again, by default the one before, and holds the pack there until
  /// ``unpin(_:durability:)``.
  @discardableResult
  public func rollBack(
    _ pack: PackID, toVersion version: UInt64? = nil, allowsPurged: Bool = false, durability: Durability = .durable
  ) async throws -> PackVersion {
    try await change(options: .init(durability: durability)) {
      try $0.rollBack(pack, toVersion: version, allowsPurged: allowsPurged)
    }
  }

  /// Drops all versions of a pack but the `count` that were current last, and those that are pinned.
  public func trim(_ pack: PackID, keeping count: Int, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.trim(pack, keeping: count) }
  }

  /// Keeps a version, whatever the number of versions to keep.
  public func pin(_ pack: PackID, version: UInt64, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.pin(pack, version: version) }
  }

  /// Pins no version of the pack any more, and lets the pack move again after a rollback.
  public func unpin(_ pack: PackID, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.unpin(pack) }
  }

  /// Says which pack wins when several have the same path: the one of higher priority.
  public func setPriority(_ priority: Int32, of pack: PackID, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { try $0.setPriority(priority, of: pack) }
  }

  /// Stages changes and commits them as one atomic switch, on a thread that may block, and stages them again where
  /// another writer changed the same pack between staging and commit.
  ///
  ///     try await store.change { transaction in
  ///       try transaction.install(folder: "Assets/Level1", as: "Level1")
  ///       try transaction.remove("Tutorial")
  ///     }
  ///
  /// What was stored the first time is found again, so that another round costs little. Where `body` should run once at
  /// most, call `write` instead.
  ///
  /// - Parameters:
  ///   - options: durability, waiting, and how many versions are kept.
  ///   - body: called once for each round, five times at most. It decides by what the transaction shows, not by what was
  ///     read before.
  /// - Throws: what `body` throws, and nothing has happened; what ``Transaction/commit()`` throws, `conflict` after the
  ///   last round; `CancellationError`.
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

  /// How often a change is staged before a conflict is an error.
  package static let changeRoundCount = 5
}
