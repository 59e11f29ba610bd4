import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Testing

  /// A publisher that was shown an older state of its site signs that state again: devices keep their versions. Acts that take
  /// something back still reach devices.
  @Suite struct EpochPullTests {
    private let site = SitePullTests()
    private let key: SiteKey
    private var path: String { site.folder.path }

    init() { key = site.key }

    // MARK: - A site and a device

    private func install(_ pack: PackID, _ content: UInt8, _ placement: Placement = .durable) async throws {
      try? FileManager.default.removeItem(atPath: "\(path)/source")
      try site.folder.write([content], to: "source/\(pack)")
      var options = Store.InstallOptions()
      options.attributes = placement == .durable ? nil : try Attributes(placement: placement)
      try await origin.install(folder: FilePath("\(path)/source"), as: pack, options: options)
    }

    private var origin: Store {
      get throws {
        var options = Store.Options()
        options.cache = Store.Cache(folder: FilePath("\(path)/origin-cache"), byteBudget: 0)
        return try Store(at: FilePath("\(path)/origin"), options: options)
      }
    }

    private var options: Site.PublishOptions {
      var options = Site.PublishOptions(deltaCount: 0)
      options.takesBack = true
      return options
    }

    /// Publishes the current version of one pack to the site in a folder.
    private func publish(_ pack: PackID = "P", to folder: String = "site", by signer: SiteKey? = nil) async throws {
      try await Site(at: FilePath("\(path)/\(folder)")).publish(
        [.init(pack)], from: origin, signedBy: signer ?? key, options: options)
    }

    private func promote(_ version: UInt64, _ share: DeviceShare = .all, in folder: String = "site") async throws {
      try await Site(at: FilePath("\(path)/\(folder)")).promote(
        "P", version: version, to: .live, share: share, signedBy: key, options: options)
    }

    private func copy(_ folder: String, to other: String) throws {
      try FileManager.default.copyItem(atPath: "\(path)/\(folder)", toPath: "\(path)/\(other)")
    }

    /// Serves another folder in the place of the site.
    private func serve(_ folder: String) throws {
      try FileManager.default.removeItem(atPath: "\(path)/site")
      try copy(folder, to: "site")
    }

    private var device: Store { get throws { try Store(at: FilePath("\(path)/device")) } }

    private func pull(_ adjust: (inout Store.PullOptions) -> Void = { _ in }) async throws -> [String] {
      var options = site.options
      adjust(&options)
      return try await device.pull(from: "\(path)/site", options: options).packs.map(\.description)
    }

    private func versions(_ adjust: (inout Store.PullOptions) -> Void = { _ in }) async throws -> [UInt64] {
      _ = try await pull(adjust)
      return try device.packs().map(\.version.number)
    }

    private var generation: UInt64 { get throws { try device.makeSnapshot().generation.rawValue } }

    // MARK: - Older states

    /// A job that continues from an older state repeats the older version of a pack that it does not publish.
    @Test(arguments: [false, true]) func anOlderStateIsSkipped(isRenewed: Bool) async throws {
      try await install("P", 1)
      try await publish()
      try copy("site", to: "stale")
      try await install("P", 2)
      try await publish()
      #expect(try await pull() == ["P@2 updated"])
      try await install("Q", 1)
      let signer =
        isRenewed
        ? try key.delegated(by: key, serial: 9, madeAt: 0, endsAt: nil, product: .standard, channels: []) : key
      try await publish("Q", to: "stale", by: signer)
      try copy("site", to: "newest")
      try serve("stale")
      #expect(try await pull() == ["P@1 publisherOutOfDate", "Q@1 updated"])
      #expect(try device.packs().map { "\($0.id)@\($0.version.number)" } == ["P@2", "Q@1"])
      // The next publication from the newest state is accepted.
      try await publish("Q", to: "newest", by: signer)
      try serve("newest")
      #expect(try await pull() == ["P@2 unchanged", "Q@1 unchanged"])
    }

    /// A version that was taken back does not return with the older state in which it was offered.
    @Test func aWithdrawnVersionDoesNotReturn() async throws {
      try await install("P", 1)
      try await publish()
      #expect(try await versions() == [1])
      try await install("P", 2)
      try await publish()
      try copy("site", to: "stale")
      try await promote(1)
      let before = try generation
      #expect(try await pull() == ["P@1 unchanged"])
      #expect(try generation == before + 1, "the epoch is recorded by a commit of its own")
      #expect(try await pull() == ["P@1 unchanged"])
      #expect(try generation == before + 1, "once")
      try await install("Q", 1)
      try await publish("Q", to: "stale")
      try serve("stale")
      #expect(try await pull() == ["P@2 publisherOutOfDate", "Q@1 updated"])
    }

    /// A halt is not undone by an older state, in which the release goes on.
    @Test func aHaltIsNotUndone() async throws {
      try await install("P", 1)
      try await publish()
      try await install("P", 2)
      try await Site(at: FilePath("\(path)/site")).publish(
        [.init("P")], from: origin, signedBy: key,
        options: {
          var options = options
          options.channel = nil
          return options
        }())
      try await promote(2, DeviceShare("99.99%"))
      try copy("site", to: "stale")
      try await promote(2, .none)
      #expect(try await versions() == [1])
      try await install("Q", 1)
      try await publish("Q", to: "stale")
      try serve("stale")
      #expect(try await pull().contains("Q@1 updated"))
      #expect(try device.packs().first { $0.id == "P" }?.version.number == 1)
    }

    // MARK: - Acts

    /// A step back reaches devices, also devices that missed an earlier one; the version may be offered again.
    @Test func stepsBackReachDevices() async throws {
      try await install("P", 1)
      try await publish()
      try await install("P", 2)
      try await publish()
      #expect(try await versions() == [2])
      try await promote(1)
      #expect(try await pull() == ["P@1 updated"])
      try await promote(2)
      #expect(try await pull() == ["P@2 updated"])
      try await promote(1)
      try await promote(2)
      try await promote(1)
      #expect(try await pull() == ["P@1 updated"])
      try await install("P", 3)
      try await publish()
      #expect(try await pull() == ["P@3 updated"])
    }

    @Test func aStepBackForSomeDevices() async throws {
      try await install("P", 1)
      try await publish()
      try await install("P", 2)
      try await publish()
      #expect(try await versions() == [2])
      try await promote(1, DeviceShare("99.99%"))
      let version = try await versions()
      try await Site(at: FilePath("\(path)/site")).demote("P", version: 1, from: .live, signedBy: key, options: options)
      #expect(try await versions() == [2], "from \(version)")
    }

    /// A pack leaves the site and returns with a lower version.
    @Test func aPackReturnsWithALowerVersion() async throws {
      try await install("P", 1)
      try await install("P", 2)
      try await publish()
      #expect(try await versions() == [2])
      let published = try Site(at: FilePath("\(path)/site"))
      try await published.unpublish(["P"], signedBy: key, options: options)
      #expect(try await versions() == [2])
      try await published.publish([.init("P", version: 1)], from: origin, signedBy: key, options: options)
      #expect(try await pull() == ["P@1 updated"])
    }

    /// A device whose app goes back takes the version for that app, and the newer one with the newer app.
    @Test func versionsForOtherApps() async throws {
      let published = try Site(at: FilePath("\(path)/site"))
      try await install("P", 1)
      try await publish()
      try await install("P", 2)
      try await publish()
      for (version, range) in [(1, "..<2"), (2, "2.0...")] as [(UInt64, String)] {
        try await published.promote(
          "P", version: version, to: .live, appVersions: .range(AppVersionRange(range)), signedBy: key,
          options: options)
      }
      let old = try AppVersion("1.0"), new = try AppVersion("2.0")
      for (app, version) in [(new, 2), (old, 1), (old, 1), (new, 2), (old, 1), (new, 2)] as [(AppVersion, UInt64)] {
        #expect(try await versions { $0.appVersion = app } == [version])
      }
    }

    /// An app went back twice, or its pack was removed, and the pack was refused from then on: the rule compared with the
    /// installed version instead of the version accepted last.
    @Test(arguments: ["kept", "removed", "purged", "downgraded"]) func anAppGoesBackTwice(state: String) async throws {
      let published = try Site(at: FilePath("\(path)/site")), cache = FilePath("\(path)/cache")
      for number in 1...3 as ClosedRange<UInt8> {
        try await install("P", number, state == "purged" ? .purgeable : .durable)
        try await publish()
      }
      for (version, range) in [(1, "..<2"), (2, "2.0..<3.0"), (3, "3.0...")] as [(UInt64, String)] {
        try await published.promote(
          "P", version: version, to: .live, appVersions: .range(AppVersionRange(range)), signedBy: key,
          options: options)
      }
      for (app, version) in [("3.0", 3), ("2.0", 2), ("1.0", 1), ("2.5", 2), ("1.0", 1), ("3.0", 3), ("1.0", 1)] {
        let app = try AppVersion(app)
        switch state {
        case "removed": try await device.change { try? $0.remove("P") }
        case "purged": _ = try await device.purge(bytes: .max)
        case "downgraded": _ = try await pull { ($0.appVersion, $0.allowsDowngrade) = (app, true) }
        default: break
        }
        let versions = try await versions {
          ($0.appVersion, $0.unnamedPacks, $0.cacheFolder) = (app, .all, Store.CacheFolder(path: cache))
          $0.refetches = state == "purged"
        }
        #expect(versions == [UInt64(version)], "\(app)")
      }
    }

    /// The exception is for offers of the accepted version: another number of the same root, or other content under that number,
    /// does not count; and a refusal by the root that set the floor is not stale.
    @Test func onlyTheAcceptedVersionIsExcluded() async throws {
      let published = try Site(at: FilePath("\(path)/site"))
      for number in 1...3 as ClosedRange<UInt8> {
        try await install("P", number)
        try await publish()
      }
      try await published.promote(
        "P", version: 2, to: .live, appVersions: .range(AppVersionRange("..<2")), signedBy: key, options: options)
      let old = try AppVersion("1.0"), new = try AppVersion("2.0")
      #expect(try await versions { $0.appVersion = new } == [3])
      // Both versions are offered to the old app, the lower one first.
      #expect(try await pull { $0.appVersion = old } == ["P@2 publisherOutOfDate"])
      try await published.promote(
        "P", version: 3, to: .live, appVersions: .range(AppVersionRange("2.0...")), signedBy: key, options: options)
      #expect(try await versions { $0.appVersion = old } == [2])
      #expect(try await versions { $0.appVersion = new } == [3])
    }

    /// A pinned version stays, and is left by the next pull after its release.
    @Test func aPinnedVersionOfAnOlderAppStays() async throws {
      let published = try Site(at: FilePath("\(path)/site"))
      for number in 1...2 as ClosedRange<UInt8> {
        try await install("P", number)
        try await publish()
      }
      for (version, range) in [(1, "..<2"), (2, "2.0...")] as [(UInt64, String)] {
        try await published.promote(
          "P", version: version, to: .live, appVersions: .range(AppVersionRange(range)), signedBy: key,
          options: options)
      }
      let old = try AppVersion("1.0"), new = try AppVersion("2.0")
      #expect(try await versions { $0.appVersion = new } == [2])
      #expect(try await versions { $0.appVersion = old } == [1])
      try await device.change { try $0.rollBack("P", toVersion: 1) }
      #expect(try await pull { $0.appVersion = new } == ["P@2 held"])
      try await device.change { try $0.remove("P") }
      #expect(try await versions { ($0.appVersion, $0.unnamedPacks) = (old, .all) } == [1])
      #expect(try await versions { $0.appVersion = new } == [2])
    }

    /// An older state offers a lower version to apps that the newest state offers the higher one. The epoch is the same, because
    /// nothing was taken away, and the root offers the installed version too; but nothing excludes the client from it.
    @Test func anOlderStateThatOffersBothIsSkipped() async throws {
      try await install("P", 1)
      try await publish()
      try await install("P", 2)
      try await publish()
      let old = try AppVersion("1.0")
      try await Site(at: FilePath("\(path)/site")).promote(
        "P", version: 1, to: .live, appVersions: .range(AppVersionRange("..<2")), signedBy: key, options: options)
      try copy("site", to: "stale")
      try await promote(2)
      #expect(try await versions { $0.appVersion = old } == [2])
      try await install("Q", 1)
      try await publish("Q", to: "stale")
      try serve("stale")
      #expect(try await pull { $0.appVersion = old } == ["P@1 publisherOutOfDate", "Q@1 updated"])
    }

    @Test func heldPacksKeepTheirFloor() async throws {
      try await install("P", 1)
      try await publish()
      #expect(try await versions() == [1])
      try await install("P", 2)
      try await publish()
      #expect(try await versions() == [2])
      try await device.change { try $0.rollBack("P", toVersion: 1) }
      try await promote(1)
      let before = try generation
      #expect(try await pull() == ["P@1 unchanged"])
      #expect(try generation == before)
      try await device.change { try $0.release("P") }
      #expect(try await pull() == ["P@1 unchanged"])
      #expect(try generation == before + 2, "the release, and the epoch")
    }

    // MARK: - Keys

    /// Two sites of one root key and product are one publisher's site to a device: a pull names the other one, unless it is a copy.
    @Test(arguments: ["same", "copy", "product", "key"]) func anotherSiteOfTheKeyIsReported(kind: String) async throws {
      try await install("P", 1)
      try await publish()
      _ = try await pull()
      if kind == "copy" {
        try copy("site", to: "other")
      } else {
        var options = options
        if kind == "product" { options.product = try Store.Product("other") }
        try await Site(at: FilePath("\(path)/other")).publish(
          [.init("P")], from: origin, signedBy: kind == "key" ? SiteKey() : key, options: options)
      }
      var options = site.options
      options.adopts = true
      let result = try await device.pull(from: "\(path)/other", packs: ["P"], options: options)
      #expect(result.siteOfSameKey == (kind == "same" ? FilePath("\(path)/site").string : nil))
    }

    /// An update follows the mirror with the newer root. A root of the later delegation is newer than a root that a thief signed.
    @Test func theMirrorOfTheLaterKeyIsFollowed() async throws {
      func delegated(_ serial: UInt64, revoked: UInt64 = 0) throws -> SiteKey {
        try SiteKey().delegated(
          by: key, serial: serial, revokedBelow: revoked, madeAt: 0, endsAt: nil, product: .standard, channels: [])
      }
      let thief = try delegated(7)
      try await install("P", 1)
      try await publish(by: thief)
      try copy("site", to: "mirror")
      let file = URL(fileURLWithPath: "\(path)/mirror/root")
      var root = try SignedSiteRoot(decoding: Array(Data(contentsOf: file)), file: "root").root
      root.sequence = .max - 9
      try Data(root.encode(signedBy: thief)).write(to: file)
      try await device.pull(from: "\(path)/mirror", options: site.options)
      try await Site(at: FilePath("\(path)/site")).refresh(signedBy: delegated(8, revoked: 8))
      _ = try await pull()
      #expect(try device.followedSites().map(\.location) == [FilePath("\(path)/site").string])
    }

    /// A renewed key voids nothing. After a revocation, versions that the thief signed bind no device.
    @Test(arguments: [false, true]) func onlyRevocationVoids(isRevoked: Bool) async throws {
      func delegated(_ serial: UInt64) throws -> SiteKey {
        try SiteKey().delegated(
          by: key, serial: serial, revokedBelow: isRevoked && serial > 7 ? serial : 0, madeAt: 0, endsAt: nil,
          product: .standard, channels: [])
      }
      let thief = try delegated(7)
      try await install("P", 1)
      try await publish(by: thief)
      try copy("site", to: "honest")
      try await install("P", 2)
      try await publish(by: thief)
      #expect(try await versions() == [2])
      try await install("Q", 1)
      try await publish("Q", to: "honest", by: delegated(8))
      try serve("honest")
      let result = try await pull()
      #expect(result == [isRevoked ? "P@1 updated" : "P@1 publisherOutOfDate", "Q@1 updated"])
    }
  }
#endif
