import CPackStore
import CPackStoreTesting
import Foundation
import Testing

extension Core {
  /// Whole files as memory and as descriptors, on the real file system.
  @Suite struct WholeFileTests {
    private static let files: [String: [UInt8]] = {
      var random = Random(61)
      return [
        "empty": [], "small raw": random.bytes(20_000), "raw": random.bytes(300_001), "small": random.text(900),
        "prose": random.prose(400_000), "large": random.prose(1_300_000), "large raw": random.bytes(1_100_000),
        "large pieces": random.prose(600_000) + random.bytes(600_000),
      ]
    }()

    private static func make(_ home: TemporaryFolder) throws {
      let source = try home.put(files.mapValues { .file($0) }, at: "source")
      try Store(home.path + "/store", create: true, average: 16_384).commit { try $0.add("P", source) }
    }

    private static func open(_ home: TemporaryFolder, cached: Bool, budget: UInt64 = 64 << 20) throws -> Snapshot {
      try Store(
        home.path + "/store", cache: cached ? .init(folder: home.path + "/cache", budget: budget) : nil
      ).snapshot()
    }

    // MARK: Memory

    /// Raw assets are mapped from the store, large ones from the cache when there is one; the rest is decoded.
    @Test(arguments: [false, true]) func everyFile(cached: Bool) throws {
      let home = try TemporaryFolder()
      try Self.make(home)
      let snapshot = try Self.open(home, cached: cached)
      for _ in 0..<2 {
        for (path, bytes) in Self.files {
          let contents = try snapshot.contents(path)
          #expect(contents.equals(bytes), "\(path)")
          let isMapped = ["raw", "large raw"].contains(path) || (cached && ["large", "large pieces"].contains(path))
          #expect(contents.isMapped == isMapped, "\(path)")
          #expect(path != "empty" || contents.bytes.baseAddress == nil)
        }
      }
    }

    /// What is written to the memory is seen by its owner alone: not by store, cache, a second call, or who had it before.
    @Test(arguments: [false, true]) func theMemoryIsTheCallersOwn(cached: Bool) throws {
      let home = try TemporaryFolder()
      try Self.make(home)
      let snapshot = try Self.open(home, cached: cached)
      for (path, bytes) in Self.files where !bytes.isEmpty {
        let before = try snapshot.contents(path), changed = try snapshot.contents(path)
        _ = changed.bytes.initializeMemory(as: UInt8.self, repeating: 0xEE)
        #expect(before.equals(bytes), "\(path)")
        #expect(try snapshot.contents(path).equals(bytes), "\(path)")
        #expect(try snapshot.read(path) == bytes, "\(path)")
        #expect(try Self.open(home, cached: cached).contents(path).equals(bytes), "\(path)")
        #expect(changed.bytes.allSatisfy { $0 == 0xEE })
      }
      #expect(try Self.open(home, cached: cached).faults(deep: false) == [])
    }

