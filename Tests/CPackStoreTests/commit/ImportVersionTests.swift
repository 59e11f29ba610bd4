import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Versions of one store as versions of another.
  @Suite struct ImportVersionTests {
    /// A store, and another on the same disk.
    private struct Pair {
      let disk = Disk(seed: 12)
      let source: Store
      let target: Store

      init(targetAverage: UInt32 = 1024, _ folders: [String: Folder] = Change.folders) throws {
        for (path, folder) in folders { disk.put(folder, at: path) }
        source = try Store(disk, create: true)
        target = try Store("/target", vfs: disk.vfs, create: true, average: targetAverage, home: disk)
      }

      @discardableResult
      func add(_ folder: String, keep: UInt32 = 0, map: [String] = []) throws -> pks_pack_version {
        var version = pks_pack_version()
        try source.commit(keep: keep) { version = try $0.add("p", folder, map: map).version }
        return version
      }

      @discardableResult
      func copy(
        version: UInt64 = 0, keep: UInt32 = 0, adjust: (inout pks_copy_request) -> Void = { _ in }
      ) throws -> pks_add_result {
        var result = pks_add_result()
        let snapshot = try source.snapshot()
        try target.commit(keep: keep) { result = try $0.copy("p", from: snapshot, version: version, adjust: adjust) }
        #expect(try target.snapshot().faults(deep: true) == [])
        return result
      }

      var content: Folder? { get throws { try target.state()["p"]?.content } }
      var versions: [UInt64] { get throws { try target.snapshot().versions(of: "p") } }
    }

    private static func catalog(_ version: pks_pack_version) -> [UInt8] {
      withUnsafeBytes(of: version.catalog, Array.init)
    }

    @Test func aVersionIsWhatItWas() throws {
      let pair = try Pair()
      let original = try pair.add("/one")
      let result = try pair.copy()
      #expect(!result.unchanged && result.new_chunk_count > 0 && result.new_stored_bytes > 0)
      #expect(try pair.content == Change.folders["/one"])
      let copy = try pair.target.snapshot().packs[0].current
      #expect(copy.number == original.number && copy.committed_at_ns == original.committed_at_ns)
      #expect(Self.catalog(copy) == Self.catalog(original) && !copy.pinned)
      #expect(copy.file_count == original.file_count && copy.logical_bytes == original.logical_bytes)
    }

    @Test func onlyWhatIsMissingIsCopied() throws {
      let pair = try Pair()
      try pair.add("/one")
      let first = try pair.copy()
      let update = try pair.add("/two")
      let second = try pair.copy()
      #expect(second.version.number == update.number && second.new_chunk_count < first.new_chunk_count / 2)
      #expect(try pair.content == Change.folders["/two"])
      #expect(try pair.versions == [2, 1])
    }

    @Test func whatIsCurrentStaysAsItIs() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.copy()
      let generation = try pair.target.snapshot().generation
      let again = try pair.copy()
      #expect(again.unchanged && again.version.number == 1 && again.new_stored_bytes == 0)
      #expect(try pair.target.snapshot().generation == generation)
      try pair.copy { request in
        request.set_priority = true
        request.priority = -7
      }
      #expect(try pair.target.snapshot().packs[0].priority == -7)
    }

    @Test func anyKeptVersion() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.add("/two")
      try pair.copy(version: 2)
      try pair.copy(version: 1)
      #expect(try pair.versions == [1, 2])
      #expect(try pair.content == Change.folders["/one"])
    }

    /// A version that was withdrawn at its origin: the one before is current again, and the next may come.
    @Test func goingBackDoesNotHold() throws {
      let pair = try Pair()
      for folder in ["/one", "/two"] {
        try pair.add(folder)
        try pair.copy()
      }
      try pair.source.commit { try $0.rollBack("p") }
      let result = try pair.copy()
      #expect(!result.unchanged && result.new_chunk_count == 0 && result.version.number == 1)
      #expect(try pair.content == Change.folders["/one"])
      #expect(try pair.versions == [1, 2] && !pair.target.snapshot().packs[0].held)
      try pair.source.commit { try $0.unpin("p") }
      try pair.add("/small")
      try pair.copy()
      #expect(try pair.versions == [3, 1])
    }

    /// Content that came back is another version than the one that had it first.
    @Test func theSameContentUnderAnotherNumber() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.copy()
      try pair.add("/two")
      try pair.add("/one")
      let result = try pair.copy()
      #expect(!result.unchanged && result.new_chunk_count == 0)
      #expect(try pair.versions == [3, 1])
      #expect(try pair.content == Change.folders["/one"])
    }

    @Test func packsThatWereRemoved() throws {
      let pair = try Pair()
      for folder in ["/one", "/two"] {
        try pair.add(folder)
        try pair.copy()
      }
      try pair.target.commit { try $0.remove("p", keepHistory: true) }
      try pair.copy()
      #expect(try pair.versions == [2, 1])
      #expect(try pair.content == Change.folders["/two"])
      try pair.source.commit { try $0.remove("p", keepHistory: true) }
      #expect(try status { try pair.copy() } == PKS_NOT_FOUND, "it has no current version")
      try pair.copy(version: 1)
      #expect(try pair.content == Change.folders["/one"])
    }

    @Test func whatIsRefused() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.add("/two")
      let snapshot = try pair.source.snapshot(), transaction = try pair.target.begin()
      #expect(try status { try transaction.copy("q", from: snapshot) } == PKS_NOT_FOUND)
      #expect(try status { try transaction.copy("p", from: snapshot, version: 3) } == PKS_NOT_FOUND)
      #expect(try status { try transaction.copy("a/b", from: snapshot) } == PKS_INVALID_ARGUMENT)
      #expect(try status { try transaction.copy("p", from: snapshot) { $0.level = 23 } } == PKS_INVALID_ARGUMENT)
      #expect(try status { try transaction.copy("p", from: snapshot) { $0.frame_size = 1 } } == PKS_INVALID_ARGUMENT)
      #expect(
        try status { try transaction.copy("p", from: snapshot) { $0.progress = { _, _ in false } } } == PKS_CANCELLED)
      transaction.abort()

      try pair.target.commit { try $0.add("p", "/other", version: 2) }
      #expect(try status { try pair.copy() } == PKS_EXISTS)
      try pair.target.commit { try $0.add("p", "/small", version: 3) }
      try pair.target.commit { try $0.rollBack("p") }
      #expect(try status { try pair.copy(version: 1) } == PKS_HELD)
      #expect(try pair.versions == [2, 3])
    }

    @Test func cancelling() throws {
      var random = Random(1)
      let pair = try Pair(["/large": ["a": .file(random.bytes(5 << 20)), "b": .file(random.bytes(100))]])
      try pair.add("/large")
      let snapshot = try pair.source.snapshot(), transaction = try pair.target.begin()
      #expect(
        try status { try transaction.copy("p", from: snapshot) { $0.progress = { _, _ in false } } } == PKS_CANCELLED)
      #expect(try transaction.commit() == 1, "nothing was staged")
    }

    @Test func mapAssetsStayMapAssets() throws {
      let pair = try Pair()
      try pair.add("/one", map: ["large", "tool"])
      try pair.copy()
      #expect(try pair.target.state()["p"]?.mapped == ["large", "tool"])
      try pair.add("/two", map: ["large", "tool"])
      try pair.copy()
      #expect(try pair.target.state()["p"]?.mapped == ["large", "tool"])
      #expect(try pair.content == Change.folders["/two"])
    }

    /// Where assets lie is told, too: the version stays.
    @Test func mapAssetsThatBecameSo() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.copy()
      try pair.add("/one", map: ["large"])
      let result = try pair.copy()
      #expect(result.unchanged && result.relaid_count == 1)
      #expect(try pair.target.state()["p"]?.mapped == ["large"])
      #expect(try pair.versions == [1])
    }

    @Test(arguments: [2048, 16384] as [UInt32]) func storesOfOtherChunks(_ average: UInt32) throws {
      let pair = try Pair(targetAverage: average)
      let original = try pair.add("/one")
      try pair.copy()
      #expect(try Self.catalog(pair.target.snapshot().packs[0].current) == Self.catalog(original))
      #expect(try pair.content == Change.folders["/one"])
    }

    /// What is stored depends on the level, and on nothing else than what is asked for.
    @Test func levelsAndThreads() throws {
      var random = Random(5)
      var folder: Folder = [:]
      for index in 0..<40 { folder["f\(index)"] = .file(random.text(30_000)) }
      var sizes: [UInt64] = []
      for (level, threads) in [(1, 1), (19, 1), (19, 4)] as [(Int32, UInt32)] {
        let home = try TemporaryFolder(), path = try home.put(folder, at: "folder")
        let source = try Store(home.path + "/source", create: true)
        try source.commit { try $0.add("p", path) }
        let target = try Store(home.path + "/target", create: true, threads: threads)
        let snapshot = try source.snapshot()
        try target.commit { sizes.append(try $0.copy("p", from: snapshot) { $0.level = level }.new_stored_bytes) }
        #expect(try target.state()["p"]?.content == folder)
      }
      #expect(sizes[1] < sizes[0] && sizes[1] == sizes[2])
    }

    /// Bytes that are wrong at their origin go no further.
    @Test func damagedSources() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.add("/two")
      for segment in pair.disk.list("/store/segments").map({ "/store/segments/\($0)" }) {
        guard let bytes = pair.disk.read(segment), bytes[12] == 1 else { continue }
        for offset in stride(from: 100, to: bytes.count / 2, by: 500) {
          sim_corrupt(pair.disk.raw, segment, UInt64(offset), 1)
        }
      }
      let source = try Store(pair.disk), snapshot = try source.snapshot()
      let transaction = try pair.target.begin()
      #expect(try status { try transaction.copy("p", from: snapshot, version: 1) } == PKS_CORRUPT)
      try transaction.add("q", "/small")
      _ = try transaction.commit()
      #expect(try pair.target.state()["q"]?.content == Change.folders["/small"])
      #expect(try pair.target.snapshot().faults(deep: true) == [])
    }

    @Test func withinOneStore() throws {
      let pair = try Pair()
      try pair.add("/one")
      try pair.add("/two")
      let snapshot = try pair.source.snapshot()
      try pair.source.commit { try $0.copy("p", from: snapshot, version: 1) }
      #expect(try pair.source.state()["p"]?.content == Change.folders["/one"])
      #expect(try pair.source.snapshot().versions(of: "p") == [1, 2])
    }

    @Test func trimming() throws {
      let pair = try Pair()
      for folder in ["/one", "/two", "/small", "/other"] { try pair.add(folder, keep: 9) }
      try pair.source.commit { try $0.pin("p", 1) }
      try pair.source.commit { try $0.trim("p", 2) }
      #expect(try pair.source.snapshot().versions(of: "p") == [4, 3, 1])
      try pair.source.commit { try $0.unpin("p") }
      let before = pair.disk.list("/store/segments").count
      try pair.source.commit { transaction in
        try transaction.trim("p", 1)
        #expect(try status { try transaction.trim("p", 0) } == PKS_INVALID_ARGUMENT)
        #expect(try status { try transaction.trim("q", 1) } == PKS_NOT_FOUND)
      }
      #expect(try pair.source.snapshot().versions(of: "p") == [4])
      #expect(pair.disk.list("/store/segments").count < before, "what was dropped goes at once")
      #expect(try pair.source.snapshot().faults(deep: true) == [])
      #expect(try pair.source.state()["p"]?.content == Change.folders["/other"])
    }
  }
}
