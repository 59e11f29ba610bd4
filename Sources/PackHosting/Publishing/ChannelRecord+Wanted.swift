#if Hosting
  import GRDB
  import PackStore

  extension ChannelRecord {
    static func find(_ app: AppID, _ context: ReleaseContext, in database: Database) throws -> ChannelRecord? {
      try fetchOne(database, key: ["appID": app, "context": context])
    }

    /// Notes that the live releases of a context changed, so that its root must follow.
    static func want(_ app: AppID, _ context: ReleaseContext, in database: Database) throws {
      try database.execute(
        sql: "UPDATE channel SET wantedRevision = wantedRevision + 1 WHERE appID = ? AND context = ?",
        arguments: [app, context])
    }

    /// The offers that the root is to have: of each pack the version that is about to become live, or the live version.
    func wantedOffers(in database: Database) throws -> [PackID: UInt64] {
      let rows = try Row.fetchAll(
        database,
        sql: """
          SELECT p.identifier AS pack, v.number AS number, r.state AS state FROM release r
          JOIN packVersion v ON v.id = r.versionID JOIN pack p ON p.id = r.packID
          WHERE r.appID = ? AND r.context = ? AND NOT p.archived AND r.state IN
            ('READY_FOR_TESTING', 'READY_FOR_DISTRIBUTION', 'PROCESSING_FOR_TESTING', 'PROCESSING_FOR_DISTRIBUTION')
          ORDER BY r.state LIKE 'PROCESSING%', v.number
          """, arguments: [appID, context])
      var offers: [PackID: UInt64] = [:]
      for row in rows {
        let pack = try PackID(validating: row["pack"]), number: Int64 = row["number"]
        offers[pack] = UInt64(clamping: number)
      }
      return offers
    }
  }
#endif
