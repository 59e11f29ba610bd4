import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// What a version says besides its content: kept with it, and moved with it wherever it goes.
  @Suite struct AttributesTests {
    private static let some = Array(#"{"language":"en"}"#.utf8), other = Array(#"{"priority":3}"#.utf8)

    private static func disk() -> Disk {
      let disk = Disk(seed: 5)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      return disk
    }

    private static func attributes(_ store: Store) throws -> [[UInt8]] { try store.snapshot().attributes(of: "p") }

    private static func expectWhole(_ store: Store) throws {
      #expect(try store.snapshot().faults(deep: true).isEmpty)
    }

    @Test func areReadAsTheyWereGiven() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      let large = [UInt8](repeating: 7, count: Int(PKS_ATTRIBUTES_MAX))
      try store.commit { try $0.add("p", "/one", attributes: large) }
      #expect(try Self.attributes(Store(disk)) == [large])
      try Self.expectWhole(store)
      let long = large + [0]
      #expect(try status { try store.commit { try $0.add("p", "/two", attributes: long) } } == PKS_INVALID_ARGUMENT)
      #expect(try status { try store.commit { try $0.setAttributes(long, of: "p") } } == PKS_INVALID_ARGUMENT)
    }

    /// A short buffer gets the beginning, and the length of all.
    @Test func bufferMayBeShort() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", attributes: Self.some) }
      let snapshot = try store.snapshot()
      var bytes: [UInt8] = [0, 0, 0], length = 0
      try attempt { pks_snapshot_attributes(&bytes, 2, &length, snapshot.raw, 0, 0, $0) }
      #expect(length == Self.some.count && bytes == Array(Self.some.prefix(2)) + [0])
    }

    /// An update that says nothing of attributes keeps them; other attributes make another version.
    @Test func arePartOfWhatAVersionIs() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", attributes: Self.some) }
      var result = pks_add_result()
      try store.commit { result = try $0.add("p", "/one") }
      #expect(result.unchanged)
      try store.commit { result = try $0.add("p", "/one", attributes: Self.other) }
      #expect(!result.unchanged && result.version.number == 2 && result.new_chunk_count == 0)
      try store.commit { result = try $0.add("p", "/two") }
      #expect(try Self.attributes(store) == [Self.other, Self.other])
      try store.commit { result = try $0.add("p", "/two", attributes: []) }
      #expect(result.version.number == 4)
      #expect(try Self.attributes(store) == [[], Self.other])
      try Self.expectWhole(store)
    }

    /// What is staged is read before anything of it is committed.
    @Test func areReadOfATransaction() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { transaction in
        try transaction.add("p", "/one", attributes: Self.some)
        #expect(try transaction.attributes(of: "p") == Self.some)
      }
      try store.commit { transaction in
        #expect(try transaction.attributes(of: "p") == Self.some)
        try transaction.setAttributes(Self.other, of: "p")
        #expect(try transaction.attributes(of: "p") == Self.other)
        try transaction.add("p", "/two", attributes: [])
        #expect(try transaction.attributes(of: "p") == [])
      }
    }

    @Test func changeCostsNoContent() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", map: ["large"]) }
      let frames = disk.bytesOfFrames, before = try store.snapshot().packs[0].current
      var result = pks_add_result()
      try store.commit { result = try $0.setAttributes(Self.some, of: "p") }
      #expect(!result.unchanged && result.new_chunk_count == 0 && result.mapped_new_bytes == 0)
      let now = try store.snapshot().packs[0].current
      #expect(now.number == 2 && disk.bytesOfFrames == frames)
      #expect(withUnsafeBytes(of: now.catalog) { Array($0) } == withUnsafeBytes(of: before.catalog) { Array($0) })
      #expect(try Self.attributes(store) == [Self.some, []])
      try store.commit { result = try $0.setAttributes(Self.some, of: "p") }
      #expect(result.unchanged)
      #expect(try store.state()["p"]?.content == Change.folders["/one"])
      try Self.expectWhole(store)
    }

    /// Patterns lay files out afresh, which costs their size and nothing else; what lies so stays so.
    @Test func patternsMakeMapAssets() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", map: ["large"]) }
      let frames = disk.bytesOfFrames
      var result = pks_add_result()
      try store.commit { result = try $0.setAttributes(Self.some, of: "p", map: ["large", "a/text"]) }
      guard case .file(let text, _)? = Change.folders["/one"]?["a/text"] else { return }
      let size = UInt64(text.count)
      #expect(result.relaid_count == 1 && result.mapped_new_bytes == size && result.version.number == 2)
      #expect(disk.bytesOfFrames - frames < Int(size) + 12_288, "the file, aligned, and a table")
      #expect(try store.state()["p"]?.content == Change.folders["/one"])
      #expect(
        try status { try store.commit { try $0.setAttributes(Self.some, of: "p", map: ["["]) } } == PKS_INVALID_ARGUMENT
      )
      try Self.expectWhole(store)
      // Where files lie is no part of what a version is.
      try store.commit { result = try $0.setAttributes(Self.some, of: "p", map: ["tool"]) }
      #expect(result.unchanged && result.relaid_count == 1 && result.version.number == 2)
      try store.commit { result = try $0.setAttributes(Self.other, of: "p") }
      #expect(result.relaid_count == 0 && result.mapped_count == 3)
      try Self.expectWhole(store)
    }

    @Test func refusals() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      for folder in ["/one", "/two"] { try store.commit { try $0.add("p", folder) } }
      func failure(_ version: UInt64 = 0, of pack: String = "p") throws -> pks_status {
        try status { try store.commit { try $0.setAttributes(Self.some, of: pack, version: version) } }
      }
      #expect(try failure(of: "q") == PKS_NOT_FOUND)
      #expect(try failure(of: "-") == PKS_INVALID_ARGUMENT)
      #expect(try failure(1) == PKS_EXISTS)
      #expect(try failure(2) == PKS_EXISTS, "the number of the current version is that of other attributes")
      try store.commit { try $0.rollBack("p") }
      #expect(try failure() == PKS_HELD)
    }

    /// Back and forth, each version has its own.
    @Test func followARollback() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", attributes: Self.some) }
      try store.commit(keep: 3) { try $0.setAttributes(Self.other, of: "p") }
      try store.commit(keep: 3) { try $0.add("p", "/two", attributes: []) }
      try store.commit { try $0.rollBack("p", to: 1) }
      #expect(try Self.attributes(store) == [Self.some, [], Self.other])
      try store.commit { try $0.remove("p", keepHistory: true) }
      try store.commit { try $0.rollBack("p", to: 2) }
      #expect(try Self.attributes(store)[0] == Self.other)
      try Self.expectWhole(store)
    }

    /// What only a dropped version needed goes; what a kept one needs stays, though it lies in an older segment.
    @Test func surviveCollection() throws {
      let disk = Self.disk(), store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", attributes: Self.some) }
      for folder in ["/two", "/one", "/two", "/small"] { try store.commit(keep: 1) { try $0.add("p", folder) } }
      for _ in 0..<2 { try store.commit { pks_txn_collect($0.raw) } }
      #expect(try Self.attributes(store) == [Self.some])
      try Self.expectWhole(store)
    }

    @Test func areCopiedToAnotherStore() throws {
      let disk = Self.disk(), origin = try Store("/origin", vfs: disk.vfs, create: true, home: disk)
      try origin.commit { try $0.add("p", "/one", attributes: Self.some) }
      try origin.commit { try $0.setAttributes(Self.other, of: "p") }
      let store = try Store(disk, create: true), source = try origin.snapshot()
      for version: UInt64 in [1, 2] { try store.commit { try $0.copy("p", from: source, version: version) } }
      #expect(try Self.attributes(store) == [Self.other, Self.some])
      var result = pks_add_result()
      try store.commit { result = try $0.copy("p", from: source) }
      #expect(result.unchanged)
      try Self.expectWhole(store)
    }

    /// A number is that of one content and of one set of attributes.
    @Test func sameNumberOfOtherAttributesIsRefused() throws {
      let disk = Self.disk(), origin = try Store("/origin", vfs: disk.vfs, create: true, home: disk)
      try origin.commit { try $0.add("p", "/one", attributes: Self.some) }
      let store = try Store(disk, create: true), source = try origin.snapshot()
      try store.commit { try $0.add("p", "/one", attributes: Self.other) }
      #expect(try status { try store.commit { try $0.copy("p", from: source) } } == PKS_EXISTS)
      #expect(try Self.attributes(store) == [Self.other])
    }

    @Test(arguments: [false, true]) func comeFromASite(byDelta: Bool) throws {
      let disk = Self.disk(), origin = try Store(disk, create: true)
      try origin.commit { try $0.add("p", "/one", attributes: Self.some) }
      try origin.commit { try $0.add("p", "/two", attributes: Self.other) }
      let sites = try [1, 2].map { try Site(disk, version: $0) }
      let delta = try origin.snapshot().delta(of: "p", from: 1, to: 2)
      let device = Disk(seed: 6), store = try Store(device, create: true)
      try store.pull(sites[0])
      try store.pull(sites[1], by: byDelta ? [delta] : [])
      #expect(try Self.attributes(store) == [Self.other, Self.some])
      #expect(try store.pull(sites[1]) == nil, "it is there")
      try Self.expectWhole(store)
    }

    /// A version of which only the attributes are new takes a few pages.
    @Test func comeAlone() throws {
      let disk = Self.disk(), origin = try Store(disk, create: true)
      try origin.commit { try $0.add("p", "/one") }
      try origin.commit { try $0.setAttributes(Self.some, of: "p") }
      let device = Disk(seed: 6), store = try Store(device, create: true)
      try store.pull(Site(disk, version: 1))
      let pull = try #require(try store.pull(Site(disk, version: 2)))
      #expect(pull.totals.bytes_total == 0)
      #expect(try Self.attributes(store) == [Self.some, []])
      try Self.expectWhole(store)
    }

    /// Attributes that the layout does not name, or that no segment has, are not taken.
    @Test func ofAnotherVersionAreRefused() throws {
      let disk = Self.disk(), origin = try Store(disk, create: true)
      try origin.commit { try $0.add("p", "/one", attributes: Self.some) }
      try origin.commit { try $0.setAttributes(Self.other, of: "p") }
      let first = try Site(disk, version: 1), second = try Site(disk, version: 2)
      for attributes in [first.version.attributes, pks_pack_version().attributes, second.version.catalog] {
        second.version.attributes = attributes
        let store = try Store(Disk(seed: 6), create: true)
        #expect(try status { _ = try store.pull(second) } == PKS_CORRUPT)
        #expect(try store.snapshot().packs.isEmpty)
      }
    }

    @Test func areAppliedWithADelta() throws {
      let disk = Self.disk(), origin = try Store(disk, create: true)
      try origin.commit { try $0.add("p", "/one") }
      let store = try Store("/copy", vfs: disk.vfs, create: true, home: disk), source = try origin.snapshot()
      try store.commit { try $0.copy("p", from: source) }
      try origin.commit { try $0.add("p", "/two", attributes: Self.some) }
      let delta = try origin.snapshot().delta(of: "p", from: 1, to: 2)
      try store.commit { try $0.apply(delta.bytes) }
      #expect(try Self.attributes(store) == [Self.some, []])
      let info = try inspect(delta.bytes), version = try store.snapshot().packs[0].current
      #expect(
        withUnsafeBytes(of: info.to_attributes) { Array($0) } == withUnsafeBytes(of: version.attributes) { Array($0) })
      try Self.expectWhole(store)
    }

    /// The segments say all of it again.
    @Test func areRestoredWithoutAnIndex() throws {
      let disk = Self.disk()
      var store: Store? = try Store(disk, create: true)
      try store!.commit { try $0.add("p", "/one", attributes: Self.some) }
      try store!.commit { try $0.setAttributes(Self.other, of: "p") }
      store = nil
      for file in disk.list("/store/index") { sim_remove(disk.raw, "/store/index/\(file)") }
      #expect(try disk.repair().lost.isEmpty)
      #expect(try Self.attributes(Store(disk)) == [Self.other, Self.some])
      try Self.expectWhole(Store(disk))
    }
  }
}
