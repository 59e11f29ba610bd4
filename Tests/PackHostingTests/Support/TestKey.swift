#if Hosting
  import Crypto
  import Foundation
  import GRDB

  @testable import PackHosting

  /// A key of a client, which signs tokens as App Store Connect's clients do.
  struct TestKey: Sendable {
    let id: String
    let issuer: String
    let privateKey = P256.Signing.PrivateKey()

    init(_ id: String = "KEY1", issuer: String = "57246542-96fe-1a63-e053-0824d011072a") {
      (self.id, self.issuer) = (id, issuer)
    }

    /// Adds the key to the records of a host.
    ///
    /// - Parameter email: the owner of an individual key.
    func register(
      in host: TestHost, role: Role = .admin, email: String? = nil, team: Identifier<TeamRecord>? = nil
    ) async throws {
      let team = team ?? host.team, now = host.time.now, publicKey = privateKey.publicKey.x963Representation
      let user = email.map { email in
        UserRecord(
          id: .init(host.context.random), teamID: team, email: email, name: "Ada Lovelace", roles: [role],
          createdDate: now)
      }
      try await host.context.database.write { database in
        try user?.insert(database)
        try KeyRecord(
          id: id, teamID: team, issuer: issuer, userID: user?.id, name: "key", roles: [role], publicKey: publicKey,
          createdDate: now, revokedDate: nil
        ).insert(database)
      }
    }

    /// Returns a token with these claims in JSON.
    func token(_ claims: String, header: String? = nil) throws -> String {
      let header = header ?? #"{"alg":"ES256","kid":"\#(id)","typ":"JWT"}"#
      let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
      let signature = try privateKey.signature(for: Data(signed.utf8))
      return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// Returns the `Authorization` of a valid token.
    func bearer(at now: Timestamp) throws -> String {
      let claims = #"{"iss":"\#(issuer)","iat":\#(now.seconds),"exp":\#(now.seconds + 600),"aud":"appstoreconnect-v1"}"#
      return "Bearer \(try token(claims))"
    }
  }
#endif
