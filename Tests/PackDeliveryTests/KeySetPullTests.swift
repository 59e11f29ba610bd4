import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Testing

  /// Devices follow a publisher whose root keys are a set. Thieves have fewer keys than the threshold, or keys of a replaced set.
  @Suite struct KeySetPullTests {
    private let site = SitePullTests()
    private var path: String { site.folder.path }
    private var device: Store { get throws { try Store(at: FilePath("\(path)/device")) } }

    private func file(_ name: String) -> FilePath { FilePath("\(path)/\(name).key") }

    /// Creates the keys of holders.
    private func make(_ names: [String]) throws -> [SitePublicKey] {
      try names.map { try SiteKey.readOrMake(file($0)).key.publicKey }
    }

    /// Returns the release key after holders signed a request.
    private func delegated(
      _ set: inout KeySetFile, _ release: SiteKey, by names: [String],
      next: (threshold: Int, keys: [SitePublicKey])? = nil,
      revokes: Bool = false
    ) throws -> SiteKey {
      let request = try set.request(next: next, for: [.init(release)], options: .init(revokesEarlier: revokes))
      let answers = try names.compactMap { try request.sign(withKeyIn: file($0)) }
      let done = try set.completing(request, with: answers)
      set = done.file
      return try release.delegated(by: done.delegations[0])
    }

    private func publish(_ content: UInt8, to folder: String = "site", by key: SiteKey) async throws {
      let origin = try Store(at: FilePath("\(path)/origin"))
      try? FileManager.default.removeItem(atPath: "\(path)/source")
      try site.folder.write([content], to: "source/P")
      try await origin.install(folder: FilePath("\(path)/source"), as: "P")
      try await Site(at: FilePath("\(path)/\(folder)")).publish(
        [.init("P")], from: origin, signedBy: key, options: .init(deltaCount: 0))
    }

    private func copy(_ folder: String, to other: String) throws {
      try? FileManager.default.removeItem(atPath: "\(path)/\(other)")
      try FileManager.default.copyItem(atPath: "\(path)/\(folder)", toPath: "\(path)/\(other)")
    }

    private func pull(_ device: String = "device", key: SitePublicKey? = nil) async throws -> [UInt64] {
      var options = site.options
      if let key { options.trustedKey = key }
      let store = try Store(at: FilePath("\(path)/\(device)"))
      try await store.pull(from: "\(path)/site", options: options)
      return try store.packs().map(\.version.number)
    }

    private func refusal(_ body: () async throws -> Void) async -> DeliveryError.Code? {
      do { try await body() } catch { return (error as? DeliveryError)?.code }
      return nil
    }

    @Test func devicesFollowRotations() async throws {
      // One root key, then 2 of 3, then another 2 of 3: one key was stolen, and one was lost.
      let root = try make(["root"])[0]
      var set = try KeySetFile(continuing: SiteKey(contentsOf: file("root")))
      _ = try SiteKey.delegate(to: file("release"), by: file("root"))
      var release = try SiteKey(contentsOf: file("release"))
      try await publish(1, by: release)
      for name in ["device", "early"] { #expect(try await pull(name) == [1]) }
      let origin = try device.packs()[0].origin
      let first = try make(["anna", "ben", "carl"])
      release = try delegated(&set, release, by: ["root", "anna", "ben", "carl"], next: (2, first))
      try await publish(2, by: release)
      #expect(try await pull() == [2])
      try copy("site", to: "old")
      let old = release
      let second = try make(["anna", "dora", "emil"])
      release = try delegated(&set, release, by: ["anna", "ben", "dora", "emil"], next: (2, second))
      try await publish(3, by: release)
      for name in ["device", "early"] { #expect(try await pull(name) == [3], "also after several rotations") }
      for (name, key) in [("late", set.id), ("later", root)] {
        #expect(try await pull(name, key: key) == [3], "any of its ids can be named")
      }
      #expect(try device.packs()[0].origin == origin && origin == .signed(root, .standard), "it is the same publisher")
      // The mirror from before the rotation is stale; its key continues nothing.
      try copy("site", to: "good")
      try copy("old", to: "site")
      #expect(try await pull() == [3])
      try await publish(4, by: old)
      #expect(try await pull() == [3])
      let id = set.id
      #expect(await refusal { _ = try await pull("new", key: id) } == .otherKey)
      try copy("good", to: "site")
      await #expect(throws: PackStoreError.self) { try await publish(5, by: old) }
    }

    /// A thief has all keys of a replaced set, and rotates to a set of their own.
    @Test func aForkIsRefused() async throws {
      let keys = try make(["anna", "ben"]), release = SiteKey()
      var set = try KeySetFile(threshold: 2, keys: keys)
      let key = try delegated(&set, release, by: ["anna", "ben"])
      try await publish(1, by: key)
      #expect(try await pull() == [1])
      var stolen = set
      for name in ["anna", "ben"] {
        // Copies of the keys: they lack the notes of later signatures.
        try FileManager.default.copyItem(atPath: file(name).string, toPath: file("stolen-\(name)").string)
      }
      let next = try delegated(&set, key, by: ["anna", "ben", "carl", "dora"], next: (2, make(["carl", "dora"])))
      try await publish(2, by: next)
      #expect(try await pull() == [2])
      let forged = try delegated(
        &stolen, SiteKey(), by: ["stolen-anna", "stolen-ben", "thief", "thief2"], next: (2, make(["thief", "thief2"])))
      try FileManager.default.removeItem(atPath: "\(path)/site")
      try await publish(9, by: forged)
      #expect(await refusal { _ = try await pull() } == .otherKey)
      #expect(try device.packs().map(\.version.number) == [2])
    }

    /// A release key was stolen, and signed the highest numbers: one request revokes it.
    @Test func revocationReachesDevices() async throws {
      var set = try KeySetFile(threshold: 1, keys: make(["anna", "ben"]))
      let thief = try delegated(&set, SiteKey(), by: ["anna", "ben"])
      try await publish(1, by: thief)
      #expect(try await pull() == [1])
      try copy("site", to: "good")
      let root = URL(fileURLWithPath: "\(path)/site/root")
      var forged = try SignedSiteRoot(decoding: Array(Data(contentsOf: root)), file: "root").root
      forged.sequence = .max - 9
      try Data(forged.encode(signedBy: thief)).write(to: root)
      #expect(try await pull() == [1])
      try copy("good", to: "site")
      // A new key alone does not make the honest root newer.
      let renewed = try delegated(&set, SiteKey(), by: ["ben"])
      try await publish(2, by: renewed)
      #expect(try await pull() == [1])
      let revoking = try delegated(&set, SiteKey(), by: ["anna"], revokes: true)
      try await publish(3, by: revoking)
      #expect(try await pull() == [3])
    }
  }
#endif
