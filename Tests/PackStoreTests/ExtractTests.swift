import Foundation
import PackStore
import Synchronization
import Testing

@Suite struct ExtractTests {
  @Test func roundTrip() async throws {
    let folder = TemporaryFolder()
    let files = variedFiles().merging(["Large/one": noise(40_000_001, seed: 8), "Large/two": text(20_000_000, seed: 9)])
    { $1 }
    let source = try folder.makeFolder("source", files)
    try FileManager.default.createDirectory(atPath: folder.path("source/void/empty"), withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path("source/Large/two"))
    try folder.makeLink("source/Texts/link", to: "Very/Deep")
    let store = try folder.store()
    try await store.install(folder: FilePath(source), as: "P")

    let reports = Mutex<[Store.ExtractProgress]>([])
    let result = try await store.extract(to: FilePath(folder.path("new/target"))) { progress in
      reports.withLock { $0.append(progress) }
    }
    #expect(result.fileCount == files.count)
    #expect(result.linkCount == 1)
    #expect(result.byteCount == files.values.map(\.count).reduce(0, +))
    #expect(result.folderCount == 19)
    #expect(result.refusedLinks.isEmpty)
    for (path, bytes) in files { #expect(folder.contents("new/target/" + path) == bytes, "\(path)") }
    #expect(folder.linkTarget("new/target/Texts/link") == "Very/Deep")
    var isFolder: ObjCBool = false
    #expect(
      FileManager.default.fileExists(atPath: folder.path("new/target/void/empty"), isDirectory: &isFolder)
        && isFolder.boolValue)
    #expect(mode(folder.path("new/target/Large/two")) == 0o755 & ~currentUmask())
    #expect(mode(folder.path("new/target/Large/one")) == 0o644 & ~currentUmask())

    let all = reports.withLock { $0 }
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.byteCount <= $1.byteCount && $0.fileCount <= $1.fileCount })
    #expect(all.last?.fraction == 1)
    #expect(all.last?.fileCount == all.last?.totalFileCount)
  }

  /// Zeros at the beginning, in the middle and at the end, at odd places, over the border of parts, and a file of nothing else.
  @Test func zerosBecomeHoles() async throws {
    let folder = TemporaryFolder()
    let noise = noise(300_001, seed: 5), zeros = { Data(count: $0) }
    let files = [
      "middle": noise + zeros(30_000_000) + noise, "end": noise + zeros(9_000_000), "begin": zeros(9_000_001) + noise,
      "only": zeros(20_000_000), "short": zeros(5_000), "block": zeros(16 << 10), "aligned": zeros(32 << 10),
      "dense": noise, "text": text(400_000, seed: 2),
      "many": (0..<40).reduce(Data()) { all, index in
        all + Data([UInt8(index)]) + zeros(index * 3_001)
      },
    ]
    try folder.makeFolder("source", files)
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    var options = Store.ExtractOptions()
    for _ in 0..<2 {
      try await store.extract(to: FilePath(folder.path("target")), options: options)
      for (path, bytes) in files { #expect(folder.contents("target/" + path) == bytes, "\(path)") }
      options.overwrites = true
    }
    #expect(blocks(folder.path("target/only")) < 32_768)
    #expect(blocks(folder.path("target/middle")) < 800_000)
    #expect(blocks(folder.path("target/end")) < 400_000)
    #expect(blocks(folder.path("target/begin")) < 400_000)
  }

  /// Bytes of a file that the disk allotted.
  private func blocks(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : .max
  }

  @Test func oneFolderOfOnePack() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(
      folder: FilePath(folder.makeFolder("1", ["A/b/c": "1", "A/bc": "1", "Ab": "1"])), as: "One")
    try await store.install(folder: FilePath(folder.makeFolder("2", ["A/b/c": "2", "A/b/d/e": "2"])), as: "Two")
    try await store.extract("A/b", pack: "Two", to: FilePath(folder.path("target")))
    #expect(folder.contents("target/c") == Data("2".utf8))
    #expect(folder.contents("target/d/e") == Data("2".utf8))
    try await store.extract("A", to: FilePath(folder.path("merged")))
    #expect(folder.contents("merged/b/c") == Data("1".utf8))
    #expect(folder.contents("merged/b/d/e") == Data("2".utf8))
    #expect(folder.contents("merged/bc") == Data("1".utf8))
    #expect(folder.contents("merged/Ab") == nil)
  }

  @Test func filesInTheWay() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", ["A/a": "new"])), as: "P")
    try folder.makeFolder("target", ["A/a": "old", "A/other": "kept"])
    await expect(.exists) { try await store.extract(to: FilePath(folder.path("target"))) }
    #expect(folder.contents("target/A/a") == Data("old".utf8))
    var options = Store.ExtractOptions()
    options.overwrites = true
    let result = try await store.extract(to: FilePath(folder.path("target")), options: options)
    #expect(result.folderCount == 0)
    #expect(folder.contents("target/A/a") == Data("new".utf8))
    #expect(folder.contents("target/A/other") == Data("kept".utf8))
  }

  @Test func aFolderInAFilesWay() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", ["a": "new"])), as: "P")
    try folder.makeFolder("target", ["a/b": "old"])
    var options = Store.ExtractOptions()
    options.overwrites = true
    await expect(.wrongKind) { try await store.extract(to: FilePath(folder.path("target")), options: options) }
    #expect(folder.contents("target/a/b") == Data("old".utf8))
  }

  /// Links in the target must not redirect writes.
  @Test(arguments: [false, true])
  func linksInTheWay(overwrites: Bool) async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", ["A/a": "new", "file": "new"])), as: "P")
    try folder.makeFolder("victim", ["a": "safe", "file": "safe"])
    var options = Store.ExtractOptions()
    options.overwrites = overwrites

    try folder.makeFolder("folder", [:] as [String: String])
    try folder.makeLink("folder/A", to: "../victim")
    await expect(.wrongKind) { try await store.extract("", to: FilePath(folder.path("folder")), options: options) }

    try folder.makeFolder("files", [:] as [String: String])
    try folder.makeLink("files/file", to: "../victim/file")
    if overwrites {
      try await store.extract(to: FilePath(folder.path("files")), options: options)
      #expect(folder.contents("files/file") == Data("new".utf8))
      #expect(folder.linkTarget("files/file") == nil)
    } else {
      await expect(.exists) { try await store.extract(to: FilePath(folder.path("files")), options: options) }
    }
    #expect(folder.contents("victim/a") == Data("safe".utf8))
    #expect(folder.contents("victim/file") == Data("safe".utf8))
  }

  @Test func linksThatLeadOut() async throws {
    let inside = [
      "in1": "a", "in2": "./a", "D/in3": "../a", "D/E/in4": "../..", "in5": "dangling", "D/in6": ".//../D/E",
      "in7": "..a",
    ]
    let outside = [
      "out1": "/etc/passwd", "out2": "..", "D/out3": "../../x", "D/E/out4": "../../../x", "out5": "D/E/in4/..",
      "out6": "D/..",
      "out7": "./../x", "out8": "//", "D/out9": "E/../../../..",
    ]
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["a": "1", "D/E/f": "2"])
    for (path, target) in inside.merging(outside, uniquingKeysWith: { $1 }) {
      try folder.makeLink("source/" + path, to: target)
    }
    let store = try folder.store()
    try await store.install(folder: FilePath(source), as: "P")

    let result = try await store.extract(to: FilePath(folder.path("target")))
    #expect(Dictionary(uniqueKeysWithValues: result.refusedLinks.map { ($0.path, $0.target) }) == outside)
    #expect(result.linkCount == inside.count)
    for (path, target) in inside { #expect(folder.linkTarget("target/" + path) == target) }
    for path in outside.keys { #expect(folder.linkTarget("target/" + path) == nil) }

    var options = Store.ExtractOptions()
    options.createsUnsafeLinks = true
    let all = try await store.extract(to: FilePath(folder.path("unsafe")), options: options)
    #expect(all.linkCount == inside.count + outside.count && all.refusedLinks.isEmpty)
    for (path, target) in outside { #expect(folder.linkTarget("unsafe/" + path) == target) }
  }

  /// Links that stay in the store may lead out of one of its folders.
  @Test func linksAreJudgedByTheTarget() async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["a": "1", "D/f": "2"])
    try folder.makeLink("source/D/up", to: "../a")
    let store = try folder.store()
    try await store.install(folder: FilePath(source), as: "P")
    #expect(try await store.extract(to: FilePath(folder.path("all"))).refusedLinks.isEmpty)
    #expect(try await store.extract("D", to: FilePath(folder.path("part"))).refusedLinks.map(\.path) == ["up"])
  }

  /// A large file is written by several threads at once: it is listed once, and nothing is left of it.
  @Test func damagedAssets() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let files = ["a": noise(90_000, seed: 1), "large": noise(40_000_000, seed: 2), "whole": noise(17_000_000, seed: 3)]
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      let segments = folder.path("store/segments")
      let before = Set(try FileManager.default.contentsOfDirectory(atPath: segments))
      let pack = try PackID(validating: name)
      try await store.install(folder: FilePath(folder.makeFolder("source-" + name, [name: bytes])), as: pack)
      let new = Set(try FileManager.default.contentsOfDirectory(atPath: segments)).subtracting(before)
      for segment in new where name != "whole" {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: "\(segments)/\(segment)"))
        guard try file.seekToEnd() > 85_000 else { continue }
        try file.seek(toOffset: 50_000)
        try file.write(contentsOf: Data(repeating: 0x55, count: 16))
        try file.close()
      }
    }
    let reopened = try folder.store()
    await expect(.corrupt) { try await reopened.extract(to: FilePath(folder.path("strict"))) }
    var options = Store.ExtractOptions()
    options.continuesAfterDamage = true
    let reports = Mutex<[Store.ExtractProgress]>([])
    let result = try await reopened.extract(to: FilePath(folder.path("target")), options: options) { progress in
      reports.withLock { $0.append(progress) }
    }
    #expect(result.damaged.map(\.path).sorted() == ["a", "large"])
    #expect(result.damaged.allSatisfy { $0.error.code == .corrupt })
    #expect(result.fileCount == 1 && result.byteCount == 17_000_000)
    #expect(folder.contents("target/whole") == files["whole"])
    #expect(folder.contents("target/a") == nil && folder.contents("target/large") == nil)
    #expect(reports.withLock { $0.last?.fraction } == 1)

    // Existing files are worth more than none.
    options.overwrites = true
    let old = ["a": "old a", "large": "old large", "whole": "old whole"]
    try folder.makeFolder("older", old)
    let overwriting = try await reopened.extract(to: FilePath(folder.path("older")), options: options)
    #expect(overwriting.damaged.map(\.path).sorted() == ["a", "large"] && overwriting.fileCount == 1)
    #expect(
      folder.contents("older/a") == Data("old a".utf8) && folder.contents("older/large") == Data("old large".utf8))
    #expect(folder.contents("older/whole") == files["whole"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("older")).sorted() == old.keys.sorted())
    options.continuesAfterDamage = false
    try folder.makeFolder("older", old)
    await expect(.corrupt) {
      try await reopened.extract(pack: "large", to: FilePath(folder.path("older")), options: options)
    }
    await expect(.corrupt) {
      try await reopened.extract(pack: "a", to: FilePath(folder.path("older")), options: options)
    }
    for (name, text) in old { #expect(folder.contents("older/\(name)") == Data(text.utf8)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("older")).sorted() == old.keys.sorted())
  }

  /// Links are replaced as files are.
  @Test func linksThatAreReplaced() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    try folder.makeFolder("source", ["a": "1"])
    for name in ["over file", "over link", "over folder"] { try folder.makeLink("source/\(name)", to: "a") }
    try await store.install(folder: FilePath(folder.path("source")), as: "P")
    try folder.makeFolder("target", ["over file": "old", "over folder/b": "kept"])
    try folder.makeLink("target/over link", to: "b")
    var options = Store.ExtractOptions()
    options.overwrites = true
    options.threadCount = 1
    await expect(.wrongKind) { try await store.extract(to: FilePath(folder.path("target")), options: options) }
    #expect(folder.contents("target/over folder/b") == Data("kept".utf8))
    try FileManager.default.removeItem(atPath: folder.path("target/over folder"))
    try await store.extract(to: FilePath(folder.path("target")), options: options)
    for name in ["over file", "over link", "over folder"] { #expect(folder.linkTarget("target/\(name)") == "a") }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("target")).sorted() == [
        "a", "over file", "over folder", "over link",
      ])
  }

  @Test func emptyPaths() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    await expect(.invalidArgument) { try await store.extract(to: "") }
    #expect { try Store(at: "") } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
    await #expect { try await store.install(folder: "", as: "P") } throws: {
      ($0 as? PackStoreError)?.code == .invalidArgument
    }
    #expect {
      try Store(at: FilePath(folder.path("cached")), options: .cached(in: ""))
    } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  @Test func missingFolder() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    await expect(.notFound) { try await store.extract("None", to: FilePath(folder.path("target"))) }
    await expect(.notFound) { try await store.extract(pack: "None", to: FilePath(folder.path("target"))) }
  }

  /// A cancelled extraction leaves no partial file, of any size, and keeps the file that it was to replace.
  @Test(arguments: [false, true]) func cancellation(overwrites: Bool) async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let files = ["folder/big": noise(48_000_000, seed: 3), "a small one": noise(1_000, seed: 4)]
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
    let task = Mutex<Task<(any Error)?, Never>?>(nil)
    let target = folder.path("target")
    if overwrites { try folder.makeFolder("target", ["folder/big": "old"]) }
    var options = Store.ExtractOptions()
    options.overwrites = overwrites
    let started = Task { [options] () -> (any Error)? in
      do {
        try await store.extract(to: FilePath(target), options: options) { _ in
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
    #expect(folder.contents("target/folder/big") == (overwrites ? Data("old".utf8) : nil))
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path("target/folder"))
    #expect((names ?? []) == (overwrites ? ["big"] : []))
    #expect([nil, files["a small one"]].contains(folder.contents("target/a small one")))
  }

  @Test(arguments: [1, 2, 7])
  func threadCounts(_ threadCount: Int) async throws {
    let folder = TemporaryFolder()
    let files = variedFiles()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
    var options = Store.ExtractOptions()
    options.threadCount = threadCount
    let result = try await store.extract(to: FilePath(folder.path("target")), options: options)
    #expect(result.fileCount == files.count && result.folderCount == 16)
    for (path, bytes) in files { #expect(folder.contents("target/" + path) == bytes, "\(path)") }
  }

  private func expect(
    _ code: PackStoreError.Code, _ body: () async throws -> Store.ExtractResult,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await #expect(sourceLocation: sourceLocation) { try await body() } throws: { ($0 as? PackStoreError)?.code == code }
  }

  private func mode(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) ?? -1
  }

  /// The umask can only be read by setting it, so the mode of a new file shows it.
  private func currentUmask() -> Int {
    let folder = TemporaryFolder()
    #if canImport(Glibc)
      let file = open(folder.path("probe"), O_CREAT | O_WRONLY, 0o777)
      close(file)
    #endif
    return 0o777 & ~mode(folder.path("probe"))
  }
}

extension Store.Options {
  fileprivate static func cached(in folder: String) -> Self {
    var options = createIfMissing
    options.cache = .init(folder: FilePath(folder), byteBudget: 1 << 20)
    return options
  }
}
