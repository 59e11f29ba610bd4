import PackStore

/// Keeps the ``SharedBase`` up to date with the store of an agent's group.
struct GroupSharing: Sendable {
  /// `nil` if no home folder is set.
  private let base: SharedBase?

  init(environment: [String: String]) { base = try? SharedBase(environment: environment) }

  /// Shares a store's packs if the group is registered and the store has changed.
  ///
  /// - Parameter last: the result of the previous call; `nil` at first.
  /// - Returns: the shared generation; `nil` if the group is not registered.
  /// - Throws: the errors of ``SharedBase/update(_:from:)``.
  func update(_ group: GroupFolder, from store: Store, since last: Store.Generation?) async throws -> Store.Generation?
  {
    guard let base, group.home == group.path, base.contains(group) else { return nil }
    let generation = try store.makeSnapshot().generation
    guard generation != last else { return last }
    try await BlockingExecutor.run { try base.update(group, from: store) }
    return generation
  }
}
