#if Hosting
  import GRDB

  /// Creates packs and versions.
  struct PackCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Creates a pack.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown app, an invalid or used identifier, or an app with too many packs.
    func create(_ identifier: String, app: AppID, by principal: Principal) async throws -> PackRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [context] database in
        guard let record = try principal.app(app, in: database) else {
          throw APIError.relationshipInvalid("app", app.rawValue)
        }
        guard PackIdentifier.isValid(identifier) else {
          throw APIError.attributeInvalid(
            "assetPackIdentifier",
            "not 1 to \(Assumptions.packIdentifierLimit) letters, digits and single hyphens; choose another name")
        }
        let isUsed = try PackRecord.fetchOne(database, key: ["appID": app, "identifier": identifier]) != nil
        guard !isUsed else { throw APIError.duplicate("assetPackIdentifier", identifier) }
        let count = try Int.fetchOne(
          database, sql: "SELECT count(*) FROM pack WHERE appID = ? AND NOT archived", arguments: [app])
        guard (count ?? 0) < record.packLimit else {
          throw APIError.limitReached("app '\(app)': has \(record.packLimit) packs, its limit; archive a pack first")
        }
        let pack = PackRecord(
          id: .init(context.random), appID: app, identifier: identifier, archived: false, lastNumber: 0,
          createdDate: context.now)
        try pack.insert(database)
        return pack
      }
    }

    /// Creates the next version of a pack.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown or archived pack.
    func createVersion(of pack: Identifier<PackRecord>, by principal: Principal) async throws -> VersionRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [context] database in
        guard var record = try principal.pack(pack, in: database) else {
          throw APIError.relationshipInvalid("backgroundAsset", pack.rawValue)
        }
        guard !record.archived else {
          throw APIError.entityState("pack '\(record.identifier)': archived; create another pack")
        }
        let (number, isTooLarge) = record.lastNumber.addingReportingOverflow(1)
        guard !isTooLarge else {
          throw APIError.limitReached("pack '\(record.identifier)': has no version numbers left")
        }
        record.lastNumber = number
        try record.update(database)
        let version = VersionRecord(
          id: .init(context.random), packID: record.id, appID: record.appID, number: number,
          state: VersionStates.initial, createdDate: try nextDate(of: record.id, in: database), platforms: [],
          allPlatforms: [], locale: nil, details: .init(), catalog: nil, byteCount: 0, creator: principal.id,
          creatorKind: principal.kind)
        try version.insert(database)
        return version
      }
    }

    /// Clients sort versions by their date, so dates rise with the numbers in whole seconds.
    private func nextDate(of pack: Identifier<PackRecord>, in database: Database) throws -> Timestamp {
      let last = try Timestamp.fetchOne(
        database, sql: "SELECT max(createdDate) FROM packVersion WHERE packID = ?", arguments: [pack])
      let now = Timestamp(rawValue: 0).adding(seconds: context.now.seconds)
      return last.map { max(now, $0.adding(seconds: Assumptions.versionDateStep)) } ?? now
    }
  }
#endif
