/// Decides when a pack that its publisher has withdrawn is removed from this machine.
package enum ObsoleteRule {
  /// Returns whether a listing shows that a pack is withdrawn. The listing must be current, from the pack's publisher and channel,
  /// newer than the root from which the pack was installed, and must not list the pack. Packs that were added locally, packs with a
  /// pinned version, be it the current or an earlier one, and packs that stay at a version after a rollback are never obsolete.
  ///
  /// - Parameters:
  ///   - pack: the installed pack.
  ///   - source: the root from which it was installed; `nil` if no manager installed it.
  package static func isObsolete(_ pack: Facts, source: Journal.Source?, listing: SiteListing) -> Bool {
    guard let source, !pack.isHeld, !pack.isPinned, !listing.isStale else { return false }
    switch pack.origin {
    case .local, .unknown: return false
    case .signed, .unsigned: break
    }
    return pack.origin == listing.origin && source.origin == listing.origin && source.channel == listing.channel
      && listing.root > source.root && !listing.packs.contains { $0.id == pack.id }
  }

  /// The relevant facts about an installed pack.
  package struct Facts: Hashable, Sendable {
    package var id: PackID
    package var origin: Store.Origin
    package var isHeld = false

    /// Whether any kept version is pinned: the removal of the pack would delete it.
    package var isPinned = false

    package init(id: PackID, origin: Store.Origin, isHeld: Bool = false, isPinned: Bool = false) {
      self.id = id
      self.origin = origin
      self.isHeld = isHeld
      self.isPinned = isPinned
    }

    /// - Parameter versions: the kept versions of the pack.
    package init(_ pack: Store.Pack, versions: [PackVersion]) {
      self.init(
        id: pack.id, origin: pack.origin, isHeld: pack.isHeld,
        isPinned: pack.version.isPinned || versions.contains(where: \.isPinned))
    }
  }
}
