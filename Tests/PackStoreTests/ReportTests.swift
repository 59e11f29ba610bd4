import Foundation
import PackStore
import Synchronization
import Testing

/// Walks over the whole store: statistics, differences, verification.
@Suite struct ReportTests {
  @Test func heldGenerations() async throws {
    let folder = TemporaryFolder(), store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", ["a": noise(100_000, seed: 1)])), as: "P")
    #expect(try store.makeSnapshot().heldGenerations().generations.isEmpty)
    let held = try store.makeSnapshot(), generation = held.generation
    for seed in 2...6 as ClosedRange<UInt64> {
      try await store.install(folder: FilePath(folder.makeFolder("source", ["a": noise(100_000, seed: seed)])), as: "P")
    }
    let holds = try store.makeSnapshot().heldGenerations()
    #expect(holds.generations.map(\.generation) == [generation] && !holds.hasMore)
    #expect(holds.keptByteCount >= 100_000 && holds.generations.first?.keptByteCount == holds.keptByteCount)
    #if os(Linux)
      #expect(holds.generations.first?.processes == [Int(ProcessInfo.processInfo.processIdentifier)])
    #endif
    let packs = held.packs  // which keeps the snapshot until here
    #expect(packs.count == 1)
  }

  @Test func statistics() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let shared = noise(500_000, seed: 1)
    try await store.install(
      folder: FilePath(folder.makeFolder("1", ["s": shared, "a": noise(100_000, seed: 2)])), as: "One")
    try await store.install(
      folder: FilePath(folder.makeFolder("2", ["s": shared, "b": noise(200_000, seed: 3)])), as: "Two")
    let statistics = try await store.statistics()
    #expect(statistics.all.fileCount == 4)
    #expect(statistics.all.byteCount == 1_300_000)
    #expect(statistics.all.uniqueByteCount == 800_000)
    let (one, two) = (try #require(statistics.packs["One"]), try #require(statistics.packs["Two"]))
    #expect(one.byteCount == 600_000 && two.byteCount == 700_000)
    #expect(one.ownUniqueByteCount == 100_000 && two.ownUniqueByteCount == 200_000)
    #expect(statistics.segmentByteCount >= 800_000)
    #expect(statistics.indexByteCount > 0)
  }

