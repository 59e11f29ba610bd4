#if Hosting
  import GRDB
  import PackStore

  /// Reserves uploads of archives whose known ranges the host copies from the app's site.
  struct ContentUploadCommands: Sendable {
    let context: HostContext
    let signer: PartURLSigner

    init(_ context: HostContext, signer: PartURLSigner) { (self.context, self.signer) = (context, signer) }

    /// Reserves the archive of a version. The same request again returns the open reservation, so that a client continues.
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
      let (version, open) = try await context.database.read { [context] database in
        guard let version = try principal.version(id, in: database) else {
          throw APIError.relationshipInvalid("backgroundAssetVersion", id.rawValue)
        }
        let file = try UploadFileRecord.fetchOne(database, key: ["versionID": id, "assetType": AssetType.asset])
        let isOpen =
          file.map {
            $0.state == .awaitingUpload && $0.contentSHA256 == sha256 && $0.byteCount == byteCount
              && $0.expirationDate > context.now
          } ?? false
        return (version, isOpen ? file : nil)
      }
      if let open { return open }
      let site = AppFolder(version.appID, in: context.folder).site, wanted = Set(table.frames.map(\.digest))
      let present = try await BlockingExecutor.run { try SiteFrames(wanted, in: site).digests }
      let plan = UploadPlan(byteCount, table, present: present)
      return try await UploadCommands(context, signer: signer).reserve(
        .asset, fileName: fileName, byteCount: byteCount, version: id,
        content: .init(sha256: sha256, pieces: plan.pieces), by: principal)
    }
  }
#endif
