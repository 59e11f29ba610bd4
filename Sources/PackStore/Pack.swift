import CPackStore

/// A pack as a snapshot or a transaction shows it. A copy: it outlives both.
public struct Pack: Identifiable, Hashable, Sendable {
  public let id: PackID

  /// Who wins when several packs have the same path: the higher priority, then the pack that was first installed
  /// earlier.
  public let priority: Int32

  /// The version that is read.
  public let version: PackVersion

  /// How many versions are kept, the current one included.
  public let keptVersionCount: Int

  init(_ pack: pks_pack) {
    id = PackID(trusted: pack.name)
    priority = pack.priority
    version = PackVersion(pack.current, of: id)
    keptVersionCount = Int(pack.version_count)
  }
}
