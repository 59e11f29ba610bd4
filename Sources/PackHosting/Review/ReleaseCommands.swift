#if Hosting
  import GRDB

  /// Takes versions back and archives packs.
  struct ReleaseCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Makes a superseded version live again in its context. The live version is superseded.
    ///
    /// - Throws: `APIError` 403 for a caller who is not a person; 404; 409 if the release is not superseded or its pack is archived.
    func stepBack(to id: Identifier<ReleaseRecord>, by principal: Principal) async throws -> ReleaseRecord {
      try principal.require(.release)
      guard principal.isPerson else {
        throw APIError.forbidden("step back: only persons decide; sign in, or use an individual key")
      }
      return try await context.database.write { [context] database in
        guard var release = try principal.release(id, in: database) else {
          throw APIError.notFound("releases", id.rawValue)
        }
        guard try PackRecord.fetchOne(database, key: ["id": release.packID])?.archived == false else {
          throw APIError.entityState("release '\(id)': its pack is archived")
        }
        guard release.state == .superseded else {
          throw APIError.entityState("release '\(id)': its state is \(release.state.rawValue) instead of SUPERSEDED")
        }
        let outbox = Outbox(context)
        try Self.supersedeWaiting(of: release.packID, release.context, outbox, in: database)
        release.share = ReleaseRecord.allDevices
        try release.makeLive(by: .restore, outbox, in: database)
        try ChannelRecord.want(release.appID, release.context, in: database)
        return release
      }
    }

    private static func supersedeWaiting(
      of pack: Identifier<PackRecord>, _ releaseContext: ReleaseContext, _ outbox: Outbox, in database: Database
    ) throws {
      let waiting = try ReleaseRecord.filter(
        Column("packID") == pack && Column("context") == releaseContext
          && [ReleaseState.processingForTesting, .processingForDistribution].contains(Column("state"))
      ).fetchAll(database)
      for var release in waiting { try release.apply(.supersede, outbox, in: database) }
    }

    /// Sets the share of devices that get a version of the store or of external testers, in ten-thousandths: before its review, or while
    /// it is live. 0 halts it: devices that have it keep it. Other devices get the version before it.
    ///
    /// - Throws: `APIError` 403 for a caller who is not a person; 404; 409 for an invalid share, a superseded or internal release, and
    ///   for a part of the devices if no version was live before.
    func setShare(
      _ share: Int, of id: Identifier<ReleaseRecord>, by principal: Principal
    ) async throws -> ReleaseRecord {
      try principal.require(.release)
      guard principal.isPerson else {
        throw APIError.forbidden("rollout: only persons decide; sign in, or use an individual key")
      }
      guard (0...ReleaseRecord.allDevices).contains(share) else {
        throw APIError.attributeInvalid(
          "share", "\(share) is not in 0 to \(ReleaseRecord.allDevices); use ten-thousandths")
      }
      return try await context.database.write { [context] database in
        guard var release = try principal.release(id, in: database) else {
          throw APIError.notFound("releases", id.rawValue)
        }
        guard share != release.share else { return release }
        guard release.context != .internalBeta, release.state != .superseded else {
          throw APIError.entityState("release '\(id)': is superseded or for internal testers; its share cannot change")
        }
        guard try share == ReleaseRecord.allDevices || Self.hasFallback(release, in: database) else {
          throw APIError.entityState("release '\(id)': no version was live before it; release it to all devices")
        }
        release.share = share
        try release.update(database)
        try Self.voidApprovals(of: release, at: context.now, in: database)
        if release.state.isLive || release.state == .processingForTesting || release.state == .processingForDistribution
        {
          try ChannelRecord.want(release.appID, release.context, in: database)
        }
        return release
      }
    }

    /// Whether the devices outside of a release's share have a version. Without it, all devices would get the release.
    private static func hasFallback(_ release: ReleaseRecord, in database: Database) throws -> Bool {
      guard !release.state.isLive else { return release.fallbackID != nil }
      let live = ReleaseRecord.filter(
        Column("packID") == release.packID && Column("context") == release.context
          && Column("state") == release.context.liveState)
      return try live.fetchCount(database) > 0
    }

    /// The share is one of the terms that an approval covers.
    private static func voidApprovals(of release: ReleaseRecord, at now: Timestamp, in database: Database) throws {
      let submissions = try SubmissionRecord.fetchAll(
        database,
        sql: """
          SELECT s.* FROM submission s JOIN submissionItem i ON i.submissionID = s.id
          WHERE i.versionID = ? AND i.state <> 'REMOVED' AND s.context = ? AND s.state NOT IN ('COMPLETING', 'COMPLETE')
          """, arguments: [release.versionID, release.context])
      for submission in submissions { try submission.voidApprovals(at: now, in: database) }
    }

    /// Archives a pack: no version of it is live any more, its id stays taken, and its items leave their submissions.
    ///
    /// - Throws: `APIError` 403, 404.
    func archive(_ id: Identifier<PackRecord>, by principal: Principal) async throws -> PackRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [context] database in
        guard var pack = try principal.pack(id, in: database) else {
          throw APIError.notFound("backgroundAssets", id.rawValue)
        }
        guard !pack.archived else { return pack }
        pack.archived = true
        try pack.update(database)
        let outbox = Outbox(context)
        for item in try Self.openItems(of: id, in: database) {
          try Self.remove(item, outbox, at: context.now, in: database)
        }
        let releases = try ReleaseRecord.filter(Column("packID") == id).fetchAll(database)
        for var release in releases where release.context.next(release.state, .supersede) != nil {
          try release.apply(.supersede, outbox, in: database)
          try ChannelRecord.want(release.appID, release.context, in: database)
        }
        return pack
      }
    }

    private static func openItems(
      of pack: Identifier<PackRecord>, in database: Database
    ) throws -> [SubmissionItemRecord] {
      try SubmissionItemRecord.fetchAll(
        database,
        sql: """
          SELECT i.* FROM submissionItem i JOIN submission s ON s.id = i.submissionID JOIN packVersion v ON v.id = i.versionID
          WHERE v.packID = ? AND s.state NOT IN ('COMPLETING', 'COMPLETE') AND i.state NOT IN ('REMOVED', 'APPROVED')
          """, arguments: [pack])
    }

    private static func remove(
      _ item: SubmissionItemRecord, _ outbox: Outbox, at now: Timestamp, in database: Database
    ) throws {
      guard let submission = try SubmissionRecord.fetchOne(database, key: ["id": item.submissionID]) else { return }
      var item = item
      try item.apply(.remove, in: database)
      try item.applyIfPermitted(.remove, submission.context, outbox, in: database)
      try submission.voidApprovals(at: now, in: database)
    }
  }
#endif
