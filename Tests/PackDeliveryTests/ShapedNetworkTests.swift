#if Delivery
  import PackStore
  import Synchronization
  import Testing

  @testable import PackDelivery

  /// X11: a simulated network: a seed always gives the same faults, the speed is the specified one, and no real time
  /// passes.
  @Suite struct ShapedNetworkTests {
    // MARK: - Words

    @Test(
      arguments: [
        ("none", "true false nil 0.0 0.0"), ("metered", "false true nil 0.0 0.0"),
        ("100kbps,latency=300ms,loss=5%", "false false 12500 0.05 0.005"), ("8bps", "false false 1 0.0 0.0"),
        ("metered,2Mbps,reset=1.5%", "false true 250000 0.0 0.015"), ("loss=10%,reset=0%", "false false nil 0.1 0.0"),
      ])
    func shapes(text: String, expected: String) throws {
      let shape = try NetworkShape(text)
      let rate = shape.bytesPerSecond.map { "\($0)" } ?? "nil"
      #expect("\(shape.isOffline) \(shape.isMetered) \(rate) \(shape.loss) \(shape.resets)" == expected)
    }

    @Test(
      arguments: [
        "", "fast", "0bps", "7bps", "100", "-1kbps", "9999999999kbps", "999999999Gbps,,", "latency=11s", "latency=5",
        "loss=51%", "loss=5", "loss=-1%", "loss=1.0001%", "reset=100%", "none,", ",", "none;metered", "latency=10001ms",
      ])
    func noShapes(text: String) { #expect(throws: NetworkShape.Fault.self) { try NetworkShape(text) } }

    @Test func retransmissionTime() throws {
      #expect(try NetworkShape("latency=20ms").retransmissionTime == .milliseconds(200))
      #expect(try NetworkShape("latency=300ms").retransmissionTime == .milliseconds(600))
    }

    // MARK: - Chance

    /// Faults depend only on positions, not on the division of bytes into pieces.
    @Test func fateIsByPlaces() throws {
      let shape = try NetworkShape("loss=20%,reset=50%")
      var resets = 0, stalls = 0
      for number in 0..<200 as Range<UInt64> {
        func run(_ piece: Int) -> (byteCount: Int, stallCount: Int) {
          var fate = NetworkFate(seed: 7, name: "bytes=0-9 /a", count: number, shape),
            total = (byteCount: 0, stallCount: 0)
          while total.byteCount < 100_000 {
            let wanted = min(piece, 100_000 - total.byteCount), passed = fate.advance(wanted)
            total.byteCount += passed.byteCount
            total.stallCount += passed.stallCount
            if passed.byteCount < wanted { break }
          }
          return total
        }
        let whole = run(100_000)
        #expect(run(1) == whole && run(1461) == whole && run(16_384) == whole)
        if whole.byteCount < 100_000 { resets += 1 }
        stalls += whole.stallCount
      }
      #expect((60...140).contains(resets))
      #expect((1000...2600).contains(stalls))
    }

    // MARK: - Time

    /// Sleeps end in order, observers do not advance the time, and cancelled sleeps end at once.
    @Test func sleepsEndInOrder() async throws {
      let clock = SimulatedClock(seed: 1), order = Mutex<[Int]>([])
      let watch = Task { try await clock.sleep(.seconds(100_000), drives: false) }
      let cancelled = Task { try await clock.sleep(.seconds(50_000), drives: false) }
      let sleep: @Sendable (Int) async throws -> Void = { seconds in
        try await clock.sleep(.seconds(seconds))
        order.withLock { $0.append(seconds) }
      }
      try await withThrowingTaskGroup { group in
        for seconds in [3600, 5, 60] { group.addTask { try await sleep(seconds) } }
        cancelled.cancel()
        try await group.waitForAll()
      }
      #expect(order.withLock { $0 } == [5, 60, 3600])
      #expect(clock.now >= .seconds(3600) && clock.now < .seconds(50_000))
      watch.cancel()
      await #expect(throws: CancellationError.self) { try await watch.value }
      await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    // MARK: - Transfers

    private struct Result {
      var time = Duration.zero
      var worldTime = Duration.zero
      var exchanges: [ShapedNetwork.Exchange] = []
    }

    /// Reads a file of 300,000 bytes in five parts.
    private func read(_ network: String, seed: UInt64 = 1) async throws -> Result {
      let server = try await FaultServer(["a": HTTPSourceTests.content]), clock = SimulatedClock(seed: seed)
      let seen = Mutex<[ShapedNetwork.Exchange]>([])
      var options = HTTPSource.Options()
      options.clock = clock.transferClock
      options.network = ShapedNetwork(try NetworkShape(network), seed: seed, clock: clock) { exchange in
        seen.withLock { $0.append(exchange) }
      }
      let source = try HTTPSource(server.url, options: options), file = SiteFile("a", byteCount: 300_000)
      do {
        for begin in stride(from: 0, to: 300_000, by: 60_000) {
          let memory = TestBuffer(60_000)
          try await source.read(file, at: UInt64(begin), into: memory.buffer, isFresh: false)
          #expect(memory.bytes == Array(HTTPSourceTests.content[begin..<begin + 60_000]))
        }
      } catch {
        await source.close()
        await server.close()
        throw error
      }
      await source.close()
      await server.close()
      return Result(time: clock.now, worldTime: clock.worldTime, exchanges: seen.withLock { $0 })
    }

    /// 300,000 bytes at 12,500 a second take 24 seconds, and five round trips of 300 ms.
    @Test func rateAndLatency() async throws {
      let result = try await read("100kbps,latency=300ms")
      #expect(result.time > .seconds(24) && result.time - result.worldTime < .seconds(30), "\(result)")
      #expect(result.exchanges.map(\.byteCount) == [Int](repeating: 60_000, count: 5))
      #expect(result.exchanges.allSatisfy { $0.status == 206 && $0.fault == nil && $0.stallCount == 0 })
    }

    /// Losses cost a retransmission time each; the same seed loses the same segments.
    @Test func lossesStall() async throws {
      let first = try await read("latency=200ms,loss=10%,reset=0%"),
        second = try await read("latency=200ms,loss=10%,reset=0%")
      let stalls = first.exchanges.map(\.stallCount)
      #expect(stalls == second.exchanges.map(\.stallCount))
      let total = stalls.reduce(0, +)
      #expect((5...45).contains(total), "of some 205 segments")
      #expect(first.time >= .milliseconds(400) * total + .seconds(1))
      let other = try await read("latency=200ms,loss=10%,reset=0%", seed: 2)
      #expect(other.exchanges.map(\.stallCount) != stalls)
    }

    /// A reset breaks a connection: received bytes stay, and the others are requested.
    @Test func resetsAreTriedAgain() async throws {
      let result = try await read("reset=50%", seed: 3)
      let broken = result.exchanges.filter { $0.fault != nil }
      #expect(!broken.isEmpty && broken.allSatisfy { $0.byteCount < 60_000 })
      #expect(result.exchanges.reduce(0) { $0 + $1.byteCount } == 300_000)
    }

    /// An unreachable server receives no request.
    @Test func noNetwork() async throws {
      await #expect { try await read("none") } throws: { ($0 as? DeliveryError)?.code == .unreachable }
    }
  }
#endif
