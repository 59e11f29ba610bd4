#if Serving
  import NIOCore
  import NIOEmbedded
  import Testing

  @testable import PackServing

  /// What others can cause is bounded. Time is given, not waited for.
  @Suite struct ConnectionTableTests {
    private func channel() throws -> NIOAsyncTestingChannel { NIOAsyncTestingChannel() }

    private func limits(_ adjust: (inout ConnectionTable.Limits) -> Void) -> ConnectionTable.Limits {
      var limits = ConnectionTable.Limits()
      adjust(&limits)
      return limits
    }

    @Test func oneMoreTakesThePlaceOfTheLongestIdle() async throws {
      let table = ConnectionTable(limits { $0.connections = 2 })
      let first = try channel(), second = try channel(), third = try channel(), fourth = try channel()
      #expect(table.admit(first) && table.admit(second))
      let busy = try #require(table.begin(on: first))
      #expect(table.admit(third), "the second one was idle")
      try await second.closeFuture.get()
      let other = try #require(table.begin(on: third))
      #expect(!table.admit(fourth), "both are at work")
      table.end(busy)
      #expect(table.admit(fourth))
      try await first.closeFuture.get()
      table.end(other)
      #expect(table.connectionCount == 2)
    }

    @Test func whatIsIdleOrStalledIsClosed() async throws {
      let table = ConnectionTable(ConnectionTable.Limits())
      let idle = try channel(), busy = try channel(), stalled = try channel()
      for channel in [idle, busy, stalled] { #expect(table.admit(channel)) }
      let transfers = try [busy, stalled].map { try #require(table.begin(on: $0)) }
      let now = ContinuousClock.now
      table.sweep(now: now + .seconds(20))
      #expect(table.connectionCount == 3)
      table.sweep(now: now + .seconds(29))
      #expect(table.connectionCount == 3)
      table.end(transfers[0])
      table.sweep(now: now + .seconds(31))
      for channel in [idle, busy, stalled] { try await channel.closeFuture.get() }
      #expect(table.connectionCount == 0)
    }

    @Test func transfersAreCounted() throws {
      let table = ConnectionTable(limits { $0.transfers = 3 })
      let one = try channel()
      #expect(table.admit(one))
      let transfers = (0..<3).compactMap { _ in table.begin(on: one) }
      #expect(transfers.count == 3 && table.begin(on: one) == nil)
      table.end(transfers[0])
      table.end(transfers[0])
      #expect(table.begin(on: one) != nil && table.begin(on: one) == nil, "ended once")
    }

    @Test func streamsAreCounted() {
      let table = ConnectionTable(limits { $0.streams = 1 })
      #expect(table.beginStream() && !table.beginStream())
      table.endStream()
      #expect(table.beginStream())
      table.endStream()
      table.beginEnd()
      #expect(!table.beginStream() && table.isEnding)
    }

    @Test func anAnswerThatEndsAConnectionLeavesTimeToReadIt() async throws {
      let table = ConnectionTable(ConnectionTable.Limits())
      let one = try channel()
      #expect(table.admit(one))
      table.end(try #require(table.begin(on: one)), closes: true)
      let now = ContinuousClock.now
      table.sweep(now: now + .seconds(1))
      #expect(table.connectionCount == 1)
      table.sweep(now: now + .seconds(3))
      try await one.closeFuture.get()
      #expect(table.connectionCount == 0)
    }
  }
#endif
