/// What an event means for a pack.
package struct PolicyDecision: Hashable, Sendable {
  package var pack: AssetPack
  package var reason: PolicyReason

  /// Whether it is fetched.
  package var isFetched: Bool { reason == .event || reason == .update }
}

/// What an app's extension says of packs.
package struct FilterAnswer: Hashable, Sendable {
  /// The ids of those to fetch.
  package var wanted: Set<String>
  /// It ended, or had to be ended, before it had answered: an app does not wait for its essential packs then.
  package var hasCrashed = false

  package init(wanted: Set<String>, hasCrashed: Bool = false) {
    self.wanted = wanted
    self.hasCrashed = hasCrashed
  }
}
