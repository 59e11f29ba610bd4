extension Transaction {
  /// Releases a pack that is held at its version since a rollback. Its pins stay.
  package mutating func release(_ pack: PackID) throws {
    guard packs.contains(where: { $0.id == pack && $0.isHeld }) else { return }
    let pinned = versions(of: pack).filter(\.isPinned)
    try unpin(pack)
    for version in pinned { try pin(pack, version: version.number) }
  }
}
