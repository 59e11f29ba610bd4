#if Hosting
  import Foundation
  import GRDB
  import PackAuthoring
  import PackStore
  import Testing

  @testable import PackHosting

  struct ReconciliationTests {
    private func root(_ host: TestHost, _ releaseContext: ReleaseContext) async throws -> URL {
      let channel = try await host.channel(releaseContext)
      let name = releaseContext == .store ? "root" : "roots/\(channel.name)"
      return URL(filePath: host.siteFolder.appending(name).string)
    }

    /// The root was stored as intended, and the host ended before it wrote the root.
    @Test func crashBeforeTheWriteWritesTheSameBytes() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await host.published("one")
      let file = try await root(host, .internalBeta), before = try Data(contentsOf: file)
      let digestBefore = try await host.channel(.internalBeta).writtenDigest
      _ = try await host.published("two")
      let after = try Data(contentsOf: file)
      try before.write(to: file)
      let app = host.app
      try await host.context.database.write {
        try $0.execute(
          sql:
            "UPDATE channel SET intendedRoot = ?, intendedRevision = writtenRevision, writtenDigest = ? WHERE appID = ? AND context = ?",
          arguments: [after, digestBefore, app, ReleaseContext.internalBeta])
      }
      await host.work()
      #expect(try Data(contentsOf: file) == after)
      let channel = try await host.channel(.internalBeta)
      #expect(channel.alarm == nil && channel.intendedRoot == nil && channel.writtenDigest != digestBefore)
    }

    /// The root was written, and the host ended before it recorded that.
    @Test func crashAfterTheWriteMakesReleasesLive() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let version = try await host.published("one")
      _ = try await host.submit([version])
      await host.work()
      #expect(try await host.state(version, .store) == .readyForDistribution)
      let file = try await root(host, .store), bytes = try Data(contentsOf: file), app = host.app
      try await host.context.database.write { database in
        try database.execute(
          sql:
            "UPDATE channel SET intendedRoot = ?, intendedRevision = wantedRevision, writtenDigest = NULL WHERE appID = ? AND context = ?",
          arguments: [bytes, app, ReleaseContext.store])
        try database.execute(
          sql: "UPDATE release SET state = 'PROCESSING_FOR_DISTRIBUTION' WHERE versionID = ? AND context = 'STORE'",
          arguments: [version.id])
      }
      await host.work()
      #expect(try await host.state(version, .store) == .readyForDistribution)
      #expect(try await host.channel(.store).intendedRoot == nil)
      #expect(try await host.events(.storeRelease).count == 2)
    }

    /// An older root takes the place of the recorded one, as after the restore of a backup.
    private func hostWithForeignRoot() async throws -> (TestHost, VersionRecord, VersionRecord, Data) {
      let host = try await TestHost()
      try await host.delegate()
      let first = try await host.published("one")
      _ = try await host.submit([first])
      await host.work()
      let file = try await root(host, .store), old = try Data(contentsOf: file)
      let second = try await host.published("two")
      _ = try await host.submit([second])
      await host.work()
      #expect(try await host.offered(.store) == [2])
      try old.write(to: file)
      return (host, first, second, old)
    }

    @Test func foreignRootRaisesAnAlarm() async throws {
      let (host, _, _, old) = try await hostWithForeignRoot()
      let third = try await host.published("three")
      #expect(try await host.channel(.store).alarm != nil)
      _ = try await host.submit([third])
      await host.work()
      #expect(try Data(contentsOf: try await root(host, .store)) == old)
      #expect(try await host.state(third, .store) == .processingForDistribution)
      #expect(try await Administration(folder: host.folder.string).findings().contains { $0.isFault })
    }

    @Test func adoptingTakesThePublishedRoot() async throws {
      let (host, first, second, _) = try await hostWithForeignRoot()
      await host.work()
      let publisher = try #require(try await host.service.publisher(of: host.app))
      try await publisher.recover()
      #expect(try await host.channel(.store).alarm != nil)
      let administration = try Administration(folder: host.folder.string)
      let app = try await administration.reconcile(app: "com.example.city", .adopt)
      #expect(app.alarms.isEmpty)
      #expect(try await host.state(first, .store) == .readyForDistribution)
      #expect(try await host.state(second, .store) == .superseded)
      await host.work()
      #expect(try await host.offered(.store) == [1])
    }

    @Test func overrulingWritesTheRecords() async throws {
      let (host, first, second, old) = try await hostWithForeignRoot()
      let publisher = try #require(try await host.service.publisher(of: host.app))
      try await publisher.recover()
      try await publisher.overrule()
      #expect(try await host.offered(.store) == [2])
      #expect(try Data(contentsOf: try await root(host, .store)) != old)
      #expect(try await host.state(second, .store) == .readyForDistribution)
      #expect(try await host.state(first, .store) == .superseded)
      #expect(try await host.channel(.store).alarm == nil)
    }

    @Test func replacedChannelIsClosed() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await host.published("one")
      let old = try await host.channel(.internalBeta).name
      let app = try await AppCommands(host.context).replaceChannel(.internalBeta, of: host.app, by: host.admin)
      #expect(app.internalChannel != old && app.internalChannel.utf8.count == "internal-".utf8.count + 32)
      await host.work()
      #expect(try await host.offered(.internalBeta) == [1])
      let closed = try Site(existingAt: host.siteFolder).channels().first { $0.channel.name == old }
      #expect(closed?.isClosed == true && closed?.packs.isEmpty == true)
      #expect(try await host.channel(.internalBeta).alarm == nil)
      let error = await apiError {
        try await AppCommands(host.context).replaceChannel(.store, of: host.app, by: host.admin)
      }
      #expect(error == "409 STATE_ERROR.ENTITY_STATE_INVALID")
    }

    @Test func restoredHostHasNoOpenSecrets() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      let file = try await host.uploads.reserve(
        .asset, fileName: "a", byteCount: 4, version: version.id, by: host.developer)
      let target = try #require(try await host.uploads.operations(of: file, origin: "").first?.url)
      let administration = try Administration(folder: host.folder.string)
      let token = try await administration.createToken(
        name: "ci", roles: ["developer"], app: nil, team: "Team", days: nil)
      #expect(try await administration.noteRestore() == 1)
      #expect(try await administration.revoke(token.id) == false)
      #expect(await apiError { try await host.put([1, 2, 3, 4], to: target) } == "410 GONE")
      let next = try HostService(at: host.folder, origin: "", clock: host.time, random: host.random)
      let uploads = UploadCommands(next.context, signer: next.signer)
      let error = await apiError { try await uploads.receivePart(method: "PUT", target: target, contentLength: 4) }
      #expect(error == "403 FORBIDDEN_ERROR")
    }

    @Test func answerToAnotherRequestIsRefused() async throws {
      let host = try await TestHost()
      let apps = AppCommands(host.context), root = host.folder.appending("offline.key")
      try SiteKey().write(to: root)
      let other = try await apps.delegationRequest(of: host.otherApp, by: AccountCommands.operatorOf(host.otherTeam))
      let answer = try SiteKey.answer(other, by: root)
      for text in [answer, "", "delegation AAAA\n", "packstore secret key\n"] {
        let error = await apiError { try await apps.importDelegation(text, app: host.app, by: host.admin) }
        #expect(error == "409 ENTITY_ERROR.ATTRIBUTE.INVALID")
      }
      #expect(try await host.service.publisher(of: host.app).map { _ in true } == nil)
    }

    @Test func rootKeyNeverReachesTheHost() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let files = try FileManager.default.subpathsOfDirectory(atPath: host.folder.appending("apps").string)
      #expect(
        files.filter { $0.hasSuffix(".key") }.allSatisfy { $0.hasSuffix("release.key") || $0.hasSuffix("pending.key") })
      let key = try SiteKey(contentsOf: AppFolder(host.app, in: host.folder).releaseKey)
      #expect(key.rootKey != key.publicKey)
    }
  }
#endif
