#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Pulls from sites that have change lists.
  extension SitePullTests {
    /// Assets in which one of fifty differs from one version to the next.
    private static func many(_ version: UInt64) -> [String: [UInt8]] {
      Dictionary(
        uniqueKeysWithValues: (0..<1_500).map { index in
          let seed = UInt64(index) + (index % 50 == 7 ? version * 10_000 : 0)
          return ("part\(index % 11)/\(index)", noise(200 + index % 300, seed: seed))
        })
    }

    /// A server that shows the second of two versions, and a store that has the first.
    private func prepareMany(
      hasRanges: Bool = true, _ adjust: (inout [String: [UInt8]]) -> Void = { _ in }
    ) async throws -> (FaultServer, Store) {
      let server = try await FaultServer(try await publish(Self.many(1)), hasRanges: hasRanges, time: time)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: options)
      var files = try await publish(Self.many(2))
      #expect(files.keys.count { $0.hasPrefix("changes/") } == 1)
      adjust(&files)
      server.state.withLock { [files] in
        $0.files = files
        $0.requests = []
      }
      return (server, store)
    }

    private func expectSecond(_ store: Store) throws {
      try expect(store, Self.many(2))
      #expect(leftovers(store) == [])
      #expect(try store.read { try $0.verify(deep: true).isSound })
      #expect(try store.packs()[0].version.number == 2)
    }

    /// Whether frame tables of segments with pages were fetched, which a client does not do that goes by a list.
    private func fetchesPages(_ server: FaultServer) throws -> Bool {
      let tables = server.requests.map(\.path).filter { $0.contains("/frames/") }.compactMap {
        $0.split(separator: "/").last.map(String.init)
      }
      return try tables.contains { name in
        let table = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/site/frames/\(name)"))
        return table[12] == 2
      }
    }

    @Test(arguments: [true, false]) func metadataInProportion(hasRanges: Bool) async throws {
      let (server, store) = try await prepareMany(hasRanges: hasRanges)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .updated && result.packs[0].frameByteCount > 5_000)
      #expect(result.packs[0].metadataByteCount < 4_000, "\(result.packs[0].metadataByteCount) bytes for 30 changes")
      #expect(try !fetchesPages(server))
      #expect(server.requests.map(\.path).filter { $0.contains("/changes/") }.count == 1)
      try expectSecond(store)
      await server.close()
    }

    /// The pull uses the list that its plan fetched.
    @Test func aPlanFetchesTheListOnce() async throws {
      let (server, store) = try await prepareMany()
      let plan = try await store.planPull(from: server.url, options: options)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].totalByteCount == plan.packs[0].remainingByteCount)
      #expect(server.requests.map(\.path).filter { $0.contains("/changes/") }.count == 1)
      try expectSecond(store)
      await server.close()
    }

    /// A list is never the only way.
    @Test(arguments: ["missing", "short", "damaged", "long"]) func withoutItsList(fault: String) async throws {
      let (server, store) = try await prepareMany { files in
        let name = files.keys.first { $0.hasPrefix("changes/") }!
        switch fault {
        case "missing": files[name] = nil
        case "short": files[name]!.removeLast()
        case "long": files[name]!.append(0)
        default: files[name]![150] ^= 4
        }
      }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .updated)
      #expect(try fetchesPages(server))
      try expectSecond(store)
      await server.close()
    }

    @Test(arguments: [403, 410, 200, 500]) func aServerThatWithholdsTheList(status: Int) async throws {
      let (server, store) = try await prepareMany()
      server.replaceFault { request, reply in
        if request.path.contains("/changes/") { reply = FaultServer.Reply(status: status, body: Array("no".utf8)) }
      }
      if status == 500 {  // it may be there the next time
        await #expect(throws: DeliveryError.self) { try await store.pull(from: server.url, options: options) }
        server.replaceFault(nil)
      }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .updated)
      try expectSecond(store)
      await server.close()
    }

    /// The site kept no version before the last one, so no list begins with the store's version.
    @Test func withoutAListForItsVersion() async throws {
      let (server, store) = try await prepareMany()
      let files = try await publish(Self.many(3))
      server.state.withLock { $0.files = files }
      let result = try await store.pull(from: server.url, options: options)
      try expect(store, Self.many(3))
      #expect(try result.packs[0].to == 3 && fetchesPages(server))
      await server.close()
    }
  }
#endif
