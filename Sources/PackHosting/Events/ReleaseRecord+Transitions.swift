#if Hosting
  import GRDB

  extension ReleaseRecord {
    /// Applies an event in a transaction, and records Apple's event.
    ///
    /// - Throws: `APIError` 409 if the state does not permit the event.
    mutating func apply(_ event: ReleaseEvent, _ outbox: Outbox, in database: Database) throws {
      guard let next = context.next(state, event) else {
        throw APIError.entityState("release '\(id)': its state is \(state.rawValue), which does not permit this change")
      }
      let old = state
      state = next
      try update(database)
      try outbox.releaseChanged(self, from: old, in: database)
    }

    /// Makes the release live and supersedes the live release of its pack and context. Nothing changes for a live release.
    ///
    /// - Parameter event: `publish` or `restore`.
    mutating func makeLive(by event: ReleaseEvent, _ outbox: Outbox, in database: Database) throws {
      guard !state.isLive else { return }
      let live = try ReleaseRecord.filter(
        Column("packID") == packID && Column("context") == context && Column("state") == context.liveState
      ).fetchAll(database)
      for var other in live {
        // A release for a part of the devices cannot be a fallback: other devices still have the release before it.
        fallbackID = other.share == Self.allDevices ? other.id : other.fallbackID
        try other.apply(.supersede, outbox, in: database)
      }
      try apply(event, outbox, in: database)
    }

    static func find(
      _ version: Identifier<VersionRecord>, _ context: ReleaseContext, in database: Database
    ) throws -> ReleaseRecord? {
      try fetchOne(database, key: ["versionID": version, "context": context])
    }
  }
#endif
