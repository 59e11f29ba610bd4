import CPackStore

extension Store {
  /// What a commit survives.
  public enum Durability: Sendable {
    /// A loss of power.
    case durable
    /// A crash of the process. A loss of power may take the store back to the last durable generation. Waits for no
    /// disk.
    case atomic

    var core: pks_durability {
      switch self {
      case .durable: PKS_DURABLE
      case .atomic: PKS_ATOMIC
      }
    }
  }
}
