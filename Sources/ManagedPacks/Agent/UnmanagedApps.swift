/// The agent's part for the apps of a group that have downloads of their own.
actor UnmanagedApps {
  private struct Entry {
    let registration: Journal.Registration
    let list: Digest256?
    /// `nil` for an app with asset packs, or a rejected app, which the agent handles.
    let app: UnmanagedApp?
  }

  private let group: GroupFolder
  private let options: GroupAgent.Options
  private var entries: [String: Entry] = [:]

  init(in group: GroupFolder, _ options: GroupAgent.Options) {
    self.group = group
    self.options = options
  }

  private var apps: [UnmanagedApp] { entries.sorted { $0.key < $1.key }.compactMap { $0.value.app } }

  /// Updates the list of registered apps.
  ///
  /// - Returns: the ids of the apps with downloads of their own.
  func refresh(_ registrations: [String: Journal.Registration]) async -> Set<String> {
    for (id, entry) in entries
    where registrations[id] != entry.registration || Self.digest(entry.registration) != entry.list {
      entries[id] = nil
      await entry.app?.stop()
    }
    for (id, registration) in registrations where entries[id] == nil {
      let app = makeApp(id, registration)
      entries[id] = Entry(registration: registration, list: Self.digest(registration), app: app)
      if app != nil { options.tell(AgentNotice(.app, app: id, "this app has unmanaged downloads")) }
    }
    return Set(entries.filter { $0.value.app != nil }.keys)
  }

  private static func digest(_ registration: Journal.Registration) -> Digest256? {
    let bytes = registration.propertyList.flatMap { list in
      try? InputFile(FilePath(list)).contents(limit: ManagedConfiguration.byteCountLimit)
    }
    return bytes.map { Digest256(hashing: $0) }
  }

  private func makeApp(_ id: String, _ registration: Journal.Registration) -> UnmanagedApp? {
    guard let list = registration.propertyList,
      var configuration = try? ManagedConfiguration(contentsOf: OwnedFile(FilePath(list)).path),
      !configuration.hasManagedAssetPacks
    else { return nil }
    configuration.appID = id
    guard
      let own = try? GroupFolder(of: configuration, environment: options.manager.environment, makes: false),
      own.isSame(as: options.original ?? group)
    else { return nil }
    return try? UnmanagedApp(id, configuration, in: group, options)
  }

  // MARK: - Work

  /// - Parameter id: the app; `nil` for all apps.
  /// - Returns: the names of the scheduled downloads by app, and the first failure. A failure of one app does not stop the others.
  func handle(
    _ event: BAContentRequest, app id: String?
  ) async -> (names: [String: [String]], failure: (any Error)?) {
    var names: [String: [String]] = [:], failure: (any Error)?
    for app in apps where id == nil || app.id == id {
      do {
        names[app.id] = try await app.handle(event)
      } catch {
        options.tell(AgentNotice(.problem, app: app.id, "\(event.word): \(error)"))
        failure = failure ?? error
      }
      await app.download()
    }
    return (names, failure)
  }

  func download() async { for app in apps { await app.download() } }

  func finish() async { for app in apps { await app.finish() } }

  func stop() async { for app in apps { await app.stop() } }

  func handOver(_ id: String, to connection: Int) async { await entries[id]?.app?.handOver(to: connection) }

  func forget(_ connection: Int) async { for app in apps { await app.forget(connection) } }
}
