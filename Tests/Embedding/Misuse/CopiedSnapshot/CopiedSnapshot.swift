import PackStore

/// Must not compile: a snapshot cannot be copied.
func copy(_ snapshot: borrowing Snapshot) -> [Generation] {
  let other = snapshot
  return [snapshot.generation, other.generation]
}
