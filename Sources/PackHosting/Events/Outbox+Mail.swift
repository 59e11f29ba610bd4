#if Hosting
  import GRDB

  extension Outbox {
    /// Records a mail to each recipient of an app, in the transaction of its event. An app without recipients gets none.
    private func mail(
      _ kind: MailKind, app id: AppID, in database: Database,
      _ content: (AppRecord) throws -> (subject: String, text: String)
    ) throws {
      let recipients = try MailRecipientRecord.filter(Column("appID") == id).order(Column("address")).fetchAll(database)
      guard !recipients.isEmpty, let app = try AppRecord.fetchOne(database, key: ["id": id]) else { return }
      let now = context.now, (subject, text) = try content(app)
      let day = MailRecord.filter(Column("appID") == id && Column("createdDate") > now.adding(seconds: -86_400))
      let sent = try day.fetchCount(database)
      for recipient in recipients.prefix(max(0, Assumptions.mailsPerDay - sent)) {
        try MailRecord(
          id: .init(context.random), appID: id, kind: kind, recipient: recipient.address, subject: subject, text: text,
          state: .pending, attempts: 0, createdDate: now, dueDate: now, errorMessage: nil
        ).insert(database)
      }
    }

    /// A version was processed.
    ///
    /// - Parameter isLive: whether internal testers get it. Jobs may end in another order than the numbers have.
    func mailReady(_ version: Identifier<VersionRecord>, isLive: Bool = true, in database: Database) throws {
      guard let version = try VersionRecord.fetchOne(database, key: ["id": version]) else { return }
      let name = try Self.name(of: version, in: database)
      try mail(.ready, app: version.appID, in: database) { app in
        (
          "\(app.name): \(name) is ready" + (isLive ? " for internal testers" : ""),
          "\(name) of \(app.name) (\(app.bundleID)) was processed. Internal testers "
            + (isLive ? "get it.\n" : "have a higher version.\n") + Self.list(version.details.warnings)
        )
      }
    }

    /// Processing refused a version.
    func mailFailed(_ version: VersionRecord, in database: Database) throws {
      let name = try Self.name(of: version, in: database)
      try mail(.failed, app: version.appID, in: database) { app in
        (
          "\(app.name): \(name) failed",
          "\(name) of \(app.name) (\(app.bundleID)) was refused. Create a new version to upload again.\n"
            + Self.list(version.details.errors)
        )
      }
    }

    /// A submission was approved.
    func mailApproved(_ submission: SubmissionRecord, _ items: [SubmissionItemRecord], in database: Database) throws {
      var names: [String] = []
      for item in items {
        if let id = item.versionID, let version = try VersionRecord.fetchOne(database, key: ["id": id]) {
          names.append(try Self.name(of: version, in: database))
        }
        if let id = item.appVersionID, let version = try AppVersionRecord.fetchOne(database, key: ["id": id]) {
          names.append("app version \(version.versionString)")
        }
      }
      let audience = submission.context == .store ? "the store" : "external testers"
      try mail(.approved, app: submission.appID, in: database) { app in
        (
          "\(app.name): a submission for \(audience) is approved",
          "A submission of \(app.name) (\(app.bundleID)) for \(audience) is approved:\n"
            + names.map { "- \($0)\n" }.joined()
        )
      }
    }

    /// The used bytes of an app changed. The mail is sent when they reach most of the quota, at most once a day.
    func mailQuota(_ id: AppID, before: Int64, after: Int64, of limit: Int64, in database: Database) throws {
      let threshold = limit / 100 * Assumptions.quotaWarningPercent
      guard before < threshold, after >= threshold else { return }
      let day = context.now.adding(seconds: -86_400)
      let last = MailRecord.filter(
        Column("appID") == id && Column("kind") == MailKind.quota && Column("createdDate") > day)
      guard try last.fetchCount(database) == 0 else { return }
      try mail(.quota, app: id, in: database) { app in
        (
          "\(app.name): \(Assumptions.quotaWarningPercent) % of the space is used",
          "\(app.name) (\(app.bundleID)) uses \(after) of \(limit) bytes. Archive packs, or ask the operator for more space.\n"
        )
      }
    }

    /// Returns a version's name for people, such as `City, version 2`.
    private static func name(of version: VersionRecord, in database: Database) throws -> String {
      let pack = try PackRecord.fetchOne(database, key: ["id": version.packID])
      return "\(pack?.identifier ?? "pack"), version \(version.number)"
    }

    private static func list(_ details: [StateDetail]) -> String {
      details.prefix(20).map { "- \($0.code): \($0.description.prefix(500))\n" }.joined()
    }
  }
#endif
