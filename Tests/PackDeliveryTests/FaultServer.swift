#if Delivery
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import PackStore
  import Synchronization

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// A web server on this machine that serves files from memory, with ranges, and with the faults of a test.
  final class FaultServer: Sendable {
    struct Request: Sendable {
      let method: String
      let uri: String
      let headers: HTTPHeaders
      /// 0, 1, 2, ... in order of arrival.
      let number: Int
      /// Which connection it came by; 0, 1, 2, ...
      let connection: Int

      /// Without the slash at the beginning and the query.
      var path: String { String(uri.drop { $0 == "/" }.prefix { $0 != "?" }) }
      func header(_ name: String) -> String? { headers.first(name: name) }

      /// The requested `Range`.
      var range: ClosedRange<Int>? {
        guard let match = header("Range")?.wholeMatch(of: /bytes=([0-9]+)-([0-9]+)/),
          let first = Int(match.output.1), let last = Int(match.output.2), first <= last
        else { return nil }
        return first...last
      }
    }

    struct Reply: Sendable {
      var status = 200
      var headers: [(String, String)] = []
      var body: [UInt8] = []
      /// The value of `Content-Length`; by default the real one. Negative: the field is omitted, and the body is
      /// chunked.
      var declaredLength: Int?
      /// How many bytes of the body are sent before `end`.
      var sentCount: Int?
      var end = End.nothing
      /// The bytes sent instead of all the above.
      var raw: [UInt8]?

      enum End: Hashable, Sendable {
        case nothing, close, reset, endless
        /// Nothing more comes, and the world's time goes by until the client ends the connection.
        case stall
        /// All of it, head included, comes so many bytes in each second of the world's time, and then a stall.
        case drip(Int)
        /// After it this comes again and again, once in each second of the world's time.
        case repeated([UInt8])
      }

      mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.0 == name }
        if let value { headers.append((name, value)) }
      }
    }

    typealias Fault = @Sendable (Request, inout Reply) -> Void

    struct State {
      var files: [String: [UInt8]]
      var tags: [String: String] = [:]
      var hasRanges = true
      var requests: [Request] = []
      var connectionCount = 0
      var openConnectionCount = 0
      var mostOpenConnections = 0
      var fault: Fault?
      /// In what time a second of the world's goes by.
      var secondLength: TimeAmount = .milliseconds(2)
    }
    let state: Mutex<State>
    let time: TestTime
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let host: String

    /// - Parameters:
    ///   - time: the client's.
    ///   - host: where to listen: an address of this machine.
    init(
      _ files: [String: [UInt8]], hasRanges: Bool = true, time: TestTime = TestTime(), host: String = "127.0.0.1",
      fault: Fault? = nil
    ) async throws {
      self.time = time
      self.host = host
      let state = State(files: files, hasRanges: hasRanges, fault: fault)
      let holder = Holder()
      self.state = Mutex(state)
      channel = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 64)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
              ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)), Connection(holder.server!),
            ])
          }
        }
        .bind(host: host, port: 0).get()
      holder.server = self
    }

    /// The connections' way to the server, which is made before it has one.
    private final class Holder: @unchecked Sendable { weak var server: FaultServer? }

    func close() async {
      try? await channel.close()
      try? await group.shutdownGracefully()
    }

    var port: Int { channel.localAddress!.port! }
    var url: String { "http://\(host):\(port)/site" }
    var requests: [Request] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    func replaceFault(_ fault: Fault?) { state.withLock { $0.fault = fault } }

    // MARK: - Serving

    fileprivate func answer(_ head: HTTPRequestHead, connection: Int) -> Reply {
      state.withLock { state in
        let request = Request(
          method: head.method.rawValue, uri: head.uri, headers: head.headers, number: state.requests.count,
          connection: connection)
        state.requests.append(request)
        var reply = Self.serve(request, state)
        state.fault?(request, &reply)
        return reply
      }
    }

    /// The answer of an honest server.
    static func serve(_ request: Request, _ state: State) -> Reply {
      var reply = Reply()
      let name = request.path.hasPrefix("site/") ? String(request.path.dropFirst(5)) : request.path
      guard let file = state.files[name] else {
        reply.status = 404
        return reply
      }
      // Roots change; other files have the same bytes as long as they have their names.
      let version = name.hasPrefix("root") ? Digest256(hashing: file).hex : "1"
      let tag = state.tags[name] ?? "\"\(name)-\(version)\""
      reply.headers = [("ETag", tag)]
      if request.header("If-None-Match") == tag {
        reply.status = 304
        return reply
      }
      reply.body = file
      guard state.hasRanges, let range = request.range else { return reply }
      if let condition = request.header("If-Range"), condition != tag { return reply }
      guard range.lowerBound < file.count else {
        reply.status = 416
        reply.body = []
        return reply
      }
      let last = min(range.upperBound, file.count - 1)
      reply.status = 206
      reply.body = Array(file[range.lowerBound...last])
      reply.headers.append(("Content-Range", "bytes \(range.lowerBound)-\(last)/\(file.count)"))
      return reply
    }
  }

  private final class Connection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer
    private let server: FaultServer
    private var number = 0
    private var isOver = false

    init(_ server: FaultServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) {
      number = server.state.withLock { state in
        state.connectionCount += 1
        state.openConnectionCount += 1
        state.mostOpenConnections = max(state.mostOpenConnections, state.openConnectionCount)
        return state.connectionCount - 1
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      isOver = true
      server.state.withLock { $0.openConnectionCount -= 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(let head) = unwrapInboundIn(data) else { return }
      send(server.answer(head, connection: number), context)
    }

    private func bytes(of reply: FaultServer.Reply, _ context: ChannelHandlerContext) -> ByteBuffer {
      if let raw = reply.raw { return context.channel.allocator.buffer(bytes: raw) }
      let length = reply.declaredLength ?? reply.body.count
      var text = "HTTP/1.1 \(reply.status) Some Reason\r\n"
      for (name, value) in reply.headers { text += "\(name): \(value)\r\n" }
      text += length < 0 || reply.end == .endless ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(length)\r\n"
      text += "\r\n"
      var buffer = context.channel.allocator.buffer(string: text)
      let body = reply.body.prefix(reply.sentCount ?? reply.body.count)
      if length < 0 || reply.end == .endless {
        if !body.isEmpty { chunk(body, into: &buffer) }
        if reply.end == .nothing { buffer.writeString("0\r\n\r\n") }
      } else {
        buffer.writeBytes(body)
      }
      return buffer
    }

    private func send(_ reply: FaultServer.Reply, _ context: ChannelHandlerContext) {
      let buffer = bytes(of: reply, context)
      if case .drip(let count) = reply.end { return drip(buffer, count, context) }
      let written = context.writeAndFlush(wrapOutboundOut(buffer))
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      switch reply.end {
      case .nothing, .drip: break
      case .repeated(let bytes): repeatForever(context.channel.allocator.buffer(bytes: bytes), context)
      case .stall: written.whenComplete { _ in bound.value.0.passTime(bound.value.1) }
      case .close: written.whenComplete { _ in bound.value.1.close(promise: nil) }
      case .reset:
        // Closing a connection that does not linger resets it.
        let options = context.channel as! any SocketOptionProvider
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).and(written).whenComplete { _ in
          bound.value.1.close(promise: nil)
        }
      case .endless:
        written.whenSuccess { _ in
          let (connection, context) = bound.value
          connection.sendForever(context)
        }
      }
    }

    /// Advances the test's clock by seconds while the client is connected.
    private func passTime(_ context: ChannelHandlerContext) {
      guard !isOver else { return }
      if server.time.isWatched { server.time.pass(.seconds(1)) }
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: server.state.withLock { $0.secondLength }) {
        bound.value.0.passTime(bound.value.1)
      }
    }

    private func drip(_ bytes: ByteBuffer, _ count: Int, _ context: ChannelHandlerContext) {
      guard !isOver, bytes.readableBytes > 0 else { return passTime(context) }
      var rest = bytes
      // Each second is seen by the client, however busy the machine is.
      if server.time.isWatched, let next = rest.readSlice(length: min(count, rest.readableBytes)) {
        context.writeAndFlush(wrapOutboundOut(next), promise: nil)
        server.time.pass(.seconds(1))
      }
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: server.state.withLock { $0.secondLength }) { [rest] in
        bound.value.0.drip(rest, count, bound.value.1)
      }
    }

    private func repeatForever(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
      guard !isOver else { return }
      if server.time.isWatched {
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        server.time.pass(.seconds(1))
      }
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: server.state.withLock { $0.secondLength }) {
        bound.value.0.repeatForever(bytes, bound.value.1)
      }
    }

    private static let endlessChunk =
      Array("10000\r\n".utf8) + [UInt8](repeating: 7, count: 65_536) + Array("\r\n".utf8)

    private func sendForever(_ context: ChannelHandlerContext) {
      guard !isOver else { return }
      let buffer = context.channel.allocator.buffer(bytes: Self.endlessChunk)
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(buffer)).whenSuccess { _ in
        let (connection, context) = bound.value
        connection.sendForever(context)
      }
    }

    private func chunk(_ bytes: some Collection<UInt8>, into buffer: inout ByteBuffer) {
      buffer.writeString(String(bytes.count, radix: 16) + "\r\n")
      buffer.writeBytes(bytes)
      buffer.writeString("\r\n")
    }
  }
#endif
