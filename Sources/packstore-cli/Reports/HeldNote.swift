import PackStore

extension Store {
  /// What would be free if readers held no older generation, in bytes. The command is done when this is asked for: where it
  /// cannot be found out, it counts as nothing.
  var heldByteCount: Int {
    (try? read { (snapshot: borrowing Snapshot) in try snapshot.heldGenerations().keptByteCount }) ?? 0
  }
}

/// The text after the freed bytes, if readers retain a generation.
func heldNote(_ byteCount: Int) -> String {
  byteCount == 0 ? "" : "; readers hold \(formatBytes(byteCount)), which a commit after them frees"
}
