#if Hosting
  import GRDB

  // Every read and every command reaches objects by these functions. They return `nil` for unknown objects and for objects that the
  // principal may not see, so that both have the same answer.

  extension Principal {
    /// - Throws: `APIError` with status 403.
    func require(_ right: Right) throws {
      guard has(right) else {
        throw APIError.forbidden("roles of the key or token: do not permit this request; use one with another role")
      }
    }

    func app(_ id: AppID, in database: Database) throws -> AppRecord? {
      guard mayUse(id), let app = try AppRecord.fetchOne(database, key: ["id": id]), app.teamID == team else {
        return nil
      }
      return app
    }

    func pack(_ id: Identifier<PackRecord>, in database: Database) throws -> PackRecord? {
      try visible(PackRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
    }

    func version(_ id: Identifier<VersionRecord>, in database: Database) throws -> VersionRecord? {
      try visible(VersionRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
    }

    func uploadFile(_ id: Identifier<UploadFileRecord>, in database: Database) throws -> UploadFileRecord? {
      try visible(UploadFileRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
    }

    /// - Parameter context: the only context whose releases are found; `nil` for all.
    func release(
      _ id: Identifier<ReleaseRecord>, _ context: ReleaseContext? = nil, in database: Database
    ) throws -> ReleaseRecord? {
      let release = try visible(ReleaseRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
      return release.flatMap { context == nil || $0.context == context ? $0 : nil }
    }

    /// - Parameter context: `store` for review submissions, `externalBeta` for beta review submissions; `nil` for both.
    func submission(
      _ id: Identifier<SubmissionRecord>, _ context: ReleaseContext? = nil, in database: Database
    ) throws -> SubmissionRecord? {
      let submission = try visible(SubmissionRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
      return submission.flatMap { context == nil || $0.context == context ? $0 : nil }
    }

    func submissionItem(
      _ id: Identifier<SubmissionItemRecord>, in database: Database
    ) throws -> (item: SubmissionItemRecord, submission: SubmissionRecord)? {
      guard let item = try SubmissionItemRecord.fetchOne(database, key: ["id": id]),
        let submission = try submission(item.submissionID, in: database)
      else { return nil }
      return (item, submission)
    }

    func appVersion(_ id: Identifier<AppVersionRecord>, in database: Database) throws -> AppVersionRecord? {
      try visible(AppVersionRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
    }

    func phasedRelease(_ id: Identifier<PhasedReleaseRecord>, in database: Database) throws -> PhasedReleaseRecord? {
      try visible(PhasedReleaseRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
    }

    func webhook(_ id: Identifier<WebhookRecord>, in database: Database) throws -> WebhookRecord? {
      try visible(WebhookRecord.fetchOne(database, key: ["id": id]), in: database, \.appID)
    }

    func delivery(
      _ id: Identifier<DeliveryRecord>, in database: Database
    ) throws -> (delivery: DeliveryRecord, webhook: WebhookRecord)? {
      guard let delivery = try DeliveryRecord.fetchOne(database, key: ["id": id]),
        let webhook = try webhook(delivery.webhookID, in: database)
      else { return nil }
      return (delivery, webhook)
    }

    private func visible<Record>(
      _ record: Record?, in database: Database, _ app: KeyPath<Record, AppID>
    ) throws -> Record? {
      guard let record, try self.app(record[keyPath: app], in: database) != nil else { return nil }
      return record
    }
  }
#endif
