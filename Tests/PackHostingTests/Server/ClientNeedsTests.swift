#if Hosting
  import Crypto
  import Foundation
  import HTTPTypes
  import Logging
  import PackServer
  import PackStore
  import Testing

  @testable import PackHosting

  /// What public clients need beyond Apple's document. `Scripts/client-host` runs one of them.
  @Suite struct ClientNeedsTests {
    private typealias Session = SessionTests.Session

    private func run(_ body: (Session) async throws -> Void) async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      try await TestServer.run(host, key) { try await body(try await Session($0)) }
    }

    private func appVersion(_ session: Session) async throws -> String {
      try await session.create(
        "appStoreVersions", #""platform":"IOS","versionString":"1.0""#,
        [("app", "apps", session.server.host.app.rawValue)])
    }

    /// codemagic-cli-tools fails if one of these keys is missing, and accepts null.
    @Test func requiredKeysArePresent() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue, version = try await appVersion(session)
        let phased = try await session.send(
          "POST", "/v1/appStoreVersionPhasedReleases",
          Session.body("appStoreVersionPhasedReleases", "", [("appStoreVersion", "appStoreVersions", version)]))
        let draft = try await session.send(
          "POST", "/v1/reviewSubmissions", Session.body("reviewSubmissions", "", [("app", "apps", app)]))
        for (answer, attributes, relationships) in [
          (
            try await session.send("GET", "/v1/apps/\(app)"),
            ["contentRightsDeclaration", "isOrEverWasMadeForKids", "primaryLocale"],
            [
              "appInfos", "betaAppLocalizations", "betaAppReviewDetail", "betaGroups", "betaLicenseAgreement", "builds",
              "endUserLicenseAgreement", "gameCenterEnabledVersions", "preReleaseVersions",
            ]
          ),
          (
            try await session.send("GET", "/v1/appStoreVersions/\(version)"),
            ["copyright", "earliestReleaseDate", "downloadable"],
            [
              "appStoreReviewDetail", "appStoreVersionLocalizations", "appStoreVersionSubmission", "build",
              "routingAppCoverage",
            ]
          ), (phased, ["startDate", "currentDayNumber", "totalPauseDuration"], []), (draft, ["submittedDate"], []),
        ] {
          for name in attributes { #expect(answer.value("data.attributes.\(name)") != nil, "\(name)") }
          for name in relationships {
            #expect(answer.text("data.relationships.\(name).links.related") != nil, "\(name)")
          }
        }
        #expect(draft.value("data.attributes.submittedDate")?.isNull == true)
        #expect(draft.value("data.attributes.platform") == nil, "other missing values stay missing")
        let fields = try await session.send("GET", "/v1/apps/\(app)?fields[apps]=name")
        #expect(fields.value("data.attributes")?.object?.count == 1 && fields.value("data.relationships") == nil)
      }
    }

    @Test func kindsThatTheHostLacksAreEmpty() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue, version = try await appVersion(session)
        let builds = try await session.send("GET", "/v1/apps/\(app)/builds?limit=10&fields[builds]=version")
        #expect(
          builds.value("data")?.array?.isEmpty == true && builds.value("meta.paging.total")?.integer(Int.self) == 0)
        #expect(try await session.send("GET", "/v1/apps/\(app)/relationships/builds").status == 200)
        #expect(try await session.send("GET", "/v1/appStoreVersions/\(version)/build").value("data")?.isNull == true)
        #expect(try await session.send("GET", "/v1/appStoreVersions/x/build").fault == "404 NOT_FOUND")
        let body = Session.body("appStoreVersions", id: version, "", [("build", "builds", "1")])
        #expect(
          try await session.send("PATCH", "/v1/appStoreVersions/\(version)", body).fault
            == "409 ENTITY_ERROR.RELATIONSHIP.INVALID")
      }
    }

    @Test func versionStringOfADraftChanges() async throws {
      try await run { session async throws in
        let app = session.server.host.app.rawValue, version = try await appVersion(session)
        func change(_ text: String) async throws -> TestAnswer {
          try await session.send(
            "PATCH", "/v1/appStoreVersions/\(version)",
            Session.body("appStoreVersions", id: version, #""versionString":"\#(text)","copyright":"2026""#))
        }
        #expect(try await change("1.1").text("data.attributes.versionString") == "1.1")
        _ = try await appVersion(session)
        #expect(try await change("1.0").fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE")
        #expect(try await change("x").fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
        let draft = try await session.create("reviewSubmissions", "", [("app", "apps", app)])
        _ = try await session.create(
          "reviewSubmissionItems", "",
          [("reviewSubmission", "reviewSubmissions", draft), ("appStoreVersion", "appStoreVersions", version)])
        _ = try await session.send(
          "PATCH", "/v1/reviewSubmissions/\(draft)",
          Session.body("reviewSubmissions", id: draft, #""submitted":true"#))
        #expect(try await change("1.2").fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE")
      }
    }

    @Test func fullDiskOnAPartURLIs503() async throws {
      let host = try await TestHost(), full = PackStoreError(.noSpace, "no space")
      let handler = APIHandler(
        RouteTable([]), authenticator: Authenticator(database: host.context.database, time: host.time),
        limiter: RateLimiter(), clock: host.time, random: host.random, bodyByteCount: 1,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      let part = handler.partRefusal(PartWriter.apiError(full))
      #expect(part.status == .serviceUnavailable && part.fields[.retryAfter] == "60")
      #expect(handler.refusal(full).status == .conflict)
      #expect(handler.partRefusal(APIError.forbidden("x")).fields[.retryAfter] == nil)
    }
  }
#endif
