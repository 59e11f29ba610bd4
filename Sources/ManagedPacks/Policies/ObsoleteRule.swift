/// When a pack that is gone from its site is removed here.
package enum ObsoleteRule {
  /// Whether a listing says that a pack is withdrawn: it is valid and no mirror's that lags, of the pack's own publisher and
  /// channel, newer than the one that brought the pack, and has no word of it. What was added here, pinned, or held since a
  /// rollback stays in any case.
  ///
  /// - Parameters:
  ///   - pack: as it is here.
  ///   - source: by which root it came; nil: not by a manager.
  package static func isObsolete(_ pack: Facts, source: Journal.Source?, listing: SiteListing) -> Bool {
    guard let source, !pack.isHeld, !pack.isPinned, !listing.isStale else { return false }
    switch pack.origin {
    case .local, .unknown: return false
    case .signed, .unsigned: break
    }
    return pack.origin == listing.origin && source.origin == listing.origin && source.channel == listing.channel
      && listing.root > source.root && !listing.packs.contains { $0.id == pack.id }
  }

  /// What counts of a pack that is here.
  package struct Facts: Hashable, Sendable {
    package var id: PackID
    package var origin: Store.Origin
    package var isHeld = false
    package var isPinned = false

    package init(id: PackID, origin: Store.Origin, isHeld: Bool = false, isPinned: Bool = false) {
      self.id = id
      self.origin = origin
      self.isHeld = isHeld
      self.isPinned = isPinned
    }

    package init(_ pack: Store.Pack) {
      self.init(id: pack.id, origin: pack.origin, isHeld: pack.isHeld, isPinned: pack.version.isPinned)
    }
  }
}
