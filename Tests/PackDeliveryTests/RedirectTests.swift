#if Delivery
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif
  import PackStore
  import Testing

  @testable import PackDelivery

  /// Allowed targets of redirections. Here 127.0.0.2 counts as the public internet, and the other addresses of this
  /// machine as private.
  extension HTTPSourceTests {
    private static let publicHost = "127.0.0.2"

    /// Two servers and a source at the first, which sends each request to the second.
    private func withServers(
      from site: String, to target: String, named name: String? = nil,
      limits: Store.PullOptions.NetworkLimits = .init(),
      environment: [String: String] = [:],
      _ body: (HTTPSource, _ first: FaultServer, _ second: FaultServer) async throws -> Void
    ) async throws {
      let second = try await FaultServer(["root": [1, 2, 3]], time: time, host: target)
      let place = "http://\(name ?? target):\(second.port)/site/"
      let first = try await FaultServer([:], time: time, host: site) { request, reply in
        reply = FaultServer.Reply(status: 302)
        reply.set("Location", place + request.path.dropFirst("site/".count))
      }
      var options = HTTPSource.Options()
      options.clock = time.clock()
      options.limits = limits
      options.environment = environment
      options.isPublic = { "\($0)" == Self.publicHost }
      let source = try HTTPSource(first.url, options: options)
      let result = await Result { try await body(source, first, second) }
      await source.close()
      await first.close()
      await second.close()
      try result.get()
    }

    private func expectRefused(_ source: HTTPSource, asked server: FaultServer) async throws {
      let error = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 10) }
      #expect(error?.limit == .privateRedirects)
      #expect(server.requests.isEmpty, "nothing was asked there")
    }

    private func expectRoot(_ source: HTTPSource) async throws {
      let root = try await source.readWhole("root", upTo: 10)
      #expect(root.bytes == [1, 2, 3])
    }

    @Test func publicServersDoNotLeadToPrivateOnes() async throws {
      try await withServers(from: Self.publicHost, to: "127.0.0.1") { source, _, second in
        try await expectRefused(source, asked: second)
        #expect(second.connectionCount == 0, "an address that stands in the URL is not even connected to")
      }
    }

    /// A name can have another address by the time of the connection: the address of the connection is checked.
    @Test func namesAreJudgedByWhereTheyLead() async throws {
      // These are names to us, and the address 127.0.0.1 to the system that looks them up.
      for name in ["127.1", "2130706433", "0x7f000001"] {
        try await withServers(from: Self.publicHost, to: "127.0.0.1", named: name) {
          source, _, second in
          try await expectRefused(source, asked: second)
        }
      }
    }

    @Test func privateServersMayLeadAnywhere() async throws {
      for (site, target) in [
        ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.3"), ("127.0.0.1", Self.publicHost),
        (Self.publicHost, Self.publicHost),
      ] {
        try await withServers(from: site, to: target) { source, _, second in
          try await expectRoot(source)
          try await expectRoot(source)
          #expect(second.requests.count == 2)
        }
      }
    }

    /// Each hop counts: private, public, private.
    @Test func noWayBackFromThePublic() async throws {
      let last = try await FaultServer(["root": [1, 2, 3]], time: time)
      try await withServers(from: "127.0.0.1", to: Self.publicHost) { source, _, second in
        let place = "\(last.url)/root"
        second.replaceFault { _, reply in
          reply = FaultServer.Reply(status: 301)
          reply.set("Location", place)
        }
        try await expectRefused(source, asked: last)
      }
      await last.close()
    }

    /// A place that a public server led to stays as it is judged, once it is the site's.
    @Test func whatWasAdoptedIsStillJudged() async throws {
      let last = try await FaultServer(["root": [1, 2, 3]], time: time)
      try await withServers(from: "127.0.0.1", to: Self.publicHost) { source, first, second in
        try await expectRoot(source)
        let place = "\(last.url)/root"
        second.replaceFault { _, reply in
          reply = FaultServer.Reply(status: 301)
          reply.set("Location", place)
        }
        try await expectRefused(source, asked: last)
        #expect(first.requests.count == 1, "the site is at the second server now")
      }
      await last.close()
    }

    @Test func theUserMayAllowIt() async throws {
      var limits = Store.PullOptions.NetworkLimits()
      limits.allowsPrivateRedirects = true
      try await withServers(from: Self.publicHost, to: "127.0.0.1", limits: limits) { source, _, _ in
        try await expectRoot(source)
      }
    }

    /// A proxy resolves names itself; addresses in a URL are checked here.
    @Test func proxiesAreNotAskedForPrivateAddresses() async throws {
      for target in ["127.0.0.1", "[::1]", "localhost", "10.1.2.3", "a.localhost"] {
        let proxy = try await FaultServer([:], time: time) { _, reply in
          reply = FaultServer.Reply(status: 302)
          reply.set("Location", "http://\(target)/root")
        }
        var options = HTTPSource.Options()
        options.clock = time.clock()
        options.environment = ["http_proxy": "127.0.0.1:\(proxy.port)"]
        let source = try HTTPSource("http://packs.example/site", options: options)
        _ = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 10) }
        #expect(proxy.requests.map(\.uri) == ["http://packs.example/site/root"], "\(target)")
        await source.close()
        await proxy.close()
      }
    }

    @Test func redirectionsCanBeForbidden() async throws {
      var limits = Store.PullOptions.NetworkLimits()
      for limit in [0, -1, .min] {
        limits.redirectLimit = limit
        try await withServers(from: "127.0.0.1", to: "127.0.0.1", limits: limits) { source, _, second in
          let error = try await expectError(.badResponse) { try await source.readWhole("root", upTo: 10) }
          #expect(error?.reason == "the server redirects more than 0 times" && error?.limit == .redirects)
          #expect(second.requests.isEmpty)
        }
      }
    }

    @Test func whichAddressesArePublic() throws {
      func isPublic(_ text: String) throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return try #require(IPAddress(bytes.prefix(4))).isPublic }
        try #require(inet_pton(AF_INET6, text, &bytes) == 1, "\(text)")
        return try #require(IPAddress(bytes)).isPublic
      }
      for text in [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1",
        "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
        "::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fdff::1", "ff02::1", "2001:db8::1", "2001::1",
        "100::1", "3fff::1", "5f00::1", "::ffff:127.0.0.1", "::ffff:10.1.1.1", "::ffff:0:192.168.1.1", "::127.0.0.1",
        "::8.8.8.8", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8", "2002:7f00:1::",
        "2002:a00:1::1", "2002:c0a8:101::5", "2a00::5efe:10.0.0.1", "2a00::200:5efe:127.0.0.1",
      ] { #expect(try !isPublic(text), "\(text)") }
      for text in [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.1.1", "169.255.1.1", "172.15.255.255", "172.32.0.0", "192.167.1.1", "192.169.1.1",
        "198.17.1.1", "198.20.0.1", "223.255.255.255", "2a00:1450:4001::1", "2606:4700::1111", "2003::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2a00::5efe:8.8.8.8",
      ] { #expect(try isPublic(text), "\(text)") }
      #expect(IPAddress([1, 2, 3]) == nil && IPAddress([]) == nil)
    }
  }

  extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
      do { self = .success(try await body()) } catch { self = .failure(error) }
    }
  }
#endif
