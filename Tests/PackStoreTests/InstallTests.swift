import Foundation
import PackStore
import Synchronization
import Testing

@Suite struct InstallTests {
  @Test func roundTrip() async throws {
    let folder = TemporaryFolder()
    let files = variedFiles()
    let source = try folder.makeFolder("source", files)
    let store = try folder.store()
    let result = try await store.install(folder: FilePath(source), as: "Varied")
    #expect(!result.isUnchanged)
    #expect("\(result.version)" == "Varied@1")
    #expect(result.version.fileCount == files.count)
    #expect(result.version.byteCount == files.values.map(\.count).reduce(0, +))
    #expect(result.newChunkCount > 0 && result.newChunkCount <= result.chunkCount)
    #expect(result.notices.map(\.kind) == [.twin], "two folders differ by normal form")
    for (path, bytes) in files { #expect(try store.contents(of: path) == bytes, "\(path)") }

    let reopened = try Store(at: FilePath(folder.path("store")), options: .existing)
    for (path, bytes) in files { #expect(try reopened.contents(of: path, pack: "Varied") == bytes, "\(path)") }
  }

  @Test func unchangedFolderMakesNoVersion() async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["a": "1"])
    let store = try folder.store()
    let first = try await store.install(folder: FilePath(source), as: "P")
    let second = try await store.install(folder: FilePath(source), as: "P")
    #expect(second.isUnchanged)
    #expect(second.version == first.version)
    #expect(second.newChunkCount == 0)
  }

  @Test func versionsAreKept() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    for number in 1...3 {
      try await store.install(folder: FilePath(folder.makeFolder("source", ["a": "\(number)"])), as: "P")
    }
    let snapshot = try store.makeSnapshot()
    #expect(snapshot.versions(of: "P").map(\.number) == [3, 2])
    #expect(snapshot.pack("P")?.keptVersionCount == 2)
    #expect(snapshot.version(2, of: "P")?.description == "P@2")
    #expect(snapshot.version(1, of: "P") == nil)
    #expect(snapshot.pack("Q") == nil)
    #expect(snapshot.versions(of: "Q").isEmpty)
    let current = snapshot.pack("P")?.version
    let age = Date.now.timeIntervalSince(try #require(current).committedAt)
    #expect(age > -5 && age < 600)
  }

