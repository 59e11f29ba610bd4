#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Pulls of clients that are several versions behind.
  extension SitePullTests {
    /// Releases in which large files change a little each time: every chunk of them is new, and hardly a byte.
    static let releases: [[String: [UInt8]]] = {
      var files = first, releases = [first]
      for release in 1...3 {
        for index in 0..<4 {
          for place in stride(from: 100 + 40 * release, to: 400_000, by: 1000) { files["large/\(index)"]![place] ^= 1 }
        }
        files["new/\(release)"] = noise(30_000, seed: 700 + UInt64(release))
        files["gone/\(release - 1)"] = nil
        files["gone/\(release)"] = noise(20_000, seed: 800 + UInt64(release))
        releases.append(files)
      }
      return releases
    }()

    /// A server that shows the last of four versions, and a store that has the first.
    private func prepareChain(
      hasRanges: Bool = true, deltas: Int = 1, _ adjust: (inout [String: [UInt8]]) -> Void = { _ in }
    ) async throws -> (FaultServer, Store) {
      let server = try await FaultServer(
        try await publish(Self.releases[0], deltas: deltas), hasRanges: hasRanges, time: time)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: options)
      var files: [String: [UInt8]] = [:]
      for release in Self.releases.dropFirst() { files = try await publish(release, deltas: deltas) }
      adjust(&files)
      server.state.withLock { [files] in $0.files = files }
      return (server, store)
    }

    private func expectLast(_ store: Store) throws {
      try expect(store, Self.releases[3])
      #expect(leftovers(store) == [])
      #expect(try store.read { try $0.verify(deep: true).isSound })
      #expect(try store.packs()[0].version.number == 4)
      #expect(try store.makeSnapshot().versions(of: "Game").map(\.number) == [4, 1])
      let left = try FileManager.default.contentsOfDirectory(atPath: "\(store.path)/tmp")
      #expect(left == [])
    }

    /// The names of the deltas from the second version on, in no order: a server may have lost them.
    private static func deltas(_ files: [String: [UInt8]]) -> [String] {
      files.keys.filter { $0.hasPrefix("deltas/") }.sorted()
    }

    @Test(arguments: [true, false]) func aChainIsOneCommit(hasRanges: Bool) async throws {
      let (server, store) = try await prepareChain(hasRanges: hasRanges)
      let before = try store.makeSnapshot().generation
      let plan = try await store.planPull(from: server.url, options: options)
      #expect(plan.packs[0].deltaFrom == 1 && plan.packs[0].deltaCount == 3)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == 1 && result.packs[0].deltaCount == 3)
      #expect(result.packs[0].frameByteCount == 0)
      #expect(plan.packs[0].remainingByteCount == result.packs[0].totalByteCount)
      #expect(result.packs[0].totalByteCount < 250_000, "a quarter of what frames are")
      #expect(try store.makeSnapshot().generation.rawValue == before.rawValue + 1)
      try expectLast(store)
      await server.close()
    }

    /// What only a version between had is in no file of the store, be it collected or not.
    @Test func nothingBetweenStays() async throws {
      let (server, store) = try await prepareChain()
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaCount == 3)
      for collects in [false, true] {
        if collects { _ = try await store.collect() }
        let segments = try FileManager.default.subpathsOfDirectory(atPath: store.path.string).compactMap {
          FileManager.default.contents(atPath: "\(store.path)/\($0)")
        }
        // Noise is stored as it is.
        func has(_ path: String, of release: Int) -> Bool {
          let bytes = Data(Self.releases[release][path]![1_000..<1_064])
          return segments.contains { $0.range(of: bytes) != nil }
        }
        #expect(!has("gone/1", of: 1) && !has("gone/2", of: 2))
        #expect(has("gone/3", of: 3) && has("new/1", of: 1) && has("new/2", of: 2) && has("new/3", of: 3))
      }
      await server.close()
    }

    /// A pull uses a delta that is shorter than the chain, and no chain that is as long as the frames or longer.
    @Test func theShortestWayIsTaken() async throws {
      let (server, store) = try await prepareChain(deltas: 3)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == 1 && result.packs[0].deltaCount == 1, "what was gone again is not in it")
      try expectLast(store)
      await server.close()
    }

    @Test(arguments: ["missing", "short", "damaged", "damaged header"], [0, 1, 2])
    func withoutOneOfTheChain(fault: String, index: Int) async throws {
      let (server, store) = try await prepareChain { files in
        let name = Self.deltas(files)[index]
        switch fault {
        case "missing": files[name] = nil
        case "short": files[name]!.removeLast()
        case "damaged": files[name]![files[name]!.count - 5] ^= 4
        default: files[name]![150] ^= 4
        }
      }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == nil && result.packs[0].deltaCount == 0)
      #expect(result.packs[0].frameByteCount > 1_000_000)
      try expectLast(store)
      await server.close()
    }

    @Test(arguments: 1...6) func chainsSurviveFaults(seed: UInt64) async throws {
      let (server, store) = try await prepareChain(hasRanges: seed % 3 != 0)
      failByChance(server, seed: seed)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == 1 && result.packs[0].deltaCount == 3)
      try expectLast(store)
      await server.close()
    }

    /// Parts of a chain that were fetched before the pull was cancelled are not fetched again.
    @Test func cancelledChainsGoOn() async throws {
      let (server, store) = try await prepareChain()
      if await isCancelled(at: 80_000, in: store, from: server) {
        let rest = try await store.pull(from: server.url, options: options)
        #expect(rest.packs[0].resumedByteCount > 80_000 || rest.packs[0].deltaByteCount == 0)
      }
      try expectLast(store)
      await server.close()
    }

    /// The data of the version with which the chain begins is damaged: frames come.
    @Test func aChainWithoutItsBase() async throws {
      let (server, store) = try await prepareChain()
      let segments = "\(store.path)/segments"
      for name in try FileManager.default.contentsOfDirectory(atPath: segments) {
        let file = URL(fileURLWithPath: "\(segments)/\(name)")
        var bytes = try Data(contentsOf: file)
        guard bytes.count > 1_000_000 else { continue }
        for place in stride(from: 10_000, to: bytes.count - 200_000, by: 20_000) { bytes[place] ^= 1 }
        try bytes.write(to: file)
      }
      let fresh = try Store(at: FilePath("\(folder.path)/store"))
      let result = try await fresh.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == nil && result.packs[0].deltaByteCount > 0)
      for (path, bytes) in Self.releases[3] where path.hasPrefix("large/") {
        #expect(try Array(fresh.contents(of: path)) == bytes, "\(path)")
      }
      await server.close()
    }
  }
#endif
