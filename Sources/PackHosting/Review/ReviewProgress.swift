#if Hosting
  import GRDB

  /// Changes of submissions that no request makes: approval without reviewers, the end of a cancellation, completion, and releases at a
  /// date, and the days of phased releases.
  struct ReviewProgress: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Advances all submissions.
    func run() async throws {
      try await context.database.write { [self] database in
        let open = try SubmissionRecord.filter(
          [SubmissionStates.State.waitingForReview, .canceling, .completing].contains(Column("state"))
        ).fetchAll(database)
        for submission in open { try advance(submission, in: database) }
        try releaseScheduled(in: database)
        try PhasedReleaseCommands(context).advance(in: database)
      }
    }

    private func advance(_ submission: SubmissionRecord, in database: Database) throws {
      var submission = submission
      switch submission.state {
      case .waitingForReview:
        guard let app = try AppRecord.fetchOne(database, key: ["id": submission.appID]),
          app.approvals(for: submission.context) == 0
        else { return }
        let review = ReviewCommands(context)
        try review.begin(&submission, in: database)
        try review.complete(&submission, in: database)
      case .canceling:
        for item in try submission.activeItems(in: database) {
          try item.applyIfPermitted(.remove, submission.context, Outbox(context), in: database)
        }
        try submission.apply(.finish)
      case .completing:
        let isPublishing = try submission.activeItems(in: database).compactMap(\.versionID).contains { id in
          let state = try ReleaseRecord.find(id, submission.context, in: database)?.state
          return state == .processingForTesting || state == .processingForDistribution
        }
        guard !isPublishing else { return }
        try submission.apply(.finish)
      default: return
      }
      try submission.update(database)
    }

    private func releaseScheduled(in database: Database) throws {
      let due = try AppVersionRecord.filter(
        Column("state") == AppVersionStates.State.pendingDeveloperRelease
          && Column("releaseType") == ReleaseType.scheduled && Column("earliestReleaseDate") <= context.now
      ).fetchAll(database)
      for version in due { try ReviewCommands(context).release(version, in: database) }
    }
  }
#endif
