#if Hosting
  import Foundation
  import PackServer
  import PackStore
  import Testing

  @testable import PackHosting

  /// The memory of request bodies has a bound for any number of connections.
  @Suite struct BodyMemoryTests {
    @Test func sharesAreGivenBack() throws {
      let memory = BodyMemory(limit: 100)
      do {
        let share = BodyMemory.Share(memory, of: "a")
        try share.grow(to: 20)
        try share.grow(to: 10)
        #expect(memory.byteCount == 20)
        try share.grow(to: 50)
        #expect(memory.byteCount == 50)
        #expect(throws: APIError.self) { try share.grow(to: 51) }
        #expect(memory.byteCount == 50, "a refused growth changes nothing")
      }
      #expect(memory.byteCount == 0)
    }

    /// One credential gets half of the memory, all together the whole.
    @Test func credentialsShareTheMemory() throws {
      let memory = BodyMemory(limit: 100)
      let shares = ["a", "b", "c"].map { BodyMemory.Share(memory, of: $0) }
      try shares[0].grow(to: 50)
      try shares[1].grow(to: 40)
      try shares[2].grow(to: 10)
      #expect(throws: APIError.self) { try shares[2].grow(to: 11) }
      let second = BodyMemory.Share(memory, of: "a")
      #expect(throws: APIError.self) { try second.grow(to: 1) }
      try second.grow(to: 0)
    }

    private func run(_ body: (TestServer) async throws -> Void) async throws {
      let host = try await TestHost(), key = TestKey()
      try await key.register(in: host)
      var options = ServerOptions()
      options.bodyMemory = 1000
      try await TestServer.run(host, key, options, body)
    }

    @Test(arguments: [true, false]) func bodiesBeyondTheMemoryWait(_ isChunked: Bool) async throws {
      try await run { server async throws in
        let bearer = try server.key.bearer(at: server.host.time.now), text = String(repeating: " ", count: 600)
        let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 600"
        let body = isChunked ? "258\r\n\(text)\r\n0\r\n\r\n" : text
        let head =
          "POST /v1/backgroundAssets HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(bearer)\r\nConnection: close\r\n\(length)\r\n\r\n"
        let answer = try await server.send([Array((head + body).utf8)])
        #expect(answer.fault == "503 SERVICE_UNAVAILABLE" && answer.fields["retry-after"] == "1")
        #expect(try await server.send("POST", "/v1/backgroundAssets", "{}").status == 409, "smaller bodies are read")
      }
    }

    /// A body that is announced and not sent has its share, until its connection ends.
    @Test func announcedBodiesHaveShares() async throws {
      try await run { server async throws in
        let bearer = try server.key.bearer(at: server.host.time.now)
        let head =
          "POST /v1/backgroundAssets HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(bearer)\r\nExpect: 100-continue\r\nContent-Length: 400\r\n\r\n"
        let connection = try await TestConnection(port: server.port)
        // Returns after the interim answer, and closes the connection.
        _ = try await connection.exchange([Array(head.utf8)]) { _ in true }
        var isServed = false
        for _ in 0..<1000 where !isServed {
          isServed =
            try await server.send("POST", "/v1/backgroundAssets", String(repeating: " ", count: 400)).status == 400
        }
        #expect(isServed, "the share was given back")
      }
    }
  }
#endif
