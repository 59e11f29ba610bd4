#if Hosting
  import PackServer
  import Testing

  @testable import PackHosting

  /// Bounds of the server, with requests that no library would send.
  @Suite struct HostServerTests {
    private func run(_ options: ServerOptions = .init(), _ body: (TestServer) async throws -> Void) async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      try await TestServer.run(host, key, options, body)
    }

    @Test func credentialsAndRates() async throws {
      try await run { server async throws in
        let answer = try await server.send("GET", "/v1/apps")
        #expect(answer.status == 200)
        #expect(answer.fields["x-rate-limit"] == "user-hour-lim:3500;user-hour-rem:3499;")
        #expect(answer.fields["content-type"] == "application/json")
        let refused = try await server.send("GET", "/v1/apps", authorization: "Bearer x")
        #expect(refused.fault == "401 NOT_AUTHORIZED")
        #expect(refused.fields["x-rate-limit"] == nil)
        #expect(
          try await server.send("GET", "/packstore/v1/openapi.json", authorization: "x").text("openapi") == "3.1.0")
      }
    }

    @Test func unknownPathsAndOperations() async throws {
      try await run { server async throws in
        #expect(try await server.send("GET", "/v1/other").fault == "404 PATH_ERROR")
        #expect(try await server.send("GET", "/v1/apps/1/other").fault == "404 PATH_ERROR")
        #expect(try await server.send("GET", "/v1/apps/%2e%2e%2f1").fault == "404 PATH_ERROR")
        #expect(try await server.send("GET", "/v1/apps/%ff").fault == "404 PATH_ERROR")
        #expect(try await server.send("GET", "/v1/apps/{id}").fault == "404 NOT_FOUND")
        #expect(try await server.send("GET", "/v1/apps/").fault == "404 PATH_ERROR")
        let webhooks = try await server.send("GET", "/v1/webhooks")
        #expect(webhooks.fault == "403 FORBIDDEN_ERROR")
        #expect(webhooks.text("errors.0.detail")?.contains("CREATE, DELETE, GET_INSTANCE, UPDATE") == true)
        #expect(try await server.send("DELETE", "/v1/backgroundAssets/x").fault == "403 FORBIDDEN_ERROR")
        #expect(try await server.send("PUT", "/v1/apps").fault == "405 METHOD_NOT_ALLOWED")
      }
    }

    @Test func foreignHostsAreRefused() async throws {
      var options = ServerOptions()
      options.names = ["localhost", "api.appstoreconnect.apple.com"]
      try await run(options) { server async throws in
        #expect(try await server.send("GET", "/v1/apps", name: "evil.example").status == 421)
        #expect(try await server.send("GET", "/v1/apps", name: "a b").status == 400)
        let answer = try await server.send("GET", "/v1/apps", name: "api.appstoreconnect.apple.com")
        #expect(answer.text("links.self") == "http://api.appstoreconnect.apple.com:\(server.port)/v1/apps")
      }
    }

    @Test func linksHaveTheConfiguredBase() async throws {
      var options = ServerOptions()
      options.publicURL = "https://packs.example.com"
      try await run(options) { server async throws in
        let answer = try await server.send(
          "GET", "/v1/apps", fields: ["X-Forwarded-Host: evil", "X-Forwarded-Proto: ftp"])
        #expect(answer.text("links.self") == "https://packs.example.com/v1/apps")
      }
    }

    @Test func longBodiesCloseTheConnection() async throws {
      try await run { server async throws in
        let long = String(repeating: "x", count: 300 << 10)
        let answer = try await server.send("POST", "/v1/backgroundAssets", long)
        #expect(answer.status == 413 && answer.fields["connection"] == "close")
        let head = try chunkedHead(server)
        let piece = Array("8000\r\n\(String(repeating: "x", count: 0x8000))\r\n".utf8)
        let chunked = try await server.send([head] + Array(repeating: piece, count: 12))
        #expect(chunked.status == 413, "chunks are counted")
      }
    }

    private func chunkedHead(_ server: TestServer) throws -> [UInt8] {
      let bearer = try server.key.bearer(at: server.host.time.now)
      return Array(
        "POST /v1/backgroundAssets HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(bearer)\r\nTransfer-Encoding: chunked\r\n\r\n"
          .utf8)
    }

    /// A refused request never sends its body; the answer to an accepted request begins with 100 Continue.
    @Test func expectationIsAnswered() async throws {
      try await run { server async throws in
        let body = #"{"data":{"type":"backgroundAssets"}}"#
        let accepted = try await server.send("POST", "/v1/backgroundAssets", body, fields: ["Expect: 100-continue"])
        #expect(accepted.head.hasPrefix("HTTP/1.1 100 "))
        #expect(accepted.fault == "409 ENTITY_ERROR.ATTRIBUTE.REQUIRED")
        let refused = try await server.send("POST", "/v1/other", body, fields: ["Expect: 100-continue"])
        #expect(!refused.head.contains(" 100 ") && refused.status == 404)
      }
    }

    @Test func typesOfBodies() async throws {
      try await run { server async throws in
        let bearer = try server.key.bearer(at: server.host.time.now)
        for (type, status) in [
          ("text/plain", 415), ("application/json; charset=utf-8", 400), ("application/vnd.api+json", 400),
        ] {
          let head =
            "POST /v1/backgroundAssets HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(bearer)\r\nConnection: close\r\n"
          let answer = try await server.send([Array("\(head)Content-Type: \(type)\r\nContent-Length: 1\r\n\r\n{".utf8)])
          #expect(answer.status == status, "\(type)")
        }
      }
    }

    @Test func malformedRequestsEndTheConnection() async throws {
      try await run { server async throws in
        for text in [
          "nonsense\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
          "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
          "GET /\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 30_000))\r\n\r\n",
        ] {
          let answer = try await server.send([
            Array(text.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n").utf8)
          ])
          #expect((400..<500).contains(answer.status), "\(text.prefix(60))")
        }
      }
    }

    @Test func sitesAreServedWithoutCredentials() async throws {
      try await run { server async throws in
        for (target, status) in [
          ("/sites/1/root", 404), ("/sites/../host.sqlite", 404), ("/sites/1/../../host.sqlite", 404),
          ("/sites/1/%2e%2e/x", 404),
          ("/sites//root", 404), ("/sites/1/store/CONTROL", 404),
        ] {
          #expect(try await server.send("GET", target, authorization: "x").status == status, "\(target)")
        }
      }
    }

    /// A body that never ends does not keep its connection: the deadline ends it, however often bytes arrive.
    @Test func slowBodyMissesItsDeadline() async throws {
      var options = ServerOptions()
      (options.requestSeconds, options.leastRate) = (0, 1 << 20)
      try await run(options) { server async throws in
        let bearer = try server.key.bearer(at: server.host.time.now)
        let head =
          "POST /v1/backgroundAssets HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(bearer)\r\nContent-Length: 100\r\n\r\n{"
        let answer = try await TestConnection(port: server.port).exchange([Array(head.utf8)])
        #expect(answer.isEmpty, "closed without an answer")
        #expect(try await server.send("GET", "/health").status == 200, "others are served")
      }
    }

    @Test func addressesShareTheConnections() async throws {
      var options = ServerOptions()
      options.limits.connectionsOfAddress = 1
      try await run(options) { server async throws in
        let connection = try await TestConnection(port: server.port),
          (answers, answered) = AsyncStream<Void>.makeStream()
        async let idle = connection.exchange([Array("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)]) { _ in
          answered.yield()
          return false
        }
        for await _ in answers { break }
        // The next connection takes the place of the idle one. The server may note the end of an answer after its client does.
        var isServed = false
        for _ in 0..<100 where !isServed { isServed = (try? await server.send("GET", "/v1/apps").status) == 200 }
        #expect(isServed)
        #expect(try await String(decoding: idle, as: UTF8.self).hasPrefix("HTTP/1.1 200"), "closed after its answer")
      }
    }
  }
#endif
