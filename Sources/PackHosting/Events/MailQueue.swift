#if Hosting
  import GRDB

  /// Hands mails to a mail server.
  protocol MailTransport: Sendable {
    /// - Throws: `MailFault`, and errors of the network.
    func send(_ message: MailMessage) async throws
  }

  /// Why a mail was not accepted.
  struct MailFault: Error, Hashable, CustomStringConvertible {
    let description: String

    /// Whether another attempt has the same result: the server refused the recipient or the message.
    var isPermanent = false

    static let closed = MailFault(description: "the mail server closed the connection, or did not answer in time")
  }

  /// Sends mails that are due, one after the other, and schedules retries.
  struct MailQueue: Sendable {
    let context: HostContext
    let transport: any MailTransport
    let sender: MailAddress

    /// Mails that one call sends.
    private static let batch = 50

    init(_ context: HostContext, transport: any MailTransport, sender: MailAddress) {
      (self.context, self.transport, self.sender) = (context, transport, sender)
    }

    /// Sends all mails that are due. The rest of the batch waits if the server cannot be reached.
    ///
    /// - Returns: the number of attempts.
    @discardableResult
    func run() async throws -> Int {
      let now = context.now
      try await Self.expire(context)
      let due = try await context.database.read { database in
        try MailRecord.filter(Column("state") == DeliveryState.pending && Column("dueDate") <= now)
          .order(Column("dueDate"), Column("id")).limit(Self.batch).fetchAll(database)
      }
      var count = 0
      for mail in due {
        count += 1
        guard try await send(mail) else { break }
      }
      return count
    }

    /// Fails mails that are too old to be news, and deletes old records.
    static func expire(_ context: HostContext) async throws {
      let now = context.now
      let hasOld = try await context.database.read { database in
        try Bool.fetchOne(
          database,
          sql: "SELECT EXISTS (SELECT 1 FROM mail WHERE createdDate <= ? OR (state = ? AND createdDate <= ?))",
          arguments: [
            now.adding(seconds: -Assumptions.mailRecordLifetime), DeliveryState.pending,
            now.adding(seconds: -Assumptions.mailLifetime),
          ])
      }
      guard hasOld == true else { return }
      try await context.database.write { database in
        try database.execute(
          sql:
            "UPDATE mail SET state = ?, dueDate = NULL, errorMessage = coalesce(errorMessage, ?) WHERE state = ? AND createdDate <= ?",
          arguments: [
            DeliveryState.failed, "no attempt succeeded within a day", DeliveryState.pending,
            now.adding(seconds: -Assumptions.mailLifetime),
          ])
        try database.execute(
          sql: "DELETE FROM mail WHERE createdDate <= ?",
          arguments: [now.adding(seconds: -Assumptions.mailRecordLifetime)])
      }
    }

    /// - Returns: whether the server was reached.
    private func send(_ mail: MailRecord) async throws -> Bool {
      var mail = mail, isReached = true, isPermanent = false
      mail.attempts = min(mail.attempts, Assumptions.retryDelays.count) + 1
      mail.errorMessage = nil
      do {
        try await transport.send(
          MailMessage(
            sender: sender, recipient: mail.recipient, subject: mail.subject, text: mail.text, date: mail.createdDate,
            id: mail.id.rawValue))
      } catch is CancellationError {
        throw CancellationError()
      } catch let fault as MailFault {
        (mail.errorMessage, isPermanent) = (String(fault.description.prefix(500)), fault.isPermanent)
      } catch {
        (mail.errorMessage, isReached) = ("the mail server cannot be reached: \("\(error)".prefix(400))", false)
      }
      schedule(&mail, isPermanent)
      let outcome = mail
      try await context.database.write { database in
        guard try outcome.exists(database) else { return }
        try outcome.update(database)
      }
      return isReached
    }

    private func schedule(_ mail: inout MailRecord, _ isPermanent: Bool) {
      guard mail.errorMessage != nil else {
        (mail.state, mail.dueDate) = (.succeeded, nil)
        return
      }
      guard !isPermanent, mail.attempts <= Assumptions.retryDelays.count else {
        (mail.state, mail.dueDate) = (.failed, nil)
        return
      }
      mail.dueDate = context.now.adding(seconds: Assumptions.retryDelays[mail.attempts - 1])
    }
  }
#endif
