#if Delivery
  import Foundation
  import PackAuthoring
  import PackDelivery
  import PackStore
  import Synchronization
  import Testing

  /// Pulls from sites that have deltas.
  extension SitePullTests {
    /// Every chunk of the large files is new, and hardly a byte of them.
    static let touched = first.mapValues { bytes in
      guard bytes.count >= 400_000 else { return bytes }
      var bytes = bytes
      for place in stride(from: 100, to: bytes.count, by: 1000) { bytes[place] ^= 1 }
      return bytes
    }

    /// The touched files with an entirely new one: the delta is not short enough to be chosen without a comparison.
    static let touchedAndNew = touched.merging(["new": noise(300_000, seed: 77)]) { $1 }

    /// A server that shows the second of two versions, and a store that has the first.
    private func prepare(
      _ files: [String: [UInt8]], hasRanges: Bool = true, _ adjust: (inout [String: [UInt8]]) -> Void = { _ in }
    ) async throws -> (FaultServer, Store) {
      let server = try await FaultServer(try await publish(Self.first, deltas: 1), hasRanges: hasRanges, time: time)
      let store = try Store(at: FilePath("\(folder.path)/store"))
      try await store.pull(from: server.url, options: options)
      var files = try await publish(files, deltas: 1)
      adjust(&files)
      server.state.withLock { [files] in $0.files = files }
      return (server, store)
    }

    private func expectUpdated(_ store: Store, _ files: [String: [UInt8]]) throws {
      try expect(store, files)
      #expect(leftovers(store) == [])
      #expect(try store.read { try $0.verify(deep: true).isSound })
      #expect(try store.packs()[0].version.number == 2)
    }

    @Test(arguments: [true, false]) func aShortDeltaIsTakenAtOnce(hasRanges: Bool) async throws {
      let (server, store) = try await prepare(Self.touched, hasRanges: hasRanges)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == 1 && result.packs[0].frameByteCount == 0)
      #expect(result.packs[0].metadataByteCount == 0, "the cost of frames was not asked for")
      #expect(result.packs[0].deltaByteCount > 1_000 && result.wireByteCount < 40_000)
      #expect(result.packs[0].totalByteCount == result.packs[0].deltaByteCount || !hasRanges)
      try expectUpdated(store, Self.touched)
      await server.close()
    }

    @Test func theCheaperWayIsTaken() async throws {
      let (server, store) = try await prepare(Self.touchedAndNew)
      let plan = try await store.planPull(from: server.url, options: options)
      #expect(plan.packs[0].deltaFrom == 1 && plan.packs[0].metadataByteCount > 0)
      #expect(plan.packs[0].remainingByteCount > 300_000 && plan.packs[0].remainingByteCount < 330_000)
      #expect(try store.packs()[0].version.number == 1)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == 1 && result.packs[0].deltaByteCount == plan.packs[0].remainingByteCount)
      #expect(result.packs[0].metadataByteCount == 0, "the plan's was kept")
      try expectUpdated(store, Self.touchedAndNew)
      await server.close()
    }

    @Test func whoWantsNoDeltaGetsFrames() async throws {
      let (server, store) = try await prepare(Self.touched)
      var options = options
      options.usesDeltas = false
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == nil && result.packs[0].frameByteCount > 1_500_000)
      try expectUpdated(store, Self.touched)
      await server.close()
    }

    /// A version that is kept takes no bytes, be there a delta to it or not.
    @Test func backToAKeptVersion() async throws {
      let (server, store) = try await prepare(Self.touched)
      try await store.pull(from: server.url, options: options)
      let site = try Site(at: FilePath("\(folder.path)/site"))
      var publishing = Site.PublishOptions()
      publishing.deltaOptions.level = Store.DeltaOptions.fastLevel
      let origin = try Store(at: FilePath("\(folder.path)/origin"))
      let back = try await site.publish(
        [Site.PublishedPack("Game", version: 1)], from: origin, signedBy: key, options: publishing)
      #expect(back.deltas.map(\.description) == ["Game@2 to 1"])
      let files = try served()
      server.state.withLock { $0.files = files }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == nil && result.packs[0].frameByteCount == 0)
      try expect(store, Self.first)
      #expect(leftovers(store) == [])
      await server.close()
    }

    /// Where hardly anything resembles the old version, frames are as short.
    @Test func aDeltaThatSparesNothing() async throws {
      let (server, store) = try await prepare(["text": Self.first["text"]!, "new": noise(200_000, seed: 5)])
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == nil && result.packs[0].frameByteCount > 0)
      try expectUpdated(store, ["text": Self.first["text"]!, "new": noise(200_000, seed: 5)])
      await server.close()
    }

    /// A delta is never the only way.
    @Test(arguments: ["missing", "short", "damaged", "damaged header"]) func withoutItsDelta(fault: String) async throws
    {
      for version in [Self.touched, Self.touchedAndNew] {
        try? FileManager.default.removeItem(atPath: folder.path)
        let (server, store) = try await prepare(version) { files in
          let name = files.keys.first { $0.hasPrefix("deltas/") }!
          switch fault {
          case "missing": files[name] = nil
          case "short": files[name]!.removeLast()
          case "damaged": files[name]![files[name]!.count - 5] ^= 4
          default: files[name]![150] ^= 4
          }
        }
        let result = try await store.pull(from: server.url, options: options)
        #expect(result.packs[0].deltaFrom == nil && result.packs[0].frameByteCount > 1_500_000)
        try expectUpdated(store, version)
        await server.close()
      }
    }

    /// Other answers of servers that refuse a file.
    @Test(arguments: [403, 410, 200]) func aServerThatWithholdsIt(status: Int) async throws {
      let (server, store) = try await prepare(Self.touchedAndNew)
      server.replaceFault { request, reply in
        if request.path.contains("/deltas/") { reply = FaultServer.Reply(status: status, body: Array("no".utf8)) }
      }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == nil && result.packs[0].frameByteCount > 1_500_000)
      try expectUpdated(store, Self.touchedAndNew)
      await server.close()
    }

    /// Several packs, one with a bad delta: the deltas of the others are used.
    @Test func oneBadDeltaOfTwo() async throws {
      let source = "\(folder.path)/source"
      for (name, bytes) in Self.first { try folder.write(bytes, to: "source/\(name)") }
      try await Store(at: FilePath("\(folder.path)/origin")).install(folder: FilePath(source), as: "Other")
      let (server, store) = try await prepare(Self.touched)
      for (name, bytes) in Self.touched { try folder.write(bytes, to: "source/\(name)") }
      try await Store(at: FilePath("\(folder.path)/origin")).install(folder: FilePath(source), as: "Other")
      var files = try await publish(Self.touched, deltas: 1)
      let names = files.keys.filter { $0.hasPrefix("deltas/") }.sorted()
      #expect(names.count == 2)
      files[names[0]]![200] ^= 1
      server.state.withLock { [files] in $0.files = files }
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs.map(\.deltaFrom).filter { $0 == nil }.count == 1)
      #expect(result.packs.map(\.outcome) == [.updated, .updated])
      try expect(store, Self.touched)
      #expect(leftovers(store) == [])
      await server.close()
    }

    /// The old version's bytes have changed: the delta cannot be applied, and the new bytes are fetched whole.
    @Test func aDamagedBase() async throws {
      let (server, store) = try await prepare(Self.touched)
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
      for (path, bytes) in Self.touched where path.hasPrefix("large/") {
        #expect(try Array(fresh.contents(of: path)) == bytes, "\(path)")
      }
      await server.close()
    }

    @Test(arguments: 1...6) func deltasSurviveFaults(seed: UInt64) async throws {
      let (server, store) = try await prepare(
        seed % 2 == 0 ? Self.touched : Self.touchedAndNew, hasRanges: seed % 3 != 0)
      failByChance(server, seed: seed)
      let result = try await store.pull(from: server.url, options: options)
      #expect(result.packs[0].deltaFrom == 1)
      try expectUpdated(store, seed % 2 == 0 ? Self.touched : Self.touchedAndNew)
      await server.close()
    }

    /// Parts of a delta that were fetched before the pull was cancelled are not fetched again.
    @Test func cancelledDeltasGoOn() async throws {
      let files = Self.touched.merging(["new": noise(3_000_000, seed: 77)]) { $1 }
      let (server, store) = try await prepare(files)
      if await isCancelled(at: 600_000, in: store, from: server) {
        let rest = try await store.pull(from: server.url, options: options)
        #expect(rest.packs[0].resumedByteCount > 600_000)
        #expect(rest.packs[0].deltaByteCount + rest.packs[0].resumedByteCount == rest.packs[0].totalByteCount)
      }
      try expectUpdated(store, files)
      await server.close()
    }
  }
#endif
