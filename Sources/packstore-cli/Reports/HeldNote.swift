import PackStore

extension Store {
  /// The number of bytes that are not freed because readers retain older generations. 0 if it cannot be read, because the command
  /// has already succeeded by then.
  var heldByteCount: Int {
    (try? read { (snapshot: borrowing Snapshot) in try snapshot.heldGenerations().keptByteCount }) ?? 0
  }
}

/// Returns the text after the freed bytes; empty if readers retain no generation.
func heldNote(_ byteCount: Int) -> String {
  byteCount == 0 ? "" : "; readers hold \(formatBytes(byteCount)), which a commit after them frees"
}
