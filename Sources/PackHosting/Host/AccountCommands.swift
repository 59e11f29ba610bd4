#if Hosting
  import Crypto
  import Foundation
  import GRDB
  import PackStore

  /// Creates teams, keys and tokens. The operator of the host calls it on the host's machine.
  struct AccountCommands: Sendable {
    let context: HostContext

    init(_ context: HostContext) { self.context = context }

    /// A new key, as its owner receives it.
    struct NewKey: Hashable, Sendable {
      let id: String
      let issuer: String

      /// The private key in PEM. The host does not keep it.
      let privateKey: String
    }

    /// Returns the team of a name, which is created if it is missing.
    func team(_ name: String) async throws -> TeamRecord {
      try await context.database.write { [context] database in
        if let team = try TeamRecord.filter(Column("name") == name).fetchOne(database) { return team }
        let team = TeamRecord(id: .init(context.random), name: name, createdDate: context.now)
        try team.insert(database)
        return team
      }
    }

    /// Returns the principal of the operator for a team: a person with all rights.
    static func operatorOf(_ team: Identifier<TeamRecord>) -> Principal {
      Principal(kind: .person, id: "operator", team: team, rights: Set(Right.allCases))
    }

    /// Creates a key.
    ///
    /// - Parameter email: the owner of an individual key, who is created with the roles if unknown; `nil` for a team key.
    /// - Throws: `APIError` 409 if the user belongs to another team.
    func createKey(
      _ name: String, roles: [Role], email: String?, team: Identifier<TeamRecord>
    ) async throws -> NewKey {
      let key = P256.Signing.PrivateKey()
      // Ten characters, as the ids of Apple's keys.
      let id = String(context.random.hex(5).uppercased())
      let record = try await context.database.write { [context] database in
        let issuer =
          try String.fetchOne(
            database, sql: "SELECT issuer FROM apiKey WHERE teamID = ? ORDER BY createdDate LIMIT 1", arguments: [team])
          ?? context.random.uuid()
        let user = try email.map { try Self.user($0, roles, team, context, in: database) }
        let record = KeyRecord(
          id: id, teamID: team, issuer: issuer, userID: user, name: name, roles: roles,
          publicKey: key.publicKey.x963Representation, createdDate: context.now, revokedDate: nil)
        try record.insert(database)
        return record
      }
      return NewKey(id: id, issuer: record.issuer, privateKey: key.pemRepresentation)
    }

    private static func user(
      _ email: String, _ roles: [Role], _ team: Identifier<TeamRecord>, _ context: HostContext, in database: Database
    ) throws -> Identifier<UserRecord> {
      if let user = try UserRecord.fetchOne(database, key: ["email": email]) {
        guard user.teamID == team else { throw APIError.duplicate("email", email) }
        return user.id
      }
      let user = UserRecord(
        id: .init(context.random), teamID: team, email: email, name: email, roles: roles, createdDate: context.now)
      try user.insert(database)
      return user.id
    }

    /// Revokes a key or a token. It stays in the records.
    ///
    /// - Returns: whether a valid one had this id.
    func revoke(_ id: String) async throws -> Bool {
      try await context.database.write { [context] database in
        try database.execute(
          sql: "UPDATE apiKey SET revokedDate = ? WHERE id = ? AND revokedDate IS NULL", arguments: [context.now, id])
        let count = database.changesCount
        try database.execute(
          sql: "UPDATE token SET revokedDate = ? WHERE id = ? AND revokedDate IS NULL", arguments: [context.now, id])
        return count + database.changesCount > 0
      }
    }
  }
#endif
