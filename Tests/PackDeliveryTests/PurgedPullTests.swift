#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Pulls into stores that lost data of purgeable packs.
  extension SitePullTests {
    private static let purgeable = try! Attributes(placement: .purgeable)

    private var cache: String { "\(folder.path)/cache" }

    /// Pulls of a store that has no cache folder yet.
    private var cachedOptions: Store.PullOptions {
      var options = options
      options.cacheFolder = Store.CacheFolder(path: FilePath(cache))
      return options
    }

    /// A server, and a store that has pulled its purgeable pack.
    private func preparePurgeable() async throws -> (FaultServer, Store) {
      let server = try await FaultServer(try await publish(Self.first, attributes: Self.purgeable), time: time)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: cachedOptions)
      #expect(try store.packs()[0].placement == .purgeable)
      try expect(store, Self.first)
      // A second store object, as in another process: the first one assumes that its open files exist until a read
      // fails.
      return (server, try Store(at: store.path))
    }

    /// The segments in the cache folder, the largest first.
    private func cacheFiles() throws -> [String] {
      let names = FileManager.default.enumerator(atPath: cache)?.compactMap { $0 as? String } ?? []
      return try names.filter { $0.contains("/segments/") }.map { "\(cache)/\($0)" }.sorted { try size($0) > size($1) }
    }

    private func size(_ file: String) throws -> Int {
      try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }

    private func cut(to share: Double) throws {
      let file = try #require(try cacheFiles().first)
      let handle = try #require(FileHandle(forWritingAtPath: file))
      try handle.truncate(atOffset: UInt64(Double(try size(file)) * share))
      try handle.close()
    }

    /// Purges all data, and returns the number of purged bytes. Files that are open elsewhere are deferred; a process
    /// that another test is starting has this process's open files for a moment.
    @discardableResult
    private func purgeAll(_ store: Store) async throws -> Int {
      var byteCount = 0
      for _ in 0..<10_000 {
        let result = try await store.purge(bytes: Int.max)
        byteCount += result.freedByteCount
        guard result.deferredByteCount > 0 else { return byteCount }
        await Task.yield()
      }
      Issue.record("something stays open")
      return byteCount
    }

    private func missing(_ store: Store) throws -> Int {
      try store.read { snapshot in
        try snapshot.availability(of: #require(snapshot.pack("Game")).version).missingByteCount
      }
    }

    /// The store still recorded the version as installed.
    @Test func whatVanishedComesAgain() async throws {
      let (server, store) = try await preparePurgeable()
      try FileManager.default.removeItem(atPath: cache)
      let plan = try await store.planPull(from: server.url, options: options)
      #expect(plan.packs[0].outcome == .healed && plan.packs[0].missingByteCount > 1_600_000)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .healed && result.packs[0].from == 1 && result.packs[0].to == 1)
      #expect(result.packs[0].missingByteCount == Self.first.values.map(\.count).reduce(0, +))
      try expect(store, Self.first)
      #expect(try missing(store) == 0 && leftovers(store) == [])
      #expect(try store.read { try $0.verify(deep: true).isSound })
      let again = try await store.pull(from: server.url, options: options)
      #expect(again.packs[0].outcome == .unchanged && again.packs[0].frameByteCount == 0)
      await server.close()
    }

    /// Damage in a file of full length is found only by reading, which `refetches` makes a pull do.
    @Test func whatIsDamagedComesAgain() async throws {
      let (server, store) = try await preparePurgeable()
      let file = try #require(try cacheFiles().first), byteCount = try size(file)
      let handle = try #require(FileHandle(forWritingAtPath: file))
      try handle.seek(toOffset: UInt64(byteCount / 3))
      try handle.write(contentsOf: Data(repeating: 0x5a, count: 10_000))
      try handle.close()
      #expect(try await store.pull(from: server.url, options: options).packs[0].outcome == .unchanged)
      var options = options
      options.refetches = true
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .healed)
      #expect(result.packs[0].missingByteCount > 0 && result.packs[0].frameByteCount < byteCount / 2)
      try expect(store, Self.first)
      #expect(try Store(at: store.path).read { try $0.verify(deep: true).isSound })
      #expect(try await store.pull(from: server.url, options: options).packs[0].outcome == .unchanged)
      await server.close()
    }

    /// Only the number of a durable pack is installed if its base is missing: a pull fetches the bytes of the base.
    @Test func whatABaseHadComes() async throws {
      let server = try await FaultServer(try await publish(Self.first), time: time)
      let base = FilePath("\(folder.path)/base"), path = FilePath("\(folder.path)/store")
      try await Store(at: base).pull(from: server.url, options: options)
      try expect(Store(at: path, base: base), Self.first)
      try FileManager.default.removeItem(atPath: base.string)
      let store = try Store(at: path)
      #expect(try store.packs()[0].placement == .durable)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .healed)
      #expect(result.packs[0].missingByteCount == Self.first.values.map(\.count).reduce(0, +))
      try expect(store, Self.first)
      #expect(try missing(store) == 0)
      #expect(try await store.pull(from: server.url, options: options).packs[0].outcome == .unchanged)
      await server.close()
    }

    /// Exactly the frames that are gone come.
    @Test func halfOfItComesAgain() async throws {
      let (server, store) = try await preparePurgeable()
      try cut(to: 0.5)
      let missing = try missing(store)
      #expect(missing > 400_000)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .healed && result.packs[0].missingByteCount == missing)
      // Frames are gone as a whole; `text` takes less in them than in number of bytes.
      #expect(result.packs[0].frameByteCount < 1_000_000, "\(result.packs[0])")
      try expect(store, Self.first)
      await server.close()
    }

    @Test func whatAPurgeTookIsLeftUnlessItIsAskedFor() async throws {
      let (server, store) = try await preparePurgeable()
      for way in ["named", "refetch"] {
        #expect(try await purgeAll(store) > 1_600_000)
        let generation = try store.makeSnapshot().generation
        let plain = try await store.pull(from: server.url, options: options)
        #expect(plain.packs[0].outcome == .purged && plain.packs[0].missingByteCount > 1_600_000)
        #expect(try store.makeSnapshot().generation == generation && store.isPurged("Game"))
        var options = options
        options.refetches = way == "refetch"
        let healed = try await store.pull(from: server.url, packs: way == "named" ? ["Game"] : nil, options: options)
        #expect(healed.packs[0].outcome == .healed && !store.isPurged("Game"))
        try expect(store, Self.first)
      }
      await server.close()
    }

    /// Nothing changes before all bytes are present, with their mark; the next pull completes them.
    @Test func aHealThatIsCutChangesNothing() async throws {
      let (server, store) = try await preparePurgeable()
      try await purgeAll(store)
      let isOver = Mutex(false)
      server.replaceFault { request, reply in
        guard request.path.hasPrefix("site/segments/") else { return }
        let isFirst = isOver.withLock { isOver in
          defer { isOver = isOver || reply.body.count > 900_000 }
          return !isOver
        }
        guard isFirst else {
          reply = FaultServer.Reply(status: 404)
          return
        }
        guard reply.body.count > 900_000 else { return }
        reply.declaredLength = reply.body.count
        (reply.sentCount, reply.end) = (900_000, .close)
      }
      await #expect(throws: DeliveryError.self) {
        try await store.pull(from: server.url, packs: ["Game"], options: options)
      }
      #expect(store.isPurged("Game"))
      #expect(try missing(store) > 1_600_000, "nothing was committed")
      server.replaceFault(nil)
      let result = try await store.pull(from: server.url, packs: ["Game"], options: options)
      #expect(result.packs[0].outcome == .healed)
      #expect(!store.isPurged("Game"))
      try expect(store, Self.first)
      await server.close()
    }

    /// What came before the cut comes from `incoming/`, and is not asked for again.
    @Test func aHealThatWasCutGoesOn() async throws {
      let (server, store) = try await preparePurgeable()
      try await purgeAll(store)
      var options = options
      options.fetchLimits.requestCount = 1
      options.fetchLimits.requestByteCount = 1 << 18
      let given = Mutex(0)
      server.replaceFault { request, reply in
        guard request.path.hasPrefix("site/segments/") else { return }
        guard given.withLock({ $0 }) < 800_000 else {
          reply = FaultServer.Reply(status: 404)
          return
        }
        given.withLock { $0 += reply.body.count }
      }
      await #expect(throws: DeliveryError.self) {
        try await store.pull(from: server.url, packs: ["Game"], options: options)
      }
      let before = given.withLock { $0 }
      #expect(before >= 800_000 && before < 1_500_000)
      server.replaceFault(nil)
      let rest = try await store.pull(from: server.url, packs: ["Game"], options: options)
      #expect(rest.packs[0].outcome == .healed && rest.packs[0].resumedByteCount > 700_000)
      #expect(rest.packs[0].frameByteCount + rest.packs[0].resumedByteCount < 1_800_000)
      try expect(store, Self.first)
      #expect(leftovers(store) == [])
      await server.close()
    }

    /// The next version is complete, with any losses of the previous one.
    @Test func anUpdateIsWhole() async throws {
      let (server, store) = try await preparePurgeable()
      try cut(to: 0.3)
      let files = try await publish(Self.second, attributes: Self.purgeable)
      server.state.withLock { $0.files = files }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .updated && result.packs[0].missingByteCount > 0)
      try expect(store, Self.second)
      #expect(try missing(store) == 0)
      await server.close()
    }

    /// Attributes may change their mind.
    @Test func aVersionThatIsDurableBringsAllOfIt() async throws {
      let (server, store) = try await preparePurgeable()
      let files = try await publish(Self.second)
      server.state.withLock { $0.files = files }
      let attributes = try Attributes()
      let durable = try await publish(Self.second, attributes: attributes)
      server.state.withLock { $0.files = durable }
      try await store.pull(from: server.url, options: options)
      #expect(try store.packs()[0].placement == .durable)
      try FileManager.default.removeItem(atPath: cache)
      try expect(store, Self.second)
      await server.close()
    }

    /// The cache folder of a copied store is another one, without the store's files.
    @Test(arguments: ["store alone", "old cache"]) func aRestoredBackupHeals(of what: String) async throws {
      let (server, store) = try await preparePurgeable()
      let restored: Store
      if what == "store alone" {
        try FileManager.default.copyItem(atPath: "\(folder.path)/store", toPath: "\(folder.path)/restored")
        restored = try Store(at: FilePath("\(folder.path)/restored"))
        #expect(try missing(restored) > 1_600_000)
      } else {
        // The cache folder is older than the store.
        try FileManager.default.copyItem(atPath: cache, toPath: "\(cache).old")
        let files = try await publish(Self.second, attributes: Self.purgeable)
        server.state.withLock { $0.files = files }
        try await store.pull(from: server.url, options: options)
        try FileManager.default.removeItem(atPath: cache)
        try FileManager.default.moveItem(atPath: "\(cache).old", toPath: cache)
        restored = store
        #expect(try missing(restored) > 0)
      }
      let result = try await restored.pull(from: server.url, options: options)
      #expect(result.packs[0].outcome == .healed)
      try expect(restored, what == "store alone" ? Self.first : Self.second)
      #expect(try restored.read { try $0.verify(deep: true).isSound })
      await server.close()
    }
  }
#endif
