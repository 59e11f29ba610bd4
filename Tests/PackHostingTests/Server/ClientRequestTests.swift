#if Hosting
  import Foundation
  import GRDB
  import PackServer
  import PackStore
  import Testing

  @testable import PackHosting

  /// Requests as public clients write them: fastlane's spaceship, the Swift SDK of AvdLee, rorkai's and ideamans' programs in Go, scripts
  /// with curl, Python's requests and Node's axios. Docs/Hosting.md lists their habits.
  @Suite struct ClientRequestTests {
    private typealias Session = SessionTests.Session

    private func run(_ options: ServerOptions = .init(), _ body: (Session) async throws -> Void) async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      try await TestServer.run(host, key, options) { try await body(try await Session($0)) }
    }

    /// Sends a head as given, with the lines that every request needs.
    private func send(
      _ server: TestServer, _ line: String, _ fields: [String] = [], body: [UInt8] = []
    ) async throws -> TestAnswer {
      let bearer = try server.key.bearer(at: server.host.time.now)
      let lines =
        ["\(line) HTTP/1.1", "Host: localhost:\(server.port)", "Authorization: \(bearer)", "Connection: close"] + fields
      return try await server.send([Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body])
    }

    // MARK: - Heads

    /// fastlane sends `Content-Type` with each GET, and compressed answers are a wish. Go's client sends no `Accept`.
    @Test(arguments: [
      ["Content-Type: application/json", "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3", "Accept: */*"],
      ["Content-Type: application/json; charset=utf-8", "Accept: application/vnd.api+json", "Content-Length: 0"],
      ["Content-Type:", "User-Agent: Go-http-client/1.1", "Accept-Encoding: gzip"],
      ["Content-Encoding: identity", "Accept: application/json;q=0.9", "Cookie: a=b", "X-Request-Id: 1"],
    ]) func readsAcceptAllFields(_ fields: [String]) async throws {
      try await run { session async throws in
        let answer = try await send(session.server, "GET /v1/apps", fields)
        #expect(answer.status == 200 && answer.fields["content-type"] == "application/json")
        #expect(answer.fields["content-encoding"] == nil)
      }
    }

    /// HEAD has the fields of the GET, and no body: one would be read as the next answer of the connection.
    @Test func headHasNoBody() async throws {
      try await run { session async throws in
        for (target, status) in [
          ("/v1/apps", 200), ("/health", 200), ("/packstore/v1/openapi.json", 200), ("/v1/apps/1", 404),
          ("/v1/other", 404), ("/v1/webhooks", 403), ("/v1/apps?limit=0", 400), ("/u/x/1", 405),
        ] {
          let answer = try await send(session.server, "HEAD \(target)")
          #expect(answer.status == status && answer.body.isEmpty, "\(target)")
          #expect((Int(answer.fields["content-length"] ?? "") ?? 0) > 0, "\(target): the length of the GET's body")
        }
        let get = try await session.server.send("GET", "/v1/apps")
        let head = try await send(session.server, "HEAD /v1/apps")
        #expect(head.fields["content-length"] == "\(get.body.count)")
      }
    }

    /// Proxies get whole URLs.
    @Test func wholeURLsAreTargets() async throws {
      try await run { session async throws in
        let port = session.server.port
        #expect(try await send(session.server, "GET http://localhost:\(port)/v1/apps?limit=1").status == 200)
        #expect(try await send(session.server, "GET HTTPS://localhost/health").status == 200)
        #expect(try await send(session.server, "GET http://localhost").fault == "404 PATH_ERROR")
      }
    }

    @Test func refusalsNameTheRemedy() async throws {
      try await run { session async throws in
        let stranger = try await session.server.send("GET", "/v1/apps", authorization: "Bearer x")
        #expect(stranger.fields["www-authenticate"] == "Bearer" && stranger.fault == "401 NOT_AUTHORIZED")
        let put = try await session.server.send("PUT", "/v1/apps", "{}")
        #expect(put.status == 405 && put.fields["allow"] == "GET, HEAD, POST, PATCH, DELETE")
        let part = try await session.server.send("POST", "/u/x/1", "{}")
        #expect(part.status == 405 && part.fields["allow"] == "PUT")
      }
    }

    @Test func rateIsAnsweredWithATime() async throws {
      var options = ServerOptions()
      options.requestsPerHour = 1
      try await run(options) { session async throws in
        _ = try await session.server.send("GET", "/v1/apps")
        let answer = try await session.server.send("GET", "/v1/apps")
        #expect(answer.fault == "429 RATE_LIMIT_EXCEEDED")
        #expect(answer.fields["x-rate-limit"] == "user-hour-lim:1;user-hour-rem:0;")
        #expect((Int(answer.fields["retry-after"] ?? "") ?? 0) > 0)
      }
    }

    // MARK: - Bodies

    /// A compressed body would be counted and hashed as sent.
    @Test func compressedBodiesAreRefused() async throws {
      try await run { session async throws in
        for coding in ["gzip", "GZIP", "deflate", "br", "identity, gzip", "x-gzip"] {
          let fields = ["Content-Type: application/json", "Content-Encoding: \(coding)", "Content-Length: 2"]
          let answer = try await send(session.server, "POST /v1/backgroundAssets", fields, body: [0x1F, 0x8B])
          #expect(answer.fault == "415 UNSUPPORTED_MEDIA_TYPE", "\(coding)")
        }
        let version = try await session.version(of: try await session.pack())
        let reservation = try await session.reserve("ASSET", [1, 2], of: version)
        let url = try #require(reservation.text("data.attributes.uploadOperations.0.url"))
        let target = url.dropFirst("http://localhost:\(session.server.port)".count)
        let part = try await send(
          session.server, "PUT \(target)", ["Content-Encoding: gzip", "Content-Length: 2"], body: [1, 2])
        #expect(part.fault == "415 UNSUPPORTED_MEDIA_TYPE")
        #expect(
          try await send(
            session.server, "PUT \(target)", ["Content-Encoding: identity", "Content-Length: 2"], body: [1, 2]
          ).status == 200)
      }
    }

    /// JSON:API permits further members: links, metadata, and null.
    @Test func documentsMayHaveMoreMembers() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue
        let text = """
          {"jsonapi":{"version":"1.0"},"data":{"type":"backgroundAssets","id":"client-1","attributes":
          {"assetPackIdentifier":"City"},"relationships":{"app":{"links":{"self":"x"},"meta":{},"data":
          {"type":"apps","id":"\(app)","meta":{}}}},"links":{}},"included":[],"meta":null}
          """
        let created = try await session.send("POST", "/v1/backgroundAssets", text)
        #expect(created.status == 201)
        let id = try #require(created.text("data.id"))
        for text in [
          #"{"data":{"type":"backgroundAssets","id":"\#(id)"}}"#,
          #"{"data":{"type":"backgroundAssets","id":"\#(id)","attributes":null,"relationships":null}}"#,
          #"{"data":{"type":"backgroundAssets","id":"\#(id)","attributes":{"archived":null}}}"#,
        ] {
          #expect(try await session.send("PATCH", "/v1/backgroundAssets/\(id)", text).status == 200, "\(text)")
        }
        #expect(try await session.send("POST", "/v1/backgroundAssets").fault == "400 ENTITY_INVALID", "no body")
        #expect(try await session.send("POST", "/v1/backgroundAssets", "null").fault == "409 ENTITY_ERROR")
      }
    }

    /// Swift writes UUIDs in upper case.
    @Test func idsDoNotDependOnCase() async throws {
      try await run { session async throws in
        let pack = try await session.pack(), upper = pack.uppercased()
        let created = try await session.send(
          "POST", "/v1/backgroundAssetVersions",
          Session.body("backgroundAssetVersions", "", [("backgroundAsset", "backgroundAssets", upper)]))
        #expect(created.status == 201)
        #expect(try await session.send("GET", "/v1/backgroundAssets/\(upper)").text("data.id") == pack)
        let versions = try await session.send("GET", "/v1/backgroundAssets/\(upper)/versions")
        #expect(versions.value("data")?.array?.count == 1)
        let body = Session.body("backgroundAssets", id: upper, #""archived":false"#)
        #expect(try await session.send("PATCH", "/v1/backgroundAssets/\(pack)", body).status == 200)
        #expect(try await session.send("PATCH", "/v1/backgroundAssets/\(upper)", body).status == 200)
        let app = session.server.host.app.rawValue
        let version = try await session.create(
          "appStoreVersions", #""platform":"IOS","versionString":"1.0""#, [("app", "apps", app)])
        let found = try await session.send(
          "GET", "/v1/apps/\(app)/appStoreVersions?filter[id]=\(version.uppercased())")
        #expect(found.text("data.0.id") == version)
      }
    }

    // MARK: - Unchanged attributes

    /// Generated clients send all attributes of a type, also unchanged ones.
    @Test func presentValuesChangeNothing() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue
        let draft = try await session.create("reviewSubmissions", #""platform":"IOS""#, [("app", "apps", app)])
        func change(_ attributes: String) async throws -> TestAnswer {
          try await session.send(
            "PATCH", "/v1/reviewSubmissions/\(draft)", Session.body("reviewSubmissions", id: draft, attributes))
        }
        #expect(
          try await change(#""submitted":false,"canceled":false,"platform":"IOS""#).text("data.attributes.state")
            == "READY_FOR_REVIEW")
        let version = try await session.create(
          "appStoreVersions", #""platform":"IOS","versionString":"1.0""#, [("app", "apps", app)])
        let item = try await session.create(
          "reviewSubmissionItems", "",
          [("reviewSubmission", "reviewSubmissions", draft), ("appStoreVersion", "appStoreVersions", version)])
        let itemBody = Session.body("reviewSubmissionItems", id: item, #""resolved":false,"removed":false"#)
        #expect(try await session.send("PATCH", "/v1/reviewSubmissionItems/\(item)", itemBody).status == 200)
        #expect(
          try await change(#""submitted":true,"canceled":false,"platform":"IOS""#).text("data.attributes.state")
            == "WAITING_FOR_REVIEW")
        #expect(try await change(#""platform":"IOS","canceled":false"#).status == 200)
        #expect(try await change(#""platform":"MAC_OS""#).fault == "409 STATE_ERROR.ENTITY_STATE_INVALID")
        #expect(try await change(#""submitted":false"#).fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
        #expect(
          try await change(#""submitted":false,"canceled":true"#).text("data.attributes.state") == "CANCELING")
        #expect(try await change(#""canceled":false"#).fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
        #expect(try await session.send("PATCH", "/v1/reviewSubmissionItems/\(item)", itemBody).status == 200)
      }
    }

    @Test func presentValuesOfAFileChangeNothing() async throws {
      try await run { session async throws in
        let version = try await session.version(of: try await session.pack())
        let reservation = try await session.reserve("ASSET", [1, 2], of: version)
        let file = try #require(reservation.text("data.id"))
        let body = Session.body("backgroundAssetUploadFiles", id: file, #""uploaded":false"#)
        let unchanged = try await session.send("PATCH", "/v1/backgroundAssetUploadFiles/\(file)", body)
        #expect(unchanged.text("data.attributes.assetDeliveryState.state") == "AWAITING_UPLOAD")
        try await session.upload([1, 2], reservation)
        #expect(try await session.commit(file).status == 200)
        #expect(
          try await session.send("PATCH", "/v1/backgroundAssetUploadFiles/\(file)", body).fault
            == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
        let unknown = Session.body("backgroundAssetUploadFiles", id: "x", #""uploaded":false"#)
        #expect(
          try await session.send("PATCH", "/v1/backgroundAssetUploadFiles/x", unknown).fault == "404 NOT_FOUND")
      }
    }

    /// An unchanged app version keeps its approvals, and can be sent after its release.
    @Test func presentValuesKeepApprovals() async throws {
      let host = try await TestHost()
      try await host.setApprovals(store: 2)
      let versions = AppVersionCommands(host.context)
      let version = try await versions.create("1.0", platform: .iOS, app: host.app, by: host.developer)
      let draft = try await host.submissions.create(app: host.app, platform: nil, by: host.developer)
      _ = try await host.submissions.add(.appVersion(version.id), to: draft.id, by: host.developer)
      _ = try await host.submissions.submit(draft.id, by: host.developer)
      _ = try await host.reviews.approve(draft.id, by: host.principal("ada", kind: .person, role: .admin))
      func voided() async throws -> Int {
        try await host.context.database.read {
          try Int.fetchOne($0, sql: "SELECT count(*) FROM approval WHERE voidedDate IS NOT NULL") ?? 0
        }
      }
      func update(_ type: ReleaseType?) async throws {
        _ = try await versions.update(
          version.id, versionString: "1.0", releaseType: type, earliestReleaseDate: nil, by: host.developer)
      }
      try await update(.afterApproval)
      #expect(try await voided() == 0)
      try await update(.manual)
      #expect(try await voided() == 1)
    }

    // MARK: - Queries

    /// JSON:API: an empty `include` names no relationship.
    @Test func emptyIncludeIncludesNothing() async throws {
      try await run { session async throws in
        let answer = try await session.send("GET", "/v1/apps?include=&fields%5Bapps%5D=name")
        #expect(answer.status == 200 && answer.value("included") == nil)
        #expect(try await session.send("GET", "/v1/apps?include=,").fault == "400 PARAMETER_ERROR.INVALID")
      }
    }

    /// Queries as written by URLComponents (raw commas), Ruby and Go (all encoded), axios and curl (raw brackets).
    @Test(arguments: [
      "filter%5BbundleId%5D=com.example.city&include=appStoreVersions", "filter[bundleId]=com.example.city,x&limit=200",
      "limit=1&sort=-name&filter%5bbundleId%5d=com%2eexample%2Ecity%2Cother",
      "fields[apps]=bundleId,name&filter[bundleId]=com.example.city&limit[appStoreVersions]=50",
    ]) func appsAreFound(_ query: String) async throws {
      try await run { session async throws in
        let answer = try await session.send("GET", "/v1/apps?\(query)")
        #expect(answer.text("data.0.attributes.bundleId") == "com.example.city")
        #expect(answer.value("links.next") == nil)
      }
    }

    @Test(arguments: [
      "filter[bundleId][]=com.example.city", "filter%5BbundleId%5D%5B0%5D=com.example.city", "filter=bundleId",
      "bundleId=com.example.city", "include=appStoreVersions&include=builds", "limit=1&limit=1",
    ]) func otherListsAreIllegal(_ query: String) async throws {
      try await run { session async throws in
        #expect(try await session.send("GET", "/v1/apps?\(query)").fault == "400 PARAMETER_ERROR.ILLEGAL")
      }
    }

    /// Dates as Swift, Ruby, Python and Go write them.
    @Test(arguments: [
      "2026-11-24T09:30:00Z", "2026-11-24T09:30:00.5Z", "2026-11-24T01:30:00-08:00", "2026-11-24T01:30:00-0800",
      "2026-11-24T10:30:00%2B01:00", "2026-11-24T10:30:00+01:00", "2026-11-24T09:30:00.123456%2B00:00",
      "2026-11-24T09:30:00.000000000Z", "2026-11-24t09:30:00z",
    ]) func datesAreAccepted(_ date: String) async throws {
      try await run { session async throws in
        let hook = try await session.create(
          "webhooks", #""enabled":true,"eventTypes":[],"name":"x","secret":"s","url":"https://example.com""#,
          [("app", "apps", session.server.host.app.rawValue)])
        let answer = try await session.send(
          "GET", "/v1/webhooks/\(hook)/deliveries?filter[createdDateGreaterThanOrEqualTo]=\(date)")
        #expect(answer.status == 200)
      }
    }
  }

  /// Dates are read letter by letter.
  @Suite struct TimestampTests {
    @Test(
      arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-24T09:30:00Z", 1_795_512_600_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("2026-11-24T10:30:00+01:00", 1_795_512_600_000), ("2026-11-24T01:30:00-0800", 1_795_512_600_000),
        ("2026-11-24T10:30:00+01", 1_795_512_600_000), ("2026-11-24T09:30:00.0019Z", 1_795_512_600_001),
        ("2026-11-24T09:29:60Z", 1_795_512_600_000), ("1969-12-31T23:59:59.5Z", -500),
        ("0000-03-01T00:00:00Z", -62_162_035_200_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000),
      ] as [(String, Int64)]) func validDatesAreRead(_ text: String, _ milliseconds: Int64)
    {
      #expect(Timestamp(text: text)?.rawValue == milliseconds)
    }

    @Test(arguments: [
      "", "today", "2026-11-24", "2026-11-24T09:30Z", "2026-11-24T09:30:00", "2026-11-24 09:30:00Z",
      "2026-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
      "2026-11-24T24:00:00Z",
      "2026-11-24T09:60:00Z", "2026-11-24T09:30:61Z", "2026-11-24T09:30:00.Z", "2026-11-24T09:30:00+1:00",
      "2026-11-24T09:30:00+24:00", "2026-11-24T09:30:00+01:60", "2026-11-24T09:30:00ZZ", "2026-11-24T09:30:00+01:0",
      "-026-11-24T09:30:00Z", "２026-11-24T09:30:00Z", "2026-11-24T09:30:00.\(String(repeating: "1", count: 40))Z",
    ]) func otherTextIsRefused(_ text: String) { #expect(Timestamp(text: text) == nil) }

    /// All days of 400 years, and the text of each, which is read back.
    @Test func textsAreReadBack() {
      for day in stride(from: Int64(-146_097), to: 146_097, by: 7) {
        let moment = Timestamp(rawValue: day * 86_400_000 + 3_723_000)
        #expect(Timestamp(text: moment.text) == moment)
      }
    }
  }
#endif
