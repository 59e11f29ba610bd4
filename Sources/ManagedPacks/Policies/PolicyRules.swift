/// Which packs are fetched without being asked for.
package enum PolicyRules {
  /// The packs that an event makes the client fetch, each with how soon it is wanted; in order of ids.
  ///
  /// - Parameters:
  ///   - packs: what is offered.
  ///   - isLocal: whether a pack is here: it is left to updates.
  ///   - seen: packs that policies were applied to before.
  ///   - language: that in which packs are read; packs in another one are not fetched.
  package static func packs(
    for event: BAContentRequest, among packs: some Sequence<AssetPack>, isLocal: (String) -> Bool, seen: Set<PackID>,
    language: LanguageTag?
  ) -> [(pack: AssetPack, urgency: Urgency)] {
    let chosen = packs.filter { pack in
      guard !isLocal(pack.id), isRead(pack, in: language) else { return false }
      let events = pack.downloadPolicy.events
      return switch event {
      case .install: events.contains(.firstInstallation)
      case .update: events.contains(.subsequentUpdate)
      // A pack that the publisher added since the last event. One that was removed here stays away.
      case .periodic: !events.isEmpty && !seen.contains { $0.name == pack.id }
      case .languageChange: !events.isEmpty && pack.languageTag != nil
      }
    }
    return chosen.sorted { $0.id < $1.id }.map { ($0, isEssential($0) ? .essential : .prefetch) }
  }

  /// Whether an app does not start without a pack.
  package static func isRequired(_ pack: AssetPack, by app: Journal.App, language: LanguageTag?) -> Bool {
    guard isEssential(pack), isRead(pack, in: language) else { return false }
    let events = pack.downloadPolicy.events
    return app.isInstalled && events.contains(.firstInstallation) || app.isUpdated && events.contains(.subsequentUpdate)
  }

  private static func isEssential(_ pack: AssetPack) -> Bool {
    if case .essential = pack.downloadPolicy { true } else { false }
  }

  private static func isRead(_ pack: AssetPack, in language: LanguageTag?) -> Bool {
    guard let own = pack.languageTag else { return true }
    return language.map { LanguageMatcher.key(of: $0) == LanguageMatcher.key(of: own) } ?? false
  }
}
