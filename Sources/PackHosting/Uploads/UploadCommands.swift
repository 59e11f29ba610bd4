#if Hosting
  import GRDB
  import PackStore
  import SystemPackage

  /// Reserves, receives and commits upload files.
  struct UploadCommands: Sendable {
    let context: HostContext
    let signer: PartURLSigner

    init(_ context: HostContext, signer: PartURLSigner) {
      self.context = context
      self.signer = signer
    }

    // MARK: - Reservation

    /// A file with ranges that the host copies.
    struct Content: Sendable {
      /// SHA-256 of the whole file, as lower-case hexadecimal digits.
      let sha256: String
      let pieces: [UploadPlan.Piece]
    }

    /// Reserves an upload file.
    ///
    /// - Parameter content: the ranges that the host copies; `nil` if the client sends the whole file.
    /// - Throws: `APIError` 403; 409 for an unknown version, an invalid attribute, a second file of the type, a version that
    ///   accepts no archive any more, or an app without space.
    func reserve(
      _ type: AssetType, fileName: String, byteCount: Int64, version: Identifier<VersionRecord>,
      content: Content? = nil, by principal: Principal
    ) async throws -> UploadFileRecord {
      try principal.require(.managePacks)
      try Self.check(type, fileName, byteCount)
      return try await context.database.write { [context] database in
        guard let record = try principal.version(version, in: database) else {
          throw APIError.relationshipInvalid("backgroundAssetVersion", version.rawValue)
        }
        try Self.requireAccepting(record, type, in: database)
        let (used, limit) = try Self.requireSpace(byteCount, for: record.appID, in: database)
        let file = UploadFileRecord(
          id: .init(context.random), versionID: version, appID: record.appID, assetType: type, fileName: fileName,
          byteCount: byteCount, state: UploadStates.initial, errors: [], warnings: [], contentSHA256: content?.sha256,
          checksums: nil, uploader: principal.id, uploaderKind: principal.kind, createdDate: context.now,
          expirationDate: context.now.adding(seconds: Assumptions.reservationLifetime), committedDate: nil)
        try file.insert(database)
        for (index, piece) in (content?.pieces ?? UploadPlan(byteCount).pieces).enumerated() {
          try UploadPartRecord(
            fileID: file.id, number: index + 1, offset: piece.offset, length: piece.length, frames: piece.record
          ).insert(database)
        }
        try Outbox(context).mailQuota(
          record.appID, before: used, after: used + byteCount, of: limit, in: database)
        return file
      }
    }

    /// Checks the attributes of a file. A plan of a larger file would have too many parts for the memory.
    ///
    /// - Throws: `APIError` 409 for an invalid attribute.
    static func check(_ type: AssetType, _ fileName: String, _ byteCount: Int64) throws {
      let isName = (1...Assumptions.fileNameLimit).contains(fileName.utf8.count)
      guard isName, !fileName.utf8.contains(where: { $0 < 32 || $0 == UInt8(ascii: "/") || $0 == 127 }) else {
        throw APIError.attributeInvalid(
          "fileName", "not a file name of 1 to \(Assumptions.fileNameLimit) bytes; send the name without folders")
      }
      let limit = type == .manifest ? Assumptions.manifestByteCountLimit : Assumptions.bytesPerApp
      guard (1...limit).contains(byteCount) else {
        throw APIError.attributeInvalid(
          "fileSize", "\(byteCount) is not in 1 to \(limit); send the file's size in bytes")
      }
    }

    /// A manifest may follow its archive; an archive is accepted once.
    private static func requireAccepting(_ version: VersionRecord, _ type: AssetType, in database: Database) throws {
      let isArchived = try PackRecord.fetchOne(database, key: ["id": version.packID])?.archived ?? true
      guard !isArchived else { throw APIError.entityState("version \(version.number): its pack is archived") }
      guard version.state != .failed, type == .manifest || version.state == .awaitingUpload else {
        throw APIError.entityState(
          "version \(version.number): its state is \(version.state.rawValue); create a new version to upload again")
      }
      let isPresent = try UploadFileRecord.fetchOne(database, key: ["versionID": version.id, "assetType": type]) != nil
      guard !isPresent else {
        throw APIError.alreadyExists(
          "version \(version.number): has a file of type \(type.rawValue); use that file or create a new version")
      }
    }

    /// - Returns: the used bytes before the file, and their limit.
    private static func requireSpace(
      _ byteCount: Int64, for app: AppID, in database: Database
    ) throws -> (used: Int64, limit: Int64) {
      let limit = try AppRecord.fetchOne(database, key: ["id": app])?.byteLimit ?? 0
      let used = try PackUsage.reservedByteCount(of: app, in: database)
      guard byteCount <= limit - used else {
        throw APIError.limitReached(
          "app '\(app)': uses \(used) of \(limit) bytes, and the file has \(byteCount); archive packs or ask the operator"
        )
      }
      return (used, limit)
    }

    /// Returns how a client sends each part that is still expected; none after the commit.
    ///
    /// - Parameter origin: scheme and host of the URLs.
    func operations(of file: UploadFileRecord, origin: String) async throws -> [UploadOperation] {
      guard file.state == .awaitingUpload else { return [] }
      let parts = try await context.database.read { try Self.sentParts(of: file.id, in: $0) }
      return parts.map {
        UploadOperation(
          method: PartURLSigner.method, url: origin + signer.target(of: $0, expires: file.expirationDate),
          offset: $0.offset, length: $0.length, partNumber: $0.number, expiration: file.expirationDate)
      }
    }

    static func parts(of file: Identifier<UploadFileRecord>, in database: Database) throws -> [UploadPartRecord] {
      try UploadPartRecord.filter(Column("fileID") == file).order(Column("number")).fetchAll(database)
    }

    /// Returns the parts that the client sends.
    static func sentParts(of file: Identifier<UploadFileRecord>, in database: Database) throws -> [UploadPartRecord] {
      try UploadPartRecord.filter(Column("fileID") == file && Column("frames") == nil).order(Column("number"))
        .fetchAll(database)
    }

    /// Deletes the frames of a closed file's parts, which can have megabytes. The parts are still parts that the host copied.
    static func deleteFrames(of file: Identifier<UploadFileRecord>, in database: Database) throws {
      try database.execute(
        sql: "UPDATE uploadPart SET frames = x'' WHERE fileID = ? AND frames IS NOT NULL", arguments: [file])
    }

    // MARK: - Parts

    /// Checks a PUT of a part and opens a file for its bytes.
    ///
    /// - Parameters:
    ///   - target: path and query of the request.
    ///   - contentLength: `nil` for a chunked body.
    /// - Throws: `APIError` 403 for a wrong URL, 405, 400 for a wrong length, 410 after commit or expiry, 503.
    func receivePart(method: String, target: String, contentLength: Int64?) async throws -> PartWriter {
      guard method == PartURLSigner.method else {
        throw APIError(405, "METHOD_NOT_ALLOWED", "The method is not allowed", "upload URL: accepts PUT only")
      }
      let now = context.now
      guard let claim = PartURLClaim(target: target),
        let part = try await context.database.read({ database in
          try UploadPartRecord.fetchOne(database, key: ["fileID": claim.file, "number": claim.number])
        }), signer.isValid(claim, for: part)
      else { throw APIError.forbidden("upload URL: not signed by this host; use the URL of the upload operation") }
      try await context.database.read { try PartWriter.requireOpen(part.fileID, at: now, in: $0) }
      guard claim.expires > now.seconds else { throw APIError.forbidden("upload URL: expired; reserve the file again") }
      if let contentLength, contentLength != part.length {
        throw APIError(
          400, "ENTITY_INVALID", "The part has the wrong length",
          "part \(part.number): Content-Length is \(contentLength) instead of \(part.length); send the described range")
      }
      return try PartWriter(context, part)
    }

    // MARK: - Commit

    /// Commits a file: no part changes after this. A commit with the same checksums may be repeated.
    ///
    /// - Parameter checksums: as the client sent them, in lower case; `nil` for none.
    /// - Throws: `APIError` 403, 404; 409 for missing parts, or other checksums than the first commit's.
    func commit(
      _ id: Identifier<UploadFileRecord>, _ checksums: UploadChecksums?, by principal: Principal
    ) async throws -> UploadFileRecord {
      try principal.require(.managePacks)
      let found = try await context.database.read { try principal.uploadFile(id, in: $0) }
      guard let found else { throw APIError.notFound("backgroundAssetUploadFiles", id.rawValue) }
      let folder = UploadFolder(id, in: context.folder)
      if found.state == .awaitingUpload, pathExists(folder.path) { try folder.sync() }
      let (file, isNew) = try await context.database.write { [context] database in
        guard let file = try principal.uploadFile(id, in: database) else {
          throw APIError.notFound("backgroundAssetUploadFiles", id.rawValue)
        }
        return try Self.close(file, checksums, context, in: database)
      }
      guard isNew, file.assetType == .manifest else { return file }
      return try await ManifestCheck(context).run(file.id) ?? file
    }

    /// Closes the reservation; a repetition changes nothing.
    private static func close(
      _ file: UploadFileRecord, _ checksums: UploadChecksums?, _ context: HostContext, in database: Database
    ) throws -> (UploadFileRecord, isNew: Bool) {
      let checksums = try file.complete(checksums)
      if file.committedDate != nil {
        guard checksums == nil || checksums == file.checksums || checksums?.isOnly(file.contentSHA256) == true else {
          throw APIError.invalidState("uploaded", "committed before with other checksums; create a new version")
        }
        return (file, false)
      }
      guard let next = UploadStates.next(file.state, .commit), file.expirationDate > context.now else {
        throw APIError.invalidState("uploaded", "the reservation expired; create a new version")
      }
      let missing = try sentParts(of: file.id, in: database).filter { $0.storedName == nil }.map { "\($0.number)" }
      guard missing.isEmpty else {
        throw APIError.invalidState(
          "uploaded", "parts \(missing.prefix(20).joined(separator: ", ")) were not received; send them first")
      }
      var file = file
      file.state = next
      file.checksums = checksums
      file.committedDate = context.now
      try file.update(database)
      if file.assetType == .asset { try beginProcessing(file, context, in: database) }
      return (file, true)
    }

    private static func beginProcessing(
      _ file: UploadFileRecord, _ context: HostContext, in database: Database
    ) throws {
      guard var version = try VersionRecord.fetchOne(database, key: ["id": file.versionID]),
        let next = VersionStates.next(version.state, .commitAsset)
      else { throw APIError.entityState("version: does not accept an archive any more; create a new version") }
      version.state = next
      version.byteCount = file.byteCount
      try version.update(database)
      try JobRecord(
        id: .init(context.random), versionID: version.id, state: .waiting, faults: 0, cause: nil,
        createdDate: context.now
      ).insert(database)
    }

    // MARK: - Expiry

    /// Fails reservations whose time is over, and gives their space back. Removes part files that no part refers to.
    func expire() async throws {
      let expired = try await context.database.write { [context] database in
        let files = try UploadFileRecord.filter(
          Column("state") == UploadStates.State.awaitingUpload && Column("expirationDate") <= context.now
        ).fetchAll(database)
        for file in files { try Self.expire(file, in: database) }
        return files
      }
      for file in expired { UploadFolder(file.id, in: context.folder).remove() }
    }

    private static func expire(_ file: UploadFileRecord, in database: Database) throws {
      var file = file
      guard let next = UploadStates.next(file.state, .expire) else { return }
      file.state = next
      file.errors = [StateDetail(code: "RESERVATION_EXPIRED", description: "The file was not committed in time.")]
      try file.update(database)
      try database.execute(
        sql: "UPDATE uploadPart SET storedName = NULL, md5 = NULL WHERE fileID = ?", arguments: [file.id])
      try deleteFrames(of: file.id, in: database)
      guard file.assetType == .asset, var version = try VersionRecord.fetchOne(database, key: ["id": file.versionID]),
        let state = VersionStates.next(version.state, .expire)
      else { return }
      version.state = state
      version.details.errors = file.errors
      try version.update(database)
    }

    /// Cleans up after a crash: removes folders of files that are closed or unknown, and part files of unfinished PUTs. Called before
    /// the host accepts requests.
    func cleanUp() async throws {
      let root = context.folder.appending("uploads")
      for name in try namesInFolder(root) {
        let id = Identifier<UploadFileRecord>(rawValue: name)
        let kept: Set<String>? = try await context.database.read { database in
          guard let file = try UploadFileRecord.fetchOne(database, key: ["id": id]),
            file.state == .awaitingUpload || file.state == .uploadComplete
          else { return nil }
          return Set(try Self.sentParts(of: id, in: database).compactMap(\.storedName))
        }
        let folder = UploadFolder(id, in: context.folder)
        if let kept { try folder.removeAll(but: kept) } else { folder.remove() }
      }
    }
  }

  extension UploadFileRecord {
    /// Adds the checksum of the reservation to the checksums of a commit.
    ///
    /// - Throws: `APIError` 409 if both contain another SHA-256.
    fileprivate func complete(_ checksums: UploadChecksums?) throws -> UploadChecksums? {
      guard let contentSHA256 else { return checksums }
      var checksums = checksums ?? UploadChecksums()
      guard (checksums.fileSHA256 ?? contentSHA256) == contentSHA256 else {
        throw APIError.invalidState("sourceFileChecksums", "another SHA-256 than the reservation has; reserve again")
      }
      checksums.fileSHA256 = contentSHA256
      return checksums
    }
  }

  extension UploadChecksums {
    /// Whether this is the checksum of a reservation, and nothing else.
    fileprivate func isOnly(_ sha256: String?) -> Bool { self == UploadChecksums(fileSHA256: sha256) }
  }
#endif
