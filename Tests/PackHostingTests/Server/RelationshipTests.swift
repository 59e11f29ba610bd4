#if Hosting
  import PackStore
  import Testing

  @testable import PackHosting

  /// Every link of an answer leads to an answer.
  @Suite struct RelationshipTests {
    private typealias Session = SessionTests.Session

    private func run(role: Role = .admin, _ body: (Session) async throws -> Void) async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host, role: role)
      try await TestServer.run(host, key) { try await body(try await Session($0)) }
    }

    /// Kinds that Apple's API does not read by id.
    private static let unreadable: Set = [
      "reviewSubmissionItems", "webhookDeliveries", "webhookPings", "webhookEvents", "appStoreVersionPhasedReleases",
      "appStoreVersionReleaseRequests",
    ]

    /// Creates an object of each kind, and returns the paths to begin with.
    private func fill(_ session: Session) async throws -> [String] {
      let host = session.server.host, app = host.app.rawValue
      try await host.delegate()
      let pack = try await session.pack(), published = try await host.published("streets")
      let appVersion = try await session.create(
        "appStoreVersions", #""platform":"IOS","versionString":"1.0""#, [("app", "apps", app)])
      _ = try await session.create(
        "appStoreVersionPhasedReleases", "", [("appStoreVersion", "appStoreVersions", appVersion)])
      let submission = try await session.create("reviewSubmissions", #""platform":"IOS""#, [("app", "apps", app)])
      for (name, type, id) in [
        ("backgroundAssetVersion", "backgroundAssetVersions", published.id.rawValue),
        ("appStoreVersion", "appStoreVersions", appVersion),
      ] {
        _ = try await session.create(
          "reviewSubmissionItems", "", [("reviewSubmission", "reviewSubmissions", submission), (name, type, id)])
      }
      let beta = try await session.create(
        "betaBackgroundAssetReviewSubmissions", "",
        [("backgroundAssetVersion", "backgroundAssetVersions", published.id.rawValue)])
      let webhook = try await session.create(
        "webhooks", #""enabled":true,"name":"CI","secret":"s","url":"https://ci.example.com/hook","eventTypes":[]"#,
        [("app", "apps", app)])
      _ = try await session.create("webhookPings", "", [("webhook", "webhooks", webhook)])
      return [
        "/v1/apps", "/v1/apps/\(app)/backgroundAssets", "/v1/backgroundAssets/\(pack)/versions",
        "/v1/apps/\(app)/appStoreVersions", "/v1/apps/\(app)/reviewSubmissions",
        "/v1/reviewSubmissions/\(submission)/items", "/v1/apps/\(app)/webhooks", "/v1/webhooks/\(webhook)/deliveries",
        "/v1/betaBackgroundAssetReviewSubmissions/\(beta)", "/packstore/v1/apps/\(app)",
      ]
    }

    @Test func everyLinkIsAnswered() async throws {
      try await run { session async throws in
        var waiting = try await fill(session), seen = Set(waiting), count = 0
        let base = "http://localhost:\(session.server.port)"
        while let target = waiting.popLast() {
          let parts = target.split(separator: "/")
          if parts.count == 3, Self.unreadable.contains(String(parts[1])) {
            let refusal = try await session.server.send("GET", target).fault
            #expect(["403 FORBIDDEN_ERROR", "404 PATH_ERROR"].contains(refusal), "\(target)")
            continue
          }
          let answer = try await session.send("GET", target)
          #expect(answer.status == 200, "\(target): \(answer.fault)")
          count += 1
          for url in Self.links(answer.json) where url.hasPrefix(base) {
            let next = String(url.dropFirst(base.count))
            if !next.contains("?"), seen.insert(next).inserted { waiting.append(next) }
          }
        }
        #expect(count > 60, "\(count)")
      }
    }

    /// All texts of members `links`, at any depth.
    private static func links(_ value: JSONValue?) -> [String] {
      let own = value?.member("links")?.object?.compactMap(\.value.string) ?? []
      return own + (value?.object ?? []).flatMap { links($0.value) } + (value?.array ?? []).flatMap { links($0) }
    }

    @Test func relatedResourcesAreRead() async throws {
      try await run { session async throws in
        let host = session.server.host, pack = try await session.pack(), version = try await session.version(of: pack)
        let app = try await session.send("GET", "/v1/backgroundAssets/\(pack)/app?fields[apps]=name")
        #expect(app.text("data.id") == host.app.rawValue && app.value("data.attributes")?.object?.count == 1)
        let parent = try await session.send(
          "GET", "/v1/backgroundAssetVersions/\(version)/backgroundAsset?include=app&fields[backgroundAssets]=app")
        #expect(parent.text("data.id") == pack && parent.text("included.0.id") == host.app.rawValue)
        let linkage = try await session.send(
          "GET", "/v1/backgroundAssetVersions/\(version)/relationships/backgroundAsset")
        #expect(linkage.text("data.type") == "backgroundAssets" && linkage.text("data.id") == pack)
        for path in ["appStoreRelease", "relationships/appStoreRelease", "assetFile", "relationships/assetFile"] {
          let empty = try await session.send("GET", "/v1/backgroundAssetVersions/\(version)/\(path)")
          #expect(empty.status == 200 && empty.value("data")?.isNull == true, "\(path)")
        }
        #expect(
          try await session.server.send("GET", "/v1/backgroundAssets/\(pack)/app?limit=1").fault
            == "400 PARAMETER_ERROR.ILLEGAL")
        for path in [
          "app/app", "relationships", "relationships/", "relationships/other", "relationships/app/x", "apps",
        ] {
          #expect(
            try await session.server.send("GET", "/v1/backgroundAssets/\(pack)/\(path)").fault == "404 PATH_ERROR",
            "\(path)"
          )
        }
        #expect(try await session.send("GET", "/v1/backgroundAssets/x/app").fault == "404 NOT_FOUND")
      }
    }

    /// A related object has no other rights and owners than by its own path.
    @Test func relatedPathsCheckRightsAndTeams() async throws {
      try await run(role: .developer) { session async throws in
        let host = session.server.host, other = TestKey("KEY2"), pack = try await session.pack()
        try await other.register(in: host, team: host.otherTeam)
        let stranger = try other.bearer(at: host.time.now)
        for path in ["app", "relationships/app", "relationships/versions"] {
          let answer = try await session.send("GET", "/v1/backgroundAssets/\(pack)/\(path)", authorization: stranger)
          #expect(answer.fault == "404 NOT_FOUND", "\(path)")
        }
        let webhook = try await WebhookCommands(host.context).create(
          .init(name: "CI", url: "https://ci.example.com/", secret: "s", enabled: true, eventTypes: []), app: host.app,
          by: host.admin)
        for path in ["app", "relationships/app", "relationships/deliveries"] {
          let answer = try await session.send("GET", "/v1/webhooks/\(webhook.id)/\(path)")
          #expect(answer.fault == "403 FORBIDDEN_ERROR", "\(path)")
        }
      }
    }

    @Test func operationsOfRelationshipsAreNamed() async throws {
      try await run { session async throws in
        let pack = try await session.pack()
        for (method, path) in [
          ("PATCH", "/v1/backgroundAssets/\(pack)/relationships/app"), ("DELETE", "/v1/backgroundAssets/\(pack)/app"),
          ("POST", "/v1/apps/\(session.server.host.app)/backgroundAssets"),
          ("PATCH", "/v1/apps/\(session.server.host.app)"),
        ] {
          let answer = try await session.server.send(method, path, "{}")
          #expect(answer.fault == "403 FORBIDDEN_ERROR", "\(method) \(path)")
          #expect(answer.text("errors.0.detail")?.contains("GET_INSTANCE") == true, "\(method) \(path)")
        }
        let update = try await session.server.send("PATCH", "/v1/apps/\(session.server.host.app)", "{}")
        #expect(update.text("errors.0.detail")?.contains("does not allow 'UPDATE'") == true)
      }
    }
  }
#endif
