import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Versions received from another store.
  @Suite struct DeliveryTests {
    /// A store with versions of pack "p", each of a folder.
    static func published(
      _ folders: [Folder], map: [String] = [], frameSize: UInt32 = 0, dictionary: SampleDictionary? = nil
    ) throws -> Disk {
      let disk = Disk(seed: 5)
      let store = try Store(disk, create: true)
      for (index, folder) in folders.enumerated() {
        disk.put(folder, at: "/source\(index)")
        try store.commit(keep: 10) {
          try $0.add("p", "/source\(index)", map: map, dictionary: dictionary) { $0.frame_size = frameSize }
        }
      }
      return disk
    }

    static func empty() throws -> Disk {
      let disk = Disk(seed: 9)
      _ = try Store(disk, create: true)
      return disk
    }

    /// Whether a store shows what it should, is sound in every byte, and has nothing lying about.
    /// A loss of power may bring back the folders of deliveries that are done, until they are a week old.
    static func check(
      _ disk: Disk, _ content: Folder, version: UInt64, _ comment: Comment? = nil, afterPowerLoss: Bool = false
    ) throws {
      let snapshot = try Store(disk).snapshot(), state = try snapshot.state()["p"]
      #expect(state?.content == content, comment)
      #expect(state?.version == version, comment)
      #expect(try snapshot.faults(deep: true) == [], comment)
      let left = disk.list("/store/tmp") + (afterPowerLoss ? [] : disk.list("/store/incoming"))
      #expect(left == [], comment)
    }

    static func id(_ version: pks_pack_version) -> [UInt8] { withUnsafeBytes(of: version.catalog) { Array($0) } }

    @Test(arguments: [1, 3, 1000]) func firstInstall(window: Int) throws {
      let site = try Site(Self.published([.sample(seed: 1)])), disk = try Self.empty()
      let pull = try #require(try Store(disk).pull(site, window: window))
      try Self.check(disk, .sample(seed: 1), version: 1)
      let version = try Store(disk).snapshot().packs[0].current
      #expect(Self.id(version) == Self.id(site.version))
      #expect(version.committed_at_ns == site.version.committed_at_ns)
      #expect(Set(pull.wants).count == pull.wants.count, "nothing is wanted twice")
      let frames = pull.wants.filter { !site.isMetadata($0) }
      #expect(pull.totals.is_planned && pull.totals.bytes_resumed == 0)
      #expect(pull.totals.bytes_total == frames.reduce(0) { $0 + $1.length })
      #expect(pull.totals.bytes_done == pull.totals.bytes_total)
      #expect(pull.totals.chunks_done == pull.totals.chunks_total)
      #expect(pull.result.new_chunk_count == pull.totals.chunks_total)
      #expect(pull.result.version.number == 1)
      #expect(!disk.hasLeaks)
      #expect(try Store(disk).pull(site) == nil, "it is there")
    }

    /// Everything that a folder may hold; what is to be mapped is `noise/*` and `zeros`.
    static func everyKind() -> Folder {
      var random = Random(3), folder = Folder.sample(seed: 2)
      folder["noise/large"] = .file(random.bytes(300_000))
      folder["text/large"] = .file(random.text(400_000))
      folder["zeros"] = .file([UInt8](repeating: 0, count: 200_000))
      folder["again"] = folder["noise/large"]
      for index in 0..<40 { folder["many/\(index)"] = .file(random.text(random.below(900))) }
      return folder
    }

    @Test(arguments: [0, 65_536, 1 << 20] as [UInt32]) func everyKindOfAsset(frameSize: UInt32) throws {
      let folder = Self.everyKind()
      let site = try Site(Self.published([folder], map: ["noise/*", "zeros"], frameSize: frameSize))
      let disk = try Self.empty()
      try Store(disk).pull(site)
      try Self.check(disk, folder, version: 1)
      #expect(try Store(disk).state()["p"]?.mapped == ["noise/large", "zeros"])
    }

    /// A folder without assets, one without bytes, and one with links alone.
    @Test func hardlyAnything() throws {
      let folders: [Folder] = [[:], ["empty": .file([])], ["link": .link("nowhere")], ["void/deep": .folder]]
      for folder in folders {
        let site = try Site(Self.published([folder])), disk = try Self.empty()
        let pull = try #require(try Store(disk).pull(site))
        try Self.check(disk, folder, version: 1, "\(folder)")
        #expect(pull.wants.allSatisfy { site.isMetadata($0) } && pull.totals.bytes_total == 0)
      }
    }

    @Test func update() throws {
      let published = try Self.published([.sample(seed: 1), .changedSample(seed: 1)]), disk = try Self.empty()
      try Store(disk).pull(Site(published, version: 1))
      let site = try Site(published), pull = try #require(try Store(disk).pull(site))
      try Self.check(disk, .changedSample(seed: 1), version: 2)
      let fetched = pull.wants.filter { !site.isMetadata($0) }.reduce(0) { $0 + $1.length }
      #expect(fetched < 8_000, "one asset changed in the middle, one is new: \(fetched) bytes")
      #expect(try Store(disk).snapshot().versions(of: "p") == [2, 1])
    }

    /// A large pack of which one asset changes: what is wanted is in proportion to that, pages included, and few round trips
    /// lead to it.
    @Test func oneChangedAssetOfMany() throws {
      var random = Random(8), folder: Folder = [:]
      for index in 0..<3_000 { folder["part\(index % 40)/asset\(index)"] = .file(random.text(300 + random.below(900))) }
      var changed = folder
      changed["part7/asset47"] = .file(random.text(700))
      let published = try Self.published([folder, changed]), disk = try Self.empty()
      let whole = try #require(try Store(disk).pull(Site(published, version: 1)))
      let site = try Site(published), pull = try #require(try Store(disk).pull(site))
      try Self.check(disk, changed, version: 2)
      let frames = pull.wants.filter { !site.isMetadata($0) }
      #expect(frames.count == 1 && frames[0].length < 32 * 1024)
      #expect(pull.totals.metadata_bytes < 200_000, "\(pull.totals.metadata_bytes) bytes of metadata")
      #expect(pull.wants.count <= 12, "\(pull.wants)")
      #expect(whole.totals.metadata_bytes > 2 * pull.totals.metadata_bytes)
    }

    /// Wants go on with one segment as long as they can, and do not overlap: so neighbours can be fetched together.
    @Test func wantsAreInOrder() throws {
      let site = try Site(Self.published([.sample(seed: 1), .changedSample(seed: 1)])), disk = try Self.empty()
      let wants = try #require(try Store(disk).pull(site)).wants
      for (want, next) in zip(wants, wants.dropFirst()) where want.segment == next.segment && !want.isTable {
        let isRisen = next.offset >= want.offset + want.length
        #expect(isRisen || site.isMetadata(want), "\(want), then \(next)")
      }
    }

    /// The same site leads to the same segments, however many wants are outstanding and however often it is interrupted.
    @Test func isDeterministic() throws {
      let site = try Site(Self.published([.sample(seed: 1), .changedSample(seed: 1)]))
      var segments: Set<[String]> = []
      for window in [1, 5] {
        let disk = try Self.empty()
        try Store(disk).pull(site, window: window)
        segments.insert(disk.list("/store/segments"))
      }
      #expect(segments.count == 1)
    }

    // MARK: Frames that are needed in part

    /// Frames of many small assets, of which few are new to the store: these alone are stored, encoded again.
    @Test func partlyNeededFrames() throws {
      var random = Random(12), folder: Folder = [:]
      for index in 0..<200 { folder["a\(1000 + index)"] = .file(random.text(1_500)) }
      let known = folder.filter { Int($0.key.dropFirst())! % 5 != 0 }
      let site = try Site(Self.published([folder])), disk = try Self.empty()
      disk.put(known, at: "/known")
      try Store(disk).commit { try $0.add("other", "/known") }
      let before = sim_used_bytes(disk.raw)
      let pull = try #require(try Store(disk).pull(site))
      try Self.check(disk, folder, version: 1)
      #expect(pull.totals.chunks_total >= 40)
      let fetched = pull.wants.filter { !site.isMetadata($0) }.reduce(0) { $0 + $1.length }
      #expect(pull.result.new_stored_bytes < UInt64(fetched) / 2 + 20_000, "of \(fetched) bytes a fifth is kept")
      #expect(sim_used_bytes(disk.raw) > before)
    }

    /// A frame of which three quarters and more are needed stays as it is, with what the store had of it.
    @Test func nearlyNeededFrames() throws {
      var random = Random(13), folder: Folder = [:]
      for index in 0..<100 { folder["a\(1000 + index)"] = .file(random.text(1_500)) }
      let known = folder.filter { Int($0.key.dropFirst())! % 10 == 3 }
      let site = try Site(Self.published([folder])), disk = try Self.empty()
      disk.put(known, at: "/known")
      try Store(disk).commit { try $0.add("other", "/known") }
      try Store(disk).pull(site)
      try Self.check(disk, folder, version: 1)
      let data = site.segments.firstIndex { !$0.isMetadata }!
      let here = disk.list("/store/segments").compactMap { disk.read("/store/segments/\($0)") }
      var table = pks__frame_table()
      try site.tables[data].withUnsafeBytes { bytes in
        try attempt { pks__frame_table_read(bytes.baseAddress, bytes.count, "", &table, $0) }
        let frame = pks__frame_table_at(&table, 0)
        let stored = site.files[data][Int(frame.offset)..<Int(frame.offset) + Int(frame.stored_length)]
        #expect(here.contains { file in file.count > stored.count && file[64..<64 + stored.count] == stored })
      }
    }

    // MARK: Map assets

    /// A new map asset comes in one piece, with chunks that it has twice or that the store has elsewhere, and is written once.
    @Test func newMapAssetIsWrittenOnce() throws {
      var random = Random(21)
      let noise = random.bytes(200_000), zeros = [UInt8](repeating: 0, count: 9_000)
      let folder: Folder = ["a": .file(random.text(900)), "m.map": .file(zeros + noise + zeros + zeros)]
      let site = try Site(Self.published([folder], map: ["*.map"])), disk = try Self.empty()
      disk.put(["piece": .file(Array(noise[..<8_000]))], at: "/known")
      try Store(disk).commit { try $0.add("other", "/known") }
      let pull = try #require(try Store(disk).pull(site))
      try Self.check(disk, folder, version: 1)
      #expect(try Store(disk).state()["p"]?.mapped == ["m.map"])
      #expect(pull.result.mapped_count == 1 && pull.result.mapped_new_bytes == 0, "nothing was laid out a second time")
    }

    /// A map asset that changed a little is laid out afresh from what was here and what came.
    @Test func changedMapAsset() throws {
      var random = Random(22)
      let old = random.bytes(300_000)
      var new = old
      new.replaceSubrange(150_000..<150_010, with: random.bytes(50))
      let published = try Self.published([["m": .file(old)], ["m": .file(new)]], map: ["m"]), disk = try Self.empty()
      try Store(disk).pull(Site(published, version: 1))
      let site = try Site(published), pull = try #require(try Store(disk).pull(site))
      try Self.check(disk, ["m": .file(new)], version: 2)
      #expect(try Store(disk).state()["p"]?.mapped == ["m"])
      #expect(pull.totals.bytes_total < 20_000 && pull.result.mapped_new_bytes == UInt64(new.count))
    }

    /// An asset that moved is a map asset where it is now, though none of its bytes come.
    @Test func movedMapAsset() throws {
      var random = Random(23)
      let bytes = random.bytes(100_000)
      let published = try Self.published([["a": .file(bytes)], ["b": .file(bytes)]], map: ["a", "b"])
      let disk = try Self.empty()
      try Store(disk).pull(Site(published, version: 1))
      let pull = try #require(try Store(disk).pull(Site(published)))
      try Self.check(disk, ["b": .file(bytes)], version: 2)
      #expect(try Store(disk).state()["p"]?.mapped == ["b"])
      #expect(pull.totals.bytes_total == 0 && pull.result.mapped_new_bytes == 0)
    }

    /// Raw assets lie in one piece, large ones from a page on, as if they had been added here.
    @Test func rawAssetsStayInOnePiece() throws {
      var random = Random(24), folder: Folder = [:]
      for index in 0..<6 { folder["n\(index)"] = .file(random.bytes([300, 70_000, 5_000, 131_072, 66_000, 9][index])) }
      for index in 0..<6 { folder["n\(index)-text"] = .file(random.text(3_000)) }
      let site = try Site(Self.published([folder])), disk = try Self.empty()
      try Store(disk).pull(site)
      try Self.check(disk, folder, version: 1)
      let snapshot = try Store(disk).snapshot()
      for name in ["n1", "n3", "n4"] {
        var asset = pks_asset(), loan = pks_bytes()
        try attempt { pks_snapshot_find(&asset, snapshot.raw, name, 2, .max, $0) }
        try attempt { pks_asset_borrow(&loan, &asset, $0) }
        let first = disk.list("/store/segments").compactMap { disk.read("/store/segments/\($0)") }.compactMap { file in
          stride(from: 0, to: file.count - 4096, by: 4096).first { at in
            file[at..<at + 64].elementsEqual(UnsafeRawBufferPointer(start: loan.bytes, count: 64))
          }
        }
        #expect(asset.contiguous && first.count == 1, "\(name) begins at a page")
      }
    }

    // MARK: Numbers

    @Test func numbersAreThePublishers() throws {
      let disk = try Self.empty(),
        published = try Self.published([.sample(seed: 1), .sample(seed: 2), .sample(seed: 3)])
      func refused(_ number: UInt64, of version: UInt64) throws -> pks_status {
        let transaction = try Store(disk).begin()
        return try status {
          _ = try Delivery(Site(published, version: version), into: transaction) { $0.version = number }
        }
      }
      #expect(try refused(0, of: 1) == PKS_INVALID_ARGUMENT)
      #expect(try refused(.max, of: 1) == PKS_INVALID_ARGUMENT)
      try Store(disk).pull(Site(published, version: 2))
      #expect(try refused(2, of: 1) == PKS_EXISTS)
      try Store(disk).pull(Site(published, version: 3))
      #expect(try refused(2, of: 3) == PKS_EXISTS)
      try Self.check(disk, .sample(seed: 3), version: 3)
      // A version below the current one is a withdrawal.
      try Store(disk).pull(Site(published, version: 1))
      try Self.check(disk, .sample(seed: 1), version: 1)
      #expect(try Store(disk).snapshot().versions(of: "p") == [1, 3])
    }

    /// A kept version becomes current again without a byte from the site, and the pack is not held there.
    @Test func keptVersionsComeBack() throws {
      let disk = try Self.empty(), published = try Self.published([.sample(seed: 1), .changedSample(seed: 1)])
      for version: UInt64 in [1, 2] { try Store(disk).pull(Site(published, version: version)) }
      let pull = try #require(try Store(disk).pull(Site(published, version: 1)))
      try Self.check(disk, .sample(seed: 1), version: 1)
      #expect(pull.wants.isEmpty)
      #expect(try Store(disk).snapshot().versions(of: "p") == [1, 2] && !Store(disk).snapshot().packs[0].held)
      try Store(disk).commit { try $0.remove("p", keepHistory: true) }
      #expect(try #require(try Store(disk).pull(Site(published, version: 2))).wants.isEmpty)
      try Self.check(disk, .changedSample(seed: 1), version: 2)
    }

    /// The same content under another number is another version, for which only pages come.
    @Test func sameContentAgain() throws {
      let disk = try Self.empty(), published = try Self.published([.sample(seed: 1)]), site = try Site(published)
      try Store(disk).pull(site)
      site.version.number = 7
      let pull = try #require(try Store(disk).pull(site))
      #expect(pull.totals.bytes_total == 0)
      try Self.check(disk, .sample(seed: 1), version: 7)
    }

    @Test func heldPacksStay() throws {
      let disk = try Self.empty()
      let published = try Self.published([.sample(seed: 1), .sample(seed: 2), .sample(seed: 3)])
      for version: UInt64 in [1, 2] { try Store(disk).pull(Site(published, version: version)) }
      try Store(disk).commit { try $0.rollBack("p") }
      #expect(try status { try Store(disk).pull(Site(published)) } == PKS_HELD)
      #expect(try status { try Store(disk).pull(Site(published, version: 2)) } == PKS_HELD)
      #expect(try Store(disk).pull(Site(published, version: 1)) == nil, "where it is held it may be")
      try Store(disk).commit { try $0.unpin("p") }
      try Store(disk).pull(Site(published))
      try Self.check(disk, .sample(seed: 3), version: 3)
    }

    /// A priority counts for a new pack, and is the app's afterwards.
    @Test func priorities() throws {
      let disk = try Self.empty(), published = try Self.published([.sample(seed: 1), .sample(seed: 2)])
      for (version, priority) in [(1, 5), (2, 9)] as [(UInt64, Int32)] {
        let transaction = try Store(disk).begin()
        let delivery = try #require(
          try Delivery(Site(published, version: version), into: transaction) {
            $0.set_priority = true
            $0.priority = priority
          })
        try delivery.run()
        try delivery.stage()
        _ = try transaction.commit()
        delivery.close(discard: true)
        #expect(try Store(disk).state()["p"]?.priority == 5)
      }
    }

    // MARK: Beside others

    /// Two packs in one transaction, of which the second has the chunks of the first; and one that has its very content.
    @Test func severalPacksInOneCommit() throws {
      let first = try Site(Self.published([.sample(seed: 1)])),
        second = try Site(Self.published([.changedSample(seed: 1)]))
      let third = try Site(Self.published([.sample(seed: 1)])), disk = try Self.empty()
      second.pack = "q"
      third.pack = "r"
      let transaction = try Store(disk).begin()
      let deliveries = try [first, second, third].map { site in
        let delivery = try #require(try Delivery(site, into: transaction))
        try delivery.run()
        try delivery.stage()
        return delivery
      }
      #expect(deliveries[2].totals.bytes_total == 0, "all of it is staged already")
      _ = try transaction.commit()
      for delivery in deliveries { delivery.close(discard: true) }
      try Self.check(disk, .sample(seed: 1), version: 1)
      let state = try Store(disk).state()
      #expect(state["q"]?.content == .changedSample(seed: 1) && state["r"]?.content == .sample(seed: 1))
    }

    @Test func oneAtATime() throws {
      let disk = try Self.empty(), site = try Site(Self.published([.sample(seed: 1)]))
      let first = try Store(disk).begin(), second = try Store(disk, process: sim_start_process(disk.raw, 2)).begin()
      var delivery = try Delivery(site, into: first)
      try delivery?.run(limit: 1)
      #expect(try status { _ = try Delivery(site, into: second) } == PKS_BUSY)
      #expect(try status { _ = try Delivery(site, into: first) } == PKS_BUSY)
      delivery = nil
      #expect(try Delivery(site, into: second) != nil)
    }

    /// What the transaction itself changed of the pack after the delivery began.
    @Test func packChangedUnderneath() throws {
      let disk = try Self.empty(), site = try Site(Self.published([.sample(seed: 1)]))
      disk.put(.sample(seed: 3), at: "/own")
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      try delivery.run()
      try transaction.add("p", "/own")
      #expect(try status { try delivery.stage() } == PKS_CONFLICT)
    }

    @Test func misuse() throws {
      let disk = try Self.empty(), site = try Site(Self.published([.sample(seed: 1)]))
      let transaction = try Store(disk).begin()
      let delivery = try #require(try Delivery(site, into: transaction))
      #expect(try status { try delivery.stage() } == PKS_INVALID_ARGUMENT, "something is still wanted")
      var isFinal = true
      #expect(
        try status { try delivery.give([1], isFinal: &isFinal) } == PKS_INVALID_ARGUMENT, "nothing is outstanding")
      #expect(!isFinal)
      _ = try delivery.next()
      #expect(try status { try delivery.give([1], isFinal: &isFinal) } == PKS_INVALID_ARGUMENT && !isFinal)
      guard case .wait = try delivery.next() else { return #expect(Bool(false)) }
      try delivery.give(site.bytes(delivery.outstanding[0]))
      try delivery.run()
      try delivery.stage()
      #expect(try status { _ = try delivery.next() } == PKS_INVALID_ARGUMENT, "it was staged")
      #expect(try status { try delivery.stage() } == PKS_INVALID_ARGUMENT)
    }

    /// Verifying, repairing and collecting beside a delivery that is under way.
    @Test func otherWorkBesideIt() throws {
      let disk = try Self.empty(), site = try Site(Self.published([.sample(seed: 1)]))
      disk.put(.sample(seed: 4), at: "/own")
      do {
        let transaction = try Store(disk).begin()
        let delivery = try #require(try Delivery(site, into: transaction))
        try delivery.run(limit: 5)
      }
      let left = disk.list("/store/incoming")
      #expect(left.count == 4 && left[0].hasSuffix("/"), "\(left)")
      try Store(disk).commit { try $0.add("q", "/own") }
      try Store(disk).commit { try $0.remove("q") }
      try Store(disk).commit { try $0.add("q", "/own") }
      #expect(try Store(disk).snapshot().faults(deep: true) == [])
      try disk.repair()
      sim_remove(disk.raw, "/store/CONTROL")
      try disk.repair()
      #expect(disk.list("/store/incoming") == left)
      let pull = try #require(try Store(disk).pull(site))
      #expect(pull.totals.bytes_resumed > 0)
      try Self.check(disk, .sample(seed: 1), version: 1)
    }
  }
}
