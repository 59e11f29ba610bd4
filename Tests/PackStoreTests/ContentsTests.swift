import Foundation
import PackStore
import Testing

/// Whole files as data and descriptors, with and without a cache.
@Suite struct ContentsTests {
  private static let files: [String: Data] = [
    "large": text(2_000_000, seed: 1), "other": text(1_500_000, seed: 2), "raw": noise(1_200_000, seed: 3),
    "small": text(5_000, seed: 4), "empty": Data(),
  ]

  private static func makeStore(_ folder: borrowing TemporaryFolder, budget: Int?) async throws -> Store {
    var options = Store.Options.createIfMissing
    options.cache = budget.map { Store.Cache(folder: FilePath(folder.path("cache")), byteBudget: $0) }
    let store = try Store(at: FilePath(folder.path("store")), options: options)
    try folder.makeFolder("source", files)
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    return store
  }

  /// The files of the cache without their sums, and the bytes that all of them take.
  private static func cached(_ folder: borrowing TemporaryFolder) throws -> (files: [String], byteCount: Int) {
    let root = folder.path("cache")
    guard let store = try FileManager.default.contentsOfDirectory(atPath: root).first else { return ([], 0) }
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(store)/files")
    let sizes = try names.map {
      try FileManager.default.attributesOfItem(atPath: "\(root)/\(store)/files/\($0)")[.size] as! Int
    }
    return (names.filter { !$0.hasSuffix(".sums") }.sorted(), sizes.reduce(0, +))
  }

  private static func read(_ descriptor: FileDescriptor) throws -> Data {
    let file = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: true)
    return try file.readToEnd() ?? Data()
  }

  @Test(arguments: [nil, 0, 2_100_000, 50_000_000]) func everyFile(budget: Int?) async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder, budget: budget)
    for _ in 0..<3 {
      for (path, bytes) in Self.files {
        #expect(try store.contents(of: path) == bytes, "\(path)")
        #expect(try Self.read(store.openDescriptor(of: path)) == bytes, "\(path)")
        if let budget { #expect(try Self.cached(folder).byteCount <= budget) }
      }
    }
    if budget == 50_000_000 { #expect(try Self.cached(folder).files.count == 3) }
    #expect(FileManager.default.fileExists(atPath: folder.path("cache")) == (budget != nil))
  }

  /// Another store, also a read-only one, finds the files that one store made.
  @Test func aCacheIsShared() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder, budget: 50_000_000)
    #expect(try store.contents(of: "large") == Self.files["large"])
    let before = try Self.cached(folder).files
    var options = Store.Options.readOnly
    options.cache = Store.Cache(folder: FilePath(folder.path("cache")), byteBudget: 50_000_000)
    let reader = try Store(at: FilePath(folder.path("store")), options: options)
    #expect(try reader.contents(of: "large") == Self.files["large"])
    #expect(try Self.cached(folder).files == before && before.count == 1)
    #expect(try reader.contents(of: "other") == Self.files["other"])
    #expect(try Self.cached(folder).files.count == 2)
  }

  /// The whole cache may be deleted at any time.
  @Test func deletion() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder, budget: 50_000_000)
    let held = try store.contents(of: "large")
    for _ in 0..<3 {
      try FileManager.default.removeItem(atPath: folder.path("cache"))
      #expect(try store.contents(of: "large") == Self.files["large"])
      #expect(try Self.read(store.openDescriptor(of: "raw")) == Self.files["raw"])
    }
    #expect(held == Self.files["large"])
  }

  @Test func dataIsTheCallersOwn() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder, budget: 50_000_000)
    for path in ["large", "raw", "small"] {
      var changed = try store.contents(of: path)
      changed[100] ^= 0xff
      #expect(try store.contents(of: path) == Self.files[path])
      #expect(changed != Self.files[path])
    }
  }

  @Test func errors() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder, budget: nil)
    #expect { try store.openDescriptor(of: "nothing") } throws: { ($0 as? PackStoreError)?.code == .notFound }
    #expect { try store.contents(of: "small", pack: "Q") } throws: { ($0 as? PackStoreError)?.code == .notFound }
    // A range that no memory could hold, or no number count, is wrong because it leaves the file.
    for range in [0..<Int.max, -5..<3, 5_000..<5_001, Int.min..<1, Int.min..<Int.max] {
      #expect { try store.read { try $0.asset("small").contents(range: range) } } throws: {
        ($0 as? PackStoreError)?.code == .invalidArgument
      }
      #expect {
        try store.read {
          try $0.asset("small").read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0), range: range)
        }
      } throws: {
        ($0 as? PackStoreError)?.code == .invalidArgument
      }
    }
    #expect(Store.Options.createIfMissing.cache == nil)
  }

  /// In a cancelled task large reads end as cancelled.
  @Test func cancelledTasks() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder, budget: nil)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try store.read { try $0.asset("large").contents(range: 0..<2_000_000) }
    }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
  }

  /// Readers on several tasks verify every byte, by every way of reading, while a writer swaps versions and drops the old
  /// ones at once, so that segments are unlinked, and the cache has room for one file alone.
  @Test func versionsSwapWhileEverythingIsRead() async throws {
    let folder = TemporaryFolder(), swaps = 16
    let versions = (0..<2).map { version in
      [
        "large": text(1_150_000, seed: UInt64(10 + version)), "raw": noise(200_000 + version, seed: UInt64(version)),
        "small": text(3_000 + version, seed: UInt64(version)), "tag": Data("\(version)".utf8),
      ]
    }
    for version in 0..<2 { try folder.makeFolder("\(version)", versions[version]) }
    var options = Store.Options.createIfMissing
    options.threadCount = 3
    options.cache = Store.Cache(folder: FilePath(folder.path("cache")), byteBudget: 1_200_000)
    let store = try Store(at: FilePath(folder.path("store")), options: options)
    try await store.install(folder: FilePath(folder.path("0")), as: "P")
    let isOver = ManagedFlag(), root = folder.path
    try await withThrowingTaskGroup { group in
      for reader in 0..<4 {
        group.addTask {
          var round = reader
          repeat {
            let snapshot = try store.makeSnapshot()
            let tag = try snapshot.contents(of: "tag")
            let files = try #require(versions.first { $0["tag"] == tag })
            for path in files.keys.sorted() {
              let bytes = files[path]!
              switch round % 4 {
              case 0: #expect(try snapshot.contents(of: path) == bytes)
              case 1: #expect(try snapshot.asset(path).contents(range: 0..<bytes.count) == bytes)
              case 2: #expect(try Self.read(snapshot.openDescriptor(of: path)) == bytes)
              default:
                var read = Data()
                for try await buffer in try snapshot.stream(of: path, bufferByteCount: 300_000) { read += buffer }
                #expect(read == bytes)
              }
              round += 1
            }
          } while !isOver.isRaised
        }
      }
      group.addTask {
        defer { isOver.raise() }
        for swap in 1...swaps {
          let source = "\(root)/\(swap % 2)"
          try await store.write(options: .init(durability: .atomic, keptVersionCount: 1)) {
            try $0.install(folder: FilePath(source), as: "P")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.makeSnapshot().pack("P")?.version.number == UInt64(swaps + 1))
    #expect(try await store.verify(deep: true).faults.isEmpty)
  }
}
