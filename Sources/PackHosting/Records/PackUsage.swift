#if Hosting
  import GRDB

  /// The bytes that packs take, as Apple counts them: per pack the largest size among versions that are complete and not
  /// superseded in both the external and the store's context.
  enum PackUsage {
    private static let counted = """
      SELECT v.packID AS packID, max(v.byteCount) AS bytes FROM packVersion v
      WHERE v.state = 'COMPLETE' AND NOT (
        EXISTS (SELECT 1 FROM release r WHERE r.versionID = v.id AND r.context = 'EXTERNAL' AND r.state = 'SUPERSEDED')
        AND EXISTS (SELECT 1 FROM release r WHERE r.versionID = v.id AND r.context = 'STORE' AND r.state = 'SUPERSEDED'))
      """

    /// Returns the used bytes of each pack of an app; packs without a counted version are missing.
    static func byteCounts(of app: AppID, in database: Database) throws -> [Identifier<PackRecord>: Int64] {
      let rows = try Row.fetchAll(
        database,
        sql: counted + " AND v.appID = ? AND v.packID IN (SELECT id FROM pack WHERE NOT archived) GROUP BY v.packID",
        arguments: [app])
      return Dictionary(rows.map { ($0["packID"], $0["bytes"]) }) { first, _ in first }
    }

    /// Returns the used bytes of a pack; 0 for an archived one.
    static func byteCount(of pack: PackRecord, in database: Database) throws -> Int64 {
      guard !pack.archived else { return 0 }
      return try Int64.fetchOne(
        database, sql: "SELECT coalesce(max(bytes), 0) FROM (" + counted + " AND v.packID = ? GROUP BY v.packID)",
        arguments: [pack.id]) ?? 0
    }

    /// Returns the bytes that an app uses, including open reservations and versions in processing.
    static func reservedByteCount(of app: AppID, in database: Database) throws -> Int64 {
      let reserved =
        try Int64.fetchOne(
          database,
          sql: """
            SELECT coalesce(sum(f.byteCount), 0) FROM uploadFile f JOIN packVersion v ON v.id = f.versionID
            WHERE f.appID = ? AND v.state IN ('AWAITING_UPLOAD', 'PROCESSING') AND f.state IN ('AWAITING_UPLOAD', 'UPLOAD_COMPLETE')
            """, arguments: [app]) ?? 0
      return try byteCounts(of: app, in: database).values.reduce(reserved) {
        $0.addingReportingOverflow($1).partialValue
      }
    }
  }
#endif
