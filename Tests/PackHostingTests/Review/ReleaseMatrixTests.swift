#if Hosting
  import PackAuthoring
  import PackStore
  import Testing

  @testable import PackHosting

  /// Version 1 in the store, 2 for external testers, 3 for internal testers, and the moves between them.
  struct ReleaseMatrixTests {
    @Test func eachContextHasItsOwnVersion() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let one = try await host.published("one")
      _ = try await host.submit([one])
      _ = try await host.submissions.submitBeta(one.id, by: host.developer)
      await host.work()
      let two = try await host.published("two")
      _ = try await host.submissions.submitBeta(two.id, by: host.developer)
      await host.work()
      let three = try await host.published("three")
      #expect(try await host.offered(.store) == [1])
      #expect(try await host.offered(.externalBeta) == [2])
      #expect(try await host.offered(.internalBeta) == [3])
      #expect(try await host.state(one, .externalBeta) == .superseded)
      #expect(try await host.state(two, .externalBeta) == .readyForTesting)
      // Promotion of version 2 moves the store, and nothing else.
      _ = try await host.submit([two])
      await host.work()
      #expect(try await host.offered(.store) == [2])
      #expect(try await host.offered(.externalBeta) == [2])
      #expect(try await host.offered(.internalBeta) == [3])
      #expect(try await host.state(one, .store) == .superseded)
      #expect(try await host.state(three, .store) == .prepareForSubmission)
      // A new build keeps the older pack of external testers.
      #expect(try await host.state(three, .internalBeta) == .readyForTesting)
    }

    @Test func stepBackMakesAnOlderVersionLive() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let one = try await host.published("one")
      _ = try await host.submit([one])
      await host.work()
      let two = try await host.published("two")
      _ = try await host.submit([two])
      await host.work()
      let commands = ReleaseCommands(host.context), old = try await host.release(one, .store)
      #expect(await apiError { try await commands.stepBack(to: old.id, by: host.developer) } == "403 FORBIDDEN_ERROR")
      _ = try await commands.stepBack(to: old.id, by: host.admin)
      await host.work()
      #expect(try await host.offered(.store) == [1])
      #expect(try await host.state(two, .store) == .superseded)
      let current = try await host.release(one, .store)
      #expect(
        await apiError { try await commands.stepBack(to: current.id, by: host.admin) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      #expect(await apiError { try await commands.stepBack(to: old.id, by: host.stranger) } == "403 FORBIDDEN_ERROR")
    }

    /// The offers of a pack in the store: version and share.
    private func offers(_ host: TestHost) throws -> [String] {
      let channel = try Site(existingAt: host.siteFolder).channels().first { $0.channel == .live }
      return channel?.packs.first?.offers.map { "\($0.version) \($0.share)" } ?? []
    }

    @Test func releaseInSteps() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let one = try await host.published("one"), commands = ReleaseCommands(host.context)
      _ = try await host.submit([one])
      await host.work()
      let first = try await host.release(one, .store)
      #expect(
        await apiError { try await commands.setShare(500, of: first.id, by: host.admin) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      let two = try await host.published("two"), release = try await host.release(two, .store)
      #expect(
        await apiError { try await commands.setShare(500, of: release.id, by: host.developer) } == "403 FORBIDDEN_ERROR"
      )
      #expect(
        await apiError { try await commands.setShare(10_001, of: release.id, by: host.admin) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
      _ = try await commands.setShare(500, of: release.id, by: host.admin)
      _ = try await host.submit([two])
      await host.work()
      #expect(try offers(host) == ["2 5%", "1 100%"])
      #expect(try await host.state(two, .store) == .readyForDistribution)
      #expect(try await host.state(one, .store) == .superseded)
      for (share, expected) in [(5000, ["2 50%", "1 100%"]), (0, ["2 0%", "1 100%"])] {
        _ = try await commands.setShare(share, of: release.id, by: host.admin)
        await host.work()
        #expect(try offers(host) == expected)
      }
      // A release after a halted one has the last complete release as its fallback.
      let three = try await host.published("three")
      _ = try await commands.setShare(100, of: try await host.release(three, .store).id, by: host.admin)
      _ = try await host.submit([three])
      await host.work()
      #expect(try offers(host) == ["3 1%", "1 100%"])
      _ = try await commands.setShare(10_000, of: try await host.release(three, .store).id, by: host.admin)
      await host.work()
      #expect(try offers(host) == ["3 100%"])
      _ = try await commands.stepBack(to: first.id, by: host.admin)
      await host.work()
      #expect(try offers(host) == ["1 100%"])
    }

    @Test func archivedPackIsLiveNowhere() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let one = try await host.published("one")
      _ = try await host.submit([one])
      await host.work()
      let other = try await host.published("other", pack: "Town"), two = try await host.published("two")
      let open = try await host.submit([two, other])
      let pack = try await ReleaseCommands(host.context).archive(one.packID, by: host.developer)
      #expect(pack.archived)
      await host.work()
      #expect(try await host.offered(.store) == [])
      #expect(try await host.offered(.internalBeta) == [])
      #expect(try await host.offered(.store, pack: "Town") == [1])
      #expect(try await host.submission(open.id).state == .complete)
      #expect(
        await apiError { try await host.packs.createVersion(of: one.packID, by: host.developer) }
          == "409 STATE_ERROR.ENTITY_STATE_INVALID")
      #expect(
        await apiError { try await host.packs.create("City", app: host.app, by: host.developer) }
          == "409 ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE")
    }

    @Test func olderJobThatEndsLastDoesNotBecomeLive() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let one = try await host.version(), two = try await host.version()
      _ = try await host.upload(try await host.archive(["a": "2"]), to: two)
      await host.work()
      _ = try await host.upload(try await host.archive(["a": "1"]), to: one)
      await host.work()
      #expect(try await host.version(one.id).state == .complete)
      #expect(try await host.state(one, .internalBeta) == .superseded)
      #expect(try await host.offered(.internalBeta) == [2])
    }

    @Test func severalPacksMoveByOneRoot() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let packs: [PackID] = ["A", "B", "C"]
      var versions: [VersionRecord] = []
      for pack in packs { versions.append(try await host.published("one", pack: pack)) }
      _ = try await host.submit(versions)
      await host.work()
      let before = try await host.channel(.store)
      #expect(before.wantedRevision == 1 && before.writtenRevision == 1)
      for pack in packs { #expect(try await host.offered(.store, pack: pack) == [1]) }
    }
  }
#endif
