#if Serving
  import NIOCore
  import Synchronization

  /// Who is connected, and what is being sent to them: what bounds the work and memory that others can cause.
  ///
  /// - There are at most ``Limits/connections``, and at most ``Limits/connectionsOfAddress`` of one address. One more takes the place of
  ///   the connection, of that address, that has been idle the longest; if none is idle, the new one is closed.
  /// - A connection on which nothing is being answered is closed after ``Limits/idle``: whether its client is still in the middle
  ///   of a handshake or of a head, byte by byte, or has all it wanted.
  /// - A transfer is closed when its client has not taken a piece for ``Limits/stall``: a piece is 64 KiB, so that the slowest that
  ///   is served takes about 2 KiB a second. With HTTP/2 that ends its stream, and no other.
  /// - There are at most ``Limits/transfers``, and at most ``Limits/transfersOfAddress`` to one address; one more is refused with 503.
  ///   So no single machine can shut out all others.
  /// - At the end no connection and no transfer begins; those that are under way may come to their own end (``drain(within:)``).
  final class ConnectionTable: Sendable {
    struct Limits: Sendable {
      var connections = 256
      var connectionsOfAddress = 192
      var transfers = 384
      var transfersOfAddress = 288
      var streams = 16
      var idle: Duration = .seconds(30)
      var stall: Duration = .seconds(30)
      /// After an answer that ends the connection, for the client to read it.
      var lingering: Duration = .seconds(2)
    }

    private struct Connection {
      let channel: any Channel
      /// The IP address of the client; empty if the system does not report it.
      let address: String
      var transferCount = 0
      var idleSince: ContinuousClock.Instant
      /// It is to end then, or when what is sent on it by then has ended.
      var closesAt: ContinuousClock.Instant?
    }

    private struct Transfer {
      let connection: ObjectIdentifier
      /// The connection's, or that of a stream of it.
      let channel: any Channel
      let isOfStream: Bool
      var lastProgress: ContinuousClock.Instant
    }

    private struct State {
      var connections: [ObjectIdentifier: Connection] = [:]
      var transfers: [UInt64: Transfer] = [:]
      var nextTransfer: UInt64 = 0
      var streamCount = 0
      var isEnding = false
      /// Where connections come from.
      var listener: (any Channel)?
      /// Ends with the last transfer.
      var drained: AsyncStream<Void>.Continuation?
    }

    let limits: Limits
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter now: returns the current time.
    init(_ limits: Limits, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
      self.limits = limits
      self.now = now
    }

    /// Takes a connection in, or says that there is no room.
    func admit(_ channel: any Channel) -> Bool {
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

    /// Begins an answer; nil: too many are under way, or the end has begun.
    ///
    /// - Parameter channel: the connection's, or that of one stream of it.
    func begin(on channel: any Channel) -> UInt64? {
      state.withLock { state in
        guard state.transfers.count < limits.transfers, !state.isEnding else { return nil }
        let own = ObjectIdentifier(channel), parent = channel.parent.map { ObjectIdentifier($0) }
        // A stream of HTTP/2 has its connection above it, and a connection the socket that it came from.
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

    /// Whether the last answer of a connection was given.
    func isClosing(_ channel: any Channel) -> Bool {
      state.withLock { $0.connections[ObjectIdentifier(channel)]?.closesAt != nil }
    }

    /// The client took something.
    func progress(_ transfer: UInt64) { state.withLock { $0.transfers[transfer]?.lastProgress = now() } }

    /// The whole answer was handed over, or there will be no more of it.
    ///
    /// A stream of HTTP/2 may hold some of it back until its client has room: the transfer has ended when the stream has. What
    /// becomes of one stream, such as a reset, is nothing to the connection, which has others.
    ///
    /// - Parameter closes: the connection is to end soon.
    func end(_ transfer: UInt64, closes: Bool = false) {
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

    /// Whether one more stream of events may begin. It ends with ``endStream()``.
    func beginStream() -> Bool {
      state.withLock { state in
        guard state.streamCount < limits.streams, !state.isEnding else { return false }
        state.streamCount += 1
        return true
      }
    }

    func endStream() { state.withLock { $0.streamCount -= 1 } }

    var isEnding: Bool { state.withLock { $0.isEnding } }

    var connectionCount: Int { state.withLock { $0.connections.count } }

    // MARK: - Closing

    /// Closes what is idle, or stalled, for too long. Of a connection on which something is sent nothing is closed but what is stalled.
    func sweep() {
      let now = self.now()
      let victims = state.withLock { state -> [any Channel] in
        let stalled = state.transfers.values.filter { now - $0.lastProgress > limits.stall }.map(\.channel)
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

    /// Connections come from `listener`. It is closed when the end begins.
    func listen(at listener: any Channel) {
      let isLate = state.withLock { state in
        state.listener = listener
        return state.isEnding
      }
      if isLate { listener.close(mode: .all, promise: nil) }
    }

    /// From now on nothing begins.
    func beginEnd() {
      let listener = state.withLock { state in
        state.isEnding = true
        return state.listener
      }
      listener?.close(mode: .all, promise: nil)
    }

    /// Waits until nothing is being sent any more.
    ///
    /// - Parameter limit: how long to wait at most.
    func drain(within limit: Duration) async {
      let (stream, end) = AsyncStream<Void>.makeStream()
      state.withLock { state in
        state.drained = end
        if state.transfers.isEmpty { end.finish() }
      }
      await waitForEnd(of: stream, within: limit)
    }

    func closeAll() {
      for channel in state.withLock({ $0.connections.values.map(\.channel) }) {
        channel.close(mode: .all, promise: nil)
      }
    }

    /// Waits until all connections that were closed have ended: those by TLS tell each other.
    func waitUntilClosed() async {
      for channel in state.withLock({ $0.connections.values.map(\.channel) }) { try? await channel.closeFuture.get() }
    }
  }

  /// Waits until nothing more can come, or the time is over.
  func waitForEnd(of stream: AsyncStream<Void>, within limit: Duration) async {
    await withTaskGroup { group in
      group.addTask { for await _ in stream {} }
      group.addTask { try? await Task.sleep(for: limit) }
      _ = await group.next()
      group.cancelAll()
    }
  }
#endif
