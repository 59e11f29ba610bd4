/// The reason why an event downloads a pack or not.
package enum PolicyReason: String, CaseIterable, Sendable {
  /// The event requires it.
  case event
  /// It is installed; `checkForUpdates` installs newer versions.
  case here
  /// It is in a language other than the resolved one.
  case language
  /// Its policy is on demand.
  case onDemand = "on_demand"
  /// Its policy names another event.
  case otherEvent = "other_event"
  /// Policies were already applied to it; a pack removed since then is not downloaded again.
  case seen
  /// The app's filter or extension rejected it.
  case filter
  /// A newer version than the installed one is offered.
  case update
}

/// Selects the packs to download without a request of the app.
package enum PolicyRules {
  /// Returns the packs that an event downloads, each with its urgency, sorted by id.
  ///
  /// - Parameters:
  ///   - packs: the offered packs.
  ///   - isLocal: whether a pack is installed; installed packs are left to updates.
  ///   - seen: the packs to which policies were already applied.
  ///   - language: the resolved language; packs in other languages are not downloaded.
  package static func packs(
    for event: BAContentRequest, among packs: some Sequence<AssetPack>, isLocal: (String) -> Bool, seen: Set<PackID>,
    language: LanguageTag?
  ) -> [(pack: AssetPack, urgency: Urgency)] {
    let chosen = packs.filter {
      reason(for: event, $0, isLocal: isLocal($0.id), seen: seen, language: language) == .event
    }
    return chosen.sorted { $0.id < $1.id }.map { ($0, isEssential($0) ? .essential : .prefetch) }
  }

  /// Returns the reason why an event downloads a pack or not.
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
      // Only a pack that the publisher added since the last event; a pack removed on this machine is not downloaded again.
      case .periodic: !seen.contains { $0.name == pack.id }
      case .languageChange: pack.languageTag != nil
      }
    return isCalledFor ? .event : event == .periodic ? .seen : .otherEvent
  }

  /// Returns whether an app cannot start without a pack.
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
