#if Hosting
  import GRDB

  /// Creates, changes and releases app versions.
  struct AppVersionCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// - Throws: `APIError` 403; 409 for an unknown app, an invalid or used version, or a missing date.
    func create(
      _ versionString: String, platform: ApplePlatform, releaseType: ReleaseType = .afterApproval,
      earliestReleaseDate: Timestamp? = nil, app: AppID, by principal: Principal
    ) async throws -> AppVersionRecord {
      try principal.require(.managePacks)
      try Self.check(versionString, releaseType, earliestReleaseDate)
      return try await context.database.write { [context] database in
        guard try principal.app(app, in: database) != nil else {
          throw APIError.relationshipInvalid("app", app.rawValue)
        }
        try Self.requireUnused(versionString, platform, app, in: database)
        let version = AppVersionRecord(
          id: .init(context.random), appID: app, platform: platform, versionString: versionString,
          state: AppVersionStates.initial, releaseType: releaseType, earliestReleaseDate: earliestReleaseDate,
          createdDate: context.now)
        try version.insert(database)
        return version
      }
    }

    private static func requireUnused(
      _ versionString: String, _ platform: ApplePlatform, _ app: AppID, in database: Database
    ) throws {
      let key: [String: (any DatabaseValueConvertible)?] = [
        "appID": app, "platform": platform, "versionString": versionString,
      ]
      guard try AppVersionRecord.fetchOne(database, key: key) == nil else {
        throw APIError.duplicate("versionString", versionString)
      }
    }

    private static func check(_ versionString: String, _ releaseType: ReleaseType, _ date: Timestamp?) throws {
      let isVersion = versionString.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
      guard (1...50).contains(versionString.utf8.count), isVersion else {
        throw APIError.attributeInvalid("versionString", "not numbers separated by dots; use a form such as 1.2.3")
      }
      if releaseType == .scheduled, date == nil { throw APIError.attributeRequired("earliestReleaseDate") }
    }

    /// Changes the number of an app version, or when it is released. Approvals of its submission are voided. Present values change
    /// nothing, in any state.
    ///
    /// - Throws: `APIError` 403, also without the right to release an approved app version; 404; 409 after the release, for a used
    ///   number, and for another number after the submission.
    func update(
      _ id: Identifier<AppVersionRecord>, versionString: String? = nil, releaseType: ReleaseType?,
      earliestReleaseDate: Timestamp?,
      by principal: Principal
    ) async throws -> AppVersionRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [context] database in
        guard var version = try principal.appVersion(id, in: database) else { throw Self.notFound(id) }
        let isUnchanged =
          (versionString ?? version.versionString) == version.versionString
          && (releaseType ?? version.releaseType) == version.releaseType
          && (earliestReleaseDate ?? version.earliestReleaseDate) == version.earliestReleaseDate
        guard !isUnchanged else { return version }
        guard version.state != .readyForDistribution, version.state != .replaced else {
          throw APIError.entityState("app version '\(version.versionString)': its state is \(version.state.rawValue)")
        }
        // A new date or type can release an approved app version.
        if version.state == .pendingDeveloperRelease { try principal.require(.release) }
        if let versionString, versionString != version.versionString {
          guard version.state == .prepareForSubmission || version.state == .readyForReview else {
            throw APIError.invalidState("versionString", "cannot change: its state is \(version.state.rawValue)")
          }
          try Self.requireUnused(versionString, version.platform, version.appID, in: database)
          version.versionString = versionString
        }
        version.releaseType = releaseType ?? version.releaseType
        version.earliestReleaseDate = earliestReleaseDate ?? version.earliestReleaseDate
        try Self.check(version.versionString, version.releaseType, version.earliestReleaseDate)
        try version.update(database)
        let submissions = try SubmissionRecord.fetchAll(
          database,
          sql: "SELECT s.* FROM submission s JOIN submissionItem i ON i.submissionID = s.id WHERE i.appVersionID = ?",
          arguments: [id])
        for submission in submissions { try submission.voidApprovals(at: context.now, in: database) }
        return version
      }
    }

    /// Deletes an app version that was never submitted.
    ///
    /// - Throws: `APIError` 403, 404; 409 if it is or was part of a submission.
    func delete(_ id: Identifier<AppVersionRecord>, by principal: Principal) async throws {
      try principal.require(.managePacks)
      try await context.database.write { database in
        guard let version = try principal.appVersion(id, in: database) else { throw Self.notFound(id) }
        let isUsed = try SubmissionItemRecord.filter(Column("appVersionID") == id).fetchCount(database) > 0
        guard version.state == AppVersionStates.initial, !isUsed else {
          throw APIError.entityState("app version '\(version.versionString)': is or was part of a submission")
        }
        try version.delete(database)
      }
    }

    /// Releases an approved app version with the packs of its submission.
    ///
    /// - Throws: `APIError` 403; 409 if the version is unknown or not approved.
    func release(_ id: Identifier<AppVersionRecord>, by principal: Principal) async throws -> AppVersionRecord {
      try principal.require(.release)
      return try await context.database.write { [context] database in
        guard let version = try principal.appVersion(id, in: database) else {
          throw APIError.relationshipInvalid("appStoreVersion", id.rawValue)
        }
        try ReviewCommands(context).release(version, in: database)
        guard let released = try AppVersionRecord.fetchOne(database, key: ["id": id]) else { throw Self.notFound(id) }
        return released
      }
    }

    private static func notFound(_ id: Identifier<AppVersionRecord>) -> APIError {
      .notFound("appStoreVersions", id.rawValue)
    }
  }
#endif
