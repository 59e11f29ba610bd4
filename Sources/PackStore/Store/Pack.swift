import CPackStore

extension Store {
  /// A pack as a snapshot or a transaction shows it. A copy: it outlives both.
  public struct Pack: Identifiable, Hashable, Codable, Sendable {
    public let id: PackID

    /// Who may change it.
    public let origin: Origin

    /// Who wins when several packs of one origin have the same path: the higher priority, then the pack that was first
    /// installed earlier.
    public let priority: Int32

    /// The version that is read; of a removed pack, the one that was.
    public let version: PackVersion

    /// The highest number that any version of it ever had.
    public let highestVersion: UInt64

    /// It has no assets any more, but a history.
    public let isRemoved: Bool

    /// It stays at its version, since a rollback, until it is unpinned.
    public let isHeld: Bool

    /// Where its data lies.
    public let placement: Placement

    /// A user said so; otherwise its version does.
    public let isPlacedByHand: Bool

    /// How many versions are kept, the current one included.
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
