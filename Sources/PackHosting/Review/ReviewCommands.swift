#if Hosting
  import GRDB

  /// Approves and rejects submissions. Only persons decide; keys and tokens of build jobs submit.
  struct ReviewCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    private var outbox: Outbox { Outbox(context) }

    /// Records the approval of a person. With enough approvals the submission is approved, and its versions are published.
    ///
    /// - Throws: `APIError` 403 for a caller who is not a person, or who submitted, uploaded or approved before; 404; 409 if the
    ///   submission is not in review.
    func approve(_ id: Identifier<SubmissionRecord>, by principal: Principal) async throws -> SubmissionRecord {
      try Self.requireReviewer(principal)
      return try await context.database.write { [self] database in
        guard var submission = try principal.submission(id, in: database),
          let app = try AppRecord.fetchOne(database, key: ["id": submission.appID])
        else { throw APIError.notFound("reviewSubmissions", id.rawValue) }
        try begin(&submission, in: database)
        try requireIndependent(principal, of: submission, in: database)
        let subject = try submission.subjectDigest(in: database)
        let approval = ApprovalRecord(
          id: .init(context.random), submissionID: id, person: principal.id, subject: subject, createdDate: context.now)
        try approval.insert(database)
        let count = try ApprovalRecord.filter(
          Column("submissionID") == id && Column("voidedDate") == nil && Column("subject") == subject
        ).fetchCount(database)
        if count >= app.approvals(for: submission.context) { try complete(&submission, in: database) }
        submission.note(principal)
        try submission.update(database)
        return submission
      }
    }

    /// Rejects items of a submission; the other items are accepted.
    ///
    /// - Parameter items: the rejected items; empty for all.
    /// - Throws: `APIError` 403, 404; 409 if the submission is not in review.
    func reject(
      _ id: Identifier<SubmissionRecord>, items: Set<Identifier<SubmissionItemRecord>> = [], by principal: Principal
    ) async throws -> SubmissionRecord {
      try Self.requireReviewer(principal)
      return try await context.database.write { [self] database in
        guard var submission = try principal.submission(id, in: database) else {
          throw APIError.notFound("reviewSubmissions", id.rawValue)
        }
        try begin(&submission, in: database)
        let active = try submission.activeItems(in: database)
        guard items.isSubset(of: Set(active.map(\.id))) else {
          throw APIError.entityState("submission '\(id)': does not have all of these items")
        }
        try submission.apply(.reject)
        for var item in active {
          let isRejected = items.isEmpty || items.contains(item.id)
          if isRejected || item.state != .accepted { try item.apply(isRejected ? .reject : .accept, in: database) }
          if isRejected { try item.applyIfPermitted(.reject, submission.context, outbox, in: database) }
        }
        // A rejected version of external testers may be submitted again, by a submission of its own.
        if submission.context == .externalBeta {
          try submission.apply(.cancel)
          try submission.apply(.finish)
        }
        try submission.voidApprovals(at: context.now, in: database)
        submission.note(principal)
        try submission.update(database)
        return submission
      }
    }

    private static func requireReviewer(_ principal: Principal) throws {
      try principal.require(.release)
      guard principal.isPerson else {
        throw APIError.forbidden("review: only persons decide; sign in, or use an individual key")
      }
    }

    /// Approvers of the store are different people, who neither submitted nor uploaded.
    private func requireIndependent(
      _ principal: Principal, of submission: SubmissionRecord, in database: Database
    ) throws {
      let approvers = try String.fetchAll(
        database, sql: "SELECT person FROM approval WHERE submissionID = ? AND voidedDate IS NULL",
        arguments: [submission.id])
      guard !approvers.contains(principal.id) else {
        throw APIError.forbidden("review: this person approved before; another person must approve")
      }
      guard submission.context == .store else { return }
      let uploaders = try String.fetchAll(
        database,
        sql: """
          SELECT f.uploader FROM uploadFile f JOIN submissionItem i ON i.versionID = f.versionID
          WHERE i.submissionID = ? AND i.state <> 'REMOVED'
          UNION SELECT v.creator FROM packVersion v JOIN submissionItem i ON i.versionID = v.id
          WHERE i.submissionID = ? AND i.state <> 'REMOVED'
          """, arguments: [submission.id, submission.id])
      guard submission.submitter != principal.id, !uploaders.contains(principal.id) else {
        throw APIError.forbidden("review: this person submitted or uploaded; another person must approve")
      }
    }

    /// Begins the review of a waiting submission.
    func begin(_ submission: inout SubmissionRecord, in database: Database) throws {
      guard submission.state != .inReview else { return }
      try submission.apply(.beginReview)
      for item in try submission.activeItems(in: database) {
        try item.applyIfPermitted(.beginReview, submission.context, outbox, in: database)
      }
    }

    /// Approves all items. Their versions are published, unless an app version of the submission is released later.
    func complete(_ submission: inout SubmissionRecord, in database: Database) throws {
      try submission.apply(.approve)
      let items = try submission.activeItems(in: database)
      for var item in items {
        try item.apply(.approve, in: database)
        try item.applyIfPermitted(.approve, submission.context, outbox, in: database)
      }
      try outbox.mailApproved(submission, items, in: database)
      let appVersion = try items.compactMap(\.appVersionID).first.flatMap {
        try AppVersionRecord.fetchOne(database, key: ["id": $0])
      }
      guard let appVersion else { return try publish(items, submission, in: database) }
      if appVersion.releaseType == .afterApproval { try release(appVersion, in: database) }
    }

    /// Releases an approved app version, and publishes the versions of its submission.
    func release(_ version: AppVersionRecord, in database: Database) throws {
      let present = try AppVersionRecord.filter(
        Column("appID") == version.appID && Column("platform") == version.platform
          && Column("state") == AppVersionStates.State.readyForDistribution
      ).fetchAll(database)
      for var other in present { try other.apply(.replace, outbox, in: database) }
      var version = version
      try version.apply(.release, outbox, in: database)
      if var phased = try PhasedReleaseRecord.filter(Column("appVersionID") == version.id).fetchOne(database) {
        try phased.apply(.start, at: context.now, in: database)
      }
      let submissions = try SubmissionRecord.fetchAll(
        database,
        sql: """
          SELECT s.* FROM submission s JOIN submissionItem i ON i.submissionID = s.id
          WHERE i.appVersionID = ? AND i.state = 'APPROVED'
          """, arguments: [version.id])
      for submission in submissions {
        try publish(try submission.activeItems(in: database), submission, in: database)
      }
    }

    private func publish(
      _ items: [SubmissionItemRecord], _ submission: SubmissionRecord, in database: Database
    ) throws {
      for item in items {
        // An older version that waits for its root is overtaken by this one.
        try supersedeWaiting(item, submission.context, in: database)
        try item.applyIfPermitted(.release, submission.context, outbox, in: database)
      }
      try ChannelRecord.want(submission.appID, submission.context, in: database)
    }

    private func supersedeWaiting(
      _ item: SubmissionItemRecord, _ releaseContext: ReleaseContext, in database: Database
    ) throws {
      guard let id = item.versionID, let release = try ReleaseRecord.find(id, releaseContext, in: database) else {
        return
      }
      let waiting = try ReleaseRecord.filter(
        Column("packID") == release.packID && Column("context") == releaseContext && Column("id") != release.id
          && [ReleaseState.processingForTesting, .processingForDistribution].contains(Column("state"))
      ).fetchAll(database)
      for var other in waiting { try other.apply(.supersede, outbox, in: database) }
    }
  }

  extension AppRecord {
    /// Different people who must approve.
    func approvals(for context: ReleaseContext) -> Int {
      switch context {
      case .internalBeta: 0
      case .externalBeta: externalApprovals
      case .store: storeApprovals
      }
    }
  }
#endif
