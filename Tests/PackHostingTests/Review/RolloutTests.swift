#if Hosting
  import PackAuthoring
  import PackFormats
  import PackStore
  import Testing

  @testable import PackHosting

  /// Rollouts by the API.
  struct RolloutTests {
    private func bearer(_ name: String, _ host: TestHost) async throws -> String {
      let key = TestKey(name.uppercased())
      try await key.register(in: host, role: .appManager, email: "\(name)@example.com")
      return
        "Bearer \(try key.token(#"{"sub":"user","aud":"appstoreconnect-v1","exp":\#(host.time.now.seconds + 600)}"#))"
    }

    @Test func shareIsChangedByPersons() async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      try await host.delegate()
      let one = try await host.published("one")
      _ = try await host.submit([one])
      await host.work()
      let two = try await host.published("two"), ada = try await bearer("ada", host)
      try await TestServer.run(host, key) { server async throws in
        let session = try await SessionTests.Session(server)
        let found = try await session.send("GET", "/packstore/v1/apps/\(host.app)/rollouts?filter[context]=STORE")
        #expect(found.value("data")?.array?.count == 2)
        let id = try await host.release(two, .store).id.rawValue, path = "/packstore/v1/rollouts/\(id)"
        func set(_ share: String, _ authorization: String?) async throws -> TestAnswer {
          let body = SessionTests.Session.body("rollouts", id: id, #""share":\#(share)"#)
          return try await session.send("PATCH", path, body, authorization: authorization)
        }
        #expect(try await set("500", nil).fault == "403 FORBIDDEN_ERROR", "a team key")
        #expect(try await set("10001", ada).fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
        #expect(try await set("-1", ada).fault == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
        #expect(try await set("null", ada).fault == "409 ENTITY_ERROR.ATTRIBUTE.REQUIRED")
        #expect(try await set("500", ada).value("data.attributes.share")?.integer(Int.self) == 500)
        _ = try await host.submit([two])
        await host.work()
        let live = try await session.send("GET", path)
        #expect(live.text("data.attributes.state") == "READY_FOR_DISTRIBUTION")
        #expect(live.text("data.relationships.fallbackVersion.data.id") == one.id.rawValue)
        #expect(try await session.send("GET", "\(path)/fallbackVersion").text("data.attributes.version") == "1")
        #expect(try await host.offered(.store) == [2, 1])
        for share in ["0", "10000"] { #expect(try await set(share, ada).status == 200) }
        await host.work()
        #expect(try await host.offered(.store) == [2])
        let old = try await host.release(one, .store).id.rawValue
        let body = SessionTests.Session.body("rollouts", id: old, #""share":1"#)
        let refused = try await session.send("PATCH", "/packstore/v1/rollouts/\(old)", body, authorization: ada)
        #expect(refused.fault == "409 STATE_ERROR.ENTITY_STATE_INVALID", "superseded")
        let tester = try await host.release(two, .internalBeta).id
        #expect(try await session.send("GET", "/packstore/v1/rollouts/\(tester)").fault == "404 NOT_FOUND")
      }
    }

    private func releases(_ host: TestHost) throws -> [PackID: [String?]] {
      let live = try Site(existingAt: host.siteFolder).channels().first { $0.channel == .live }
      return Dictionary(
        uniqueKeysWithValues: (live?.packs ?? []).map { ($0.pack, $0.offers.map { $0.release?.id.description }) })
    }

    /// The versions of a submission are installed together, until a person changes the share of one of them.
    @Test func submissionIsARelease() async throws {
      let host = try await TestHost(), commands = ReleaseCommands(host.context)
      try await host.delegate()
      _ = try await host.submit([try await host.published("one"), try await host.published("a", pack: "Sea")])
      await host.work()
      let first = try releases(host), id = try #require(first["City"]?.first)
      #expect(id != nil && first == ["City": [id], "Sea": [id]])
      let alone = try await host.published("two")
      let submission = try await host.submit([alone, try await host.published("b", pack: "Sea")])
      await host.work()
      let next = submission.id.rawValue.replacing("-", with: "")
      #expect(try releases(host) == ["City": [next], "Sea": [next]] && next != id)
      _ = try await commands.setShare(500, of: try await host.release(alone, .store).id, by: host.admin)
      await host.work()
      #expect(try releases(host) == ["City": [nil, id], "Sea": [nil]])
      _ = try await host.submit([try await host.published("three")])
      await host.work()
      #expect(try releases(host) == ["City": [nil], "Sea": [next]])
    }

    /// The share is one of the approved terms: after a change, the same people approve again.
    @Test func changedShareVoidsApprovals() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await host.submit([try await host.published("one")])
      await host.work()
      try await host.setApprovals(store: 2)
      let version = try await host.published("two"), submission = try await host.submit([version])
      let people = ["a", "b"].map { host.principal($0, kind: .person, role: .appManager) }
      #expect(try await host.reviews.approve(submission.id, by: people[0]).state == .inReview)
      let release = try await host.release(version, .store)
      _ = try await ReleaseCommands(host.context).setShare(5000, of: release.id, by: host.admin)
      #expect(
        try await host.reviews.approve(submission.id, by: people[1]).state == .inReview, "one approval of these terms")
      #expect(
        try await host.reviews.approve(submission.id, by: people[0]).state == .completing, "the first person again")
    }

    /// Without an earlier version, a share has no effect: all devices would get the release.
    @Test func firstVersionHasNoShare() async throws {
      let host = try await TestHost(), commands = ReleaseCommands(host.context)
      try await host.delegate()
      let release = try await host.release(try await host.published("one"), .store)
      for share in [0, 500] {
        let error = await apiError { try await commands.setShare(share, of: release.id, by: host.admin) }
        #expect(error == "409 STATE_ERROR.ENTITY_STATE_INVALID", "\(share)")
      }
    }

    /// The person who created the version does not approve it, even if a build job sent its bytes.
    @Test func creatorDoesNotApprove() async throws {
      let host = try await TestHost()
      try await host.delegate()
      try await host.setApprovals(store: 1)
      let creator = host.principal("creator", kind: .person, role: .appManager)
      let pack = try await host.packs.create("City", app: host.app, by: creator)
      let version = try await host.packs.createVersion(of: pack.id, by: creator)
      _ = try await host.upload(try await host.archive(), to: version)
      await host.work()
      let submission = try await host.submit([try await host.version(version.id)])
      #expect(await apiError { try await host.reviews.approve(submission.id, by: creator) } == "403 FORBIDDEN_ERROR")
    }
  }
#endif
