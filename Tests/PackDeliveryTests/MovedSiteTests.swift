import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackStore
  import Synchronization
  import Testing

  @testable import PackDelivery

  /// Pulls from sites that moved, and from sites that only claim it.
  @Suite struct MovedSiteTests {
    let site = SitePullTests()
    var path: String { site.folder.path }
    var key: SiteKey { site.key }
    static let files: [String: [UInt8]] = ["a": noise(3_000, seed: 1)]

    private func store() throws -> Store { try Store(at: FilePath("\(path)/store")) }

    /// Returns the files of a site with another root.
    private func files(
      _ files: [String: [UInt8]], movedTo url: String? = nil, raisedBy count: UInt64 = 1, stated by: SiteKey? = nil,
      signedBy signer: SiteKey? = nil, _ change: (inout SiteRoot) throws -> Void = { _ in }
    ) throws -> [String: [UInt8]] {
      var root = try SignedSiteRoot(decoding: try #require(files["root"]), file: "root").root
      root.sequence += count
      try change(&root)
      root.setMove(try url.map { try SiteMove(to: $0, of: root.product, by: by ?? key, madeAt: 0) })
      return files.merging(["root": try root.encode(signedBy: signer ?? key)]) { $1 }
    }

    private func replace(_ files: [String: [UInt8]], at server: FaultServer) {
      server.state.withLock { $0.files = Dictionary(uniqueKeysWithValues: files.map { ($0.key, $0.value) }) }
    }

    private func trust(_ store: Store) throws -> String {
      try String(contentsOfFile: "\(store.path)/trust", encoding: .utf8)
    }

    /// A site that moved, at two servers, and a store that was pulled from the first one before if it is not new.
    private func withServers(
      isNew: Bool = false,
      _ body: (Store, _ old: FaultServer, _ new: FaultServer, [String: [UInt8]]) async throws -> Void
    ) async throws {
      let published = try await site.publish(Self.files)
      let old = try await FaultServer(published, time: site.time)
      let new = try await FaultServer(try files(published, raisedBy: 2), time: site.time)
      let store = try store()
      if !isNew { try await store.pull(from: old.url, options: site.options) }
      let result = await Result {
        replace(try files(published, movedTo: new.url), at: old)
        try await body(store, old, new, published)
      }
      await old.close()
      await new.close()
      try result.get()
    }

    @Test(arguments: [false, true]) func pullFollowsAndRemembers(isNew: Bool) async throws {
      try await withServers(isNew: isNew) { store, old, new, _ in
        let result = try await store.pull(from: old.url, options: site.options)
        #expect(result.movedTo == new.url && result.refusedMove == nil)
        #expect(result.packs.map(\.outcome) == [isNew ? .updated : .unchanged] && result.isFirstContact == isNew)
        try site.expect(store, Self.files)
        #expect(try trust(store).contains("\nmoved any \(new.url) \(old.url)\n"))
        let count = old.requests.count
        let next = try await store.pull(from: old.url, options: site.options)
        #expect(next.packs.map(\.outcome) == [.unchanged] && next.movedTo == nil && old.requests.count == count)
        #expect(try await store.offers(at: old.url, options: site.options).packs.count == 1)
        #expect(old.requests.count == count)
        #expect(try store.followedSites().map(\.location) == [new.url])
      }
    }

    @Test func planFollowsAndRecordsNothing() async throws {
      try await withServers { store, old, new, _ in
        let before = try trust(store)
        let result = try await store.planPull(from: old.url, options: site.options)
        #expect(try result.movedTo == new.url && trust(store) == before)
      }
    }

    enum Hostility: CaseIterable, Sendable {
      case otherKey, otherProduct, older, loop, missing, markup, closed
    }

    /// The former place is used, and nothing is recorded.
    @Test(arguments: Hostility.allCases) func refusedPlaces(hostility: Hostility) async throws {
      try await withServers(isNew: true) { store, old, new, published in
        let thief = SiteKey()
        let hostile: [String: [UInt8]] =
          switch hostility {
          case .otherKey: try files(published, raisedBy: 9, signedBy: thief)
          case .otherProduct: try files(published, raisedBy: 9) { $0.product = try Store.Product("other") }
          case .older: published
          case .loop: try files(published, movedTo: old.url + "/", raisedBy: 9)
          case .missing: [:]
          case .markup: ["root": Array("<html>".utf8)]
          case .closed: try files(published, raisedBy: 9) { ($0.isClosed, $0.packs) = (true, []) }
          }
        replace(hostile, at: new)
        guard hostility != .closed else {
          // An accepted root of the publisher: the channel ends.
          let error = await #expect(throws: DeliveryError.self) {
            try await store.pull(from: old.url, options: site.options)
          }
          #expect(error?.code == .closedChannel)
          return
        }
        let result = try await store.pull(from: old.url, options: site.options)
        #expect(result.movedTo == nil && result.refusedMove?.location == new.url)
        #expect(result.packs.map(\.outcome) == [.updated])
        #expect(try !trust(store).contains(new.url))
      }
    }

    /// A statement by another key than the root key is not one.
    @Test func statementsOfThievesAreIgnored() async throws {
      try await withServers { store, old, new, published in
        replace(try files(published, movedTo: new.url, stated: SiteKey()), at: old)
        let result = try await store.pull(from: old.url, options: site.options)
        #expect(result.movedTo == nil && result.refusedMove == nil && new.requests.isEmpty)
      }
    }

    /// Each pull takes one step.
    @Test func chainsTakeOneStepInEachPull() async throws {
      try await withServers { store, old, new, published in
        let last = try await FaultServer(try files(published, raisedBy: 4), time: site.time)
        replace(try files(published, movedTo: last.url, raisedBy: 3), at: new)
        let first = try await store.pull(from: old.url, options: site.options)
        #expect(first.movedTo == new.url && last.requests.isEmpty)
        let second = try await store.pull(from: old.url, options: site.options)
        #expect(second.movedTo == last.url)
        let (count, later) = (new.requests.count, try trust(store))
        #expect(
          later.contains("moved any \(last.url) \(old.url)\n") && later.contains("moved any \(last.url) \(new.url)\n"))
        try await store.pull(from: old.url, options: site.options)
        #expect(new.requests.count == count)
        await last.close()
      }
    }

    @Test func credentialsStayAtTheirServer() async throws {
      try await withServers { store, old, new, _ in
        var options = site.options
        options.authorization = try SiteAuthorization(bearerToken: "secret")
        for _ in 0..<2 { try await store.pull(from: old.url, options: options) }
        #expect(old.requests.last?.header("Authorization") == "Bearer secret")
        #expect(!new.requests.isEmpty && new.requests.allSatisfy { $0.header("Authorization") == nil })
      }
    }

    /// A step may not lead to a less safe place.
    @Test func unsafeStepsAreRefused() throws {
      func destination(_ source: any SiteSource, _ url: String) throws -> TrustBook.Move {
        try source.destination(of: try SiteMove(to: url, of: .standard, by: key, madeAt: 0), site.options)
      }
      let safe = try HTTPSource("https://example.com/packs"), plain = try HTTPSource("http://example.com/packs")
      let folder = FolderSource(path)
      #expect(throws: DeliveryError.self) { try destination(safe, "http://example.com/packs") }
      #expect(throws: DeliveryError.self) { try destination(safe, "https://example.com/packs/") }
      #expect(throws: DeliveryError.self) { try destination(folder, "http://example.com/packs") }
      #expect(try destination(plain, "http://example.org/packs/").url == "http://example.org/packs")
      #expect(try destination(safe, "https://example.org/packs").needsPublicAddress)
      #expect(try !destination(folder, "https://example.org/packs").needsPublicAddress)
    }

    /// A place to which a public site moved is contacted at public addresses only, in later pulls as well.
    @Test func publicSitesDoNotLeadToPrivateAddresses() async throws {
      let server = try await FaultServer(["root": [1]], time: site.time)
      let move = TrustBook.Move(url: server.url, needsPublicAddress: true)
      let source = try #require(try FolderSource(path).opening(move, site.options))
      let error = await #expect(throws: DeliveryError.self) { try await source.readWhole("root", upTo: 10) }
      #expect(error?.limit == .privateRedirects && server.requests.isEmpty)
      await source.close()
      await server.close()
    }

    @Test func movesAreReadAndDamageIsFound() throws {
      let text = "packstore trust 1\nmoved any https://a.example.com/x http://b.example.com/y z\n"
      let book = try #require(TrustBook(text: text))
      #expect(book.text == text && book.moves["http://b.example.com/y z"]?.url == "https://a.example.com/x")
      for line in ["moved some https://a.example.com x", "moved any ftp://a x", "moved any https://a.example.com"] {
        #expect(TrustBook(text: "packstore trust 1\n\(line)\n") == nil, "\(line)")
      }
    }

    /// One pack lacks a file at the site: the other one is installed.
    @Test func missingFileOfOnePackLeavesTheOthers() async throws {
      let first = try await site.publish(Self.files)
      let both = try await site.publish(["b": noise(2_000, seed: 2)], pack: "More")
      let own = Set(first.keys.filter { $0.hasPrefix("versions/") })
      let lost = try #require(both.keys.first { $0.hasPrefix("versions/") && !own.contains($0) })
      let server = try await FaultServer(both.filter { $0.key != lost }, time: site.time)
      let store = try store()
      let result = try await store.pull(from: server.url, options: site.options)
      #expect(result.packs.map(\.outcome) == [.updated, .missingFiles])
      try site.expect(store, Self.files)
      await #expect(throws: DeliveryError.self) {
        try await store.pull(from: server.url, packs: ["More"], options: site.options)
      }
      replace(both, at: server)
      #expect(
        try await store.pull(from: server.url, options: site.options).packs.map(\.outcome) == [.unchanged, .updated])
      await server.close()
    }
  }
#endif
