#if Hosting
  import GRDB
  import PackStore

  /// Reserves uploads of archives whose known ranges the host copies from the app's site.
  struct ContentUploadCommands: Sendable {
    let context: HostContext
    let signer: PartURLSigner

    init(_ context: HostContext, signer: PartURLSigner) { (self.context, self.signer) = (context, signer) }

    /// Reserves the archive of a version. The same request again returns the same file, so that a client continues: while it is open,
    /// the ranges that are missing; after its commit, none. So two clients that upload the same file at the same time both succeed.
    ///
    /// - Parameter sha256: of the whole file, as lower-case hexadecimal digits. Processing compares it, because digests of frames
    ///   alone prove nothing.
    /// - Throws: `APIError` 403; 409 as ``UploadCommands/reserve(_:fileName:byteCount:version:content:by:)``.
    func reserve(
      fileName: String, byteCount: Int64, sha256: String, _ table: UploadTable, version id: Identifier<VersionRecord>,
      by principal: Principal
    ) async throws -> UploadFileRecord {
      try principal.require(.managePacks)
      try UploadCommands.check(.asset, fileName, byteCount)
      let request = Request(version: id, byteCount: byteCount, sha256: sha256)
      let (version, present) = try await find(request, by: principal)
      if let present { return present }
      let site = AppFolder(version.appID, in: context.folder).site, wanted = Set(table.frames.map(\.digest))
      let found = try await BlockingExecutor.run { try SiteFrames(wanted, in: site).digests }
      let plan = UploadPlan(byteCount, table, present: found)
      do {
        return try await UploadCommands(context, signer: signer).reserve(
          .asset, fileName: fileName, byteCount: byteCount, version: id,
          content: .init(sha256: sha256, pieces: plan.pieces), by: principal)
      } catch let error as APIError where error.code == APIError.alreadyExists("").code {
        // Another client may have reserved the same file since then.
        guard let present = try await find(request, by: principal).present else { throw error }
        return present
      }
    }

    private struct Request: Sendable {
      let version: Identifier<VersionRecord>
      let byteCount: Int64
      let sha256: String
    }

    /// Returns the version, and its file if that is the requested one and neither expired nor failed.
    private func find(
      _ request: Request, by principal: Principal
    ) async throws -> (version: VersionRecord, present: UploadFileRecord?) {
      try await context.database.read { [context] database in
        guard let version = try principal.version(request.version, in: database) else {
          throw APIError.relationshipInvalid("backgroundAssetVersion", request.version.rawValue)
        }
        let file = try UploadFileRecord.fetchOne(
          database, key: ["versionID": request.version, "assetType": AssetType.asset])
        guard let file, file.contentSHA256 == request.sha256, file.byteCount == request.byteCount else {
          return (version, nil)
        }
        let isOpen = file.state == .awaitingUpload && file.expirationDate > context.now
        return (version, isOpen || (file.committedDate != nil && file.state != .failed) ? file : nil)
      }
    }
  }
#endif
