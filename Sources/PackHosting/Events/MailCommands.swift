#if Hosting
  import GRDB

  /// Changes who receives the mails about an app.
  struct MailCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// Returns the recipients in alphabetical order.
    ///
    /// - Throws: `APIError` 403, 404.
    func recipients(of app: AppID, by principal: Principal) async throws -> [MailAddress] {
      try principal.require(.manageApps)
      return try await context.database.read { database in
        guard try principal.app(app, in: database) != nil else { throw APIError.notFound("apps", app.rawValue) }
        return try MailRecipientRecord.filter(Column("appID") == app).order(Column("address")).fetchAll(database).map(
          \.address)
      }
    }

    /// Adds a recipient; nothing changes for a present one.
    ///
    /// - Throws: `APIError` 403, 404; 409 for text that is not an address, and for too many recipients.
    func add(_ text: String, to app: AppID, by principal: Principal) async throws {
      try principal.require(.manageApps)
      guard let address = MailAddress(rawValue: text) else {
        throw APIError.attributeInvalid("address", "not a mail address; use a form such as ada@example.com")
      }
      try await context.database.write { database in
        guard try principal.app(app, in: database) != nil else { throw APIError.notFound("apps", app.rawValue) }
        let recipient = MailRecipientRecord(appID: app, address: address)
        guard try !recipient.exists(database) else { return }
        let count = try MailRecipientRecord.filter(Column("appID") == app).fetchCount(database)
        guard count < Assumptions.mailRecipientsPerApp else {
          throw APIError.limitReached("app '\(app)': has \(count) recipients of mail, its limit; remove one first")
        }
        try recipient.insert(database)
      }
    }

    /// Removes a recipient, with the mails that wait for it.
    ///
    /// - Returns: whether it was one.
    /// - Throws: `APIError` 403, 404.
    func remove(_ text: String, from app: AppID, by principal: Principal) async throws -> Bool {
      try principal.require(.manageApps)
      return try await context.database.write { database in
        guard try principal.app(app, in: database) != nil else { throw APIError.notFound("apps", app.rawValue) }
        try database.execute(
          sql: "DELETE FROM mail WHERE appID = ? AND recipient = ? AND state = ?",
          arguments: [app, text, DeliveryState.pending])
        try database.execute(
          sql: "DELETE FROM mailRecipient WHERE appID = ? AND address = ?", arguments: [app, text])
        return database.changesCount > 0
      }
    }
  }
#endif
