import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Accepts the connections of the apps of a group: decodes requests, has them answered, and reports when an app disconnects.
///
/// The states of a connection:
/// ```
///  accepted --> reading --> answering --> reading ... --> closed
///      |           |            |
///      +-----------+------------+--> closed
/// ```
/// Only processes of this user proceed past *accepted*. While a connection is *answering*, the server does not read from it, so
/// each connection uses at most one request and one reply of memory. The server closes a connection if the peer disconnects, if a
/// message is invalid, if a message is not complete in time, or if no message arrives in time.
///
/// One thread does all this, and blocks only in `poll`. If the limit of connections is reached, others wait to be accepted. A
/// connection that is closed while it is *answering* counts until the answer is finished, so the limit bounds the work as well.
package final class AgentServer: Sendable {
  /// The limits for the resources that all peers together can use.
  package struct Limits: Sendable {
    package var connectionCount = 32
    /// The number of these connections that apps cannot keep by taking packs over.
    package var reservedCount = 2
    /// The number of packs that one connection can take over.
    package var packCount = 8
    /// The time from the first byte of a message to its last, and from a reply to the next message on a connection without
    /// handovers.
    package var messageTime = Duration.seconds(10)

    package init() {}
  }

  /// The agent's handling of its peers. Called on any thread.
  package struct Handler: Sendable {
    /// Answers a request of a connection.
    package var answer: @Sendable (AgentRequest, _ connection: Int) async -> AgentReply
    /// Called when a connection with at least one answered request has ended.
    package var end: @Sendable (_ connection: Int) -> Void
    /// Called when a peer was rejected.
    package var refuse: @Sendable (_ reason: String) -> Void

    package init(
      answer: @escaping @Sendable (AgentRequest, Int) async -> AgentReply, end: @escaping @Sendable (Int) -> Void,
      refuse: @escaping @Sendable (String) -> Void
    ) {
      self.answer = answer
      self.end = end
      self.refuse = refuse
    }
  }

  private struct State {
    /// The replies that the thread has not sent yet, by connection.
    var replies: [(connection: Int, reply: AgentReply)] = []
    var isStopped = false
  }

  private let listener: LocalSocket
  private let bell: (ringing: LocalSocket, heard: LocalSocket)
  private let limits: Limits
  private let now: @Sendable () -> Duration
  private let credentials: PeerCredentials.Reader
  private let handler: Handler
  private let state = Mutex(State())
  private let ended = DispatchGroup()

  /// - Parameter now: a monotonic clock.
  package init(
    _ listener: LocalSocket, limits: Limits = Limits(), now: @escaping @Sendable () -> Duration,
    credentials: @escaping PeerCredentials.Reader = PeerCredentials.system, handler: Handler
  ) throws {
    self.listener = listener
    self.limits = limits
    self.now = now
    self.credentials = credentials
    self.handler = handler
    bell = try LocalSocket.pair()
  }

  /// Starts a thread that serves connections until ``stop()``.
  package func start() {
    let thread = Thread {
      var loop = Loop(self)
      loop.run()
      self.ended.leave()
    }
    thread.name = "PackStore.agent"
    ended.enter()
    thread.start()
  }

  /// Closes all connections, and returns when that is done.
  package func stop() {
    state.withLock { $0.isStopped = true }
    wake()
    ended.wait()
  }

  /// Makes the server check its clock and its connections.
  package func wake() { _ = try? bell.ringing.write([0]) }

  // MARK: - The thread

  private struct Connection {
    let socket: LocalSocket
    var frames = MessageFrames()
    var output: ArraySlice<UInt8> = []
    /// Whether a request is being answered.
    var isAnswering = false
    /// The number of requests by which the peer took packs or downloads over, until it disconnects.
    var handoverCount = 0
    var isHolding: Bool { handoverCount > 0 }
    var hasAsked = false
    /// The time by which the next message must arrive.
    var deadline: Duration
  }

  private struct Loop {
    let server: AgentServer
    var connections: [Int: Connection] = [:]
    var nextNumber = 0

    /// Connections that ended while their requests were being answered. Their end is reported after the answer.
    var endedEarly: Set<Int> = []

    /// The time before which no connection is accepted, because the last attempt failed for lack of descriptors or memory.
    var acceptsFrom: Duration = .zero

    init(_ server: AgentServer) { self.server = server }

    mutating func run() {
      while true {
        let (replies, isStopped) = server.state.withLock { state in
          defer { state.replies = [] }
          return (state.replies, state.isStopped)
        }
        if isStopped { break }
        for (number, reply) in replies { take(reply, number) }
        expire()
        poll()
      }
      for number in connections.keys { close(number) }
    }

    // MARK: Waiting

    private mutating func poll() {
      let numbers = Array(connections.keys)
      var entries = [entry(server.bell.heard, POLLIN)]
      // Other connections wait in the listener's queue.
      let accepts = hasRoom && acceptsFrom <= server.now()
      entries.append(entry(server.listener, accepts ? POLLIN : 0))
      entries += numbers.map { number in
        guard let connection = connections[number] else { return pollfd(fd: -1, events: 0, revents: 0) }
        let isReading = !connection.isAnswering && connection.output.isEmpty
        return entry(connection.socket, (isReading ? POLLIN : 0) | (connection.output.isEmpty ? 0 : POLLOUT))
      }
      guard systemPoll(&entries, timeout) > 0 else { return }
      if entries[0].revents != 0 { _ = try? server.bell.heard.read(upTo: 64) }
      for (number, entry) in zip(numbers, entries.dropFirst(2)) where entry.revents != 0 {
        attend(number, entry.revents)
      }
      if accepts, entries[1].revents != 0 { accept() }
    }

    private func entry(_ socket: LocalSocket, _ events: Int32) -> pollfd {
      pollfd(fd: socket.number, events: Int16(truncatingIfNeeded: events), revents: 0)
    }

    /// The time until the first deadline in milliseconds, at most one minute.
    private var timeout: Int32 {
      let now = server.now()
      let deadlines = connections.values.filter { !$0.isAnswering && !$0.isHolding }.map(\.deadline)
      guard let first = (deadlines + [acceptsFrom].filter { $0 > now }).min() else { return 60_000 }
      let left = (first - now) / .milliseconds(1)
      return Int32(min(max(left.rounded(.up), 0), 60_000))
    }

    private mutating func expire() {
      let now = server.now()
      for (number, connection) in connections where !connection.isAnswering && connection.deadline <= now {
        guard !connection.isHolding || connection.frames.isPartial || !connection.output.isEmpty else { continue }
        close(number, "no message arrived in time")
      }
    }

    // MARK: Connections

    private var hasRoom: Bool { connections.count + endedEarly.count < server.limits.connectionCount }

    private mutating func accept() {
      while hasRoom {
        let socket: LocalSocket
        do {
          guard let next = try server.listener.accept() else { return }
          socket = next
        } catch {
          acceptsFrom = server.now() + .seconds(1)
          return server.handler.refuse("\(error)")
        }
        guard let peer = server.credentials(socket.number), peer.user == geteuid() else {
          server.handler.refuse("refused a process of another user")
          continue
        }
        connections[nextNumber] = Connection(socket: socket, deadline: server.now() + server.limits.messageTime)
        nextNumber += 1
      }
    }

    private mutating func attend(_ number: Int, _ events: Int16) {
      guard let connection = connections[number] else { return }
      do {
        if !connection.output.isEmpty {
          try write(number)
        } else if !connection.isAnswering {
          try read(number)
        } else if Int32(events) & (POLLHUP | POLLERR | POLLNVAL) != 0 {
          close(number)
        }
      } catch let error as AgentMessageError {
        refuse(number, error)
      } catch {
        close(number)
      }
    }

    private mutating func read(_ number: Int) throws {
      guard var connection = connections[number] else { return }
      guard let bytes = try connection.socket.read(upTo: min(connection.frames.room, 16_384)) else { return }
      guard !bytes.isEmpty else { return close(number) }
      if !connection.frames.isPartial { connection.deadline = server.now() + server.limits.messageTime }
      connection.frames.append(bytes)
      connections[number] = connection
      try begin(number)
    }

    /// Starts answering the next request if it is complete.
    private mutating func begin(_ number: Int) throws {
      guard let message = try connections[number]?.frames.next() else { return }
      let request = try AgentRequest(decoding: message)
      connections[number]?.isAnswering = true
      connections[number]?.hasAsked = true
      switch request {
      case .handOver, .handOverDownloads:
        guard mayHandOver(to: number) else {
          // Sent by the loop, like every reply: a peer may have sent many requests at once.
          return answer(number, .failed(reason: "too many hand-overs are open; close a connection"))
        }
        connections[number]?.handoverCount += 1
      case .status, .refresh, .event: break
      }
      Task { [self] in answer(number, await server.handler.answer(request, number)) }
    }

    private func answer(_ number: Int, _ reply: AgentReply) {
      server.state.withLock { $0.replies.append((number, reply)) }
      server.wake()
    }

    private func mayHandOver(to number: Int) -> Bool {
      guard let connection = connections[number] else { return false }
      if connection.isHolding { return connection.handoverCount < server.limits.packCount }
      return connections.values.count { $0.isHolding } < server.limits.connectionCount - server.limits.reservedCount
    }

    private mutating func take(_ reply: AgentReply, _ number: Int) {
      guard connections[number] != nil else {
        if endedEarly.remove(number) != nil { server.handler.end(number) }
        return
      }
      connections[number]?.isAnswering = false
      send(reply, number)
    }

    private mutating func send(_ reply: AgentReply, _ number: Int) {
      connections[number]?.deadline = server.now() + server.limits.messageTime
      do {
        connections[number]?.output = try MessageFrames.frame(reply.encode())[...]
        try write(number)
      } catch {
        close(number)
      }
    }

    private mutating func write(_ number: Int) throws {
      guard let connection = connections[number] else { return }
      connections[number]?.output = connection.output.dropFirst(try connection.socket.write(connection.output))
      guard connections[number]?.output.isEmpty == true else { return }
      do {
        try begin(number)  // data received with the last message
      } catch let error as AgentMessageError {
        refuse(number, error)
      }
    }

    /// Sends the reason if that is possible without waiting, and closes the connection.
    private mutating func refuse(_ number: Int, _ error: AgentMessageError) {
      let reason: String
      switch error {
      case .tooLong: reason = "a message exceeds \(MessageFrames.byteCountLimit) bytes"
      case .malformed: reason = "invalid request"
      case .newer: reason = "the request needs a later protocol version; update the agent"
      }
      if let frame = try? MessageFrames.frame(AgentReply.failed(reason: reason).encode()) {
        _ = try? connections[number]?.socket.write(frame[...])
      }
      close(number, reason)
    }

    private mutating func close(_ number: Int, _ reason: String? = nil) {
      guard let connection = connections.removeValue(forKey: number) else { return }
      connection.socket.shutDown()
      if connection.isAnswering {
        endedEarly.insert(number)
      } else if connection.hasAsked {
        server.handler.end(number)
      }
      if let reason { server.handler.refuse("closed a connection: \(reason)") }
    }
  }
}

/// - Parameter timeout: in milliseconds; -1 for no limit.
/// - Returns: the number of entries with events; 0 after a signal.
func systemPoll(_ entries: inout [pollfd], _ timeout: Int32) -> Int {
  Int(poll(&entries, nfds_t(entries.count), timeout))
}
