import PackFormats

#if Delivery
  import Foundation
  import PackDelivery
  import PackStore
  import Synchronization
  import SystemPackage
  import Testing

  @testable import PackAuthoring

  /// Pulls that began with an older root while the site moved on: what only that root led to stays for its grace period,
  /// and is deleted in the middle of the pull when that is over.
  @Suite struct GracePeriodTests {
    private let folder = TestFolder()
    private let time = TestTime()

    private var options: Store.PullOptions {
      var options = Store.PullOptions()
      options.clock = time.clock()
      options.environment = [:]
      options.usesDeltas = false
      return options
    }

    /// Runs `body` with a site that shows version 2, its server, and a store that has version 1. The server has the
    /// files in the site's folder at that moment.
    ///
    /// - Parameter change: called before each request of `body` is answered, with its number for its path.
    private func withSite(
      change: @escaping @Sendable (Publisher, String, Int) throws -> Void,
      _ body: (Store, FaultServer) async throws -> Void
    ) async throws {
      let publisher = try await Publisher(folder)
      try publisher.publish(1, day: 0)
      let server = try await FaultServer(try publisher.served(), time: time)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: options)
      try publisher.publish(2, day: 1)
      let counts = Mutex<[String: Int]>([:])
      server.state.withLock { $0.requests = [] }
      server.replaceFault { request, reply in
        let number = counts.withLock { counts in
          counts[request.path, default: 0] += 1
          return counts[request.path]!
        }
        do {
          try change(publisher, request.path, number)
          reply = FaultServer.serve(request, FaultServer.State(files: try publisher.served()))
        } catch {
          Issue.record(error)
        }
      }
      try await body(store, server)
      await server.close()
    }

    private func expect(_ store: Store, version: UInt64, _ location: Testing.SourceLocation = #_sourceLocation) throws {
      let snapshot = try Store(at: store.path, options: .existing).makeSnapshot()
      #expect(snapshot.packs.map(\.version.number) == [version], sourceLocation: location)
      for (path, bytes) in Publisher.contents(version) {
        #expect(try Array(snapshot.contents(of: path)) == bytes, "\(path)", sourceLocation: location)
      }
      #expect(try snapshot.verify(deep: true).isSound, sourceLocation: location)
    }

    private func rootCount(_ server: FaultServer) -> Int { server.requests.count { $0.path == "site/root" } }

    /// Within the grace period the older root leads on to all of its version.
    @Test func whatWasRetiredCanBeFetched() async throws {
      try await withSite { publisher, path, number in
        if path.hasPrefix("site/versions/"), number == 1 { try publisher.publish(3, day: 2) }
      } _: { store, server in
        try await store.pull(from: server.url, options: options)
        try expect(store, version: 2)
        #expect(rootCount(server) == 1)
        try await store.pull(from: server.url, options: options)
        try expect(store, version: 3)
      }
    }

    /// The period ends before the first request for files of the older root, of each kind.
    @Test(arguments: ["site/versions/", "site/frames/", "site/segments/"])
    func theGracePeriodEnds(before folder: String) async throws {
      let isOver = Mutex(false)
      try await withSite { publisher, path, _ in
        guard path.hasPrefix(folder), !isOver.withLock({ $0 }) else { return }
        isOver.withLock { $0 = true }
        try publisher.publish(3, day: 2)
        try publisher.publish(4, day: 20)
      } _: { store, server in
        try await store.pull(from: server.url, options: options)
        #expect(isOver.withLock { $0 })
        try expect(store, version: 4)
        #expect(rootCount(server) == 2, "the root was read again")
      }
    }

    /// A site that changes each time its root was read: the pull ends with an error that allows a retry, and commits
    /// nothing.
    @Test func theSiteMovesOnForEver() async throws {
      let state = Mutex<(hasMoved: Bool, next: UInt64)>((false, 3))
      let moves = Mutex(true)
      try await withSite { publisher, path, _ in
        guard moves.withLock({ $0 }) else { return }
        guard path != "site/root" else { return state.withLock { $0.hasMoved = false } }
        let next = state.withLock { state -> UInt64? in
          guard !state.hasMoved else { return nil }
          defer { state = (true, state.next + 2) }
          return state.next
        }
        guard let next else { return }
        try publisher.publish(next, day: Int64(next) * 10)
        try publisher.publish(next + 1, day: Int64(next) * 10 + 9)
      } _: { store, server in
        do {
          try await store.pull(from: server.url, options: options)
          Issue.record("a version was pulled that was deleted meanwhile")
        } catch let error as DeliveryError {
          #expect(error.code == .siteChanged && "\(error)".hasSuffix("try again when the site is complete"), "\(error)")
        }
        #expect(rootCount(server) == 2)
        try expect(store, version: 1)
        moves.withLock { $0 = false }
        try await store.pull(from: server.url, options: options)
        try expect(store, version: 6)
      }
    }
  }

  /// Publishes versions at days that a test chooses, keeping one version, with a grace period of a week.
  private final class Publisher: Sendable {
    private let folder: TestFolder
    private let key = SiteKey()
    private let stores: [Store]

    /// The files of a version; no two versions have a chunk in common.
    static func contents(_ version: UInt64) -> [String: [UInt8]] {
      ["small": noise(500, seed: version), "large": noise(60_000, seed: 100 + version)]
    }

    init(_ folder: TestFolder) async throws {
      self.folder = folder
      var stores: [Store] = []
      for version in 1...6 as ClosedRange<UInt64> {
        for (name, bytes) in Self.contents(version) { try folder.write(bytes, to: "source-\(version)/\(name)") }
        let store = try Store(at: FilePath("\(folder.path)/store-\(version)"))
        var options = Store.InstallOptions()
        options.version = version
        try await store.install(folder: FilePath("\(folder.path)/source-\(version)"), as: "Game", options: options)
        stores.append(store)
      }
      self.stores = stores
    }

    func publish(_ version: UInt64, day: Int64) throws {
      var options = Site.PublishOptions()
      options.level = 1
      options.keptVersionCount = 1
      options.deltaCount = 0
      options.gracePeriod = .seconds(7 * 86_400)
      var publication = Publication(
        site: try Site(at: FilePath("\(folder.path)/site")), source: .store(stores[Int(version) - 1]), key: key,
        options: options,
        progress: nil)
      publication.now = day * 86_400_000_000_000
      _ = try publication.run(nil)
    }

    /// The files that clients can fetch now.
    func served() throws -> [String: [UInt8]] {
      let site = "\(folder.path)/site"
      var files = ["root": Array(try Data(contentsOf: URL(fileURLWithPath: "\(site)/root")))]
      for part in ["versions", "frames", "changes", "segments"] {
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(site)/\(part)") {
          files["\(part)/\(name)"] = Array(try Data(contentsOf: URL(fileURLWithPath: "\(site)/\(part)/\(name)")))
        }
      }
      return files
    }
  }
#endif
