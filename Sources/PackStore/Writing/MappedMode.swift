internal import CPackStore

extension Store {
  /// Whether a store reads in the mapped mode, or why not.
  public enum MappedMode: String, Hashable, Sendable, CaseIterable {
    /// Not requested: ``Store/Options/usesMappedMode``.
    case off
    case on
    /// The store's folder, or one above it, belongs to another user.
    case otherOwner
    /// Others may write to the store's folder, or to one above it.
    case writableByOthers
    /// The store is not known to be on a disk of this machine.
    case notLocal
    /// The system does not report who may write to the store.
    case unknown
  }

  /// Whether ``Options/usesMappedMode`` is in effect, or why not; decided when the store was opened.
  public var mappedMode: MappedMode {
    switch pks_store_mapped_mode(pointer) {
    case PKS_MAPPED_OFF: .off
    case PKS_MAPPED_ON: .on
    case PKS_MAPPED_OTHER_OWNER: .otherOwner
    case PKS_MAPPED_WRITABLE_BY_OTHERS: .writableByOthers
    case PKS_MAPPED_NOT_LOCAL: .notLocal
    default: .unknown
    }
  }
}
