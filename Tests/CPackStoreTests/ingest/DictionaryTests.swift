import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Frames of small assets, alone and with dictionaries: what stores make of them, and what becomes of them when they move, rot
  /// or vanish.
  @Suite struct DictionaryTests {
    /// Small texts, of which all have much in common; and what has nothing to do with them.
    private static func texts(_ count: Int, seed: UInt64 = 5, length: Int = 900) -> Folder {
      var random = Random(seed), folder: Folder = [:]
      let words = SampleDictionary.text.bytes
      for index in 0..<count {
        var bytes: [UInt8] = []
        while bytes.count < length {
          let begin = random.below(words.count - 60)
          bytes += words[begin..<begin + 20 + random.below(40)] + random.text(random.below(12))
        }
        folder["text/\(1000 + index).txt"] = .file(bytes)
      }
      folder["large"] = .file(random.text(200_000))
      folder["noise.bin"] = .file(random.bytes(9_000))
      return folder
    }

    private static func store(_ folder: Folder, dictionary: SampleDictionary? = .text) throws -> (Disk, Store) {
      let disk = Disk(seed: 3)
      disk.put(folder, at: "/one")
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one", dictionary: dictionary) }
      return (disk, store)
    }

    /// Segments by name, with their dictionaries' ids, the number of frames that need one, and that of other compressed frames.
    private struct Survey: Equatable {
      var dictionaries: [String: Set<[UInt8]>] = [:]
      var frames = 0, plainFrames = 0

      init(_ store: Store, pack: UInt32 = 0) throws {
        let snapshot = try store.snapshot(), version = snapshot.packs[Int(pack)].current.number
        for segment in try snapshot.segments(of: pack, version: version) where !segment.isMetadata {
          let bytes = try snapshot.frameTable(of: segment.id)
          var table = pks__frame_table()
          try bytes.withUnsafeBytes { bytes in
            try attempt { pks__frame_table_read(bytes.baseAddress, bytes.count, "table", &table, $0) }
            dictionaries[hex(segment.id)] = Set(
              (0..<table.dictionary_count).map { pks__frame_table_dictionary(&table, $0).id.array })
            let codecs = (0..<table.frame_count).map { pks__frame_table_at(&table, $0).codec }
            frames += codecs.count { pks__codec_has_dictionary($0) }
            plainFrames += codecs.count { $0 == PKS__CODEC_ZSTD.rawValue }
          }
        }
      }

      var ids: Set<[UInt8]> { dictionaries.values.reduce(into: []) { $0.formUnion($1) } }
    }

    /// Where dictionary 0 lies in a segment's file.
    private static func place(_ store: Store, _ segment: [UInt8]) throws -> pks__tabled_dictionary {
      let bytes = try store.snapshot().frameTable(of: segment)
      var table = pks__frame_table()
      return try bytes.withUnsafeBytes { bytes in
        try attempt { pks__frame_table_read(bytes.baseAddress, bytes.count, "table", &table, $0) }
        return pks__frame_table_dictionary(&table, 0)
      }
    }

    // MARK: Adding

    /// Each small asset that is not tiny has a frame of its own; those that are share one; large and random ones have none.
    @Test func smallAssetsAreEncodedAlone() throws {
      var folder = Self.texts(20, length: 5_000)
      for index in 0..<10 { folder["tiny/\(index)"] = .file("tiny \(index) tiny \(index) tiny") }
      let (_, store) = try Self.store(folder), survey = try Survey(store)
      #expect(survey.ids == [SampleDictionary.text.id])
      #expect(survey.frames >= 20 && survey.frames <= 22, "\(survey.frames)")
      #expect(try store.state()["p"]?.content == folder)
      #expect(try store.snapshot().faults(deep: true) == [])
      #expect(try store.snapshot().faults(deep: false) == [])
    }

    @Test func whatIsNoDictionaryIsRefused() throws {
      let broken = SampleDictionary([0x37, 0xa4, 0x30, 0xec] + [UInt8](repeating: 0xff, count: 60))
      let long = SampleDictionary([UInt8](repeating: 7, count: 131_073)), short = SampleDictionary([1, 2, 3])
      for dictionary in [broken, long, short] {
        #expect(try status { _ = try Self.store(Self.texts(3), dictionary: dictionary) } == PKS_INVALID_ARGUMENT)
      }
      let longest = SampleDictionary([UInt8](repeating: 7, count: 131_072))
      let (_, store) = try Self.store(Self.texts(3), dictionary: longest)
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    /// What is known already keeps the frame, and the dictionary, that it has.
    @Test func versionsKeepWhatTheyHave() throws {
      let first = Self.texts(40), second = first.merging(Self.texts(10, seed: 9).mapKeys { "more/" + $0 }) { $1 }
      let (disk, store) = try Self.store(first)
      disk.put(second, at: "/two")
      try store.commit { try $0.add("p", "/two", dictionary: .other) }
      #expect(try Survey(store).ids == [SampleDictionary.text.id, SampleDictionary.other.id])
      #expect(try store.state()["p"]?.content == second)
      try store.commit { try $0.rollBack("p") }
      #expect(try store.state()["p"]?.content == first)
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    // MARK: Training

    /// Many texts of two kinds, and noise that no dictionary helps with.
    private static func kinds() -> Folder {
      var folder: Folder = [:], random = Random(12)
      let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
      let names = (0..<400).map { _ in
        String(decoding: (0..<6 + random.below(8)).map { _ in random.pick(letters) }, as: UTF8.self)
      }
      func record(_ index: Int) -> String {
        var text = "{\n  \"version\": 3,\n  \"identifier\": \"asset-\(index)\",\n  \"components\": [\n"
        for _ in 0..<(30 + random.below(60)) {
          text +=
            "    { \"component\": \"\(random.pick(names))\", \"enabled\": true, \"priority\": \(random.below(9)) },\n"
        }
        return text + "  ]\n}\n"
      }
      for index in 0..<700 { folder["records/\(index).json"] = .file(record(index)) }
      for index in 0..<700 {
        let lines = (0..<100).map { _ in "local \(random.pick(names)) = require(\"engine.\(random.pick(names))\")\n" }
        folder["scripts/\(index).LUA"] = .file(lines.joined())
      }
      for index in 0..<400 { folder["noise/\(index).dat"] = .file(random.bytes(8_000)) }
      return folder
    }

    /// One for each kind for which it pays, the same ones on any number of threads, and no more bytes than without.
    @Test func trainsWhereItPays() throws {
      let folder = Self.kinds(), home = try TemporaryFolder()
      let source = try home.put(folder, at: "source")
      var results: [(survey: Survey, stored: UInt64)] = []
      for (number, (threads, shared)) in ([(1, 0), (3, 0), (1, 32 * 1024)] as [(UInt32, UInt32)]).enumerated() {
        let store = try Store("\(home.path)/store\(number)", create: true, threads: threads)
        var stored: UInt64 = 0
        try store.commit { stored = try $0.add("p", source) { $0.shared_frame_size = shared }.new_stored_bytes }
        #expect(try store.state()["p"]?.content == folder)
        #expect(try store.snapshot().faults(deep: true) == [])
        results.append((try Survey(store), stored))
      }
      #expect(results[0].survey.ids.count == 2 && results[0].survey.frames > 1_000, "\(results[0].survey)")
      #expect(results[2].survey.ids.isEmpty && results[2].survey.frames == 0)
      #expect(results[0].survey == results[1].survey, "the same segments, by name")
      #expect(results[0].stored <= results[2].stored + results[2].stored / 100)
    }

    /// What a store makes of a folder, and what it takes; of small assets, 0: as it chooses.
    private static func added(_ folder: Folder, sharing size: UInt32) throws -> (survey: Survey, stored: UInt64) {
      let disk = Disk(seed: 3)
      disk.put(folder, at: "/one")
      let store = try Store(disk, create: true)
      var stored: UInt64 = 0
      try store.commit { stored = try $0.add("p", "/one") { $0.shared_frame_size = size }.new_stored_bytes }
      #expect(try store.state()["p"]?.content == folder)
      #expect(try store.snapshot().faults(deep: true) == [])
      return (try Survey(store), stored)
    }

    /// Files of a few byte values each, which are other values in each of them: no dictionary has anything for them.
    @Test func whatHasNothingInCommonStaysAlone() throws {
      var folder: Folder = [:], random = Random(31)
      for index in 0..<400 {
        let values = random.bytes(24)
        folder["meshes/\(index).mesh"] = .file((0..<6_000 + random.below(12_000)).map { _ in random.pick(values) })
      }
      let alone = try Self.added(folder, sharing: 0), shared = try Self.added(folder, sharing: 32 * 1024)
      #expect(alone.survey.ids.isEmpty && alone.survey.plainFrames == folder.count, "\(alone.survey)")
      #expect(shared.survey.plainFrames < folder.count / 2, "\(shared.survey)")
      #expect(alone.stored <= shared.stored + shared.stored / 100)
    }

    /// Files that cost little alone, with a text after each that is much like the next one's: they would end the frames that those
    /// share.
    @Test func whatEndsTheFramesOfOthersSharesThem() throws {
      var random = Random(32), folder: Folder = [:]
      let values = Array(UInt8(0)..<128), form = random.text(1_500)
      for index in 1_000..<1_300 {
        folder["models/\(index).mesh"] = .file((0..<12_000).map { _ in random.pick(values) })
      }
      #expect(try Self.added(folder, sharing: 0).survey.plainFrames == folder.count)
      for index in 1_000..<1_300 {
        folder["models/\(index).mesh.meta"] = .file(form + Array(hex(random.bytes(16)).utf8))
      }
      let chosen = try Self.added(folder, sharing: 0), shared = try Self.added(folder, sharing: 32 * 1024)
      #expect(chosen.survey == shared.survey, "\(chosen.stored) and \(shared.stored) bytes")
    }

    /// An update of which little is new trains nothing; a copy to another store does, as an add there would.
    @Test func trainsForWhatIsNew() throws {
      var folder = Self.kinds()
      let disk = Disk(seed: 3)
      disk.put(folder, at: "/one")
      let store = try Store(disk, create: true)
      try store.commit { try $0.add("p", "/one") }
      let before = try Survey(store)
      folder["records/1.json"] = .file("{ \"version\": 4 }")
      disk.put(folder, at: "/two")
      try store.commit { try $0.add("p", "/two") }
      let after = try Survey(store)
      #expect(after.ids == before.ids)
      let other = Disk(seed: 4), copy = try Store(other, create: true)
      try copy.commit { try $0.copy("p", from: try store.snapshot()) }
      let copied = try Survey(copy)
      #expect(copied.ids.count == 2 && copied.frames > 1_000, "\(copied)")
      #expect(try copy.state()["p"]?.content == folder)
    }

    // MARK: Moving

    /// Emptying segments takes the dictionary along with frames that are copied as they are.
    @Test func collectionKeepsThem() throws {
      let first = Self.texts(60)
      var second = first
      for index in 0..<45 { second["text/\(1000 + index).txt"] = nil }
      second["large"] = .file("small now")
      let (disk, store) = try Self.store(first)
      disk.put(second, at: "/two")
      try store.commit(keep: 1) { try $0.add("p", "/two", dictionary: .other) }
      let before = try Survey(store)
      try store.collect()
      let after = try Survey(store)
      #expect(before.dictionaries.keys.count { after.dictionaries[$0] == nil } == 1, "the first segment was emptied")
      #expect(after.ids.contains(SampleDictionary.text.id) && after.frames > 0)
      #expect(try store.state()["p"]?.content == second)
      #expect(try store.snapshot().faults(deep: true) == [])
    }

    // MARK: Damage

    /// A dictionary that rotted is told with the assets that need it; a repair heals it from another segment's copy.
    @Test func aLostCopyIsHealedFromAnother() throws {
      let first = Self.texts(40), second = first.merging(Self.texts(40, seed: 9).mapKeys { "more/" + $0 }) { $1 }
      let (disk, store) = try Self.store(first)
      let segment = try Survey(store).dictionaries.keys.first!
      disk.put(second, at: "/two")
      try store.commit { try $0.add("p", "/two", dictionary: .text) }
      let id = try store.snapshot().segments(of: 0, version: 1).first { !$0.isMetadata }!.id
      let place = try Self.place(store, id)
      _ = sim_corrupt(disk.raw, "/store/segments/\(segment)", place.offset + 5, 0x40)
      for deep in [false, true] {
        let faults = try Store(disk).snapshot().faults(deep: deep)
        #expect(faults.contains { $0.contains("text/1000.txt") }, "\(faults)")
        #expect(!faults.contains { $0.contains("more/") || $0.contains("large") }, "\(faults)")
      }
      let report = try disk.repair()
      #expect(report.lost.isEmpty, "\(report.lost)")
      #expect(try Store(disk).state()["p"]?.content == second)
      #expect(try Store(disk).snapshot().faults(deep: true) == [])
    }

    /// The only copy: what needs it is lost, and nothing else.
    @Test func theOnlyCopyIsLost() throws {
      let folder = Self.texts(10), (disk, store) = try Self.store(folder)
      let id = try store.snapshot().segments(of: 0, version: 1).first { !$0.isMetadata }!.id
      let place = try Self.place(store, id)
      _ = sim_corrupt(disk.raw, "/store/segments/\(hex(id))", place.offset, 0xff)
      let fresh = try Store(disk).snapshot()
      #expect(try status { _ = try fresh.find("text/1003.txt", in: 0).node } == PKS_CORRUPT)
      #expect(try fresh.find("large", in: 0).node == folder["large"])
      let report = try disk.repair()
      #expect(Set(report.lost.compactMap(\.asset)) == Set(folder.keys.filter { $0.hasPrefix("text/") }))
      #expect(try Store(disk).snapshot().faults(deep: true) == [])
    }

    // MARK: Vanishing

    /// Of a purgeable pack, assets whose dictionary is gone are purged, are told so, and come back.
    @Test func aDictionaryInTheCacheVanishes() throws {
      let folder = Self.texts(30), disk = Disk(seed: 3)
      disk.put(folder, at: "/one")
      let store = try Store(disk, create: true)
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/one", dictionary: .text) { $0.placement = PKS_PLACE_PURGEABLE }
      }
      let published = try DeliveryTests.published([folder], dictionary: .text)
      let id = try store.snapshot().segments(of: 0, version: 1).first { !$0.isMetadata }!.id
      let place = try Self.place(store, id)
      _ = sim_corrupt(disk.raw, disk.cacheSegments[0], place.offset + 3, 1)
      let fresh = try Store(disk)
      let snapshot = try fresh.snapshot(), (content, purged) = try snapshot.readable("p")
      #expect(purged == Set(folder.keys.filter { $0.hasPrefix("text/") }))
      #expect(content["large"] == folder["large"])
      #expect(try snapshot.availability(of: "p").missing_bytes > 0)
      _ = published
    }

    // MARK: Delivery

    /// A dictionary comes before the frames that need it, once; an update takes it from the store.
    @Test func deliveriesBringThem() throws {
      let first = Self.texts(60), second = first.merging(Self.texts(60, seed: 9).mapKeys { "more/" + $0 }) { $1 }
      let published = try DeliveryTests.published([first, second], dictionary: .text), disk = try DeliveryTests.empty()
      let install = try Site(published, version: 1), update = try Site(published)
      let first_pull = try #require(try Store(disk).pull(install))
      try DeliveryTests.check(disk, first, version: 1)
      #expect(try Survey(Store(disk)).ids == [SampleDictionary.text.id])
      let second_pull = try #require(try Store(disk).pull(update))
      try DeliveryTests.check(disk, second, version: 2)
      for (pull, site) in [(first_pull, install), (second_pull, update)] {
        #expect(pull.totals.bytes_done == pull.totals.bytes_total)
        #expect(pull.wants.filter { !site.isMetadata($0) }.reduce(0) { $0 + $1.length } == pull.totals.bytes_total)
      }
      func dictionaryWants(_ pull: Store.Pull, _ site: Site) throws -> Int {
        let places = try zip(site.segments, site.tables).map { segment, bytes -> Set<Int> in
          var table = pks__frame_table()
          return try bytes.withUnsafeBytes { bytes in
            try attempt { pks__frame_table_read(bytes.baseAddress, bytes.count, "table", &table, $0) }
            return Set((0..<table.dictionary_count).map { Int(pks__frame_table_dictionary(&table, $0).offset) })
          }
        }
        return pull.wants.count { !$0.isTable && places[$0.segment].contains($0.offset) }
      }
      #expect(try dictionaryWants(first_pull, install) == 1)
      #expect(try dictionaryWants(second_pull, update) == 0)
    }

    /// A site that serves other bytes under the name of a dictionary is found out, also where the store has loaded the true one.
    @Test func aForgedCopyIsRefused() throws {
      let published = try DeliveryTests.published([Self.texts(60)], dictionary: .text), site = try Site(published)
      let (_, store) = try Self.store(Self.texts(20, seed: 4))
      #expect(try store.state()["p"] != nil, "all is read, and the dictionary loaded")
      let index = site.segments.firstIndex { !$0.isMetadata }!
      let place = try Self.place(Store(published), site.segments[index].id)
      let begin = Int(place.offset), length = Int(place.stored_length)
      let forged = [UInt8](repeating: 0x55, count: length)
      site.pack = "other"
      site.files[index].replaceSubrange(begin..<begin + length, with: forged)
      // The only dictionary's row ends the table; the SHA-256 of the stored bytes lies before that of the raw ones.
      let end = site.tables[index].count
      site.tables[index].replaceSubrange(end - 64..<end - 32, with: pks__id(of: forged).array)
      #expect(try status { _ = try store.pull(site) } == PKS_CORRUPT)
      #expect(try store.snapshot().packNames == ["p"])
    }

    /// Frames that are few beside the dictionary are taken apart: no segment gets a copy for their sake.
    @Test func fewFramesDoWithoutIt() throws {
      var folder = Self.texts(80), changed = folder
      folder["text/1000.txt"] = nil
      changed["text/1000.txt"] = .file("another text, of which no part is known elsewhere; it is short")
      let published = try DeliveryTests.published([folder, changed], dictionary: .text)
      let disk = try DeliveryTests.empty()
      try Store(disk).pull(Site(published, version: 1))
      let before = try Survey(Store(disk))
      try Store(disk).pull(Site(published))
      try DeliveryTests.check(disk, changed, version: 2)
      #expect(try Survey(Store(disk)).dictionaries.values.count { !$0.isEmpty } == before.dictionaries.count)
    }
  }
}

extension Dictionary where Key == String {
  fileprivate func mapKeys(_ transform: (String) -> String) -> [String: Value] {
    [String: Value](uniqueKeysWithValues: map { (transform($0.key), $0.value) })
  }
}
