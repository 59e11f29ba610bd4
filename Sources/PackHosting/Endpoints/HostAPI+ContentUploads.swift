#if Hosting
  import GRDB

  extension ResourceKind {
    /// An upload file with only the ranges that the host lacks. Its id is the id of the upload file, by which it is committed.
    static let upload = ResourceKind(
      type: "uploads", name: "Upload", path: "/packstore/v1/uploads",
      attributes: [
        .init(name: "state", schema: .values(of: UploadStates.State.self)), .init(name: "fileName", schema: .text),
        .init(name: "fileSize", schema: .integer(least: 1)), .init(name: "missingBytes", schema: .integer(least: 0)),
        .init(name: "uploadOperations", schema: .list(uploadOperation)),
      ],
      relationships: [
        .init(name: "backgroundAssetUploadFile", type: "backgroundAssetUploadFiles"),
        .init(name: "backgroundAssetVersion", type: "backgroundAssetVersions"),
      ])
  }

  extension HostAPI {
    var contentUploadRoutes: [Route] {
      let kind = ResourceKind.upload
      var create = Route(
        method: .post, path: kind.path, summary: "Reserve an archive, and list the ranges that the host lacks",
        right: .managePacks,
        body: BodySchema(
          type: kind.type, name: "UploadCreateRequest",
          attributes: [
            .init(name: "fileName", schema: .text, isRequired: true),
            .init(name: "fileSize", schema: .integer(least: 1), isRequired: true),
            .init(name: "sha256", schema: .text, isRequired: true), .init(name: "frames", schema: .text),
          ],
          relationships: [.init(name: "backgroundAssetVersion", type: "backgroundAssetVersions", isRequired: true)]),
        result: .one(kind), handle: createUpload)
      create.bodyByteCount = 8 << 20
      return [
        create,
        Route(
          method: .get, path: kind.path + "/{id}", summary: "List the ranges of an upload that the host still lacks",
          result: .one(kind), handle: one(kind)),
      ]
    }

    private func createUpload(_ call: Call) async throws -> Answer {
      let body = try call.requireBody(), byteCount = try body.required(body.integer("fileSize"))
      let sha256 = try body.required(body.text("sha256")).lowercased()
      guard sha256.utf8.count == 64, [UInt8](hex: sha256) != nil else {
        throw APIError.attributeInvalid("sha256", "not 64 hexadecimal digits")
      }
      let file = try await ContentUploadCommands(context, signer: signer).reserve(
        fileName: try body.required(body.text("fileName")), byteCount: byteCount, sha256: sha256,
        try UploadTable(text: body.text("frames") ?? "", fileByteCount: byteCount),
        version: .init(rawValue: try body.required(body.related("backgroundAssetVersion"))), by: call.principal)
      return try await one(.upload, file.id.rawValue, call, isCreated: true)
    }
  }

  extension ResourceReader {
    func upload(_ id: Identifier<UploadFileRecord>) throws -> Resource? {
      guard let file = try principal.uploadFile(id, in: database), file.contentSHA256 != nil else { return nil }
      let isOpen = file.state == .awaitingUpload
      let parts = isOpen ? try UploadCommands.sentParts(of: id, in: database).filter { $0.storedName == nil } : []
      return Resource(
        kind: .upload, id: id.rawValue,
        attributes: [
          ("state", .string(file.state.rawValue)), ("fileName", .string(file.fileName)),
          ("fileSize", .integer(file.byteCount)), ("missingBytes", .integer(parts.reduce(0) { $0 + $1.length })),
          ("uploadOperations", operations(parts, until: file.expirationDate)),
        ],
        linkages: [
          "backgroundAssetUploadFile": .one(id.rawValue), "backgroundAssetVersion": .one(file.versionID.rawValue),
        ])
    }
  }
#endif
