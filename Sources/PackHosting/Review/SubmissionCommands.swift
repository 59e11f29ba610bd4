#if Hosting
  import GRDB

  /// Creates, fills, submits and cancels submissions. Reviews are in `ReviewCommands`.
  struct SubmissionCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    private var outbox: Outbox { Outbox(context) }

    // MARK: - Drafts

    /// Creates an empty draft.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown app.
    func create(app: AppID, platform: ApplePlatform?, by principal: Principal) async throws -> SubmissionRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [self] database in
        guard try principal.app(app, in: database) != nil else {
          throw APIError.relationshipInvalid("app", app.rawValue)
        }
        let submission = draft(of: app, .store, platform, by: principal)
        try submission.insert(database)
        return submission
      }
    }

    private func draft(
      of app: AppID, _ releaseContext: ReleaseContext, _ platform: ApplePlatform?, by principal: Principal
    ) -> SubmissionRecord {
      SubmissionRecord(
        id: .init(context.random), appID: app, context: releaseContext, platform: platform,
        state: SubmissionStates.initial,
        submittedDate: nil, submitter: nil, submitterKind: nil, lastUpdater: principal.id,
        lastUpdaterKind: principal.kind, createdDate: context.now)
    }

    /// Sets the platform of a draft.
    ///
    /// - Throws: `APIError` 403, 404; 409 for a submission that was submitted.
    func setPlatform(
      _ platform: ApplePlatform?, of id: Identifier<SubmissionRecord>, by principal: Principal
    ) async throws -> SubmissionRecord {
      try await change(id, by: principal) { submission, _ in
        guard platform != submission.platform else { return }
        guard submission.state == .readyForReview else { throw Self.notDraft(submission) }
        submission.platform = platform
      }
    }

    /// Adds a version or an app version to a draft.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown object, a submitted submission, a version that is not complete or part of another
    ///   submission, a second version of a pack, and too many packs.
    func add(
      _ subject: SubmissionSubject, to id: Identifier<SubmissionRecord>, by principal: Principal
    ) async throws -> SubmissionItemRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [self] database in
        guard var submission = try principal.submission(id, .store, in: database) else {
          throw APIError.relationshipInvalid("reviewSubmission", id.rawValue)
        }
        guard submission.state == .readyForReview else { throw Self.notDraft(submission) }
        submission.note(principal)
        try submission.update(database)
        let item: SubmissionItemRecord
        switch subject {
        case .version(let version): item = try itemOf(version, in: submission, by: principal, in: database)
        case .appVersion(let version): item = try itemOf(version, in: submission, by: principal, in: database)
        }
        try item.insert(database)
        try item.applyIfPermitted(.add, .store, outbox, in: database)
        return item
      }
    }

    private func itemOf(
      _ id: Identifier<VersionRecord>, in submission: SubmissionRecord, by principal: Principal, in database: Database
    ) throws -> SubmissionItemRecord {
      guard let version = try principal.version(id, in: database), version.appID == submission.appID,
        let release = try completeRelease(of: version, .store, in: database)
      else { throw APIError.relationshipInvalid("backgroundAssetVersion", id.rawValue) }
      try requireFree(Column("versionID") == id, "backgroundAssetVersions", id.rawValue, in: submission, in: database)
      guard release.state == StoreReleaseStates.initial else {
        throw APIError.entityState("version \(version.number): its store release is \(release.state.rawValue)")
      }
      let present = try submission.activeItems(in: database).compactMap(\.versionID)
      guard present.count < Assumptions.packsPerSubmission else {
        throw APIError.limitReached(
          "submission '\(submission.id)': has \(present.count) packs, its limit; use another submission")
      }
      for other in present where try VersionRecord.fetchOne(database, key: ["id": other])?.packID == version.packID {
        throw APIError.entityState("submission '\(submission.id)': has a version of this pack; remove it first")
      }
      return SubmissionItemRecord(
        id: .init(context.random), submissionID: submission.id, state: SubmissionItemStates.initial, versionID: id,
        appVersionID: nil)
    }

    private func itemOf(
      _ id: Identifier<AppVersionRecord>, in submission: SubmissionRecord, by principal: Principal,
      in database: Database
    ) throws -> SubmissionItemRecord {
      guard let version = try principal.appVersion(id, in: database), version.appID == submission.appID else {
        throw APIError.relationshipInvalid("appStoreVersion", id.rawValue)
      }
      try requireFree(Column("appVersionID") == id, "appStoreVersions", id.rawValue, in: submission, in: database)
      guard version.state == AppVersionStates.initial else {
        throw APIError.entityState("app version '\(version.versionString)': its state is \(version.state.rawValue)")
      }
      guard try submission.activeItems(in: database).allSatisfy({ $0.appVersionID == nil }) else {
        throw APIError.entityState("submission '\(submission.id)': has an app version; remove it first")
      }
      return SubmissionItemRecord(
        id: .init(context.random), submissionID: submission.id, state: SubmissionItemStates.initial, versionID: nil,
        appVersionID: id)
    }

    /// - Returns: the release of a complete version of a pack that is not archived.
    private func completeRelease(
      of version: VersionRecord, _ releaseContext: ReleaseContext, in database: Database
    ) throws -> ReleaseRecord? {
      guard version.state == .complete else {
        throw APIError.entityState(
          "version \(version.number): its state is \(version.state.rawValue); wait until it is COMPLETE")
      }
      guard try PackRecord.fetchOne(database, key: ["id": version.packID])?.archived == false else {
        throw APIError.entityState("version \(version.number): its pack is archived")
      }
      return try ReleaseRecord.find(version.id, releaseContext, in: database)
    }

    /// An object is part of one open submission at a time.
    private func requireFree(
      _ condition: any SQLSpecificExpressible, _ type: String, _ id: String, in submission: SubmissionRecord,
      in database: Database
    ) throws {
      let items = try SubmissionItemRecord.filter(
        condition && Column("state") != SubmissionItemStates.State.removed
      ).fetchAll(database)
      for item in items {
        guard let other = try SubmissionRecord.fetchOne(database, key: ["id": item.submissionID]), other.state.isOpen,
          other.context == submission.context
        else { continue }
        guard other.id != submission.id else {
          throw APIError.alreadyExists("\(type) '\(id)': is part of this submission already")
        }
        throw APIError.itemElsewhere(type, id, submission: other.id.rawValue)
      }
    }

    /// Deletes an item of a draft.
    ///
    /// - Throws: `APIError` 403, 404; 409 for a submission that was submitted.
    func remove(_ id: Identifier<SubmissionItemRecord>, by principal: Principal) async throws {
      try principal.require(.managePacks)
      try await context.database.write { [self] database in
        guard let (item, submission) = try principal.submissionItem(id, in: database) else {
          throw Self.itemNotFound(id)
        }
        guard submission.state == .readyForReview else { throw Self.notDraft(submission) }
        try item.applyIfPermitted(.remove, submission.context, outbox, in: database)
        try item.delete(database)
      }
    }

    /// Marks a rejected item as resolved, or removes an item. `false`, and the removal of a removed item, change nothing.
    ///
    /// - Throws: `APIError` 403, 404; 409 if the states do not permit it.
    func update(
      _ id: Identifier<SubmissionItemRecord>, resolved: Bool? = nil, removed: Bool? = nil, by principal: Principal
    ) async throws -> SubmissionItemRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [self] database in
        guard var (item, submission) = try principal.submissionItem(id, in: database) else {
          throw Self.itemNotFound(id)
        }
        let removed = removed == true && item.state != .removed
        guard resolved == true || removed else { return item }
        guard ![.completing, .canceling, .complete].contains(submission.state) else {
          throw APIError.entityState("submission '\(submission.id)': its state is \(submission.state.rawValue)")
        }
        if resolved == true { try item.apply(.resolve, in: database) }
        if removed {
          try item.apply(.remove, in: database)
          try item.applyIfPermitted(.remove, submission.context, outbox, in: database)
        }
        try submission.voidApprovals(at: context.now, in: database)
        submission.note(principal)
        try submission.update(database)
        return item
      }
    }

    // MARK: - Submission

    /// Submits a draft, or a submission whose issues were resolved. The answer is WAITING_FOR_REVIEW also if no approval is required:
    /// `ReviewProgress` then approves it.
    ///
    /// - Throws: `APIError` 403, 404; 409 without items, or if the state does not permit it.
    func submit(_ id: Identifier<SubmissionRecord>, by principal: Principal) async throws -> SubmissionRecord {
      try await change(id, by: principal) { [self] submission, database in
        let items = try submission.activeItems(in: database)
        guard !items.isEmpty else { throw APIError.relationshipRequired("items") }
        guard items.allSatisfy({ $0.state != .rejected }) else {
          throw APIError.entityState("submission '\(submission.id)': has rejected items; resolve or remove them first")
        }
        try submission.apply(.submit)
        submission.submittedDate = context.now
        (submission.submitter, submission.submitterKind) = (principal.id, principal.kind)
        try submission.voidApprovals(at: context.now, in: database)
        for item in items { try item.applyIfPermitted(.submit, submission.context, outbox, in: database) }
      }
    }

    /// Cancels a submission. Its items become free when `ReviewProgress` completes it.
    ///
    /// - Throws: `APIError` 403, 404; 409 for a draft and for a complete submission.
    func cancel(_ id: Identifier<SubmissionRecord>, by principal: Principal) async throws -> SubmissionRecord {
      try await change(id, by: principal) { [self] submission, database in
        try submission.apply(.cancel)
        try submission.voidApprovals(at: context.now, in: database)
      }
    }

    /// Submits one version for external testers.
    ///
    /// - Throws: `APIError` 403; 409 for an unknown or incomplete version, and while another version of the pack is in review.
    func submitBeta(_ id: Identifier<VersionRecord>, by principal: Principal) async throws -> SubmissionRecord {
      try principal.require(.managePacks)
      return try await context.database.write { [self] database in
        guard let version = try principal.version(id, in: database),
          let release = try completeRelease(of: version, .externalBeta, in: database)
        else { throw APIError.relationshipInvalid("backgroundAssetVersion", id.rawValue) }
        let reviewed = try ReleaseRecord.filter(
          Column("packID") == version.packID && Column("context") == ReleaseContext.externalBeta
            && [ReleaseState.waitingForReview, .inReview].contains(Column("state"))
        ).fetchOne(database)
        guard reviewed == nil else {
          throw APIError.entityState(
            "version \(version.number): a version of its pack is in beta review; wait for the result")
        }
        guard ExternalReleaseStates.next(release.state, .submit) != nil else {
          throw APIError.entityState("version \(version.number): its external release is \(release.state.rawValue)")
        }
        var submission = draft(of: version.appID, .externalBeta, nil, by: principal)
        try submission.apply(.submit)
        submission.submittedDate = context.now
        (submission.submitter, submission.submitterKind) = (principal.id, principal.kind)
        try submission.insert(database)
        let item = SubmissionItemRecord(
          id: .init(context.random), submissionID: submission.id, state: SubmissionItemStates.initial, versionID: id,
          appVersionID: nil)
        try item.insert(database)
        try item.applyIfPermitted(.submit, .externalBeta, outbox, in: database)
        return submission
      }
    }

    private func change(
      _ id: Identifier<SubmissionRecord>, by principal: Principal,
      _ body: @escaping @Sendable (inout SubmissionRecord, Database) throws -> Void
    ) async throws -> SubmissionRecord {
      try principal.require(.managePacks)
      return try await context.database.write { database in
        guard var submission = try principal.submission(id, .store, in: database) else {
          throw APIError.notFound("reviewSubmissions", id.rawValue)
        }
        try body(&submission, database)
        submission.note(principal)
        try submission.update(database)
        return submission
      }
    }

    private static func notDraft(_ submission: SubmissionRecord) -> APIError {
      .entityState("submission '\(submission.id)': its state is \(submission.state.rawValue); change drafts only")
    }

    private static func itemNotFound(_ id: Identifier<SubmissionItemRecord>) -> APIError {
      .notFound("reviewSubmissionItems", id.rawValue)
    }
  }
#endif
