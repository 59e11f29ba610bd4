import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Whole pulls from a server that misbehaves, and that changes between requests.
  @Suite struct SitePullTests {
    let folder = TestFolder()
    let time = TestTime()
    let key = SiteKey()

    // MARK: - A site, and a server for it

    /// Writes a folder whose files differ by `seed`, publishes it, and returns all that clients may fetch.
    func publish(
      _ files: [String: [UInt8]], pack: PackID = "Game", deltas: Int = 0, attributes: Attributes? = nil
    ) async throws -> [String: [UInt8]] {
      let source = "\(folder.path)/source"
      try? FileManager.default.removeItem(atPath: source)
      for (name, bytes) in files { try folder.write(bytes, to: "source/\(name)") }
      var storeOptions = Store.Options()
      storeOptions.cache = Store.Cache(folder: FilePath("\(folder.path)/origin-cache"), byteBudget: 0)
      let origin = try Store(at: FilePath("\(folder.path)/origin"), options: storeOptions)
      var install = Store.InstallOptions()
      install.attributes = attributes
      try await origin.install(folder: FilePath(source), as: pack, options: install)
      let site = try Site(at: FilePath("\(folder.path)/site"))
      var options = Site.PublishOptions()
      options.keptVersionCount = 1 + deltas
      options.gracePeriod = .zero  // what only the old root names is gone at once
      options.deltaCount = deltas
      options.deltaOptions.level = Store.DeltaOptions.fastLevel
      options.level = 3
      try await site.publish(from: origin, signedBy: key, options: options)
      return try served()
    }

    func served() throws -> [String: [UInt8]] {
      let root = "\(folder.path)/site"
      var files = ["root": Array(try Data(contentsOf: URL(fileURLWithPath: "\(root)/root")))]
      for part in ["versions", "frames", "segments", "deltas", "changes", "attributes"] {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(part)")) ?? [] {
          files["\(part)/\(name)"] = Array(try Data(contentsOf: URL(fileURLWithPath: "\(root)/\(part)/\(name)")))
        }
      }
      return files
    }

    static let first: [String: [UInt8]] = {
      var files: [String: [UInt8]] = [:]
      for index in 0..<60 { files["small/\(index)"] = noise(200 + index * 91, seed: UInt64(index)) }
      for index in 0..<4 { files["large/\(index)"] = noise(400_000, seed: 500 + UInt64(index)) }
      files["text"] = Array(String(repeating: "as large as life, ", count: 10_000).utf8)
      return files
    }()

    static let second = first.merging(["small/7": noise(900, seed: 99), "large/2": noise(500_000, seed: 98)]) { $1 }

    var options: Store.PullOptions {
      var options = Store.PullOptions()
      options.clock = time.clock()
      options.environment = [:]
      return options
    }

    func expect(_ store: Store, _ files: [String: [UInt8]], sourceLocation: Testing.SourceLocation = #_sourceLocation)
      throws
    {
      for (path, bytes) in files {
        #expect(try Array(store.contents(of: path)) == bytes, "\(path)", sourceLocation: sourceLocation)
      }
    }

    /// The files that a pull left for another one.
    func leftovers(_ store: Store) -> [String] {
      let names = FileManager.default.enumerator(atPath: "\(store.path)/incoming")?.compactMap { $0 as? String }
      return (names ?? []).filter { $0.contains("/") }
    }

    // MARK: - Faults

    /// Pulls, and cancels the pull when more than so many bytes are received. Returns `false` if it ended before the
    /// cancel.
    func isCancelled(at byteCount: Int, in store: Store, from server: FaultServer) async -> Bool {
      let pulling = Mutex<Task<Store.PullResult, any Error>?>(nil)
      let options = options
      let task = Task {
        try await store.pull(from: server.url, options: options) { progress in
          if progress.phase == .fetch, progress.byteCount > byteCount { pulling.withLock { $0?.cancel() } }
        }
      }
      pulling.withLock { $0 = task }
      guard case .failure(let error) = await task.result else { return false }
      #expect(error is CancellationError)
      return true
    }

    /// Cuts, stalls and errors, one reply in four.
    func failByChance(_ server: FaultServer, seed: UInt64) {
      let generator = Mutex(SeededGenerator(seed: seed))
      server.replaceFault { request, reply in
        let (kind, cut) = generator.withLock { generator in
          (Int.random(in: 0..<16, using: &generator), Int.random(in: 0...max(reply.body.count, 1), using: &generator))
        }
        reply.declaredLength = reply.body.count
        switch kind {
        case 0: (reply.sentCount, reply.end) = (cut, .close)
        case 1: (reply.sentCount, reply.end) = (cut, .reset)
        case 2: (reply.sentCount, reply.end) = (cut, .stall)
        case 3: reply = FaultServer.Reply(status: 500)
        default: break
        }
      }
    }

    @Test(arguments: 1...8)
    func survivesFaults(seed: UInt64) async throws {
      let server = try await FaultServer(try await publish(Self.first), hasRanges: seed % 4 != 0, time: time)
      failByChance(server, seed: seed)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs.map(\.outcome) == [.updated])
      #expect(result.isFirstContact && result.key == key.publicKey)
      try expect(store, Self.first)
      #expect(leftovers(store) == [])
      await server.close()
    }

    /// The first pull asks the user to compare the key, also if the pull that pinned the key did not finish; but not if
    /// the user vouched for the key, and not forever.
    @Test(arguments: ["versions/", "frames/", "segments/"]) func firstContactIsSaidUntilAPullIsOver(lost: String)
      async throws
    {
      let server = try await FaultServer(try await publish(Self.first), time: time)
      server.replaceFault { request, reply in
        if request.path.hasPrefix("site/\(lost)") { reply = FaultServer.Reply(status: 404) }
      }
      let store = try Store(at: FilePath("\(folder.path)/store"))
      for _ in 0..<2 {
        await #expect(throws: DeliveryError.self) { try await store.pull(from: server.url, options: options) }
      }
      #expect(try TrustFile(inStore: store.path).read().places.count == 1)
      server.replaceFault(nil)
      var vouching = options
      vouching.trustedKey = key.publicKey
      #expect(try await !store.planPull(from: server.url, options: vouching).isFirstContact)
      #expect(try await store.pull(from: server.url, options: options).isFirstContact)
      #expect(try await !store.pull(from: server.url, options: options).isFirstContact)
      await server.close()
    }

    /// It took the current folder.
    @Test func noSiteIsNamed() async throws {
      let store = try Store(at: FilePath("\(folder.path)/store"))
      await #expect { try await store.pull(from: "") } throws: {
        ($0 as? DeliveryError)?.code == .invalidLocation
      }
    }

    /// A bit that is wrong once is fetched again; each byte of each file in turn would take too long, so each file.
    @Test func wrongBitsAreFetchedAgain() async throws {
      let server = try await FaultServer(try await publish(Self.first))
      let seen = Mutex<Set<String>>([])
      server.replaceFault { request, reply in
        if request.path != "site/root", seen.withLock({ $0.insert(request.path).inserted }) {
          reply.body[reply.body.count / 3] ^= 64
        }
      }
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: options)
      try expect(store, Self.first)
      #expect(leftovers(store) == [])
      await server.close()
    }

    @Test func wrongBitsTwiceAreNamed() async throws {
      let files = try await publish(Self.first)
      for path in files.keys.sorted() where path != "root" {
        let server = try await FaultServer(files) { request, reply in
          if request.path == "site/" + path { reply.body[reply.body.count / 3] ^= 64 }
        }
        let store = try Store(at: FilePath("\(folder.path)/store-\(UUID().uuidString)"))
        do {
          try await store.pull(from: server.url, options: options)
          Issue.record("\(path): wrong bytes were taken")
        } catch let error as DeliveryError {
          #expect(error.code == .corrupt && error.location == "\(server.url)/\(path)", "\(error)")
        }
        #expect(try store.makeSnapshot().packs.isEmpty)
        await server.close()
      }
    }

    // MARK: - Changes

    /// The site is published again while it is read: the files of the old version vanish, and the new root is found.
    @Test(arguments: [0, 1, 3, 6])
    func theSiteChangesMeanwhile(after count: Int) async throws {
      let old = try await publish(Self.first)
      let new = try await publish(Self.second)
      let server = try await FaultServer(old)
      let requests = Mutex(0)
      server.replaceFault { request, reply in
        let isOver = requests.withLock { number in
          number += 1
          return number > count
        }
        guard isOver, new[String(request.path.dropFirst(5))] == nil else { return }
        // What only the old root names is gone.
        reply = FaultServer.Reply(status: 404)
      }
      let store = try Store(at: FilePath("\(folder.path)/store"))
      let swap: @Sendable (Store.PullProgress) -> Void = { _ in
        if requests.withLock({ $0 }) > count { server.state.withLock { $0.files = new } }
      }
      let result = try await store.pull(from: server.url, options: options, progress: swap)
      // What both roots lead to stays: late enough, the old version can be had as a whole.
      if count <= 1 { #expect(result.packs[0].to == 2) }
      try expect(store, result.packs[0].to == 2 ? Self.second : Self.first)
      await server.close()
    }

    @Test func aFileThatStaysAwayIsNamed() async throws {
      let files = try await publish(Self.first)
      let manifest = files.keys.first { $0.hasPrefix("versions/") }!
      let server = try await FaultServer(files.filter { $0.key != manifest })
      let store = try Store(at: FilePath("\(folder.path)/store"))
      do {
        try await store.pull(from: server.url, options: options)
        Issue.record("nothing was missed")
      } catch let error as DeliveryError {
        #expect(error.code == .siteChanged && error.location == "\(server.url)/\(manifest)")
      }
      #expect(
        server.requests.map(\.path) == ["root", manifest, "root", manifest].map { "site/\($0)" },
        "once more, and no oftener")
      await server.close()
    }

    /// Servers behind one address that name the same state differently.
    @Test func serversThatDisagreeAboutTags() async throws {
      let server = try await FaultServer(try await publish(Self.first))
      server.replaceFault { request, reply in
        let tag = "\"server \(request.number % 2)\""
        if let condition = request.header("If-Range"), condition != tag, reply.status == 206 { reply.status = 200 }
        reply.set("ETag", tag)
      }
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: options)
      try expect(store, Self.first)
      #expect(leftovers(store) == [])
      await server.close()
    }

    // MARK: - Fetched bytes

    @Test func anUpdateFetchesWhatChanged() async throws {
      let store = try Store(at: FilePath("\(folder.path)/store"))
      let server = try await FaultServer(try await publish(Self.first))
      let install = try await store.pull(from: server.url, options: options)
      let unchanged = try await store.pull(from: server.url, options: options)
      #expect(unchanged.packs.map(\.outcome) == [.unchanged])
      #expect(unchanged.requestCount == 1)

      let files = try await publish(Self.second)
      server.state.withLock { $0.files = files }
      let update = try await store.pull(from: server.url, options: options)
      #expect(update.packs[0].from == 1 && update.packs[0].to == 2)
      #expect(update.packs[0].frameByteCount < 620_000 && update.packs[0].frameByteCount > 500_000)
      #expect(update.wireByteCount < install.wireByteCount / 2)
      #expect(update.packs[0].newStoredByteCount > 500_000)
      try expect(store, Self.second)
      #expect(leftovers(store) == [])
      await server.close()
    }

    @Test func cancelledPullsGoOn() async throws {
      let server = try await FaultServer(try await publish(Self.first))
      let store = try Store(at: FilePath("\(folder.path)/store"))
      if await isCancelled(at: 500_000, in: store, from: server) {
        #expect(try store.makeSnapshot().packs.isEmpty)
        let rest = try await store.pull(from: server.url, options: options)
        #expect(rest.packs[0].resumedByteCount > 500_000)
        #expect(rest.packs[0].frameByteCount + rest.packs[0].resumedByteCount < 1_800_000)
      }
      try expect(store, Self.first)
      #expect(leftovers(store) == [])
      await server.close()
    }

    @Test func progressRises() async throws {
      let server = try await FaultServer(try await publish(Self.first))
      let store = try Store(at: FilePath("\(folder.path)/store"))
      let seen = Mutex<[Store.PullProgress]>([])
      try await store.pull(from: server.url, options: options) { progress in seen.withLock { $0.append(progress) } }
      let all = seen.withLock { $0 }
      #expect(all.first?.phase == .connect && all.last?.phase == .commit)
      for (earlier, later) in zip(all, all.dropFirst()) {
        #expect(earlier.phase <= later.phase)
        if earlier.phase == .fetch, later.phase == .fetch {
          #expect(earlier.byteCount <= later.byteCount && earlier.chunkCount <= later.chunkCount)
          #expect(earlier.totalByteCount == later.totalByteCount && later.totalByteCount > 1_600_000)
        }
      }
      let last = try #require(all.last { $0.phase == .fetch })
      #expect(last.byteCount == last.totalByteCount && last.chunkCount == last.totalChunkCount)
      await server.close()
    }

    /// Another writer is faster with the same pack: all begins again, and nothing is fetched twice.
    @Test func conflictsFetchNothingTwice() async throws {
      let server = try await FaultServer(try await publish(Self.first))
      let store = try Store(at: FilePath("\(folder.path)/store"))
      let other = try Store(at: FilePath("\(folder.path)/store"))
      let isDone = Mutex(false)
      let source = "\(folder.path)/other"
      try folder.write([1], to: "other/theirs")
      var options = options
      options.adopts = true  // for the other writer's pack is its own
      let result = try await store.pull(from: server.url, packs: ["Game"], options: options) { progress in
        guard progress.phase == .commit,
          isDone.withLock({ done in
            defer { done = true }
            return !done
          })
        else { return }
        _ = try! other.write { transaction in
          var options = Store.InstallOptions()
          options.version = 7
          return try transaction.install(folder: FilePath(source), as: "Game", options: options)
        }
      }
      #expect(result.packs[0].outcome == .updated)
      try expect(store, Self.first)
      let ranges = server.requests.filter { $0.path.hasPrefix("site/segments/") }.map {
        "\($0.path) \($0.header("Range") ?? "")"
      }
      #expect(ranges.count == Set(ranges).count)
      await server.close()
    }
  }
#endif
