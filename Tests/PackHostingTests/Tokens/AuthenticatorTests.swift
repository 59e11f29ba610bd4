#if Hosting
  import Crypto
  import Foundation
  import GRDB
  import Testing

  @testable import PackHosting

  /// Tokens of real clients are accepted, and nothing else.
  @Suite struct AuthenticatorTests {
    private let host: TestHost
    private let key = TestKey()
    private let now: Int64

    init() async throws {
      host = try await TestHost()
      now = host.time.now.seconds
    }

    private var authenticator: Authenticator { Authenticator(database: host.context.database, time: host.time) }

    private func status(_ fields: [String], target: String = "/v1/apps") async -> Int {
      do {
        _ = try await authenticator.caller(fields, method: "GET", target: target)
        return 200
      } catch let error as APIError { return error.status } catch { return 500 }
    }

    private func status(claims: String, header: String? = nil, target: String = "/v1/apps") async throws -> Int {
      await status(["Bearer \(try key.token(claims, header: header))"], target: target)
    }

    private func claims(
      issuer: String? = nil, audience: String = #""appstoreconnect-v1""#, issued: String? = nil, expires: String? = nil,
      more: String = ""
    ) -> String {
      let issuer = issuer ?? #""iss":"\#(key.issuer)""#, issued = issued ?? #""iat":\#(now)"#
      let parts = [issuer, #""aud":\#(audience)"#, issued, #""exp":\#(expires ?? String(now + 1200))"#, more]
      return "{\(parts.filter { !$0.isEmpty }.joined(separator: ","))}"
    }

    @Test func tokensOfRealClientsAreAccepted() async throws {
      try await key.register(in: host)
      #expect(try await status(claims: claims()) == 200)
      #expect(try await status(claims: claims(audience: #"["appstoreconnect-v1"]"#)) == 200, "a list")
      #expect(try await status(claims: claims(issued: "")) == 200, "no iat")
      #expect(
        try await status(claims: claims(issued: #""iat":\#(now).25"#, expires: "\(now + 1200).125")) == 200, "fractions"
      )
      #expect(try await status(claims: claims(expires: "1.795001e9")) == 200, "an exponent")
      #expect(try await status(claims: claims(more: #""scope":null,"bid":"com.example""#)) == 200, "null equals absent")
      #expect(try await status(["bearer \(key.token(claims()))"]) == 200, "the scheme's case does not matter")
      let header = #"{"kid":"KEY1","alg":"ES256"}"#
      #expect(try await status(claims: claims(), header: header) == 200, "no typ")
    }

    /// fastlane and rorkai date `iat` back by a minute, and fastlane's longest duration is 20 minutes from now: 21 minutes in all, which
    /// Apple accepts because it limits the time until `exp`.
    @Test func backdatedTokensLiveForTwentyMinutes() async throws {
      try await key.register(in: host)
      #expect(try await status(claims: claims(issued: #""iat":\#(now - 60)"#, expires: "\(now + 1200)")) == 200)
      #expect(try await status(claims: claims(issued: #""iat":\#(now - 300)"#, expires: "\(now + 900)")) == 200)
      #expect(
        try await status(claims: claims(issued: #""iat":\#(now - 60)"#, expires: "\(now + 1201)")) == 401,
        "more than 20 minutes from now")
      #expect(
        try await status(claims: claims(issued: #""iat":\#(now - 600)"#, expires: "\(now + 1000)")) == 401,
        "a life of more than 21 minutes")
    }

    @Test func timesAreChecked() async throws {
      try await key.register(in: host)
      #expect(try await status(claims: claims(expires: "\(now + 1201)")) == 401, "longer than 20 minutes")
      #expect(try await status(claims: claims(issued: "", expires: "\(now + 1300)")) == 401, "longer, without iat")
      #expect(
        try await status(claims: claims(issued: #""iat":\#(now - 1300)"#, expires: "\(now - 100)")) == 401, "expired")
      #expect(
        try await status(claims: claims(issued: #""iat":\#(now - 900)"#, expires: "\(now - 30)")) == 200, "leeway")
      #expect(try await status(claims: claims(issued: #""iat":\#(now + 120)"#)) == 401, "issued in the future")
      #expect(try await status(claims: claims(more: #""nbf":\#(now + 120)"#)) == 401, "not valid yet")
      #expect(try await status(claims: claims(expires: "1e999")) == 401)
      #expect(try await status(claims: claims(expires: "-1")) == 401)
      #expect(try await status(claims: claims(expires: "\"\(now + 60)\"")) == 401, "a text is not a time")
    }

    @Test func forgedTokensAreRefused() async throws {
      try await key.register(in: host)
      for audience in ["[]", #""other""#, "null", "[1]", #"["appstoreconnect-v1",1]"#] {
        #expect(try await status(claims: claims(audience: audience)) == 401, "\(audience)")
      }
      #expect(try await status(claims: claims(issuer: "")) == 401, "no issuer")
      #expect(try await status(claims: claims(issuer: #""iss":"someone else""#)) == 401)
      #expect(try await status(claims: claims(issuer: #""iss":1"#)) == 401)
      for header in [
        #"{"alg":"ES256","kid":"KEY2"}"#, #"{"alg":"ES256"}"#, #"{"alg":"none","kid":"KEY1"}"#,
        #"{"alg":"HS256","kid":"KEY1"}"#, #"{"alg":"es256","kid":"KEY1"}"#,
        #"{"alg":"ES256","kid":"KEY1","crit":["b64"]}"#,
        #"{"alg":"none","alg":"ES256","kid":"KEY1"}"#, #"{"alg":"ES256","kid":""}"#,
      ] {
        #expect(try await status(claims: claims(), header: header) == 401, "\(header)")
      }
      var other = TestKey()
      #expect(try await status(["Bearer \(other.token(claims()))"]) == 401, "another private key")
      other = TestKey("KEY9")
      #expect(
        try await status(["Bearer \(other.token(claims()))"]) == 401, "an unknown key is never checked against another")
      let valid = try key.token(claims())
      #expect(await status(["Bearer \(valid)", "Bearer \(valid)"]) == 401, "two fields")
      let unsigned = valid.split(separator: ".").prefix(2).joined(separator: ".") + "."
      for text in [
        "", "Bearer", "Bearer ", "Basic \(valid)", valid, "Bearer \(unsigned)", "Bearer a.b.c", "Bearer \(valid) x",
      ] {
        #expect(await status([text]) == 401, "\(text)")
      }
      #expect(await status([]) == 401)
    }

    /// A MAC with the public key as its secret must not pass as a signature.
    @Test func algorithmsAreNotConfused() async throws {
      try await key.register(in: host)
      let header = #"{"alg":"HS256","kid":"KEY1","typ":"JWT"}"#
      let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims().utf8)
      let secret = SymmetricKey(data: key.privateKey.publicKey.x963Representation)
      let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: secret)
      #expect(await status(["Bearer \(signed).\(Base64URL.encode(code))"]) == 401)
    }

    @Test func individualKeysBelongToPersons() async throws {
      try await key.register(in: host, role: .developer, email: "ada@example.com")
      let text = claims(issuer: #""sub":"user""#)
      #expect(try await status(claims: text) == 200)
      #expect(try await status(claims: claims()) == 401, "an individual key has no issuer")
      #expect(try await status(claims: claims(issuer: "")) == 401, "and needs the subject")
      let caller = try await authenticator.caller(["Bearer \(try key.token(text))"], method: "GET", target: "/v1/apps")
      #expect(caller.principal.isPerson && caller.principal.rights == Role.developer.rights)
      #expect(caller.credential == "KEY1")
    }

    @Test func revokedKeyIsRefusedAtOnce() async throws {
      try await key.register(in: host)
      let bearer = try key.bearer(at: host.time.now)
      #expect(await status([bearer]) == 200)
      let date = host.time.now
      try await host.context.database.write {
        try $0.execute(sql: "UPDATE apiKey SET revokedDate = ?", arguments: [date])
      }
      #expect(await status([bearer]) == 401)
    }

    @Test func scopeLimitsRequests() async throws {
      try await key.register(in: host)
      let scope = #""scope":["GET /v1/apps?filter[bundleId]=com.example"]"#
      for (target, expected) in [
        ("/v1/apps?filter[bundleId]=com.example", 200),
        ("/v1/apps?limit=2&filter%5BbundleId%5D=com.example&cursor=x", 200),
        ("/v1/apps", 401), ("/v1/apps?filter[bundleId]=other", 401), ("/v1/apps/1?filter[bundleId]=com.example", 401),
        ("/v1/apps?filter[bundleId]=com.example&filter[sku]=1", 401),
      ] {
        #expect(try await status(claims: claims(more: scope), target: target) == expected, "\(target)")
      }
      #expect(try await status(claims: claims(more: #""scope":[]"#)) == 401, "an empty scope permits nothing")
      #expect(try await status(claims: claims(more: #""scope":"GET /v1/apps""#)) == 401, "a scope is a list")
    }

    @Test func buildTokensAreStoredHashed() async throws {
      let token = BuildToken.generate(host.context.random), hash = try #require(BuildToken.hash(token))
      let record = TokenRecord(
        id: .init(host.context.random), teamID: host.team, name: "ci", hash: hash, roles: [.developer], appID: host.app,
        createdDate: host.time.now, expirationDate: host.time.now.adding(seconds: 60), revokedDate: nil)
      try await host.context.database.write { try record.insert($0) }
      let caller = try await authenticator.caller(["Bearer \(token)"], method: "GET", target: "/")
      #expect(caller.principal.kind == .ciToken && caller.principal.app == host.app && !caller.principal.isPerson)
      #expect(await status(["Bearer \(token.dropLast())0"]) == 401 || token.hasSuffix("0"))
      #expect(BuildToken.hash(token + "0") == nil && BuildToken.hash("") == nil)
      host.time.advance(seconds: 61)
      #expect(await status(["Bearer \(token)"]) == 401, "expired")
    }

    /// Any text is refused without a trap: random bytes, and valid tokens with a changed byte.
    @Test func randomTokensAreRefused() async throws {
      try await key.register(in: host)
      var generator = SeededGenerator(seed: 20_261_128)
      let valid = Array("Bearer \(try key.token(claims()))".utf8)
      for round in 0..<600 {
        var bytes = valid
        if round.isMultiple(of: 3) {
          bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in
            UInt8.random(in: 0...127, using: &generator)
          }
        } else {
          for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 7..<bytes.count, using: &generator)
            bytes[place] = UInt8.random(in: 0x21...0x7E, using: &generator)
          }
        }
        guard bytes != valid else { continue }
        #expect(await status([String(decoding: bytes, as: UTF8.self)]) == 401, "round \(round)")
      }
    }
  }

  /// The same numbers in each run.
  struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
#endif
