public import SystemPackage

/// One change, one commit, staged again when another writer changed the same pack meanwhile. To change several packs at
/// once, see ``Store/write(options:_:)``.
extension Store {
  /// Installs a folder as the next version of a pack: chunks, deduplicates, compresses and commits it.
  ///
  /// A folder whose content is the current version's makes no new version. Private memory stays bounded whatever the
  /// folder holds.
  ///
  /// - Parameter progress: called at least every 16 MiB or 1,000 files, on a thread of the store's.
  /// - Throws: what ``Transaction/install(folder:as:options:progress:)`` and ``Transaction/commit()`` throw. A
  ///   cancelled task stops at the next progress, with `CancellationError`, and leaves the store as it was.
  @discardableResult
  public func install(
    folder: FilePath, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await change(options: .init(durability: durability)) { transaction in
      try transaction.install(folder: folder, as: pack, options: options, progress: progress)
    }
  }

  /// Installs a folder as the next version of a pack: chunks, deduplicates, compresses and commits it.
  @discardableResult
  public func install(
    folder: String, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws -> InstallResult {
    try await install(folder: FilePath(folder), as: pack, options: options, durability: durability, progress: progress)
  }

  /// Removes a pack and its history. Snapshots that show it go on showing it.
  ///
  /// - Throws: `notFound` when there is no such pack; what ``Transaction/commit()`` throws.
  public func remove(_ pack: PackID, durability: Durability = .durable) async throws {
    try await change(options: .init(durability: durability)) { transaction in try transaction.remove(pack) }
  }

  /// Says who wins when several packs have the same path: the higher priority.
  ///
  /// - Throws: `notFound` when there is no such pack; what ``Transaction/commit()`` throws.
  public func setPriority(
    of pack: PackID, to priority: Int32, durability: Durability = .durable
  ) async throws {
    try await change(options: .init(durability: durability)) { transaction in
      try transaction.setPriority(of: pack, to: priority)
    }
  }

  /// Stages changes and commits them as one atomic switch, on a thread that may block, and stages them again where another
  /// writer changed the same pack between staging and commit.
  ///
  ///     try await store.change { transaction in
  ///       try transaction.install(folder: "Assets/Level1", as: "Level1")
  ///       try transaction.remove("Tutorial")
  ///     }
  ///
  /// What was stored the first time is found again, so that another round costs little. Where `body` should run once at
  /// most, see ``write(options:_:)-(_,(Transaction)->Result)``.
  ///
  /// - Parameter body: called once for each round, five times at most. It decides by what the transaction shows, not by
  ///   what was read before.
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
