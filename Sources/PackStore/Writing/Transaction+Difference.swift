import CPackStore

extension Transaction {
  /// Counts the differences between two versions of a pack, as they will be kept after the commit.
  ///
  /// - Throws: `notFound`; `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func difference(of pack: PackID, from old: UInt64, to new: UInt64) throws -> Snapshot.DifferenceTotals {
    var totals = pks_diff_totals()
    try check { pks_txn_diff(&totals, pointer, pack.name, old, new, $0) }
    return Snapshot.DifferenceTotals(totals)
  }

  /// Computes the bytes of the frames that a device with one version fetches by ranges for another one, as they would be kept after
  /// the commit.
  ///
  /// - Throws: `notFound`; `corrupt`, `purged`, `ioError`, `outOfMemory`.
  package func updateByteCount(of pack: PackID, from old: UInt64, to new: UInt64) throws -> Int {
    var byteCount: UInt64 = 0
    try check { pks_txn_measure_update(&byteCount, pointer, pack.name, old, new, $0) }
    return Int(clamping: byteCount)
  }
}
