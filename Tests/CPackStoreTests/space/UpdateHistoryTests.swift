import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// One pack that is updated again and again, beside stores into which nothing but its kept versions went.
  @Suite struct UpdateHistoryTests {
    /// What successive releases do to the assets of an app: small edits in many files, some files replaced, large ones that come
    /// and go.
    private struct History {
      var random: Random
      var folder: Folder = [:]
      var number = 0

      init(seed: UInt64) {
        random = Random(seed)
        for index in 0..<120 { folder["files/\(index)"] = .file(random.prose(8_000 + random.below(50_000))) }
        for index in 0..<4 { folder["large/\(index)"] = .file(random.bytes(400_000 + random.below(800_000))) }
      }

      mutating func update() {
        number += 1
        let small = folder.keys.filter { $0.hasPrefix("files/") }.sorted()
        for _ in 0..<8 {
          let path = random.pick(small)
          guard case .file(var bytes, _) = folder[path] else { continue }
          let at = random.below(bytes.count - 300)
          bytes.replaceSubrange(at..<at + 200, with: random.bytes(150))
          folder[path] = .file(bytes)
        }
        folder[random.pick(small)] = .file(random.prose(20_000))
        guard number % 4 == 0 else { return }
        let large = folder.keys.filter { $0.hasPrefix("large/") }.sorted()
        folder[random.pick(large)] = nil
        folder["large/new\(number)"] = .file(random.bytes(400_000 + random.below(800_000)))
      }
    }

    private static func size(_ disk: Disk) -> Int {
      ["segments", "index"].reduce(0) { sum, folder in
        sum
          + disk.list("/store/\(folder)").reduce(0) { $0 + (disk.read("/store/\(folder)/\($1)")?.count ?? 0) }
      }
    }

    /// A store into which only these versions went.
    private static func fresh(_ folders: [Folder]) throws -> (disk: Disk, store: Store) {
      let disk = Disk(seed: 2), store = try Store("/store", vfs: disk.vfs, create: true, average: 4096, home: disk)
      for (index, folder) in folders.enumerated() {
        disk.put(folder, at: "/source\(index)")
        try store.commit { try $0.add("p", "/source\(index)") }
      }
      return (disk, store)
    }

    /// By what commits do themselves, a store takes at most 1.6 times what it must, and two of the shortest segments, at all times.
    @Test(arguments: testSeeds(1...2)) func staysNearAFreshStore(seed: UInt64) throws {
      let disk = Disk(seed: seed)
      let store = try Store("/store", vfs: disk.vfs, create: true, average: 4096, home: disk)
      var history = History(seed: seed), before = history.folder, worst = 0
      disk.put(before, at: "/source")
      try store.commit(gcPercent: 25) { try $0.add("p", "/source") }
      for _ in 1...40 {
        history.update()
        disk.put(history.folder, at: "/source")
        try store.commit(gcPercent: 25) { try $0.add("p", "/source") }
        let fresh = try Self.fresh([before, history.folder])
        worst = max(worst, Self.size(disk) - Self.size(fresh.disk) * 8 / 5)
        before = history.folder
      }
      #expect(worst < 2 << 20, "seed \(seed)")
      #expect(try store.state()["p"]?.content == history.folder)
      #expect(try store.snapshot().faults(deep: true).isEmpty)
    }

    /// Frames that reading all assets in order of paths comes to: those of one asset after another, each stretch once.
    private static func frames(of store: Store, _ folder: Folder) throws -> UInt64 {
      let snapshot = try store.snapshot()
      var frames: UInt64 = 0
      for path in folder.keys {
        try snapshot.withAsset(path) { asset in
          var storage = pks_storage()
          try attempt { pks_asset_storage(&storage, asset, $0) }
          frames += storage.frame_count
        }
      }
      return frames
    }

    /// A whole collection lays out in order of paths what updates had scattered: of the frames that reading comes to beyond those
    /// of a store that never had another version, a third go at least.
    @Test func collectionLaysOutInOrder() throws {
      let disk = Disk(seed: 5)
      let store = try Store("/store", vfs: disk.vfs, create: true, average: 4096, home: disk)
      var history = History(seed: 5)
      for _ in 0..<20 {
        disk.put(history.folder, at: "/source")
        try store.commit(keep: 1) { try $0.add("p", "/source") }
        history.update()
      }
      disk.put(history.folder, at: "/source")
      try store.commit(keep: 1) { try $0.add("p", "/source") }
      let fresh = try Self.frames(of: Self.fresh([history.folder]).store, history.folder)
      let before = try Self.frames(of: store, history.folder)
      try store.collect()
      let after = try Self.frames(of: store, history.folder)
      #expect(
        (Int(after) - Int(fresh)) * 3 <= (Int(before) - Int(fresh)) * 2, "\(before), then \(after), fresh \(fresh)")
      #expect(try store.state()["p"]?.content == history.folder)
    }

    /// Data segments of a version are small beside it; those of a site are files that clients fetch from, and large.
    @Test func lengthsOfSegments() throws {
      func lengths(publication: Bool) throws -> [Int] {
        let disk = Disk(seed: 4), store = try Store(disk, create: true)
        var random = Random(6), folder: Folder = [:]
        for index in 0..<40 { folder["\(index)"] = .file(random.bytes(100_000)) }
        disk.put(folder, at: "/source")
        try store.commit(publication: publication) { try $0.add("p", "/source") }
        return disk.list("/store/segments").compactMap { disk.read("/store/segments/\($0)") }
          .filter { $0[12] == 1 }.map(\.count).sorted()
      }
      let own = try lengths(publication: false)
      #expect(own.count == 4 && own.allSatisfy { $0 < (1 << 20) + 170_000 }, "\(own)")
      #expect(try lengths(publication: true).count == 1)
    }
  }
}
