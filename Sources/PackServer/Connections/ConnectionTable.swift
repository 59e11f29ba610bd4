#if Serving || Hosting
  package import NIOCore
  import Synchronization

  /// The open connections and running transfers. Their limits bound the work and memory that clients can cause.
  ///
  /// - At most ``Limits/connections`` are open, and at most ``Limits/connectionsOfAddress`` from one address. A further one
  ///   replaces the connection (of that address) that has been idle the longest; if none is idle, the new one is closed.
  /// - A connection without a running answer is closed after ``Limits/idle``, even in the middle of a handshake or a request head.
  /// - A transfer is closed if its client has not received a piece for ``Limits/stall``. A piece is 64 KiB, so the slowest served
  ///   client receives about 2 KiB per second. With HTTP/2 this ends only the transfer's stream.
  /// - At most ``Limits/transfers`` run, and at most ``Limits/transfersOfAddress`` to one address; a further one is refused with
  ///   503. So no single machine can exclude all others.
  /// - When the server is stopping, no connection or transfer begins; running ones may complete (``drain(within:)``).
  package final class ConnectionTable: Sendable {
    package struct Limits: Sendable {
      package var connections = 256
      package var connectionsOfAddress = 192
      package var transfers = 384
      package var transfersOfAddress = 288
      package var streams = 16
      package var idle: Duration = .seconds(30)
      package var stall: Duration = .seconds(30)
      /// The time for the client to read an answer that ends the connection.
      package var lingering: Duration = .seconds(2)

      package init() {}
    }

    private struct Connection {
      let channel: any Channel
      /// The IP address of the client; empty if the system does not report it.
      let address: String
      var transferCount = 0
      var idleSince: ContinuousClock.Instant
      /// The time to close the connection, or to close it after its running transfers.
      var closesAt: ContinuousClock.Instant?
    }

    private struct Transfer {
      let connection: ObjectIdentifier
      /// The channel of the connection, or of one of its streams.
      let channel: any Channel
      let isOfStream: Bool
      var lastProgress: ContinuousClock.Instant
      /// The time to close the connection, even if the transfer progresses.
      var deadline: ContinuousClock.Instant?
    }

    private struct State {
      var connections: [ObjectIdentifier: Connection] = [:]
      var transfers: [UInt64: Transfer] = [:]
      var nextTransfer: UInt64 = 0
      var streamCount = 0
      var isEnding = false
      /// The channel that accepts connections.
      var listener: (any Channel)?
      /// Finished with the last transfer.
      var drained: AsyncStream<Void>.Continuation?
    }

    package let limits: Limits
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter now: returns the current time.
    package init(_ limits: Limits, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
      self.limits = limits
      self.now = now
    }

    /// Adds a connection. Returns false if the limits do not permit it.
    package func admit(_ channel: any Channel) -> Bool {
      let id = ObjectIdentifier(channel), address = channel.remoteAddress?.ipAddress ?? ""
      let (isAdmitted, victim) = state.withLock { state -> (Bool, (any Channel)?) in
        guard !state.isEnding else { return (false, nil) }
        let isCrowdedByAddress =
          state.connections.values.count { $0.address == address } >= limits.connectionsOfAddress
        var victim: (any Channel)?
        if isCrowdedByAddress || state.connections.count >= limits.connections {
          let idle = state.connections.filter { _, connection in
            connection.transferCount == 0 && (!isCrowdedByAddress || connection.address == address)
          }
          guard let longest = idle.min(by: { $0.value.idleSince < $1.value.idleSince }) else { return (false, nil) }
          victim = longest.value.channel
          state.connections[longest.key] = nil
        }
        state.connections[id] = Connection(channel: channel, address: address, idleSince: now())
        return (true, victim)
      }
      victim?.close(mode: .all, promise: nil)
      guard isAdmitted else { return false }
      channel.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[id] = nil } }
      return true
    }

    /// Begins a transfer. Returns `nil` if too many are running, or the server is stopping.
    ///
    /// - Parameter channel: the channel of the connection, or of one of its streams.
    package func begin(on channel: any Channel) -> UInt64? {
      state.withLock { state in
        guard state.transfers.count < limits.transfers, !state.isEnding else { return nil }
        let own = ObjectIdentifier(channel), parent = channel.parent.map { ObjectIdentifier($0) }
        // The parent of an HTTP/2 stream is its connection; the parent of a connection is the listening socket.
        let isOfStream = parent.map { state.connections[$0] != nil } ?? false
        let id = isOfStream ? parent ?? own : own
        let address = state.connections[id]?.address
        let sum = state.connections.values.reduce(0) { $0 + ($1.address == address ? $1.transferCount : 0) }
        guard sum < limits.transfersOfAddress else { return nil }
        state.nextTransfer += 1
        state.transfers[state.nextTransfer] = Transfer(
          connection: id, channel: channel, isOfStream: isOfStream, lastProgress: now())
        state.connections[id]?.transferCount += 1
        return state.nextTransfer
      }
    }

    /// Returns whether the connection has received its last answer.
    package func isClosing(_ channel: any Channel) -> Bool {
      state.withLock { $0.connections[ObjectIdentifier(channel)]?.closesAt != nil }
    }

    /// Records that the client has received data.
    package func progress(_ transfer: UInt64) { state.withLock { $0.transfers[transfer]?.lastProgress = now() } }

    /// Sets the time by which the transfer must have ended. A client that sends or receives bytes one by one always makes progress:
    /// only a deadline ends its transfer.
    ///
    /// - Parameter duration: the time from now.
    package func limit(_ transfer: UInt64, to duration: Duration) {
      state.withLock { $0.transfers[transfer]?.deadline = now() + duration }
    }

    /// Ends a transfer after its answer was written or abandoned.
    ///
    /// An HTTP/2 stream may delay data until its client has room: its transfer ends with the stream. An event of one stream, such
    /// as a reset, does not affect the other streams of the connection.
    ///
    /// - Parameter closes: whether to close the connection soon.
    package func end(_ transfer: UInt64, closes: Bool = false) {
      let stream = state.withLock { state -> (any Channel)? in
        guard let ended = state.transfers[transfer] else { return nil }
        guard !ended.isOfStream else { return ended.channel }
        remove(transfer, closes: closes || state.isEnding, from: &state)
        return nil
      }
      stream?.closeFuture.whenComplete { _ in self.state.withLock { self.remove(transfer, closes: false, from: &$0) } }
    }

    private func remove(_ transfer: UInt64, closes: Bool, from state: inout State) {
      guard let ended = state.transfers.removeValue(forKey: transfer) else { return }
      if state.transfers.isEmpty { state.drained?.finish() }
      guard var connection = state.connections[ended.connection] else { return }
      connection.transferCount -= 1
      connection.idleSince = now()
      if closes { connection.closesAt = now() + limits.lingering }
      state.connections[ended.connection] = connection
    }

    /// Returns whether another stream of events may begin. It ends with ``endStream()``.
    package func beginStream() -> Bool {
      state.withLock { state in
        guard state.streamCount < limits.streams, !state.isEnding else { return false }
        state.streamCount += 1
        return true
      }
    }

    package func endStream() { state.withLock { $0.streamCount -= 1 } }

    package var isEnding: Bool { state.withLock { $0.isEnding } }

    package var connectionCount: Int { state.withLock { $0.connections.count } }

    // MARK: - Closing

    /// Closes connections that have been idle for too long, and transfers that stalled or missed their deadline. A connection with
    /// running transfers is closed only for their sake.
    package func sweep() {
      let now = self.now()
      let victims = state.withLock { state -> [any Channel] in
        let stalled = state.transfers.values.filter { transfer in
          now - transfer.lastProgress > limits.stall || transfer.deadline.map { $0 <= now } ?? false
        }.map(\.channel)
        let idle = state.connections.values.filter { connection in
          guard connection.transferCount == 0 else { return false }
          if let end = connection.closesAt, end <= now { return true }
          return now - connection.idleSince > limits.idle
        }
        return stalled + idle.map(\.channel)
      }
      for channel in victims { channel.close(mode: .all, promise: nil) }
    }

    // MARK: - The end

    /// Registers the channel that accepts connections. It is closed when the server stops.
    package func listen(at listener: any Channel) {
      let isLate = state.withLock { state in
        state.listener = listener
        return state.isEnding
      }
      if isLate { listener.close(mode: .all, promise: nil) }
    }

    /// Stops accepting connections and transfers.
    package func beginEnd() {
      let listener = state.withLock { state in
        state.isEnding = true
        return state.listener
      }
      listener?.close(mode: .all, promise: nil)
    }

    /// Waits until no transfer is running.
    ///
    /// - Parameter limit: the longest time to wait.
    package func drain(within limit: Duration) async {
      let (stream, end) = AsyncStream<Void>.makeStream()
      state.withLock { state in
        state.drained = end
        if state.transfers.isEmpty { end.finish() }
      }
      await waitForEnd(of: stream, within: limit)
    }

    package func closeAll() {
      for channel in state.withLock({ $0.connections.values.map(\.channel) }) {
        channel.close(mode: .all, promise: nil)
      }
    }

    /// Waits until all closed connections have ended; TLS connections exchange closing messages first.
    package func waitUntilClosed() async {
      for channel in state.withLock({ $0.connections.values.map(\.channel) }) { try? await channel.closeFuture.get() }
    }
  }

  /// Waits until the stream has ended or the time is over.
  package func waitForEnd(of stream: AsyncStream<Void>, within limit: Duration) async {
    await withTaskGroup { group in
      group.addTask { for await _ in stream {} }
      group.addTask { try? await Task.sleep(for: limit) }
      _ = await group.next()
      group.cancelAll()
    }
  }
#endif
