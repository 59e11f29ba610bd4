internal import CPackStore

extension Store {
  /// Whether a store reads in the mapped mode, or why it does not.
  public enum MappedMode: String, Hashable, Sendable, CaseIterable {
    /// It was not asked for: ``Store/Options/usesMappedMode``.
    case off
    case on
    /// The store's folder, or one above it, belongs to another user.
    case otherOwner
    /// Others may write to the store's folder, or to one above it.
    case writableByOthers
    /// The store is not known to lie on a disk of this machine.
    case notLocal
    /// The system does not say who may write to the store.
    case unknown
  }

  /// What became of ``Options/usesMappedMode``, decided when the store was opened.
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
