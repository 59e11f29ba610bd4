import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// What packs cost on disk, beside what lies there, and beside what is left when a pack goes.
  @Suite struct SpaceTests {
    /// The sizes of the files below a folder of the store.
    private static func size(_ disk: Disk, _ folder: String) -> UInt64 {
      disk.list("/store/\(folder)").map { UInt64(disk.read("/store/\(folder)/\($0)")?.count ?? 0) }.reduce(0, +)
    }

    /// The sizes of all files of segments, those in the cache folder too.
    private static func segmentBytes(_ disk: Disk) -> UInt64 {
      size(disk, "segments") + size(disk, "tables")
        + disk.cacheSegments.map { UInt64(disk.read($0)?.count ?? 0) }.reduce(0, +)
    }

    private static func collect(_ store: Store) throws { try store.commit { $0.collect() } }

    /// Each figure beside what the disk says, and the sums that are promised.
    @discardableResult private static func check(
      _ disk: Disk, _ snapshot: Snapshot, _ comment: Comment
    ) throws -> (space: pks_space, packs: [pks_pack_space]) {
      let (space, packs) = try checkFiles(disk, snapshot, comment)
      // The parts of packs, as the simplest of walks finds them.
      let reached = try (0..<packs.count).map { try snapshot.usedChunks(pack: UInt32($0)) }
      for (pack, used) in zip(packs, reached) { #expect(pack.needed_bytes == used.sums.stored_bytes, comment) }
      let missing = packs.map(\.missing_bytes).reduce(0, +)
      #expect(try space.own_bytes + space.shared_bytes + missing == snapshot.usedChunks().sums.stored_bytes, comment)
      let isShared = Set(reached.flatMap(\.chunks)).count < reached.map(\.chunks.count).reduce(0, +)
      #expect(isShared == (space.shared_bytes > 0), comment)
      return (space, packs)
    }

    /// What is said of files is what the disk has, and the parts add up.
    @discardableResult static func checkFiles(
      _ disk: Disk, _ snapshot: Snapshot, _ comment: Comment
    ) throws -> (space: pks_space, packs: [pks_pack_space]) {
      let (space, packs) = try snapshot.space()
      #expect(space.segments.bytes == size(disk, "segments"), comment)
      #expect(space.segments.count == disk.list("/store/segments").count, comment)
      #expect(space.index.bytes == size(disk, "index"), comment)
      #expect(space.tables.bytes == size(disk, "tables"), comment)
      let whole = [space.segments, space.tables, space.index, space.incoming, space.tmp, space.other]
      #expect(whole.map(\.bytes).reduce(0, +) == size(disk, ""), comment)
      #expect(whole.allSatisfy { $0.allocated_bytes >= $0.bytes }, comment)

      let chunks = space.own_bytes + space.shared_bytes + space.dead_bytes
      let all = space.segments.bytes + space.tables.bytes + space.cache.bytes
      #expect(all == segmentBytes(disk), comment)
      #expect(chunks + space.table_bytes + space.unneeded_bytes == all, comment)
      #expect(space.freed_bytes + space.shared_file_bytes + space.unneeded_bytes == all, comment)
      #expect(packs.map(\.own_bytes).reduce(0, +) == space.own_bytes, comment)
      #expect(packs.map(\.freed_bytes).reduce(0, +) == space.freed_bytes, comment)
      #expect(
        packs.allSatisfy { $0.own_bytes + $0.missing_bytes <= $0.needed_bytes && $0.page_bytes <= $0.needed_bytes },
        comment)
      #expect(packs.allSatisfy { $0.current_bytes <= $0.needed_bytes && $0.needed_bytes > 0 }, comment)
      return (space, packs)
    }

    @Test(arguments: testSeeds(1...4)) func histories(seed: UInt64) throws {
      var history = SharingHistory(seed: seed)
      for step in 0..<18 {
        try history.step()
        try Self.check(history.disk, history.store.snapshot(), "seed \(seed), step \(step)")
      }
    }

    /// How a pack is removed, and when the files are gone.
    enum Removal: CaseIterable {
      case atOnce, withoutFollowUp, generationKept, besideReader, pinned, atomic

      var isAtOnce: Bool { [.atOnce, .withoutFollowUp, .pinned].contains(self) }
    }

    /// What is said to go with a pack goes, to the byte, and nothing else does.
    @Test(arguments: testSeeds(11...14), Removal.allCases) func whatGoesWithAPack(seed: UInt64, removal: Removal) throws
    {
      var history = SharingHistory(seed: seed)
      for _ in 0..<16 { try history.step() }
      if removal == .pinned { try history.pinAll() }
      try Self.collect(history.store)
      let snapshot = try history.store.snapshot(), (space, packs) = try snapshot.space()
      #expect(space.unneeded_bytes == 0, "all was collected")
      #expect(packs.contains { $0.freed_bytes > 0 })
      for (pack, name) in zip(packs, (snapshot.packs + snapshot.removedPacks).map { String(cString: $0.name) }) {
        let disk = history.disk.clone(), before = Self.size(disk, "segments")
        let store = try Store(disk)
        try Self.remove(name, removal, store, disk)
        if !removal.isAtOnce { try Self.collect(store) }
        #expect(before - Self.size(disk, "segments") == pack.freed_bytes, "seed \(seed), \(name)")
        #expect(pks_store_freed_bytes(store.raw) == pack.freed_bytes, "seed \(seed), \(name)")
      }
    }

    private static func remove(_ pack: String, _ removal: Removal, _ store: Store, _ disk: Disk) throws {
      let before = size(disk, "segments")
      let reader = removal == .besideReader ? try Store(disk, process: sim_start_process(disk.raw, 2)).snapshot() : nil
      try store.commit(
        removal == .atomic ? PKS_ATOMIC : PKS_DURABLE, keepGeneration: removal == .generationKept,
        gcPercent: removal == .withoutFollowUp ? 0 : nil
      ) { try $0.remove(pack) }
      if removal.isAtOnce { return }
      #expect(size(disk, "segments") == before && pks_store_freed_bytes(store.raw) == 0)
      try withExtendedLifetime(reader) {
        if removal != .besideReader { return }
        try collect(store)
        #expect(size(disk, "segments") == before, "what the reader holds")
      }
    }

    /// What a pull has fetched so far, and what a killed writer left.
    @Test func unfinishedWork() throws {
      let disk = Disk(seed: 3), store = try Store(disk, create: true)
      disk.put(.sample(seed: 1), at: "/p")
      try store.commit { try $0.add("p", "/p") }
      sim_put_folder(disk.raw, "/store/incoming/00000000000000ab")
      disk.write([UInt8](repeating: 1, count: 700), to: "/store/incoming/00000000000000ab/segment-0")
      disk.write([UInt8](repeating: 1, count: 50), to: "/store/incoming/00000000000000ab/journal")
      sim_put_folder(disk.raw, "/store/tmp/00000000000000cd")
      disk.write([UInt8](repeating: 1, count: 30), to: "/store/tmp/00000000000000cd/scratch-0")
      disk.write([UInt8](repeating: 1, count: 9), to: "/store/segments/000102030405060708090a0b0c0d0e0f")
      let (space, _) = try store.snapshot().space()
      #expect(space.incoming.bytes == 750 && space.incoming.count == 2)
      #expect(space.tmp.bytes == 30 && space.unneeded_bytes == 9)
      try Self.check(disk, store.snapshot(), "with unfinished work")
    }

    /// A pack that was removed but keeps its history is not free.
    @Test func removedPacks() throws {
      let disk = Disk(seed: 4), store = try Store(disk, create: true)
      disk.put(.sample(seed: 1), at: "/p")
      try store.commit { try $0.add("p", "/p") }
      let cost = try store.snapshot().space().packs[0]
      try store.commit { try $0.remove("p", keepHistory: true) }
      let (space, packs) = try store.snapshot().space()
      #expect(packs.count == 1 && packs[0].current_bytes == 0 && packs[0].needed_bytes == cost.needed_bytes)
      #expect(packs[0].freed_bytes == cost.freed_bytes && space.own_bytes == cost.needed_bytes)
    }

    // MARK: - Purgeable packs

    /// A purgeable pack takes files in three folders, which go together; what vanished of it is missing, and counts as nothing
    /// else.
    @Test func purgeablePacks() throws {
      let disk = Disk(seed: 9), store = try Store(disk, create: true)
      for (path, folder) in Change.folders { disk.put(folder, at: path) }
      try store.commit {
        try $0.chooseCache("/cache")
        try $0.add("p", "/one") { $0.placement = PKS_PLACE_PURGEABLE }
      }
      try store.commit { try $0.add("q", "/other") }
      try store.commit { try $0.add("p", "/two") }
      let (space, packs) = try Self.check(disk, store.snapshot(), "whole")
      let place = try store.snapshot().packNames.firstIndex(of: "p")!, other = 1 - place
      #expect(packs[place].cache_bytes == space.cache.bytes && packs[place].cache_bytes > 0)
      #expect(packs[place].missing_bytes == 0 && packs[other].cache_bytes == 0)
      do {
        let disk = disk.clone(), store = try Store(disk), before = Self.segmentBytes(disk)
        try store.commit { try $0.remove("p") }
        #expect(before - Self.segmentBytes(disk) == packs[place].freed_bytes && disk.cacheSegments.isEmpty)
        #expect(pks_store_freed_bytes(store.raw) == packs[place].freed_bytes)
      }
      var missing: UInt64 = 0
      let path = disk.cacheSegments.max { disk.read($0)!.count < disk.read($1)!.count }!
      for length in [disk.read(path)!.count / 2, nil] {
        if let length { disk.cut(path, to: length) } else { disk.vanish(path) }
        let left = try Self.check(disk, Store(disk).snapshot(), "cut to \(length ?? 0)").packs
        #expect(left[place].missing_bytes > missing && left[other].missing_bytes == 0)
        #expect(left[place].needed_bytes == packs[place].needed_bytes)
        missing = left[place].missing_bytes
      }
    }

    // MARK: - Kinds of files

    @Test func extensions() throws {
      let disk = Disk(seed: 5), store = try Store(disk, create: true)
      var random = Random(6)
      let first = random.bytes(20_000), second = random.bytes(9_000), long = String(repeating: "x", count: 17)
      disk.put(
        [
          "a/one.TXT": .file(first), "a/two.txt": .file(first), "b.tar.gz": .file(second),
          ".hidden": .file(random.bytes(10)),
          "none": .file(random.bytes(20)), "dot.": .file(random.bytes(30)), "name.\(long)": .file(random.bytes(40)),
          "link.txt": .link("none"), "empty.txt": .file([]), "folder.txt": .folder,
        ], at: "/p")
      disk.put(["a/one.TXT": .file(second)], at: "/q")
      try store.commit { try $0.add("p", "/p") }
      try store.commit { try $0.add("q", "/q") }
      let kinds = try store.snapshot().extensions()
      #expect(kinds.count == 3)
      #expect(kinds["txt"] == .init(files: 4, bytes: 49_000, unique: 29_000))
      #expect(kinds["gz"] == .init(files: 1, bytes: 9_000, unique: 0), "its chunks count for a path before")
      #expect(kinds[""] == .init(files: 4, bytes: 100, unique: 100))
    }

    /// The kinds add up to what all assets hold, however packs share.
    @Test(arguments: testSeeds(21...23)) func extensionsAddUp(seed: UInt64) throws {
      var history = SharingHistory(seed: seed)
      for _ in 0..<14 { try history.step() }
      let snapshot = try history.store.snapshot(), kinds = try snapshot.extensions()
      let files = try snapshot.state().values.flatMap { $0.content.values }.compactMap { node in
        if case .file(let bytes, _) = node { bytes.count } else { nil }
      }
      #expect(kinds.values.map(\.files).reduce(0, +) == files.count, "seed \(seed)")
      #expect(kinds.values.map(\.bytes).reduce(0, +) == files.reduce(0, +), "seed \(seed)")
    }
  }
}

extension Snapshot {
  /// What its packs cost on disk, each pack in the order of `packs + removedPacks`.
  func space() throws -> (all: pks_space, packs: [pks_pack_space]) {
    var space = pks_space()
    var packs = [pks_pack_space](repeating: pks_pack_space(), count: self.packs.count + removedPacks.count)
    try attempt { pks_snapshot_space(&space, &packs, raw, $0) }
    return (space, packs)
  }

  fileprivate struct Kind: Equatable {
    var files, bytes, unique: Int
  }

  fileprivate func extensions() throws -> [String: Kind] {
    final class Kinds { var all: [String: Kind] = [:] }
    let kinds = Kinds()
    try attempt {
      pks_snapshot_extensions(
        raw,
        { context, use in
          let kind = use.pointee
          let name = String(
            decoding: UnsafeRawBufferPointer(start: kind.extension, count: kind.extension_length), as: UTF8.self)
          Unmanaged<Kinds>.fromOpaque(context!).takeUnretainedValue().all[name] = Kind(
            files: Int(kind.file_count), bytes: Int(kind.logical_bytes), unique: Int(kind.unique_bytes))
        }, Unmanaged.passUnretained(kinds).toOpaque(), $0)
    }
    return kinds.all
  }
}