  @Test func differences() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let moved = noise(50_000, seed: 1)
    try await store.install(
      folder: FilePath(
        folder.makeFolder(
          "1", ["same": Data("s".utf8), "old": Data("o".utf8), "edit": Data("1".utf8), "from": moved])),
      as: "P")
    try await store.install(
      folder: FilePath(
        folder.makeFolder(
          "2", ["same": Data("s".utf8), "new": Data("n".utf8), "edit": Data("12".utf8), "to": moved])), as: "P"
    )
    let snapshot = try store.makeSnapshot()
    let versions = snapshot.versions(of: "P")
    var found: [Snapshot.Difference] = []
    let totals = try snapshot.compare(versions[1], with: versions[0]) { found.append($0) }
    #expect(found.map(\.path) == ["edit", "new", "old", "to"])
    #expect(found.map(\.change) == [.changed, .added, .removed, .moved])
    #expect(found.map(\.oldPath) == [nil, nil, nil, "from"])
    #expect(found.first?.oldByteCount == 1 && found.first?.newByteCount == 2)
    #expect(totals.addedCount == 1 && totals.removedCount == 1 && totals.changedCount == 1)
    #expect(totals.movedCount == 1 && totals.unchangedCount == 1)
    #expect(totals.newByteCount == 3)
    #expect(found.map(\.newChunkByteCount) == [2, 1, 0, 0])
  }

  /// The new bytes of the files add up to all new bytes: a chunk of several files counts for the first.
  @Test func newBytesOfFiles() async throws {
    let folder = TemporaryFolder()
    let (store, other) = (try folder.store(), try folder.store("other"))
    let before = noise(900_000, seed: 1), shared = noise(300_000, seed: 2)
    let edited = before.prefix(400_000) + noise(20_000, seed: 3) + before.suffix(500_000)
    try await store.install(
      folder: FilePath(folder.makeFolder("1", ["edited": before, "gone": Data("gone".utf8)])), as: "P")
    // In another store, where the packs have other names and numbers.
    try await other.install(
      folder: FilePath(folder.makeFolder("2", ["edited": edited, "twin a": shared, "twin b": shared])), as: "Q")
    let (snapshot, now) = (try store.makeSnapshot(), try other.makeSnapshot())
    let (old, new) = (try #require(snapshot.versions(of: "P").first), try #require(now.versions(of: "Q").first))
    var found: [String: Snapshot.Difference] = [:]
    let totals = try snapshot.compare(old, with: new, of: now) { found[$0.path] = $0 }
    #expect(found["twin a"]?.newChunkByteCount == 300_000 && found["twin b"]?.newChunkByteCount == 0)
    #expect((20_000..<200_000).contains(found["edited"]?.newChunkByteCount ?? 0))
    #expect(found.values.map(\.newChunkByteCount).reduce(0, +) == totals.newByteCount)
    let back = try now.compare(new, with: old, of: snapshot) { found[$0.path] = $0 }
    #expect(found["gone"]?.newChunkByteCount == 4 && back.addedCount == 1 && back.removedCount == 2)
  }

  @Test func differencesCanBeLeftEarly() async throws {
    struct Enough: Error {}
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("1", ["a": "1", "b": "1"])), as: "P")
    try await store.install(folder: FilePath(folder.makeFolder("2", ["a": "2", "b": "2"])), as: "P")
    let snapshot = try store.makeSnapshot()
    let versions = snapshot.versions(of: "P")
    var count = 0
    #expect(throws: Enough.self) {
      try snapshot.compare(versions[1], with: versions[0]) { _ in
        count += 1
        throw Enough()
      }
    }
    #expect(count == 1)
  }

  @Test(arguments: [false, true])
  func verification(deep: Bool) async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", variedFiles())), as: "P")
    let fractions = Mutex<[Double]>([])
    let result = try await store.verify(deep: deep) { progress in fractions.withLock { $0.append(progress.fraction) } }
    #expect(result.isSound && result.faults.isEmpty)
    #expect(result.fileCount > 0 && result.frameCount > 0 && result.byteCount > 0)
    #expect((result.chunkCount > 0) == deep)
    let all = fractions.withLock { $0 }
    #expect(all == all.sorted() && all.allSatisfy { $0 >= 0 && $0 <= 1 })
  }

  @Test func damageIsFoundAndSaysWhere() async throws {
    let folder = TemporaryFolder()
    let bytes = text(2_000_000, seed: 1)
    do {
      let store = try folder.store()
      try await store.install(folder: FilePath(folder.makeFolder("source", ["a": bytes])), as: "P")
    }
    let segments = try FileManager.default.contentsOfDirectory(atPath: folder.path("store/segments"))
    let largest = try #require(
      segments.map { folder.path("store/segments/" + $0) }.max { size(of: $0) < size(of: $1) })
    var damaged = try #require(FileManager.default.contents(atPath: largest))
    damaged[damaged.count / 3] ^= 0x10
    try damaged.write(to: URL(fileURLWithPath: largest))

    let store = try folder.store()
    let result = try await store.verify()
    #expect(!result.isSound)
    let fault = try #require(result.faults.first)
    #expect(fault.code == .corrupt && fault.file?.hasPrefix("segments/") == true && fault.offset != nil)
    #expect(fault.pack == "P" && fault.version == 1 && fault.asset == "a")
    #expect(fault.description.hasPrefix("P@1 a: segments/") && fault.reason == "checksum mismatch")
    #expect(result.faultCount == 1 && result.hurtAssetCount == 1)
    let unread = #expect(throws: PackStoreError.self) { try store.contents(of: "a") }
    #expect(unread?.subject == fault.file.map(PackStoreError.Subject.storeFile) && unread?.offset == fault.offset)
    #expect(unread?.remedy == "call Store.verify, then Store.repair")
    #expect(
      result.faults.allSatisfy { !$0.description.contains("Store.verify") }, "who verifies need not be told to")
    let target = folder.path("target")
    await #expect(throws: PackStoreError.self) { try await store.extract(to: FilePath(target)) }
    let half = folder.contents("target/a")
    #expect(half == nil, "half a file must not look like one")
  }

  /// Damaged data is repaired from another store with the same content.
  @Test func repair() async throws {
    let folder = TemporaryFolder()
    let bytes = noise(400_000, seed: 2)
    for name in ["store", "other"] {
      let store = try Store(at: FilePath(folder.path(name)))
      try await store.install(
        folder: FilePath(folder.makeFolder("source", ["a": bytes, "b": text(1_000, seed: 1)])), as: "P")
    }
    let whole = try await Store.repair(at: FilePath(folder.path("store")))
    #expect(whole.wasWhole && whole.isWhole && whole.generation == nil)
    for segment in try FileManager.default.contentsOfDirectory(atPath: folder.path("store/segments")) {
      try FileManager.default.removeItem(atPath: folder.path("store/segments/" + segment))
    }
    let phases = Mutex<Set<Store.RepairProgress.Phase>>([])
    let dry = try await Store.repair(at: FilePath(folder.path("store")), isDryRun: true)
    #expect(!dry.isWhole && dry.generation == nil && dry.lostPackCount == 1)
    #expect(dry.losses.contains { $0.description == "P" })
    let result = try await Store.repair(at: FilePath(folder.path("store")), from: [FilePath(folder.path("other"))]) {
      progress in
      phases.withLock { _ = $0.insert(progress.phase) }
    }
    #expect(result.isWhole && !result.wasWhole && result.generation != nil && result.faultCount > 0)
    #expect(Set(result.healings.map(\.asset)) == ["a", "b"])
    #expect(result.healings.allSatisfy { $0.origin == folder.path("other") && $0.pack == "P" && $0.version == 1 })
    #expect(phases.withLock { $0.contains(.check) })
    let store = try Store(at: FilePath(folder.path("store")))
    #expect(try store.contents(of: "a") == Data(bytes))
    #expect(try await store.verify(deep: true).isSound)
  }

  /// Without any one of its parts a store is damaged for all that open it: neither another folder, nor made again, nor
  /// a file system that fails. Repaired, it has everything again.
  @Test(arguments: StorePart.allCases) func missingPart(_ part: StorePart) async throws {
    let folder = TemporaryFolder()
    do {
      let store = try folder.store()
      for seed in 1...2 {
        try await store.install(
          folder: FilePath(folder.makeFolder("source", ["a": noise(10_000, seed: UInt64(seed))])), as: "P")
      }
    }
    let path = FilePath(folder.path("store"))
    try part.lose(in: path.string)
    let before = try FileManager.default.subpathsOfDirectory(atPath: path.string).sorted()
    for options in [Store.Options.createIfMissing, .existing, .readOnly] {
      let error = #expect(throws: PackStoreError.self) { try Store(at: path, options: options) }
      #expect(error?.code == .corrupt, "\(String(describing: error))")
      #expect(error.map(part.explains) == true, "\(String(describing: error))")
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: path.string).sorted() == before)
    #expect(try await Store.repair(at: path).isWhole)
    #expect(try folder.store().contents(of: "a") == noise(10_000, seed: 2))
  }

  /// A part of a store that is not as it was.
  enum StorePart: String, CaseIterable {
    case noIndex, emptyIndex, noRuns, noGenerations, noControl, emptyControl, otherControl

    func lose(in store: String) throws {
      let files = FileManager.default
      let index = "\(store)/index"
      func remove(_ ending: String) throws {
        for name in try files.contentsOfDirectory(atPath: index) where name.hasSuffix(ending) {
          try files.removeItem(atPath: "\(index)/\(name)")
        }
      }
      switch self {
      case .noIndex: try files.removeItem(atPath: index)
      case .emptyIndex: try remove("")
      case .noRuns: try remove(".run")
      case .noGenerations: try remove(".generation")
      case .noControl: try files.removeItem(atPath: "\(store)/CONTROL")
      case .emptyControl: try Data().write(to: URL(fileURLWithPath: "\(store)/CONTROL"))
      case .otherControl: try Data("other".utf8).write(to: URL(fileURLWithPath: "\(store)/CONTROL"))
      }
    }

    /// Whether the error names the lost part.
    func explains(_ error: PackStoreError) -> Bool {
      switch (self, error.subject) {
      case (.noIndex, .storeFile(let name)), (.emptyIndex, .storeFile(let name)), (.noRuns, .storeFile(let name)),
        (.noGenerations, .storeFile(let name)):
        name.hasPrefix("index/")
      case (.noControl, .store), (.emptyControl, .store), (.otherControl, .store): error.detail == .badControlFile
      default: false
      }
    }
  }

  /// A store that lost its control file once looked like an empty directory, and the next install made a new store of it.
  @Test func lostControlFile() async throws {
    let folder = TemporaryFolder()
    do {
      let store = try folder.store()
      try await store.install(folder: FilePath(folder.makeFolder("source", ["a": noise(10_000, seed: 3)])), as: "P")
    }
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path("store")).sorted()
    let bytes = folder.contents("store/CONTROL")
    let control = try #require(bytes)
    try FileManager.default.removeItem(atPath: folder.path("store/CONTROL"))
    let path = folder.path("store")
    #expect { try Store(at: FilePath(path)) } throws: { ($0 as? PackStoreError)?.code == .corrupt }
    try control.write(to: URL(fileURLWithPath: folder.path("store/CONTROL")))
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path("store")).sorted() == before)
    #expect(try folder.store().contents(of: "a").count == 10_000)
  }

  private func size(of path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }
}
