import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// The offers of a site: the number of requests, the client, the key; nothing is written for them.
  @Suite struct OffersTests {
    let site = SitePullTests()
    var path: String { site.folder.path }
    var options: Store.PullOptions { site.options }

    func attributes(_ json: String) throws -> Attributes { try Attributes(json: Array(json.utf8)) }

    /// A root, signed, and the sheets that it names; as files of a site.
    func files(
      _ packs: [SiteRoot.Pack], on sheets: [AttributeSheet] = [], signedBy key: SiteKey? = nil,
      _ edit: (inout SiteRoot) throws -> Void = { _ in }
    ) throws -> [String: [UInt8]] {
      let encoded = try sheets.map { try $0.encode() }
      var root = SiteRoot(
        sequence: 7, madeAt: Int64(Date().timeIntervalSince1970 * 1e9), expiresAfter: nil,
        site: SiteID(ID128(copying: [UInt8](repeating: 5, count: 16))), product: .standard,
        sheets: encoded.map { SiteRoot.Sheet(digest: Digest256(hashing: $0), byteCount: UInt32($0.count)) },
        packs: packs)
      try edit(&root)
      var files = ["root": try root.encode(signedBy: key ?? site.key)]
      for sheet in encoded { files["attributes/\(Digest256(hashing: sheet).hex)"] = sheet }
      return files
    }

    func offer(
      _ number: UInt64, _ attributes: Attributes? = nil, share: UInt32 = OfferTerms.everyDevice,
      app: String? = nil
    ) throws -> SiteRoot.Offer {
      SiteRoot.Offer(
        number: number, catalog: CatalogID(digest: Digest256(hashing: [UInt8(number)])),
        manifest: Digest256(hashing: [9]),
        manifestByteCount: 100, attributes: attributes?.digest, downloadByteCount: 1_000 * number, share: share,
        appVersions: try app.map { try AppVersionRange($0) })
    }

    func pack(_ id: PackID, _ offers: SiteRoot.Offer...) -> SiteRoot.Pack {
      SiteRoot.Pack(id: id, priority: 0, offers: offers, deltas: [])
    }

    func refusals(_ pack: Store.SiteOffers.Pack) -> [String] {
      pack.refusals.map { "\($0.version) \($0.obstacle)" }
    }

    /// Every file below a folder, with its content.
    func tree(_ folder: String) -> [String: Data?] {
      let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      return Dictionary(
        uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: "\(folder)/\($0)")) })
    }

    // MARK: - Costs

    /// 1,000 packs of two versions each, all with attributes of their own, on two sheets: from a server and from a folder,
    /// for a store and without one.
    @Test func aThousandPacksTakeThreeRequests() async throws {
      let all = try (0..<2_000).map { try attributes(#"{"language":"de","priority":\#($0 + 1)}"#) }
      let packs = try (0..<1_000).map { index in
        pack(
          try PackID(validating: String(format: "Pack%04d", index)), try offer(2, all[index], app: "2.0..."),
          try offer(1, all[1_000 + index]))
      }
      let files = try files(packs, on: [AttributeSheet(all.prefix(900)), AttributeSheet(all.dropFirst(900))])
      let server = try await FaultServer(files, time: site.time)
      for (name, bytes) in files { try site.folder.write(bytes, to: "plain/\(name)") }
      var options = options
      options.appVersion = try AppVersion("1.5")
      let store = try Store(at: FilePath("\(path)/store"))
      let before = tree(store.path.string)
      for place in [server.url, "\(path)/plain"] {
        for offers in [
          try await store.offers(at: place, options: options), try await Store.offers(at: place, options: options),
        ] {
          #expect(offers.requestCount == 3)
          #expect(offers.wireByteCount == files.values.reduce(0) { $0 + $1.count })
          try #require(offers.packs.count == 1_000)
          for (index, pack) in offers.packs.enumerated() {
            #expect(pack.offer?.version == 1 && pack.offer?.attributes == all[1_000 + index])
            #expect(refusals(pack) == ["2 appVersion"] && pack.currentVersion == nil)
          }
        }
      }
      #expect(server.requests.count == 6, "three for each")
      #expect(tree(store.path.string) == before, "nothing is written")
      await server.close()
    }

    /// Files that a pull has remembered are not requested again.
    @Test func nothingNewIsOneEmptyAnswer() async throws {
      var pulling = options
      pulling.platform = .macOS
      let server = try await FaultServer(
        try await site.publish(["a": [1]], attributes: try attributes(#"{"language":"fr"}"#)), time: site.time)
      let store = try Store(at: FilePath("\(path)/store"))
      try await store.pull(from: server.url, options: pulling)
      let before = tree(store.path.string)
      let offers = try await store.offers(at: server.url, options: options)
      #expect(offers.requestCount == 1 && offers.wireByteCount == 0 && !offers.isFirstContact)
      #expect(offers.packs.map(\.currentVersion) == [1] && offers.packs[0].offer?.language?.text == "fr")
      #expect(tree(store.path.string) == before)
      await server.close()
    }

    /// An archive has a root and a sheet as a site has.
    @Test func anArchiveOffersItsVersion() async throws {
      let served = try await site.publish(["a": [1]], attributes: try attributes(#"{"platforms":["iOS"]}"#))
      try #require(served.keys.contains { $0.hasPrefix("attributes/") })
      let origin = try Store(at: FilePath("\(path)/origin"))
      let archive = "\(path)/Game.pack"
      _ = try await origin.export(.init("Game"), to: FilePath(archive), signedBy: site.key)
      let offers = try await Store.offers(at: archive, options: options)
      #expect(offers.channel == nil && offers.key == site.key.publicKey && offers.isFirstContact)
      #expect(offers.packs.map(\.offer?.attributes.platforms) == [[.iOS]])
      var mac = options
      mac.platform = .macOS
      #expect(try await Store.offers(at: archive, options: mac).packs.map(refusals) == [["1 platform"]])
    }

    // MARK: - Who is offered what

    @Test func offersAreChosenAsByAPull() async throws {
      let mac = try attributes(#"{"platforms":["macOS"],"language":"en"}"#)
      let device = DeviceID(hex: "000102030405060708090a0b0c0d0e0f")!
      let key = site.key
      let draw = OfferedVersion(pack: "Share", number: 2, product: .standard, firstKey: key.publicKey).draw(for: device)
      let files = try files(
        [
          pack("All", try offer(1)), pack("Halted", try offer(2, share: 0), try offer(1)),
          pack("Mac", try offer(1, mac)),
          pack("Range", try offer(3, app: "2.0..<3")), pack("Share", try offer(2, share: draw + 1), try offer(1)),
        ], on: [AttributeSheet([mac])]
      ) { $0.primaryLanguage = try LanguageTag("de") }
      for (name, bytes) in files { try site.folder.write(bytes, to: "plain/\(name)") }
      let store = try Store(at: FilePath("\(path)/store"))
      func offered(_ app: String?, _ platform: Platform?, _ device: DeviceID?) async throws -> [String] {
        var options = options
        options.appVersion = try app.map { try AppVersion($0) }
        options.platform = platform
        options.device = device
        return try await store.offers(at: "\(path)/plain", options: options).packs.map { pack in
          ([pack.description] + refusals(pack)).joined(separator: ", ")
        }
      }
      #expect(
        try await offered("2.5", .macOS, device)
          == ["All@1", "Halted@1, 2 share", "Mac@1", "Range@3", "Share@2"])
      #expect(
        try await offered("3.0", .iOS, nil)
          == [
            "All@1", "Halted@1, 2 share", "Mac: nothing, 1 platform", "Range: nothing, 3 appVersion",
            "Share@1, 2 undrawnShare",
          ])
      let all = try await store.offers(at: "\(path)/plain", options: options)
      #expect(all.primaryLanguage?.text == "de")
      #expect(all.packs.map(\.offer?.language?.text) == ["de", "de", "en", "de", "de"])
      #expect(all.packs.map(\.offer?.downloadByteCount) == [1_000, 1_000, 1_000, 3_000, 1_000])
      // The id that a pull has generated decides from then on.
      let drawn = try DeviceFile(inStore: store.path).readOrMake()
      #expect(try await offered(nil, nil, nil).last == offered(nil, nil, drawn).last)
    }

    /// An installed version is still offered, with any share.
    @Test func whoHasAVersionKeepsIt() async throws {
      let served = try await site.publish(["a": [1]])
      let server = try await FaultServer(served, time: site.time)
      let store = try Store(at: FilePath("\(path)/store"))
      try await store.pull(from: server.url, options: options)
      var root = try SignedSiteRoot(decoding: try #require(served["root"]), file: "root").root
      root.sequence += 1
      root.packs[0].offers[0].share = 0
      let halted = try root.encode(signedBy: site.key)
      server.state.withLock { $0.files["root"] = halted }
      #expect(try await store.offers(at: server.url, options: options).packs[0].offer?.version == 1)
      #expect(try await Store.offers(at: server.url, options: options).packs[0].offer == nil)
      await server.close()
    }

    // MARK: - Trust

    /// A planned pull refuses for the same reasons, and leaves as few files behind.
    @Test func trustIsAsForAPlan() async throws {
      let store = try Store(at: FilePath("\(path)/store"))
      let packs = [pack("All", try offer(1))]
      let known = try files(packs)
      let server = try await FaultServer(known, time: site.time)
      let book = try SignedSiteRoot(decoding: try #require(server.state.withLock { $0.files["root"] }), file: "root")
      try TrustFile(inStore: store.path).update { trust in
        _ = try trust.admit(
          RootClaims(book), at: .site(server.url, .live, isLocal: false), TrustPolicy(), now: book.root.madeAt)
      }
      let other = SiteKey()
      let cases: [(code: DeliveryError.Code?, files: [String: [UInt8]])] = [
        (nil, known),
        (.otherKey, try files(packs, signedBy: other)),
        (.otherChannel, try files(packs) { $0.channel = try SiteChannel("beta") }),
        (.otherKey, try files(packs) { $0.product = try Store.Product("other") }),
        (.expired, try files(packs) { ($0.madeAt, $0.expiresAfter, $0.sequence) = (1, 1, 8) }),
        (.fromTheFuture, try files(packs) { ($0.madeAt, $0.sequence) = ($0.madeAt + 172_800_000_000_000, 8) }),
        (.closedChannel, try files([]) { ($0.isClosed, $0.sequence) = (true, 8) }),
        (.corrupt, ["root": Array("PKSROOT0".utf8)]), (.noSite, [:]),
      ]
      for (code, files) in cases {
        server.state.withLock { $0.files = files }
        let before = tree(store.path.string)
        var codes: [DeliveryError.Code?] = []
        do { _ = try await store.offers(at: server.url, options: options); codes.append(nil) } catch {
          codes.append((error as? DeliveryError)?.code)
        }
        #expect(tree(store.path.string) == before)
        // A plan for packs would go on to their manifests, which these sites do not have.
        do { _ = try await store.planPull(from: server.url, packs: [], options: options); codes.append(nil) } catch {
          codes.append((error as? DeliveryError)?.code)
        }
        #expect(codes == [code, code])
      }
      await server.close()
    }

    /// An outdated mirror is not trusted, and is not an error.
    @Test func aMirrorLags() async throws {
      let old = try await site.publish(["a": [1]])
      let new = try await site.publish(["a": [2]])
      let server = try await FaultServer(new, time: site.time)
      let store = try Store(at: FilePath("\(path)/store"))
      try await store.pull(from: server.url, options: options)
      server.state.withLock { $0.files = old }
      let offers = try await store.offers(at: server.url, options: options)
      #expect(offers.isStale && offers.packs == [])
      #expect(try await !Store.offers(at: server.url, options: options).isStale, "for others it is the newest")
      await server.close()
    }

    /// Attributes that no sheet has, or that are others than the root names.
    @Test func sheetsAreChecked() async throws {
      let named = try attributes(#"{"language":"de"}"#), other = try attributes(#"{"language":"fr"}"#)
      let packs = [pack("P", try offer(1, named))]
      let complete = try files(packs, on: [AttributeSheet([named])])
      let sheet = try #require(complete.keys.first { $0 != "root" })
      for files in [
        try files(packs, on: [AttributeSheet([other])]), try files(packs),
        complete.merging([sheet: try #require(complete[sheet]).reversed()]) { $1 },
      ] {
        let server = try await FaultServer(files, time: site.time)
        await #expect { try await Store.offers(at: server.url, options: options) } throws: {
          ($0 as? DeliveryError)?.code == .corrupt
        }
        await server.close()
      }
    }

    /// A publication while the root is read takes the old sheet away.
    @Test func theSiteChangesMeanwhile() async throws {
      let first = try attributes(#"{"language":"de"}"#), second = try attributes(#"{"language":"fr"}"#)
      let old = try files([pack("P", try offer(1, first))], on: [AttributeSheet([first])])
      let new = try files([pack("P", try offer(2, second))], on: [AttributeSheet([second])]) { $0.sequence = 8 }
      let server = try await FaultServer(
        new.merging(old.filter { $0.key == "root" }) { $1 }, time: site.time)
      let newRoot = try #require(new["root"])
      server.replaceFault { request, reply in
        if request.path == "site/root", request.number > 0 { reply.body = newRoot }
      }
      let offers = try await Store.offers(at: server.url, options: options)
      #expect(offers.packs.map(\.description) == ["P@2"])
      // The error names permanently missing files.
      let lost = try await FaultServer(old.filter { $0.key == "root" }, time: site.time)
      await #expect { try await Store.offers(at: lost.url, options: options) } throws: {
        ($0 as? DeliveryError)?.code == .siteChanged
      }
      await server.close()
      await lost.close()
    }
  }
#endif
