#if Hosting
  import Foundation
  import GRDB

  /// A group of people who share apps, keys and tokens. Teams see nothing of each other.
  struct TeamRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "team"

    let id: Identifier<TeamRecord>
    var name: String
    let createdDate: Timestamp
  }

  struct UserRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "user"

    let id: Identifier<UserRecord>
    let teamID: Identifier<TeamRecord>

    /// Unique in the host.
    var email: String
    var name: String
    var roles: [Role]
    let createdDate: Timestamp
  }

  /// A public key that checks ES256 tokens.
  struct KeyRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "apiKey"

    /// The `kid` of tokens.
    let id: String
    let teamID: Identifier<TeamRecord>

    /// The `iss` of tokens of a team key.
    let issuer: String

    /// The owner of an individual key; `nil` for a team key.
    var userID: Identifier<UserRecord>?
    var name: String
    var roles: [Role]

    /// The public key in the uncompressed form of X9.63: 65 bytes.
    let publicKey: Data
    let createdDate: Timestamp
    var revokedDate: Timestamp?
  }

  /// A token for build jobs. The token is shown once; only its hash is stored.
  struct TokenRecord: Codable, FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "token"

    let id: Identifier<TokenRecord>
    let teamID: Identifier<TeamRecord>
    var name: String

    /// SHA-256 of the token.
    let hash: Data
    var roles: [Role]

    /// The only app that the token may use; `nil` for all apps of the team.
    var appID: AppID?
    let createdDate: Timestamp
    var expirationDate: Timestamp?
    var revokedDate: Timestamp?
  }
#endif
