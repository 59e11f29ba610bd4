#if Hosting
  import GRDB

  extension ResourceReader {
    func pack(_ id: Identifier<PackRecord>) throws -> Resource? {
      guard let pack = try principal.pack(id, in: database) else { return nil }
      let live = try liveVersions(of: pack)
      return Resource(
        kind: .backgroundAsset, id: pack.id.rawValue,
        attributes: [
          ("archived", .boolean(pack.archived)), ("assetPackIdentifier", .string(pack.identifier)),
          ("createdDate", .date(pack.createdDate)),
          ("usedBytes", .integer(try PackUsage.byteCount(of: pack, in: database))),
        ],
        linkages: [
          "app": .one(pack.appID.rawValue), "appStoreVersion": .one(live[.store]),
          "internalBetaVersion": .one(live[.internalBeta]), "externalBetaVersion": .one(live[.externalBeta]),
        ])
    }

    /// Returns the live versions by context. Nothing of an archived pack is live.
    private func liveVersions(of pack: PackRecord) throws -> [ReleaseContext: String] {
      guard !pack.archived else { return [:] }
      let releases = try ReleaseRecord.filter(Column("packID") == pack.id).fetchAll(database)
      return Dictionary(
        releases.filter(\.state.isLive).map { ($0.context, $0.versionID.rawValue) }
      ) { first, _ in first }
    }

    func version(_ id: Identifier<VersionRecord>) throws -> Resource? {
      guard let version = try principal.version(id, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = [
        ("createdDate", .date(version.createdDate)), ("platforms", .strings(version.platforms.map(\.rawValue))),
        ("state", .string(version.state.rawValue)), ("stateDetails", Self.output(version.details)),
        ("version", .string(String(version.number))),
      ]
      if let locale = version.locale { attributes.append(("locale", .string(locale))) }
      attributes.append(("allPlatforms", .strings(version.allPlatforms)))
      return Resource(
        kind: .backgroundAssetVersion, id: version.id.rawValue, attributes: attributes,
        linkages: try linkages(of: version))
    }

    private func linkages(of version: VersionRecord) throws -> [String: Resource.Linkage] {
      var linkages: [String: Resource.Linkage] = ["backgroundAsset": .one(version.packID.rawValue)]
      for release in try ReleaseRecord.filter(Column("versionID") == version.id).fetchAll(database) {
        let name =
          switch release.context {
          case .internalBeta: "internalBetaRelease"
          case .externalBeta: "externalBetaRelease"
          case .store: "appStoreRelease"
          }
        linkages[name] = .one(release.id.rawValue)
      }
      for file in try UploadFileRecord.filter(Column("versionID") == version.id).fetchAll(database) {
        linkages[file.assetType == .asset ? "assetFile" : "manifestFile"] = .one(file.id.rawValue)
      }
      return linkages
    }

    private static func output(_ details: StateDetails) -> JSONOutput {
      [
        "errors": output(details.errors), "warnings": output(details.warnings), "infos": output(details.infos),
      ]
    }

    private static func output(_ details: [StateDetail]) -> JSONOutput {
      .array(details.map { ["code": .string($0.code), "description": .string($0.description)] })
    }

    func release(_ id: Identifier<ReleaseRecord>, _ context: ReleaseContext) throws -> Resource? {
      guard let release = try principal.release(id, context, in: database) else { return nil }
      return Resource(
        kind: .release(context), id: release.id.rawValue, attributes: [("state", .string(release.state.rawValue))],
        linkages: ["backgroundAssetVersion": .one(release.versionID.rawValue)])
    }

    func uploadFile(_ id: Identifier<UploadFileRecord>) throws -> Resource? {
      guard let file = try principal.uploadFile(id, in: database) else { return nil }
      var attributes: [(name: String, value: JSONOutput)] = [
        (
          "assetDeliveryState",
          [
            "state": .string(file.state.rawValue), "errors": Self.output(file.errors),
            "warnings": Self.output(file.warnings),
          ]
        ),
        ("assetType", .string(file.assetType.rawValue)), ("fileName", .string(file.fileName)),
        ("fileSize", .integer(file.byteCount)),
      ]
      attributes += file.checksums.map(Self.outputs) ?? []
      if file.state == .awaitingUpload { attributes.append(("uploadOperations", try operations(of: file))) }
      return Resource(kind: .backgroundAssetUploadFile, id: file.id.rawValue, attributes: attributes)
    }

    /// Returns the checksums that the client sent; without checksums the attributes are missing.
    private static func outputs(_ checksums: UploadChecksums) -> [(name: String, value: JSONOutput)] {
      func checksum(_ hash: String, _ algorithm: ChecksumAlgorithm) -> JSONOutput {
        ["hash": .string(hash), "algorithm": .string(algorithm.rawValue)]
      }
      var members: [(name: String, value: JSONOutput)] = []
      if let hash = checksums.fileSHA256 {
        members.append(("file", checksum(hash, .sha256)))
      } else if let hash = checksums.fileMD5 {
        members.append(("file", checksum(hash, .md5)))
      }
      if let hash = checksums.compositeMD5 { members.append(("composite", checksum(hash, .md5))) }
      var attributes: [(name: String, value: JSONOutput)] = []
      if let hash = checksums.deprecatedMD5 { attributes.append(("sourceFileChecksum", .string(hash))) }
      if !members.isEmpty { attributes.append(("sourceFileChecksums", .object(members))) }
      return attributes
    }

    private func operations(of file: UploadFileRecord) throws -> JSONOutput {
      operations(try UploadCommands.sentParts(of: file.id, in: database), until: file.expirationDate)
    }

    /// Returns the upload operations of parts. A principal that may not upload gets none, because a URL permits replacing a part.
    func operations(_ parts: [UploadPartRecord], until expiration: Timestamp) -> JSONOutput {
      let permitted = principal.has(.managePacks) ? parts : []
      return .array(
        permitted.map { part in
          let operation = UploadOperation(
            method: PartURLSigner.method, url: base + signer.target(of: part, expires: expiration),
            offset: part.offset, length: part.length, partNumber: part.number, expiration: expiration)
          let headers = operation.requestHeaders.map { header -> JSONOutput in
            ["name": .string(header.name), "value": .string(header.value)]
          }
          return [
            "method": .string(operation.method), "url": .string(operation.url), "offset": .integer(operation.offset),
            "length": .integer(operation.length), "partNumber": .integer(Int64(operation.partNumber)),
            "expiration": .date(operation.expiration), "requestHeaders": .array(headers),
          ]
        })
    }
  }
#endif
