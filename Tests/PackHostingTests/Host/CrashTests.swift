#if Hosting
  import Foundation
  import GRDB
  import Logging
  import PackAuthoring
  import PackDelivery
  import PackStore
  import SystemPackage
  import Synchronization
  import Testing

  @testable import PackHosting

  /// Ends the host's work before each commit of the database, opens the data folder again, and lets it complete the work.
  struct CrashTests {
    /// Refuses all commits from one on, as if the process had ended before it.
    private final class CommitLimit: TransactionObserver, Sendable {
      struct Reached: Error {}

      private let rest: Mutex<Int>

      init(_ count: Int) { rest = Mutex(count) }

      /// Whether a commit was refused.
      var isReached: Bool { rest.withLock { $0 < 0 } }

      func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
      func databaseDidChange(with event: DatabaseEvent) {}
      func databaseDidCommit(_ database: Database) {}
      func databaseDidRollback(_ database: Database) {}

      func databaseWillCommit() throws {
        let isPermitted = rest.withLock { rest in
          rest = max(rest - 1, -1)
          return rest >= 0
        }
        guard isPermitted else { throw Reached() }
      }
    }

    private func reopen(_ host: TestHost) throws -> HostService {
      try HostService(
        at: host.folder, origin: host.context.origin, clock: host.time, random: host.random)
    }

    private func work(_ service: HostService, rounds: Int) async throws {
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      let loop = WorkLoop(
        service, worker: InProcessWorker(), deliveries: DeliveryQueue(service.context, transport: TestReceiver()),
        logger: logger)
      try await loop.start()
      for _ in 0..<rounds { await loop.runOnce() }
    }

    /// Prepares version 1 in the store, and version 2 of which the archive was committed.
    private func prepared() async throws -> (host: TestHost, first: VersionRecord, second: VersionRecord) {
      let host = try await TestHost()
      try await host.delegate()
      let first = try await host.published("one")
      _ = try await host.submit([first])
      await host.work()
      let second = try await host.version()
      _ = try await host.upload(try await host.archive(["map.txt": "two"]), to: second)
      return (host, first, second)
    }

    private func check(_ host: TestHost, _ first: VersionRecord, _ second: VersionRecord, _ crash: Int) async throws {
      #expect(try await host.version(second.id).state == .complete, "\(crash)")
      #expect(try await host.offered(.store) == [2], "\(crash)")
      #expect(try await host.offered(.internalBeta) == [2], "\(crash)")
      #expect(try await host.state(first, .store) == .superseded, "\(crash)")
      #expect(try await host.state(second, .store) == .readyForDistribution, "\(crash)")
      #expect(try await host.events(.internalRelease).count == 2, "\(crash)")
      #expect(try await host.events(.storeRelease).count == 2, "\(crash)")
      for releaseContext in ReleaseContext.allCases {
        let channel = try await host.channel(releaseContext)
        #expect(channel.alarm == nil && channel.intendedRoot == nil, "\(crash)")
        #expect(channel.writtenRevision == channel.wantedRevision, "\(crash)")
      }
      // No root names a missing file.
      let device = try Store(at: host.folder.appending("device"))
      _ = try await device.pull(from: host.siteFolder.string)
      #expect(try device.packs().map(\.version.number) == [2], "\(crash)")
    }

    @Test func workIsCompletedAfterACrashBeforeAnyCommit() async throws {
      var crash = 0
      while true {
        let (host, first, second) = try await prepared()
        let limit = CommitLimit(crash), service = try reopen(host)
        service.context.database.add(transactionObserver: limit)
        try? await work(service, rounds: 1)
        try service.context.database.close()
        let next = try reopen(host)
        try await work(next, rounds: 2)
        let processed = try await host.version(second.id)
        #expect(processed.state == .complete, "\(crash)")
        _ = try await host.submit([processed])
        let later = CommitLimit(crash), publishing = try reopen(host)
        publishing.context.database.add(transactionObserver: later)
        try? await work(publishing, rounds: 2)
        try publishing.context.database.close()
        try await work(try reopen(host), rounds: 3)
        try await check(host, first, second, crash)
        crash += 1
        guard limit.isReached || later.isReached else { break }
      }
      #expect(crash > 5)
    }
  }
#endif
