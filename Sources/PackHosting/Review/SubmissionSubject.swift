#if Hosting
  import Crypto
  import Foundation
  import GRDB

  /// The subject of a submission's item.
  enum SubmissionSubject: Hashable, Sendable {
    case version(Identifier<VersionRecord>)
    case appVersion(Identifier<AppVersionRecord>)
  }

  extension SubmissionRecord {
    /// The items that were not removed.
    func activeItems(in database: Database) throws -> [SubmissionItemRecord] {
      try SubmissionItemRecord.filter(
        Column("submissionID") == id && Column("state") != SubmissionItemStates.State.removed
      ).order(Column("id")).fetchAll(database)
    }

    /// The digest that an approval covers: the versions with their contents, and the terms of their release.
    func subjectDigest(in database: Database) throws -> Data {
      var lines = ["\(appID) \(context.rawValue) \(platform?.rawValue ?? "-")"]
      for item in try activeItems(in: database) {
        if let id = item.versionID, let version = try VersionRecord.fetchOne(database, key: ["id": id]) {
          let share = try ReleaseRecord.find(id, context, in: database)?.share ?? ReleaseRecord.allDevices
          lines.append("version \(id) \(version.number) \((version.catalog ?? Data()).hex) \(share)")
        }
        if let id = item.appVersionID, let version = try AppVersionRecord.fetchOne(database, key: ["id": id]) {
          let date = version.earliestReleaseDate?.text ?? "-"
          lines.append("app \(id) \(version.versionString) \(version.releaseType.rawValue) \(date)")
        }
      }
      return Data(SHA256.hash(data: Data(lines.joined(separator: "\n").utf8)))
    }

    /// Voids the approvals of a submission that changed.
    func voidApprovals(at now: Timestamp, in database: Database) throws {
      try database.execute(
        sql: "UPDATE approval SET voidedDate = ? WHERE submissionID = ? AND voidedDate IS NULL", arguments: [now, id])
    }

    mutating func apply(_ event: SubmissionStates.Event) throws {
      guard let next = SubmissionStates.next(state, event) else {
        throw APIError.entityState(
          "submission '\(id)': its state is \(state.rawValue), which does not permit this change")
      }
      state = next
    }

    mutating func note(_ principal: Principal) {
      (lastUpdater, lastUpdaterKind) = (principal.id, principal.kind)
    }
  }

  extension SubmissionItemRecord {
    mutating func apply(_ event: SubmissionItemStates.Event, in database: Database) throws {
      guard let next = SubmissionItemStates.next(state, event) else {
        throw APIError.entityState("item '\(id)': its state is \(state.rawValue), which does not permit this change")
      }
      state = next
      try update(database)
    }

    /// Applies an event to the release or the app version of the item, if its state permits it.
    func applyIfPermitted(
      _ event: ReleaseEvent, _ releaseContext: ReleaseContext, _ outbox: Outbox, in database: Database
    ) throws {
      if let versionID, var release = try ReleaseRecord.find(versionID, releaseContext, in: database),
        releaseContext.next(release.state, event) != nil
      {
        try release.apply(event, outbox, in: database)
      }
      if let appVersionID, let event = AppVersionStates.Event(event),
        var version = try AppVersionRecord.fetchOne(database, key: ["id": appVersionID]),
        AppVersionStates.next(version.state, event) != nil
      {
        try version.apply(event, outbox, in: database)
      }
    }
  }

  extension AppVersionStates.Event {
    /// The event of an app version that belongs to an event of a release; `nil` if it has none.
    fileprivate init?(_ event: ReleaseEvent) {
      switch event {
      case .add: self = .add
      case .submit: self = .submit
      case .beginReview: self = .beginReview
      case .reject: self = .reject
      case .approve: self = .approve
      case .remove: self = .remove
      case .release, .publish, .supersede, .restore: return nil
      }
    }
  }

  extension AppVersionRecord {
    /// - Throws: `APIError` 409 if the state does not permit the event.
    mutating func apply(_ event: AppVersionStates.Event, _ outbox: Outbox, in database: Database) throws {
      guard let next = AppVersionStates.next(state, event) else {
        throw APIError.entityState(
          "app version '\(id)': its state is \(state.rawValue), which does not permit this change")
      }
      let old = state
      state = next
      try update(database)
      try outbox.appVersionChanged(self, from: old, in: database)
    }
  }
#endif
