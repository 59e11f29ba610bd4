import PackFormats

#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Releases of several packs: a device installs all members that concern it, in one commit, or none.
  @Suite struct ReleasePullTests {
    let site = ReleaseSite()

    private func outcomes(_ result: Store.PullResult) -> [String] { result.packs.map(\.description) }

    /// A site whose release of A, B and C at version 2 follows version 1, and a store with packs at version 1.
    private func installed(_ packs: [PackID] = ["A", "B", "C"]) async throws -> Store {
      try await site.prepare(["A", "B", "C"])
      let store = try site.store("store")
      try await site.pull(into: store, packs)
      try await site.release(["A": 2, "B": 2, "C": 2], name: "spring")
      return store
    }

    @Test func releaseIsInstalledTogether() async throws {
      let store = try await installed()
      #expect(outcomes(try await site.pull(into: store)) == ["A@2 updated", "B@2 updated", "C@2 updated"])
      #expect(outcomes(try await site.pull(into: store)) == ["A@2 unchanged", "B@2 unchanged", "C@2 unchanged"])
    }

    @Test func namedPackIncludesInstalledMembers() async throws {
      let store = try await installed(["A", "B"])
      let before = try store.makeSnapshot().generation.rawValue
      #expect(outcomes(try await site.pull(into: store, ["A"])) == ["A@2 updated", "B@2 updated"])
      #expect(try store.makeSnapshot().generation.rawValue == before + 1, "one commit")
      #expect(outcomes(try await site.pull(into: store, ["C"]))[2] == "C@2 updated")
    }

    @Test func namedPackIncludesWantedMembers() async throws {
      let store = try await installed(["A"])
      let result = try await site.pull(into: store, ["A"]) { $0.wantedPacks = ["C"] }
      #expect(outcomes(result) == ["A@2 updated", "C@2 updated"])
    }

    @Test func planIncludesMembersAndChangesNothing() async throws {
      let store = try await installed(["A", "B"])
      let plan = try await store.planPull(from: site.location, packs: ["A"], options: site.site.options)
      #expect(plan.packs.map(\.pack) == ["A", "B"] && plan.packs.allSatisfy { $0.to == 2 })
      #expect(try site.versions(store) == "A@1 B@1")
    }

    // MARK: - Obstacles

    @Test func heldPackBlocksItsRelease() async throws {
      let store = try await installed()
      try await store.change { transaction in try transaction.rollBack("B", toVersion: 1) }
      for packs in [nil, ["A"], ["B"]] as [[PackID]?] {
        let result = try await site.pull(into: store, packs)
        let blocked = try #require(result.packs.first { $0.pack == "A" })
        #expect(blocked.outcome == .releaseIncomplete && blocked.blockingPack == "B" && blocked.from == 1)
        #expect(blocked.withheld == WithheldVersion(2, .releaseIncomplete, blockingPack: "B"))
        #expect(result.packs.first { $0.pack == "B" }?.withheld == WithheldVersion(2, .held))
        #expect(try site.versions(store) == "A@1 B@1 C@1")
      }
      let offers = try await store.offers(at: site.location, options: site.site.options)
      #expect(offers.packs.map(\.withheld?.reason) == [.releaseIncomplete, .held, .releaseIncomplete])
      #expect(offers.packs[2].withheld?.blockingPack == "B")
      try await store.change { try $0.release("B") }
      try await site.pull(into: store)
      #expect(try site.versions(store) == "A@2 B@2 C@2")
    }

    @Test func packOfAnotherOriginBlocksItsRelease() async throws {
      let store = try await installed(["A"])
      try await store.install(folder: FilePath("\(site.path)/source"), as: "B")
      let result = try await site.pull(into: store, ["A"])
      #expect(outcomes(result) == ["A@2 releaseIncomplete", "B@2 otherOrigin"])
      #expect(result.packs[0].blockingPack == "B" && result.packs[1].withheld == WithheldVersion(2, .otherOrigin))
      let offers = try await store.offers(at: site.location, options: site.site.options)
      #expect(offers.packs[0].withheld == WithheldVersion(2, .releaseIncomplete, blockingPack: "B"))
    }

    /// The site offers other content under the number of a version that the store has.
    @Test func reusedNumberBlocksItsRelease() async throws {
      let store = try await installed()
      try await site.pull(into: store)
      for name in ["site", "origin", "origin-cache"] {
        try? FileManager.default.removeItem(atPath: "\(site.path)/\(name)")
      }
      try await site.prepare(["A", "B", "C"])
      try await site.publish(["A", "C"])
      try await site.release(["A": 3, "B": 2, "C": 3])
      await #expect(throws: PackStoreError.self) { try await site.pull(into: store) }
      #expect(try site.versions(store) == "A@2 B@2 C@2")
      try await site.publish(["D"])
      try await site.edit(.promote("D", version: 1))
      let result = try await site.pull(into: store)
      #expect(
        outcomes(result) == ["A@3 releaseIncomplete", "B@2 reusedNumber", "C@3 releaseIncomplete", "D@1 updated"])
      #expect(result.packs.map(\.blockingPack) == ["B", nil, "B", nil])
    }

    @Test func missingFileBlocksItsReleaseOnly() async throws {
      let store = try await installed()
      try await site.publish(["D"])
      try await site.edit(.promote("D", version: 1))
      let before = try site.segments()
      // The data of each member in turn; the last segments belong to D.
      for segment in before {
        try FileManager.default.moveItem(atPath: segment, toPath: "\(site.path)/away")
        let name = "copy-\(before.firstIndex(of: segment) ?? 0)"
        try FileManager.default.copyItem(atPath: store.path.string, toPath: "\(site.path)/\(name)")
        let copy = try site.store(name)
        if let result = try? await site.pull(into: copy) {
          // A pack that belongs to no release lacks its files alone.
          let updated = result.packs.filter {
            $0.outcome == .updated || ($0.outcome == .missingFiles && $0.pack == "D")
          }.map(\.pack)
          let blocked = result.packs.filter {
            $0.outcome == .releaseIncomplete || ($0.outcome == .missingFiles && $0.pack != "D")
          }
          #expect(blocked.isEmpty ? updated == ["A", "B", "C", "D"] : updated == ["D"])
          #expect(Set(blocked.compactMap(\.blockingPack)).count <= 1)
        }
        let versions = try site.versions(copy)
        #expect(["A@1 B@1 C@1", "A@1 B@1 C@1 D@1", "A@2 B@2 C@2", "A@2 B@2 C@2 D@1"].contains(versions), "\(versions)")
        try FileManager.default.moveItem(atPath: "\(site.path)/away", toPath: segment)
      }
    }

    @Test func lackOfSpaceBlocksItsReleaseOnly() async throws {
      let store = try await installed()
      // Without another pack, the error is reported.
      for count in 0..<3 {
        let source = FailingSource(site.location, after: count, PackStoreError(.noSpace, "the disk is full"))
        await #expect(throws: PackStoreError.self) { try await site.pull(into: store, from: source) }
        #expect(try site.versions(store) == "A@1 B@1 C@1")
      }
      try await site.pull(into: store)
      #expect(try site.versions(store) == "A@2 B@2 C@2")
    }

    // MARK: - Devices

    @Test func shareIsOneForAllMembers() async throws {
      try await site.prepare(["A", "B"])
      try await site.release(["A": 2, "B": 2], share: DeviceShare("50%"))
      var seen: Set<String> = []
      for index in 0..<24 {
        let store = try site.store("store\(index)")
        try await site.pull(into: store)
        seen.insert(try site.versions(store))
      }
      #expect(seen == ["A@1 B@1", "A@2 B@2"])
    }

    @Test func haltDoesNotDivideARelease() async throws {
      let store = try await installed(["A"])
      try await site.pull(into: store)
      #expect(try site.versions(store) == "A@2 B@2 C@2")
      try await store.change { try $0.remove("C") }
      try await site.edit(.setRollout("A", version: 2, .halt))
      try await site.pull(into: store, ["C"])
      #expect(try site.versions(store) == "A@2 B@2 C@2")
      let other = try site.store("other")
      try await site.pull(into: other)
      #expect(try site.versions(other) == "", "only the halted versions are offered")
    }

    /// A member that is not for this platform does not concern the device.
    @Test func membersForOtherPlatformsDoNotMatter() async throws {
      try await site.prepare(["A"])
      try await site.prepare(["B"], Attributes(platforms: [.tvOS]))
      try await site.release(["A": 2, "B": 2])
      let store = try site.store("store")
      try await site.pull(into: store) { $0.platform = .iOS }
      #expect(try site.versions(store) == "A@2")
    }

    @Test func purgedDataDoesNotUndoARelease() async throws {
      try await site.prepare(["A"])
      try await site.prepare(["B"], Attributes(placement: .purgeable))
      let store = try site.store("store")
      let cached: (inout Store.PullOptions) -> Void = { [path = site.path] in
        $0.cacheFolder = Store.CacheFolder(path: FilePath("\(path)/cache"))
      }
      func purge() async throws {
        for _ in 0..<10_000 {
          guard try await store.purge(bytes: Int.max).deferredByteCount > 0 else { return }
          await Task.yield()
        }
      }
      try await site.pull(into: store, adjust: cached)
      try await purge()
      try await site.release(["A": 2, "B": 2])
      // The update includes the pack with purged data.
      #expect(outcomes(try await site.pull(into: store, adjust: cached)) == ["A@2 updated", "B@2 updated"])
      try await purge()
      #expect(outcomes(try await site.pull(into: store, adjust: cached)) == ["A@2 unchanged", "B@2 purged"])
      #expect(outcomes(try await site.pull(into: store, ["A"], adjust: cached)) == ["A@2 unchanged", "B@2 purged"])
    }

    // MARK: - Campaign

    /// Random releases, pulls, faults, kills and purges: no state of the store has a part of a release.
    @Test func deviceNeverHasHalfARelease() async throws {
      let seed = UInt64.random(in: 0 ... .max)
      var generator = SeededGenerator(seed: seed)
      let packs: [PackID] = ["A", "B", "C"]
      var campaign = ReleaseCampaign(site: site, packs: packs, seed: seed)
      for round in 1...24 {
        try await site.publish(packs, size: .random(in: 1...60_000, using: &generator), campaign.attributes(&generator))
        let version = UInt64(round)
        try await site.release(["A": version, "B": version, "C": version])
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          try await campaign.pull(&generator)
          try campaign.check()
        }
      }
      try await campaign.finish(at: 24)
    }
  }

  /// The device of the campaign.
  private struct ReleaseCampaign {
    let site: ReleaseSite
    let packs: [PackID]
    let seed: UInt64
    private var imageCount = 0

    init(site: ReleaseSite, packs: [PackID], seed: UInt64) {
      (self.site, self.packs, self.seed) = (site, packs, seed)
    }

    private func device(_ name: String = "device") throws -> Store { try site.store(name) }

    private func adjust(_ options: inout Store.PullOptions) { adjust(&options, "device") }

    private func adjust(_ options: inout Store.PullOptions, _ name: String) {
      options.cacheFolder = Store.CacheFolder(path: FilePath("\(site.path)/\(name)-cache"))
    }

    func attributes(_ generator: inout SeededGenerator) throws -> Attributes? {
      Bool.random(using: &generator) ? try Attributes(placement: .purgeable) : nil
    }

    /// Pulls some or all packs with a random fault. A kill is a copy of the store's folder in the middle of the pull.
    mutating func pull(_ generator: inout SeededGenerator) async throws {
      let store = try device(), some = packs.filter { _ in generator.next() % 2 == 0 }
      let names = some.isEmpty || Bool.random(using: &generator) ? nil : some
      let count = Int.random(in: 0...12, using: &generator)
      switch generator.next() % 5 {
      case 0: _ = try? await site.pull(into: store, names, adjust: adjust)
      case 1:
        let source = FailingSource(site.location, after: count, PackStoreError(.noSpace, "the disk is full"))
        _ = try? await site.pull(into: store, names, from: source, adjust: adjust)
      case 2:
        let segment = try #require(try site.segments().randomElement(using: &generator))
        try FileManager.default.moveItem(atPath: segment, toPath: "\(site.path)/away")
        _ = try? await site.pull(into: store, names, adjust: adjust)
        try FileManager.default.moveItem(atPath: "\(site.path)/away", toPath: segment)
      case 3:
        _ = try await store.purge(bytes: Int.max)
        _ = try? await site.pull(into: store, names, adjust: adjust)
      default: try await pullWithKill(into: store, names, after: count)
      }
    }

    private mutating func pullWithKill(into store: Store, _ names: [PackID]?, after count: Int) async throws {
      imageCount += 1
      let image = "image-\(imageCount)", (from, to) = (store.path.string, "\(site.path)/\(image)")
      let left = Counter(count)
      _ = try? await site.pull(into: store, names, adjust: adjust) { _ in
        if left.next() == 0 { try? FileManager.default.copyItem(atPath: from, toPath: to) }
      }
      guard FileManager.default.fileExists(atPath: to) else { return }
      try check(image)
      _ = try await site.pull(into: device(image), adjust: { adjust(&$0, image) })
      try check(image)
      for name in [to, "\(to)-cache"] { try? FileManager.default.removeItem(atPath: name) }
    }

    /// All installed packs have the same version.
    func check(_ name: String = "device") throws {
      let numbers = Set(try device(name).packs().map(\.version.number))
      #expect(numbers.count <= 1, "seed \(seed): \(numbers)")
    }

    func finish(at version: UInt64) async throws {
      let store = try device()
      try await site.pull(into: store, adjust: adjust)
      let packs = try store.packs()
      #expect(packs.allSatisfy { $0.version.number == version } && packs.count == self.packs.count)
    }
  }

  /// Counts down to 0, and on.
  private final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func next() -> Int {
      left.withLock { left in
        left -= 1
        return left
      }
    }
  }
#endif
