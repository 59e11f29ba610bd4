#if Serving
  import NIOCore
  import Synchronization

  /// Who is connected, and what is being sent to them: what bounds the work and memory that others can cause.
  ///
  /// - There are at most ``Limits/connections``. One more takes the place of the one that has been idle the longest; if none is, it is
  ///   closed.
  /// - A connection on which nothing is being answered is closed after ``Limits/idle``: whether its client is still in the middle
  ///   of a handshake or of a head, byte by byte, or has all it wanted.
  /// - A transfer is closed when its client has not taken a piece for ``Limits/stall``: a piece is 64 KiB, so that the slowest that
  ///   is served takes about 2 KiB a second.
  /// - There are at most ``Limits/transfers`` on all connections; one more is refused with 503.
  final class ConnectionTable: Sendable {
    struct Limits: Sendable {
      var connections = 256
      var transfers = 384
      var streams = 16
      var idle: Duration = .seconds(30)
      var stall: Duration = .seconds(30)
      /// After an answer that ends the connection, for the client to read it.
      var lingering: Duration = .seconds(2)
    }

    private struct Connection {
      let channel: any Channel
      var transferCount = 0
      var idleSince: ContinuousClock.Instant
      var closesAt: ContinuousClock.Instant?
    }

    private struct Transfer {
      let connection: ObjectIdentifier
      let channel: any Channel
      var lastProgress: ContinuousClock.Instant
    }

    private struct State {
      var connections: [ObjectIdentifier: Connection] = [:]
      var transfers: [UInt64: Transfer] = [:]
      var nextTransfer: UInt64 = 0
      var streamCount = 0
      var isEnding = false
    }

    let limits: Limits
    private let state = Mutex(State())

    init(_ limits: Limits) { self.limits = limits }

    /// Takes a connection in, or says that there is no room.
    func admit(_ channel: any Channel) -> Bool {
      let id = ObjectIdentifier(channel)
      let (isAdmitted, victim) = state.withLock { state -> (Bool, (any Channel)?) in
        var victim: (any Channel)?
        if state.connections.count >= limits.connections {
          let idle = state.connections.filter { $0.value.transferCount == 0 }
          guard let longest = idle.min(by: { $0.value.idleSince < $1.value.idleSince }) else { return (false, nil) }
          victim = longest.value.channel
          state.connections[longest.key] = nil
        }
        state.connections[id] = Connection(channel: channel, idleSince: .now)
        return (true, victim)
      }
      victim?.close(mode: .all, promise: nil)
      guard isAdmitted else { return false }
      channel.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[id] = nil } }
      return true
    }

    /// Begins an answer; nil: too many are under way.
    ///
    /// - Parameters:
    ///   - channel: the connection's, or that of one stream of it.
    ///   - isStream: whether it is one that goes on without end.
    func begin(on channel: any Channel) -> UInt64? {
      state.withLock { state in
        guard state.transfers.count < limits.transfers else { return nil }
        let id = Self.connection(of: channel, in: state)
        state.nextTransfer += 1
        state.transfers[state.nextTransfer] = Transfer(connection: id, channel: channel, lastProgress: .now)
        state.connections[id]?.transferCount += 1
        return state.nextTransfer
      }
    }

    /// The client took something.
    func progress(_ transfer: UInt64) { state.withLock { $0.transfers[transfer]?.lastProgress = .now } }

    /// - Parameter closes: the connection is to end soon.
    func end(_ transfer: UInt64, closes: Bool = false) {
      state.withLock { state in
        guard let ended = state.transfers.removeValue(forKey: transfer) else { return }
        guard var connection = state.connections[ended.connection] else { return }
        connection.transferCount -= 1
        connection.idleSince = .now
        if closes || state.isEnding { connection.closesAt = .now + limits.lingering }
        state.connections[ended.connection] = connection
      }
    }

    /// A stream of HTTP/2 has its connection above it.
    private static func connection(of channel: any Channel, in state: State) -> ObjectIdentifier {
      let id = ObjectIdentifier(channel)
      if state.connections[id] == nil, let parent = channel.parent { return ObjectIdentifier(parent) }
      return id
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

    /// Closes what is idle, or stalled, for too long.
    func sweep(now: ContinuousClock.Instant = .now) {
      let victims = state.withLock { state -> [any Channel] in
        let stalled = state.transfers.values.filter { now - $0.lastProgress > limits.stall }.map(\.channel)
        let idle = state.connections.values.filter { connection in
          if let end = connection.closesAt, end <= now { return true }
          return connection.transferCount == 0 && now - connection.idleSince > limits.idle
        }
        return stalled + idle.map(\.channel)
      }
      for channel in victims { channel.close(mode: .all, promise: nil) }
    }

    /// From now on connections end with the answer that is under way.
    func beginEnd() { state.withLock { $0.isEnding = true } }

    func closeAll() {
      for channel in state.withLock({ $0.connections.values.map(\.channel) }) {
        channel.close(mode: .all, promise: nil)
      }
    }
  }
#endif