  @Test func mapAssets() async throws {
    let folder = TemporaryFolder()
    let files = [
      "Levels/1/mesh.bin": text(200_000, seed: 1), "Levels/1/notes": text(200_000, seed: 2), "none.bin": Data(),
    ]
    let source = try folder.makeFolder("source", files)
    let store = try folder.store()
    var options = Store.InstallOptions()
    options.mappedPaths = ["Levels/**/*.bin", "*.mesh", "none.bin"]
    let result = try await store.install(folder: FilePath(source), as: "P", options: options)
    #expect(result.mappedCount == 1 && result.mappedNewByteCount == 200_000 && result.relaidCount == 0)
    #expect(result.notices.map(\.kind) == [.unusedPattern])
    #expect(result.notices.map(\.path) == ["*.mesh"])
    let snapshot = try store.makeSnapshot()
    let mesh = try snapshot.asset("Levels/1/mesh.bin")
    #expect(mesh.isMapped && mesh.isContiguous)
    let storage = try mesh.storage()
    #expect(storage.isMapped && storage.extentCount == 1 && storage.storedByteCount == 200_000)
    #expect(storage.rawFrameCount == storage.frameCount && storage.frameCount > 1)
    let notes = try snapshot.asset("Levels/1/notes").storage()
    #expect(!notes.isMapped && !notes.isContiguous && notes.rawFrameCount == 0 && notes.storedByteCount < 100_000)
    #expect(try snapshot.entries(in: "Levels/1").map(\.isMapped) == [true, false])
    await #expect(throws: PackStoreError.self) {
      options.mappedPaths = ["ok", "[bad"]
      try await store.install(folder: FilePath(source), as: "P", options: options)
    }
  }

  /// Attributes that an update keeps mean the files that it brings, too, also where the same transaction set them.
  @Test func keptAttributesMeanNewFiles() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = FilePath(try folder.makeFolder("source", ["1.mesh": text(100_000, seed: 1)]))
    try await store.install(folder: source, as: "P", options: .init(attributes: Attributes(mappedPaths: ["*.mesh"])))
    try folder.makeFolder("source", ["2.mesh": text(100_000, seed: 2), "2.bin": text(100_000, seed: 3)])
    let update = try await store.install(folder: source, as: "P")
    #expect(update.mappedCount == 2 && update.notices.isEmpty)
    #expect(try mapAssets(of: store) == ["1.mesh", "2.mesh"])

    try folder.makeFolder("source", ["3.mesh": text(100_000, seed: 4), "3.bin": text(100_000, seed: 5)])
    try await store.change { transaction in
      try transaction.setAttributes(Attributes(mappedPaths: ["*.bin"]), of: "P")
      try transaction.install(folder: source, as: "P")
    }
    #expect(try mapAssets(of: store) == ["1.mesh", "2.bin", "2.mesh", "3.bin"])

    // Given values replace existing ones.
    try folder.makeFolder("source", ["4.bin": text(100_000, seed: 6)])
    try await store.install(folder: source, as: "P", options: .init(attributes: Attributes()))
    #expect(try mapAssets(of: store) == ["1.mesh", "2.bin", "2.mesh", "3.bin"])
  }

  private func mapAssets(of store: Store) throws -> [String] {
    try store.makeSnapshot().entries(in: "").filter(\.isMapped).map(\.path).sorted()
  }

  @Test func equalFoldersHaveEqualCatalogs() async throws {
    let folder = TemporaryFolder()
    let files = variedFiles()
    let one = try await folder.store("one").install(folder: FilePath(folder.makeFolder("a", files)), as: "P")
    let two = try await folder.store("two").install(folder: FilePath(folder.makeFolder("b", files)), as: "Q")
    #expect(one.version.catalog == two.version.catalog)
  }

  @Test func explicitVersionAndPriority() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    var options = Store.InstallOptions()
    options.version = 41
    options.priority = -7
    try await store.install(folder: FilePath(folder.makeFolder("source", ["a": "1"])), as: "P", options: options)
    let update = try await store.install(folder: FilePath(folder.makeFolder("source", ["a": "2"])), as: "P")
    #expect(update.version.number == 42)
    #expect(try store.packs().map(\.priority) == [-7])
  }

  @Test func severalPacksInOneWrite() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let (one, two) = (try folder.makeFolder("1", ["a": "1"]), try folder.makeFolder("2", ["b": "2"]))
    let before = try store.makeSnapshot()
    let names = try await store.write { transaction in
      try transaction.install(folder: FilePath(one), as: "One")
      try transaction.install(folder: FilePath(two), as: "Two")
      return transaction.packs.map(\.id.name).sorted()
    }
    #expect(names == ["One", "Two"])
    let after = try store.makeSnapshot()
    #expect(after.generation.rawValue == before.generation.rawValue + 1)
    #expect(after.packs.map(\.id) == ["One", "Two"])
    #expect(before.packs.isEmpty)
  }

  @Test func failedWriteChangesNothing() async throws {
    struct Stop: Error {}
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = try folder.makeFolder("source", ["a": "1"])
    await #expect(throws: Stop.self) {
      try await store.write { transaction in
        try transaction.install(folder: FilePath(source), as: "P")
        throw Stop()
      }
    }
    #expect(try store.packs().isEmpty)
    #expect(try store.makeSnapshot().generation == Store.Generation(rawValue: 1))
  }

  @Test func droppedTransactionLeavesNoTrace() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = try folder.makeFolder("source", ["a": "1"])
    do {
      var transaction = try store.makeTransaction()
      try transaction.install(folder: FilePath(source), as: "P")
    }
    #expect(try store.packs().isEmpty)
    var transaction = try store.makeTransaction(options: .init(durability: .atomic))
    try transaction.install(folder: FilePath(source), as: "P")
    let generation = try transaction.commit()
    #expect(try store.makeSnapshot().generation == generation)
  }

  @Test func commitOfNothing() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let generation = try store.makeTransaction().commit()
    #expect(generation == Store.Generation(rawValue: 1))
  }

  @Test func removal() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let bytes = text(200_000, seed: 5)
    try await store.install(folder: FilePath(folder.makeFolder("source", ["a": bytes])), as: "P")
    let snapshot = try store.makeSnapshot()
    try await store.remove("P")
    #expect(try store.packs().isEmpty)
    #expect(throws: PackStoreError.self) { try store.contents(of: "a") }
    #expect(try snapshot.contents(of: "a") == bytes)
    do {
      try await store.remove("P")
      Issue.record("a pack was removed twice")
    } catch let error as PackStoreError {
      #expect(error.code == .notFound)
      #expect("\(error)".contains("P"))
    }
  }

  @Test func progressNeverFalls() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = try folder.makeFolder("source", variedFiles().merging(["big": noise(40_000_000, seed: 9)]) { $1 })
    let reports = Mutex<[Store.InstallProgress]>([])
    let result = try await store.install(folder: FilePath(source), as: "P") { progress in
      reports.withLock { $0.append(progress) }
    }
    let all = reports.withLock { $0 }
    #expect(all.count >= 3)
    for (earlier, later) in zip(all, all.dropFirst()) {
      #expect(earlier.phase <= later.phase)
      #expect(earlier.fraction <= later.fraction)
      #expect(earlier.fileCount <= later.fileCount || earlier.phase < later.phase)
      #expect(earlier.byteCount <= later.byteCount || earlier.phase < later.phase)
      #expect(earlier.storedByteCount <= later.storedByteCount)
    }
    let last = try #require(all.last)
    #expect(last.totalByteCount == result.version.byteCount)
    #expect(last.fraction <= 1)
  }

  @Test func cancellation() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = try folder.makeFolder("source", ["big": noise(56_000_000, seed: 3)])
    let task = Mutex<Task<(any Error)?, Never>?>(nil)
    let calls = Mutex(0)
    let started = Task { () -> (any Error)? in
      do {
        try await store.install(folder: FilePath(source), as: "P") { progress in
          guard progress.phase == .store else { return }
          calls.withLock { $0 += 1 }
          while task.withLock({ $0 == nil }) {}
          task.withLock { $0!.cancel() }
        }
        return nil
      } catch {
        return error
      }
    }
    task.withLock { $0 = started }
    #expect(await started.value is CancellationError)
    #expect(calls.withLock { $0 } == 1)
    #expect(try store.packs().isEmpty)
    try await store.install(folder: FilePath(source), as: "P")
    #expect(try store.packs().count == 1)
  }

  @Test func cancelledBeforeItBegan() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = try folder.makeFolder("source", ["a": "1"])
    let task = Task {
      while !Task.isCancelled { await Task.yield() }  // nothing of the core runs yet
      _ = try await store.install(folder: FilePath(source), as: "P")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func writersOfTheSamePackTakeTurns() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    for index in 0..<4 { try folder.makeFolder("\(index)", ["a": "\(index)"]) }
    let root = folder.path
    try await withThrowingTaskGroup { group in
      for index in 0..<4 {
        group.addTask { _ = try await store.install(folder: FilePath("\(root)/\(index)"), as: "P") }
      }
      try await group.waitForAll()
    }
    #expect(try store.packs().first?.version.number == 4)
    #expect(try store.packs().count == 1)
  }

  @Test func transactionsOfTheSamePackConflict() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try folder.makeFolder("1", ["a": "1"])
    try folder.makeFolder("2", ["a": "2"])
    var first = try store.makeTransaction()
    var second = try store.makeTransaction()
    try first.install(folder: FilePath(folder.path("1")), as: "P")
    try second.install(folder: FilePath(folder.path("2")), as: "P")
    try first.commit()
    do {
      try second.commit()
      Issue.record("the second commit overwrote the first")
    } catch let error as PackStoreError {
      #expect(error.code == .conflict)
    }
    #expect(try store.contents(of: "a") == Data("1".utf8))
  }

  @Test func synchronousWrite() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let bytes = noise(40_000_000, seed: 1)
    let source = try folder.makeFolder("source", ["a": bytes])
    var phases: [Store.InstallProgress.Phase] = []
    try store.write { try $0.install(folder: FilePath(source), as: "P") { phases.append($0.phase) } }
    #expect(try store.contents(of: "a") == bytes)
    #expect(!phases.isEmpty)
  }

  @MainActor @Test func neverBlocksTheMainActor() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let source = try folder.makeFolder("source", ["a": "1"])
    let isMain = Mutex(false)
    try await store.install(folder: FilePath(source), as: "P") { _ in
      if Thread.isMainThread { isMain.withLock { $0 = true } }
    }
    #expect(!isMain.withLock { $0 })
  }

  @Test(arguments: Store.InstallOptions.Layout.allCases)
  func layouts(_ layout: Store.InstallOptions.Layout) async throws {
    let folder = TemporaryFolder()
    let files = variedFiles()
    let store = try folder.store()
    var options = Store.InstallOptions()
    options.layout = layout
    options.level = 1
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P", options: options)
    for (path, bytes) in files { #expect(try store.contents(of: path) == bytes, "\(path)") }
  }

  @Test func sizesThatMakeNoSense() async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["a": "1"])
    for size in [-1, 0, 1, 1 << 40] {
      var storeOptions = Store.Options.createIfMissing
      storeOptions.averageChunkByteCount = size
      expectInvalid { try Store(at: FilePath(folder.path("bad")), options: storeOptions) }

      var options = Store.InstallOptions()
      options.frameByteCount = size
      let store = try folder.store()
      expectInvalid { try store.write { try $0.install(folder: FilePath(source), as: "P", options: options) } }
    }
  }

  private func expectInvalid<Result>(_ body: () throws -> Result) {
    #expect { try body() } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  #if os(Linux)
    /// The size of files of /proc and /sys is not the number of their bytes: they were reported as changed, to be tried again for ever.
    @Test(arguments: ["/proc/sys/kernel/random", "/sys/kernel/mm"]) func filesWithAnotherLengthThanTheirSize(
      folder: String
    ) async throws {
      guard FileManager.default.fileExists(atPath: folder) else { return }
      let home = TemporaryFolder()
      let store = try home.store()
      let error = await #expect(throws: PackStoreError.self) {
        try await store.install(folder: FilePath(folder), as: "P")
      }
      #expect(error?.code == .refused && error?.remedy == "leave it out", "\(String(describing: error))")
      #expect(error?.detail?.rawValue == "size_unknown", "\(String(describing: error))")
      #expect(try store.makeSnapshot().packs.isEmpty)
    }
  #endif
}
