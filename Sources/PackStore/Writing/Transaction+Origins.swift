import CPackStore

extension Snapshot {
  /// The origins of packs, in descending precedence of their packs. The local origin is always included.
  public var origins: [Store.Origin] {
    (0..<pks_snapshot_origin_count(pointer)).map { Store.Origin(pks_snapshot_origin(pointer, $0)) }
  }
}

extension Transaction {
  /// The origins after the commit, in descending precedence of their packs.
  public var origins: [Store.Origin] {
    (0..<pks_txn_origin_count(pointer)).map { Store.Origin(pks_txn_origin(pointer, $0)) }
  }

  /// Stages the precedence of origins: packs of these origins win first, in this order; the other origins follow in their current
  /// order.
  ///
  /// - Throws: `notFound` for an origin unknown to the store; `invalidArgument` if an origin is listed twice.
  public mutating func setOrder(of origins: [Store.Origin]) throws {
    let core = origins.map(\.core)
    try check { error in
      core.withUnsafeBufferPointer {
        pks_txn_order_origins(pointer, $0.baseAddress, UInt32(clamping: $0.count), error)
      }
    }
  }

  /// Stages that the accepted versions of an origin are forgotten: the next statement about each of its packs is accepted
  /// regardless of its numbers.
  ///
  /// - Throws: `notFound` for an origin unknown to the store.
  package mutating func restart(_ origin: Store.Origin) throws {
    var core = origin.core
    try check { pks_txn_restart_origin(pointer, &core, $0) }
  }

  /// Checks, before any transfer, whether a signed file may make a version the current version of a pack. If the version is already
  /// current and the file's epoch is above the recorded epoch, stages the new epoch.
  ///
  /// - Throws: `otherOrigin`, `downgrade`, `stale`.
  package borrowing func accept(_ version: UInt64, of pack: PackID, by provenance: Provenance) throws {
    var core = provenance.core
    try check { pks_txn_accept_offer(pointer, pack.name, version, &core, $0) }
  }

  /// Returns the version that was last accepted from an origin for a pack, also for a removed pack; `nil` if none was.
  package borrowing func acceptedVersion(of pack: PackID, from origin: Store.Origin) -> UInt64? {
    var core = origin.core
    let version = pks_txn_accepted_version(pointer, pack.name, &core)
    return version == 0 ? nil : version
  }

  /// Stages the removal of an origin, together with the versions last accepted from it.
  ///
  /// - Throws: `notFound`; `invalidArgument` for the local origin, and for an origin that still has a pack or a history.
  public mutating func forget(_ origin: Store.Origin) throws {
    var core = origin.core
    try check { pks_txn_forget_origin(pointer, &core, $0) }
  }
}
