import PackFormats

#if Delivery
  import Foundation
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Pulls from a known site: unchanged files are not fetched again, and remembered files are trusted no more than
  /// received ones.
  @Suite struct RememberedSiteTests {
    let site = SitePullTests()
    var path: String { site.folder.path }

    /// The options of a device whose platform matters, so that it reads attributes.
    var options: Store.PullOptions {
      var options = site.options
      options.platform = .macOS
      return options
    }

    static let files: [String: [UInt8]] = ["a": noise(3_000, seed: 1)]

    /// A server whose site has a root and a sheet of attributes, and a store that was pulled from it.
    func prepare(_ fault: FaultServer.Fault? = nil) async throws -> (FaultServer, Store) {
      let server = try await FaultServer(
        try await site.publish(Self.files, attributes: try Attributes(json: Array(#"{"language":"de"}"#.utf8))),
        time: site.time, fault: fault)
      let store = try Store(at: FilePath("\(path)/store"))
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs.map(\.outcome) == [.updated])
      #expect(server.requests.contains { $0.path.hasPrefix("site/attributes/") })
      return (server, store)
    }

    func place(_ server: FaultServer, _ channel: SiteChannel = .live) -> TrustBook.PlaceKey {
      TrustBook.PlaceKey(location: server.url, channel: channel)
    }

    func remembered(_ server: FaultServer, _ store: Store) throws -> RememberedSite? {
      try RememberedSites(inStore: store.path).read(place(server))
    }

    func forge(_ site: RememberedSite, _ server: FaultServer, _ store: Store) throws {
      try RememberedSites(inStore: store.path).write(site, of: place(server), waits: true)
    }

    /// Pulls the installed version again, and returns the requests: `!root` for a conditional one.
    func pullAgain(_ server: FaultServer, _ store: Store, isPlan: Bool = false) async throws -> [String] {
      let before = server.requests.count
      let result =
        try await isPlan
        ? store.planPull(from: server.url, options: options) : store.pull(from: server.url, options: options)
      #expect(result.packs.map(\.outcome) == [.unchanged])
      let requests = server.requests.dropFirst(before)
      #expect(result.requestCount == requests.count)
      return requests.map(Self.name)
    }

    static func name(_ request: FaultServer.Request) -> String {
      let isConditional = request.header("If-None-Match") != nil || request.header("If-Modified-Since") != nil
      return (isConditional ? "!" : "") + request.path.dropFirst(5)
    }

    // MARK: - Requests

    @Test func nothingToDoIsOneShortQuestion() async throws {
      let (server, store) = try await prepare()
      for isPlan in [false, true] {
        let result =
          try await isPlan
          ? store.planPull(from: server.url, options: options)
          : store.pull(from: server.url, options: options)
        #expect(result.requestCount == 1 && result.wireByteCount == 0)
        #expect(result.key == site.key.publicKey && !result.isFirstContact && !result.isStale)
      }
      #expect(server.requests.suffix(2).map(Self.name) == ["!root", "!root"])
      await server.close()
    }

    /// A new root costs itself: sheets that it names and that are here are not asked for.
    @Test func aNewRootLeadsToSheetsThatAreHere() async throws {
      let (server, store) = try await prepare()
      let files = try await site.publish(
        Self.files.merging(["b": [1]]) { $1 }, attributes: try Attributes(json: Array(#"{"language":"de"}"#.utf8)))
      server.state.withLock { $0.files = files }
      let before = server.requests.count
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs.map(\.outcome) == [.updated] && result.packs[0].to == 2)
      let asked = server.requests.dropFirst(before).map(Self.name)
      #expect(asked.first == "!root" && !asked.contains { $0.hasPrefix("attributes/") }, "\(asked)")
      #expect(try await pullAgain(server, store) == ["!root"])
      await server.close()
    }

    @Test func aTagThatChangesWithoutTheRoot() async throws {
      let (server, store) = try await prepare()
      server.state.withLock { $0.tags["root"] = "\"another\"" }
      let root = try #require(server.state.withLock { $0.files["root"] })
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.requestCount == 1 && result.wireByteCount == root.count)
      #expect(try remembered(server, store)?.validators?.tag == "\"another\"")
      #expect(try await pullAgain(server, store) == ["!root"])
      await server.close()
    }

    @Test func aServerWithoutValidators() async throws {
      let (server, store) = try await prepare { _, reply in reply.set("ETag", nil) }
      #expect(try remembered(server, store)?.validators == nil)
      #expect(try await pullAgain(server, store) == ["root"], "the sheet does not come again")
      await server.close()
    }

    /// If a file has just changed, its next state can have the same date.
    @Test(arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sun, 06 Nov 1994 08:49:38 GMT", false),
      ("Sun, 06 Nov 1994 08:50:37 GMT", false), ("Mon, 07 Nov 1994 08:49:37 GMT", false), ("yesterday", false),
    ])
    func aChangeJustNowCannotBeToldFromTheNext(_ changedAt: String, _ isSettled: Bool) async throws {
      let (server, store) = try await prepare { _, reply in
        reply.set("Last-Modified", changedAt)
        reply.set("Date", "Sun, 06 Nov 1994 08:50:37 GMT")
      }
      #expect(try await pullAgain(server, store) == [isSettled ? "!root" : "root"])
      await server.close()
    }

    @Test func aPlanRemembersNothing() async throws {
      let server = try await FaultServer(try await site.publish(Self.files), time: site.time)
      let store = try Store(at: FilePath("\(path)/store"))
      _ = try await store.planPull(from: server.url, options: options)
      #expect(!FileManager.default.fileExists(atPath: "\(store.path)/sites"))
      try await store.pull(from: "\(path)/site", options: options)
      #expect(!FileManager.default.fileExists(atPath: "\(store.path)/sites"), "a folder has no round trips")
      await server.close()
    }

    // MARK: - Trust

    /// An unrequested 304, and a false one while the files of the old root are missing.
    @Test func notModifiedIsNotBelieved() async throws {
      let (server, store) = try await prepare()
      server.replaceFault { request, reply in
        if request.header("If-None-Match") == nil, request.path == "site/root" {
          reply = FaultServer.Reply(status: 304)
        }
      }
      let other = try Store(at: FilePath("\(path)/other"))
      await #expect {
        try await other.pull(from: server.url, options: options)
      } throws: { ($0 as? DeliveryError)?.code == .badResponse }

      let old = try #require(try remembered(server, store))
      let third = try Store(at: FilePath("\(path)/third"))
      try TrustFile(inStore: third.path).update { book in
        let claims = RootClaims(try SignedSiteRoot(decoding: old.root, file: "root"))
        _ = try book.admit(claims, at: .site(server.url, .live, isLocal: false), TrustPolicy(), now: claims.madeAt)
      }
      try forge(old, server, third)
      let files = try await site.publish(Self.files.merging(["b": [1]]) { $1 })
      server.replaceFault { request, reply in
        if request.header("If-None-Match") != nil { reply = FaultServer.Reply(status: 304) }
      }
      server.state.withLock { $0.files = files }
      let result = try await third.pull(from: server.url, options: options)
      #expect(result.packs[0].to == 2)
      #expect(try Array(third.contents(of: "b")) == [1])
      await server.close()
    }

    /// Remembered roots expire too.
    @Test func aRememberedRootExpires() async throws {
      let (server, store) = try await prepare()
      let known = try #require(try remembered(server, store))
      let root = try SignedSiteRoot(decoding: known.root, file: "root").root
      var dated = root
      dated.sequence += 1
      dated.expiresAfter = 3_600_000_000_000
      let bytes = try dated.encode(signedBy: site.key)
      server.state.withLock { $0.files["root"] = bytes }
      #expect(try await pullAgain(server, store) == ["!root"])
      #expect(try await pullAgain(server, store) == ["!root"])
      // The place was last seen later than the clock's time, so the real time is later than that.
      let trust = "\(store.path)/trust"
      let text = try String(contentsOfFile: trust, encoding: .utf8)
      let later = text.replacingOccurrences(of: " \(dated.madeAt) ", with: " \(dated.madeAt + 7_200_000_000_000) ")
      #expect(later != text)
      try Data(later.utf8).write(to: URL(fileURLWithPath: trust))
      let before = server.requests.count
      await #expect {
        try await store.pull(from: server.url, options: options)
      } throws: { ($0 as? DeliveryError)?.code == .expired }
      #expect(server.requests.dropFirst(before).map(Self.name) == ["!root", "root"])
      var strict = options
      strict.maximumAge = .zero
      try Data(text.utf8).write(to: URL(fileURLWithPath: trust))
      await #expect { try await store.pull(from: server.url, options: strict) } throws: {
        ($0 as? DeliveryError)?.code == .tooOld
      }
      await server.close()
    }

    /// Roots of another key, of another channel, of yesterday, and none: with the validators of the true one.
    @Test func forgedRootsAreReadAgain() async throws {
      let (server, store) = try await prepare()
      let true_ = try #require(try remembered(server, store))
      let root = try SignedSiteRoot(decoding: true_.root, file: "root").root
      var beta = root, old = root
      beta.channel = try SiteChannel("beta")
      old.sequence -= 1
      for forged in [
        try root.encode(signedBy: SiteKey()), try beta.encode(signedBy: site.key), try old.encode(signedBy: site.key),
        try root.encode(signedBy: nil), Array(true_.root.dropLast()), [0],
      ] {
        try forge(
          RememberedSite(root: forged, validators: true_.validators, sheets: true_.sheets), server, store)
        #expect(try await pullAgain(server, store) == ["!root", "root"])
        #expect(try remembered(server, store) == true_)
        #expect(try await pullAgain(server, store) == ["!root"])
      }
      // Sheets that differ from the root's sheets are not used either.
      let sheet = try AttributeSheet([Attributes(json: Array(#"{"language":"fr"}"#.utf8))]).encode()
      try forge(RememberedSite(root: true_.root, validators: true_.validators, sheets: [sheet]), server, store)
      let asked = try await pullAgain(server, store)
      #expect(asked.count == 2 && asked[0] == "!root" && asked[1].hasPrefix("attributes/"))
      #expect(try remembered(server, store) == true_)
      await server.close()
    }

    @Test func damagedFilesCountAsNone() async throws {
      let (server, store) = try await prepare()
      let file = "\(store.path)/\(RememberedSites.path(of: place(server)))"
      let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
      var damaged: [[UInt8]] = [[], Array(bytes.dropLast()), Array(bytes.prefix(40)), bytes + [0]]
      for place in [0, 8, 13, 40, bytes.count / 2, bytes.count - 1] {
        damaged.append(bytes)
        damaged[damaged.count - 1][place] ^= 0x20
      }
      for damage in damaged {
        try Data(damage).write(to: URL(fileURLWithPath: file))
        let asked = try await pullAgain(server, store)
        #expect(asked.count == 2 && asked[0] == "root" && asked[1].hasPrefix("attributes/"))
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: file))) == bytes, "it is written again")
      }
      await server.close()
    }

    // MARK: - How long

    @Test func whatIsForgottenIsRemoved() async throws {
      let (server, store) = try await prepare()
      let sites = RememberedSites(inStore: store.path)
      let known = try #require(try sites.read(place(server)))
      func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: "\(store.path)/sites") }
      #expect(try names().count == 1)
      // No files are kept for a place that was never seen.
      try sites.write(known, of: place(server, try SiteChannel("beta")), waits: true)
      #expect(try names().count == 1)
      // A file that a crash can leave.
      try Data([1]).write(to: URL(fileURLWithPath: "\(store.path)/sites/\(Digest256(hashing: [1]).hex)"))
      try sites.write(known, of: place(server), waits: true)
      #expect(try names().count == 1 && sites.read(place(server)) == known)
      let origin = try #require(try TrustFile(inStore: store.path).read().places.values.first?.origin)
      try TrustFile(inStore: store.path).update { _ = $0.forget(origin) }
      #expect(try names() == [])
      await server.close()
    }

    /// Sheets that find no room are not kept; a root always does.
    @Test func isBounded() throws {
      let root = [UInt8](repeating: 1, count: SiteRoot.byteCountLimit), sheet = [UInt8](repeating: 2, count: 15 << 20)
      let site = RememberedSite(root: root, validators: nil, sheets: [sheet, sheet])
      #expect(site.sheets.count == 1)
      let bytes = site.encode()
      #expect(bytes.count <= RememberedSite.byteCountLimit)
      #expect(try RememberedSite(decoding: bytes, file: "site") == site)
    }
  }
#endif
