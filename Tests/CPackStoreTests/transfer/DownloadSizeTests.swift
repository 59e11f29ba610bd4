import CPackStore
import CPackStoreTesting
import Testing

extension Snapshot {
  /// What a device without anything fetches of a version, besides manifest and frame tables.
  func downloadSize(of pack: UInt32, version: UInt64) throws -> UInt64 {
    var bytes: UInt64 = 0
    try attempt { pks_snapshot_measure_download(&bytes, raw, pack, version, $0) }
    return bytes
  }
}

extension Snapshot {
  /// The frames that a device with one version fetches for another one.
  func updateSize(of pack: UInt32, from: UInt64, to: UInt64) throws -> UInt64 {
    var bytes: UInt64 = 0
    try attempt { pks_snapshot_measure_update(&bytes, raw, pack, from, to, $0) }
    return bytes
  }
}

extension Core {
  /// A publisher says what clients will fetch: each test lets one do so, and compares.
  @Suite struct DownloadSizeTests {
    /// Pulls every version of every pack into an empty store.
    static func check(_ disk: Disk, _ comment: Comment? = nil, sharesFrames: Bool = false) throws {
      let snapshot = try Store(disk).snapshot()
      for (index, pack) in snapshot.packs.enumerated() {
        let name = String(cString: pack.name)
        for number in snapshot.versions(of: name) {
          let site = try Site(disk, pack: name, version: number), device = try DeliveryTests.empty()
          let pull = try #require(try Store(device).pull(site))
          let tables = pull.wants.filter(\.isTable).reduce(0) { $0 + UInt64($1.length) }
          let size = try snapshot.downloadSize(of: UInt32(index), version: number)
          #expect(
            size == pull.totals.bytes_total + pull.totals.metadata_bytes - tables,
            "\(comment.map { "\($0): " } ?? "")\(name)@\(number), frames \(pull.totals.bytes_total)")
        }
        try checkUpdates(disk, snapshot, UInt32(index), comment, sharesFrames)
      }
    }

