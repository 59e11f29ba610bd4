import PackFormats
import PackStore

extension SiteChange {
  /// How long files that left the roots stay.
  var grace: Duration { options.gracePeriod ?? policy?.grace ?? Site.PublishOptions.defaultGracePeriod }

  /// The rule for versions that stay, by the options or the site's policy.
  var retention: VersionRetention {
    VersionRetention(policy ?? .standard, keeping: options.keptVersionCount, history: nextOffered, now: now)
  }

  /// Returns the reasons for which versions of a pack stay, by their numbers.
  func reasons(
    for versions: [PackVersion], of pack: PackID, isPurgeable: (PackVersion) throws -> Bool
  ) rethrows -> [UInt64: VersionRetention.Reason] {
    var offers: [SiteChannel: [UInt64]] = [:]
    for state in channelStates where !state.plan.offers(of: pack).isEmpty {
      offers[state.channel] = state.plan.offers(of: pack).map(\.number)
    }
    return try retention.reasons(for: versions, of: pack, beside: offers, isPurgeable: isPurgeable)
  }

  /// Removes versions from the site's store, after all roots with them were replaced.
  mutating func drop(_ surplus: [PackVersion]) throws {
    guard !surplus.isEmpty else { return }
    var transaction = try makeTransaction()
    for pack in Set(surplus.map(\.pack)).sorted() {
      let kept = transaction.versions(of: pack).filter { version in !surplus.contains { $0 == version } }
      // Pinned versions stay; pins of this transaction end with it.
      for version in kept { try transaction.pin(pack, version: version.number) }
      try transaction.trim(pack, keeping: 1)
      try transaction.unpin(pack)
      for version in kept where version.isPinned { try transaction.pin(pack, version: version.number) }
    }
    try commit(transaction)
  }
}
