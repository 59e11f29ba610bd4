#if Hosting
  import GRDB

  extension HostAPI {
    static var packParameters: [ParameterSchema] {
      [
        .fields(.backgroundAsset), .fields(.app), .fields(.backgroundAssetVersion),
        .include(["app", "appStoreVersion", "internalBetaVersion", "externalBetaVersion"]),
      ]
    }

    static var versionParameters: [ParameterSchema] {
      [.fields(.backgroundAssetVersion), .fields(.backgroundAsset), .fields(.backgroundAssetUploadFile)]
        + ReleaseContext.allCases.map { .fields(.release($0)) }
        + [
          .include([
            "backgroundAsset", "internalBetaRelease", "externalBetaRelease", "appStoreRelease", "assetFile",
            "manifestFile",
          ])
        ]
    }

    static var versionIncludes: [ResourceKind] {
      [.backgroundAsset, .backgroundAssetUploadFile] + ReleaseContext.allCases.map { .release($0) }
    }

    var packRoutes: [Route] {
      [
        Route(
          method: .post, path: "/v1/backgroundAssets", summary: "Create a pack", right: .managePacks,
          body: BodySchema(
            type: "backgroundAssets", name: "BackgroundAssetCreateRequest",
            attributes: [.init(name: "assetPackIdentifier", schema: .text, isRequired: true)],
            relationships: [.init(name: "app", type: "apps", isRequired: true)]), result: .one(.backgroundAsset)
        ) { call in
          let body = try call.requireBody()
          let pack = try await PackCommands(context).create(
            try body.required(body.text("assetPackIdentifier")),
            app: AppID(rawValue: try body.required(body.related("app"))), by: call.principal)
          return try await one(.backgroundAsset, pack.id.rawValue, call, isCreated: true)
        },
        Route(
          method: .get, path: "/v1/backgroundAssets/{id}", summary: "Read a pack", parameters: Self.packParameters,
          included: [.app, .backgroundAssetVersion], result: .one(.backgroundAsset), handle: one(.backgroundAsset)),
        Route(
          method: .patch, path: "/v1/backgroundAssets/{id}", summary: "Archive a pack", right: .managePacks,
          body: BodySchema(
            type: "backgroundAssets", name: "BackgroundAssetUpdateRequest", hasID: true,
            attributes: [.init(name: "archived", schema: .boolean)]), result: .one(.backgroundAsset), handle: archive),
        Route(
          method: .get, path: "/v1/backgroundAssets/{id}/versions", summary: "List the versions of a pack",
          parameters: [
            .filter("locale", .texts), .filter("platforms", .names(ApplePlatform.allCases.map(\.rawValue))),
            .filter("state", .names(VersionStates.State.allCases.map(\.rawValue))), .filter("version", .texts),
            .filter("internalBetaRelease.state", Self.states(.internalBeta)),
            .filter("externalBetaRelease.state", Self.states(.externalBeta)),
            .filter("appStoreRelease.state", Self.states(.store)), .sort(["version"]), .limit,
          ] + Self.versionParameters, included: Self.versionIncludes, result: .many(.backgroundAssetVersion),
          handle: many(.backgroundAssetVersion, of: .backgroundAsset) { Self.versions($0) }),
        Route(
          method: .get, path: "/v1/backgroundAssets/{id}/relationships/versions",
          summary: "List the ids of a pack's versions",
          parameters: [.limit], result: .linkages(.backgroundAssetVersion),
          handle: linkages(.backgroundAssetVersion, of: .backgroundAsset) {
            .init("packVersion", [.init("packID = ?", $0.id)], sort: "number")
          }),
      ]
    }

    /// An archived pack stays archived.
    private func archive(_ call: Call) async throws -> Answer {
      let body = try call.requireBody(), id = Identifier<PackRecord>(rawValue: call.id)
      if body.flag("archived") == true { _ = try await ReleaseCommands(context).archive(id, by: call.principal) }
      if body.flag("archived") == false {
        let pack = try await context.database.read { try call.principal.pack(id, in: $0) }
        if pack?.archived == true {
          throw APIError.invalidState("archived", "cannot become false; create another pack")
        }
      }
      return try await one(.backgroundAsset, call.id, call)
    }

    private static func states(_ context: ReleaseContext) -> ParameterSchema.Kind {
      .names(ReleaseState.allCases.filter(context.states.contains).map(\.rawValue))
    }

    private static func versions(_ call: Call) -> ResourceList {
      let sort = call.sort(["version": "number"], default: "number")
      var conditions: [ResourceList.Condition] = [.init("packID = ?", call.id)]
      conditions += [
        call.condition("locale", "locale"), call.condition("state", "state"),
        call.condition("version", "CAST(number AS TEXT)"),
      ].compactMap { $0 }
      if let values = call.query.filters["platforms"] {
        conditions.append(
          .init("id IN (SELECT v.id FROM packVersion v, json_each(v.platforms) WHERE json_each.value", in: values, ")"))
      }
      for (name, context) in [
        ("internalBetaRelease.state", ReleaseContext.internalBeta), ("externalBetaRelease.state", .externalBeta),
        ("appStoreRelease.state", .store),
      ] {
        guard let values = call.query.filters[name] else { continue }
        conditions.append(
          .init("id IN (SELECT versionID FROM release WHERE context = '\(context.rawValue)' AND state", in: values, ")")
        )
      }
      return ResourceList("packVersion", conditions, sort: sort.column, isDescending: sort.isDescending)
    }

    // MARK: - Versions

    var versionRoutes: [Route] {
      [
        Route(
          method: .post, path: "/v1/backgroundAssetVersions", summary: "Create a version of a pack",
          right: .managePacks,
          body: BodySchema(
            type: "backgroundAssetVersions", name: "BackgroundAssetVersionCreateRequest",
            relationships: [.init(name: "backgroundAsset", type: "backgroundAssets", isRequired: true)]),
          result: .one(.backgroundAssetVersion)
        ) { call in
          let body = try call.requireBody()
          let pack = Identifier<PackRecord>(rawValue: try body.required(body.related("backgroundAsset")))
          let version = try await PackCommands(context).createVersion(of: pack, by: call.principal)
          return try await one(.backgroundAssetVersion, version.id.rawValue, call, isCreated: true)
        },
        Route(
          method: .get, path: "/v1/backgroundAssetVersions/{id}", summary: "Read a version of a pack",
          parameters: Self.versionParameters, included: Self.versionIncludes, result: .one(.backgroundAssetVersion),
          handle: one(.backgroundAssetVersion)),
        Route(
          method: .get, path: "/v1/backgroundAssetVersions/{id}/backgroundAssetUploadFiles",
          summary: "List the files of a version", parameters: [.fields(.backgroundAssetUploadFile), .limit],
          result: .many(.backgroundAssetUploadFile),
          handle: many(.backgroundAssetUploadFile, of: .backgroundAssetVersion) { Self.files($0) }),
        Route(
          method: .get, path: "/v1/backgroundAssetVersions/{id}/relationships/backgroundAssetUploadFiles",
          summary: "List the ids of a version's files", parameters: [.limit],
          result: .linkages(.backgroundAssetUploadFile),
          handle: linkages(.backgroundAssetUploadFile, of: .backgroundAssetVersion) { Self.files($0) }),
      ]
    }

    private static func files(_ call: Call) -> ResourceList { .init("uploadFile", [.init("versionID = ?", call.id)]) }

    // MARK: - Releases

    var releaseRoutes: [Route] {
      ReleaseContext.allCases.map { context in
        let kind = ResourceKind.release(context)
        return Route(
          method: .get, path: kind.path + "/{id}", summary: "Read a release",
          parameters: [.fields(kind), .fields(.backgroundAssetVersion), .include(["backgroundAssetVersion"])],
          included: [.backgroundAssetVersion], result: .one(kind), handle: one(kind))
      }
    }
  }
#endif
