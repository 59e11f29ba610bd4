#if Hosting
  import GRDB
  import PackStore

  /// Builds deltas from the version that devices have to the version that replaced it, for external testers and the store. No state of
  /// a version waits for them: devices without a delta fetch the changed ranges.
  struct DeltaJobs: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    private struct Pair: Codable, FetchableRecord, Sendable {
      let fromVersionID: Identifier<VersionRecord>
      let toVersionID: Identifier<VersionRecord>
      let pack: String
      let fromNumber: Int64
      let toNumber: Int64
    }

    /// The live releases without a delta from their fallback. A root that is signed offline does not list deltas.
    private static let missing = """
      FROM release r JOIN release f ON f.id = r.fallbackID JOIN packVersion tv ON tv.id = r.versionID
        JOIN packVersion fv ON fv.id = f.versionID JOIN pack p ON p.id = r.packID
      WHERE NOT p.archived AND r.state IN ('READY_FOR_DISTRIBUTION', 'READY_FOR_TESTING') AND tv.catalog IS NOT fv.catalog
        AND tv.byteCount <= \(Assumptions.deltaByteCountLimit) AND fv.byteCount <= \(Assumptions.deltaByteCountLimit)
        AND NOT (r.context = 'STORE' AND EXISTS (SELECT 1 FROM offlineSigning o WHERE o.appID = r.appID))
        AND NOT EXISTS (
          SELECT 1 FROM deltaJob d WHERE d.fromVersionID = fv.id AND d.toVersionID = tv.id AND d.state <> 'WAITING')
      """

    /// Returns the apps that lack deltas.
    static func apps(in database: Database) throws -> [AppID] {
      try AppID.fetchAll(database, sql: "SELECT DISTINCT r.appID \(missing)")
    }

    /// Builds one missing delta, so that other work of the app does not wait for all. One caller at a time works on an app.
    ///
    /// - Returns: whether one was missing.
    @discardableResult
    func run(_ publisher: SitePublisher) async throws -> Bool {
      let app = publisher.app.id
      let pair = try await context.database.read { database in
        try Pair.fetchOne(
          database,
          sql: """
            SELECT fv.id AS fromVersionID, tv.id AS toVersionID, p.identifier AS pack, fv.number AS fromNumber,
              tv.number AS toNumber \(Self.missing) AND r.appID = ? ORDER BY r.createdDate, r.id LIMIT 1
            """, arguments: [app])
      }
      guard let pair else { return false }
      do {
        let fault = try await publisher.makeDelta(
          of: try PackID(validating: pair.pack), from: UInt64(clamping: pair.fromNumber),
          to: UInt64(clamping: pair.toNumber))
        try await note(pair, fault, isFinal: true)
      } catch is CancellationError {
        throw CancellationError()
      } catch { try await note(pair, "\(error)", isFinal: false) }
      return true
    }

    private func note(_ pair: Pair, _ cause: String?, isFinal: Bool) async throws {
      try await context.database.write { [context] database in
        let key = ["fromVersionID": pair.fromVersionID, "toVersionID": pair.toVersionID]
        var job =
          try DeltaJobRecord.fetchOne(database, key: key)
          ?? DeltaJobRecord(
            fromVersionID: pair.fromVersionID, toVersionID: pair.toVersionID, state: .waiting, faults: 0, cause: nil,
            createdDate: context.now)
        job.cause = cause.map { String($0.prefix(1000)) }
        if !isFinal { job.faults += 1 }
        let isStuck = cause != nil && (isFinal || job.faults >= VersionProcessor.faultLimit)
        job.state = cause == nil ? .done : isStuck ? .stuck : .waiting
        try job.upsert(database)
      }
    }
  }
#endif
