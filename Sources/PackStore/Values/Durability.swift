import CPackStore

extension Store {
  /// The failures that a commit survives.
  public enum Durability: Sendable {
    /// Power loss.
    case durable
    /// A crash of the process. Power loss may return the store to the last durable generation. Does not wait for a disk.
    case atomic

    var core: pks_durability {
      switch self {
      case .durable: PKS_DURABLE
      case .atomic: PKS_ATOMIC
      }
    }
  }
}
