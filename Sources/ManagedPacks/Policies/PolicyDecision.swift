/// The decision on a pack for an event.
package struct PolicyDecision: Hashable, Sendable {
  package var pack: AssetPack
  package var reason: PolicyReason

  /// Whether the pack is downloaded.
  package var isFetched: Bool { reason == .event || reason == .update }
}

/// The decision of an app's extension on packs.
package struct FilterAnswer: Hashable, Sendable {
  /// The ids of the packs to download.
  package var wanted: Set<String>
  /// Whether the extension ended, or was ended, before it answered. The app then does not wait for its essential packs.
  package var hasCrashed = false

  package init(wanted: Set<String>, hasCrashed: Bool = false) {
    self.wanted = wanted
    self.hasCrashed = hasCrashed
  }
}
