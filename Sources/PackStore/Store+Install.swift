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
  ///   cancelled task stops at the next progress, with `cancelled`, and leaves the store as it was.
  @discardableResult
  public func install(
    folder: FilePath, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws(PackStoreError) -> InstallResult {
    try await change(durability) { transaction throws(PackStoreError) in
      try transaction.install(folder: folder, as: pack, options: options, progress: progress)
    }
  }

  /// Installs a folder as the next version of a pack: chunks, deduplicates, compresses and commits it.
  @discardableResult
  public func install(
    folder: String, as pack: PackID, options: InstallOptions = .init(), durability: Durability = .durable,
    progress: (@Sendable (InstallProgress) -> Void)? = nil
  ) async throws(PackStoreError) -> InstallResult {
    try await install(folder: FilePath(folder), as: pack, options: options, durability: durability, progress: progress)
  }

  /// Removes a pack and its history. Snapshots that show it go on showing it.
  ///
  /// - Throws: `notFound` when there is no such pack; what ``Transaction/commit()`` throws.
  public func remove(_ pack: PackID, durability: Durability = .durable) async throws(PackStoreError) {
    try await change(durability) { transaction throws(PackStoreError) in try transaction.remove(pack) }
  }

  /// Says who wins when several packs have the same path: the higher priority.
  ///
  /// - Throws: `notFound` when there is no such pack; what ``Transaction/commit()`` throws.
  public func setPriority(
    of pack: PackID, to priority: Int32, durability: Durability = .durable
  ) async throws(PackStoreError) {
    try await change(durability) { transaction throws(PackStoreError) in
      try transaction.setPriority(of: pack, to: priority)
    }
  }

  /// One transaction around `body`. If another writer changes the same pack between staging and commit, the change is
  /// staged again on top of that: what was stored the first time is found, so a second round costs little.
  func change<Result: Sendable>(
    _ durability: Durability, _ body: @Sendable (inout Transaction) throws(PackStoreError) -> Result
  ) async throws(PackStoreError) -> Result {
    try await BlockingExecutor.run { () throws(PackStoreError) in
      var rounds = 1
      while true {
        var transaction = try self.makeTransaction(options: .init(durability: durability))
        let result = try body(&transaction)
        do throws(PackStoreError) {
          try transaction.commit()
          return result
        } catch {
          guard error.code == .conflict, rounds < Self.conflictRounds else { throw error }
          rounds += 1
        }
      }
    }
  }

  /// How often a change is staged before a conflict is reported.
  private static let conflictRounds = 5
}
