#if Hosting
  import Foundation
  import GRDB

  /// The mark of an app whose store channel is signed by a key that the host does not have.
  struct OfflineSigningRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "offlineSigning"

    let appID: AppID

    /// The channel with the offers of the next root, signed by the host. Its name is secret.
    let draftChannel: String
  }

  /// The newest root of a channel that waits for a signature.
  struct RootRequestRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "rootRequest"

    let appID: AppID
    let context: ReleaseContext

    /// The wanted revision that the root contains.
    let revision: Int64

    /// The unsigned root.
    let root: Data

    /// SHA-256 of the published root that it replaces; `nil` for the first.
    let predecessor: Data?
    let createdDate: Timestamp
  }

  extension Schema {
    static let offlineSigning = """
      CREATE TABLE offlineSigning (appID TEXT PRIMARY KEY NOT NULL REFERENCES app, draftChannel TEXT NOT NULL) STRICT;
      CREATE TABLE rootRequest (
        appID TEXT NOT NULL REFERENCES app, context TEXT NOT NULL, revision INTEGER NOT NULL, root BLOB NOT NULL, predecessor BLOB,
        createdDate INTEGER NOT NULL, PRIMARY KEY (appID, context)) STRICT;
      """
  }
#endif
