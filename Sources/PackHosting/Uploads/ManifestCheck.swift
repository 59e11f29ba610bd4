#if Hosting
  import GRDB
  import PackStore
  import SystemPackage

  /// Checks a committed manifest file at once, before the archive arrives. A fault fails this file only.
  struct ManifestCheck: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// - Returns: the file with its new state; `nil` if it is not a committed manifest.
    func run(_ id: Identifier<UploadFileRecord>) async throws -> UploadFileRecord? {
      let found = try await context.database.read { database -> (UploadFileRecord, String, [UploadPartRecord])? in
        guard let file = try UploadFileRecord.fetchOne(database, key: ["id": id]), file.state == .uploadComplete,
          let identifier = try String.fetchOne(
            database, sql: "SELECT p.identifier FROM pack p JOIN packVersion v ON v.packID = p.id WHERE v.id = ?",
            arguments: [file.versionID])
        else { return nil }
        return (file, identifier, try UploadCommands.parts(of: id, in: database))
      }
      guard let (file, identifier, parts) = found else { return nil }
      var bytes: [UInt8] = []
      var digest = UploadDigest()
      for part in parts {
        let piece = try part.bytes(in: context.folder)
        digest.addPart(piece)
        bytes += piece
      }
      let fault = digest.fault(file.checksums) ?? Self.fault(in: bytes, identifier)
      return try await context.database.write { database in
        guard var file = try UploadFileRecord.fetchOne(database, key: ["id": id]),
          let next = UploadStates.next(file.state, fault == nil ? .accept : .reject)
        else { return nil }
        file.state = next
        if let fault { file.errors = [fault] }
        try file.update(database)
        return file
      }
    }

    private static func fault(in bytes: [UInt8], _ identifier: String) -> StateDetail? {
      guard let members = JSONReader.read(bytes, options: .init(allowsComments: true)).root?.object else {
        return StateDetail(code: "MANIFEST_INVALID", description: "The manifest is not a JSON object.")
      }
      guard let name = members.first(where: { $0.name == "assetPackID" })?.value.string else {
        return StateDetail(code: "MANIFEST_INVALID", description: "The manifest has no assetPackID.")
      }
      guard name == identifier else {
        return StateDetail(
          code: "ASSET_PACK_ID_MISMATCH",
          description: "The manifest's assetPackID is '\(name)' instead of '\(identifier)'.")
      }
      return nil
    }
  }

  extension UploadPartRecord {
    /// Reads a small part.
    fileprivate func bytes(in folder: FilePath) throws -> [UInt8] {
      let place = UploadFolder(fileID, in: folder).file(storedName ?? "")
      return try InputFile(place).contents(limit: Int(clamping: Assumptions.manifestByteCountLimit))
    }
  }
#endif
