#if Hosting
  import GRDB

  /// The event that a mail reports.
  enum MailKind: String, Codable, Sendable {
    /// A version was processed, and internal testers get it.
    case ready = "READY"
    /// Processing refused a version.
    case failed = "FAILED"
    /// A submission was approved.
    case approved = "APPROVED"
    /// The app uses most of its space.
    case quota = "QUOTA"
  }

  /// A person who receives the mails about an app.
  struct MailRecipientRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "mailRecipient"

    let appID: AppID
    let address: MailAddress
  }

  /// A mail to one recipient in the outbox. Its id is the same in all attempts.
  struct MailRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "mail"

    let id: Identifier<MailRecord>
    let appID: AppID
    let kind: MailKind
    let recipient: MailAddress
    let subject: String
    let text: String

    /// `SUCCEEDED` if a mail server accepted it.
    var state: DeliveryState
    var attempts: Int
    let createdDate: Timestamp

    /// When the next attempt is due; `nil` after the last.
    var dueDate: Timestamp?
    var errorMessage: String?
  }

  extension Schema {
    static let mail = """
      CREATE TABLE mailRecipient (
        appID TEXT NOT NULL REFERENCES app, address TEXT NOT NULL, PRIMARY KEY (appID, address)) STRICT;
      CREATE TABLE mail (
        id TEXT PRIMARY KEY NOT NULL, appID TEXT NOT NULL REFERENCES app, kind TEXT NOT NULL, recipient TEXT NOT NULL,
        subject TEXT NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, createdDate INTEGER NOT NULL,
        dueDate INTEGER, errorMessage TEXT) STRICT;
      CREATE INDEX mailDue ON mail (dueDate) WHERE state = 'PENDING';
      CREATE INDEX mailApp ON mail (appID, createdDate);
      """
  }
#endif
