#if Hosting
  import GRDB

  /// Determines the caller of a request by its `Authorization` field.
  struct Authenticator: Sendable {
    static let audience = "appstoreconnect-v1"

    let database: DatabasePool
    let time: any TimeSource

    /// The caller, and the id by which its requests are counted.
    struct Caller: Hashable, Sendable {
      let principal: Principal
      let credential: String
    }

    /// - Parameters:
    ///   - fields: all values of `Authorization`; exactly one is permitted.
    ///   - method: the method of the request, such as `GET`.
    ///   - target: the path and query of the request, for tokens with a scope.
    /// - Throws: `APIError` with status 401, equal for all causes: a caller without a valid credential must not learn which part of
    ///   it is wrong.
    func caller(_ fields: [String], method: String, target: String) async throws -> Caller {
      guard fields.count == 1, let text = Self.bearer(fields[0]) else { throw APIError.notAuthorized }
      let now = time.now
      if let hash = BuildToken.hash(text) { return try await caller(tokenHash: hash, now) }
      guard let token = JSONWebToken(text), Self.isCurrent(token.claims, now),
        token.claims.scope.map({ TokenScope.permits($0, method: method, target: target) }) ?? true,
        let found = try await database.read({ try Self.key(token.keyID, in: $0) }),
        found.key.revokedDate == nil, Self.isIssuer(token.claims, of: found.key),
        token.isSigned(by: found.key.publicKey)
      else { throw APIError.notAuthorized }
      let roles = found.user?.roles ?? found.key.roles
      let principal = Principal(
        kind: found.user == nil ? .teamKey : .person, id: found.user?.id.rawValue ?? found.key.id,
        team: found.key.teamID,
        rights: Role.rights(of: roles))
      return Caller(principal: principal, credential: found.key.id)
    }

    private func caller(tokenHash: some DatabaseValueConvertible & Sendable, _ now: Timestamp) async throws -> Caller {
      let record = try await database.read { try TokenRecord.filter(Column("hash") == tokenHash).fetchOne($0) }
      guard let record, record.revokedDate == nil, record.expirationDate.map({ now < $0 }) ?? true else {
        throw APIError.notAuthorized
      }
      var principal = Principal(
        kind: .ciToken, id: record.id.rawValue, team: record.teamID, rights: Role.rights(of: record.roles))
      principal.app = record.appID
      return Caller(principal: principal, credential: record.id.rawValue)
    }

    /// Returns the key with exactly this id. A token with an unknown id is never checked against another key.
    private static func key(_ id: String, in database: Database) throws -> (key: KeyRecord, user: UserRecord?)? {
      guard let key = try KeyRecord.fetchOne(database, key: id) else { return nil }
      guard let userID = key.userID else { return (key, nil) }
      guard let user = try UserRecord.fetchOne(database, key: userID) else { return nil }
      return (key, user)
    }

    /// Returns the token of `Bearer TOKEN`; the scheme's case does not matter (RFC 9110, section 11.1).
    private static func bearer(_ field: String) -> Substring? {
      let parts = field.split(separator: " ")
      return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
    }

    /// A team key's token has its issuer; an individual key's token has the subject `user` and no issuer.
    private static func isIssuer(_ claims: TokenClaims, of key: KeyRecord) -> Bool {
      key.userID == nil ? claims.issuer == key.issuer : claims.issuer == nil && claims.subject == "user"
    }

    /// Checks audience and times. Without `iat`, the life of a token is counted from now.
    ///
    /// Apple limits the time until `exp`. Clients date `iat` back by up to a minute, because with a clock that is ahead it
    /// would be in the future. This must not shorten the permitted life.
    private static func isCurrent(_ claims: TokenClaims, _ now: Timestamp) -> Bool {
      let leeway = Assumptions.clockLeeway
      guard claims.audiences.contains(audience), claims.expires > now.adding(seconds: -leeway) else { return false }
      let latest = now.adding(seconds: leeway)
      if let begin = claims.notBefore, begin > latest { return false }
      guard let issued = claims.issued else {
        return claims.expires <= latest.adding(seconds: Assumptions.tokenLifetime)
      }
      guard issued <= latest else { return false }
      let isBackdated =
        claims.expires <= now.adding(seconds: Assumptions.tokenLifetime)
        && claims.expires <= issued.adding(seconds: Assumptions.tokenLifetime + leeway)
      return isBackdated || claims.expires <= issued.adding(seconds: Assumptions.tokenLifetime)
    }
  }

  extension Role {
    static func rights(of roles: [Role]) -> Set<Right> { roles.reduce(into: []) { $0.formUnion($1.rights) } }
  }

  extension APIError {
    static let notAuthorized = APIError(
      401, "NOT_AUTHORIZED", "Authentication credentials are missing or invalid.",
      "Provide a properly configured and signed bearer token, and make sure that it has not expired.")

    static func rateLimitExceeded(_ verdict: RateLimiter.Verdict) -> APIError {
      APIError(
        429, "RATE_LIMIT_EXCEEDED", "The request rate limit has been reached.",
        "requests: \(verdict.limit) in the last hour; retry in \(verdict.retrySeconds) seconds")
    }
  }
#endif
