#if Hosting
  // Apps, app versions, submissions and their actors, as Apple's API defines them.

  extension ResourceKind {
    static let app = ResourceKind(
      type: "apps", name: "App", path: "/v1/apps",
      attributes: ["name", "bundleId", "sku", "primaryLocale"].map { .init(name: $0, schema: .text) } + [
        .init(
          name: "contentRightsDeclaration",
          schema: .enumeration(["DOES_NOT_USE_THIRD_PARTY_CONTENT", "USES_THIRD_PARTY_CONTENT"]), isNullable: true),
        .init(name: "isOrEverWasMadeForKids", schema: .boolean, isNullable: true),
      ],
      relationships: [
        .init(name: "backgroundAssets", type: "backgroundAssets", isMany: true),
        .init(name: "appStoreVersions", type: "appStoreVersions", isMany: true),
        .init(name: "reviewSubmissions", type: "reviewSubmissions", isMany: true),
        .init(name: "webhooks", type: "webhooks", isMany: true),
      ]
        + empty(
          "appInfos betaAppLocalizations betaGroups builds gameCenterEnabledVersions preReleaseVersions", isMany: true)
        + empty("betaAppReviewDetail betaLicenseAgreement endUserLicenseAgreement"),
      otherFields: names(
        """
        accessibilityUrl subscriptionStatusUrl subscriptionStatusUrlVersion subscriptionStatusUrlForSandbox
        subscriptionStatusUrlVersionForSandbox streamlinedPurchasingEnabled accessibilityDeclarations
        appEncryptionDeclarations appStoreIcon ciProduct betaTesters appTags appClips appPricePoints appPriceSchedule
        appAvailabilityV2 inAppPurchases subscriptionGroups perfPowerMetrics appCustomProductPages
        inAppPurchasesV2 promotedPurchases appEvents subscriptionGracePeriod customerReviews customerReviewSummarizations
        gameCenterDetail appStoreVersionExperimentsV2 alternativeDistributionKey analyticsReportRequests marketplaceSearchDetail
        buildUploads betaFeedbackScreenshotSubmissions betaFeedbackCrashSubmissions searchKeywords androidToIosAppMappingDetails
        """))

    static let appStoreVersion = ResourceKind(
      type: "appStoreVersions", name: "AppStoreVersion", path: "/v1/appStoreVersions",
      attributes: [
        .init(name: "platform", schema: .values(of: ApplePlatform.self)), .init(name: "versionString", schema: .text),
        .init(name: "appVersionState", schema: .values(of: AppVersionStates.State.self)),
        .init(name: "releaseType", schema: .values(of: ReleaseType.self)),
        .init(name: "earliestReleaseDate", schema: .date, isNullable: true), .init(name: "createdDate", schema: .date),
        .init(name: "copyright", schema: .text, isNullable: true), .init(name: "downloadable", schema: .boolean),
      ],
      relationships: [
        .init(name: "app", type: "apps"),
        .init(name: "appStoreVersionPhasedRelease", type: "appStoreVersionPhasedReleases"),
      ]
        + empty("appStoreVersionLocalizations", isMany: true)
        + empty("appStoreReviewDetail appStoreVersionSubmission build routingAppCoverage"),
      otherFields: names(
        """
        appStoreState reviewType usesIdfa gameCenterAppVersion appClipDefaultExperience
        appStoreVersionExperiments appStoreVersionExperimentsV2 customerReviews alternativeDistributionPackage
        """))

    /// Relationships whose objects this host does not have. The type has the name of the relationship.
    private static func empty(_ text: String, isMany: Bool = false) -> [Relationship] {
      names(text).map { .init(name: $0, type: isMany ? $0 : $0 + "s", isMany: isMany, isEmpty: true) }
    }

    static let appStoreVersionReleaseRequest = ResourceKind(
      type: "appStoreVersionReleaseRequests", name: "AppStoreVersionReleaseRequest",
      path: "/v1/appStoreVersionReleaseRequests", attributes: [], relationships: [])

    static let reviewSubmission = ResourceKind(
      type: "reviewSubmissions", name: "ReviewSubmission", path: "/v1/reviewSubmissions",
      attributes: [
        .init(name: "platform", schema: .values(of: ApplePlatform.self)),
        .init(name: "submittedDate", schema: .date, isNullable: true),
        .init(name: "state", schema: .values(of: SubmissionStates.State.self)),
      ],
      relationships: [
        .init(name: "app", type: "apps"), .init(name: "items", type: "reviewSubmissionItems", isMany: true),
        .init(name: "appStoreVersionForReview", type: "appStoreVersions"),
        .init(name: "submittedByActor", type: "actors"), .init(name: "lastUpdatedByActor", type: "actors"),
      ])

    static let reviewSubmissionItem = ResourceKind(
      type: "reviewSubmissionItems", name: "ReviewSubmissionItem", path: "/v1/reviewSubmissionItems",
      attributes: [.init(name: "state", schema: .values(of: SubmissionItemStates.State.self))],
      relationships: [
        .init(name: "appStoreVersion", type: "appStoreVersions"),
        .init(name: "backgroundAssetVersion", type: "backgroundAssetVersions"),
      ], otherFields: otherItems.map(\.name))

    /// Kinds of items that Apple reviews and this host does not: the relationship's name and its type.
    static let otherItems: [(name: String, type: String)] = [
      ("appCustomProductPageVersion", "appCustomProductPageVersions"),
      ("appStoreVersionExperiment", "appStoreVersionExperiments"),
      ("appStoreVersionExperimentV2", "appStoreVersionExperiments"), ("appEvent", "appEvents"),
      ("gameCenterAchievementVersion", "gameCenterAchievementVersions"),
      ("gameCenterActivityVersion", "gameCenterActivityVersions"),
      ("gameCenterChallengeVersion", "gameCenterChallengeVersions"),
      ("gameCenterLeaderboardSetVersion", "gameCenterLeaderboardSetVersions"),
      ("gameCenterLeaderboardVersion", "gameCenterLeaderboardVersions"),
      ("inAppPurchaseVersion", "inAppPurchaseVersions"), ("subscriptionVersion", "subscriptionVersions"),
      ("subscriptionGroupVersion", "subscriptionGroupVersions"),
    ]

    /// By analogy with `betaAppReviewSubmissions`: Apple's published API lacks this type.
    static let betaReviewSubmission = ResourceKind(
      type: "betaBackgroundAssetReviewSubmissions", name: "BetaBackgroundAssetReviewSubmission",
      path: "/v1/betaBackgroundAssetReviewSubmissions",
      attributes: [
        .init(name: "betaReviewState", schema: .values(of: BetaReviewState.self)),
        .init(name: "submittedDate", schema: .date),
      ], relationships: [.init(name: "backgroundAssetVersion", type: "backgroundAssetVersions")])

    static let actor = ResourceKind(
      type: "actors", name: "Actor", path: "/v1/actors",
      attributes: [
        .init(name: "actorType", schema: .enumeration(["USER", "API_KEY", "XCODE_CLOUD", "APPLE"])),
        .init(name: "userFirstName", schema: .text), .init(name: "userLastName", schema: .text),
        .init(name: "userEmail", schema: .text), .init(name: "apiKeyId", schema: .text),
      ], relationships: [])

    /// Splits a text into names at spaces and ends of lines.
    static func names(_ text: String) -> [String] { text.split { $0 == " " || $0 == "\n" }.map(String.init) }
  }

  /// The state of a beta review.
  enum BetaReviewState: String, CaseIterable, Sendable {
    case waitingForReview = "WAITING_FOR_REVIEW"
    case inReview = "IN_REVIEW"
    case rejected = "REJECTED"
    case approved = "APPROVED"

    init(_ state: SubmissionStates.State) {
      self =
        switch state {
        case .readyForReview, .waitingForReview: .waitingForReview
        case .inReview: .inReview
        case .unresolvedIssues, .canceling: .rejected
        case .completing, .complete: .approved
        }
    }
  }
#endif
