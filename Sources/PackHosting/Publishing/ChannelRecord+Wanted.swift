#if Hosting
  import GRDB
  import PackAuthoring
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

    /// The offers that the root is to have: of each pack the release that is about to become live, or the live one; and its fallback
    /// for devices outside of its share.
    func wantedOffers(in database: Database) throws -> [PackID: [Site.PlannedOffer]] {
      let releases = try ReleaseRecord.fetchAll(
        database,
        sql: """
          SELECT r.* FROM release r JOIN pack p ON p.id = r.packID
          WHERE r.appID = ? AND r.context = ? AND NOT p.archived AND r.state IN
            ('READY_FOR_TESTING', 'READY_FOR_DISTRIBUTION', 'PROCESSING_FOR_TESTING', 'PROCESSING_FOR_DISTRIBUTION')
          ORDER BY r.state LIKE 'PROCESSING%', r.createdDate
          """, arguments: [appID, context])
      let byPack = Dictionary(grouping: releases, by: \.packID)
      var offers: [PackID: [Site.PlannedOffer]] = [:]
      for (pack, releases) in byPack {
        guard let identifier = try PackRecord.fetchOne(database, key: ["id": pack])?.identifier else { continue }
        offers[try PackID(validating: identifier)] = try Self.offers(of: releases, in: database)
      }
      return Site.PlannedOffer.withoutDividedReleases(offers)
    }

    /// - Parameter releases: the live release of a pack, if it has one, then releases that wait for a root.
    private static func offers(of releases: [ReleaseRecord], in database: Database) throws -> [Site.PlannedOffer] {
      guard let next = releases.last else { return [] }
      let live = releases.first { $0.state.isLive && $0.id != next.id }
      let fallbackID =
        next.state.isLive
        ? next.fallbackID : live.flatMap { $0.share == ReleaseRecord.allDevices ? $0.id : $0.fallbackID }
      let fallback = try fallbackID.flatMap { try ReleaseRecord.fetchOne(database, key: ["id": $0]) }
      guard next.share < ReleaseRecord.allDevices, let fallback else { return [try offer(next, .all, in: database)] }
      let share = try DeviceShare(tenThousandths: UInt32(clamping: next.share))
      return [try offer(next, share, in: database), try offer(fallback, .all, in: database)]
    }

    private static func offer(
      _ release: ReleaseRecord, _ share: DeviceShare, in database: Database
    ) throws -> Site.PlannedOffer {
      let version = try VersionRecord.find(database, key: ["id": release.versionID])
      return Site.PlannedOffer(
        UInt64(clamping: version.number), share: share, release: try release.packRelease(in: database))
    }
  }
#endif
