import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// The cache on a simulated disk: whatever happens to it, readers get the right bytes, and it never holds more than its
  /// budget.
  @Suite struct AssetCacheTests {
    static let paths = ["a", "b", "c"]
    static let size = 1_100_000
    static let files: [String: [UInt8]] = {
      var random = Random(51)
      return Dictionary(uniqueKeysWithValues: paths.map { ($0, random.prose(size)) })
    }()

    /// What one file and its sums take at most, and a budget for two of them.
    static let cost: UInt64 = 1_110_016
    static let two: UInt64 = 2 * cost + 4_096

    /// A disk with a store of three large compressed assets; nothing in the cache, nor a cache.
    /// Only ever cloned.
    private nonisolated(unsafe) static let base = Result {
      let disk = Disk(seed: 6)
      disk.put(files.mapValues { .file($0) }, at: "/source")
      // Large frames, so that a materialisation has few calls.
      let store = try Store("/store", vfs: disk.vfs, create: true, average: 65_536, home: disk)
      try store.commit { try $0.add("P", "/source") { $0.frame_size = 1 << 20 } }
      sim_remove(disk.raw, "/source")
      return disk
    }

    /// A clone of that disk, with a store open on it that has a cache; the seam is between them.
    private final class World {
      let disk: Disk
      let seam: Seam
      private(set) var snapshot: Snapshot!
      let budget: UInt64

      init(_ disk: Disk? = nil, budget: UInt64 = AssetCacheTests.two, clones: Bool = true) throws {
        let from = try disk ?? AssetCacheTests.base.get()
        self.disk = clones ? from.clone() : from
        self.budget = budget
        seam = Seam(self.disk)
        try open()
      }

      func open() throws {
        snapshot = nil
        snapshot = try Store("/store", seam: seam, cache: .init(folder: "/cache", budget: budget)).snapshot()
      }

      func close() { snapshot = nil }

      /// Another process on the same disk, with what the store and the cache hold now.
      func another() throws -> Snapshot {
        let process = sim_start_process(disk.raw, 2)!
        return try Store(disk, process: process, cache: .init(folder: "/cache", budget: budget)).snapshot()
      }

      /// The store's folder in the cache.
      var folder: String {
        get throws { "/cache/" + (try #require(disk.list("/cache").first { $0.hasSuffix("/") })).dropLast() }
      }
      /// Names of the cached files and their sums.
      var cached: [String] {
        get throws { disk.list(try folder + "/files") }
      }
      var inFlight: [String] {
        get throws { disk.list(try folder + "/tmp") }
      }

      func isRight(_ path: String) throws -> Bool {
        try snapshot.contents(path).equals(AssetCacheTests.files[path]!)
      }

      /// Whether the bytes come from the cache: nothing of the store can be read meanwhile.
      func isServedFromCache(_ path: String, by reader: Snapshot? = nil) throws -> Bool {
        sim_fail(disk.raw, SIM_CALL_READ, "/store/segments/*", 0, EIO, true)
        defer { sim_clear_faults(disk.raw) }
        do {
          return try (reader ?? snapshot).contents(path).equals(AssetCacheTests.files[path]!)
        } catch let failure as Failure where failure.status == PKS_IO_ERROR {
          return false
        }
      }
    }

    // MARK: What it is for

    /// The first call makes the file, later ones and other processes find it.
    @Test func theSecondCallFindsTheFile() throws {
      let world = try World(), maps = world.disk.counts.maps
      #expect(try world.cached == [])
      #expect(try !world.isServedFromCache("a"))
      #expect(try world.isRight("a"))
      let cached = try world.cached
      #expect(cached.count == 2 && cached[1] == cached[0] + ".sums")
      #expect(world.disk.read(try world.folder + "/files/" + cached[0]) == Self.files["a"])
      #expect(try world.isServedFromCache("a"))
      #expect(try world.isServedFromCache("a", by: world.another()))
      #expect(try !world.isServedFromCache("b"))
      #expect(try world.cached == cached && world.inFlight == [])
      #expect(world.disk.counts.maps == maps, "contents that were released are unmapped")
    }

    /// A descriptor is of the same file, and makes it likewise.
    @Test func descriptors() throws {
      let world = try World()
      for _ in 0..<2 {
        let file = try world.snapshot.openFile("a")
        var info = pks_vfs_info()
        #expect(world.disk.vfs.pointee.info_of(world.disk.vfs.pointee.context, file, &info) == 0)
        #expect(info.size == UInt64(Self.size))
        world.disk.vfs.pointee.close(world.disk.vfs.pointee.context, file)
      }
      #expect(try world.cached.count == 2)
      #expect(try world.isServedFromCache("a"))
    }

    /// What is used is kept; what was used longest ago goes first.
    @Test func theLeastRecentlyUsedGoesFirst() throws {
      let world = try World()
      #expect(try world.isRight("a"))
      let a = try world.cached
      #expect(try world.isRight("b"))
      let b = try world.cached.filter { !a.contains($0) }
      #expect(a.count == 2 && b.count == 2)
      #expect(try world.isRight("a"))
      #expect(try world.isRight("c"))
      let left = Set(try world.cached)
      #expect(left.isSuperset(of: a) && left.isDisjoint(with: b) && left.count == 4)
      #expect(try world.isServedFromCache("a") && world.isServedFromCache("c") && !world.isServedFromCache("b"))
    }

    @Test(arguments: [0, 1, 4_096, AssetCacheTests.cost - 8_192, UInt64(AssetCacheTests.size)])
    func anAssetOverTheBudgetIsDecoded(budget: UInt64) throws {
      let world = try World(budget: budget)
      for _ in 0..<2 { #expect(try world.isRight("a")) }
      #expect(try world.cached == [] && world.inFlight == [])
      #expect(try status { _ = try world.snapshot.openFile("a") } == PKS_NO_SPACE)
    }

    /// At every call of many materialisations the cache takes no more than its budget, also when files cannot be removed,
    /// and when a process died before.
    @Test(arguments: [false, true]) func theBudgetHoldsAtEveryMoment(removals fail: Bool) throws {
      let world = try World(), seed = testSeed(77), store = sim_used_bytes(world.disk.raw)
      var random = Random(seed), most: UInt64 = 0, refused = 0, calls = 0
      world.seam.onCall = { call in
        calls += 1
        most = max(most, sim_used_bytes(world.disk.raw) - store)
        guard fail, call == .unlink, random.chance(1, in: 2) else { return 0 }
        refused += 1
        return EIO
      }
      for round in 0..<24 {
        if random.chance(1, in: 4) { try Self.die(world, size: 1 + random.below(Self.size)) }
        #expect(try world.isRight(random.pick(Self.paths)), "seed \(seed)")
        #expect(most <= Self.two, "seed \(seed), round \(round)")
        if most > Self.two { return }
      }
      #expect(calls > 100 && most > Self.cost && (refused > 0) == fail)
    }

    /// Another process makes room for a file, begins to write it, and dies.
    private static func die(_ world: World, size: Int) throws {
      let process = sim_start_process(world.disk.raw, 9)!
      var cache: OpaquePointer?, entry = pks__asset_cache_entry(), key = pks__id(of: [1, 2, 3])
      let digits = Array(try world.folder.dropFirst("/cache/".count))
      let store = (0..<16).map { UInt8(String(digits[(2 * $0)...(2 * $0 + 1)]), radix: 16)! }
      try attempt { pks__asset_cache_open(&cache, process, -1, "/cache", store, world.budget, $0) }
      let begun = pks__asset_cache_begin(cache, &key, UInt64(size), 0, &entry)
      #expect(begun)
      let half = [UInt8](repeating: 1, count: min(size, Int(PKS__CACHE_BLOCK)))
      if begun { #expect(pks__asset_cache_append(&entry, half, half.count)) }
      sim_kill(process)
      if begun { pks__asset_cache_abandon(&entry) }
      pks__asset_cache_close(cache)
    }

    // MARK: Others

    /// Who finds the lock taken decodes, and makes the file another time.
    @Test func busy() throws {
      let world = try World(), vfs = sim_start_process(world.disk.raw, 3)!.pointee
      #expect(try world.isRight("b"))
      var root: pks_vfs_file = -1, lock: pks_vfs_file = -1
      #expect(vfs.open_root(vfs.context, try world.folder, false, &root) == 0)
      #expect(vfs.open(vfs.context, root, "LOCK", PKS_VFS_OPEN_LOCK, &lock) == 0)
      #expect(vfs.lock(vfs.context, lock, 0, 1, PKS_VFS_LOCK_EXCLUSIVE) == 0)
      let before = try world.cached
      #expect(try world.isRight("a"))
      #expect(try world.cached == before && world.inFlight == [])
      #expect(try status { _ = try world.snapshot.openFile("a") } == PKS_NO_SPACE, "there is no file in memory, either")
      #expect(try world.isServedFromCache("b"), "what is there is found without the lock")
      vfs.close(vfs.context, lock)
      vfs.close(vfs.context, root)
      #expect(try world.isRight("a"))
      #expect(try world.cached.count == 4)
    }

    /// Two processes at once, one call of each after the other: each gets its bytes.
    @Test func twoProcessesAtOnce() throws {
      let base = try World()
      var calls = 0
      base.seam.onCall = { _ in
        calls += 1
        return 0
      }
      #expect(try base.isRight("a"))
      for at in 1...calls {
        let world = try World()
        var call = 0, other: Result<Bool, any Error>?
        let reader = try world.another()
        world.seam.onCall = { _ in
          call += 1
          if call == at {
            other = Result { try reader.contents(at % 2 == 0 ? "a" : "b").equals(Self.files[at % 2 == 0 ? "a" : "b"]!) }
          }
          return 0
        }
        #expect(try world.isRight("a"), "call \(at)")
        #expect(try other?.get() == true, "call \(at)")
        world.seam.onCall = nil
        #expect(try world.isRight("a") && world.isRight("b"))
      }
    }

    /// The lock file was removed, so that two make the same file at once: neither takes the other's half for its own.
    @Test func aLockThatWasRemoved() throws {
      let disk = Disk(), id = [UInt8](repeating: 7, count: 16), bytes = Self.files["a"]!
      let process = sim_start_process(disk.raw, 2)!
      var key = pks__id(of: bytes), one: OpaquePointer?, two: OpaquePointer?
      try attempt { pks__asset_cache_open(&one, disk.vfs, -1, "/cache", id, Self.two, $0) }
      try attempt { pks__asset_cache_open(&two, process, -1, "/cache", id, Self.two, $0) }
      defer {
        pks__asset_cache_close(one)
        pks__asset_cache_close(two)
      }
      let folder = "/cache/" + String(repeating: "07", count: 16)
      var first = pks__asset_cache_entry(), second = pks__asset_cache_entry()
      try #require(pks__asset_cache_begin(one, &key, UInt64(bytes.count), 0, &first))
      #expect(pks__asset_cache_append(&first, bytes, bytes.count))
      #expect(!pks__asset_cache_begin(two, &key, UInt64(bytes.count), 0, &second))
      #expect(sim_remove(disk.raw, folder + "/LOCK") == 0)
      try #require(pks__asset_cache_begin(two, &key, UInt64(bytes.count), 0, &second))
      let vfs = disk.vfs.pointee
      let file = pks__asset_cache_finish(&first)
      if file != -1 {
        var read = [UInt8](repeating: 0, count: bytes.count), got = 0
        #expect(vfs.read_at(vfs.context, file, 0, &read, read.count, &got) == 0)
        #expect(read == bytes && got == bytes.count)
        vfs.close(vfs.context, file)
      }
      // The other is not done: a third does not believe what has the name now.
      var third: OpaquePointer?
      try attempt { pks__asset_cache_open(&third, sim_start_process(disk.raw, 3), -1, "/cache", id, Self.two, $0) }
      #expect(pks__asset_cache_find(third, &key, UInt64(bytes.count)) == -1)
      pks__asset_cache_close(third)
      #expect(pks__asset_cache_append(&second, bytes, bytes.count))
      let other = pks__asset_cache_finish(&second)
      if other != -1 { process.pointee.close(process.pointee.context, other) }
      #expect(disk.counts.handles == 0 && disk.counts.locks == 0)
    }

    // MARK: Deletion

    enum Target: String, CaseIterable, Sendable {
      case everyFile, oneFile, sums, files, tmp, lock, store, cache

      /// Another process's `rm -r`.
      func remove(from disk: Disk) {
        guard let id = disk.list("/cache").first(where: { $0.hasSuffix("/") })?.dropLast() else { return }
        let folder = "/cache/\(id)", files = disk.list(folder + "/files"), flight = disk.list(folder + "/tmp")
        let all = files.map { "\(folder)/files/\($0)" } + flight.map { "\(folder)/tmp/\($0)" }
        let removed =
          switch self {
          case .everyFile: all
          case .oneFile: all.filter { !$0.hasSuffix(".sums") }
          case .sums: all.filter { $0.hasSuffix(".sums") }
          case .files: [folder + "/files"]
          case .tmp: [folder + "/tmp"]
          case .lock: [folder + "/LOCK"]
          case .store: [folder]
          case .cache: ["/cache"]
          }
        for path in removed { _ = sim_remove(disk.raw, path) }
      }
    }

    @Test(arguments: Target.allCases) func deletedBetweenCalls(_ target: Target) throws {
      let world = try World()
      for path in ["a", "b", "a", "c", "a"] {
        #expect(try world.isRight(path))
        target.remove(from: world.disk)
        #expect(try world.isRight(path))
        target.remove(from: world.disk)
        let file = try world.snapshot.openFile(path)
        world.disk.vfs.pointee.close(world.disk.vfs.pointee.context, file)
      }
      #expect(try world.isServedFromCache("a"))
    }

    /// Deleted at any call: while a file is made, while one is found, and while one is found for the first time.
    @Test(arguments: Target.allCases) func deletedAtAnyCall(_ target: Target) throws {
      let cold = try World(), warm = try World()
      #expect(try warm.isRight("a"))
      warm.close()
      cold.close()
      for disk in [cold.disk, warm.disk] {
        var at = 0, isOver = false
        while !isOver {
          let world = try World(disk), before = world.disk.counts
          var call = 0
          world.seam.onCall = { _ in
            call += 1
            if call == at + 1 { target.remove(from: world.disk) }
            return 0
          }
          #expect(try world.isRight("a"), "\(target) at call \(at)")
          isOver = call <= at
          world.seam.onCall = nil
          let after = world.disk.counts
          // The segment stays open once it was read.
          #expect(after.handles <= before.handles + 1 && after.locks == before.locks, "\(target) at call \(at)")
          #expect(try world.isRight("a") && world.isRight("b"), "\(target) at call \(at)")
          world.close()
          #expect(!world.disk.hasLeaks, "\(target) at call \(at)")
          at += 1
        }
        #expect(at > 8)
      }
    }

    // MARK: Damage

    /// A fresh process notices a cached file, or its sums, that were changed, cut off or are not theirs; it replaces them.
    @Test(arguments: 0..<10) func damagedFiles(kind: Int) throws {
      let world = try World()
      #expect(try world.isRight("a"))
      let folder = try world.folder + "/files/", name = try world.cached[0]
      let file = folder + name, sums = file + ".sums"
      world.close()
      let raw = world.disk.raw, bytes = Self.files["a"]!, sumBytes = try #require(world.disk.read(sums))
      switch kind {
      case 0: sim_corrupt(raw, file, 0, 1)
      case 1: sim_corrupt(raw, file, UInt64(Self.size - 1), 0x80)
      case 2: sim_put_file(raw, file, bytes, Self.size - 1)
      case 3: sim_put_file(raw, file, bytes, 0)
      case 4: sim_put_file(raw, file, bytes + [0], Self.size + 1)
      case 5: sim_corrupt(raw, sums, UInt64(sumBytes.count - 1), 4)
      case 6: sim_corrupt(raw, sums, 9, 1)
      case 7: sim_put_file(raw, sums, sumBytes, sumBytes.count - 1)
      case 8: sim_put_file(raw, sums, sumBytes + [0], sumBytes.count + 1)
      default: sim_put_file(raw, sums, sumBytes, 0)
      }
      let fresh = try world.another()
      #expect(try fresh.contents("a").equals(bytes))
      #expect(world.disk.read(file) == bytes && world.disk.read(sums) == sumBytes, "replaced")
      #expect(try world.isServedFromCache("a", by: world.another()))
      try world.open()
      let descriptor = try world.snapshot.openFile("a")
      world.disk.vfs.pointee.close(world.disk.vfs.pointee.context, descriptor)
    }

    /// A file with the inode of one that was looked through before is not believed because of it.
    @Test func anInodeThatIsUsedAgain() throws {
      let world = try World()
      world.seam.onInfo = { $0.inode = 5 }
      #expect(try world.isRight("a"))
      let a = try world.cached
      do {
        let other = try world.another()
        #expect(try other.contents("b").equals(Self.files["b"]!))
      }
      let b = try #require(try world.cached.first { !a.contains($0) && !$0.hasSuffix(".sums") })
      sim_corrupt(world.disk.raw, try world.folder + "/files/" + b, 500_000, 1)
      #expect(try world.isRight("b"))
    }

    /// What dead processes left in `tmp/`, and halves of pairs in `files/`, are gone when the next file is made.
    @Test func leftoversAreSwept() throws {
      let world = try World(), folder = try world.folder
      let key = String(repeating: "ab", count: 32)
      for name in ["tmp/\(key)", "tmp/\(key).sums", "files/\(key).sums"] {
        sim_put_file(world.disk.raw, "\(folder)/\(name)", [1, 2, 3], 3)
      }
      #expect(try world.isRight("a"))
      #expect(try world.inFlight == [] && world.cached.count == 2)
      sim_put_file(world.disk.raw, "\(folder)/files/\(key)", [1, 2, 3], 3)
      #expect(try world.isRight("b"))
      #expect(try world.cached.count == 4 && !world.cached.contains(key))
    }

    /// What is not the cache's own is left alone and is no hindrance.
    @Test func strangersInTheFolder() throws {
      let world = try World(), folder = try world.folder
      sim_put_folder(world.disk.raw, "\(folder)/files/another folder")
      sim_put_folder(world.disk.raw, "\(folder)/tmp/another folder")
      let key = String(repeating: "a", count: 64)
      let strangers = ["short", "\(key)a", key.uppercased(), "\(key).sum", "\(key).sums.sums"]
      for name in strangers { sim_put_file(world.disk.raw, "\(folder)/files/\(name)", [1], 1) }
      for path in Self.paths {
        #expect(try world.isRight(path))
        #expect(try world.isServedFromCache(path), "\(path)")
      }
      #expect(try Set(strangers).isSubset(of: world.cached))
    }

    // MARK: Failing calls

    struct Fault: Sendable, CustomTestStringConvertible {
      var error: Int32, isSticky: Bool
      var testDescription: String { "\(error == EIO ? "EIO" : "ENOSPC")\(isSticky ? " from then on" : "")" }
      static let all = [EIO, ENOSPC].flatMap { [Fault(error: $0, isSticky: false), Fault(error: $0, isSticky: true)] }
    }

    /// Each call on the cache fails while a file is made, or found: the bytes are right all the same, nothing leaks, and the
    /// budget holds.
    @Test(arguments: Fault.all) func everyCallOnTheCacheFails(_ fault: Fault) throws {
      let cold = try World(budget: Self.cost + 4_096), warm = try World()
      for path in ["a", "b"] { #expect(try cold.isRight(path) && warm.isRight(path)) }
      warm.close()
      cold.close()
      // On the first disk "a" had to go, so that making it again must remove "b"; on the second it is found.
      for (disk, budget) in [(cold.disk, Self.cost + 4_096), (warm.disk, Self.two)] {
        let memory = pks__memory_counts_now().open
        var skip: UInt64 = 0, isOver = false
        while !isOver {
          let world = try World(disk, budget: budget), place: Comment = "\(fault.testDescription) at call \(skip)"
          let store = sim_used_bytes(world.disk.raw) - Self.sizeOfCache(world.disk)
          var most: UInt64 = 0
          world.seam.onCall = { _ in
            most = max(most, sim_used_bytes(world.disk.raw) - store)
            return 0
          }
          sim_fail(world.disk.raw, SIM_CALL_ANY, "/cache*", skip, fault.error, fault.isSticky)
          let calls = sim_call_count(world.disk.raw, SIM_CALL_ANY)
          #expect(try world.isRight("a"), place)
          isOver = sim_call_count(world.disk.raw, SIM_CALL_ANY) - calls < skip
          sim_clear_faults(world.disk.raw)
          #expect(most <= budget, place)
          world.seam.onCall = nil
          #expect(try world.isRight("a"), place)
          world.close()
          #expect(!world.disk.hasLeaks, place)
          #expect(pks__memory_counts_now().open == memory, place)
          skip += 1
        }
        #expect(skip > 10)
      }
    }

    private static func sizeOfCache(_ disk: Disk) -> UInt64 {
      disk.list("/cache").filter { !$0.hasSuffix("/") }.reduce(0) {
        $0 + UInt64((disk.read("/cache/\($1)")?.count ?? 0) + 511) / 512 * 512
      }
    }

    /// Each call fails, on store or cache: right bytes, or an error of the store itself; afterwards all is well.
    @Test(arguments: Fault.all) func everyCallFails(_ fault: Fault) throws {
      let memory = pks__memory_counts_now().open
      var skip: UInt64 = 0, failures = 0, isOver = false
      while !isOver {
        let world = try World(), place: Comment = "\(fault.testDescription) at call \(skip)"
        let calls = sim_call_count(world.disk.raw, SIM_CALL_ANY)
        sim_fail(world.disk.raw, SIM_CALL_ANY, nil, skip, fault.error, fault.isSticky)
        do {
          #expect(try world.isRight("a"), place)
        } catch let failure as Failure {
          failures += 1
          #expect(failure.status == (fault.error == EIO ? PKS_IO_ERROR : PKS_NO_SPACE), place)
          #expect(failure.file.contains("segments/"), "\(place): \(failure)")
        }
        isOver = sim_call_count(world.disk.raw, SIM_CALL_ANY) - calls < skip
        sim_clear_faults(world.disk.raw)
        #expect(try world.isRight("a"), place)
        #expect(try world.isServedFromCache("a"), place)
        world.close()
        #expect(!world.disk.hasLeaks, place)
        #expect(pks__memory_counts_now().open == memory, place)
        skip += 1
      }
      #expect(failures > 1 && skip > 20)
    }

    /// Memory is short while a file is made or found: right bytes or an error that says so, and nothing leaks.
    @Test func everyAllocationFails() throws {
      let warm = try World()
      #expect(try warm.isRight("a"))
      warm.close()
      for disk in [try Self.base.get(), warm.disk] {
        let memory = pks__memory_counts_now().open
        var ordinal: UInt64 = 0, isOver = false
        while !isOver {
          let world = try World(disk), made = pks__memory_counts_now().allocations
          pks__memory_fail_at(ordinal, false)
          let result = Result { try world.isRight("a") }
          isOver = pks__memory_counts_now().allocations - made <= ordinal
          pks__memory_fail_at(UInt64.max, false)
          do {
            #expect(try result.get(), "allocation \(ordinal)")
          } catch let failure as Failure {
            #expect(failure.status == PKS_OUT_OF_MEMORY, "allocation \(ordinal): \(failure)")
          }
          #expect(try world.isRight("a"), "allocation \(ordinal)")
          world.close()
          #expect(!world.disk.hasLeaks && pks__memory_counts_now().open == memory, "allocation \(ordinal)")
          ordinal += 1
        }
        #expect(ordinal > 2)
      }
    }

    // MARK: Versions

    /// Files are named by what they hold: another version's file is another one.
    @Test func otherContentHasAnotherKey() throws {
      let world = try World()
      #expect(try world.isRight("a"))
      let first = try world.cached
      var changed = Self.files["a"]!
      changed[700_000] ^= 1
      world.disk.put(["a": .file(changed)], at: "/source")
      try world.snapshot.store.commit { try $0.add("P", "/source") { $0.frame_size = 1 << 20 } }
      let old = world.snapshot!
      try world.open()
      #expect(try world.snapshot.contents("a").equals(changed))
      #expect(try old.contents("a").equals(Self.files["a"]!))
      #expect(try world.cached.count == 4 && Set(world.cached).isSuperset(of: first))
    }

    /// Two files of one frame each, at the same place of two segments, are told apart by the segments.
    @Test func theSamePlaceInAnotherSegment() throws {
      let world = try World(), count = 1 << 20
      var random = Random(52)
      let contents = (0..<2).map { _ in random.prose(count) }
      for bytes in contents {
        world.disk.put(["only": .file(bytes)], at: "/source")
        try world.snapshot.store.commit { try $0.add("Q", "/source") { $0.frame_size = 1 << 20 } }
        try world.open()
        #expect(try world.snapshot.contents("only").equals(bytes))
      }
      #expect(try world.cached.count == 4)
    }
  }
}
