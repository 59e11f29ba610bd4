#if Hosting
  extension HostAPI {
    /// Kinds that Apple includes in apps and this host does not have.
    private static let otherAppKinds = ResourceKind.names(
      """
      appEncryptionDeclarations buildIcons ciProducts betaGroups preReleaseVersions betaAppLocalizations builds
      betaLicenseAgreements betaAppReviewDetails appInfos appClips endUserLicenseAgreements inAppPurchases subscriptionGroups
      gameCenterEnabledVersions appCustomProductPages promotedPurchases appEvents subscriptionGracePeriods gameCenterDetails
      appStoreVersionExperiments androidToIosAppMappingDetails
      """)

    private static let appIncludes = ResourceKind.names(
      """
      appEncryptionDeclarations appStoreIcon ciProduct betaGroups appStoreVersions preReleaseVersions betaAppLocalizations builds
      betaLicenseAgreement betaAppReviewDetail appInfos appClips endUserLicenseAgreement inAppPurchases subscriptionGroups
      gameCenterEnabledVersions appCustomProductPages inAppPurchasesV2 promotedPurchases appEvents reviewSubmissions
      subscriptionGracePeriod gameCenterDetail
      """)

    private static let appLimits = ResourceKind.names(
      """
      androidToIosAppMappingDetails appClips appCustomProductPages appEncryptionDeclarations appEvents appInfos
      appStoreVersionExperimentsV2 appStoreVersions betaAppLocalizations betaGroups builds gameCenterEnabledVersions
      inAppPurchases inAppPurchasesV2 preReleaseVersions promotedPurchases reviewSubmissions subscriptionGroups
      """)

    static let appVersionIncludes = ResourceKind.names(
      """
      app appStoreVersionLocalizations build appStoreVersionPhasedRelease gameCenterAppVersion routingAppCoverage
      appStoreReviewDetail appStoreVersionSubmission appClipDefaultExperience appStoreVersionExperiments
      appStoreVersionExperimentsV2 alternativeDistributionPackage
      """)

    private static let otherAppVersionKinds = ResourceKind.names(
      """
      appStoreVersionLocalizations builds gameCenterAppVersions routingAppCoverages
      appStoreReviewDetails appStoreVersionSubmissions appClipDefaultExperiences appStoreVersionExperiments
      alternativeDistributionPackages
      """)

    private static var appParameters: [ParameterSchema] {
      [.fields(.app), .fields(.appStoreVersion), .fields(.reviewSubmission), .include(appIncludes)]
        + otherAppKinds.map { .fields(other: $0) } + appLimits.map { .limit($0) }
    }

    static var appVersionParameters: [ParameterSchema] {
      [
        .fields(.appStoreVersion), .fields(.app), .fields(.appStoreVersionPhasedRelease), .include(appVersionIncludes),
      ]
        + otherAppVersionKinds.map { .fields(other: $0) }
        + ["appStoreVersionExperiments", "appStoreVersionExperimentsV2", "appStoreVersionLocalizations"].map {
          .limit($0)
        }
    }

    var appRoutes: [Route] {
      let included: [ResourceKind] = [.appStoreVersion, .reviewSubmission]
      return [
        Route(
          method: .get, path: "/v1/apps", summary: "List apps",
          parameters: [
            .filter("name", .texts), .filter("bundleId", .texts), .filter("sku", .texts), .filter("id", .texts),
            .sort(["name", "bundleId", "sku"]), .limit,
          ] + Self.appParameters, included: included, result: .many(.app),
          handle: many(.app) { Self.apps($0) }),
        Route(
          method: .get, path: "/v1/apps/{id}", summary: "Read an app", parameters: Self.appParameters,
          included: included,
          result: .one(.app), handle: one(.app)),
        Route(
          method: .get, path: "/v1/apps/{id}/backgroundAssets", summary: "List the packs of an app",
          parameters: [
            .filter("archived", .boolean), .filter("assetPackIdentifier", .texts), .filter("versions.locale", .texts),
            .filter("versions.platforms", .names(ApplePlatform.allCases.map(\.rawValue))),
            .sort(["assetPackIdentifier", "createdDate"]), .limit,
          ] + Self.packParameters, included: [.app, .backgroundAssetVersion], result: .many(.backgroundAsset),
          handle: many(.backgroundAsset, of: .app) { Self.packs($0) }),
        Route(
          method: .get, path: "/v1/apps/{id}/relationships/backgroundAssets", summary: "List the ids of an app's packs",
          parameters: [.limit], result: .linkages(.backgroundAsset),
          handle: linkages(.backgroundAsset, of: .app) { .init("pack", [.init("appID = ?", $0.id)]) }),
        Route(
          method: .get, path: "/v1/apps/{id}/appStoreVersions", summary: "List the versions of an app",
          parameters: [
            .filter("platform", .names(ApplePlatform.allCases.map(\.rawValue))), .filter("versionString", .texts),
            .filter("appVersionState", .texts), .filter("appStoreState", .texts), .filter("id", .texts), .limit,
          ] + Self.appVersionParameters, included: [.app, .appStoreVersionPhasedRelease],
          result: .many(.appStoreVersion),
          handle: many(.appStoreVersion, of: .app) { Self.appVersions($0) }),
        Route(
          method: .get, path: "/v1/apps/{id}/relationships/appStoreVersions",
          summary: "List the ids of an app's versions",
          parameters: [.limit], result: .linkages(.appStoreVersion),
          handle: linkages(.appStoreVersion, of: .app) { .init("appVersion", [.init("appID = ?", $0.id)]) }),
        Route(
          method: .get, path: "/v1/appStoreVersions/{id}", summary: "Read an app version",
          parameters: Self.appVersionParameters, included: [.app, .appStoreVersionPhasedRelease],
          result: .one(.appStoreVersion),
          handle: one(.appStoreVersion)),
      ]
    }

    private static func apps(_ call: Call) -> ResourceList {
      let sort = call.sort(["name": "name", "bundleId": "bundleID", "sku": "sku"], default: "createdDate")
      var conditions: [ResourceList.Condition] = [.init("teamID = ?", call.principal.team.rawValue)]
      if let app = call.principal.app { conditions.append(.init("id = ?", app.rawValue)) }
      conditions += [
        call.condition("name", "name"), call.condition("bundleId", "bundleID"), call.condition("sku", "sku"),
        call.condition("id", "id"),
      ].compactMap { $0 }
      return ResourceList("app", conditions, sort: sort.column, isDescending: sort.isDescending)
    }

    private static func packs(_ call: Call) -> ResourceList {
      let sort = call.sort(
        ["assetPackIdentifier": "identifier", "createdDate": "createdDate"], default: "createdDate")
      var conditions: [ResourceList.Condition] = [.init("appID = ?", call.id)]
      if let values = call.query.filters["archived"] {
        conditions.append(.init("CASE archived WHEN 0 THEN 'false' ELSE 'true' END", in: values))
      }
      if let condition = call.condition("assetPackIdentifier", "identifier") { conditions.append(condition) }
      if let values = call.query.filters["versions.locale"] {
        conditions.append(.init("id IN (SELECT packID FROM packVersion WHERE locale", in: values, ")"))
      }
      if let values = call.query.filters["versions.platforms"] {
        conditions.append(
          .init("id IN (SELECT packID FROM packVersion, json_each(platforms) WHERE json_each.value", in: values, ")"))
      }
      return ResourceList("pack", conditions, sort: sort.column, isDescending: sort.isDescending)
    }

    private static func appVersions(_ call: Call) -> ResourceList {
      let conditions = [
        .init("appID = ?", call.id), call.condition("platform", "platform"),
        call.condition("versionString", "versionString"), call.condition("appVersionState", "state"),
        call.condition("appStoreState", "state"), call.condition("id", "id"),
      ].compactMap { $0 }
      return ResourceList("appVersion", conditions)
    }

    // MARK: - Actors

    var actorRoutes: [Route] {
      [
        Route(
          method: .get, path: "/v1/actors", summary: "List users and keys by their ids",
          parameters: [.filter("id", .texts, isRequired: true), .fields(.actor), .limit], result: .many(.actor)
        ) { call in
          try await read(call) { reader in
            let found = try (call.query.filters["id"] ?? []).compactMap { try reader.actor($0) }
            let page = Page(
              resources: Array(found.prefix(call.query.limit)), total: Int64(found.count), next: nil)
            return .many(page, call)
          }
        },
        Route(
          method: .get, path: "/v1/actors/{id}", summary: "Read a user or key", parameters: [.fields(.actor)],
          result: .one(.actor), handle: one(.actor)),
      ]
    }
  }
#endif
