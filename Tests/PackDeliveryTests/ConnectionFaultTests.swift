#if Delivery
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import PackStore
  import Testing

  @testable import PackDelivery

  /// Connections that are not made, and proxies that lead nowhere: errors name them, and nothing of the libraries.
  extension HTTPSourceTests {
    private func failure(
      at url: String, environment: [String: String] = [:], _ code: DeliveryError.Code = .unreachable
    ) async throws -> String {
      var options = HTTPSource.Options()
      options.clock = time.clock()
      options.environment = environment
      let source = try HTTPSource(url, options: options)
      let error = try await expectError(code) { try await source.readWhole("root", upTo: 10) }
      await source.close()
      let text = error?.description ?? ""
      for name in ["NIO", "Error", "Failure", "target", "SECRET", "(SOCKS"] { #expect(!text.contains(name), "\(text)") }
      return text
    }

    /// A port without a server.
    private func closedPort() async throws -> Int {
      let server = try await FaultServer([:]), port = server.port
      await server.close()
      return port
    }

    @Test func failedConnectionsAreNamed() async throws {
      let port = try await closedPort()
      let refused = try await failure(at: "http://127.0.0.1:\(port)/site?token=SECRET")
      #expect(
        refused.hasPrefix("'http://127.0.0.1:\(port)/site/root?...': the connection failed (Connection refused); "))
      let unknown = try await failure(at: "http://host.invalid/site")
      #expect(unknown.contains("no address of the host 'host.invalid' was found"))
      let plain = try await FaultServer([:], time: time)
      let noTLS = try await failure(at: "https://127.0.0.1:\(plain.port)/site")
      #expect(noTLS.contains("the TLS handshake failed"))
      await plain.close()
    }

    @Test func refusingProxiesAreNamed() async throws {
      let port = try await closedPort()
      for (variable, value, url) in [
        ("http_proxy", "http://ann:SECRET@127.0.0.1:\(port)", "http://packs.example/site"),
        ("https_proxy", "http://ann:SECRET@127.0.0.1:\(port)", "https://packs.example/site"),
        ("ALL_PROXY", "socks5://127.0.0.1:\(port)", "http://packs.example/site"),
      ] {
        let text = try await failure(at: url, environment: [variable: value])
        #expect(
          text == "'\(url)/root': the proxy 127.0.0.1:\(port) (\(variable)) cannot be reached (Connection refused);"
            + " check the proxy, or exclude the host 'packs.example' with no_proxy")
      }
    }

    @Test func proxiesThatRequireAPasswordAreNamed() async throws {
      let proxy = try await FaultServer([:], time: time) { _, reply in
        reply = FaultServer.Reply(status: 407)
        reply.set("Proxy-Authenticate", "Basic realm=\"a\"")
      }
      for (variable, url) in [
        ("http_proxy", "http://packs.example/site"), ("https_proxy", "https://packs.example/site"),
      ] {
        let text = try await failure(
          at: url, environment: [variable: "http://ann:SECRET@127.0.0.1:\(proxy.port)"], .denied)
        #expect(
          text == "'\(url)/root': the proxy 127.0.0.1:\(proxy.port) (\(variable)) requires a name and a password (407);"
            + " set \(variable)=http://NAME:PASSWORD@127.0.0.1:\(proxy.port), or exclude the host 'packs.example' with no_proxy"
        )
      }
      #expect(proxy.requests.count == 2, "another attempt makes no sense")
      await proxy.close()
    }

    @Test func proxiesThatDoNotConnectAreNamed() async throws {
      let proxy = try await FaultServer([:], time: time) { _, reply in reply = FaultServer.Reply(status: 502) }
      for (variable, value) in [
        ("https_proxy", "127.0.0.1:\(proxy.port)"), ("all_proxy", "socks5://127.0.0.1:\(proxy.port)"),
      ] {
        let text = try await failure(at: "https://packs.example/site", environment: [variable: value])
        #expect(text.contains("127.0.0.1:\(proxy.port) (\(variable))"))
      }
      await proxy.close()
    }

    @Test func parserErrorsAreWords() {
      #expect(
        "\(ConnectionFault(HTTPParserError.invalidContentLength))" == "invalid character in content-length header")
      #expect("\(ConnectionFault(HTTPParserError.invalidEOFState))" == "the connection was closed early")
      #expect("\(ConnectionFault(HTTPClientError.proxyAuthenticationRequired))" == "proxy authentication required")
      #expect("\(ConnectionFault(CancellationError()))" == "the network reported an unknown error")
    }
  }
#endif
