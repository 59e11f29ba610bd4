#if Hosting
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// Sends the body of a delivery.
  protocol WebhookTransport: Sendable {
    /// - Returns: the status and the first bytes of the answer's body.
    /// - Throws: `DeliveryFault` and errors of the network.
    func post(_ url: WebhookURL, body: String, headers: [(name: String, value: String)]) async throws -> (Int, String)
  }

  /// Why a delivery was not sent.
  struct DeliveryFault: Error, CustomStringConvertible {
    let description: String
  }

  /// Sends over the network to public addresses, without following redirects.
  struct NetworkTransport: WebhookTransport {
    let permitsPrivateAddresses: Bool

    /// Returns the addresses of a host. Each delivery calls it once, and connects to an address that it checked.
    let resolve: @Sendable (String) async throws -> [HostResolver.Address]

    init(
      permitsPrivateAddresses: Bool,
      resolve: @escaping @Sendable (String) async throws -> [HostResolver.Address] = {
        try await HostResolver.addresses(of: $0)
      }
    ) {
      (self.permitsPrivateAddresses, self.resolve) = (permitsPrivateAddresses, resolve)
    }

    /// Longest time for one delivery.
    static let deadline = TimeAmount.seconds(30)

    func post(
      _ url: WebhookURL, body: String, headers: [(name: String, value: String)]
    ) async throws -> (Int, String) {
      let addresses = try await resolve(url.host)
      guard let address = addresses.first else {
        throw DeliveryFault(description: "host '\(url.host)': has no address")
      }
      guard permitsPrivateAddresses || addresses.allSatisfy({ AddressPolicy.isPublic($0.bytes) }) else {
        throw DeliveryFault(description: "host '\(url.host)': has a private address; use a public address")
      }
      var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
      configuration.dnsOverride = [url.host: address.text]
      configuration.httpVersion = .http1Only
      let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      do {
        let answer = try await Self.send(client, url, body, headers)
        try await client.shutdown()
        return answer
      } catch {
        try? await client.shutdown()
        throw error
      }
    }

    private static func send(
      _ client: HTTPClient, _ url: WebhookURL, _ body: String, _ headers: [(name: String, value: String)]
    ) async throws -> (Int, String) {
      var request = HTTPClientRequest(url: url.text)
      request.method = .POST
      request.headers = HTTPHeaders(headers.map { ($0.name, $0.value) })
      request.body = .bytes(Array(body.utf8))
      let response = try await client.execute(request, timeout: deadline)
      var bytes: [UInt8] = []
      for try await buffer in response.body {
        bytes += buffer.readableBytesView.prefix(Assumptions.recordedBodyByteCount - bytes.count)
        if bytes.count >= Assumptions.recordedBodyByteCount { break }
      }
      return (Int(response.status.code), String(decoding: bytes, as: UTF8.self))
    }
  }
#endif
