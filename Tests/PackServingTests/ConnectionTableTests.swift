#if Serving
  import NIOCore
  import NIOEmbedded
  import Testing

  @testable import PackServer
  @testable import PackServing

  /// Clients can cause a bounded amount of work only. Time passes only if a test advances it.
  @Suite struct ConnectionTableTests {
    private let time = ManualTime()

    private func channel() throws -> NIOAsyncTestingChannel { NIOAsyncTestingChannel() }

    private func table(_ adjust: (inout ConnectionTable.Limits) -> Void = { _ in }) -> ConnectionTable {
      var limits = ConnectionTable.Limits()
      adjust(&limits)
      return ConnectionTable(limits, now: { [time] in time.now })
    }

    /// Advances time, and closes the connections that are due.
    private func sweep(_ table: ConnectionTable, after duration: Duration) {
      time.advance(by: duration)
      table.sweep()
    }

    @Test func oneMoreTakesThePlaceOfTheLongestIdle() async throws {
      let table = table { $0.connections = 2 }
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

    /// One machine takes neither all connections nor all transfers.
    @Test func oneAddressCannotShutOthersOut() async throws {
      let table = table { limits in
        limits.connections = 4
        limits.connectionsOfAddress = 2
        limits.transfersOfAddress = 3
      }
      func client(at address: String) async throws -> NIOAsyncTestingChannel {
        let channel = NIOAsyncTestingChannel()
        try await channel.connect(to: SocketAddress(ipAddress: address, port: 1))
        return channel
      }
      let first = try await client(at: "10.0.0.1"), second = try await client(at: "10.0.0.1")
      let third = try await client(at: "10.0.0.1"), other = try await client(at: "10.0.0.2")
      #expect(table.admit(first) && table.admit(second) && table.admit(other))
      let transfers = (0..<3).compactMap { table.begin(on: $0 == 2 ? second : first) }
      #expect(transfers.count == 3 && table.begin(on: second) == nil)
      #expect(!table.admit(third), "both of its address are at work")
      #expect(table.begin(on: other) != nil)
      table.end(transfers[2])
      #expect(table.admit(third), "the second one is idle")
      try await second.closeFuture.get()
      #expect(table.connectionCount == 3)
    }

    /// A client that receives a byte now and then never stalls.
    @Test func transferIsClosedAtItsDeadline() async throws {
      let table = table()
      let slow = try channel()
      #expect(table.admit(slow))
      let transfer = try #require(table.begin(on: slow))
      table.limit(transfer, to: .seconds(50))
      for _ in 0..<2 {
        sweep(table, after: .seconds(24))
        table.progress(transfer)
        #expect(table.connectionCount == 1)
      }
      sweep(table, after: .seconds(2))
      try await slow.closeFuture.get()
    }

    @Test func whatIsIdleOrStalledIsClosed() async throws {
      let table = table()
      let idle = try channel(), busy = try channel(), stalled = try channel()
      for channel in [idle, busy, stalled] { #expect(table.admit(channel)) }
      let transfers = try [busy, stalled].map { try #require(table.begin(on: $0)) }
      sweep(table, after: .seconds(20))
      #expect(table.connectionCount == 3)
      table.end(transfers[0])
      sweep(table, after: .seconds(10))
      #expect(table.connectionCount == 3, "exactly the limit")
      sweep(table, after: .seconds(1))
      for channel in [idle, stalled] { try await channel.closeFuture.get() }
      #expect(table.connectionCount == 1, "idle for 11 seconds")
      sweep(table, after: .seconds(20))
      try await busy.closeFuture.get()
      #expect(table.connectionCount == 0)
    }

    @Test func transfersAreCounted() throws {
      let table = table { $0.transfers = 3 }
      let one = try channel()
      #expect(table.admit(one))
      let transfers = (0..<3).compactMap { _ in table.begin(on: one) }
      #expect(transfers.count == 3 && table.begin(on: one) == nil)
      table.end(transfers[0])
      table.end(transfers[0])
      #expect(table.begin(on: one) != nil && table.begin(on: one) == nil, "ended once")
    }

    @Test func streamsAreCounted() {
      let table = table { $0.streams = 1 }
      #expect(table.beginStream() && !table.beginStream())
      table.endStream()
      #expect(table.beginStream())
      table.endStream()
      table.beginEnd()
      #expect(!table.beginStream() && table.isEnding)
    }

    /// Each of several streams ends alone: it is in progress until it is closed, with any result, and only a stalled
    /// one is closed. The connection is idle when the last one has ended.
    @Test func aStreamEndsAlone() async throws {
      let table = table { $0.transfers = 2 }
      let connection = try channel(), first = Stream(of: connection), second = Stream(of: connection)
      #expect(table.admit(connection))
      let refused = try #require(table.begin(on: first)), sent = try #require(table.begin(on: second))
      table.end(refused, closes: true)
      #expect(table.begin(on: Stream(of: connection)) == nil, "its client has not taken all of it")
      first.close(mode: .all, promise: nil)
      try await first.closeFuture.get()
      let third = Stream(of: connection), other = try #require(table.begin(on: third))
      sweep(table, after: .seconds(10))
      #expect(table.connectionCount == 1)
      sweep(table, after: .seconds(21))
      for stream in [second, third] { try await stream.closeFuture.get() }
      #expect(table.connectionCount == 1)
      for (stream, transfer) in [(second, sent), (third, other)] {
        table.end(transfer)
        // Its event loop does the work that waits for its close.
        try await stream.eventLoop.submit {}.get()
      }
      sweep(table, after: .seconds(30))
      #expect(table.connectionCount == 1)
      sweep(table, after: .seconds(1))
      try await connection.closeFuture.get()
      #expect(table.connectionCount == 0)
    }

    /// A client may send requests before it has read that its connection ends.
    @Test func anAnswerThatEndsAConnectionWaitsForTheNext() async throws {
      let table = table()
      let one = try channel()
      #expect(table.admit(one))
      table.end(try #require(table.begin(on: one)), closes: true)
      let next = try #require(table.begin(on: one))
      sweep(table, after: .seconds(3))
      #expect(table.connectionCount == 1)
      table.end(next)
      sweep(table, after: .seconds(3))
      try await one.closeFuture.get()
    }

    /// At shutdown no transfer begins, and active ones end first.
    @Test func theEndWaitsForTransfers() async throws {
      let table = table()
      let listener = try channel(), one = try channel()
      table.listen(at: listener)
      #expect(table.admit(one))
      let transfer = try #require(table.begin(on: one))
      table.beginEnd()
      try await listener.closeFuture.get()
      #expect(try !table.admit(channel()) && table.begin(on: one) == nil)
      await table.drain(within: .zero)
      #expect(table.connectionCount == 1)
      async let drained: Void = table.drain(within: .seconds(600))
      table.end(transfer)
      await drained
      table.closeAll()
      await table.waitUntilClosed()
      try await one.closeFuture.get()
      let late = try channel()
      table.listen(at: late)
      try await late.closeFuture.get()
    }

    @Test func anAnswerThatEndsAConnectionLeavesTimeToReadIt() async throws {
      let table = table()
      let one = try channel()
      #expect(table.admit(one))
      table.end(try #require(table.begin(on: one)), closes: true)
      sweep(table, after: .seconds(1))
      #expect(table.connectionCount == 1)
      sweep(table, after: .seconds(1))
      try await one.closeFuture.get()
      #expect(table.connectionCount == 0)
    }
  }

  /// The parts of a stream of an HTTP/2 connection that the table uses.
  private final class Stream: Channel {
    private let base = NIOAsyncTestingChannel()
    let parent: (any Channel)?

    init(of connection: any Channel) { parent = connection }

    var allocator: ByteBufferAllocator { base.allocator }
    var closeFuture: EventLoopFuture<Void> { base.closeFuture }
    var pipeline: ChannelPipeline { base.pipeline }
    var localAddress: SocketAddress? { nil }
    var remoteAddress: SocketAddress? { nil }
    var isWritable: Bool { base.isWritable }
    var isActive: Bool { base.isActive }
    var eventLoop: any EventLoop { base.eventLoop }
    var _channelCore: any ChannelCore { base._channelCore }

    func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
      base.setOption(option, value: value)
    }
    func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> { base.getOption(option) }
  }
#endif
