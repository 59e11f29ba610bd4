#if Delivery
  import NIOHTTP1
  import PackStore
  import Synchronization
  import Testing

  @testable import PackDelivery

  /// Tokens and passwords go to the site's server, and nowhere else.
  extension HTTPSourceTests {
    /// The site's server refuses all requests without `value`.
    private static func requiring(_ value: @escaping @Sendable () -> String) -> FaultServer.Fault {
      { request, reply in
        guard request.header("Authorization") != value() else { return }
        reply = FaultServer.Reply(status: 401)
        reply.set("WWW-Authenticate", "Bearer realm=\"packs\"")
      }
    }

    private func withAuthorization(_ authorization: SiteAuthorization?) -> HTTPSource.Options {
      var options = HTTPSource.Options()
      options.authorization = authorization
      return options
    }

    @Test func requestsCarryTheAuthorization() async throws {
      for (authorization, value) in [
        (try SiteAuthorization(bearerToken: "abc"), "Bearer abc"),
        (try SiteAuthorization(user: "ann", password: "pä:ss"), "Basic YW5uOnDDpDpzcw=="),
        (try SiteAuthorization(headerLines: "# none\n\nAuthorization:  Key x \r\nX-Other: y"), "Key x"),
        (
          try #require(try SiteAuthorization(for: "http://127.0.0.1/", inNetrc: "default login a password b")),
          "Basic YTpi"
        ),
      ] {
        try await withSource(options: withAuthorization(authorization), fault: Self.requiring { value }) {
          source, server in
          #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
          _ = try await read(source, 0..<10)
          _ = try await read(source, 0..<10, isFresh: true)
          _ = try await read(source, 0..<300_000)
          #expect(server.requests.count == 4)
        }
      }
    }

    @Test func namesAndPasswordsInURLsBecomeAField() async throws {
      for (userInfo, value) in [
        ("ann:p%40s:s", "Basic YW5uOnBAczpz"), ("ann:", "Basic YW5uOg=="), (":x", "Basic Ong="),
      ] {
        try await withSource(
          options: withAuthorization(try SiteAuthorization(bearerToken: "other")),
          url: { "http://\(userInfo)@127.0.0.1:\($0.port)/site" }, fault: Self.requiring { value }
        ) { source, server in
          let root = try await source.readWhole("root", upTo: 10)
          #expect(root.bytes == [1, 2, 3])
          #expect(source.location == server.url && !source.place(of: "root").contains("@"))
        }
      }
      // A name alone leaves the password to the options.
      try await withSource(
        options: withAuthorization(try SiteAuthorization(user: "ann", password: "b")),
        url: { "http://ann@127.0.0.1:\($0.port)/site" }, fault: Self.requiring { "Basic YW5uOmI=" }
      ) { source, _ in _ = try await source.readWhole("root", upTo: 10) }
    }

    /// Another host, another port, and a learned place.
    @Test func authorizationsStayWithTheServer() async throws {
      let other = try await FaultServer(["root": [1, 2, 3], Self.file.path: Self.content], time: time)
      let place = "http://127.0.0.1:\(other.port)/site/"
      for viaHost in ["127.0.0.1", "localhost"] {
        let fault: FaultServer.Fault = { request, reply in
          guard request.header("Authorization") == "Bearer SECRET" else {
            return reply = FaultServer.Reply(status: 401)
          }
          reply = FaultServer.Reply(status: 302)
          reply.set("Location", place.replacing("127.0.0.1", with: viaHost) + request.path.dropFirst("site/".count))
        }
        try await withSource(options: withAuthorization(try SiteAuthorization(bearerToken: "SECRET")), fault: fault) {
          source, server in
          _ = try await source.readWhole("root", upTo: 10)
          _ = try await read(source, 0..<10)
          #expect(server.requests.count == 1 && server.requests[0].header("Authorization") != nil)
        }
      }
      #expect(other.requests.count == 4)
      #expect(other.requests.allSatisfy { $0.header("Authorization") == nil })
      await other.close()
    }

    @Test func originsAreSchemeHostAndPort() throws {
      let site = try SiteURL("https://a.example/x")
      for (url, isSame) in [
        ("https://A.example:443/y", true), ("https://a.example:444/", false), ("http://a.example/", false),
        ("https://b.example/", false), ("https://sub.a.example/", false), ("https://a.example.b/", false),
      ] { #expect(try site.hasSameOrigin(as: SiteURL(url)) == isSame, "\(url)") }
      for (site, server) in [
        ("https://u:p@A.example/x?y", "https://a.example:443"), ("http://[::1]:80/", "http://[::1]:80"),
        ("HTTP://a:8080", "http://a:8080"), ("/a/b", nil), ("file:///a", nil), ("s3://a/b", nil),
      ] { #expect(serverOfSite(site) == server) }
    }

    /// The answers of an extension: a server's challenge leads to a question, an answer is repeated until it is refused, and neither the
    /// question nor the answer concerns the server of a redirection.
    @Test func extensionsAnswerChallenges() async throws {
      let valid = Mutex("Basic YW5uOmE="), questions = Mutex<[FileChallenge]>([])
      let reply = Mutex(FileChallengeReply.credential(user: "ann", password: "a"))
      let authorization = SiteAuthorization(answeringBy: { challenge in
        questions.withLock { $0.append(challenge) }
        return reply.withLock { $0 }
      })
      let scheme = Mutex("Basic realm=\"packs\"")
      let fault: FaultServer.Fault = { request, answer in
        guard request.header("Authorization") != valid.withLock({ $0 }) else { return }
        answer = FaultServer.Reply(status: 401)
        answer.set("WWW-Authenticate", scheme.withLock { $0 })
      }
      func read() async throws {
        try await withSource(options: withAuthorization(authorization), fault: fault) { source, server in
          let before = questions.withLock { $0.count }
          _ = try await source.readWhole("root", upTo: 10)
          let asked = questions.withLock { $0.dropFirst(before) }
          #expect(asked.allSatisfy { $0.scheme == "http" && $0.host == "127.0.0.1" && $0.port == server.port })
          #expect(asked.allSatisfy { $0.realm == "packs" })
        }
      }
      func isDenied() async -> Bool {
        do { try await read() } catch { return true }
        return false
      }
      try await read()
      #expect(questions.withLock { $0.map(\.failureCount) } == [0])
      // An answer is for one server; each test server has another port.
      try await withSource(options: withAuthorization(authorization), fault: fault) { source, _ in
        for _ in 0..<2 {
          _ = try await source.readWhole("root", upTo: 10)
          source.restart(ignoringValidators: false)
        }
      }
      #expect(questions.withLock { $0.count } == 2)
      for refusal in [
        FileChallengeReply.none, .cancel, .credential(user: "a:b", password: ""), .credential(user: "x", password: ""),
      ] {
        reply.withLock { $0 = refusal }
        #expect(await isDenied(), "\(refusal)")
      }
      let before = questions.withLock { $0.count }
      scheme.withLock { $0 = "Bearer realm=\"packs\"" }
      #expect(await isDenied() && questions.withLock { $0.count } == before, "no name and password are requested")
    }

    /// A server that a redirection leads to may ask as well: the extension is not asked for it, and its answer is not sent there.
    @Test func extensionsAnswerNoRedirection() async throws {
      let other = try await FaultServer(["root": [1, 2, 3]], time: time) { _, answer in
        answer = FaultServer.Reply(status: 401)
        answer.set("WWW-Authenticate", "Basic realm=\"packs\"")
      }
      let place = "http://127.0.0.1:\(other.port)/site/", questions = Mutex<[FileChallenge]>([])
      let authorization = SiteAuthorization(answeringBy: { challenge in
        questions.withLock { $0.append(challenge) }
        return .credential(user: "ann", password: "a")
      })
      let fault: FaultServer.Fault = { request, answer in
        guard request.header("Authorization") == "Basic YW5uOmE=" else {
          answer = FaultServer.Reply(status: 401)
          answer.set("WWW-Authenticate", "Basic realm=\"packs\"")
          return
        }
        answer = FaultServer.Reply(status: 302)
        answer.set("Location", place + request.path.dropFirst("site/".count))
      }
      try await withSource(options: withAuthorization(authorization), fault: fault) { source, server in
        await #expect(throws: DeliveryError.self) { try await source.readWhole("root", upTo: 10) }
        #expect(questions.withLock { $0.map(\.port) } == [server.port])
      }
      #expect(!other.requests.isEmpty && other.requests.allSatisfy { $0.header("Authorization") == nil })
      await other.close()
    }

    /// The provider is called after a refusal, once for several requests, and again when a token has expired.
    @Test func authorizationsAreRequestedAndRenewed() async throws {
      let valid = Mutex("1"), questions = Mutex<[SiteAuthorization.Challenge]>([])
      let authorization = SiteAuthorization { challenge in
        let count = questions.withLock {
          $0.append(challenge)
          return $0.count
        }
        return try SiteAuthorization(bearerToken: "\(count)")
      }
      try await withSource(
        options: withAuthorization(authorization), fault: Self.requiring { "Bearer \(valid.withLock { $0 })" }
      ) { source, server in
        #expect(try await source.readWhole("root", upTo: 10).bytes == [1, 2, 3])
        valid.withLock { $0 = "2" }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for begin in 0..<5 { group.addTask { _ = try await self.read(source, begin..<begin + 1000) } }
          try await group.waitForAll()
        }
        let all = questions.withLock { $0 }
        #expect(all.count == 2)
        #expect(all.first?.challenge == "Bearer realm=\"packs\"" && all.first?.url == "\(server.url)/root")
        #expect(all.allSatisfy { $0.refusalCount == 0 })
        valid.withLock { $0 = "never" }
        let error = try await expectError(.denied) { try await read(source, 0..<10) }
        #expect(error?.needsAuthorization == true && error?.remedy?.contains("PullOptions.authorization") == true)
        #expect(questions.withLock { $0.map(\.refusalCount) } == [0, 0, 0, 1, 2])
      }
    }

    @Test func refusedRequestsForAnAuthorizationEnd() async throws {
      try await withSource(
        options: withAuthorization(SiteAuthorization { _ in nil }), fault: Self.requiring { "never" }
      ) { source, server in
        _ = try await expectError(.denied) { try await read(source, 0..<10) }
        #expect(server.requests.count == 1)
      }
    }

    @Test func tokensAreForOneServer() throws {
      let token = try SiteAuthorization(bearerToken: "t"), function = SiteAuthorization { _ in nil }
      for (sites, isUsed) in [
        (["https://a/x", "https://A:443/y", "folder"], true), (["https://a", "https://b"], false), ([], true),
        (["https://a", "http://a"], false), (["https://a", "https://a:444"], false),
      ] {
        #expect((token.limited(toServerOf: sites) != nil) == isUsed, "\(sites)")
        #expect(function.limited(toServerOf: sites) != nil)
      }
    }

    @Test func badAuthorizationsAreRefused() throws {
      for token in ["", "a b", "a\nb", "ä"] {
        #expect(throws: DeliveryError.self) { try SiteAuthorization(bearerToken: token) }
      }
      for (user, password) in [("a:b", "c"), ("a", "b\n"), ("a\0", "b")] {
        #expect(throws: DeliveryError.self) { try SiteAuthorization(user: user, password: password) }
      }
      for lines in ["SECRET", "Host: a", "range: bytes=0-1", "A B: SECRET", ": SECRET", "X: a\u{1}SECRET"] {
        do {
          _ = try SiteAuthorization(headerLines: lines)
          Issue.record("'\(lines)' was accepted")
        } catch { #expect(!"\(error)".contains("SECRET")) }
      }
      let secret = try SiteAuthorization(bearerToken: "SECRET")
      var dumped = ""
      dump(secret, to: &dumped)
      #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("SECRET"))
      dumped = ""
      dump(Store.PullOptions(authorization: secret), to: &dumped)
      #expect(!dumped.contains("SECRET"))
    }
  }
#endif
