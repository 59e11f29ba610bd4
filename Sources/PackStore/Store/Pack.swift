import CPackStore

extension Store {
  /// A pack in a snapshot or a transaction. A copy: it outlives both.
  public struct Pack: Identifiable, Hashable, Codable, Sendable {
    public let id: PackID

    /// The publisher that may change it.
    public let origin: Origin

    /// The pack's precedence among packs of one origin with the same path: the highest priority wins, then the pack that was first
    /// installed earliest.
    public let priority: Int32

    /// The current version; for a removed pack, the last one.
    public let version: PackVersion

    /// The highest number that any version of the pack ever had.
    public let highestVersion: UInt64

    /// Whether the pack was removed, and only its history is kept.
    public let isRemoved: Bool

    /// Whether the pack is held at its version, since a rollback, until it is unpinned.
    public let isHeld: Bool

    /// Where its data is stored.
    public let placement: Placement

    /// Whether a user chose the placement, rather than the pack's version.
    public let isPlacedByHand: Bool

    /// The number of kept versions, including the current one.
    public let keptVersionCount: Int

    init(_ pack: pks_pack) {
      id = PackID(trusted: pack.name)
      origin = Origin(pack.origin)
      priority = pack.priority
      version = PackVersion(pack.current, of: id)
      highestVersion = pack.highest_version
      isRemoved = pack.removed
      isHeld = pack.held
      placement = pack.purgeable ? .purgeable : .durable
      isPlacedByHand = pack.placed_by_hand
      keptVersionCount = Int(pack.version_count)
    }
  }
}