    /// Contents outlive snapshot and store, and the files they are mapped from.
    @Test(arguments: [false, true]) func outlivingTheStore(cached: Bool) throws {
      let home = try TemporaryFolder(), memory = pks__memory_counts_now().open
      try Self.make(home)
      var contents: [String: Contents] = [:]
      do {
        let snapshot = try Self.open(home, cached: cached)
        for path in Self.files.keys { contents[path] = try snapshot.contents(path) }
      }
      try FileManager.default.removeItem(atPath: home.path + "/store")
      try? FileManager.default.removeItem(atPath: home.path + "/cache")
      for (path, bytes) in Self.files { #expect(contents[path]!.equals(bytes), "\(path)") }
      contents = [:]
      #expect(pks__memory_counts_now().open == memory)
      var zeroed = pks_contents()
      pks_contents_release(&zeroed)
    }

    /// A version is removed and collected, its file in the cache evicted, while it is mapped.
    @Test func collectedWhileMapped() throws {
      let home = try TemporaryFolder()
      try Self.make(home)
      let budget: UInt64 = 1_500_000
      let store = try Store(home.path + "/store", cache: .init(folder: home.path + "/cache", budget: budget))
      let old = Set(try home.list("store/segments"))
      var snapshot: Snapshot? = try store.snapshot()
      let large = try snapshot!.contents("large"), raw = try snapshot!.contents("raw")
      let file = FileHandle(fileDescriptor: try snapshot!.openFile("large"), closeOnDealloc: true)
      let cached = try Self.cached(home)
      snapshot = nil
      var random = Random(62)
      let other = random.prose(1_200_000)
      let source = try home.put(["large": .file(other)], at: "other")
      try store.commit(keep: 1) { try $0.add("P", source) }
      for priority in 1...2 as ClosedRange<Int32> { try store.commit(keep: 1) { try $0.prioritise("P", priority) } }
      #expect(try Set(home.list("store/segments")).isDisjoint(with: old), "collected")
      #expect(try store.snapshot().contents("large").equals(other))
      #expect(try Set(Self.cached(home)).isDisjoint(with: cached), "evicted")
      #expect(large.isMapped && large.equals(Self.files["large"]!))
      #expect(raw.isMapped && raw.equals(Self.files["raw"]!))
      #expect(try file.readToEnd() == Data(Self.files["large"]!))
    }

    private static func cached(_ home: TemporaryFolder) throws -> [String] {
      try home.list("cache").flatMap { try home.list("cache/\($0)/files") }
    }

    @Test func whatIsNoFile() throws {
      let home = try TemporaryFolder(), path = home.path + "/store"
      let source = try home.put(["link": .link("to"), "void": .folder, "folder/file": .file("1")], at: "source")
      try Store(path, create: true).commit { try $0.add("P", source) }
      let snapshot = try Store(path).snapshot()
      for path in ["link", "void", "folder"] {
        #expect(try status { _ = try snapshot.contents(path) } == PKS_WRONG_KIND)
        #expect(try status { _ = try snapshot.openFile(path) } == PKS_WRONG_KIND)
      }
    }

    // MARK: Descriptors

    /// A descriptor reads the asset's bytes and nothing else, from the start, and can change nothing.
    @Test(arguments: [false, true]) func descriptors(cached: Bool) throws {
      let home = try TemporaryFolder()
      try Self.make(home)
      let snapshot = try Self.open(home, cached: cached)
      for (path, bytes) in Self.files {
        for _ in 0..<2 {
          let file = try snapshot.openFile(path)
          defer { close(file) }
          #expect(file > 2 && fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
          #expect(lseek(file, 0, SEEK_CUR) == 0)
          #expect(try FileHandle(fileDescriptor: file).readToEnd() ?? Data() == Data(bytes), "\(path)")
          #expect(lseek(file, 0, SEEK_END) == bytes.count)
          #expect(pwrite(file, "x", 1, 0) == -1 && ftruncate(file, 3) == -1, "\(path)")
          #expect(ftruncate(file, off_t(bytes.count) + 1) == -1, "\(path)")
          let writable = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
          #expect(writable == MAP_FAILED, "\(path)")
        }
        #expect(try snapshot.contents(path).equals(bytes), "\(path)")
      }
      let large = Set(try cached ? Self.cached(home).filter { !$0.hasSuffix(".sums") } : [])
      #expect(large.count == (cached ? 3 : 0), "the large ones, raw or not")
    }

    /// A file in memory is written, not mapped: a process that is forked meanwhile would hold the mapping, and it could not be
    /// sealed.
    @Test func filesInMemoryAreNotMapped() throws {
      let home = try TemporaryFolder(), seam = Seam()
      try Self.make(home)
      let snapshot = try Store(home.path + "/store", seam: seam).snapshot()
      _ = try snapshot.contents("large")  // What is mapped of the store is mapped now.
      var maps = 0
      seam.onCall = {
        if $0 == .map { maps += 1 }
        return 0
      }
      let file = try snapshot.openFile("large")
      defer { close(file) }
      #expect(lseek(file, 0, SEEK_END) == Self.files["large"]!.count)
      #expect(maps == 0)
    }

    @Test func descriptorsOutliveTheStore() throws {
      let home = try TemporaryFolder()
      try Self.make(home)
      for cached in [true, false] {
        let files = try ["large", "raw", "small"].map { path in
          (path, FileHandle(fileDescriptor: try Self.open(home, cached: cached).openFile(path), closeOnDealloc: true))
        }
        try? FileManager.default.removeItem(atPath: home.path + "/cache")
        for (path, file) in files { #expect(try file.readToEnd() == Data(Self.files[path]!)) }
      }
    }

    /// What is too large for a file in memory needs a cache with room for it.
    @Test func tooLargeForMemory() throws {
      let home = try TemporaryFolder(), size = (64 << 20) + 1
      let source = try home.put(["small": .file("1")], at: "source")
      #expect(FileManager.default.createFile(atPath: source + "/zeros", contents: nil))
      #expect(truncate(source + "/zeros", off_t(size)) == 0)
      try Store(home.path + "/store", create: true, average: 65_536).commit { try $0.add("P", source) }
      var needed: UInt64 = 0
      for snapshot in [try Self.open(home, cached: false), try Self.open(home, cached: true, budget: UInt64(size))] {
        let failure = try #require(throws: Failure.self) { close(try snapshot.openFile("zeros")) }
        #expect(failure.status == PKS_NO_SPACE && failure.file == "zeros")
        needed = failure.needed
      }
      let file = try Self.open(home, cached: true, budget: needed).openFile("zeros")
      #expect(lseek(file, 0, SEEK_END) == size)
      close(file)
    }
  }
}
