import Foundation
import PackStore
import Testing

@Suite struct ReadTests {
  /// A store with one compressible and one incompressible file, a link, an executable and an empty folder.
  private static func makeStore(_ folder: borrowing TemporaryFolder) async throws -> Store {
    let source = try folder.makeFolder(
      "source",
      ["raw": noise(300_000, seed: 1), "packed": text(3_000_000, seed: 2), "empty": Data(), "tool": Data("#!".utf8)])
    try folder.makeLink("source/link", to: "packed")
    try FileManager.default.createDirectory(atPath: folder.path("source/void"), withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("source/tool"))
    let store = try folder.store()
    try await store.install(folder: FilePath(source), as: "P")
    return store
  }

  /// Paths that a program computes need no conversion.
  @Test func pathsAreStrings() async throws {
    let folder = TemporaryFolder()
    let (path, source, target) = (folder.path("S"), try folder.makeFolder("P", ["a": "x"]), folder.path("out"))
    let store = try Store(at: path)
    try await store.install(folder: source, as: "P")
    try await store.extract(to: target)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target + "/a")) == Data("x".utf8))
    #expect(try store.availability(of: "P").isWhole)
    #expect(try await Store.open(at: path).packs().map(\.id) == ["P"])
    for bad in ["", "a\0b"] {
      let error = #expect(throws: PackStoreError.self) { try Store(at: bad) }
      #expect(error?.code == .invalidArgument)
    }
    let missing = #expect(throws: PackStoreError.self) { try store.availability(of: "Q") }
    #expect(missing?.code == .notFound)
  }

  @Test func facts() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    try store.read { snapshot in
      let packed = try snapshot.asset("packed")
      #expect(packed.path == "packed")
      #expect(packed.kind == .file)
      #expect(packed.byteCount == 3_000_000)
      #expect(packed.pack == "P")
      #expect(!packed.isExecutable && !packed.isContiguous)
      #expect(try snapshot.asset("tool").isExecutable)
      #expect(try snapshot.asset("link").kind == .link)
      #expect(try snapshot.asset("link").linkTarget() == "packed")
      #expect(try snapshot.asset("void").kind == .folder)
      #expect(try snapshot.contains("raw"))
      #expect(try !snapshot.contains("war"))
    }
  }

  @Test func spansOfRawAssets() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let expected = noise(300_000, seed: 1)
    let sum = try store.read { snapshot in
      let bytes = try snapshot.bytes(of: "raw")
      #expect(bytes.byteCount == expected.count)
      return bytes.byteOffsets.reduce(0) { $0 &+ Int(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
    }
    #expect(sum == expected.reduce(0) { $0 &+ Int($1) })
  }

  @Test func spanOutlivesItsAssetNotItsSnapshot() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let snapshot = try store.makeSnapshot()
    let bytes = try snapshot.asset("raw").bytes()
    try await store.remove("P")
    #expect(bytes.withUnsafeBytes { Data($0) } == noise(300_000, seed: 1))
  }

  @Test func compressedAssetsCannotBeBorrowed() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    #expect { try store.read { try $0.bytes(of: "packed").byteCount } } throws: {
      ($0 as? PackStoreError)?.code == .notContiguous
    }
  }

  @Test(arguments: ["raw", "packed"])
  func ranges(_ path: String) async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let whole = try store.contents(of: path)
    var generator = SeededGenerator(seed: 4)
    try store.read { snapshot in
      let asset = try snapshot.asset(path)
      for _ in 0..<50 {
        let start = Int.random(in: 0...whole.count, using: &generator)
        let range = start..<Int.random(in: start...min(whole.count, start + 400_000), using: &generator)
        #expect(try asset.contents(range: range) == whole[range])

        var array = [UInt8](repeating: 0, count: range.count + 3)
        var span = array.mutableSpan
        var bytes = span.mutableBytes
        #expect(try asset.read(into: &bytes, range: range) == range.count)
        #expect(array.prefix(range.count).elementsEqual(whole[range]))
        #expect(array.suffix(3) == [0, 0, 0])
      }
    }
  }

  @Test func appending() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    let whole = try store.contents(of: "packed")
    let read = try store.read { snapshot in
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_000, alignment: 8)
      defer { memory.deallocate() }
      var output = OutputRawSpan(buffer: memory, initializedCount: 0)
      let asset = try snapshot.asset("packed")
      try asset.read(appendingTo: &output, range: 0..<500)
      try asset.read(appendingTo: &output, range: 500..<2_000)
      let isFull = output.isFull
      #expect(isFull)
      #expect { try asset.read(appendingTo: &output, range: 0..<1) } throws: {
        ($0 as? PackStoreError)?.code == .invalidArgument
      }
      let count = output.finalize(for: memory)
      return Data(memory.prefix(count))
    }
    #expect(read == whole.prefix(2_000))
  }

  @Test(arguments: [-1..<1, 0..<3_000_001, 3_000_000..<3_000_001])
  func rangesThatLeaveTheFile(_ range: Range<Int>) async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    #expect { try store.read { try $0.asset("packed").contents(range: range) } } throws: {
      ($0 as? PackStoreError)?.code == .invalidArgument
    }
  }

  @Test(arguments: ["link", "void"])
  func whatIsNoFile(_ path: String) async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    #expect { try store.contents(of: path) } throws: { ($0 as? PackStoreError)?.code == .wrongKind }
    #expect { try store.read { try $0.asset("raw").linkTarget() } } throws: {
      ($0 as? PackStoreError)?.code == .wrongKind
    }
  }

  @Test func dataOutlivesSnapshotStoreAndFiles() async throws {
    let folder = TemporaryFolder()
    var contents: [String: Data] = [:]
    do {
      let store = try await Self.makeStore(folder)
      for path in ["raw", "packed", "empty"] { contents[path] = try store.contents(of: path) }
      try await store.remove("P")
    }
    try FileManager.default.removeItem(atPath: folder.path("store"))
    #expect(contents["raw"] == noise(300_000, seed: 1))
    #expect(contents["packed"] == text(3_000_000, seed: 2))
    #expect(contents["empty"] == Data())
  }

  @Test func dataIsTheCallersOwn() async throws {
    let folder = TemporaryFolder()
    let store = try await Self.makeStore(folder)
    var changed = try store.contents(of: "raw")
    changed[0] ^= 0xff
    #expect(try store.contents(of: "raw")[0] == changed[0] ^ 0xff)
  }

  @Test func readsWhileWriting() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let versions = (0..<12).map { text(150_000, seed: UInt64($0)) }
    for (index, bytes) in versions.enumerated() {
      try folder.makeFolder(
        "\(index)", ["a": bytes, "b/c": bytes.prefix(10), "raw": noise(70_000, seed: UInt64(index))])
    }
    try await store.install(folder: FilePath(folder.path("0")), as: "P")
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          var last = Store.Generation(rawValue: 0)
          while last.rawValue < UInt64(versions.count) + 1 {
            let snapshot = try store.makeSnapshot()
            #expect(snapshot.generation >= last)
            last = snapshot.generation
            let pack = snapshot.pack("P")
            let number = try #require(pack).version.number
            let expected = versions[Int(number) - 1]
            #expect(try snapshot.contents(of: "a") == expected)
            #expect(try snapshot.contents(of: "b/c") == expected.prefix(10))
            #expect(try snapshot.contents(of: "raw") == noise(70_000, seed: number - 1))
            await Task.yield()
          }
        }
      }
      for index in 1..<versions.count {
        try await store.install(folder: FilePath(folder.path("\(index)")), as: "P", durability: .atomic)
      }
      try await group.waitForAll()
    }
  }

  /// Locks of neighbouring generations by one process merge into one range, which a collector must not take for one lock
  /// that begins where it looked.
  @Test func snapshotsOfNeighbouringGenerations() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    let versions = (0..<6).map { text(150_000, seed: UInt64($0)) }
    for (index, bytes) in versions.enumerated() { try folder.makeFolder("\(index)", ["a": bytes]) }
    try await store.install(folder: FilePath(folder.path("0")), as: "P")
    let first = try store.makeSnapshot()
    try await store.install(folder: FilePath(folder.path("1")), as: "P")
    let second = try store.makeSnapshot()
    try await store.install(folder: FilePath(folder.path("2")), as: "P")
    let third = try store.makeSnapshot()
    for index in 3..<6 { try await store.install(folder: FilePath(folder.path("\(index)")), as: "P") }
    #expect(try first.contents(of: "a") == versions[0])
    #expect(try second.contents(of: "a") == versions[1])
    #expect(try third.contents(of: "a") == versions[2])
    #expect(try store.contents(of: "a") == versions[5])
  }

  @Test func manyThreadsThroughOneSnapshot() async throws {
    let folder = TemporaryFolder()
    let files = variedFiles()
    let store = try folder.store()
    try await store.install(folder: FilePath(folder.makeFolder("source", files)), as: "P")
    let paths = files.keys.sorted()
    let snapshot = try store.makeSnapshot()
    let failures = paths.indices.map { _ in ManagedFlag() }
    DispatchQueue.concurrentPerform(iterations: paths.count) { index in
      if (try? snapshot.contents(of: paths[index])) != files[paths[index]] { failures[index].raise() }
    }
    #expect(!failures.contains { $0.isRaised })
  }

  @Test func twoWriters() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    for index in 0..<6 { try folder.makeFolder("\(index)", ["f\(index)": "\(index)"]) }
    let root = folder.path
    try await withThrowingTaskGroup { group in
      for index in 0..<6 {
        group.addTask {
          _ = try await store.install(folder: FilePath("\(root)/\(index)"), as: PackID(validating: "P\(index)"))
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.packs().count == 6)
    for index in 0..<6 { #expect(try store.contents(of: "f\(index)") == Data("\(index)".utf8)) }
  }
}
