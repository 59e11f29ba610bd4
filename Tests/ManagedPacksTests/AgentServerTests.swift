import Foundation
import PackStore
import Synchronization
import Testing

@testable import ManagedPacks

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The agent's socket, and peers that mean it no good.
@Suite struct AgentServerTests {
  /// A server on a socket of its own, by a clock that a test moves.
  final class Setup: Sendable {
    let folder = TestFolder()
    let place: SocketPlace
    let server: AgentServer
    let log = Log()
    /// Delays the handling of an event.
    let gate = Gate()

    init(user: uid_t? = geteuid(), connectionCount: Int = 32, name: String = "s") throws {
      let place = SocketPlace(name, in: folder.path)
      self.place = place
      let log = log, gate = gate
      var limits = AgentServer.Limits()
      limits.connectionCount = connectionCount
      let now = Clock()
      clock = now
      server = try AgentServer(
        LocalSocket.listen(at: place), limits: limits, now: { now.time.withLock { $0 } },
        credentials: { _ in user.map { PeerCredentials(user: $0) } },
        handler: .init(
          answer: { request, _ in
            if case .event = request { try? await gate.pass() }
            return .status(process: 7)
          },
          end: { log.append("end \($0)") }, refuse: { log.append("refused: \($0)") }))
      server.start()
    }

    final class Clock: Sendable { let time = Mutex(Duration.zero) }
    let clock: Clock

    deinit { server.stop() }

    func advance(by duration: Duration) {
      clock.time.withLock { $0 += duration }
      server.wake()
    }

    func connect() throws -> LocalSocket { try #require(try LocalSocket.connect(to: place)) }
  }

  /// Writes all of it.
  private func send(_ bytes: [UInt8], to socket: LocalSocket) throws {
    var rest = bytes[...]
    while !rest.isEmpty { rest = rest.dropFirst(try socket.write(rest)) }
  }

  private func send(_ request: AgentRequest, to socket: LocalSocket) throws {
    try send(MessageFrames.frame(request.encode()), to: socket)
  }

  /// The next reply; nil: the connection has ended.
  private func reply(from socket: LocalSocket) async throws -> AgentReply? {
    try await BlockingExecutor.run {
      var frames = MessageFrames()
      while true {
        if let message = try frames.next() { return try AgentReply(decoding: message) }
        var entries = [pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)]
        _ = systemPoll(&entries, -1)
        do {
          guard let bytes = try socket.read(upTo: 1) else { continue }
          guard !bytes.isEmpty else { return nil }
          frames.append(bytes)
        } catch {
          return nil  // it was closed with something unread in it
        }
      }
    }
  }

