import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Files of durable segments that another program deleted or cut short. A store whose file was deleted reported that nothing was
  /// missing, and neither a delivery nor an add of the same version stored it again.
  @Suite struct LostSegmentTests {
    enum Loss: CaseIterable { case deleted, emptied, halved, lastByte }
    enum Way: CaseIterable { case delivery, add, update }
    enum Kind: UInt8, CaseIterable { case data = 1, metadata = 2 }

    private static func disk() -> Disk {
      let disk = Disk(seed: 31)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      return disk
    }

    private static func segments(_ disk: Disk, _ kind: Kind) -> [String] {
      disk.list("/store/segments").filter { disk.read("/store/segments/\($0)")?[12] == kind.rawValue }
        .map { "/store/segments/\($0)" }
    }

    private static func lose(_ path: String, _ loss: Loss, on disk: Disk) {
      let length = disk.read(path)!.count
      switch loss {
      case .deleted: disk.vanish(path)
      case .emptied: disk.cut(path, to: 0)
      case .halved: disk.cut(path, to: length / 2)
      case .lastByte: disk.cut(path, to: length - 1)
      }
    }

    /// A site with versions 1 and 2 of `p`, and a store that has version 1 from it, or of its own.
    private static func prepare(_ way: Way) throws -> (site: [Site], disk: Disk, store: Store) {
      let publisher = disk(), disk = disk(), store = try Store(disk, create: true)
      let source = try Store(publisher, create: true)
      try source.commit { try $0.add("p", "/one") }
      let first = try Site(publisher)
      try source.commit { try $0.add("p", "/two") }
      let site = try [first, Site(publisher)]
      if way == .add { try store.commit { try $0.add("p", "/one") } } else { try store.pull(first) }
      return (site, disk, store)
    }

    private static func heal(_ way: Way, _ store: Store, _ site: [Site], _ durability: pks_durability) throws {
      switch way {
      case .delivery: #expect(try store.pull(site[0], durability) != nil)
      case .update: #expect(try store.pull(site[1], durability) != nil)
      case .add:
        var result = pks_add_result()
        try store.commit(durability) { result = try $0.add("p", "/one") }
        #expect(result.unchanged && result.restored_count > 0)
      }
    }

    @Test(arguments: Loss.allCases, Kind.allCases) func everyLossIsFoundAndRestored(loss: Loss, kind: Kind) throws {
      for way in Way.allCases {
        for durability in [PKS_DURABLE, PKS_ATOMIC] {
          let (site, disk, before) = try Self.prepare(way)
          for path in Self.segments(disk, kind) { Self.lose(path, loss, on: disk) }
          let store = try Store(disk), availability = try store.snapshot().availability(of: "p")
          #expect(availability.lacks_pages == (kind == .metadata))
          #expect((availability.missing_bytes == availability.total_bytes) == (kind == .data))
          try Self.heal(way, store, site, durability)
          let after = try Store(disk).snapshot(), content = Change.folders[way == .update ? "/two" : "/one"]
          let now = try after.availability(of: "p"), label = Comment(rawValue: "\(way) \(durability)")
          #expect(now.missing_bytes == 0 && !now.lacks_pages, label)
          #expect(try after.readable("p").content == content, label)
          if way != .update { #expect(try after.faults(deep: true).isEmpty, label) }
          if way == .delivery { #expect(try store.pull(site[0]) == nil) }
          withExtendedLifetime(before) {}
        }
      }
    }

    /// A process can still read a deleted file that it has open, and nothing new refers to the file.
    @Test(arguments: Kind.allCases, Way.allCases) func anOpenStoreFindsTheLoss(kind: Kind, way: Way) throws {
      for loss in Loss.allCases { try findLoss(loss, kind, way) }
    }

    private func findLoss(_ loss: Loss, _ kind: Kind, _ way: Way) throws {
      let (site, disk, store) = try Self.prepare(way)
      let reader = try store.snapshot()
      #expect(try reader.readable("p").content == Change.folders["/one"])
      #expect(try reader.faults(deep: true).isEmpty)
      for path in Self.segments(disk, kind) { Self.lose(path, loss, on: disk) }
      let availability = try store.snapshot().availability(of: "p")
      #expect(availability.lacks_pages == (kind == .metadata) && (availability.missing_bytes > 0) == (kind == .data))
      if loss == .deleted { #expect(try reader.readable("p").content == Change.folders["/one"]) }
      try Self.heal(way, store, site, PKS_DURABLE)
      let content = Change.folders[way == .update ? "/two" : "/one"]
      for after in [try store.snapshot(), try Store(disk).snapshot()] {
        #expect(try after.readable("p").content == content)
        let now = try after.availability(of: "p")
        #expect(now.missing_bytes == 0 && !now.lacks_pages)
      }
    }

    /// Exactly the frames of the lost segment come again.
    @Test func aDeliveryFetchesWhatIsLost() throws {
      let (site, disk, store) = try Self.prepare(.delivery)
      let second = try #require(try store.pull(site[1]))
      let whole = site[0].files.enumerated().filter { !site[0].segments[$0.offset].isMetadata }.map(\.element.count)
      let newest = try #require(Self.segments(disk, .data).min { disk.read($0)!.count < disk.read($1)!.count })
      disk.vanish(newest)
      let after = try Store(disk), missing = try after.snapshot().availability(of: "p")
      #expect(missing.missing_bytes > 0 && missing.missing_bytes < missing.total_bytes)
      let pull = try #require(try after.pull(site[1]))
      #expect(pull.totals.bytes_total == second.totals.bytes_total && pull.totals.bytes_total < UInt64(whole[0]))
      #expect(pull.wants.allSatisfy { !site[1].isMetadata($0) || $0.isTable }, "the store has the pages")
      #expect(pull.result.restored_count == missing.missing_asset_count)
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    /// A kept version whose chunks came back with the current one is laid out again, so that the store is whole.
    @Test(arguments: Kind.allCases) func keptVersionsAreRestoredToo(kind: Kind) throws {
      let publisher = Self.disk(), disk = Self.disk(), store = try Store(disk, create: true)
      let source = try Store(publisher, create: true)
      try source.commit { try $0.add("p", "/one") }
      try store.pull(Site(publisher))
      let more = Change.folders["/one"]!.merging(["more": .file(Array(repeating: 7, count: 5_000), executable: false)])
      { $1 }
      publisher.put(more, at: "/more")
      try source.commit { try $0.add("p", "/more") }
      let site = try Site(publisher)
      try store.pull(site)
      for path in Self.segments(disk, kind) { disk.vanish(path) }
      let after = try Store(disk)
      #expect(try after.pull(site) != nil)
      let snapshot = try Store(disk).snapshot()
      #expect(try snapshot.availability(of: "p").missing_bytes == 0)
      guard kind == .data else { return }  // pages of the kept version alone are at no site
      let kept = try snapshot.availability(of: "p", version: 1)
      #expect(kept.missing_bytes == 0 && !kept.lacks_pages)
      #expect(try snapshot.faults(deep: true).isEmpty)
    }

    /// The store has the table of a purgeable segment alone.
    @Test(arguments: [nil, 0, 100]) func aLostTableCountsAsLost(length: Int?) throws {
      let (site, disk, store) = try Self.prepare(.delivery)
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.place("p", PKS_PLACE_PURGEABLE)
      }
      let table = "/store/tables/" + disk.list("/store/tables")[0]
      if let length { disk.cut(table, to: length) } else { disk.vanish(table) }
      let after = try Store(disk), missing = try after.snapshot().availability(of: "p")
      #expect(missing.missing_bytes == missing.total_bytes)
      #expect(try after.pull(site[0]) != nil)
      #expect(try Store(disk).snapshot().readable("p").content == Change.folders["/one"])
      #expect(try Store(disk).snapshot().faults(deep: true).isEmpty)
    }

    @Test func otherPacksAreNotConcerned() throws {
      let (_, disk, store) = try Self.prepare(.add)
      let before = Set(Self.segments(disk, .data))
      try store.commit { try $0.add("q", "/other") }
      disk.vanish(try #require(Self.segments(disk, .data).first { !before.contains($0) }))
      let snapshot = try Store(disk).snapshot()
      #expect(try snapshot.availability(of: "p").missing_bytes == 0 && snapshot.availability(of: "q").missing_bytes > 0)
    }

    /// A file that cannot be examined does not count as lost.
    @Test func aFailingDiskIsNoLoss() throws {
      let (_, disk, _) = try Self.prepare(.add)
      let snapshot = try Store(disk).snapshot()
      sim_fail(disk.raw, SIM_CALL_INFO, "*segments/*", 0, EIO, true)
      #expect(try status { _ = try snapshot.availability(of: "p") } == PKS_IO_ERROR)
    }
  }
}
