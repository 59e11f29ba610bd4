#if Hosting
  import GRDB
  import Testing

  @testable import PackHosting

  /// Phased releases of app versions follow the clock, and pauses stop it.
  struct PhasedReleaseTests {
    private func fault(_ code: String) -> String { "409 \(code)" }

    private func release(_ host: TestHost) async throws -> (PhasedReleaseRecord, AppVersionRecord) {
      let version = try await AppVersionCommands(host.context).create(
        "1.0", platform: .iOS, app: host.app, by: host.developer)
      return (try await PhasedReleaseCommands(host.context).create(for: version.id, by: host.developer), version)
    }

    private func read(_ host: TestHost, _ release: PhasedReleaseRecord) async throws -> PhasedReleaseRecord {
      try await host.context.database.read { try PhasedReleaseRecord.find($0, key: ["id": release.id]) }
    }

    private func publish(_ host: TestHost, _ version: AppVersionRecord) async throws {
      let draft = try await host.submissions.create(app: host.app, platform: nil, by: host.developer)
      _ = try await host.submissions.add(.appVersion(version.id), to: draft.id, by: host.developer)
      _ = try await host.submissions.submit(draft.id, by: host.developer)
      await host.work()
    }

    @Test func daysPassFromTheRelease() async throws {
      let host = try await TestHost()
      let (phased, version) = try await release(host)
      #expect(phased.state == .inactive && phased.day(at: host.time.now) == nil)
      host.time.advance(seconds: 86_400)
      try await publish(host, version)
      var now = try await read(host, phased)
      #expect(now.state == .active && now.day(at: host.time.now) == 1)
      host.time.advance(seconds: 6 * 86_400 + 86_399)
      await host.work()
      now = try await read(host, phased)
      #expect(now.state == .active && now.day(at: host.time.now) == 7)
      host.time.advance(seconds: 1)
      await host.work()
      #expect(try await read(host, phased).state == .complete)
    }

    @Test func pausesStopTheDays() async throws {
      let host = try await TestHost(), commands = PhasedReleaseCommands(host.context)
      let (phased, version) = try await release(host)
      try await publish(host, version)
      host.time.advance(seconds: 2 * 86_400)
      try await commands.update(phased.id, to: .paused, by: host.admin)
      host.time.advance(seconds: 5 * 86_400)
      var now = try await read(host, phased)
      #expect(now.day(at: host.time.now) == 3 && now.pausedSeconds(at: host.time.now) == 5 * 86_400)
      try await commands.update(phased.id, to: .active, by: host.admin)
      try await commands.update(phased.id, to: .paused, by: host.admin)
      host.time.advance(seconds: 100 * 86_400)
      await host.work()
      now = try await read(host, phased)
      #expect(now.state == .complete, "the longest pause ended after 30 days in all, and the days followed")
    }

    @Test func changesOutsideOfTheTableAreRefused() async throws {
      let host = try await TestHost(), commands = PhasedReleaseCommands(host.context)
      let (phased, version) = try await release(host)
      for state in [PhasedReleaseStates.State.active, .paused, .complete] {
        let error = await apiError { try await commands.update(phased.id, to: state, by: host.admin) }
        #expect(error == fault("ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE"), "\(state)")
      }
      #expect(
        await apiError { try await commands.update(phased.id, to: nil, by: host.developer) } == "403 FORBIDDEN_ERROR")
      #expect(
        await apiError { try await commands.update(phased.id, to: nil, by: host.stranger) } == "403 FORBIDDEN_ERROR")
      #expect(
        await apiError { try await commands.create(for: version.id, by: host.developer) }
          == fault("STATE_ERROR.ALREADY_EXISTS"))
      #expect(
        await apiError { try await commands.create(for: version.id, by: host.stranger) }
          == fault("ENTITY_ERROR.RELATIONSHIP.INVALID"))
      try await commands.delete(phased.id, by: host.developer)
      let again = try await commands.create(for: version.id, by: host.developer)
      try await publish(host, version)
      #expect(
        await apiError { try await commands.delete(again.id, by: host.developer) }
          == fault("STATE_ERROR.ENTITY_STATE_INVALID"))
      #expect(
        await apiError { try await commands.create(for: version.id, by: host.developer) }
          == fault("STATE_ERROR.ENTITY_STATE_INVALID"))
    }

    @Test func deletedAppVersionTakesItsPhasedReleaseAlong() async throws {
      let host = try await TestHost()
      let (phased, version) = try await release(host)
      try await AppVersionCommands(host.context).delete(version.id, by: host.developer)
      #expect(
        await apiError { try await PhasedReleaseCommands(host.context).delete(phased.id, by: host.developer) }
          == "404 NOT_FOUND")
    }
  }
#endif