  @Test func answersOneAfterTheOther() async throws {
    let setup = try Setup(), socket = try setup.connect()
    for _ in 0..<3 {
      try send(.status, to: socket)
      #expect(try await reply(from: socket) == .status(process: 7))
    }
    // Several at once, and one byte at a time.
    try send(try [AgentRequest.status, .refresh].flatMap { try MessageFrames.frame($0.encode()) }, to: socket)
    for _ in 0..<2 { #expect(try await reply(from: socket) == .status(process: 7)) }
    for byte in try MessageFrames.frame(AgentRequest.status.encode()) { try send([byte], to: socket) }
    #expect(try await reply(from: socket) == .status(process: 7))
  }

  /// After any of these inputs the connection ends, and others are served.
  @Test(
    arguments: [
      [0xff, 0xff, 0xff, 0xff], [0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 2] + Array("{}".utf8),
      [0, 0, 0, 1, 0], Array("GET / HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 0x7b, count: 70_000),
    ] as [[UInt8]])
  func garbage(bytes: [UInt8]) async throws {
    let setup = try Setup(), hostile = try setup.connect(), other = try setup.connect()
    // It may close before all was sent.
    try? send(bytes, to: hostile)
    if case .failed? = try? await reply(from: hostile) { #expect(try await reply(from: hostile) == nil) }
    await setup.log.wait(for: 1)
    #expect(setup.log.lines[0].hasPrefix("refused: closed a connection: "))
    try send(.status, to: other)
    #expect(try await reply(from: other) == .status(process: 7))
  }

  @Test func laterVersion() async throws {
    let setup = try Setup(), socket = try setup.connect()
    try send(try MessageFrames.frame(Array(#"{"ask":"status","format":2}"#.utf8)), to: socket)
    guard case .failed(let reason)? = try await reply(from: socket) else { throw Failure("no reply") }
    #expect(reason.contains("later protocol version"))
  }

  struct Failure: Error { init(_: String) {} }

  /// A peer that begins a message and does not end it, a silent peer, and a peer that sends a byte from time to time
  /// are disconnected at the time limit. A peer that received a pack stays connected.
  @Test func slowPeers() async throws {
    let setup = try Setup()
    let half = try setup.connect(), silent = try setup.connect(), slow = try setup.connect(), app = try setup.connect()
    try send(.handOver("A"), to: app)
    #expect(try await reply(from: app) == .status(process: 7))
    try send([0, 0], to: half)
    try send(.status, to: slow)
    #expect(try await reply(from: slow) == .status(process: 7))
    try send([0], to: slow)
    // The bytes were read before the clock moves: a reply on another connection came after them.
    try send(.status, to: app)
    #expect(try await reply(from: app) == .status(process: 7))
    setup.advance(by: .seconds(9))
    try send([0], to: slow)
    try send(.status, to: app)
    #expect(try await reply(from: app) == .status(process: 7))
    setup.advance(by: .seconds(1))
    for socket in [half, silent, slow] { #expect(try await reply(from: socket) == nil) }
    try send(.status, to: app)
    #expect(try await reply(from: app) == .status(process: 7))
    #expect(setup.log.lines.contains("refused: closed a connection: no message arrived in time"))
  }

  /// Processes of another user, and processes whose user the system does not report, are refused.
  @Test(arguments: [nil, geteuid() ^ 1] as [uid_t?]) func otherUsers(user: uid_t?) async throws {
    let setup = try Setup(user: user), socket = try setup.connect()
    try? send(.status, to: socket)
    #expect((try? await reply(from: socket)) == .some(nil))
    await setup.log.wait(for: 1)
    #expect(setup.log.lines == ["refused: refused a process of another user"])
  }

  /// As many as there may be are served; others are when one of these ends.
  @Test func manyConnections() async throws {
    let setup = try Setup(connectionCount: 3)
    var sockets: [LocalSocket] = []
    for _ in 0..<3 {
      let socket = try setup.connect()
      try send(.status, to: socket)
      #expect(try await reply(from: socket) == .status(process: 7))
      sockets.append(socket)
    }
    let first = try setup.connect()
    try send(.status, to: first)
    #expect(try first.read(upTo: 1) == nil)
    sockets.removeFirst().shutDown()
    #expect(try await reply(from: first) == .status(process: 7))
  }

  /// A peer that disconnects while its request is handled costs nothing. The server notices when it sends the answer,
  /// and then ends the work of the request.
  @Test func goneWhileAnswering() async throws {
    let setup = try Setup()
    var socket: LocalSocket? = try setup.connect()
    try send(.event(.install, app: nil), to: try #require(socket))
    socket = nil
    let other = try setup.connect()
    try send(.status, to: other)
    #expect(try await reply(from: other) == .status(process: 7))
    #expect(setup.log.lines == [])
    setup.gate.open()
    await setup.log.wait(for: 1)
    #expect(setup.log.lines == ["end 0"])
  }

  /// A peer cannot start more work than the limit of connections by closing them.
  @Test func closedConnectionsCountUntilTheirAnswers() async throws {
    let setup = try Setup(connectionCount: 2)
    for _ in 0..<2 {
      let socket = try setup.connect()
      try send(.event(.install, app: nil), to: socket)
      socket.shutDown()
    }
    let next = try setup.connect()
    try send(.status, to: next)
    setup.server.wake()
    #expect(try next.read(upTo: 1) == nil)
    setup.gate.open()
    #expect(try await reply(from: next) == .status(process: 7))
    await setup.log.wait(for: 2)
    #expect(setup.log.lines.sorted() == ["end 0", "end 1"])
  }

  /// Two connections remain for other requests, and one connection takes over a bounded number of packs.
  @Test func handoversAreBounded() async throws {
    let setup = try Setup(connectionCount: 4), pack = try PackID(validating: "A")
    var sockets: [LocalSocket] = []
    for number in 0..<3 {
      let socket = try setup.connect()
      try send(.handOver(pack), to: socket)
      let reply = try await reply(from: socket)
      if case .failed = reply { #expect(number == 2) } else { #expect(number < 2) }
      sockets.append(socket)
    }
    var count = 1
    while case .status = try await {
      try send(.handOver(pack), to: sockets[0]); return try await reply(from: sockets[0])
    }() {
      count += 1
    }
    #expect(count == AgentServer.Limits().packCount)
    let other = try setup.connect()
    try send(.status, to: other)
    #expect(try await reply(from: other) == .status(process: 7))
  }

  /// A peer that does not read its replies is not read from.
  @Test func peerThatDoesNotRead() async throws {
    let setup = try Setup(), socket = try setup.connect(), other = try setup.connect()
    let frame = try MessageFrames.frame(AgentRequest.status.encode())
    var rest = frame[...], byteCount = 0, refusals = 0
    while byteCount < 8 << 20, refusals < 5 {
      let count = try socket.write(rest)
      byteCount += count
      rest = rest.count == count ? frame[...] : rest.dropFirst(count)
      guard count == 0 else { continue }
      // The server has looked at all of its peers since.
      try send(.status, to: other)
      #expect(try await reply(from: other) == .status(process: 7))
      refusals += 1
    }
    #expect(byteCount < 8 << 20)
  }

  // MARK: - Places

  /// A path that is too long for the system works even so, or the error names a remedy.
  @Test func longPaths() throws {
    let folder = TestFolder(), long = folder.path.appending(String(repeating: "a", count: 120))
    try FileManager.default.createDirectory(atPath: long.string, withIntermediateDirectories: true)
    let place = SocketPlace("agent.socket", in: long)
    #expect(place.path.string.utf8.count > SocketPlace.pathByteCountLimit)
    #if os(Linux)
      let listener = try LocalSocket.listen(at: place)
      #expect(try LocalSocket.connect(to: place) != nil && listener.accept() != nil)
    #else
      #expect(throws: ManagedPacksError.self) { try LocalSocket.listen(at: place) }
    #endif
  }

  @Test func onlyTheUserMayConnect() throws {
    let setup = try Setup()
    var status = stat()
    #expect(stat(setup.place.path.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let socket = try setup.connect()
    #expect(PeerCredentials.system(socket.number)?.user == geteuid())
    #expect(PeerCredentials.system(0) == nil)
  }
}
