#if Hosting
  import Foundation
  import GRDB
  import Logging
  import PackAuthoring
  import PackDelivery
  import PackFormats
  import PackStore
  import Testing

  @testable import PackHosting

  /// Deltas, which the host builds after a release.
  @Suite struct DeltaJobTests {
    /// Does all work that is due, with deltas.
    private func work(_ host: TestHost) async {
      await WorkLoop(
        host.service, worker: InProcessWorker(), deliveries: DeliveryQueue(host.context, transport: TestReceiver()),
        makesDeltas: true, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      ).runOnce()
    }

    /// Texts that do not compress, and differ in few bytes.
    private func text(_ change: String) -> String {
      var generator = SeededGenerator(seed: 5)
      let noise = (0..<200_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &generator))) }
      return String(noise.prefix(100_000)) + change + String(noise.suffix(100_000))
    }

    private func release(_ change: String, _ host: TestHost) async throws -> VersionRecord {
      let version = try await host.published(text(change))
      _ = try await host.submit([version])
      await host.work()
      return version
    }

    private func deltas(_ host: TestHost) throws -> [SiteRoot.Delta] {
      let bytes = try #require(try Site(existingAt: host.siteFolder).rootBytes(of: .live))
      return try SignedSiteRoot(decoding: bytes, file: "root").root.packs.flatMap(\.deltas)
    }

    private func jobs(_ host: TestHost) async throws -> [DeltaJobRecord] {
      try await host.context.database.read { try DeltaJobRecord.fetchAll($0) }
    }

    @Test func deltaFollowsARelease() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await release("one", host)
      await work(host)
      #expect(try await jobs(host).isEmpty, "nothing was live before")
      let device = try Store(at: host.folder.appending("device"))
      _ = try await device.pull(from: host.siteFolder.string)
      let second = try await release("two", host)
      #expect(
        try await host.state(second, .store) == .readyForDistribution && deltas(host).isEmpty, "no state waits for it")
      await work(host)
      #expect(try await jobs(host).map(\.state) == [.done])
      #expect(try deltas(host).count == 1)
      let channel = try await host.channel(.store)
      #expect(channel.alarm == nil && channel.intendedRoot == nil, "the root with the delta is the recorded one")
      _ = try await device.pull(from: host.siteFolder.string)
      #expect(try device.makeSnapshot().packs.map(\.version.number) == [2])
      let root = try Site(existingAt: host.siteFolder).rootBytes(of: .live)
      await work(host)
      let again = try Site(existingAt: host.siteFolder).rootBytes(of: .live)
      #expect(again == root, "it is built once")
      #expect(try namesInFolder(host.folder.appending("work")).isEmpty)
    }

    /// Equal content needs no delta, and an archived pack gets none.
    @Test func onlyUsefulDeltasAreBuilt() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await release("one", host)
      _ = try await release("one", host)
      await work(host)
      #expect(try await jobs(host).isEmpty)
      let third = try await release("three", host)
      _ = try await ReleaseCommands(host.context).archive(third.packID, by: host.admin)
      await work(host)
      #expect(try await jobs(host).isEmpty)
    }

    /// The machine's faults are repeated three times, and then shown.
    @Test func faultsOfTheMachineAreRepeated() async throws {
      let host = try await TestHost()
      try await host.delegate()
      _ = try await release("one", host)
      _ = try await release("two", host)
      // A file in the place of the folder for scratch data.
      let work = host.folder.appending("work")
      try FileManager.default.removeItem(atPath: work.string)
      try Data().write(to: URL(filePath: work.string))
      for count in 1...3 {
        await self.work(host)
        let job = try #require(try await jobs(host).first)
        #expect(job.faults == count && job.state == (count < 3 ? .waiting : .stuck))
      }
      try FileManager.default.removeItem(atPath: work.string)
      let administration = try Administration(folder: host.folder.string)
      #expect(try await administration.findings().contains { $0.name == "delta" && $0.isFault })
      #expect(try await administration.retryJobs() == 1)
      await self.work(host)
      #expect(try await jobs(host).map(\.state) == [.done])
      #expect(try deltas(host).count == 1)
    }

    /// A delta is built and applied in a folder of its own.
    @Test func proofAppliesTheDelta() async throws {
      let host = try await TestHost()
      try await host.delegate()
      for change in ["one", "two", "three"] { _ = try await release(change, host) }
      let snapshot = try Site(existingAt: host.siteFolder).store.makeSnapshot()
      let versions = try (1...3).map { try #require(snapshot.version(UInt64($0), of: "City")) }
      for (from, to) in [(0, 1), (0, 2), (2, 0)] {
        let folder = host.folder.appending("proof-\(from)-\(to)")
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        let proof = DeltaProof(snapshot: snapshot, from: versions[from], to: versions[to], level: 9)
        let fault = try await proof.fault(in: folder)
        #expect(fault == nil || from > to, "\(fault ?? "")")
      }
    }
  }
#endif
