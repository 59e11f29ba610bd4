#if Hosting
  import GRDB

  /// Creates, changes and deletes phased releases of app versions.
  struct PhasedReleaseCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Creates a phased release, which starts when its app version is released.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown or released app version, and for a second phased release.
    func create(
      for id: Identifier<AppVersionRecord>, by principal: Principal
    ) async throws -> PhasedReleaseRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [context] database in
        guard let version = try principal.appVersion(id, in: database) else {
          throw APIError.relationshipInvalid("appStoreVersion", id.rawValue)
        }
        guard version.state != .readyForDistribution, version.state != .replaced else {
          throw APIError.entityState("app version '\(version.versionString)': its state is \(version.state.rawValue)")
        }
        guard try PhasedReleaseRecord.filter(Column("appVersionID") == id).fetchCount(database) == 0 else {
          throw APIError.alreadyExists(
            "app version '\(version.versionString)': has a phased release; change or delete that one")
        }
        let release = PhasedReleaseRecord(
          id: .init(context.random), appVersionID: id, appID: version.appID, state: PhasedReleaseStates.initial,
          startDate: nil, pauseDate: nil, pausedSeconds: 0, createdDate: context.now)
        try release.insert(database)
        return release
      }
    }

    /// Pauses or resumes a phased release, or ends it, so that all users get the app version.
    ///
    /// - Throws: `APIError` 403, 404; 409 if the present state does not permit the requested one.
    func update(
      _ id: Identifier<PhasedReleaseRecord>, to state: PhasedReleaseStates.State?, by principal: Principal
    ) async throws {
      try principal.require(.release)
      try await context.database.write { [context] database in
        guard var release = try principal.phasedRelease(id, in: database) else { throw Self.notFound(id) }
        guard let state, state != release.state else { return }
        let event = PhasedReleaseStates.Event.allCases.first {
          $0 != .start && PhasedReleaseStates.next(release.state, $0) == state
        }
        guard let event else {
          throw APIError.invalidState(
            "phasedReleaseState", "cannot become \(state.rawValue): its state is \(release.state.rawValue)")
        }
        try release.apply(event, at: context.now, in: database)
      }
    }

    /// Deletes a phased release that did not start.
    ///
    /// - Throws: `APIError` 403, 404; 409 after its start.
    func delete(_ id: Identifier<PhasedReleaseRecord>, by principal: Principal) async throws {
      try principal.require(.managePacks)
      try await context.database.write { database in
        guard let release = try principal.phasedRelease(id, in: database) else { throw Self.notFound(id) }
        guard release.state == PhasedReleaseStates.initial else {
          throw APIError.entityState("phased release '\(id)': its state is \(release.state.rawValue); end it instead")
        }
        try release.delete(database)
      }
    }

    /// Ends phased releases after their last day, and pauses after the longest time.
    func advance(in database: Database) throws {
      let now = context.now
      let running = try PhasedReleaseRecord.filter(
        [PhasedReleaseStates.State.active, .paused].contains(Column("state"))
      ).fetchAll(database)
      for var release in running {
        let longest = Assumptions.phasedReleasePauseDays * PhasedReleaseRecord.secondsOfDay
        if release.state == .paused, release.pausedSeconds(at: now) >= longest {
          try release.apply(.resume, at: now, in: database)
        }
        if release.state == .active, let day = release.day(at: now), day > Assumptions.phasedReleaseDays {
          try release.apply(.complete, at: now, in: database)
        }
      }
    }

    private static func notFound(_ id: Identifier<PhasedReleaseRecord>) -> APIError {
      .notFound("appStoreVersionPhasedReleases", id.rawValue)
    }
  }

  extension PhasedReleaseRecord {
    /// - Throws: `APIError` 409 if the state does not permit the event.
    mutating func apply(_ event: PhasedReleaseStates.Event, at now: Timestamp, in database: Database) throws {
      guard let next = PhasedReleaseStates.next(state, event) else {
        throw APIError.entityState(
          "phased release '\(id)': its state is \(state.rawValue), which does not permit this change")
      }
      pausedSeconds = pausedSeconds(at: now)
      pauseDate = event == .pause ? now : nil
      if event == .start { startDate = now }
      state = next
      try update(database)
    }
  }
#endif
