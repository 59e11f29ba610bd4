import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// Names that were chosen to make look-ups slow: 60,000 of one bucket made every look-up that came near them inspect
  /// thousands, those of other packs too. What is counted is buckets, not time.
  @Suite struct HostileNamesTests {
    private final class Built {
      let home = ScratchHome(), hasher: PathHasher
      var run = pks__run()

      /// A run of these paths, each in so many packs.
      init(_ paths: [String], packs: UInt16 = 1, _ hasher: PathHasher = PathHasher()) throws {
        self.hasher = hasher
        var writer = pks__run_writer(), length: UInt64 = 0, sum: UInt64 = 0
        pks__run_writer_init(&writer, home.folder, hasher.raw, UInt32(packs))
        defer { pks__run_writer_free(&writer) }
        for path in paths.sorted() {
          for pack in 0..<packs {
            try path.withCString { bytes in
              var item = pks__run_item()
              item.path = bytes
              item.path_length = path.utf8.count
              item.pack = pack
              item.kind = PKS__RECORD_FILE
              try attempt { pks__run_writer_add(&writer, &item, $0) }
            }
          }
        }
        try attempt { pks__run_writer_finish(&writer, "run", true, &length, &sum, $0) }
        try attempt { pks__run_open(&run, home.vfs, home.handle, "run", $0) }
      }

      deinit { pks__run_close(&run) }

      /// The packs that have the path, and how many buckets were inspected.
      func find(_ path: String) throws -> (packs: [UInt16], buckets: Int) {
        var probe = pks__run_probe(), entry = pks__run_entry(), found = true, packs: [UInt16] = []
        while true {
          try attempt { pks__run_find(&run, hasher.hash(path), path, path.utf8.count, &probe, &entry, &found, $0) }
          guard found else { return (packs, Int(probe.buckets)) }
          packs.append(entry.pack)
        }
      }

      /// Buckets that look-ups of these paths inspect on average.
      func averageBuckets(_ paths: [String]) throws -> Double {
        Double(try paths.reduce(0) { $0 + (try find($1).buckets) }) / Double(paths.count)
      }
    }

    @Test func namesOfOneBucketWithoutAKey() throws {
      let names = unkeyedNames(4_000, ofBucketIn: 4_000 / 7 + 1), others = (0..<4_000).map { "other/\($0)" }
      let built = try Built(names)
      for name in names { #expect(try built.find(name).packs == [0]) }
      #expect(built.run.salt == 0)
      #expect(try built.averageBuckets(names) < 1.2)
      #expect(try built.averageBuckets(others) < 1.5, "paths that are not there")
    }

    /// What knows the key finds names of one bucket; the run takes another salt.
    @Test(arguments: [1, 2, 3] as [UInt32]) func namesOfOneBucketWithTheKey(salts: UInt32) throws {
      let hasher = PathHasher(), each = 330, buckets = UInt64(each) * UInt64(salts) / 7 + 1
      let names = (0..<salts).flatMap { hasher.names(each, ofBucketIn: buckets, salt: $0, from: UInt64($0) << 32) }
      let built = try Built(names, hasher)
      #expect(built.run.salt == salts)
      for name in names {
        let found = try built.find(name)
        #expect(found.packs == [0] && found.buckets <= Int(PKS__BUCKETS_MAX))
      }
    }

    @Test func namesThatNoSaltPlaces() throws {
      let hasher = PathHasher()
      #expect(try status { _ = try Built(hasher.hostileNames(), hasher) } == PKS_HOSTILE_NAMES)
      #expect(try status { _ = try Built(Array(hasher.hostileNames().dropLast(400)), hasher) } == PKS_OK)
    }

    /// One path in as many packs as there may be is one name, and takes one slot.
    @Test func onePathInManyPacks() throws {
      let built = try Built(["a", "b/same", "b/same too"], packs: 2_000)
      let found = try built.find("b/same")
      #expect(found.packs == Array(0..<2_000) && found.buckets == 1)
      #expect(try built.find("b/sam").packs == [])
    }

    /// Whatever a run says, a look-up in it ends: here all slots of all buckets are taken.
    @Test func bucketsThatAreAllFull() throws {
      let built = try Built((0..<4_000).map { "n\($0)" })
      var bytes = Array(built.home.read("run").prefix(Int(built.run.table.body_length)))
      for bucket in 0..<Int(built.run.bucket_count) {
        let begin = Int(built.run.buckets.offset) + bucket * 64
        bytes.replaceSubrange(begin..<begin + 60, with: (0..<60).map { $0 % 6 == 0 ? 1 : 0 })
      }
      var body = pks__scratch(), tail = pks__scratch()
      defer {
        pks__scratch_free(&body)
        pks__scratch_free(&tail)
      }
      try body.append(bytes)
      try attempt { pks__table_finish(&body, 0, PKS__TABLE_RUN, &tail, $0) }
      pks__run_close(&built.run)
      built.home.put("full", body.content + tail.content)
      try attempt { pks__run_open(&built.run, built.home.vfs, built.home.handle, "full", $0) }
      for path in ["x", "y", "z"] {
        let found = try built.find(path)
        #expect(found.packs == [] && found.buckets == Int(PKS__BUCKETS_MAX))
      }
    }

    // MARK: In a store

    private static func folder(_ names: [String]) -> Folder {
      Dictionary(uniqueKeysWithValues: names.map { ($0, .file(Array($0.utf8.suffix(2)))) })
    }

    /// A pack whose names no salt places is refused by name; the store stays as it was.
    @Test func packIsRefused() throws {
      let disk = Disk(), store = try Store(disk, create: true)
      disk.put(["a": .file([1])], at: "/good")
      try store.commit { try $0.add("good", "/good") }
      disk.put(Self.folder(try PathHasher(of: disk).hostileNames()), at: "/bad")
      let before = disk.list("/store/index")
      let failure = #expect(throws: Failure.self) { try store.commit { try $0.add("bad", "/bad") } }
      #expect(failure?.status == PKS_HOSTILE_NAMES && failure?.file == "bad")
      #expect(disk.list("/store/index") == before)
      #expect(try store.snapshot().state().keys.sorted() == ["good"])
    }

    /// Runs that would be hostile together stay apart, and are found in.
    @Test func runsStayApart() throws {
      let disk = Disk(), store = try Store(disk, create: true)
      let names = try PathHasher(of: disk).hostileNames()
      for part in 0..<4 {
        let mine = names.indices.filter { $0 % 4 == part }.map { names[$0] }
        disk.put(Self.folder(mine), at: "/\(part)")
        try store.commit { try $0.add("pack\(part)", "/\(part)") }
      }
      #expect(disk.list("/store/index").filter { $0.hasSuffix(".run") }.count == 4)
      let state = try store.snapshot().state()
      #expect(state.values.reduce(0) { $0 + $1.content.count } == names.count)
    }
  }
}
