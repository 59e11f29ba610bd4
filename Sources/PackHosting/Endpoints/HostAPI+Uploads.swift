#if Hosting
  import GRDB
  import PackStore

  extension HostAPI {
    var uploadRoutes: [Route] {
      [
        Route(
          method: .post, path: "/v1/backgroundAssetUploadFiles", summary: "Reserve a file of a version",
          right: .managePacks,
          body: BodySchema(
            type: "backgroundAssetUploadFiles", name: "BackgroundAssetUploadFileCreateRequest",
            attributes: [
              .init(name: "assetType", schema: .values(of: AssetType.self), isRequired: true),
              .init(name: "fileName", schema: .text, isRequired: true),
              .init(name: "fileSize", schema: .integer(least: 1), isRequired: true),
            ],
            relationships: [.init(name: "backgroundAssetVersion", type: "backgroundAssetVersions", isRequired: true)]),
          result: .one(.backgroundAssetUploadFile), handle: reserve),
        Route(
          method: .get, path: "/v1/backgroundAssetUploadFiles/{id}", summary: "Read a file of a version",
          parameters: [.fields(.backgroundAssetUploadFile)], result: .one(.backgroundAssetUploadFile),
          handle: one(.backgroundAssetUploadFile)),
        Route(
          method: .patch, path: "/v1/backgroundAssetUploadFiles/{id}",
          summary: "Commit a file after its parts were sent",
          right: .managePacks,
          body: BodySchema(
            type: "backgroundAssetUploadFiles", name: "BackgroundAssetUploadFileUpdateRequest", hasID: true,
            attributes: [
              .init(name: "uploaded", schema: .boolean), .init(name: "sourceFileChecksum", schema: .text),
              .init(name: "sourceFileChecksums", schema: ResourceKind.checksums),
            ]), result: .one(.backgroundAssetUploadFile), handle: commit),
      ]
    }

    private func reserve(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      let file = try await UploadCommands(context, signer: signer).reserve(
        try body.required(body.value("assetType")), fileName: try body.required(body.text("fileName")),
        byteCount: try body.required(body.integer("fileSize")),
        version: .init(rawValue: try body.required(body.related("backgroundAssetVersion"))), by: call.principal)
      return try await one(.backgroundAssetUploadFile, file.id.rawValue, call, isCreated: true)
    }

    /// Without `uploaded: true` nothing changes: checksums alone are not stored.
    private func commit(_ call: Call) async throws -> Answer {
      let body = try call.requireBody()
      let checksums = try Self.checksums(body)
      guard body.flag("uploaded") == true else {
        let id = Identifier<UploadFileRecord>(rawValue: call.id)
        let file = try await context.database.read { try call.principal.uploadFile(id, in: $0) }
        guard body.flag("uploaded") == nil || file?.committedDate == nil else {
          throw APIError.invalidState("uploaded", "cannot become false; create a new version to upload again")
        }
        return try await one(.backgroundAssetUploadFile, call.id, call)
      }
      _ = try await UploadCommands(context, signer: signer).commit(
        .init(rawValue: call.id), checksums, by: call.principal)
      return try await one(.backgroundAssetUploadFile, call.id, call)
    }

    /// Returns the checksums of a commit, in lower case; `nil` without checksums.
    static func checksums(_ body: Body) throws -> UploadChecksums? {
      var checksums = UploadChecksums()
      let given = body.object("sourceFileChecksums")
      if let file = given?.member("file"), let hash = file.member("hash")?.string {
        let algorithm = file.member("algorithm")?.string.flatMap { ChecksumAlgorithm(rawValue: $0) }
        switch algorithm {
        case .sha256: checksums.fileSHA256 = try digits(hash, 64, "sourceFileChecksums")
        case .md5: checksums.fileMD5 = try digits(hash, 32, "sourceFileChecksums")
        case nil: throw APIError.attributeRequired("sourceFileChecksums/file/algorithm")
        }
      }
      if let hash = given?.member("composite")?.member("hash")?.string {
        // Some tools append the number of parts.
        checksums.compositeMD5 = try digits(hash.prefix { $0 != "-" }, 32, "sourceFileChecksums")
      }
      if let hash = body.text("sourceFileChecksum") {
        checksums.deprecatedMD5 = try digits(hash, 32, "sourceFileChecksum")
      }
      return checksums == UploadChecksums() ? nil : checksums
    }

    private static func digits(_ text: some StringProtocol, _ count: Int, _ name: String) throws -> String {
      let text = text.lowercased()
      guard text.utf8.count == count, [UInt8](hex: text) != nil else {
        throw APIError.attributeInvalid(name, "not \(count) hexadecimal digits")
      }
      return text
    }
  }
#endif
