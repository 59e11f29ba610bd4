import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Stores that lie over another one.
  @Suite struct BaseTests {
    private static func disk() -> Disk {
      let disk = Disk(seed: 13)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      return disk
    }

    /// Bytes of data segments among the store's own files.
    private static func dataBytes(_ disk: Disk) -> Int {
      disk.list("/store/segments").compactMap { disk.read("/store/segments/\($0)") }.filter { $0[12] == 1 }
        .reduce(0) { $0 + $1.count }
    }

    private static func content(_ snapshot: Snapshot, _ pack: String) throws -> Folder? {
      try snapshot.state()[pack]?.content
    }

    @Test func packsOfTheBaseAreThereAndCostNoData() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") {
        try $0.add("p", "/one", priority: 2, map: ["large"])
        try $0.add("q", "/other")
      }
      let before = disk.list("/base").map { disk.read("/base/\($0)") }
      let store = try Store(disk, create: true, base: "/base")
      #expect(try store.adoptBase().taken_count == 2)
      let snapshot = try store.snapshot()
      #expect(try Self.content(snapshot, "p") == Change.folders["/one"])
      #expect(try Self.content(snapshot, "q") == Change.folders["/other"])
      #expect(try snapshot.state()["p"]?.mapped == ["large"] && snapshot.state()["p"]?.priority == 2)
      #expect(Self.dataBytes(disk) == 0)
      #expect(try snapshot.faults(deep: true).isEmpty)
      #expect(try snapshot.availability(of: "p").missing_bytes == 0)
      let again = try store.adoptBase()
      #expect(again.taken_count == 0 && again.relaid_count == 0)
      #expect(try store.snapshot().generation == snapshot.generation)
      #expect(disk.list("/base").map { disk.read("/base/\($0)") } == before)
    }

    /// A pack that the base itself cannot give keeps no other from being taken.
    @Test func aPackThatTheBaseLacksIsLeft() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") {
        try $0.chooseCache("/cache")
        try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
        try $0.add("q", "/other")
      }
      disk.vanish(disk.cacheSegments[0])
      let store = try Store(disk, create: true, base: "/base")
      let result = try store.adoptBase()
      #expect(result.taken_count == 1 && result.refused_count == 1)
      #expect(try Self.content(store.snapshot(), "q") == Change.folders["/other"])
    }

    /// Who may only read sees the packs as they were taken over last.
    @Test func aReaderTakesNothingOver() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      try Store(disk, create: true).commit { try $0.add("q", "/other") }
      let reader = try Store("/store", vfs: disk.vfs, readOnly: true, base: "/base", home: disk)
      #expect(try reader.adoptBase().taken_count == 0)
      #expect(try reader.snapshot().packNames == ["q"])
    }

    /// A priority that the user chose stays when the base has a newer version.
    @Test func theUsersPriorityStays() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one", priority: 2) }
      try Store.over("/base", disk).commit { try $0.prioritise("p", 9) }
      try Store("/base", vfs: disk.vfs, home: disk).commit { try $0.add("p", "/two") }
      let snapshot = try Store.over("/base", disk).snapshot()
      #expect(try Self.content(snapshot, "p") == Change.folders["/two"] && snapshot.state()["p"]?.priority == 9)
    }

    /// The chunks of the base take nothing of the store's own files.
    @Test func sizesAreThoseOfTheStore() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      let store = try Store.over("/base", disk)
      try store.commit { try $0.add("q", "/other") }
      try SpaceTests.checkFiles(disk, store.snapshot(), "over a base")
    }

    /// Damage of a pack of the upper store's own costs those that rely on the base nothing, where the repair is given the base: as
    /// the base, or as another store.
    @Test(arguments: ["base", "donor", "neither"]) func aRepairKeepsWhatReliesOnTheBase(_ given: String) throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      let store = try Store.over("/base", disk)
      try store.commit { try $0.add("d", "/other") }
      let damaged = try #require(
        disk.list("/store/segments").first { disk.read("/store/segments/\($0)")?[12] == 1 })
      _ = sim_corrupt(disk.raw, "/store/segments/\(damaged)", 200, 1)
      let report = try disk.repair(
        from: given == "donor" ? ["/base"] : [], base: given == "base" ? "/base" : nil)
      #expect(
        report.lost.contains { $0.pack == "d" } && report.lost.contains { $0.pack == "p" } == (given == "neither"))
      let snapshot = try Store(disk, base: "/base").snapshot()
      #expect(try snapshot.faults(deep: true).isEmpty)
      if given != "neither" { #expect(try Self.content(snapshot, "p") == Change.folders["/one"]) }
    }

    /// What changes goes to the upper store; what stays, stays below.
    @Test func updatesLandAbove() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      let store = try Store.over("/base", disk)
      try store.commit { try $0.add("p", "/two") }
      let alone = Self.disk(), other = try Store(alone, create: true)
      try other.commit { try $0.add("p", "/two") }
      #expect(Self.dataBytes(disk) > 0 && Self.dataBytes(disk) < Self.dataBytes(alone))
      let again = try Store(disk, base: "/base")
      #expect(try Self.content(again.snapshot(), "p") == Change.folders["/two"])
      try again.adoptBase()
      #expect(try Self.content(again.snapshot(), "p") == Change.folders["/two"], "the higher version stays")
      try again.commit { try $0.rollBack("p") }
      #expect(try Self.content(again.snapshot(), "p") == Change.folders["/one"])
      #expect(try again.snapshot().faults(deep: true).isEmpty)
      withExtendedLifetime(store) {}
    }

    /// Without the base all that it had is purged, to the byte, and nothing else; with it again it is all there.
    @Test func withoutTheBaseItsDataIsPurged() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      do {
        let store = try Store.over("/base", disk)
        try store.commit { try $0.add("q", "/other") }
      }
      do {
        let snapshot = try Store(disk).snapshot()
        #expect(try snapshot.readable("p").purged == Change.folders["/one"]!.filesWithBytes)
        #expect(try snapshot.readable("q").content == Change.folders["/other"])
        let availability = try snapshot.availability(of: "p")
        #expect(availability.missing_bytes == availability.total_bytes)
        #expect(try snapshot.availability(of: "q").missing_bytes == 0)
      }
      // Commits and collections meanwhile take nothing away.
      do {
        let store = try Store(disk)
        try store.commit { try $0.add("q", "/small") }
        _ = try store.collect()
      }
      disk.move("/base", to: "/moved")
      let snapshot = try Store(disk, base: "/moved").snapshot()
      #expect(try Self.content(snapshot, "p") == Change.folders["/one"])
      #expect(try snapshot.faults(deep: true).isEmpty)
    }

    /// A delivery fetches what is missing without the base, and the store needs it no more.
    @Test func aDeliveryReplacesTheBase() throws {
      let publisher = Self.disk()
      try Store(publisher, create: true).commit { try $0.add("p", "/one", map: ["large"]) }
      let site = try Site(publisher), disk = Self.disk()
      do {
        let below = try Store("/base", vfs: disk.vfs, create: true, home: disk)
        _ = try below.pull(site)
        _ = try Store.over("/base", disk)
      }
      let store = try Store(disk)
      _ = try #require(try store.pull(site))
      #expect(try store.pull(site) == nil)
      #expect(try Self.content(Store(disk).snapshot(), "p") == Change.folders["/one"])
    }

    /// Another base: versions that relied on the old one find by content what the new one has.
    @Test(arguments: [[], ["large", "a/text"]]) func anotherBase(map: [String]) throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one", map: map) }
      do {
        let store = try Store.over("/base", disk)
        try store.commit { try $0.add("p", "/two", map: map) }
      }
      // The same content and more: none of its segments is one of the old base.
      disk.put(Change.folders["/one"]!.merging(["0": .file("first of all")]) { old, _ in old }, at: "/more")
      try disk.makeBase("/new") {
        try $0.add("x", "/other")
        try $0.add("p", "/more", map: map + ["0"])
      }
      let store = try Store(disk, base: "/new")
      let result = try store.adoptBase()
      #expect(result.taken_count == 1 && result.relaid_count > 0)
      let snapshot = try store.snapshot()
      #expect(try Self.content(snapshot, "p") == Change.folders["/two"])
      #expect(try Self.content(snapshot, "x") == Change.folders["/other"])
      #expect(try snapshot.faults(deep: true).isEmpty)
      try store.commit { try $0.rollBack("p") }
      #expect(try Self.content(store.snapshot(), "p") == Change.folders["/one"])
    }

    /// A base that has less: what it has is there, the rest is purged, and nothing is lost of what the store has itself.
    @Test func aLesserBase() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      do {
        let store = try Store.over("/base", disk)
        try store.commit { try $0.add("p", "/two") }
      }
      let part = Change.folders["/one"]!.filter { $0.key.hasPrefix("folder") }
      disk.put(part, at: "/part")
      try disk.makeBase("/new") { try $0.add("p", "/part") }
      let store = try Store(disk, base: "/new")
      try store.adoptBase()
      let snapshot = try store.snapshot(), (content, purged) = try snapshot.readable("p")
      #expect(content == Change.folders["/two"]!.filter { !purged.contains($0.key) })
      #expect(!purged.isEmpty)
      #expect(part.keys.allSatisfy { !purged.contains($0) || Change.folders["/two"]![$0] != part[$0] })
      #expect(try snapshot.availability(of: "p").missing_asset_count == UInt64(purged.count))
    }

    @Test func heldAndRemovedPacksStay() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") {
        try $0.add("p", "/one")
        try $0.add("q", "/other")
        try $0.add("r", "/small")
      }
      let store = try Store.over("/base", disk)
      try store.commit { try $0.add("p", "/two") }
      try store.commit {
        try $0.rollBack("p")
        try $0.remove("q", keepHistory: true)
        try $0.remove("r")
      }
      let below = try Store("/base", vfs: disk.vfs, home: disk)
      try below.commit { try $0.add("p", "/two") }
      try below.commit {
        try $0.add("p", "/other")
        try $0.prioritise("q", 4)
      }
      #expect(try store.adoptBase().taken_count == 0, "it shows the generation that it was opened at")
      let again = try Store(disk, base: "/base")
      #expect(try again.adoptBase().taken_count == 1)
      let state = try again.snapshot().state()
      #expect(state["p"]?.content == Change.folders["/one"] && state["q"] == nil && state["r"] != nil)
    }

    /// A purgeable pack refers to the base as any does: what the base has is not copied to the cache folder.
    @Test func purgeablePacksUseTheBase() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") { try $0.add("b", "/one") }
      let store = try Store.over("/base", disk)
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/two") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      #expect(Self.dataBytes(disk) == 0 && disk.cacheSegments.count == 1)
      for path in disk.cacheSegments { disk.vanish(path) }
      let snapshot = try Store(disk, base: "/base").snapshot(), availability = try snapshot.availability(of: "p")
      #expect(availability.missing_bytes > 0 && availability.missing_bytes < availability.total_bytes)
      #expect(try snapshot.readable("b").content == Change.folders["/one"])
    }

    @Test func emptyingLeavesTheBaseAlone() throws {
      let disk = Self.disk()
      try disk.makeBase("/base") {
        try $0.add("p", "/one")
        try $0.add("q", "/two")
      }
      let store = try Store.over("/base", disk)
      try store.commit(keep: 1) { try $0.remove("q") }
      try store.commit(keep: 1) { try $0.add("p", "/two") }
      let bytes = Self.dataBytes(disk)
      _ = try store.collect()
      #expect(Self.dataBytes(disk) <= bytes)
      #expect(try Self.content(store.snapshot(), "p") == Change.folders["/two"])
      #expect(try store.snapshot().faults(deep: true).isEmpty)
    }

    @Test func whatIsNoBase() throws {
      let disk = Self.disk()
      _ = try Store(disk, create: true)
      #expect(try status { _ = try Store(disk, base: "/store") } == PKS_INVALID_ARGUMENT)
      #expect(try status { _ = try Store(disk, base: "") } == PKS_INVALID_ARGUMENT)
      #expect(try status { _ = try Store(disk, base: "/nothing") } == PKS_NOT_A_STORE)
      try disk.makeBase("/base") { try $0.add("p", "/one") }
      _ = try Store.over("/base", disk)
      #expect(
        try status { _ = try Store("/upper", vfs: disk.vfs, create: true, base: "/store", home: disk) }
          == PKS_INVALID_ARGUMENT)
    }
  }
}
