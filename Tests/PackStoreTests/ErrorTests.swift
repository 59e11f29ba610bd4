import Foundation
import Testing

@testable import PackStore

@Suite struct ErrorTests {
  @Test func corruption() {
    var error = PackStoreError(.corrupt, "checksum mismatch", file: "segments/3f2a")
    error.offset = 4096
    #expect(
      "\(error)" == "checksum mismatch in segments/3f2a at byte 4096: call Store.verify, then Store.repair")
  }

  /// The core's texts do not change, so that the name of what they are about is put where it belongs.
  @Test(arguments: [
    ("the folder holds what cannot be stored", "the folder 'x' holds what cannot be stored"),
    ("another writer changed the pack meanwhile", "another writer changed the pack 'x' meanwhile"),
    ("that version of the pack is not kept", "that version of the pack 'x' is not kept"),
    ("not a store", "'x' is not a store"), ("cannot open", "cannot open 'x'"), ("no such asset", "no such asset 'x'"),
    ("there is no folder 'x' here", "there is no folder 'x' here"),
    ("there is a pipe in the place of the file", "there is a pipe in the place of the file 'x'"),
  ])
  func nameInItsPlace(reason: String, finding: String) {
    #expect(PackStoreError(.refused, reason, file: "x").finding == finding)
  }

  /// A status of the core that Swift does not know would end as one without a name.
  @Test func everyStatusIsKnown() {
    let named = (1..<1000).map { PackStoreError.Code(rawValue: $0) }.filter { $0.description != "unknown" }
    let unknown = named.filter { $0.known == nil }.map(\.description)
    #expect(unknown == ["cancelled"], "a cancelled call throws CancellationError")
    #expect(named.count == PackStoreError.Code.Known.allCases.count + 1)
  }

  /// The offset is the one in the segment, and names that look like the text between are names.
  @Test(arguments: ["Videos/a.m4v", "Videos/a, asset b.m4v", ", asset /b", "Videos/\u{301}a"])
  func corruptionUnderAnAsset(path: String) async throws {
    let folder = TemporaryFolder()
    do {
      let source = try folder.makeFolder("source, asset x", [path: noise(100_000, seed: 1)])
      try await folder.store("store, asset y").install(folder: FilePath(source), as: "P")
    }
    let segments = folder.path("store, asset y/segments")
    for segment in try FileManager.default.contentsOfDirectory(atPath: segments) {
      let file = URL(fileURLWithPath: "\(segments)/\(segment)")
      var bytes = try Data(contentsOf: file)
      guard bytes.count > 100_000 else { continue }
      bytes[50_000] ^= 1
      try bytes.write(to: file)
    }
    let store = try folder.store("store, asset y")
    let error = #expect(throws: PackStoreError.self) { try store.contents(of: path) }
    let file = try #require(error?.file), offset = try #require(error?.offset)
    #expect(file.hasPrefix("segments/") && !file.contains(", asset ") && error?.asset == path)
    #expect(error?.finding == "checksum mismatch in \(file) at byte \(offset), asset \(path)")
    let other = PackStoreError(.ioError, "cannot open the folder", file: "/a, asset b")
    #expect(other.asset == nil && other.finding == "cannot open the folder '/a, asset b'")
  }

  /// What version 0.1.0 encoded, which had no suggestions; and all that this one encodes.
  @Test func isDecoded() throws {
    let old = #"{"code":101,"reason":"no such asset","file":"a","notices":[]}"#
    let decoded = try JSONDecoder().decode(PackStoreError.self, from: Data(old.utf8))
    #expect(decoded == PackStoreError(.notFound, "no such asset", file: "a"))
    var full = PackStoreError(.corrupt, "checksum mismatch", file: "segments/1", systemError: .ioError)
    full.asset = "a"
    full.offset = 4
    full.neededByteCount = 5
    full.missingByteCount = 7
    full.holder = 6
    let notice = #"{"kind":"unreadable","path":"l","systemError":13}"#
    full.notices = [try JSONDecoder().decode(Store.InstallNotice.self, from: Data(notice.utf8))]
    full.specificRemedy = "do something"
    full.topic = .lostRoot
    full.pack = "P"
    full.suggestions = ["Q"]
    for case (let label?, let value) in Mirror(reflecting: full).children {
      #expect("\(value)" != "nil" && "\(value)" != "[]", "the test sets \(label), too")
    }
    let copy = try JSONDecoder().decode(PackStoreError.self, from: JSONEncoder().encode(full))
    #expect(copy == full)
  }

  @Test func fullDisk() {
    var error = PackStoreError(.noSpace, "cannot write", file: "segments/1", systemError: .noSpace)
    error.neededByteCount = 1_048_576
    #expect("\(error)" == "cannot write 'segments/1': No space left on device: make room for 1.0 MB")
  }

  /// What people can do something about is the store's disk, and not a file of the core's.
  @Test func fullDiskOfAStore() throws {
    var error = PackStoreError(.noSpace, "cannot write", file: "segment-1", systemError: .noSpace)
    error.neededByteCount = 1_048_576
    let folder = TemporaryFolder()
    let store = try folder.store("Packs")
    let expected =
      "there is no room on the disk of the store '\(store.path)': No space left on device: make room for 1.0 MB there"
    let transaction = try store.makeTransaction()
    #expect("\(transaction.explain(error, of: "P"))" == expected)
    #expect { try naming(store.path) { throw error } } throws: { "\($0)" == expected }
  }

  @Test func anotherWriter() {
    var error = PackStoreError(.busy, "another writer holds the lock")
    error.holder = 4711
    #expect("\(error)" == "another writer holds the lock: wait for process 4711")
  }

  @Test func missingAsset() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    #expect { try store.contents(of: "Videos/None.m4v") } throws: {
      ($0 as? PackStoreError)?.code == .notFound && "\($0)".contains("'Videos/None.m4v'")
    }
  }

  @Test func missingPack() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    #expect { try store.contents(of: "a", pack: "Tutorial") } throws: {
      "\($0)" == "there is no pack 'Tutorial'; packs: none"
    }
  }

  @Test func missingStore() {
    let folder = TemporaryFolder()
    #expect { try Store(at: FilePath(folder.path("none")), options: .existing) } throws: {
      ($0 as? PackStoreError)?.code == .notAStore && "\($0)".contains("none")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
  }

  @Test func somethingElseThanAStore() throws {
    let folder = TemporaryFolder()
    try folder.makeFolder("other", ["a": "b"])
    #expect { try Store(at: FilePath(folder.path("other"))) } throws: { ($0 as? PackStoreError)?.code == .notAStore }
  }

  @Test(arguments: ["/a", "a//b", "a/", "./a", "a/../b", "a\0b"])
  func impossiblePaths(_ path: String) throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    #expect { try store.contents(of: path) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }

  @Test func readOnlyStore() async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["a": "b"])
    try await folder.store().install(folder: FilePath(source), as: "P")
    let store = try Store(at: FilePath(folder.path("store")), options: .readOnly)
    #expect(try store.contents(of: "a") == Data("b".utf8))
    #expect { _ = try store.makeTransaction() } throws: { ($0 as? PackStoreError)?.code == .readOnly }
  }

  @Test func linksThatAreRefused() async throws {
    let folder = TemporaryFolder()
    let source = try folder.makeFolder("source", ["a": "b"])
    try folder.makeLink("source/tap", to: "a")
    var options = Store.InstallOptions()
    options.links = .refuse
    let store = try folder.store()
    do {
      try await store.install(folder: FilePath(source), as: "P", options: options)
      Issue.record("a link was not refused")
    } catch let error as PackStoreError {
      #expect(error.code == .refused)
      #expect(error.notices.map(\.path) == ["tap"])
      #expect("\(error)".contains("'tap' is a symbolic link"))
    }
    #expect(try store.packs().isEmpty)
  }

  @Test func missingFolder() async throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    await #expect { try await store.install(folder: FilePath(folder.path("none")), as: "P") } throws: {
      ($0 as? PackStoreError)?.code == .notFound && "\($0)".contains("none")
    }
  }

  @Test func codesHaveNames() {
    #expect("\(PackStoreError.Code.corrupt)".isEmpty == false)
    #expect(PackStoreError.Code.corrupt.rawValue == 300)
  }
}
