import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Releases in steps, as devices follow them: which time decides, and why a version is withheld.
  @Suite struct RolloutPullTests {
    private static let hour: Int64 = 3_600_000_000_000

    let site = SitePullTests()
    var path: String { site.folder.path }

    /// A site with an offer of version 2, which `edit` changes, and an offer of version 1 to all devices.
    private func files(
      horizon: Int64? = nil, sequence: UInt64 = 1, _ edit: (inout SiteRoot.Offer, _ madeAt: Int64) -> Void
    ) async throws -> (files: [String: [UInt8]], madeAt: Int64) {
      if !FileManager.default.fileExists(atPath: "\(path)/site/root") {
        _ = try await site.publish(["a": noise(3_000, seed: 1)], deltas: 1)
        let first = try root().packs[0].offers
        _ = try await site.publish(["a": noise(3_000, seed: 2)], deltas: 1)
        var both = try root()
        both.packs[0].offers += first
        try site.folder.write(both.encode(signedBy: site.key), to: "site/root")
      }
      var root = try root()
      root.sequence += sequence
      root.expiresAfter = 1_000 * Self.hour
      root.horizon = horizon
      edit(&root.packs[0].offers[0], root.madeAt)
      let bytes = try root.encode(signedBy: site.key)
      try site.folder.write(bytes, to: "site/root")
      return (try site.served(), root.madeAt)
    }

    private func root() throws -> SiteRoot {
      try SignedSiteRoot(decoding: Array(Data(contentsOf: URL(fileURLWithPath: "\(path)/site/root"))), file: "root")
        .root
    }

    /// One step to all devices a day after the root.
    private func step(_ offer: inout SiteRoot.Offer, _ madeAt: Int64) {
      offer.share = 0
      offer.rollout = Rollout(asOf: madeAt, steps: [.init(time: madeAt + 24 * Self.hour, share: 10_000)])
    }

    private func options(clock: Int64) -> Store.PullOptions {
      var options = site.options
      options.wallClock = { clock }
      return options
    }

    private func date(_ time: Int64) -> FaultServer.Fault {
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(secondsFromGMT: 0)
      formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      let text = formatter.string(from: Date(timeIntervalSince1970: Double(time) / 1e9))
      return { _, reply in reply.set("Date", text) }
    }

    private func store(_ name: String = "store") throws -> Store { try Store(at: FilePath("\(path)/\(name)")) }

    // MARK: - Time

    @Test func theEarlierOfClockAndDateDecides() async throws {
      let (files, madeAt) = try await files(step), hour = Self.hour
      let server = try await FaultServer(files, time: site.time)
      let cases: [(clock: Int64, date: Int64?, version: UInt64)] = [
        (25, nil, 2), (23, nil, 1), (25, 1, 1), (1, 25, 1), (25, 25, 2), (-20, nil, 1), (-20, 25, 1), (25, -900, 1),
      ]
      for (index, test) in cases.enumerated() {
        server.replaceFault(test.date.map { date(madeAt + $0 * hour) })
        let result = try await store("store\(index)").pull(
          from: server.url, options: options(clock: madeAt + test.clock * hour))
        let pack = try #require(result.packs.first)
        #expect(pack.to == test.version, "case \(index)")
        #expect(pack.withheld == (test.version == 2 ? nil : WithheldVersion(2, .schedule)), "case \(index)")
        let offers = try await store("store\(index)").offers(
          at: server.url, options: options(clock: madeAt + test.clock * hour))
        #expect(offers.packs.first?.withheld == pack.withheld, "case \(index)")
      }
      await server.close()
    }

    /// An answer without content that confirms the root has a date, too.
    @Test func theDateOfAConfirmationCounts() async throws {
      let (files, madeAt) = try await files(step), hour = Self.hour
      let server = try await FaultServer(files, time: site.time, fault: date(madeAt + hour))
      let store = try store(), late = options(clock: madeAt + 25 * hour)
      #expect(try await store.pull(from: server.url, options: late).packs.first?.to == 1)
      let again = try await store.pull(from: server.url, options: late)
      #expect(again.requestCount == 1 && again.packs.first?.to == 1)
      server.replaceFault(date(madeAt + 25 * hour))
      #expect(try await store.pull(from: server.url, options: late).packs.first?.to == 2)
      await server.close()
    }

    /// Neither a clock that was fast and is corrected, nor a slow one, takes a version back.
    @Test func noClockLowersAVersion() async throws {
      let (files, madeAt) = try await files(step), hour = Self.hour
      let server = try await FaultServer(files, time: site.time)
      let store = try store()
      #expect(try await store.pull(from: server.url, options: options(clock: madeAt + 25 * hour)).packs.first?.to == 2)
      for clock in [madeAt + hour, madeAt - 20 * hour] {
        let pack = try #require(try await store.pull(from: server.url, options: options(clock: clock)).packs.first)
        #expect(pack.outcome == .unchanged && pack.from == 2 && pack.withheld == nil)
      }
      await server.close()
      // The correct time counts for other stores: nothing remembers the fast clock.
      #expect(
        try await self.store("other").pull(from: "\(path)/site", options: options(clock: madeAt + hour)).packs.first?.to
          == 1)
    }

    @Test func theHorizonBoundsAWithheldRoot() async throws {
      let (_, madeAt) = try await files(horizon: 23 * Self.hour, step)
      let late = options(clock: madeAt + 500 * Self.hour)
      let pack = try await store().pull(from: "\(path)/site", options: late).packs.first
      #expect(pack?.to == 1 && pack?.withheld == WithheldVersion(2, .schedule))
    }

    // MARK: - States and reasons

    @Test func haltedAndPausedReleasesKeepInstalledVersions() async throws {
      let (_, madeAt) = try await files(step), late = options(clock: madeAt + 25 * Self.hour)
      let installed = try store()
      #expect(try await installed.pull(from: "\(path)/site", options: late).packs.first?.to == 2)
      for (index, state) in [Rollout.State.paused, .halted].enumerated() {
        _ = try await files(sequence: UInt64(index + 2)) { offer, madeAt in
          step(&offer, madeAt)
          offer.rollout?.state = state
        }
        let kept = try #require(try await installed.pull(from: "\(path)/site", options: late).packs.first)
        #expect(kept.outcome == .unchanged && kept.from == 2 && kept.withheld == nil)
        let new = try await store("\(state)").pull(from: "\(path)/site", options: late).packs.first
        #expect(new?.to == 1 && new?.withheld == WithheldVersion(2, state == .paused ? .paused : .halted))
      }
    }

    @Test func reasonsOfTheStoreCount() async throws {
      _ = try await files { _, _ in }
      let store = try store()
      try await store.pull(from: "\(path)/site", options: site.options)
      #expect(try await store.pull(from: "\(path)/site", options: site.options).packs.first?.withheld == nil)
      var older = site.options
      older.wantedVersion = .init(number: 1, isHeld: true)
      older.allowsDowngrade = true
      try await store.pull(from: "\(path)/site", packs: ["Game"], options: older)
      #expect(
        try await store.pull(from: "\(path)/site", options: site.options).packs.first?.withheld
          == WithheldVersion(2, .held))
      #expect(
        try await store.offers(at: "\(path)/site", options: site.options).packs.first?.withheld
          == WithheldVersion(2, .held))
      // A pack of another origin stays, and the reason is reported.
      let other = try self.store("other"), local = "\(path)/source"
      try await other.install(folder: FilePath(local), as: "Game")
      let pulled = try await other.pull(from: "\(path)/site", options: site.options).packs.first
      #expect(pulled?.withheld == WithheldVersion(2, .otherOrigin))
      #expect(
        try await other.offers(at: "\(path)/site", options: site.options).packs.first?.withheld
          == WithheldVersion(2, .otherOrigin))
    }

    @Test func withdrawnVersionsAreReported() async throws {
      _ = try await files { _, _ in }
      var root = try root()
      let first = root.packs[0].offers[1]
      root.packs[0].offers = [first]
      root.sequence += 1
      try site.folder.write(root.encode(signedBy: site.key), to: "site/root")
      let pack = try await store().pull(from: "\(path)/site", options: site.options).packs.first
      #expect(pack?.to == 1 && pack?.withheld == WithheldVersion(2, .withdrawn))
    }
  }
#endif
