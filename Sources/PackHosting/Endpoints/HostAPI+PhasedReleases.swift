#if Hosting
  extension ResourceKind {
    static let appStoreVersionPhasedRelease = ResourceKind(
      type: "appStoreVersionPhasedReleases", name: "AppStoreVersionPhasedRelease",
      path: "/v1/appStoreVersionPhasedReleases",
      attributes: [
        .init(name: "phasedReleaseState", schema: .values(of: PhasedReleaseStates.State.self)),
        .init(name: "startDate", schema: .date, isNullable: true),
        .init(name: "totalPauseDuration", schema: .integer(least: 0)),
        .init(name: "currentDayNumber", schema: .integer(least: 0)),
      ], relationships: [])
  }

  extension HostAPI {
    private static let phasedReleaseState = BodySchema.Attribute(
      name: "phasedReleaseState", schema: .values(of: PhasedReleaseStates.State.self))

    var phasedReleaseRoutes: [Route] {
      let kind = ResourceKind.appStoreVersionPhasedRelease
      return [
        Route(
          method: .post, path: kind.path, summary: "Release an app version in phases", right: .managePacks,
          body: BodySchema(
            type: kind.type, name: "AppStoreVersionPhasedReleaseCreateRequest", attributes: [Self.phasedReleaseState],
            relationships: [.init(name: "appStoreVersion", type: "appStoreVersions", isRequired: true)]),
          result: .one(kind), handle: createPhasedRelease),
        Route(
          method: .patch, path: kind.path + "/{id}", summary: "Pause, resume or end a phased release", right: .release,
          body: BodySchema(
            type: kind.type, name: "AppStoreVersionPhasedReleaseUpdateRequest", hasID: true,
            attributes: [Self.phasedReleaseState]), result: .one(kind)
        ) { call in
          let body = try call.requireBody()
          try await PhasedReleaseCommands(context).update(
            .init(rawValue: call.id), to: body.value("phasedReleaseState"), by: call.principal)
          return try await one(kind, call.id, call)
        },
        Route(
          method: .delete, path: kind.path + "/{id}", summary: "Delete a phased release before its start",
          right: .managePacks, result: .nothing
        ) { call in
          try await PhasedReleaseCommands(context).delete(.init(rawValue: call.id), by: call.principal)
          return Answer(204)
        },
      ]
    }

    /// A new phased release is INACTIVE or ACTIVE in requests of clients, and INACTIVE until its app version is released.
    private func createPhasedRelease(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      let state: PhasedReleaseStates.State? = body.value("phasedReleaseState")
      guard state != .paused, state != .complete else {
        throw APIError.invalidState("phasedReleaseState", "cannot begin as \(state?.rawValue ?? ""); send INACTIVE")
      }
      let release = try await PhasedReleaseCommands(context).create(
        for: .init(rawValue: try body.required(body.related("appStoreVersion"))), by: call.principal)
      return try await one(.appStoreVersionPhasedRelease, release.id.rawValue, call, isCreated: true)
    }
  }

  extension ResourceReader {
    func phasedRelease(_ id: Identifier<PhasedReleaseRecord>) throws -> Resource? {
      guard let release = try principal.phasedRelease(id, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = [
        ("phasedReleaseState", .string(release.state.rawValue))
      ]
      if let date = release.startDate { attributes.append(("startDate", .date(date))) }
      let paused = release.pausedSeconds(at: now) / PhasedReleaseRecord.secondsOfDay
      attributes.append(("totalPauseDuration", .integer(paused)))
      let day = release.day(at: now).map { min($0, Assumptions.phasedReleaseDays) } ?? 0
      attributes.append(("currentDayNumber", .integer(day)))
      return Resource(kind: .appStoreVersionPhasedRelease, id: release.id.rawValue, attributes: attributes)
    }
  }
#endif
