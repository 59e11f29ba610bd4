#if Hosting
  import Foundation
  import GRDB
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  @testable import PackHosting

  struct ProcessingTests {
    @Test(arguments: [false, true])
    func processedVersionsReachInternalTesters(isApple: Bool) async throws {
      let host = try await TestHost()
      try await host.delegate()
      let version = try await host.version()
      _ = try await host.upload(try await host.archive(number: 7, isApple: isApple), to: version)
      await host.work()
      let processed = try await host.version(version.id)
      #expect(processed.state == .complete, "\(processed.details)")
      #expect(try await host.offered(.internalBeta) == [1])
      #expect(try await host.offered(.store) == [])
      #expect(try await host.state(version, .internalBeta) == .readyForTesting)
      #expect(try await host.state(version, .externalBeta) == .readyForBetaSubmission)
      #expect(try await host.state(version, .store) == .prepareForSubmission)
      #expect(try await host.events(.internalRelease).count == 1)
      let uploads = try FileManager.default.contentsOfDirectory(atPath: host.folder.appending("uploads").string)
      let work = try FileManager.default.contentsOfDirectory(atPath: host.folder.appending("work").string)
      #expect(uploads.isEmpty && work.isEmpty)
    }

    @Test func equalContentIsAVersionOfItsOwn() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let archive = try await host.archive(number: 41)
      for number in 1...3 {
        let version = try await host.version()
        _ = try await host.upload(archive, to: version)
        await host.work()
        #expect(try await host.version(version.id).state == .complete)
        #expect(try await host.offered(.internalBeta) == [UInt64(number)])
      }
    }

    @Test func attributesComeFromTheArchive() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let attributes = try Attributes(
        json: Array(#"{"platforms": ["iOS", "visionOS", "Linux"], "language": "de"}"#.utf8))
      let version = try await host.version()
      _ = try await host.upload(try await host.archive(attributes: attributes), to: version)
      await host.work()
      let processed = try await host.version(version.id)
      #expect(processed.platforms == [.iOS, .visionOS])
      #expect(processed.allPlatforms == ["Linux", "iOS", "visionOS"])
      #expect(processed.locale == "de")
    }

    @Test func archiveOfAnotherPackFails() async throws {
      let host = try await TestHost()
      try await host.delegate()
      for isApple in [false, true] {
        let version = try await host.version()
        _ = try await host.upload(try await host.archive(of: "Other", isApple: isApple), to: version)
        await host.work()
        let failed = try await host.version(version.id)
        #expect(failed.state == .failed)
        #expect(failed.details.errors.map(\.code) == ["ASSET_PACK_ID_MISMATCH"])
      }
      let event = try #require(try await host.events(.versionState).first)
      #expect(event.contains(#""newState":"FAILED","oldState":"PROCESSING""#), "\(event)")
    }

    @Test(arguments: [
      [], [0], Array("PKSDELT0".utf8), Array("PK\u{3}\u{4}".utf8), [UInt8](repeating: 0x55, count: 100_000),
    ])
    func hostileArchivesFailAtOnce(_ prefix: [UInt8]) async throws {
      let host = try await TestHost()
      try await host.delegate()
      let version = try await host.version()
      _ = try await host.upload(prefix + [1, 2, 3], to: version)
      await host.work()
      #expect(try await host.version(version.id).state == .failed)
      #expect(try await host.offered(.internalBeta) == [])
    }

    @Test func damagedArchiveFails() async throws {
      let host = try await TestHost()
      try await host.delegate()
      var archive = try await host.archive(["a": TestRandom().hex(50_000), "b": "x"])
      archive[archive.count / 2] ^= 0xFF
      let version = try await host.version()
      _ = try await host.upload(archive, to: version)
      await host.work()
      #expect(try await host.version(version.id).state == .failed)
    }

    @Test func wrongChecksumFails() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let version = try await host.version()
      let wrong = UploadChecksums(fileSHA256: String(repeating: "0", count: 64))
      _ = try await host.upload(try await host.archive(), to: version, checksums: wrong)
      await host.work()
      #expect(try await host.version(version.id).details.errors.map(\.code) == ["CHECKSUM_MISMATCH"])
    }

    @Test func faultsOfTheMachineAreRetriedThreeTimes() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let version = try await host.version(), broken = BrokenWorker()
      _ = try await host.upload(try await host.archive(), to: version)
      for _ in 0..<5 { await host.work(broken) }
      #expect(broken.attempts.withLock { $0 } == 3)
      #expect(try await host.version(version.id).state == .processing)
      let administration = try Administration(folder: host.folder.string)
      #expect(try await administration.findings().contains { $0.isFault && $0.state.contains("no space") })
      #expect(try await administration.retryJobs() == 1)
      await host.work()
      #expect(try await host.version(version.id).state == .complete)
    }

    @Test func appWithoutDelegationPublishesNothing() async throws {
      let host = try await TestHost()
      let version = try await host.version()
      _ = try await host.upload(try await host.archive(), to: version)
      await host.work()
      #expect(try await host.version(version.id).state == .processing)
      try await host.delegate()
      await host.work()
      #expect(try await host.version(version.id).state == .complete)
    }

    @Test func deviceReceivesTheVersion() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await host.published("one")
      let second = try await host.published("two")
      let device = try Store(at: host.folder.appending("device"))
      let app = host.app
      let record = try await host.context.database.read { try AppRecord.find($0, key: ["id": app]) }
      let channel = try SiteChannel(record.internalChannel)
      _ = try await device.pull(from: host.siteFolder.string, options: .init(channel: channel))
      #expect(try device.packs().map(\.version.number) == [UInt64(second.number)])
    }

    @Test func workerProcessChecksArchives() async throws {
      let host = try await TestHost()
      try await host.delegate()
      let program = FilePath(
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
          .appending(path: "packstore-host").path(percentEncoded: false))
      let worker = ProcessWorker(executable: program)
      let good = try await host.version(), bad = try await host.version()
      _ = try await host.upload(try await host.archive(), to: good)
      _ = try await host.upload([1, 2, 3], to: bad)
      await host.work(worker)
      #expect(try await host.version(good.id).state == .complete)
      #expect(try await host.version(bad.id).state == .failed)
      let missing = ProcessWorker(executable: "/nonexistent")
      let next = try await host.version()
      _ = try await host.upload(try await host.archive(), to: next)
      await host.work(missing)
      #expect(try await host.version(next.id).state == .processing)
    }
  }
#endif