    /// Pulls every version of a pack into a store that has the version before.
    ///
    /// - Parameter sharesFrames: whether frames of a version may contain chunks that only the next one has. The device then has
    ///   them already, and the size is an upper limit.
    private static func checkUpdates(
      _ disk: Disk, _ snapshot: Snapshot, _ index: UInt32, _ comment: Comment?, _ sharesFrames: Bool
    ) throws {
      let name = String(cString: snapshot.packs[Int(index)].name), numbers = snapshot.versions(of: name).sorted()
      for (from, to) in zip(numbers, numbers.dropFirst()) {
        let device = try DeliveryTests.empty()
        _ = try Store(device).pull(Site(disk, pack: name, version: from))
        let pull = try #require(try Store(device).pull(Site(disk, pack: name, version: to)))
        let size = try snapshot.updateSize(of: index, from: from, to: to)
        let limit = try snapshot.downloadSize(of: index, version: to)
        #expect(
          size == pull.totals.bytes_total || (sharesFrames && (pull.totals.bytes_total...limit).contains(size)),
          "\(comment.map { "\($0): " } ?? "")\(name)@\(from) to \(to)")
      }
    }

    @Test(arguments: [0, 65_536, 1 << 20] as [UInt32]) func everyKindOfAsset(frameSize: UInt32) throws {
      let disk = try DeliveryTests.published(
        [DeliveryTests.everyKind()], map: ["noise/*", "zeros"], frameSize: frameSize)
      try Self.check(disk)
    }

    @Test func hardlyAnything() throws {
      let folders: [Folder] = [[:], ["empty": .file([])], ["link": .link("nowhere")], ["void/deep": .folder]]
      for folder in folders { try Self.check(DeliveryTests.published([folder]), "\(folder)") }
    }

    /// Segments then hold frames and pages of other versions. The catalog is of many pages, in metadata segments that are
    /// not fetched whole.
    @Test func manyVersions() throws {
      var random = Random(8), folder = Self.small(6_000, &random)
      var folders = [folder]
      for _ in 0..<3 {
        for _ in 0..<20 { folder["asset\(10_000 + random.below(6_000))"] = .file(random.text(700)) }
        folders.append(folder)
      }
      let disk = try DeliveryTests.published(folders)
      let snapshot = try Store(disk).snapshot()
      let lengths = try snapshot.segments(of: 0, version: 1).filter(\.isMetadata).map(\.length)
      #expect(lengths.contains { $0 > 200_000 }, "\(lengths)")
      try Self.check(disk)
    }

    /// Lists of more than 64 chunks and extents lie in pages of their own.
    @Test func lists() throws {
      var random = Random(4)
      let first = random.bytes(400_000), second = random.bytes(300_000)
      var changed = first
      for at in stride(from: 2_000, to: 400_000, by: 4_000) { changed[at] ^= 1 }
      let folders: [Folder] = [
        ["a": .file(first), "b": .file(second)], ["a": .file(changed), "b": .file(second)],
        ["a": .file(changed), "b": .file(second), "c": .file(changed + second), "d": .file(changed)],
        ["c": .file(second + changed), "d": .file(first)],
      ]
      try Self.check(DeliveryTests.published(folders))
      try Self.check(DeliveryTests.published(folders, map: ["b"]))
    }

    /// A client takes a map asset whole if it lacks nearly all of it, and else what it lacks. It begins at 7/8.
    @Test(arguments: [0, 1, 2, 3, 4, 8, 16, 32]) func partsOfMapAssets(_ known: Int) throws {
      var random = Random(5)
      let noise = random.bytes(320_000)
      let part = noise.prefix(320_000 / 32 * known)
      let folder: Folder = ["a": .file(Array(part)), "map/b": .file(noise), "map/c": .file(noise + part)]
      try Self.check(DeliveryTests.published([folder], map: ["map/*"]))
      try Self.check(DeliveryTests.published([["a": .file(Array(part))], folder], map: ["map/*"]))
      try Self.check(DeliveryTests.published([["map/b": .file(noise)], folder], map: ["map/b"]))
    }

    /// The list of extents of an asset whose chunks others have before it is not needed. It lies among others in a
    /// metadata segment that is not fetched whole.
    @Test func aListThatIsNotNeeded() throws {
      var random = Random(10)
      let first = random.bytes(400_000)
      var changed = first
      for at in stride(from: 2_000, to: 400_000, by: 4_000) { changed[at] ^= 1 }
      let before = Self.small(6_000, &random).merging(["z": .file(first)]) { $1 }
      // A beginning of whole chunks.
      var chunker = pks__chunker_make(1024), cut = 0
      while cut < 350_000 {
        cut += changed[cut...].withUnsafeBufferPointer { pks__chunker_cut(&chunker, $0.baseAddress, $0.count) }
      }
      let last: Folder = ["z": .file(changed), "za": .file(Array(changed.prefix(cut)))]
      try Self.check(DeliveryTests.published([before, Self.small(6_000, &random).merging(last) { $1 }]))
    }

    /// So many small assets that their catalog and layout take a large metadata segment.
    private static func small(_ count: Int, _ random: inout Random) -> Folder {
      var folder: Folder = [:]
      for index in 0..<count { folder["asset\(10_000 + index)"] = .file(random.text(20 + random.below(60))) }
      return folder
    }

    /// Writers that stage at the same time store the same chunks and pages twice. Then it counts from which segment a
    /// client takes a page: from a large one it takes the page alone, and a small one it takes whole.
    @Test(arguments: [false, true]) func copiesOfPages(isLargeFirst: Bool) throws {
      var random = Random(6), folder = Self.small(6_000, &random)
      let disk = try DeliveryTests.published([.sample(seed: 1)]), store = try Store(disk)
      let parts = folder.filter { $0.key < "asset10600" }
      for (content, path) in [(folder, "/large"), (parts, "/small")] { disk.put(content, at: path) }
      let large = try store.begin(keep: 10), small = try store.begin(keep: 10)
      try large.add("p", "/large")
      try small.add("q", "/small")
      for transaction in isLargeFirst ? [large, small] : [small, large] { _ = try transaction.commit() }
      for version in 0..<3 {
        folder["asset\(13_000 + version)"] = .file(random.text(200))
        disk.put(folder, at: "/large")
        try store.commit(keep: 10) { try $0.add("p", "/large") }
      }
      let needed = try store.snapshot().segments(of: 0, version: 5).filter(\.isMetadata).map(\.length)
      #expect(needed.contains { $0 > 200_000 } && needed.contains { $0 < 128_000 }, "\(needed)")
      try Self.check(disk)
    }

    @Test func layoutsAndAttributes() throws {
      var random = Random(7), folder = Folder.sample(seed: 4)
      for index in 0..<60 { folder["many/\(index)"] = .file(random.text(4_000)) }
      folder["again"] = folder["large"]
      let disk = Disk(seed: 5), store = try Store(disk, create: true)
      for (version, layout) in [PKS_LAYOUT_SEQUENTIAL, PKS_LAYOUT_RANDOM, PKS_LAYOUT_SEQUENTIAL].enumerated() {
        folder["many/\(version)"] = .file(random.text(5_000))
        disk.put(folder, at: "/source")
        try store.commit(keep: 10) {
          try $0.add("p", "/source", attributes: random.text(3_000)) { $0.layout = layout }
        }
      }
      try Self.check(disk)
    }

    /// Random histories of two packs that share content.
    @Test(arguments: testSeeds(1...6)) func histories(seed: UInt64) throws {
      var random = Random(seed), folder: Folder = [:]
      let disk = Disk(seed: seed), store = try Store(disk, create: true)
      var contents = (0..<12).map { _ in
        random.chance(1, in: 2) ? random.bytes(random.below(90_000)) : random.text(random.below(60_000))
      }
      for _ in 0..<8 {
        for _ in 0..<6 {
          var bytes = random.pick(contents)
          if random.chance(1, in: 3), !bytes.isEmpty { bytes[random.below(bytes.count)] ^= 1 }
          if random.chance(1, in: 3) { bytes += random.pick(contents) }
          contents[random.below(contents.count)] = bytes
          folder["f\(random.below(20))"] = random.chance(1, in: 8) ? .link("x") : .file(bytes)
        }
        disk.put(folder, at: "/source")
        let map = random.chance(1, in: 2) ? ["f\(random.below(20))", "f1?"] : []
        let frameSize: UInt32 = random.pick([0, 65_536, 1 << 20])
        try store.commit(keep: 3) {
          try $0.add(random.pick(["p", "q"]), "/source", map: map) { $0.frame_size = frameSize }
        }
      }
      try Self.check(disk, "seed \(seed)", sharesFrames: true)
    }

    @Test func removedPacks() throws {
      let disk = try DeliveryTests.published([.sample(seed: 1), .changedSample(seed: 1)]), store = try Store(disk)
      let before = try store.snapshot().downloadSize(of: 0, version: 1)
      try store.commit { try $0.remove("p", keepHistory: true) }
      let snapshot = try store.snapshot()
      #expect(snapshot.packs.isEmpty)
      #expect(try snapshot.downloadSize(of: 0, version: 1) == before)
    }

    @Test func whatIsNotThere() throws {
      let snapshot = try Store(try DeliveryTests.published([.sample(seed: 1)])).snapshot()
      for (pack, version) in [(0, 2), (1, 1), (UInt32.max, 1)] as [(UInt32, UInt64)] {
        #expect(try status { _ = try snapshot.downloadSize(of: pack, version: version) } == PKS_NOT_FOUND)
      }
    }

    @Test func aSegmentIsGone() throws {
      let disk = try DeliveryTests.published([.sample(seed: 1)])
      let data = try Store(disk).snapshot().segments(of: 0, version: 1).first { !$0.isMetadata }!
      _ = sim_remove(disk.raw, "/store/segments/\(hex(data.id))")
      #expect(try status { _ = try Store(disk).snapshot().downloadSize(of: 0, version: 1) } == PKS_PURGED)
    }

    @Test func everyAllocationFails() throws {
      var random = Random(9)
      let first = random.bytes(200_000)
      let disk = try DeliveryTests.published([["a": .file(first), "b": .file(first + first)]], map: ["a"])
      /// Measures with an own opening of the store, and says how many allocations that took.
      func measure(failingAt ordinal: UInt64) throws -> (status: pks_status, allocations: UInt64) {
        let snapshot = try Store(disk).snapshot(), before = pks__memory_counts_now().allocations
        pks__memory_fail_at(ordinal, false)
        let status = try status { _ = try snapshot.downloadSize(of: 0, version: 1) }
        pks__memory_fail_at(.max, false)
        return (status, pks__memory_counts_now().allocations - before)
      }
      let open = pks__memory_counts_now().open, whole = try measure(failingAt: .max)
      #expect(whole.status == PKS_OK && whole.allocations > 20)
      for ordinal in 0..<whole.allocations {
        let status = try measure(failingAt: ordinal).status
        #expect(status == PKS_OUT_OF_MEMORY, "allocation \(ordinal)")
        #expect(pks__memory_counts_now().open == open && !disk.hasLeaks, "allocation \(ordinal)")
      }
    }
  }
}
