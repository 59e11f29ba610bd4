#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOPosix
  import Synchronization

  /// The connections of one source: a client for each proxy that is used, all on one network thread.
  final class HTTPClients: Sendable {
    private struct State {
      var group: MultiThreadedEventLoopGroup?
      var clients: [HTTPClient.Configuration.Proxy?: HTTPClient] = [:]
    }
    private let state = Mutex(State())
    private let proxies: ProxySettings
    private let connectLimit: Duration
    private let connectionCount: Int

    init(proxies: ProxySettings, connectLimit: Duration, connectionCount: Int) {
      self.proxies = proxies
      self.connectLimit = connectLimit
      self.connectionCount = connectionCount
    }

    /// The client whose connections lead to `url`.
    func client(for url: SiteURL) throws -> HTTPClient {
      let proxy = try proxies.proxy(for: url)
      return state.withLock { state in
        if let client = state.clients[proxy] { return client }
        let client = HTTPClient(
          eventLoopGroupProvider: .shared(Self.group(&state)), configuration: configuration(proxy))
        state.clients[proxy] = client
        return client
      }
    }

    /// Lends a client that has no connections yet.
    func withFreshClient<Result>(for url: SiteURL, _ body: (HTTPClient) async throws -> Result) async throws -> Result {
      let proxy = try proxies.proxy(for: url)
      let group = state.withLock { Self.group(&$0) }
      let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration(proxy))
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

    /// TLS with the system's roots; redirections, attempts and stalls are ours.
    private func configuration(_ proxy: HTTPClient.Configuration.Proxy?) -> HTTPClient.Configuration {
      var configuration = HTTPClient.Configuration(
        redirectConfiguration: .disallow,
        timeout: .init(connect: .nanoseconds(connectLimit.nanoseconds), read: nil),
        proxy: proxy, decompression: .disabled)
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionCount
      configuration.connectionPool.retryConnectionEstablishment = false
      return configuration
    }
  }

  extension Duration {
    fileprivate var nanoseconds: Int64 {
      let (seconds, attoseconds) = components
      return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
  }
#endif
