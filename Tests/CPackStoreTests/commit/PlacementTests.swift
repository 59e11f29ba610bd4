import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Packs whose data lies in a cache folder, and may vanish.
  @Suite struct PlacementTests {
    private static func disk(_ folders: [String: Folder] = Change.folders) -> Disk {
      let disk = Disk(seed: 9)
      for (path, folder) in folders { disk.put(folder, at: path) }
      return disk
    }

    /// A store with a cache folder, and the purgeable pack `p`.
    private static func purgeableStore(_ disk: Disk) throws -> Store {
      let store = try Store(disk, create: true)
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      return store
    }

    /// Data segments among the store's own files.
    private static func durableData(_ disk: Disk) -> [String] {
      disk.list("/store/segments").filter { disk.read("/store/segments/\($0)")?[12] == 1 }
    }

    @Test func aPurgeablePackLiesInTheCacheFolder() throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      #expect(Self.durableData(disk).isEmpty)
      #expect(disk.cacheSegments.count == 1 && disk.list("/store/tables").count == 1)
      let file = disk.read(disk.cacheSegments[0])!, table = disk.read("/store/tables/" + disk.list("/store/tables")[0])!
      #expect(Array(file.suffix(table.count)) == table)
      let snapshot = try Store(disk).snapshot()
      #expect(try snapshot.state()["p"]?.content == Change.folders["/one"])
      #expect(snapshot.packs[0].purgeable && !snapshot.packs[0].placed_by_hand)
      #expect(try snapshot.faults(deep: true).isEmpty)
      #expect(try snapshot.availability(of: "p").missing_bytes == 0)
      withExtendedLifetime(store) {}
    }

    /// Whatever goes: what is missing is PURGED and nothing else is hurt; the same folder added again makes it whole.
    @Test(arguments: [nil, 0, 64, 3_000, 10_000, 20_000]) func whatVanishesIsPurged(length: Int?) throws {
      let disk = Self.disk()
      _ = try Self.purgeableStore(disk)
      try Store(disk).commit { try $0.add("q", "/other") }
      let path = disk.cacheSegments[0]
      if let length { disk.cut(path, to: length) } else { disk.vanish(path) }
      let store = try Store(disk), snapshot = try store.snapshot()
      let (content, purged) = try snapshot.readable("p")
      #expect(!purged.isEmpty && purged.isSubset(of: Change.folders["/one"]!.filesWithBytes))
      #expect(content == Change.folders["/one"]!.filter { !purged.contains($0.key) })
      if length == nil { #expect(purged == Change.folders["/one"]!.filesWithBytes) }
      #expect(try snapshot.availability(of: "p").missing_asset_count == UInt64(purged.count))
      for asset in Change.folders["/one"]!.filesWithBytes {
        let missing = try snapshot.availability(ofAsset: asset).missing_bytes
        #expect((missing > 0) == purged.contains(asset), "\(asset)")
      }
      #expect(try snapshot.readable("q").content == Change.folders["/other"])
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/one") }
      #expect(result.unchanged && result.restored_count == UInt64(purged.count))
      #expect(try store.snapshot().readable("p").content == Change.folders["/one"])
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
      #expect(try store.snapshot().packs.allSatisfy { $0.current.number == 1 })
    }

    @Test func aWrongSumIsPurgedToo() throws {
      let disk = Self.disk()
      _ = try Self.purgeableStore(disk)
      _ = sim_corrupt(disk.raw, disk.cacheSegments[0], 200, 1)
      let store = try Store(disk), snapshot = try store.snapshot()
      let purged = try snapshot.readable("p").purged
      #expect(!purged.isEmpty && purged != Change.folders["/one"]!.filesWithBytes)
      #expect(try snapshot.availability(of: "p").missing_asset_count == UInt64(purged.count), "what was met is known")
      try store.commit { try $0.add("p", "/one") }
      #expect(try store.snapshot().readable("p").content == Change.folders["/one"])
    }

    /// Damage at full length that no read has met: an add of the same content finds it, and stores the data again.
    @Test(arguments: [100, 200, 3_000] as [UInt64]) func anAddRestoresDamagedData(offset: UInt64) throws {
      let disk = Self.disk()
      _ = try Self.purgeableStore(disk)
      _ = sim_corrupt(disk.raw, disk.cacheSegments[0], offset, 1)
      let faults = try Store(disk).snapshot().verify(deep: true).faults
      #expect(!faults.isEmpty && faults.allSatisfy { $0.status == PKS_PURGED.rawValue && $0.isCachedDamage })
      let store = try Store(disk)
      #expect(try store.snapshot().availability(of: "p").missing_bytes == 0, "lengths do not show it")
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/one") }
      #expect(result.unchanged && result.restored_count > 0)
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/one"])
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    /// Invariant: what a durable pack needs is among the store's files, in whatever order packs come and go.
    @Test func aDurablePackNeverDependsOnTheCache() throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      try store.commit { try $0.add("d", "/one") }  // the same content
      try store.commit { try $0.add("e", "/two") }  // most of it
      try store.commit { try $0.place("d", PKS_PLACE_PURGEABLE) }
      try store.commit { try $0.add("f", "/one") }
      try store.commit { try $0.place("p", PKS_PLACE_DURABLE) }
      try store.commit { try $0.remove("f") }
      try store.commit { try $0.prioritise("e", 2) }
      #expect(try store.snapshot().faults(deep: true).isEmpty)
      disk.vanish("/cache")
      let after = try Store(disk).snapshot()
      #expect(try after.readable("p").content == Change.folders["/one"])
      #expect(try after.readable("e").content == Change.folders["/two"])
      let d = try after.readable("d")
      #expect(d.content == Change.folders["/one"]!.filter { !d.purged.contains($0.key) })
    }

    @Test func placingMovesAllKeptVersionsThereAndBack() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      try store.commit { try $0.add("p", "/two") }
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.place("p", PKS_PLACE_PURGEABLE)
      }
      try store.commit { try $0.add("q", "/small") }
      #expect(Self.durableData(disk).count == 1, "only that of q")
      do {
        let snapshot = try Store(disk).snapshot()
        #expect(try snapshot.readable("p").content == Change.folders["/two"])
        #expect(snapshot.packs.first { String(cString: $0.name) == "p" }?.placed_by_hand == true)
        #expect(try snapshot.faults(deep: true).isEmpty)
        for version in 0..<2 {
          #expect(try snapshot.availability(of: "p", version: UInt32(version)).missing_bytes == 0)
        }
      }
      try store.commit { try $0.place("p", PKS_PLACE_DURABLE) }
      #expect(disk.cacheSegments.isEmpty && disk.list("/store/tables").isEmpty)
      let snapshot = try Store(disk).snapshot()
      #expect(try snapshot.readable("p").content == Change.folders["/two"] && snapshot.faults(deep: true).isEmpty)
      try store.commit { try $0.rollBack("p") }
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/one"])
    }

    @Test func placingDurableWithDataMissingChangesNothing() throws {
      let disk = Self.disk()
      _ = try Self.purgeableStore(disk)
      disk.vanish(disk.cacheSegments[0])
      let store = try Store(disk), before = try store.snapshot().generation
      let transaction = try store.begin()
      #expect(try status { try transaction.place("p", PKS_PLACE_DURABLE) } == PKS_PURGED)
      #expect(try transaction.commit() == before)
      #expect(try store.snapshot().packs[0].purgeable)
    }

    /// What a user said outlives what versions say; what versions say counts until then.
    @Test func whatAUserSaysOutlivesVersions() throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      try store.commit { try $0.add("p", "/two") { $0.placement = PKS_PLACE_DURABLE } }
      #expect(try !store.snapshot().packs[0].purgeable)
      try store.commit { try $0.place("p", PKS_PLACE_PURGEABLE) }
      try store.commit { try $0.add("p", "/other") { $0.placement = PKS_PLACE_DURABLE } }
      #expect(try store.snapshot().packs[0].purgeable && store.snapshot().packs[0].placed_by_hand)
      try store.commit { try $0.remove("p", keepHistory: true) }
      try store.commit { try $0.rollBack("p") }
      #expect(try store.snapshot().packs[0].purgeable)
      #expect(try store.snapshot().readable("p").content == Change.folders["/other"])
    }

    @Test func withoutACacheFolderNothingIsPurgeable() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let transaction = try store.begin()
      #expect(try status { try transaction.place("p", PKS_PLACE_PURGEABLE) } == PKS_INVALID_ARGUMENT)
      #expect(
        try status { try transaction.add("q", "/other") { $0.placement = PKS_PLACE_PURGEABLE } } == PKS_INVALID_ARGUMENT
      )
      for path in ["cache", "", "/" + String(repeating: "x", count: 4_095)] {
        #expect(try status { try transaction.chooseCache(path) } == PKS_INVALID_ARGUMENT)
      }
    }

    /// A delivery of the version that is current fetches the frames that are missing, and nothing else; without any there is none.
    @Test(arguments: [nil, 20_000, 30_000]) func aDeliveryHeals(length: Int?) throws {
      let publisher = Self.disk()
      try Store(publisher, create: true).commit { try $0.add("p", "/one") }
      let site = try Site(publisher), disk = Self.disk(), store = try Store(disk, create: true)
      let whole = try store.pull(site)!.totals.bytes_total
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.place("p", PKS_PLACE_PURGEABLE)
      }
      #expect(try store.pull(site) == nil && Self.durableData(disk).isEmpty)
      if let length { disk.cut(disk.cacheSegments[0], to: length) } else { disk.vanish(disk.cacheSegments[0]) }
      let after = try Store(disk), missing = try after.snapshot().readable("p").purged
      let pull = try #require(try after.pull(site))
      if length == nil { #expect(pull.totals.bytes_total == whole) } else { #expect(pull.totals.bytes_total < whole) }
      #expect(pull.result.restored_count == UInt64(missing.count))
      #expect(pull.wants.allSatisfy { !site.isMetadata($0) || $0.isTable }, "pages are here")
      let snapshot = try Store(disk).snapshot()
      #expect(try snapshot.readable("p").content == Change.folders["/one"])
      #expect(snapshot.packs[0].current.number == 1 && snapshot.packs[0].purgeable)
      #expect(try after.pull(site) == nil)
    }

    /// A handle that has the file open sees that it was cut in place, whether it read from it before or not, and is whole again after
    /// a delivery or an add, without being opened again.
    @Test(arguments: [0, 64, 3_000, 20_000], [true, false]) func anOpenHandleHeals(length: Int, byDelivery: Bool) throws
    {
      let publisher = Self.disk()
      try Store(publisher, create: true).commit { try $0.add("p", "/one") }
      let site = try Site(publisher), disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit {
        try $0.chooseCache("/cache")
        if !byDelivery { try $0.add("p", "/one", adjust: { $0.placement = PKS_PLACE_PURGEABLE }) }
      }
      if byDelivery {
        _ = try store.pull(site)
        try store.commit { try $0.place("p", PKS_PLACE_PURGEABLE) }
      }
      let before = try store.snapshot()
      #expect(try before.readable("p").purged.isEmpty)
      disk.cut(disk.cacheSegments[0], to: length)
      let purged = try before.readable("p").purged, missing = try before.availability(of: "p").missing_asset_count
      #expect(missing > 0 && purged.count <= missing, "frames in memory can still be read")
      if byDelivery { _ = try #require(try store.pull(site)) } else { try store.commit { try $0.add("p", "/one") } }
      let after = try store.snapshot()
      #expect(try after.readable("p").content == Change.folders["/one"])
      #expect(try after.availability(of: "p").missing_bytes == 0)
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/one"])
    }

    /// Damage of a durable pack costs purgeable ones nothing while the cache folder has their data: a repair keeps them, and where
    /// they belong. What is gone from there is lost with the repair, as nothing would say what it was.
    @Test(arguments: [true, false]) func aRepairKeepsPurgeablePacks(isThere: Bool) throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      try store.commit { try $0.add("d", "/other") }
      if !isThere { disk.vanish("/cache") }
      let damaged = try #require(Self.durableData(disk).first)
      _ = sim_corrupt(disk.raw, "/store/segments/\(damaged)", 200, 1)
      let report = try disk.repair()
      #expect(report.lost.contains { $0.pack == "p" } == !isThere && report.lost.contains { $0.pack == "d" })
      let after = try Store(disk), snapshot = try after.snapshot()
      #expect(try snapshot.faults(deep: true).isEmpty)
      guard isThere else { return }
      #expect(try snapshot.readable("p").content == Change.folders["/one"])
      #expect(snapshot.packs.first { String(cString: $0.name) == "p" }?.purgeable == true)
      try after.commit { try $0.add("p", "/two") }
      #expect(try after.snapshot().readable("p").content == Change.folders["/two"])
      #expect(disk.cacheSegments.count > 0)
    }

    /// Unlinks the least valuable first: what no version needs, the lower priority, older versions; nothing that is read or pinned.
    @Test func aPurgeTakesTheLeastValuableFirst() throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      try store.commit { try $0.add("p", "/other") }  // version 1 is kept, and shares nothing with it
      try store.commit {
        try $0.add("q", "/two") { request in
          request.placement = PKS_PLACE_PURGEABLE
          request.set_priority = true
          request.priority = 7
        }
      }
      #expect(disk.cacheSegments.count == 3)
      let first = try store.purge(1)
      #expect(first.file_count == 1 && first.is_enough && first.deferred_bytes == 0)
      #expect(try store.snapshot().availability(of: "p", version: 1).missing_asset_count > 0)
      #expect(try store.snapshot().availability(of: "p").missing_bytes == 0)
      #expect(pks_store_purge_mark(store.raw, "p") && !pks_store_purge_mark(store.raw, "q"))
      do {
        let reader = try Store(disk, process: sim_start_process(disk.raw, 2)).snapshot()
        _ = try reader.readable("p")
        let beside = try store.purge(1)
        #expect(beside.file_count == 1 && beside.deferred_bytes > 0, "what is read stays")
        #expect(try store.snapshot().readable("q").purged == Change.folders["/two"]!.filesWithBytes)
      }
      try store.commit { try $0.pin("p", 2) }
      let pinned = try store.purge(1)
      #expect(pinned.file_count == 0 && !pinned.is_enough)
      try store.commit { try $0.unpin("p") }
      #expect(try store.purge(.max).file_count == 1 && disk.cacheSegments.isEmpty)
      pks_store_clear_purge_mark(store.raw, "p")
      #expect(!pks_store_purge_mark(store.raw, "p"))
    }

    /// What lands in the cache folder stays within its budget: the least valuable goes for it, or nothing lands.
    @Test func theBudgetIsKept() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      func used() -> Int { disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count } }
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      let budget = used() + 8_192
      try store.commit { try $0.chooseCache("/cache", budget: UInt64(budget)) }
      try store.commit { try $0.add("q", "/other", priority: 1) { $0.placement = PKS_PLACE_PURGEABLE } }
      #expect(used() <= budget)
      do {
        let snapshot = try Store(disk).snapshot()
        #expect(
          try snapshot.readable("q").content == Change.folders["/other"] && snapshot.readable("p").purged.count > 0)
      }
      #expect(pks_store_purge_mark(store.raw, "p"))
      // What does not fit at all changes nothing.
      try store.commit { try $0.chooseCache("/cache", budget: 4_096) }
      #expect(used() <= 4_096, "what is there already keeps to it, too")
      let files = disk.cacheSegments, generation = try store.snapshot().generation
      #expect(
        try status { try store.commit { try $0.add("r", "/two") { $0.placement = PKS_PLACE_PURGEABLE } } }
          == PKS_NO_SPACE)
      #expect(try disk.cacheSegments == files && store.snapshot().generation == generation)
    }

    /// The cache folder may be on another disk: the error names it, and not the staged file.
    @Test func fullCacheFolderIsNamed() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      var names: Set<String> = []
      for call in 0..<400 {
        sim_fail(disk.raw, SIM_CALL_MUTATING, nil, UInt64(call), ENOSPC, false)
        let failure = try? thrown {
          try store.commit {
            try $0.chooseCache("/cache")
            try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
          }
        }
        sim_fail(disk.raw, SIM_CALL_MUTATING, nil, .max, ENOSPC, false)
        guard let failure else { break }
        if failure.status == PKS_NO_SPACE, failure.subject == PKS_SUBJECT_CACHE_FOLDER { names.insert(failure.file) }
      }
      #expect(names == ["/cache"])
    }

    /// Decoded copies have a budget of their own: they go for no room of purgeable packs, and do not count as such.
    @Test func decodedCopiesMakeNoRoom() throws {
      let disk = Self.disk()
      disk.put(AssetCacheTests.files.mapValues { .file($0) }, at: "/large")
      let store = try Store(disk, create: true, cache: .init(folder: "/copies", budget: AssetCacheTests.two))
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("d", "/large") { $0.frame_size = 1 << 20 }
        try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      #expect(try store.snapshot().contents("a").equals(AssetCacheTests.files["a"]!))
      let copies = disk.list("/copies")
      #expect(copies.contains { $0.hasSuffix(".sums") })
      let used = disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count }
      try store.commit { try $0.chooseCache("/cache", budget: UInt64(used + 4_096)) }
      try store.commit { try $0.add("q", "/other", priority: 1) { $0.placement = PKS_PLACE_PURGEABLE } }
      #expect(disk.list("/copies") == copies)
      #expect(try store.snapshot().readable("q").content == Change.folders["/other"])
    }

    /// In one folder both have one budget: copies go first, which cost no download.
    @Test func copiesInTheSameFolderMakeRoom() throws {
      let disk = Self.disk()
      disk.put(AssetCacheTests.files.mapValues { .file($0) }, at: "/large")
      let store = try Store(disk, create: true, cache: .init(folder: "/cache", budget: AssetCacheTests.two))
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("d", "/large") { $0.frame_size = 1 << 20 }
        try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      #expect(try store.snapshot().contents("a").equals(AssetCacheTests.files["a"]!))
      func copies() -> [String] { disk.list("/cache").filter { $0.hasSuffix(".sums") } }
      #expect(copies().count == 1)
      let used = disk.cacheSegments.reduce(0) { $0 + disk.read($1)!.count }
      try store.commit { try $0.chooseCache("/cache", budget: UInt64(used) + AssetCacheTests.cost) }
      try store.commit { try $0.add("q", "/other", priority: 1) { $0.placement = PKS_PLACE_PURGEABLE } }
      #expect(copies().isEmpty)
      let snapshot = try store.snapshot()
      #expect(try snapshot.readable("q").content == Change.folders["/other"])
      #expect(try snapshot.readable("p").content == Change.folders["/one"], "no purgeable pack has to go")
    }

    /// Emptying a segment is no reason to purge another pack; where its copy does not fit, it stays as it is.
    @Test(arguments: [0, 1 << 20]) func aCollectionPurgesNothing(room: Int) throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      try store.commit { try $0.add("q", "/other") { $0.placement = PKS_PLACE_PURGEABLE } }
      let left = ["large": Change.folders["/one"]!["large"]!]
      disk.put(left, at: "/three")
      try store.commit(keep: 1, gcPercent: 0) { try $0.add("p", "/three") }
      // As files are allotted, in whole blocks.
      let used = disk.cacheSegments.reduce(0) { $0 + (disk.read($1)!.count + 4_095) / 4_096 * 4_096 }
      try store.commit { try $0.chooseCache("/cache", budget: UInt64(used + room)) }
      let before = disk.cacheSegments
      try store.collect()
      #expect((disk.cacheSegments == before) == (room == 0))
      #expect(!pks_store_purge_mark(store.raw, "q"))
      #expect(try store.snapshot().readable("q").content == Change.folders["/other"])
      #expect(try store.snapshot().readable("p").content == left)
    }

    /// A segment that lies in both places is of two commits, one of which synced nothing: the next durable one vouches for both.
    @Test(arguments: [true, false]) func aDurableCommitVouchesForBothPlaces(movesAway: Bool) throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/one") { $0.placement = movesAway ? PKS_PLACE_DURABLE : PKS_PLACE_PURGEABLE }
      }
      try store.commit(PKS_ATOMIC) {
        if movesAway { try $0.place("p", PKS_PLACE_PURGEABLE) } else { try $0.add("d", "/one") }
      }
      try store.commit { try $0.add("e", "/small") }
      let left = disk.crash(SIM_CRASH_MIN)
      left.vanish("/cache")
      let snapshot = try Store(left).snapshot()
      _ = try snapshot.readable("p")  // there or purged, and not damaged
      if !movesAway { #expect(try snapshot.readable("d").content == Change.folders["/one"]) }
      #expect(try snapshot.readable("e").content == Change.folders["/small"])
    }

    /// The table that the durable generation needs stays, though an atomic commit makes the same.
    @Test func anAtomicCommitLeavesDurableTablesAlone() throws {
      let disk = Self.disk()
      _ = try Self.purgeableStore(disk)
      disk.vanish(disk.cacheSegments[0])
      try Store(disk).commit(PKS_ATOMIC) { try $0.add("p", "/one") }
      for left in [disk.crash(SIM_CRASH_MIN)] + disk.crashes(budget: 24, seed: 3) {
        let (content, purged) = try Store(left).snapshot().readable("p")
        #expect(content == Change.folders["/one"]!.filter { !purged.contains($0.key) })
      }
    }

    /// A durable pack has all its data: it does not go back to a version of which some is gone, whatever is allowed.
    @Test func aDurablePackDoesNotGoBackToWhatIsGone() throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk), first = disk.cacheSegments
      try store.commit { try $0.add("p", "/other") }
      disk.vanish(first[0])
      let again = try Store(disk)
      try again.commit { try $0.place("p", PKS_PLACE_DURABLE) }
      let transaction = try again.begin()
      #expect(try status { try transaction.rollBack("p", to: 1, mayLack: true) } == PKS_PURGED)
      transaction.abort()
      disk.vanish("/cache")
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/other"])
    }

    /// A pack that was removed shows nothing, so that no version of it must be whole.
    @Test func aRemovedPackIsPlacedThoughDataIsGone() throws {
      let disk = Self.disk(), store = try Self.purgeableStore(disk)
      try store.commit { try $0.remove("p", keepHistory: true) }
      disk.vanish(disk.cacheSegments[0])
      let again = try Store(disk)
      try again.commit { try $0.place("p", PKS_PLACE_DURABLE) }
      #expect(try !again.snapshot().removedPacks[0].purgeable)
      try again.commit { try $0.add("p", "/one") }
      disk.vanish("/cache")
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/one"])
    }

    /// What is there is laid out where it is, and not where its first copy was.
    @Test func aMapAssetStaysWhereItIsThere() throws {
      let disk = Self.disk(), large = Change.folders["/two"]!["large"]!
      var random = Random(3)
      disk.put(["large": large, "new": .file("new")], at: "/three")
      let store = try Store(disk, create: true)
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/two", map: ["large"]) { $0.placement = PKS_PLACE_PURGEABLE }
      }
      try store.commit { try $0.pin("p", 1) }
      disk.vanish(disk.cacheSegments[0])
      let again = try Store(disk)
      disk.put(Change.folders["/two"]!.merging(["more": .file(random.bytes(40_000))]) { $1 }, at: "/more")
      try again.commit { try $0.add("p", "/more", map: ["large"]) }
      try again.commit(keep: 1, gcPercent: 0) { try $0.add("p", "/three", map: ["large"]) }
      #expect(try again.collect().emptied_count > 0)
      let (content, purged) = try again.snapshot().readable("p")
      #expect(purged.isEmpty && content == ["large": large, "new": .file("new")])
    }

    /// Data that was staged in a folder that is not the store's any more is not committed as lost.
    @Test(arguments: [true, false]) func anotherCacheFolderMeanwhile(isFirst: Bool) throws {
      let disk = Self.disk(), store = isFirst ? try Store(disk, create: true) : try Self.purgeableStore(disk)
      let transaction = try store.begin()
      if isFirst { try transaction.chooseCache("/cache") }
      try transaction.add("q", "/other") { $0.placement = PKS_PLACE_PURGEABLE }
      try Store(disk, process: sim_start_process(disk.raw, 2)).commit { try $0.chooseCache("/elsewhere") }
      #expect(try status { _ = try transaction.commit() } == PKS_CONFLICT)
      try store.commit { try $0.add("q", "/other") { $0.placement = PKS_PLACE_PURGEABLE } }
      #expect(try store.snapshot().readable("q").content == Change.folders["/other"])
      #expect(disk.list("/elsewhere").contains { $0.contains("/segments/") })
    }

    /// A copy of a store has files of its own in the cache folder.
    @Test func aCopyDoesNotShareTheCache() throws {
      let disk = Self.disk()
      _ = try Self.purgeableStore(disk)
      for path in disk.list("/store") where disk.read("/store/\(path)") != nil && !path.hasPrefix("tmp/") {
        disk.write(disk.read("/store/\(path)")!, to: "/copy/\(path)")
      }
      sim_put_folder(disk.raw, "/copy/tmp")
      let copy = try Store("/copy", vfs: disk.vfs, home: disk)
      #expect(try copy.snapshot().readable("p").purged == Change.folders["/one"]!.filesWithBytes)
      try copy.commit { try $0.add("p", "/one") }
      #expect(disk.cacheSegments.count == 2)
      try copy.commit { try $0.remove("p") }
      #expect(disk.cacheSegments.count == 1)
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/one"])
    }
  }
}
