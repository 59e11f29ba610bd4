#if Delivery
  import Foundation
  import NIOCore
  import PackStore
  import Synchronization
  import SystemPackage
  import Testing

  @testable import PackDelivery

  /// Servers that hold a client up: each limit ends the wait.
  extension HTTPSourceTests {
    /// The clock advances quickly, but not while a server answers.
    private func withSlowServer(
      _ adjust: (inout HTTPSource.Options) -> Void = { _ in }, fault: @escaping FaultServer.Fault,
      _ body: (HTTPSource, FaultServer) async throws -> Void
    ) async throws {
      var options = HTTPSource.Options()
      options.retry.attemptLimit = 3
      adjust(&options)
      try await withSource(options: options, fault: fault) { source, server in
        server.state.withLock { $0.secondLength = .microseconds(200) }
        try await body(source, server)
      }
    }

    /// Answers may be late, as they are where time goes by quickly and the machine has other work.
    private static func rateAlone(_ options: inout HTTPSource.Options) {
      options.limits.answerLimit = .seconds(1_000_000)
    }

    @Test func anAnswerMustBeginInTime() async throws {
      let fault: FaultServer.Fault = { _, reply in
        reply.raw = Array("HTTP/1.1 200 OK\r\nX-Slow: ".utf8)
        reply.end = .stall
      }
      try await withSlowServer({ $0.limits.minimumByteRate = 0 }, fault: fault) { source, server in
        let error = try await expectError(.unreachable) { try await source.readWhole("root", upTo: 10) }
        #expect(error?.reason == "received no answer for 30.0 seconds")
        #expect(server.requests.count == 3, "each attempt had its time")
      }
      try await withSlowServer({ $0.limits.answerLimit = .seconds(5) }, fault: fault) { source, _ in
        let error = try await expectError(.unreachable) { try await read(source, 0..<10) }
        #expect(error?.reason == "received no answer for 5.0 seconds")
      }
    }

    /// Interim answers are none.
    @Test func interimAnswersDoNotCount() async throws {
      try await withSlowServer(
        { $0.retry.attemptLimit = 1 },
        fault: { _, reply in
          reply.raw = Array(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 1000).utf8)
          reply.end = .drip(40)
        }
      ) { source, _ in
        let error = try await expectError(.unreachable) { try await source.readWhole("root", upTo: 10) }
        #expect(error?.reason == "received no answer for 30.0 seconds")
      }
    }

    /// One byte a second is enough to be no stall, and too little.
    @Test func bytesMustComeAtARate() async throws {
      let fault: FaultServer.Fault = { _, reply in reply.end = .drip(100) }
      try await withSlowServer(Self.rateAlone, fault: fault) { source, server in
        let error = try await expectError(.unreachable) { try await read(source, 0..<100_000) }
        #expect(error?.reason == "received less than 1.0 kB a second for 60.0 seconds, twice")
        #expect(server.requests.count == 2)
      }
      // The rate also applies to a stream.
      try await withSlowServer(
        Self.rateAlone,
        fault: { request, reply in
          reply.status = 200
          reply.set("Content-Range", nil)
          reply.end = .drip(100)
        }
      ) { source, server in
        let stream = try await source.stream(Self.file)
        let memory = TestBuffer(100_000)
        let error = try await expectError(.unreachable) { try await stream.read(at: 0, into: memory.buffer) }
        #expect(error?.reason.hasSuffix("twice") == true)
      }
    }

    /// Many short answers make no rate either.
    @Test func requestsForAByteEachAreSlow() async throws {
      try await withSlowServer(
        Self.rateAlone,
        fault: { request, reply in
          guard let first = request.range?.lowerBound else { return }
          reply.body = Array(reply.body.prefix(1))
          reply.set("Content-Range", "bytes \(first)-\(first)/300000")
          reply.end = .drip(20)  // also of the head
        }
      ) { source, server in
        let error = try await expectError(.unreachable) { try await read(source, 1..<100_000) }
        #expect(error?.reason.hasSuffix("twice") == true)
      }
    }

    /// A byte before each break does not make it the first break.
    @Test func aByteBeforeEachBreakIsNoProgress() async throws {
      try await withSlowServer(fault: { _, reply in
        reply.declaredLength = reply.body.count
        reply.sentCount = 1
        reply.end = .close
      }) { source, server in
        _ = try await expectError(.unreachable) { try await read(source, 1..<100_000) }
        #expect(server.requests.count == 3)
      }
    }

    @Test func theRootMustComeInTime() async throws {
      // Without the other limits: on a busy machine the client measures a lower rate than the server's.
      let root = noise(2_000_000, seed: 4)
      try await withSlowServer(
        {
          Self.rateAlone(&$0)
          $0.limits.minimumByteRate = 0
        }, fault: { _, reply in reply.end = .drip(2048) }
      ) { source, server in
        server.state.withLock { $0.files["root"] = root }
        let error = try await expectError(.unreachable) { try await source.readWhole("root", upTo: 16 << 20) }
        #expect(error?.reason == "not received within 120.0 seconds")
        #expect(server.requests.count == 1)
      }
      // Attempts and delays count together.
      try await withSlowServer(
        { $0.limits.rootLimit = .seconds(3) },
        fault: { _, reply in
          reply.status = 503
          reply.set("Retry-After", "4")
        }
      ) { source, server in
        let error = try await expectError(.unreachable) { try await source.readWhole("root", upTo: 10) }
        #expect(error?.reason == "not received within 3.0 seconds")
        #expect(server.requests.count == 1 && time.delays == [])
      }
    }

    @Test func whatTheUserHoldsUpIsNotSlow() async throws {
      let watch = TransferWatch(stallLimit: .seconds(20), .init(), time.clock())
      let held = AsyncStream<Void>.makeStream(), released = AsyncStream<Void>.makeStream()
      let transfer = Task {
        try await watch.run(TimeBudget(.seconds(120))) { pulse in
          try await pulse.hold {
            held.continuation.yield()
            for await _ in released.stream { break }
          }
          return 7
        }
      }
      for await _ in held.stream { break }
      for _ in 0..<1000 {
        time.pass(.seconds(1))
        await Task.yield()
      }
      released.continuation.yield()
      let value = try await transfer.value
      #expect(value == 7)
    }

    @Test func isCancelledWhileItWaitsForAnAnswer() async throws {
      let asked = AsyncStream<Void>.makeStream()
      let fault: FaultServer.Fault = { _, reply in
        reply.raw = Array("HTTP/1.1 ".utf8)
        asked.continuation.yield()
      }
      try await withSource(fault: fault) { source, server in
        for body in [
          { @Sendable in _ = try await source.readWhole("root", upTo: 10) },
          { @Sendable in _ = try await self.read(source, 0..<10) },
          { @Sendable in _ = try await self.read(source, 0..<10, isFresh: true) },
          { @Sendable in try await source.stream(Self.file).read(at: 0, into: TestBuffer(10).buffer) },
        ] {
          let reading = Task { try await body() }
          for await _ in asked.stream { break }
          reading.cancel()
          await #expect(throws: CancellationError.self) { try await reading.value }
        }
        #expect(server.requests.count == 4)
      }
    }

    // MARK: - The measure

    @Test func theFloorMeasuresWindows() {
      let floor = RateFloor(bytesPerSecond: 100, window: .seconds(60))
      floor.begin()
      func pass(_ seconds: Int, _ bytesPerSecond: Int, since epoch: Int = 0) -> [RateFloor.Verdict] {
        (0..<seconds).map { _ in
          floor.record(bytesPerSecond)
          return floor.pass(.seconds(1), since: epoch)
        }
      }
      func secondsUntil(_ verdict: RateFloor.Verdict, since epoch: Int) -> Int {
        (1...1000).first { _ in pass(1, 0, since: epoch) == [verdict] } ?? 0
      }
      #expect(Set(pass(600, 100)) == [.fine])
      // A minute without a byte after a second that makes up for it.
      floor.record(6000)
      #expect((60...70).contains(secondsUntil(.slow, since: 0)))
      #expect(floor.epoch == 1)
      // A transfer that began afterwards is not to blame; a good window makes the next bad one the first again.
      #expect(Set(pass(120, 100, since: 1)) == [.fine])
      #expect((1...70).contains(secondsUntil(.slow, since: 1)))
      #expect((60...61).contains(secondsUntil(.slowAgain, since: 2)))
    }

    @Test func transfersShareTheirTime() {
      let floor = RateFloor(bytesPerSecond: 100, window: .seconds(60))
      for _ in 0..<6 { floor.begin() }
      for _ in 0..<600 {
        floor.record(100)
        for _ in 0..<6 { #expect(floor.pass(.seconds(1), since: 0) == .fine) }
      }
      #expect(RateFloor(bytesPerSecond: 0, window: .seconds(1)).pass(.seconds(100), since: 0) == .fine)
      // Values that a user can set; no sum of them may overflow.
      let odd = RateFloor(bytesPerSecond: .max, window: .seconds(Int64.max))
      odd.begin()
      odd.record(1)
      #expect(odd.pass(.seconds(Int64.max), since: 0) != .slowAgain)
    }
  }

  // MARK: - Metadata, and waiting writers

  extension SitePullTests {
    @Test(arguments: [true, false]) func metadataHasACeiling(hasRanges: Bool) async throws {
      let server = try await FaultServer(try await publish(Self.first), hasRanges: hasRanges, time: time)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      var options = options
      options.limits.metadataByteLimit = 2000
      options.limits.metadataShare = 0
      do {
        try await store.pull(from: server.url, options: options)
        Issue.record("it was pulled")
      } catch let error as DeliveryError {
        #expect(error.code == .badResponse)
        #expect(error.code == .badResponse && error.limit == .metadata)
      }
      #expect(server.requests.allSatisfy { ($0.range?.count ?? 0) < 2000 || $0.path.hasSuffix("root") })
      // Twenty times as much, by its share of the version's 1.9 MB.
      options.limits.metadataShare = 0.05
      try await store.pull(from: server.url, options: options)
      try expect(store, Self.first)
      await server.close()
    }

    /// The size is the manifest's word: it does not take the limit away.
    @Test func theShareOfMetadataHasACeiling() {
      var limits = Store.PullOptions.NetworkLimits()
      let most = Store.PullOptions.NetworkLimits.metadataShareLimit
      #expect(limits.metadataByteLimit(versionByteCount: 1000) == 64 << 20 + 50)
      for size in [1 << 50, UInt64.max] {
        #expect(limits.metadataByteLimit(versionByteCount: size) == 64 << 20 + most)
      }
      for share in [1, 1e300, .infinity] {
        limits.metadataShare = share
        #expect(limits.metadataByteLimit(versionByteCount: .max) == 64 << 20 + most)
      }
      limits.metadataByteLimit = .max
      #expect(limits.metadataByteLimit(versionByteCount: .max) == .max)
      limits.metadataByteLimit = .min
      limits.metadataShare = .nan
      #expect(limits.metadataByteLimit(versionByteCount: .max) == 0)
    }

    /// While a pull waits for a server that is silent, nothing waits for the pull.
    @Test(arguments: ["root", "versions/", "frames/", "segments/"])
    func othersDoNotWaitForTheNetwork(silent: String) async throws {
      let server = try await FaultServer(try await publish(Self.first), time: time)
      let asked = AsyncStream<Void>.makeStream()
      server.replaceFault { request, reply in
        guard request.path.hasPrefix("site/\(silent)") else { return }
        reply.raw = []
        asked.continuation.yield()
      }
      let store = try Store(at: FilePath("\(folder.path)/store"))
      let options = options
      let pulling = Task { try await store.pull(from: server.url, options: options) }
      for await _ in asked.stream { break }
      try folder.write([1, 2, 3], to: "mine/asset")
      let other = try Store(at: FilePath("\(folder.path)/store"))
      try await other.install(folder: FilePath("\(folder.path)/mine"), as: "Mine")
      #expect(try Array(other.contents(of: "asset")) == [1, 2, 3])
      _ = try TrustFile(inStore: FilePath("\(folder.path)/store")).update { $0 }
      // Another pull of the same site fails at once if it does not wait.
      var impatient = options
      impatient.waitsForWriters = false
      server.replaceFault(nil)
      if silent == "root" || silent == "versions/" {
        try await other.pull(from: server.url, options: impatient)
      } else {
        await #expect(throws: PackStoreError.self) { try await other.pull(from: server.url, options: impatient) }
      }
      pulling.cancel()
      await #expect(throws: CancellationError.self) { try await pulling.value }
      try await other.pull(from: server.url, options: options)
      try expect(other, Self.first)
      await server.close()
    }

    @Test func limitsOfAnySizeAreTaken() async throws {
      let server = try await FaultServer(try await publish(Self.first), time: time)
      for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
        for number in [Int.max, .min] {
          let store = try Store(at: FilePath("\(folder.path)/store-\(duration)-\(number)"))
          var options = options
          options.stallLimit = max(duration, .seconds(20))
          options.byteRateLimit = .max
          options.attemptLimit = .max
          options.limits.answerLimit = max(duration, .seconds(20))
          options.limits.slowLimit = duration
          options.limits.minimumByteRate = duration > .zero ? number : 0
          options.limits.rootLimit = max(duration, .seconds(20))
          options.limits.metadataByteLimit = max(number, 1 << 20)
          options.limits.metadataShare = number > 0 ? .infinity : .nan
          options.limits.redirectLimit = number
          try await store.pull(from: server.url, options: options)
        }
      }
      await server.close()
    }
  }
#endif
