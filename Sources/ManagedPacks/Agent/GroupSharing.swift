import PackStore

/// Keeps the ``SharedBase`` up to date with the store of an agent's group.
struct GroupSharing: Sendable {
  /// `nil` if no home folder is set.
  private let base: SharedBase?

  /// The pause between two attempts while another process changes the base.
  private static let interval = Duration.milliseconds(250)

  init(environment: [String: String]) { base = try? SharedBase(environment: environment) }

  /// Shares a store's packs if the group is registered and the store has changed.
  ///
  /// - Parameters:
  ///   - last: the result of the previous call; `nil` at first.
  ///   - attemptLimit: the number of attempts while another process changes the base.
  /// - Returns: the shared generation, or `last` after these attempts; `nil` if the group is not registered.
  /// - Throws: the errors of ``SharedBase/update(_:from:)`` except `busy`; `CancellationError`.
  func update(
    _ group: GroupFolder, from store: Store, since last: Store.Generation?, attemptLimit: Int
  ) async throws -> Store.Generation? {
    guard let base, group.home == group.path, base.contains(group) else { return nil }
    let generation = try store.makeSnapshot().generation
    guard generation != last else { return last }
    for attempt in 1...max(attemptLimit, 1) {
      if attempt > 1 { try await Task.sleep(for: Self.interval) }
      do {
        try await BlockingExecutor.run { try base.update(group, from: store) }
        return generation
      } catch let error as PackStoreError where error.code == .busy {}
    }
    return last
  }
}
