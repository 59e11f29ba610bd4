import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Testing

  /// Which channel a store follows at a place, when the pull that chose it did not come to its end.
  @Suite struct FollowedChannelTests {
    let site = SitePullTests()
    var path: String { site.folder.path }
    let beta: SiteChannel

    init() throws { beta = try SiteChannel("beta") }

    /// Publishes version 2 of a pack on `live`, and version 1 on `beta`.
    private func publish() async throws {
      let origin = try Store(at: FilePath("\(path)/origin"))
      let published = try Site(at: FilePath("\(path)/site"))
      var options = Site.PublishOptions()
      options.deltaCount = 0
      for (number, channel) in [(1, beta), (2, .live)] as [(UInt8, SiteChannel)] {
        try site.folder.write([number], to: "source/file")
        try await origin.install(folder: FilePath("\(path)/source"), as: "P")
        options.channel = channel
        try await published.publish(from: origin, signedBy: site.key, options: options)
      }
    }

    private func options(_ channel: SiteChannel? = nil) -> Store.PullOptions {
      var options = site.options
      options.channel = channel
      return options
    }

    private func version(_ store: Store) throws -> UInt8? { try store.contents(of: "file").first }

    /// After an interrupted first contact the same command continues, also with named packs; a command that names no
    /// channel follows the chosen one.
    @Test(arguments: [true, false]) func aFirstContactThatWasInterrupted(namesPacks: Bool) async throws {
      try await publish()
      var files = try site.served()
      files["roots/beta"] = Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/site/roots/beta")))
      let server = try await FaultServer(files, time: site.time)
      server.replaceFault { request, reply in
        if request.path.hasPrefix("site/versions/") { reply = FaultServer.Reply(status: 404) }
      }
      let store = try Store(at: FilePath("\(path)/store"))
      let packs: [PackID]? = namesPacks ? ["P"] : nil
      await #expect(throws: DeliveryError.self) {
        try await store.pull(from: server.url, packs: packs, options: options(beta))
      }
      server.replaceFault(nil)
      let result = try await store.pull(from: server.url, packs: packs, options: options(namesPacks ? beta : nil))
      #expect(try result.channel == beta && version(store) == 1)
      #expect(try await store.pull(from: server.url, options: options()).packs.map(\.outcome) == [.unchanged])
      await server.close()
    }

    /// A crash between the commit that takes what another channel offers, and the note that it is followed.
    @Test(arguments: [nil, SiteChannel.live]) func aCrashAfterTheCommit(next: SiteChannel?) async throws {
      try await publish()
      let place = "\(path)/site", lock = "\(path)/store/trust.lock"
      let store = try Store(at: FilePath("\(path)/store"))
      try await store.pull(from: place, options: options())
      #expect(try version(store) == 2)
      await #expect(throws: PackStoreError.self) {
        try await store.pull(from: place, options: options(beta)) { progress in
          guard progress.phase == .commit else { return }
          try? FileManager.default.removeItem(atPath: lock)
          try? FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
        }
      }
      #expect(try version(store) == 1, "it was committed")
      try FileManager.default.removeItem(atPath: lock)
      let result = try await store.pull(from: place, options: options(next))
      #expect(try result.channel == next ?? beta && version(store) == (next == nil ? 1 : 2))
      // From then on packs can be named again, and floors count.
      let named = try await store.pull(from: place, packs: ["P"], options: options())
      #expect(named.packs.map(\.outcome) == [.unchanged] && named.channel == next ?? beta)
      #expect(try !String(contentsOfFile: "\(path)/store/trust", encoding: .utf8).contains("\nbegin "))
    }

    /// A crash before that commit: the floors of the previous channel remain, and the next commit drops them.
    @Test func aCrashBeforeTheCommit() async throws {
      try await publish()
      let store = try Store(at: FilePath("\(path)/store"))
      try await store.pull(from: "\(path)/site", options: options())
      let location = try #require(try TrustFile(inStore: store.path).read().places.keys.first?.location)
      try TrustFile(inStore: store.path).update { $0.begin(beta, at: location) }
      await #expect {
        try await store.pull(from: "\(path)/site", packs: ["P"], options: options())
      } throws: { error in
        (error as? DeliveryError)?.reason == "a change to the channel 'beta' is incomplete"
      }
      try await store.pull(from: "\(path)/site", options: options())
      #expect(try version(store) == 1)
    }

    /// Nothing is pinned to a folder that is not signed; its channels count apart all the same.
    @Test func channelsOfAFolderThatIsNotSigned() async throws {
      try await publish()
      for root in ["root", "roots/beta"] {
        let file = URL(fileURLWithPath: "\(path)/site/\(root)")
        let signed = try SignedSiteRoot(decoding: Array(Data(contentsOf: file)), file: root)
        try Data(signed.root.encode(signedBy: nil)).write(to: file)
      }
      let store = try Store(at: FilePath("\(path)/store"))
      func pull(_ channel: SiteChannel?, _ packs: [PackID]? = nil) async throws -> UInt8? {
        var options = options(channel)
        options.allowsUnsigned = true
        try await store.pull(from: "\(path)/site", packs: packs, options: options)
        return try version(store)
      }
      #expect(try await pull(nil) == 2)
      await #expect {
        try await pull(beta, ["P"])
      } throws: { error in
        (error as? DeliveryError)?.reason == "the store follows the channel 'live', not 'beta'"
      }
      #expect(try version(store) == 2)
      #expect(try await pull(beta) == 1, "the numbers of the channel before do not count")
      #expect(try await pull(nil) == 1, "the channel is remembered")
      #expect(try await pull(nil, ["P"]) == 1)
      #expect(try await pull(.live) == 2)
    }

    /// A version with the installed number and content but other attributes counts as the installed one.
    @Test func theSameVersionWithOtherAttributes() async throws {
      try site.folder.write([1], to: "source/file")
      for (number, name) in ["a", "b"].enumerated() {
        let origin = try Store(at: FilePath("\(path)/origin-\(name)"))
        let attributes = try Attributes(json: Array(#"{"priority":\#(number)}"#.utf8))
        try await origin.install(
          folder: FilePath("\(path)/source"), as: "P", options: .init(attributes: attributes))
        try await Site(at: FilePath("\(path)/\(name)")).publish(from: origin, signedBy: site.key)
      }
      let place = "\(path)/site"
      try FileManager.default.moveItem(atPath: "\(path)/a", toPath: place)
      let store = try Store(at: FilePath("\(path)/store"))
      try await store.pull(from: place, options: options())
      let before = try #require(try store.makeSnapshot().pack("P")?.version)
      try FileManager.default.moveItem(atPath: place, toPath: "\(path)/a")
      try FileManager.default.moveItem(atPath: "\(path)/b", toPath: place)
      await #expect {
        try await store.pull(from: place, options: options())
      } throws: { error in
        (error as? PackStoreError)?.code == .exists
      }
      #expect(try store.makeSnapshot().pack("P")?.version == before)
      #expect(try store.makeSnapshot().attributes(of: before).priority == 0)
    }
  }
#endif
