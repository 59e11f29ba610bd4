/// An app of a group and its version, which determine the pack versions offered to it.
package struct GroupApp: Hashable, Sendable {
  package var id: String
  package var version: AppVersion

  package init(id: String, version: AppVersion) {
    self.id = id
    self.version = version
  }
}

extension GroupApp: CustomStringConvertible {
  /// `'com.example.game' 1.0`.
  package var description: String { "'\(id)' \(version)" }
}

/// The reason why an offered pack cannot be downloaded: a group has one version of each pack, and no version suits both apps.
package struct AppDisagreement: Hashable, Sendable {
  package var own: GroupApp
  package var other: GroupApp

  package init(own: GroupApp, other: GroupApp) {
    self.own = own
    self.other = other
  }

  package func error(_ pack: String) -> ManagedPacksError {
    ManagedPacksError(
      .appsDisagree, "no version of the asset pack '\(pack)' supports both \(own) and \(other), which share a group",
      remedy: "update or remove one of these apps, or ask the publisher for a version that supports both")
  }
}

extension Journal {
  /// Returns the other apps whose versions restrict the choice of a pack version, sorted by id.
  package func apps(besides id: String) -> [GroupApp] {
    registrations.compactMap { other, registration in
      guard other != id, let version = registration.version.flatMap({ try? AppVersion($0) }) else { return nil }
      return GroupApp(id: other, version: version)
    }.sorted { $0.id < $1.id }
  }

  /// Removes apps whose property lists no longer exist.
  package mutating func dropGoneApps() {
    for (id, registration) in registrations {
      guard let list = registration.propertyList, !pathExists(FilePath(list)) else { continue }
      registrations[id] = nil
      apps[id] = nil
      extensionTimes[id] = nil
      launches[id] = nil
    }
  }
}

extension JournalFile {
  /// Registers an app. Writes nothing if the registration is unchanged.
  ///
  /// - Parameter isLaunch: whether the app itself runs, which ends the limits before its first launch.
  package func register(_ configuration: ManagedConfiguration, isLaunch: Bool = false) throws {
    let registration = Journal.Registration(
      version: configuration.appVersion?.description, propertyList: configuration.propertyList?.string)
    var expected = try read()
    expected.registrations[configuration.appID] = registration
    if isLaunch { expected.launches[configuration.appID] = Journal.Launch(isLaunched: true) }
    expected.dropGoneApps()
    guard try read() != expected else { return }
    try update { journal in
      journal.registrations[configuration.appID] = registration
      if isLaunch { journal.launches[configuration.appID] = Journal.Launch(isLaunched: true) }
      journal.dropGoneApps()
    }
  }
}

extension ManagedConfiguration {
  /// The app, if its version is known.
  var app: GroupApp? { appVersion.map { GroupApp(id: appID, version: $0) } }
}
