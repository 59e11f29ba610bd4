import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Which chunks versions need, beside the simplest of walks over the same store.
  @Suite struct ChunkUseTests {
    /// Where what the core says of some versions is not what is reached.
    private static func difference(_ snapshot: Snapshot, pack: UInt32 = .max, version: UInt32 = .max) throws -> String?
    {
      let (used, sums) = try snapshot.usedChunks(pack: pack, version: version)
      let reached = try snapshot.reachedChunks(pack: pack, version: version)
      let data = Set(used.filter { !$0.isPage }), reachedData = reached.filter { !$0.isPage }
      if data != reachedData {
        return
          "\(reachedData.subtracting(data).count) chunks are missing, \(data.subtracting(reachedData).count) are too many"
      }
      let pages = used.filter(\.isPage)
      if !Set(pages).isSubset(of: reached) || Set(pages.map(\.id)) != Set(reached.filter(\.isPage).map(\.id)) {
        return "the pages are others"
      }
      if sums.chunk_count != used.count || Set(used).count != used.count { return "the number of chunks is wrong" }
      if sums.raw_bytes != sums.frame_raw_bytes { return "the sums of raw bytes differ" }
      if sums.stored_bytes > sums.needed_stored_bytes { return "chunks take more than their frames" }
      return sums.segments_not_live == 0 ? nil : "chunks of segments that are not live"
    }

    /// Random histories: chunks that packs share, map assets, copies that writers made side by side, kept and pinned versions,
    /// rollbacks, and removed packs with their history.
    @Test(arguments: testSeeds(1...6)) func histories(seed: UInt64) throws {
      var history = SharingHistory(seed: seed)
      for step in 0..<24 {
        try history.step()
        let snapshot = try history.store.snapshot()
        #expect(try Self.difference(snapshot) == nil, "seed \(seed), step \(step)")
        guard step % 6 == 5 else { continue }
        for (pack, state) in (snapshot.packs + snapshot.removedPacks).enumerated() {
          for version in 0..<state.version_count {
            let found = try Self.difference(snapshot, pack: UInt32(pack), version: version)
            #expect(found == nil, "seed \(seed), step \(step), pack \(pack), version \(version)")
          }
        }
      }
    }

    /// An asset that did not change keeps its record, while the layout of the new version says where the chunks were found
    /// this time: in the copy of a writer that worked beside the first. Both copies are needed, though the segment with the
    /// first has other chunks that extents lead to.
    @Test func recordsLeadToOtherCopies() throws {
      let disk = Disk(seed: 3), store = try Store(disk, create: true)
      var random = Random(5)
      let shared = random.bytes(30_000), own = random.bytes(20_000)
      disk.put(["a": .file(shared), "b": .file(own)], at: "/p")
      disk.put(["a": .file(shared)], at: "/q")
      let first = try store.begin(), second = try store.begin()
      try first.add("p", "/p")
      try second.add("q", "/q")
      _ = try first.commit()
      _ = try second.commit()
      disk.put(["a": .file(shared), "b": .file(own), "c": .file("new")], at: "/p")
      try store.commit { try $0.add("p", "/p") }
      let snapshot = try store.snapshot()
      let pack = try #require(snapshot.packNames.firstIndex(of: "p")).magnitude
      let layout = try snapshot.reachedChunks(pack: UInt32(pack), version: 0, records: false)
      let all = try snapshot.reachedChunks(pack: UInt32(pack), version: 0)
      let records = all.subtracting(layout)
      #expect(records.count > 10, "the two copies are both there")
      #expect(
        !Set(records.map(\.segment)).isDisjoint(with: layout.map(\.segment)), "extents lead to their segment as well")
      #expect(try Self.difference(snapshot, pack: UInt32(pack), version: 0) == nil)
    }

    /// Damage of every frame that is not needed hurts no asset of any version, and damage of any other does.
    @Test func damageOfNeededFramesHurts() throws {
      var history = SharingHistory(seed: 77)
      var needed = 0, frames = history.disk.dataFrames
      for step in 0..<60 where step < 16 || needed == frames.count {  // until some frames are not needed
        try history.step()
        let (chunks, sums) = try history.store.snapshot().usedChunks()
        needed = Int(sums.needed_frame_count) - chunks.count(where: \.isPage)  // each page has a frame of its own
        frames = history.disk.dataFrames
      }
      var hurt = 0
      for frame in frames {
        let disk = history.disk.clone()
        sim_corrupt(disk.raw, frame.path, frame.offset, 1)
        let faults = try Store(disk).snapshot().verify(deep: false).faults
        hurt += faults.contains { $0.pack != nil } ? 1 : 0
      }
      #expect(hurt < frames.count, "frames are left that no version needs")
      #expect(hurt == needed)
    }

    /// Segments beside those that are asked for are not opened, and say nothing.
    @Test func onlySomeSegments() throws {
      var history = SharingHistory(seed: 8)
      for _ in 0..<12 { try history.step() }
      let snapshot = try history.store.snapshot(), all = try snapshot.usedChunks().chunks
      for segment in Set(all.filter { !$0.isPage }.map(\.segment)) {
        let some = try snapshot.usedChunks(only: segment).chunks
        #expect(Set(some) == Set(all.filter { $0.isPage || $0.segment == segment }))
      }
    }

    /// What is added once more changes nothing.
    @Test func again() throws {
      var history = SharingHistory(seed: 9)
      for _ in 0..<12 { try history.step() }
      let snapshot = try history.store.snapshot()
      let once = try snapshot.usedChunks(), twice = try snapshot.usedChunks(rounds: 2)
      #expect(once.chunks == twice.chunks && once.sums.stored_bytes == twice.sums.stored_bytes)
      #expect(once.sums.chunk_count > 50)
    }

    /// Many chunks and extents of one asset: lists have pages of their own.
    @Test func lists() throws {
      let disk = Disk(seed: 10), store = try Store(disk, create: true)
      var random = Random(11)
      let chunks = (0..<150).map { _ in random.bytes(3_000) }
      disk.put(["straight": .file(Array(chunks.joined()))], at: "/p")
      disk.put(["shuffled": .file(Array(chunks.shuffled(using: &random).joined()))], at: "/q")
      try store.commit { try $0.add("p", "/p") }
      try store.commit { try $0.add("q", "/q") }
      #expect(try Self.difference(store.snapshot()) == nil)
    }

    /// A segment that is gone has no chunks; what the others have counts.
    @Test func aSegmentThatIsGone() throws {
      let disk = Disk(seed: 12), store = try Store(disk, create: true)
      disk.put(.sample(seed: 1), at: "/p")
      disk.put(.sample(seed: 2), at: "/q")
      try store.commit { try $0.add("p", "/p") }
      let before = Set(disk.list("/store/segments"))
      try store.commit { try $0.add("q", "/q") }
      let all = try store.snapshot().usedChunks().chunks
      let data = try #require(before.first { disk.read("/store/segments/\($0)")?[12] == 1 })
      let gone = stride(from: 0, to: 32, by: 2).map {
        UInt8(data.dropFirst($0).prefix(2), radix: 16)!
      }
      sim_remove(disk.raw, "/store/segments/\(data)")
      let left = try Store(disk).snapshot().usedChunks().chunks
      #expect(Set(left) == Set(all.filter { $0.segment != gone }) && left.count < all.count)
    }
  }
}

extension Disk {
  /// Where the frames of all data segments lie.
  fileprivate var dataFrames: [(path: String, offset: UInt64)] {
    func number(_ bytes: [UInt8], _ at: Int, _ count: Int) -> Int {
      bytes[at..<at + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    return list("/store/segments").flatMap { name -> [(String, UInt64)] in
      let path = "/store/segments/\(name)"
      guard let bytes = read(path), bytes[12] == 1 else { return [] }
      let body = number(bytes, bytes.count - 48, 8), rows = body + number(bytes, body + 16, 8)
      return (0..<number(bytes, body + 8, 4)).map { (path, UInt64(number(bytes, rows + 24 * $0, 7))) }
    }
  }
}
