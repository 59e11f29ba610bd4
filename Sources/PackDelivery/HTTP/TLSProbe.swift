#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOSSL
  import PackStore
  import Synchronization

  extension HTTPSource {
    /// Explains the failure of a request that was sent without TLS to a server that requires TLS. Such servers close the connection,
    /// answer with a TLS alert, or with the status 400: neither is distinguishable from another failure without another connection.
    ///
    /// - Returns: `error` if the request used TLS or went through a proxy, or if the server does not use TLS.
    func explained(_ error: DeliveryError) async -> DeliveryError {
      let base = knowledge.withLock { $0.base }
      guard [.unreachable, .badResponse, .denied].contains(error.code), let secure = base.withTLS,
        await clients.usesTLS(secure)
      else { return error }
      var explained = DeliveryError(
        .denied, "the server requires TLS, and the URL begins with http", at: error.location)
      explained.specificRemedy = "use '\(withoutSecrets(secure.canonical))'"
      return explained
    }
  }

  extension SiteURL {
    /// The URL with `https`; `nil` if it has that already.
    fileprivate var withTLS: SiteURL? { scheme == "http" ? try? SiteURL("https" + text.dropFirst(4)) : nil }
  }

  extension HTTPClients {
    /// How long the probe may take, in seconds: it only improves a message.
    private static let probeLimit: Int64 = 2

    /// Whether a server completes a TLS handshake, with any certificate. Nothing of its answer is used.
    func usesTLS(_ url: SiteURL) async -> Bool {
      guard let group = probeGroup(for: url) else { return false }
      var configuration = HTTPClient.Configuration(
        redirectConfiguration: .disallow, timeout: .init(connect: .seconds(Self.probeLimit)), decompression: .disabled)
      configuration.httpVersion = .http1Only
      // A server that refuses connections is not asked again until the limit.
      configuration.connectionPool.retryConnectionEstablishment = false
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.certificateVerification = .none
      configuration.tlsConfiguration = tls
      let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
      var request = HTTPClientRequest(url: "https://\(url.authority)/")
      request.method = .HEAD
      let response = try? await client.execute(request, deadline: .now() + .seconds(Self.probeLimit))
      try? await client.shutdown()
      return response != nil
    }
  }
#endif
