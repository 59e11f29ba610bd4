import PackFormats

#if Delivery
  import Foundation
  import NIOCore
  import NIOPosix
  import PackAuthoring
  import PackStore
  import Synchronization
  import Testing

  @testable import PackDelivery

  /// A real pull receives each answer of the table. It ends with all published files or with an error that names the
  /// fault; the store keeps all bytes of its version; and the files left by such a pull do not disturb an honest pull.
  @Suite struct HostileAnswerTests {
    /// A pull that asks more often than this does not end by itself.
    private static let requestLimit = 150

    @Test func theTableIsLarge() {
      var names: Set<String> = [], count = 0
      for group in HostileAnswers.all {
        for row in group.rows {
          #expect(names.insert("\(group.name): \(row.name)").inserted, "two rows have one name: \(row.name)")
          count += row.outcomes.count
        }
      }
      #expect(count >= 200)
    }

    @Test(.timeLimit(.minutes(40)), arguments: HostileAnswers.all)
    func pullsEnd(_ group: RowGroup) async throws {
      let device = try await HostileDevice(try await HostileSite.shared.value)
      for asked in Asked.allCases {
        var store: Store?
        for row in group.rows where row.outcome(asked) != nil {
          store = try await run(row, asked, on: device, store, "\(group.name): \(row.name), \(asked)")
        }
        if let store { try await pullHonestly(into: store, on: device, "\(group.name), \(asked)") }
      }
      await device.close()
    }

    /// - Returns: the store if the pull left nothing in it, so that the next one may be tried on it, too.
    private func run(
      _ row: Row, _ asked: Asked, on device: HostileDevice, _ store: Store?, _ name: String
    ) async throws -> Store? {
      let store = try store ?? device.makeStore()
      // As a store without a remembered root: RememberedSiteTests tests an answer of 304 with one.
      try? FileManager.default.removeItem(atPath: store.path.appending("sites").string)
      let answers = device.answer(asked, with: row)
      let outcome = await device.pull(into: store, asked)
      let requestCount = device.server.replaceFaultAndForgetRequests()
      #expect(answers.count > 0, "\(name): nothing asked for it")
      let expected = row.outcome(asked)!.names
      let isExpected = expected.contains(outcome.name) || (expected.contains("badResponse") && isLateBreak(outcome))
      #expect(isExpected, "\(name): \(outcome)")
      #expect(requestCount <= Self.requestLimit, "\(name): \(requestCount) requests")
      let wasPulled = outcome.name == "pulled"
      try device.check(store, isNew: wasPulled, "\(name): \(outcome)")
      if device.hasLeftovers(store) {
        try await pullHonestly(into: store, on: device, name)
        return nil
      }
      return wasPulled ? nil : store
    }

    /// Bytes after an answer break its connection, which the next request may be using by then: it is that request's last
    /// attempt that fails, and not for its own answer.
    private func isLateBreak(_ outcome: PullOutcome) -> Bool {
      let text = "\(outcome)"
      return outcome.name == "unreachable" && (text.contains("closed early"))
    }

    /// Expects that a store can be updated, with any files that pulls left in it.
    private func pullHonestly(into store: Store, on device: HostileDevice, _ name: String) async throws {
      let outcome = await device.pull(into: store, .root)
      #expect(outcome.name == "pulled", "\(name), then honestly: \(outcome)")
      try device.check(store, isNew: true, "\(name), then honestly")
      #expect(!device.hasLeftovers(store), "\(name), then honestly")
    }
  }

  /// The protocols that a client offers to a server of HTTPS.
  extension HostileAnswerTests {
    /// The library for HTTP/2 traps on a `:status` that is empty or negative, so no server may choose that protocol.
    @Test func onlyHTTP1IsOffered() async throws {
      let greetings = AsyncStream<[UInt8]>.makeStream()
      let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Greeting { greetings.continuation.yield($0) })
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      var options = HTTPSource.Options()
      options.clock = TestTime().clock()
      let source = try HTTPSource("https://127.0.0.1:\(server.localAddress!.port!)/site", options: options)
      await #expect(throws: DeliveryError.self) { try await source.readWhole("root", upTo: 10) }
      var greeting: [UInt8] = []
      for await bytes in greetings.stream {
        greeting = bytes
        break
      }
      // The extension for protocols: the length of a list, and names with a length before each.
      #expect(greeting.contains([0, 16, 0, 11, 0, 9, 8] + Array("http/1.1".utf8)))
      await source.close()
      try await server.close()
    }

    /// Reports the first received bytes, and closes the connection.
    private final class Greeting: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      private let tell: @Sendable ([UInt8]) -> Void

      init(_ tell: @escaping @Sendable ([UInt8]) -> Void) { self.tell = tell }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        tell(Array(unwrapInboundIn(data).readableBytesView))
        context.close(promise: nil)
      }
    }
  }

  /// The result of a pull, and its reason.
  private struct PullOutcome: CustomStringConvertible {
    var name = "pulled"
    var description = "it was pulled"

    init() {}

    init(_ error: any Error) {
      name = (error as? DeliveryError)?.code.description ?? "\(type(of: error))"
      description = "\(name): \(error)"
    }
  }

  /// A site that was published three times, and the files of it that a server has.
  private struct HostileSite: Sendable {
    /// The first and the last published version.
    let contents: [[String: Data]]
    /// The files that clients could fetch then.
    let files: [[String: [UInt8]]]
    /// The kinds of requests for each file.
    let kinds: [String: Set<Asked>]

    static let shared = Task { try await HostileSite() }

    init() async throws {
      let first = [
        "noise": noise(6000, seed: 1), "small": noise(200, seed: 2),
        "text": Array(String(repeating: "in all its glory, ", count: 1000).utf8),
      ]
      let second = first.merging(["second": noise(5000, seed: 3)]) { $1 }
      let third = second.merging(["third": noise(40_000, seed: 4), "small": noise(300, seed: 5)]) { $1 }
      let publisher = SitePullTests()
      let before = try await publisher.publish(first, deltas: 2)
      _ = try await publisher.publish(second, deltas: 2)
      let after = try await publisher.publish(third, deltas: 2)
      contents = [first, third].map { $0.mapValues { Data($0) } }
      files = [before, after]
      kinds = try Self.kinds(after)
    }

    private static func kinds(_ files: [String: [UInt8]]) throws -> [String: Set<Asked>] {
      let version = try SignedSiteRoot(decoding: files["root"]!, file: "root").root.packs[0].offers[0]
      let name = SitePath.version(version.manifest).description
      let manifest = try version.openManifest(files[name]!, of: "Game")
      var kinds: [String: Set<Asked>] = ["root": [.root], name: [.manifest]]
      for segment in manifest.segments {
        kinds[SitePath.frames(segment.id).description] = [.table]
        kinds[SitePath.segment(segment.id).description] =
          segment.kind == .metadata ? [.pages, .stream] : [.frames, .stream]
      }
      let newest = try #require(manifest.segments.last { $0.kind == .data })
      kinds[SitePath.segment(newest.id).description]!.formUnion([.newestFrames, .rest])
      for file in files.keys where file.hasPrefix("deltas/") { kinds[file] = [.delta] }
      for file in files.keys where file.hasPrefix("changes/") { kinds[file] = [.changes] }
      return kinds
    }
  }

  /// A server of a site, and stores with the first published version.
  ///
  /// The server's address counts as public, and the other addresses of this machine as private networks.
  private final class HostileDevice: Sendable {
    private static let host = "127.0.0.2"
    let server: FaultServer
    private let site: HostileSite
    /// Nothing may be asked there.
    private let privateServer: FaultServer
    private let time = TestTime()
    private let folder = TestFolder()
    private let stores = Counter()

    init(_ site: HostileSite) async throws {
      self.site = site
      server = try await FaultServer(site.files[0], time: time, host: Self.host)
      privateServer = try await FaultServer(site.files[1], time: time)
      server.state.withLock { $0.secondLength = .microseconds(100) }
      let store = try Store(at: FilePath("\(folder.path)/before"))
      let outcome = await pull(into: store, .root)
      #expect(outcome.name == "pulled", "\(outcome)")
      server.state.withLock { $0.files = site.files[1] }
      _ = server.replaceFaultAndForgetRequests()
    }

    func close() async {
      #expect(privateServer.requests.isEmpty, "a public server led to a private one")
      await server.close()
      await privateServer.close()
    }

    /// A store with the version that was published first.
    func makeStore() throws -> Store {
      let number = stores.next()
      if number > 0 { try FileManager.default.removeItem(atPath: "\(folder.path)/\(number - 1)") }
      try FileManager.default.copyItem(atPath: "\(folder.path)/before", toPath: "\(folder.path)/\(number)")
      return try Store(at: FilePath("\(folder.path)/\(number)"))
    }

    /// Answers requests of a kind as the row specifies, and counts them. Only files requested in this way are also in
    /// the folder `elsewhere`.
    func answer(_ asked: Asked, with row: Row) -> Counter {
      let answers = Counter(), requests = Counter()
      server.state.withLock { [site] state in
        state.hasRanges = asked != .stream
        state.files = site.files[1]
        if asked == .pages || asked == .stream { state.files = state.files.filter { !$0.key.hasPrefix("changes/") } }
        for path in site.kinds.keys where site.kinds[path]!.contains(asked) {
          state.files["elsewhere/\(path)"] = site.files[1][path]
        }
      }
      server.replaceFault { [site, port = server.port, privatePort = privateServer.port] request, reply in
        let path = String(request.path.dropFirst("site/".count))
        guard request.path.hasPrefix("site/"), site.kinds[path]?.contains(asked) == true else { return }
        let number = requests.next()
        let context = AnswerContext(path: path, host: Self.host, port: port, privatePort: privatePort)
        if asked == .rest, number == 0 { return reply.apply([.cutBody(0.5), .end(.close)], context) }
        if answers.next() == 0 || !row.isOnce { reply.apply(row.edits, context) }
      }
      return answers
    }

    /// Pulls, by delta or stream if the test is about those.
    func pull(into store: Store, _ asked: Asked) async -> PullOutcome {
      var http = HTTPSource.Options()
      http.clock = time.clock()
      http.isPublic = { "\($0)" == Self.host }
      var options = Store.PullOptions()
      options.clock = time.clock()
      options.environment = [:]
      options.durability = .atomic
      options.usesDeltas = asked == .delta
      do {
        let source = try HTTPSource(server.url, options: http)
        let result = await Result { try await store.pull(from: source, packs: nil, options: options) }
        await source.close()
        _ = try result.get()
        return PullOutcome()
      } catch {
        return PullOutcome(error)
      }
    }

    /// That a store, opened by another process's way, has one of the versions, whole.
    func check(_ store: Store, isNew: Bool, _ name: String) throws {
      let other = try Store(at: store.path, options: .existing)
      let snapshot = try other.makeSnapshot()
      #expect(snapshot.packs.map(\.version.number) == [isNew ? 3 : 1], "\(name)")
      let contents = site.contents[isNew ? 1 : 0]
      #expect(try Set(other.entries().map { String($0.name) }) == Set(contents.keys), "\(name)")
      for (path, bytes) in contents { #expect(try snapshot.contents(of: path) == bytes, "\(name): \(path)") }
      #expect(try snapshot.verify(deep: true).isSound, "\(name)")
    }

    /// Whether a pull left anything that another one would go on with, or should remove.
    func hasLeftovers(_ store: Store) -> Bool {
      ["incoming", "tmp"].contains { part in
        let names = FileManager.default.enumerator(atPath: "\(store.path)/\(part)")?.compactMap { $0 as? String }
        return !(names ?? []).isEmpty
      }
    }
  }

  private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    /// 0, 1, 2, ...
    func next() -> Int {
      value.withLock { value in
        defer { value += 1 }
        return value
      }
    }
  }

  extension FaultServer {
    /// Is honest again. Returns how many requests there were.
    fileprivate func replaceFaultAndForgetRequests() -> Int {
      state.withLock { state in
        state.fault = nil
        state.hasRanges = true
        defer { state.requests = [] }
        return state.requests.count
      }
    }
  }
#endif
