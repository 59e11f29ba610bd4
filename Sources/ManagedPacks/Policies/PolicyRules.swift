/// Why a pack is fetched without being asked for, or is not.
package enum PolicyReason: String, CaseIterable, Sendable {
  /// The event calls for it.
  case event
  /// It is here; newer versions are left to updates.
  case here
  /// It is in another language than the one that is read.
  case language
  /// Its policy is to be asked for.
  case onDemand = "on_demand"
  /// Its policy names another event.
  case otherEvent = "other_event"
  /// An event before has called for it; what was removed since stays away.
  case seen
  /// The app's filter, or its extension, does not want it.
  case filter
  /// A newer version of what is here is offered.
  case update
}

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
    let chosen = packs.filter {
      reason(for: event, $0, isLocal: isLocal($0.id), seen: seen, language: language) == .event
    }
    return chosen.sorted { $0.id < $1.id }.map { ($0, isEssential($0) ? .essential : .prefetch) }
  }

  /// Why an event makes the client fetch a pack, or does not.
  package static func reason(
    for event: BAContentRequest, _ pack: AssetPack, isLocal: Bool, seen: Set<PackID>, language: LanguageTag?
  ) -> PolicyReason {
    guard !isLocal else { return .here }
    guard isRead(pack, in: language) else { return .language }
    let events = pack.downloadPolicy.events
    guard !events.isEmpty else { return .onDemand }
    let isCalledFor =
      switch event {
      case .install: events.contains(.firstInstallation)
      case .update: events.contains(.subsequentUpdate)
      // A pack that the publisher added since the last event. One that was removed here stays away.
      case .periodic: !seen.contains { $0.name == pack.id }
      case .languageChange: pack.languageTag != nil
      }
    return isCalledFor ? .event : event == .periodic ? .seen : .otherEvent
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
