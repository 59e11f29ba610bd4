#if Hosting
  import GRDB

  /// Creates the releases of a version that was processed: live for internal testers, and in the first state of the other contexts.
  struct ReleaseCreation {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    func createAll(for version: VersionRecord, in database: Database) throws {
      for releaseContext in ReleaseContext.allCases {
        let release = try create(releaseContext, for: version, in: database)
        guard releaseContext == .internalBeta else { continue }
        try Outbox(context).internalReleaseCreated(release, in: database)
        try ChannelRecord.want(version.appID, .internalBeta, in: database)
      }
    }

    /// Internal testers get the highest number. Jobs may end in another order than the numbers have.
    private func create(
      _ releaseContext: ReleaseContext, for version: VersionRecord, in database: Database
    ) throws -> ReleaseRecord {
      var state = releaseContext.initialState
      if releaseContext == .internalBeta {
        let live = try ReleaseRecord.fetchOne(
          database,
          sql: "SELECT * FROM release WHERE packID = ? AND context = ? AND state = ?",
          arguments: [version.packID, releaseContext, releaseContext.liveState])
        if var live {
          let number = try VersionRecord.fetchOne(database, key: ["id": live.versionID])?.number ?? 0
          if number > version.number {
            state = .superseded
          } else {
            try live.apply(.supersede, Outbox(context), in: database)
          }
        }
      }
      let release = ReleaseRecord(
        id: .init(context.random), versionID: version.id, packID: version.packID, appID: version.appID,
        context: releaseContext, state: state, createdDate: context.now)
      try release.insert(database)
      return release
    }
  }
#endif
