#if Delivery
  package import AsyncHTTPClient
  import NIOCore
  package import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import PackStore
  import Synchronization

  /// The connections of one source, all on one network thread: one client for each proxy, and one for each server that may be in a
  /// private network.
  ///
  /// The address check uses the address of the established connection, before any request, because a name may resolve differently
  /// each time. Through a proxy, the proxy resolves names, so only addresses in URLs are checked.
  package final class HTTPClients: Sendable {
    private struct State {
      var group: MultiThreadedEventLoopGroup?
      var clients: [ConnectionRoute: HTTPClient] = [:]
      /// Servers that may be in a private network, by ``SiteURL/authority``.
      var sides: [String: ServerSide] = [:]
    }
    private static let readByteCount = 16 << 10
    /// The maximum number of servers that may be in a private network: each has a client.
    private static let sideLimit = 16
    private let state: Mutex<State>
    private let ownsGroup: Bool
    private let options: HTTPSource.Options
    private let proxies: ProxySettings
    private let roots: NIOSSLTrustRoots

    /// - Throws: `ioError` if the certificates in the environment cannot be read.
    package init(_ options: HTTPSource.Options) throws {
      let file = options.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
      roots =
        try options.authority.map { try Self.roots(inPEM: $0) } ?? file.map { try Self.roots(in: $0) } ?? .default
      proxies = ProxySettings(environment: options.environment)
      self.options = options
      ownsGroup = true
      state = Mutex(State())
    }

    /// Creates clients without connections on the same thread.
    private init(freshFrom other: HTTPClients) throws {
      roots = other.roots
      proxies = other.proxies
      options = other.options
      ownsGroup = false
      let (group, sides) = try other.state.withLock { try (Self.group(&$0), $0.sides) }
      state = Mutex(State(group: group, sides: sides))
    }

    private static func roots(in file: String) throws -> NIOSSLTrustRoots {
      do {
        return .certificates(try NIOSSLCertificate.fromPEMFile(file))
      } catch {
        throw DeliveryError(.ioError, "not a PEM file of trusted certificates (--ca or SSL_CERT_FILE)", at: file)
      }
    }

    private static func roots(inPEM text: String) throws -> NIOSSLTrustRoots {
      let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
      guard let certificates, !certificates.isEmpty else {
        throw DeliveryError(.ioError, "the trusted authority is not a PEM certificate")
      }
      return .certificates(certificates)
    }

    /// How requests reach a server.
    private enum ConnectionRoute: Hashable {
      /// Only to public addresses.
      case direct
      /// To a server that may be in a private network, by its authority.
      case site(String)
      /// Through a tunnel of a proxy, which cannot read the traffic: for https, and with SOCKS.
      case tunnel(ProxyServer)
      /// Through a proxy that receives the whole URL: for http, because few proxies open tunnels to ports other than that of https.
      case forward(ProxyServer)

      var proxy: ProxyServer? {
        switch self {
        case .direct, .site: nil
        case .tunnel(let proxy), .forward(let proxy): proxy
        }
      }
    }

    private func route(to url: SiteURL, mayBePrivate: Bool) throws -> ConnectionRoute {
      guard let proxy = try proxies.proxy(for: url) else {
        return mayBePrivate ? .site(url.authority) : .direct
      }
      return url.scheme == "http" && proxy.kind == .http ? .forward(proxy) : .tunnel(proxy)
    }

    /// Sends a request for `url`. The body is still to come.
    ///
    /// - Parameter mayBePrivate: whether the server may have a private address.
    /// - Throws: ``RefusedAddress``, ``ProxyFault``.
    func get(_ url: SiteURL, _ headers: HTTPHeaders, mayBePrivate: Bool) async throws -> HTTPClientResponse {
      try await send(.GET, url, headers, body: nil, mayBePrivate: mayBePrivate)
    }

    /// Sends a request with any method and body.
    ///
    /// - Parameter limit: the maximum time until the head of the answer; `nil`: no limit.
    package func send(
      _ method: HTTPMethod, _ url: SiteURL, _ headers: HTTPHeaders, body: HTTPClientRequest.Body?, mayBePrivate: Bool,
      within limit: Duration? = nil
    ) async throws -> HTTPClientResponse {
      let mayBePrivate = mayBePrivate || options.limits.allowsPrivateRedirects
      if !mayBePrivate { try checkHost(of: url) }
      let route = try route(to: url, mayBePrivate: mayBePrivate)
      var request = HTTPClientRequest(url: url.text)
      request.method = method
      request.headers = headers
      request.body = body
      if case .forward(let proxy) = route {
        // `AbsoluteForm` converts the target back to a URL.
        request.url = try SiteURL("http://\(proxy.authority)").text
        request.url += url.target
        request.headers.replaceOrAdd(name: "Host", value: url.authority)
        if let authorization = proxy.authorization {
          request.headers.add(name: "Proxy-Authorization", value: authorization.headerValue)
        }
      }
      return try await execute(request, route, to: url, limit.map { .now() + .nanoseconds($0.nanoseconds) })
    }

    private func execute(
      _ request: HTTPClientRequest, _ route: ConnectionRoute, to url: SiteURL, _ deadline: NIODeadline?
    ) async throws -> HTTPClientResponse {
      let client = try client(route), deadline = deadline ?? .distantFuture
      guard let proxy = route.proxy else { return try await client.execute(request, deadline: deadline) }
      let response: HTTPClientResponse
      do {
        response = try await client.execute(request, deadline: deadline)
      } catch {
        throw ProxyFault(error, of: proxy, to: url) ?? error
      }
      if case .forward = route, let fault = ProxyFault(response, of: proxy, to: url) { throw fault }
      return response
    }

    private func client(_ route: ConnectionRoute) throws -> HTTPClient {
      try state.withLock { state in
        if let client = state.clients[route] { return client }
        if case .site(let authority) = route, state.sides[authority] == nil {
          guard state.sides.count < Self.sideLimit else {
            throw DeliveryError(.badResponse, "the site's servers redirect to too many other servers", at: authority)
          }
          state.sides[authority] = ServerSide(options)
        }
        let group = try Self.group(&state)
        let client = HTTPClient(
          eventLoopGroupProvider: .shared(group), configuration: configuration(route, state.sides))
        state.clients[route] = client
        return client
      }
    }

    /// Calls `body` with clients without connections.
    func withFreshClients<Result>(_ body: (HTTPClients) async throws -> Result) async throws -> Result {
      let clients = try HTTPClients(freshFrom: self)
      let result: Result
      do {
        result = try await body(clients)
      } catch {
        await clients.shutdown()
        throw error
      }
      await clients.shutdown()
      return result
    }

    /// Closes all connections.
    package func shutdown() async {
      let state = state.withLock { state in
        defer { state = State() }
        return state
      }
      for client in state.clients.values { try? await client.shutdown().get() }
      if ownsGroup { try? await state.group?.shutdownGracefully() }
    }

    /// Returns when the network thread has processed all earlier work: sent bytes are then in the system's buffers, or their sender
    /// is waiting.
    package func catchUp() async {
      guard let group = state.withLock({ $0.group }) else { return }
      try? await group.next().submit {}.get()
    }

    /// Returns the network thread, and creates it on first use.
    ///
    /// - Throws: `IOError` if too many files are open.
    private static func group(_ state: inout State) throws -> MultiThreadedEventLoopGroup {
      if let group = state.group { return group }
      // Without its descriptors, the network library ends the process.
      if let error = obstacle(toFiles: threadDescriptorCount) {
        throw IOError(errnoCode: error.rawValue, reason: "open")
      }
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      state.group = group
      return group
    }

    /// The number of descriptors of a network thread.
    private static let threadDescriptorCount = 3

    /// The network thread, for a probe of a server; `nil` if a proxy leads to the server.
    func probeGroup(for url: SiteURL) -> MultiThreadedEventLoopGroup? {
      guard (try? proxies.proxy(for: url)) == .some(nil) else { return nil }
      return try? state.withLock { try Self.group(&$0) }
    }

    // MARK: - Addresses

    /// Whether a server that answered is in a private network or on this machine.
    func isPrivate(_ url: SiteURL) -> Bool {
      if let isPrivate = state.withLock({ $0.sides[url.authority] })?.isPrivate { return isPrivate }
      return isPrivateName(url)  // through a proxy
    }

    /// Checks an address in the URL, without a connection.
    private func checkHost(of url: SiteURL) throws(RefusedAddress) {
      if isPrivateName(url) { throw RefusedAddress(address: url.host) }
    }

    private func isPrivateName(_ url: SiteURL) -> Bool {
      let host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
      if let address = try? SocketAddress(ipAddress: host, port: 0), let ip = IPAddress(address) {
        return !options.isPublic(ip)
      }
      return host == "localhost" || host.hasSuffix(".localhost")
    }

    /// Checks the address of a new connection, before a request is sent on it.
    private static func check(
      _ channel: any Channel, _ side: ServerSide?, _ isPublic: (IPAddress) -> Bool
    ) throws(RefusedAddress) {
      guard let address = channel.remoteAddress.flatMap(IPAddress.init) else { throw RefusedAddress(address: "?") }
      let isPublic = isPublic(address)
      guard side?.admits(isPublic: isPublic) ?? isPublic else {
        // Only after the client has registered it: otherwise it takes an ended connection for one of its own.
        channel.eventLoop.execute { channel.close(promise: nil) }
        throw RefusedAddress(address: "\(address)")
      }
    }

    // MARK: - Configuration

    /// This module handles redirects, attempts and stalls.
    private func configuration(_ route: ConnectionRoute, _ sides: [String: ServerSide]) -> HTTPClient.Configuration {
      var configuration = HTTPClient.Configuration(
        redirectConfiguration: .disallow,
        timeout: .init(connect: .nanoseconds(options.connectLimit.nanoseconds), read: nil), decompression: .disabled)
      configuration.timeout.read = options.idleLimit.map { .nanoseconds($0.nanoseconds) }
      configuration.timeout.write = configuration.timeout.read
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.connectionCount
      configuration.connectionPool.retryConnectionEstablishment = false
      // Six connections need no HTTP/2, and swift-nio-http2 1.46 traps on a `:status` that is empty or negative.
      configuration.httpVersion = .http1Only
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = roots
      configuration.tlsConfiguration = tls
      var isForwarded = false, isDirect = false
      var side: ServerSide?
      switch route {
      case .direct: isDirect = true
      case .site(let authority):
        isDirect = true
        side = sides[authority]
      case .tunnel(let proxy):
        configuration.proxy =
          proxy.kind == .socks
          ? .socksServer(host: proxy.host, port: proxy.port)
          : .server(host: proxy.host, port: proxy.port, authorization: proxy.authorization)
      case .forward: isForwarded = true
      }
      configuration.http1_1ConnectionDebugInitializer = { [isForwarded, isDirect, side, options] channel in
        channel.eventLoop.makeCompletedFuture {
          if isDirect { try Self.check(channel, side, options.isPublic) }
          // Several reads of each connection are in memory at a time, so they should be small.
          try channel.syncOptions?.setOption(
            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readByteCount))
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
          try pipeline.addHandler(StatusCheck(), position: .after(decoder))
          guard isForwarded else { return }
          try pipeline.addHandler(AbsoluteForm(), position: .after(pipeline.handler(type: HTTPRequestEncoder.self)))
        }
      }
      return configuration
    }
  }

  /// A connection reached an address that servers must not redirect to.
  struct RefusedAddress: Error {
    let address: String
  }

  /// Whether a server is in a private network. A server once found at a public address is not followed to a private address, even
  /// if its name changes.
  private final class ServerSide: Sendable {
    private let wasPublic = Mutex<Bool?>(nil)
    private let mayChange: Bool

    init(_ options: HTTPSource.Options) { mayChange = options.limits.allowsPrivateRedirects }

    func admits(isPublic: Bool) -> Bool {
      wasPublic.withLock { wasPublic in
        guard isPublic || wasPublic != true || mayChange else { return false }
        wasPublic = isPublic || wasPublic == true
        return true
      }
    }

    /// `nil`: unknown.
    var isPrivate: Bool? { wasPublic.withLock { $0.map { !$0 } } }
  }

  extension IPAddress {
    /// `nil` for addresses that are not IP addresses.
    fileprivate init?(_ address: SocketAddress) {
      // The offset of the address in `sockaddr_in` and `sockaddr_in6`, on every system.
      let place: Range<Int>
      switch address.protocol {
      case .inet: place = 4..<8
      case .inet6: place = 8..<24
      default: return nil
      }
      let bytes = address.withSockAddr { pointer, size in Array(UnsafeRawBufferPointer(start: pointer, count: size)) }
      guard bytes.count >= place.upperBound else { return nil }
      self.init(bytes[place])
    }
  }

  /// Closes a connection after a status below 100: async-http-client 1.37 treats such an answer as interim, and traps when it ends.
  private final class StatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isOver else { return }
      if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
        isOver = true
        context.fireErrorCaught(ImproperStatus(code: head.status.code))
        return context.close(promise: nil)
      }
      context.fireChannelRead(data)
    }
  }

  struct ImproperStatus: Error, CustomStringConvertible {
    let code: UInt

    var description: String { "the answer has the status \(code)" }
  }

  /// Sends the whole URL as the target of requests, as proxies require.
  private final class AbsoluteForm: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
        return context.write(data, promise: promise)
      }
      head.uri = "http://\(host)\(head.uri)"
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
  }

  extension ProxyServer {
    fileprivate var authorization: HTTPClient.Authorization? {
      user.map { .basic(username: $0, password: password) }
    }
  }

  extension Duration {
    /// Between 1 nanosecond and a century.
    fileprivate var nanoseconds: Int64 {
      let (seconds, attoseconds) = min(max(self, .nanoseconds(1)), .seconds(3_155_760_000)).components
      return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
  }
#endif
