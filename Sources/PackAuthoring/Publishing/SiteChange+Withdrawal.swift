import PackStore

/// Withdrawal of packs, which leave a site when no channel offers them any more: see ``Unpublication`` and ``Publication``.
extension SiteChange {
  /// Returns the given packs that no channel will offer, with their kept versions.
  func withoutOffers(_ packs: [PackID]) throws -> [(pack: PackID, versions: [PackVersion])] {
    let snapshot = try store.makeSnapshot()
    return Set(packs).sorted().compactMap { pack in
      let versions = snapshot.versions(of: pack)
      let isOffered = versions.contains { offers($0.number, of: pack) }
      return versions.isEmpty || isOffered ? nil : (pack, versions)
    }
  }

  /// Removes packs with all their versions, once no root refers to them.
  mutating func remove(_ packs: [PackID]) throws {
    guard !packs.isEmpty else { return }
    var transaction = try makeTransaction()
    for pack in packs { try transaction.remove(pack) }
    try commit(transaction)
  }

  /// Withdraws packs from a channel. All versions of packs that no channel then offers are ``leaving``.
  ///
  /// - Returns: the packs that no channel offers any more, and their versions.
  mutating func withdraw(_ packs: [PackID], from channel: SiteChannel) throws -> [(
    pack: PackID, versions: [PackVersion]
  )] {
    guard !packs.isEmpty else { return [] }
    edit(channel) { plan in
      for pack in packs { plan.withdraw(pack) }
    }
    let gone = try withoutOffers(packs)
    leaving.formUnion(gone.flatMap(\.versions))
    return gone
  }
}
