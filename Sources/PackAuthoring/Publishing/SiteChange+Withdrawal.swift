import PackStore

/// Withdrawal of packs, which leave a site when no channel offers them any more: see ``Unpublication`` and ``Publication``.
extension SiteChange {
  /// A pack that no channel will offer, and its versions that leave the site.
  typealias Withdrawn = (pack: PackID, versions: [PackVersion])

  /// Returns the given packs that no channel will offer, with the versions that leave the site. Pinned versions stay, and with them the
  /// current version of the site's store.
  func withoutOffers(_ packs: [PackID]) throws -> [Withdrawn] {
    let snapshot = try store.makeSnapshot(), pins = Set(policy?.pins ?? [])
    return Set(packs).sorted().compactMap { pack in
      let versions = snapshot.versions(of: pack)
      guard !versions.contains(where: { offers($0.number, of: pack) }) else { return nil }
      let pinned = versions.filter { $0.isPinned || pins.contains(.init(pack, $0.number)) }
      let staying = pinned.isEmpty ? [] : Set(pinned + versions.prefix(1))
      let leaving = versions.filter { !staying.contains($0) }
      return leaving.isEmpty ? nil : (pack, leaving)
    }
  }

  /// Removes the versions of withdrawn packs, once no root refers to them.
  mutating func remove(_ withdrawn: [Withdrawn]) throws {
    let snapshot = try store.makeSnapshot()
    let whole = withdrawn.filter { Set($0.versions) == Set(snapshot.versions(of: $0.pack)) }
    let names = Set(whole.map(\.pack))
    try drop(withdrawn.filter { !names.contains($0.pack) }.flatMap(\.versions))
    guard !whole.isEmpty else { return }
    var transaction = try makeTransaction()
    for pack in names.sorted() { try transaction.remove(pack) }
    try commit(transaction)
  }

  /// Withdraws packs from a channel. Versions of packs that no channel then offers are ``leaving``, except pinned ones.
  ///
  /// - Returns: the packs that no channel offers any more, and their versions that leave the site.
  mutating func withdraw(_ packs: [PackID], from channel: SiteChannel) throws -> [Withdrawn] {
    guard !packs.isEmpty else { return [] }
    edit(channel) { plan in
      for pack in packs { plan.withdraw(pack) }
    }
    let gone = try withoutOffers(packs)
    leaving.formUnion(gone.flatMap(\.versions))
    return gone
  }
}
