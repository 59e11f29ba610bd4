import CPackStore

extension Snapshot {
  /// The origins of packs, in the order in which their packs win. The local one is always among them.
  public var origins: [Store.Origin] {
    (0..<pks_snapshot_origin_count(pointer)).map { Store.Origin(pks_snapshot_origin(pointer, $0)) }
  }
}

extension Transaction {
  /// The origins as they will be after the commit, in the order in which their packs win.
  public var origins: [Store.Origin] {
    (0..<pks_txn_origin_count(pointer)).map { Store.Origin(pks_txn_origin(pointer, $0)) }
  }

  /// Stages that the packs of these origins win first, in this order; the others follow as they were.
  ///
  /// - Throws: `notFound` for an origin that the store does not know; `invalidArgument` when one is named twice.
  public mutating func setOrder(of origins: [Store.Origin]) throws {
    let core = origins.map(\.core)
    try check { error in
      core.withUnsafeBufferPointer {
        pks_txn_order_origins(pointer, $0.baseAddress, UInt32(clamping: $0.count), error)
      }
    }
  }

  /// Stages that what was accepted from an origin counts no more: the next word on each of its packs is taken, whatever its
  /// numbers are.
  ///
  /// - Throws: `notFound` for an origin that the store does not know.
  package mutating func restart(_ origin: Store.Origin) throws {
    var core = origin.core
    try check { pks_txn_restart_origin(pointer, &core, $0) }
  }

  /// Checks whether a signed file may make a version the current one of a pack, before anything of it is transferred. If the version
  /// is current already and the file's epoch is above the recorded one, stages that the epoch is recorded.
  ///
  /// - Throws: `otherOrigin`, `downgrade`, `stale`.
  package borrowing func accept(_ version: UInt64, of pack: PackID, by provenance: Provenance) throws {
    var core = provenance.core
    try check { pks_txn_accept_offer(pointer, pack.name, version, &core, $0) }
  }

  /// Stages that an origin is forgotten, with the versions that were accepted last from it.
  ///
  /// - Throws: `notFound`; `invalidArgument` for the local origin, and for one of which a pack, or the history of one,
  ///   is here.
  public mutating func forget(_ origin: Store.Origin) throws {
    var core = origin.core
    try check { pks_txn_forget_origin(pointer, &core, $0) }
  }
}
