#if Hosting
  import GRDB

  extension ResourceKind {
    /// The share of devices that get a release. Its id is the id of the release in Apple's resources.
    static let rollout = ResourceKind(
      type: "rollouts", name: "Rollout", path: "/packstore/v1/rollouts",
      attributes: [
        .init(name: "context", schema: .enumeration(rolloutContexts.map(\.rawValue))),
        .init(name: "state", schema: .values(of: ReleaseState.self)),
        // Ten-thousandths of the devices: 500 is 5 %, 0 halts the release.
        .init(name: "share", schema: .integer(least: 0)),
      ],
      relationships: [
        .init(name: "backgroundAssetVersion", type: "backgroundAssetVersions"),
        // The version for the other devices.
        .init(name: "fallbackVersion", type: "backgroundAssetVersions"),
      ])

    /// Internal testers always get the newest version.
    static let rolloutContexts: [ReleaseContext] = [.externalBeta, .store]
  }

  extension HostAPI {
    var rolloutRoutes: [Route] {
      let kind = ResourceKind.rollout
      return [
        Route(
          method: .get, path: "/packstore/v1/apps/{id}/rollouts", summary: "List the rollouts of an app",
          parameters: [
            .filter("context", .names(ResourceKind.rolloutContexts.map(\.rawValue))),
            .filter("state", .names(ReleaseState.allCases.map(\.rawValue))), .limit,
          ], result: .many(kind), handle: many(kind, of: .app) { Self.rollouts($0) }),
        Route(
          method: .get, path: kind.path + "/{id}", summary: "Read a rollout", result: .one(kind), handle: one(kind)),
        Route(
          method: .patch, path: kind.path + "/{id}", summary: "Continue or halt a rollout", right: .release,
          body: BodySchema(
            type: kind.type, name: "RolloutUpdateRequest", hasID: true,
            attributes: [.init(name: "share", schema: .integer(least: 0), isRequired: true)]), result: .one(kind)
        ) { call in
          let body = try call.requireBody()
          _ = try await ReleaseCommands(context).setShare(
            Int(clamping: try body.required(body.integer("share"))), of: .init(rawValue: call.id), by: call.principal)
          return try await one(kind, call.id, call)
        },
      ]
    }

    private static func rollouts(_ call: Call) -> ResourceList {
      let conditions = [
        .init("appID = ?", call.id), .init("context", in: ResourceKind.rolloutContexts.map(\.rawValue)),
        call.condition("context", "context"), call.condition("state", "state"),
      ].compactMap { $0 }
      return ResourceList("release", conditions)
    }
  }

  extension ResourceReader {
    func rollout(_ id: Identifier<ReleaseRecord>) throws -> Resource? {
      guard let release = try principal.release(id, in: database),
        ResourceKind.rolloutContexts.contains(release.context)
      else { return nil }
      let fallback = try release.fallbackID.flatMap { try ReleaseRecord.fetchOne(database, key: ["id": $0]) }
      return Resource(
        kind: .rollout, id: id.rawValue,
        attributes: [
          ("context", .string(release.context.rawValue)), ("state", .string(release.state.rawValue)),
          ("share", .integer(Int64(release.share))),
        ],
        linkages: [
          "backgroundAssetVersion": .one(release.versionID.rawValue),
          "fallbackVersion": .one(fallback?.versionID.rawValue),
        ])
    }
  }
#endif
