#if Hosting
  extension HostAPI {
    private static let releaseAttributes: [BodySchema.Attribute] = [
      .init(name: "releaseType", schema: .values(of: ReleaseType.self)),
      .init(name: "earliestReleaseDate", schema: .date),
    ]

    /// Attributes that Apple's clients send and this host does not keep.
    private static let ignoredAttributes: [BodySchema.Attribute] = [
      .init(name: "copyright", schema: .text),
      .init(name: "reviewType", schema: .enumeration(["APP_STORE", "NOTARIZATION"])),
      .init(name: "usesIdfa", schema: .boolean),
    ]

    private static let build = BodySchema.Relationship(name: "build", type: "builds")

    /// No build has an id on this host.
    private static func requireNoBuild(_ body: Body) throws {
      if let build = body.related("build") { throw APIError.relationshipInvalid("build", build) }
    }

    var appVersionRoutes: [Route] {
      [
        Route(
          method: .post, path: "/v1/appStoreVersions", summary: "Create an app version", right: .managePacks,
          body: BodySchema(
            type: "appStoreVersions", name: "AppStoreVersionCreateRequest",
            attributes: [
              .init(name: "platform", schema: .values(of: ApplePlatform.self), isRequired: true),
              .init(name: "versionString", schema: .text, isRequired: true),
            ] + Self.releaseAttributes + Self.ignoredAttributes,
            relationships: [.init(name: "app", type: "apps", isRequired: true), Self.build]),
          result: .one(.appStoreVersion),
          handle: createAppVersion),
        Route(
          method: .patch, path: "/v1/appStoreVersions/{id}", summary: "Change the release of an app version",
          right: .managePacks,
          body: BodySchema(
            type: "appStoreVersions", name: "AppStoreVersionUpdateRequest", hasID: true,
            attributes: [
              .init(name: "versionString", schema: .text), .init(name: "downloadable", schema: .boolean),
            ] + Self.releaseAttributes + Self.ignoredAttributes, relationships: [Self.build]),
          result: .one(.appStoreVersion)
        ) { call in
          let body = try call.requireBody()
          try Self.requireNoBuild(body)
          _ = try await AppVersionCommands(context).update(
            .init(rawValue: call.id), versionString: body.text("versionString"), releaseType: body.value("releaseType"),
            earliestReleaseDate: body.date("earliestReleaseDate"), by: call.principal)
          return try await one(.appStoreVersion, call.id, call)
        },
        Route(
          method: .delete, path: "/v1/appStoreVersions/{id}", summary: "Delete an app version", right: .managePacks,
          result: .nothing
        ) { call in
          try await AppVersionCommands(context).delete(.init(rawValue: call.id), by: call.principal)
          return Answer(204)
        },
        Route(
          method: .post, path: "/v1/appStoreVersionReleaseRequests", summary: "Release an approved app version",
          right: .release,
          body: BodySchema(
            type: "appStoreVersionReleaseRequests", name: "AppStoreVersionReleaseRequestCreateRequest",
            relationships: [.init(name: "appStoreVersion", type: "appStoreVersions", isRequired: true)]),
          result: .one(.appStoreVersionReleaseRequest)
        ) { call in
          let body = try call.requireBody()
          let version = try await AppVersionCommands(context).release(
            .init(rawValue: try body.required(body.related("appStoreVersion"))), by: call.principal)
          let resource = Resource(
            kind: .appStoreVersionReleaseRequest, id: version.id.rawValue, attributes: [])
          return .one(resource, call, isCreated: true)
        },
      ]
    }

    private func createAppVersion(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      try Self.requireNoBuild(body)
      let version = try await AppVersionCommands(context).create(
        try body.required(body.text("versionString")), platform: try body.required(body.value("platform")),
        releaseType: body.value("releaseType") ?? .afterApproval,
        earliestReleaseDate: body.date("earliestReleaseDate"),
        app: AppID(rawValue: try body.required(body.related("app"))), by: call.principal)
      return try await one(.appStoreVersion, version.id.rawValue, call, isCreated: true)
    }
  }
#endif
