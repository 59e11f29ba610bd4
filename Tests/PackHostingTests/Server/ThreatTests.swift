#if Hosting
  import Foundation
  import GRDB
  import PackStore
  import Testing

  @testable import PackHosting

  /// Attacks by clients with valid credentials of their own.
  @Suite struct ThreatTests {
    private typealias Session = SessionTests.Session

    /// Creates objects of many kinds in the first team: their ids by type.
    private func objects(_ host: TestHost) async throws -> [String: String] {
      try await host.delegate()
      try await host.setApprovals(store: 1, external: 1)
      let version = try await host.published("streets")
      let submission = try await host.submit([version])
      let beta = try await host.submissions.submitBeta(version.id, by: host.developer)
      let webhook = try await WebhookCommands(host.context).create(
        .init(name: "CI", url: "https://ci.example.com/", secret: "s", enabled: true, eventTypes: []), app: host.app,
        by: host.admin)
      _ = try await WebhookCommands(host.context).ping(webhook.id, by: host.admin)
      let appVersion = try await AppVersionCommands(host.context).create(
        "1.0", platform: .iOS, app: host.app, by: host.developer)
      let phased = try await PhasedReleaseCommands(host.context).create(for: appVersion.id, by: host.developer)
      func id(_ sql: String) async throws -> String {
        try await host.context.database.read { try String.fetchOne($0, sql: sql) ?? "" }
      }
      let store = try await host.release(version, .store).id.rawValue, file = try await id("SELECT id FROM uploadFile")
      return [
        "apps": host.app.rawValue, "backgroundAssets": version.packID.rawValue,
        "backgroundAssetVersions": version.id.rawValue, "backgroundAssetUploadFiles": file, "uploads": file,
        "backgroundAssetVersionInternalBetaReleases": try await host.release(version, .internalBeta).id.rawValue,
        "backgroundAssetVersionExternalBetaReleases": try await host.release(version, .externalBeta).id.rawValue,
        "backgroundAssetVersionAppStoreReleases": store, "rollouts": store,
        "reviewSubmissions": submission.id.rawValue, "betaBackgroundAssetReviewSubmissions": beta.id.rawValue,
        "reviewSubmissionItems": try await id("SELECT id FROM submissionItem"), "webhooks": webhook.id.rawValue,
        "webhookDeliveries": try await id("SELECT id FROM delivery"), "appStoreVersions": appVersion.id.rawValue,
        "appStoreVersionPhasedReleases": phased.id.rawValue, "actors": "KEY1",
      ]
    }

    /// Every operation answers for an object of another team, in its path or its body, exactly as for an unknown id.
    @Test func foreignIDsAnswerAsUnknownOnes() async throws {
      let host = try await TestHost(), other = TestKey("KEY2"), own = TestKey()
      try await own.register(in: host)
      try await other.register(in: host, team: host.otherTeam)
      let ids = try await objects(host), unknown = "7b0f3a52-0000-4000-8000-00000000beef"
      try await TestServer.run(host, other) { server async throws in
        let api = HostAPI(context: host.context, signer: host.signer)
        var count = 0
        for route in api.routes
        where route.path.contains("{id}") || route.body?.relationships.contains(where: \.isRequired) == true {
          let parts = route.path.split(separator: "/")
          let type = String(parts.first == "packstore" ? parts[2] : parts[1])
          func answer(_ id: String?) async throws -> String {
            let path = route.path.replacing("{id}", with: id ?? unknown)
            let answer = try await server.send(
              route.method.rawValue, path, try route.body.map { try body($0, id == nil ? nil : ids, id, unknown) })
            var text = answer.fault + (answer.text("errors.0.detail") ?? "")
            for id in ids.values { text = text.replacing(id, with: "ID") }
            return text.replacing(unknown, with: "ID")
          }
          let foreign = try await answer(route.path.contains("{id}") ? ids[type] ?? "x" : ""),
            missing = try await answer(nil)
          #expect(!foreign.hasPrefix("2") && foreign == missing, "\(route.method) \(route.path)")
          count += 1
        }
        #expect(count > 60, "\(count)")
      }
    }

    /// A body with a value for each attribute, and ids of the other team.
    private func body(_ schema: BodySchema, _ ids: [String: String]?, _ id: String?, _ unknown: String) throws -> String
    {
      let attributes = schema.attributes.filter(\.isRequired).map { (name: $0.name, value: value(of: $0.schema)) }
      let relationships = schema.relationships.filter(\.isRequired).map { relationship in
        let data: JSONOutput = ["type": .string(relationship.type), "id": .string(ids?[relationship.type] ?? unknown)]
        return (name: relationship.name, value: ["data": data] as JSONOutput)
      }
      var members: [(name: String, value: JSONOutput)] = [("type", .string(schema.type))]
      if schema.hasID { members.append(("id", .string(id ?? unknown))) }
      members += [("attributes", .object(attributes)), ("relationships", .object(relationships))]
      return String(decoding: JSONOutput.object([("data", .object(members))]).bytes, as: UTF8.self)
    }

    private func value(of schema: ValueSchema) -> JSONOutput {
      switch schema {
      case .text: .string(String(repeating: "1", count: 64))
      case .uri: "https://ci.example.com/"
      case .date: "2027-01-01T00:00:00Z"
      case .boolean: true
      case .integer(let least): .integer(max(1, least))
      case .enumeration(let values): .string(values[0])
      case .list: []
      case .object: [:]
      }
    }

    /// Revocation takes effect for the next request of an open session, for keys and tokens.
    @Test func revokedCredentialsAreRefused() async throws {
      let host = try await TestHost(), key = TestKey(), accounts = AccountCommands(host.context)
      try await key.register(in: host)
      let text = BuildToken.generate(host.context.random)
      let token = TokenRecord(
        id: .init(host.context.random), teamID: host.team, name: "ci", hash: try #require(BuildToken.hash(text)),
        roles: [.developer], appID: nil, createdDate: host.time.now, expirationDate: nil, revokedDate: nil)
      try await host.context.database.write { try token.insert($0) }
      try await TestServer.run(host, key) { server async throws in
        let bearer = try key.bearer(at: host.time.now)
        for (credential, id) in [(bearer, key.id), ("Bearer \(text)", token.id.rawValue)] {
          #expect(try await server.send("GET", "/v1/apps", authorization: credential).status == 200)
          #expect(try await accounts.revoke(id))
          #expect(try await server.send("GET", "/v1/apps", authorization: credential).fault == "401 NOT_AUTHORIZED")
          #expect(try await accounts.revoke(id) == false)
        }
      }
    }

    /// Reservations at the same time never exceed the limit together.
    @Test func quotaHoldsInRaces() async throws {
      let host = try await TestHost(), app = host.app
      try await host.context.database.write {
        try $0.execute(sql: "UPDATE app SET byteLimit = 1000, packLimit = 3 WHERE id = ?", arguments: [app])
      }
      var versions: [VersionRecord] = []
      for _ in 0..<20 { versions.append(try await host.version()) }
      let outcomes = await withTaskGroup(of: String.self) { group in
        for version in versions {
          group.addTask {
            await apiError {
              try await host.uploads.reserve(
                .asset, fileName: "a", byteCount: 150, version: version.id, by: host.developer)
            }
          }
        }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(outcomes == ["no error": 6, "409 STATE_ERROR.LIMIT_REACHED": 14])
      let packs = await withTaskGroup(of: String.self) { group in
        for index in 0..<8 {
          group.addTask {
            await apiError { try await host.packs.create("P\(index)", app: app, by: host.developer) }
          }
        }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(packs == ["no error": 2, "409 STATE_ERROR.LIMIT_REACHED": 6], "one pack exists already")
    }

    /// No request of a submitter, and no work of the host, makes an unapproved version live.
    @Test func nothingIsLiveWithoutApproval() async throws {
      let host = try await TestHost(), releases = ReleaseCommands(host.context)
      try await host.delegate()
      try await host.setApprovals(store: 1)
      let version = try await host.published("one"), release = try await host.release(version, .store)
      let appVersion = try await AppVersionCommands(host.context).create(
        "1.0", platform: .iOS, releaseType: .scheduled, earliestReleaseDate: host.time.now, app: host.app,
        by: host.developer)
      let draft = try await host.submissions.create(app: host.app, platform: nil, by: host.developer)
      for subject in [SubmissionSubject.version(version.id), .appVersion(appVersion.id)] {
        _ = try await host.submissions.add(subject, to: draft.id, by: host.developer)
      }
      _ = try await host.submissions.submit(draft.id, by: host.developer)
      let attempts: [() async throws -> Any] = [
        { try await AppVersionCommands(host.context).release(appVersion.id, by: host.admin) },
        { try await releases.stepBack(to: release.id, by: host.admin) },
        { try await releases.setShare(5000, of: release.id, by: host.admin) },
        { try await host.reviews.approve(draft.id, by: host.principal("ci", kind: .teamKey, role: .admin)) },
        { try await host.reviews.approve(draft.id, by: host.principal("ci", kind: .person, role: .admin)) },
      ]
      for (index, attempt) in attempts.enumerated() {
        #expect(await apiError { try await attempt() } != "no error", "\(index)")
      }
      host.time.advance(seconds: 100 * 86_400)
      for _ in 0..<3 { await host.work() }
      #expect(try await host.offered(.store) == [])
      #expect(try await host.state(version, .store) == .waitingForReview)
    }

    @Test func uploadURLsHaveTheConfiguredBase() async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      let version = try await host.version()
      var options = ServerOptions()
      options.publicURL = "https://packs.example.com"
      try await TestServer.run(host, key, options) { server async throws in
        let answer = try await server.send(
          "POST", "/v1/backgroundAssetUploadFiles",
          Session.body(
            "backgroundAssetUploadFiles", #""assetType":"ASSET","fileName":"a","fileSize":5"#,
            [("backgroundAssetVersion", "backgroundAssetVersions", version.id.rawValue)]),
          fields: ["X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"])
        #expect(
          answer.text("data.attributes.uploadOperations.0.url")?.hasPrefix("https://packs.example.com/u/") == true)
        #expect(answer.fields["location"]?.hasPrefix("https://packs.example.com/v1/") == true)
      }
    }
  }
#endif
