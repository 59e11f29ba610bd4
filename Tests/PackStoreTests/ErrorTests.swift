import Foundation
import Testing

@testable import PackStore

@Suite struct ErrorTests {
  @Test func corruption() {
    var error = PackStoreError(.corrupt, "checksum mismatch", about: .storeFile("segments/3f2a"))
    error.offset = 4096
    error.asset = "music/theme"
    #expect(
      "\(error)"
        == "segments/3f2a, byte 4096, asset 'music/theme': checksum mismatch; call Store.verify, then Store.repair")
  }

  struct Golden: Sendable {
    var subject: PackStoreError.Subject?
    var code = PackStoreError.Code.refused
    var fault: String
    var systemError: Errno?
    var remedy: String?
    var text: String
  }

  /// The form of all errors: `object: fault: system error; remedy`. Faults are not inspected.
  @Test(arguments: [
    Golden(
      subject: .folder("Assets"), fault: "contains files that cannot be stored", remedy: "rename them",
      text: "'Assets': contains files that cannot be stored; rename them"),
    Golden(
      subject: .pack("Tutorial"), code: .conflict, fault: "changed by another writer since the transaction began",
      text:
        "pack 'Tutorial': changed by another writer since the transaction began; stage the change again, as Store.change does"
    ),
    Golden(
      subject: .version("Tutorial", 3), code: .notFound, fault: "not kept (kept: 1, 2)",
      text: "version 'Tutorial@3': not kept (kept: 1, 2)"),
    Golden(subject: .store("Packs"), code: .notAStore, fault: "not a store", text: "'Packs': not a store"),
    Golden(
      subject: .store(nil), code: .readOnly, fault: "open for reading only",
      text: "store: open for reading only; open the store for writing"),
    Golden(
      subject: .file("/etc/key"), code: .ioError, fault: "cannot open", systemError: .permissionDenied,
      text: "'/etc/key': cannot open: Permission denied"),
    Golden(subject: .path("a"), code: .notFound, fault: "no such asset", text: "'a': no such asset"),
    Golden(
      subject: .cacheFolder("/c"), code: .ioError, fault: "cannot be used", systemError: .readOnlyFileSystem,
      text: "cache folder '/c': cannot be used: Read-only file system"),
    Golden(
      subject: .value("a b"), code: .invalidArgument, fault: "invalid name of a pack", remedy: "use letters",
      text: "'a b': invalid name of a pack; use letters"),
    Golden(
      subject: .parameter("level"), code: .invalidArgument, fault: "99 is not in -7 to 22",
      text: "level: 99 is not in -7 to 22"),
    Golden(
      subject: .channel(.live), code: .invalidArgument, fault: "this channel cannot be closed",
      text: "channel 'live': this channel cannot be closed"),
    Golden(
      code: .stale, fault: "the file 'x' names the pack 'x'", text: "the file 'x' names the pack 'x'; try again later"),
  ])
  func errorsHaveOneForm(_ golden: Golden) {
    let error = PackStoreError(
      golden.code, golden.fault, about: golden.subject, systemError: golden.systemError, remedy: golden.remedy)
    #expect("\(error)" == golden.text)
  }

  /// Programs compare type and name.
  @Test func subjectsAreDecodedAsTheyWere() throws {
    let subjects: [PackStoreError.Subject] = [
      .store(nil), .store("s"), .site("https://example.org"), .pack("P"), .version("P", 3), .path("a"), .folder("f"),
      .file("f"), .storeFile("segments/1"), .cacheFolder("/c"), .delta("d"), .key("k"), .channel(.live),
      .product("game"),
      .pattern("*"), .value("v"), .parameter("level"),
    ]
    #expect(Set(subjects.map(\.type)).count == subjects.count - 1)
    #expect(try JSONDecoder().decode([PackStoreError.Subject].self, from: JSONEncoder().encode(subjects)) == subjects)
    let later = #"{"type":"planet","name":"Mars"}"#
    #expect(try JSONDecoder().decode(PackStoreError.Subject.self, from: Data(later.utf8)) == .value("Mars"))
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
    let file = try #require(error?.subject?.name), offset = try #require(error?.offset)
    #expect(file.hasPrefix("segments/") && !file.contains(", asset ") && error?.asset == path)
    #expect(error?.finding == "\(file), byte \(offset), asset '\(path)': checksum mismatch")
    let other = PackStoreError(.ioError, "cannot open the folder", file: "/a, asset b")
    #expect(other.asset == nil && other.finding == "'/a, asset b': cannot open the folder")
  }

  /// What version 0.1.0 encoded, which had no suggestions; and all that this one encodes.
  @Test func isDecoded() throws {
    let old = #"{"code":101,"reason":"no such asset","file":"a","notices":[]}"#
    let decoded = try JSONDecoder().decode(PackStoreError.self, from: Data(old.utf8))
    #expect(decoded == PackStoreError(.notFound, "no such asset", file: "a"))
    let named = #"{"code":101,"reason":"no pack","pack":"P","notices":[],"suggestions":["Q"],"topic":"lostRoot"}"#
    #expect(try JSONDecoder().decode(PackStoreError.self, from: Data(named.utf8)).subject == .pack("P"))
    var full = PackStoreError(.corrupt, "checksum mismatch", file: "segments/1", systemError: .ioError)
    full.asset = "a"
    full.offset = 4
    full.neededByteCount = 5
    full.missingByteCount = 7
    full.holder = 6
    let notice = #"{"kind":"unreadable","path":"l","systemError":13}"#
    full.notices = [try JSONDecoder().decode(Store.InstallNotice.self, from: Data(notice.utf8))]
    full.specificRemedy = "do something"
    full.detail = .lostRoot
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
    #expect("\(error)" == "'segments/1': cannot write: No space left on device; make room for 1.0 MB")
  }

  /// What people can do something about is the store's disk, and not a file of the core's.
  @Test func fullDiskOfAStore() throws {
    var error = PackStoreError(.noSpace, "cannot write", file: "segment-1", systemError: .noSpace)
    error.neededByteCount = 1_048_576
    let folder = TemporaryFolder()
    let store = try folder.store("Packs")
    let expected =
      "'\(store.path)': no room on its disk: No space left on device; make room for 1.0 MB there"
    let transaction = try store.makeTransaction()
    #expect("\(transaction.explain(error, of: "P"))" == expected)
    #expect { try naming(store.path) { throw error } } throws: { "\($0)" == expected }
  }

  @Test func lowVersionNumberNamesTheNextOne() async throws {
    let folder = TemporaryFolder(), store = try folder.store("Packs")
    var options = Store.InstallOptions()
    options.version = 5
    try await store.install(folder: FilePath(folder.makeFolder("1", ["a": "1"])), as: "P", options: options)
    options.version = 3
    let error = await #expect(throws: PackStoreError.self) {
      try await store.install(folder: FilePath(folder.makeFolder("2", ["a": "2"])), as: "P", options: options)
    }
    #expect(
      error.map { "\($0)" }
        == "pack 'P': the version number must be above 5, the highest number that the pack ever had;"
        + " use 6 or a higher number, or leave out the number")
  }

  /// The cache folder may be on another disk than the store.
  @Test func fullDiskOfACacheFolder() throws {
    let folder = TemporaryFolder(), store = try folder.store("Packs")
    let error = PackStoreError(.noSpace, "cannot write", about: .cacheFolder("/tmp"), systemError: .noSpace)
    #expect { try naming(store.path) { throw error } } throws: {
      "\($0)" == "cache folder '/tmp': no room on its disk: No space left on device; make room there"
    }
  }

  @Test func anotherWriter() {
    var error = PackStoreError(.busy, "another writer holds the lock")
    error.holder = 4711
    #expect("\(error)" == "another writer holds the lock; wait for process 4711")
  }

  @Test func missingAsset() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    #expect { try store.contents(of: "Videos/None.m4v") } throws: {
      ($0 as? PackStoreError)?.detail == .noAsset && ($0 as? PackStoreError)?.subject == .path("Videos/None.m4v")
    }
  }

  @Test func missingPack() throws {
    let folder = TemporaryFolder()
    let store = try folder.store()
    #expect { try store.contents(of: "a", pack: "Tutorial") } throws: {
      "\($0)" == "pack 'Tutorial': not in the store (packs: none)"
    }
  }

  @Test func missingStore() {
    let folder = TemporaryFolder()
    #expect { try Store(at: FilePath(folder.path("none")), options: .existing) } throws: {
      ($0 as? PackStoreError)?.detail == .noDirectory && ($0 as? PackStoreError)?.subject == .store(folder.path("none"))
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
      ($0 as? PackStoreError)?.detail == .noFolder && ($0 as? PackStoreError)?.subject == .folder(folder.path("none"))
    }
  }

  @Test func codesHaveNames() {
    #expect("\(PackStoreError.Code.corrupt)".isEmpty == false)
    #expect(PackStoreError.Code.corrupt.rawValue == 300)
  }
}
