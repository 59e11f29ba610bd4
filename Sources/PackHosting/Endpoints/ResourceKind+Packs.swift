#if Hosting
  // Resources of packs, as Apple's API defines them. Attributes of ours are marked.

  extension ResourceKind {
    private static let detail = ValueSchema.object([
      .init(name: "code", schema: .text), .init(name: "description", schema: .text),
    ])

    static let backgroundAsset = ResourceKind(
      type: "backgroundAssets", name: "BackgroundAsset", path: "/v1/backgroundAssets",
      attributes: [
        .init(name: "archived", schema: .boolean), .init(name: "assetPackIdentifier", schema: .text),
        .init(name: "createdDate", schema: .date), .init(name: "usedBytes", schema: .integer(least: 0)),
      ],
      relationships: [
        .init(name: "app", type: "apps"), .init(name: "versions", type: "backgroundAssetVersions", isMany: true),
        .init(name: "appStoreVersion", type: "backgroundAssetVersions"),
        .init(name: "internalBetaVersion", type: "backgroundAssetVersions"),
        .init(name: "externalBetaVersion", type: "backgroundAssetVersions"),
      ])

    static let backgroundAssetVersion = ResourceKind(
      type: "backgroundAssetVersions", name: "BackgroundAssetVersion", path: "/v1/backgroundAssetVersions",
      attributes: [
        .init(name: "createdDate", schema: .date),
        .init(name: "platforms", schema: .list(.values(of: ApplePlatform.self))),
        .init(name: "state", schema: .values(of: VersionStates.State.self)),
        .init(
          name: "stateDetails",
          schema: .object(["errors", "warnings", "infos"].map { .init(name: $0, schema: .list(detail)) })),
        .init(name: "version", schema: .text), .init(name: "locale", schema: .text),
        // Ours: all platforms by their names in manifests. Apple has no value for some of them.
        .init(name: "allPlatforms", schema: .list(.text)),
      ],
      relationships: [
        .init(name: "backgroundAsset", type: "backgroundAssets"),
        .init(name: "internalBetaRelease", type: "backgroundAssetVersionInternalBetaReleases"),
        .init(name: "externalBetaRelease", type: "backgroundAssetVersionExternalBetaReleases"),
        .init(name: "appStoreRelease", type: "backgroundAssetVersionAppStoreReleases"),
        .init(name: "assetFile", type: "backgroundAssetUploadFiles"),
        .init(name: "manifestFile", type: "backgroundAssetUploadFiles"),
        .init(name: "backgroundAssetUploadFiles", type: "backgroundAssetUploadFiles", isMany: true),
      ])

    static let checksums = ValueSchema.object([
      .init(
        name: "file",
        schema: .object([
          .init(name: "hash", schema: .text), .init(name: "algorithm", schema: .values(of: ChecksumAlgorithm.self)),
        ])),
      .init(
        name: "composite",
        schema: .object([
          .init(name: "hash", schema: .text),
          .init(name: "algorithm", schema: .enumeration([ChecksumAlgorithm.md5.rawValue])),
        ])),
    ])

    static let uploadOperation = ValueSchema.object([
      .init(name: "method", schema: .text), .init(name: "url", schema: .text),
      .init(name: "offset", schema: .integer(least: 0)), .init(name: "length", schema: .integer(least: 1)),
      .init(name: "partNumber", schema: .integer(least: 1)), .init(name: "expiration", schema: .date),
      .init(
        name: "requestHeaders",
        schema: .list(.object([.init(name: "name", schema: .text), .init(name: "value", schema: .text)]))),
    ])

    static let backgroundAssetUploadFile = ResourceKind(
      type: "backgroundAssetUploadFiles", name: "BackgroundAssetUploadFile", path: "/v1/backgroundAssetUploadFiles",
      attributes: [
        .init(
          name: "assetDeliveryState",
          schema: .object([
            .init(name: "state", schema: .values(of: UploadStates.State.self)),
            .init(name: "errors", schema: .list(detail)), .init(name: "warnings", schema: .list(detail)),
          ])),
        .init(name: "assetType", schema: .values(of: AssetType.self)), .init(name: "fileName", schema: .text),
        .init(name: "fileSize", schema: .integer(least: 1)), .init(name: "sourceFileChecksum", schema: .text),
        .init(name: "sourceFileChecksums", schema: checksums),
        .init(name: "uploadOperations", schema: .list(uploadOperation)),
      ], relationships: [], otherFields: ["assetToken"])

    static func release(_ context: ReleaseContext) -> ResourceKind {
      let name =
        switch context {
        case .internalBeta: "BackgroundAssetVersionInternalBetaRelease"
        case .externalBeta: "BackgroundAssetVersionExternalBetaRelease"
        case .store: "BackgroundAssetVersionAppStoreRelease"
        }
      let states = ReleaseState.allCases.filter { state in context.states.contains(state) }.map(\.rawValue)
      return ResourceKind(
        type: "b\(name.dropFirst())s", name: name, path: "/v1/b\(name.dropFirst())s",
        attributes: [.init(name: "state", schema: .enumeration(states))],
        relationships: [.init(name: "backgroundAssetVersion", type: "backgroundAssetVersions")])
    }
  }

  extension ReleaseContext {
    /// The states that a release of the context can have.
    var states: Set<ReleaseState> {
      var found: Set = [initialState], new = found
      while !new.isEmpty {
        let next = Set(new.flatMap { state in ReleaseEvent.allCases.compactMap { self.next(state, $0) } })
        new = next.subtracting(found)
        found.formUnion(new)
      }
      return found
    }
  }
#endif
