#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import Synchronization

  /// The connections of one source: a client for each proxy that is used, all on one network thread.
  final class HTTPClients: Sendable {
    private struct State {
      var group: MultiThreadedEventLoopGroup?
      var clients: [Way: HTTPClient] = [:]
    }
    private static let readByteCount = 16 << 10
    private let state = Mutex(State())
    private let proxies: ProxySettings
    private let connectLimit: Duration
    private let connectionCount: Int
    private let roots: NIOSSLTrustRoots

    /// - Parameter certificateFile: whom to trust in place of the system's roots, in PEM.
    init(
      proxies: ProxySettings, connectLimit: Duration, connectionCount: Int, certificateFile: String?
    ) throws(DeliveryError) {
      self.proxies = proxies
      roots = try certificateFile.map(Self.roots) ?? .default
      self.connectLimit = connectLimit
      self.connectionCount = connectionCount
    }

    private static func roots(in file: String) throws(DeliveryError) -> NIOSSLTrustRoots {
      do {
        return .certificates(try NIOSSLCertificate.fromPEMFile(file))
      } catch {
        throw DeliveryError(.ioError, "SSL_CERT_FILE names no file with certificates in PEM", at: file)
      }
    }

    /// How requests get to a server.
    private enum Way: Hashable {
      case direct
      /// The proxy connects us, and sees nothing of what is said: for https, and what SOCKS does.
      case tunnel(ProxyServer)
      /// The proxy is asked, with the whole URL: for http, since few proxies connect anybody to other ports than that of
      /// https.
      case forward(ProxyServer)
    }

    private func way(to url: SiteURL) throws(DeliveryError) -> Way {
      guard let proxy = try proxies.proxy(for: url) else { return .direct }
      return url.scheme == "http" && proxy.kind == .http ? .forward(proxy) : .tunnel(proxy)
    }

    /// Asks for `url`. The body is still to come.
    ///
    /// - Parameter fresh: a client of ``withFreshClient(for:_:)``, for this URL.
    func get(_ url: SiteURL, _ headers: HTTPHeaders, fresh: HTTPClient? = nil) async throws -> HTTPClientResponse {
      let way = try way(to: url)
      var request = HTTPClientRequest(url: url.text)
      request.headers = headers
      if case .forward(let proxy) = way {
        // `AbsoluteForm` makes the target a URL again.
        request.url = try SiteURL("http://\(proxy.host.contains(":") ? "[\(proxy.host)]" : proxy.host):\(proxy.port)")
          .text
        request.url += url.target
        request.headers.replaceOrAdd(name: "Host", value: url.authority)
        if let authorization = proxy.authorization {
          request.headers.add(name: "Proxy-Authorization", value: authorization.headerValue)
        }
      }
      return try await (fresh ?? client(way)).execute(request, deadline: .distantFuture)
    }

    private func client(_ way: Way) -> HTTPClient {
      state.withLock { state in
        if let client = state.clients[way] { return client }
        let client = HTTPClient(eventLoopGroupProvider: .shared(Self.group(&state)), configuration: configuration(way))
        state.clients[way] = client
        return client
      }
    }

    /// Lends a client that has no connections yet.
    func withFreshClient<Result>(for url: SiteURL, _ body: (HTTPClient) async throws -> Result) async throws -> Result {
      let way = try way(to: url)
      let group = state.withLock { Self.group(&$0) }
      let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration(way))
      let result: Result
      do {
        result = try await body(client)
      } catch {
        try? await client.shutdown().get()
        throw error
      }
      try? await client.shutdown().get()
      return result
    }

    /// Ends all connections.
    func shutdown() async {
      let state = state.withLock { state in
        defer { state = State() }
        return state
      }
      for client in state.clients.values { try? await client.shutdown().get() }
      try? await state.group?.shutdownGracefully()
    }

    private static func group(_ state: inout State) -> MultiThreadedEventLoopGroup {
      if let group = state.group { return group }
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      state.group = group
      return group
    }

    /// Redirections, attempts and stalls are ours.
    private func configuration(_ way: Way) -> HTTPClient.Configuration {
      var configuration = HTTPClient.Configuration(
        redirectConfiguration: .disallow,
        timeout: .init(connect: .nanoseconds(connectLimit.nanoseconds), read: nil), decompression: .disabled)
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionCount
      configuration.connectionPool.retryConnectionEstablishment = false
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = roots
      configuration.tlsConfiguration = tls
      var isForwarded = false
      switch way {
      case .direct: break
      case .tunnel(let proxy):
        configuration.proxy =
          proxy.kind == .socks
          ? .socksServer(host: proxy.host, port: proxy.port)
          : .server(host: proxy.host, port: proxy.port, authorization: proxy.authorization)
      case .forward: isForwarded = true
      }
      configuration.http1_1ConnectionDebugInitializer = { [isForwarded] channel in
        channel.eventLoop.makeCompletedFuture {
          // Several reads of each connection are in memory at a time: these need not be large.
          let options = channel.syncOptions
          try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readByteCount))
          guard isForwarded else { return }
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(AbsoluteForm(), position: .after(pipeline.handler(type: HTTPRequestEncoder.self)))
        }
      }
      return configuration
    }
  }

  /// Makes the target of requests a whole URL, which is how proxies are asked.
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
    fileprivate var nanoseconds: Int64 {
      let (seconds, attoseconds) = components
      return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
  }
#endif
