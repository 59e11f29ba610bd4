import Foundation
import PackStore
import Testing

@testable import PackAuthoring

/// Archives that `Tests/Reader/foreign_archives.py` made, once for all tests here.
private enum Samples {
  static let folder: TemporaryFolder = {
    let folder = try! TemporaryFolder()
    let (status, output) = try! run("foreign_archives.py", [folder.path])
    precondition(status == 0, String(decoding: output, as: UTF8.self))
    return folder
  }()

  /// Runs a program of `Tests/Reader`.
  static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: Data) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Reader/\(program)")
    process.arguments = ["python3", reader.path] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }

  static func names(_ folder: String) -> [String] {
    try! FileManager.default.contentsOfDirectory(atPath: self.folder.path(folder)).sorted()
  }

  static func archive(_ name: String) -> FilePath { FilePath(folder.path(name)) }
}

/// Everything below a folder: content, or a link's target, and whether it can be executed.
private func snapshot(_ folder: String) throws -> [String: String] {
  var result: [String: String] = [:]
  let files = FileManager.default
  for name in files.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
    let path = folder + "/" + name
    let kind = try files.attributesOfItem(atPath: path)
    switch kind[.type] as? FileAttributeType {
    case .typeSymbolicLink?: result[name] = "-> " + (try files.destinationOfSymbolicLink(atPath: path))
    case .typeRegular?:
      let mode = (kind[.posixPermissions] as? Int ?? 0) & 0o111 == 0 ? "file" : "program"
      result[name] = mode + " " + Digest256(hashing: Array(try Data(contentsOf: URL(fileURLWithPath: path)))).hex
    default: break
    }
  }
  return result
}

@Suite struct ForeignArchiveTests {
  let temporary = try! TemporaryFolder()

  private func store() throws -> Store { try temporary.store() }

  @Test func everyGoodArchiveHoldsTheSame() async throws {
    let expected = try snapshot(Samples.folder.path("tree"))
    #expect(expected.count == 7)
    let names = Samples.names("good")
    #expect(names.count >= 20)
    for name in names {
      let archive = try ForeignArchive(Samples.archive("good/\(name)"))
      let folder = temporary.path("out-\(name)")
      let unpacked = try archive.unpackForInstall(into: FilePath(folder))
      #expect(try snapshot(unpacked.folder.string) == expected, "\(name)")
      #expect((unpacked.manifest != nil) == name.hasPrefix("pack-"), "\(name)")
      var listed = 0
      let totals = try archive.list { _ in listed += 1 }
      #expect(
        totals == unpacked.totals && listed == totals.fileCount + totals.linkCount + totals.folderCount, "\(name)")
    }
  }

  @Test func installsAsAddDoes() async throws {
    let store = try store()
    let folder = FilePath(Samples.folder.path("tree"))
    let added = try await store.install(folder: folder, as: "Added")
    for (name, pack) in [
      ("good/hidden-name.png", "Zip" as PackID), ("good/pack-lzfse.aar", "Aar"), ("good/pax.tar.gz", "Tar"),
    ] {
      let result = try await store.install(
        ForeignArchive(Samples.archive(name)), as: pack, temporaryFolder: FilePath(temporary.path))
      #expect(result.install.version.catalog == added.version.catalog, "\(name)")
    }
    #expect(try namesInFolder(FilePath(temporary.path)) == ["store"], "nothing is left of what was unpacked")
  }

  @Test func namesOfAssetPacks() async throws {
    let archive = try ForeignArchive(Samples.archive("good/pack-plain.aar"))
    let result = try await store().install(archive, temporaryFolder: FilePath(temporary.path))
    #expect(result.install.version.pack == "Tutorial")
    #expect(result.manifest?.otherKeys == ["toolsVersion"])
    #expect(
      result.manifest?.attributes?.platforms == [.iOS] && result.manifest?.attributes?.downloadPolicy == .onDemand)
    let chosen = try archive.packName(result.manifest, chosen: "Mine")
    #expect(chosen == "Mine")
    var other = try #require(result.manifest)
    other.assetPackID = "a/b"
    #expect(throws: PackStoreError.self) { try archive.packName(other) }
    let nameless = try ForeignArchive(Samples.archive("good/pax.tar"))
    await #expect(throws: PackStoreError.self) {
      try await store().install(nameless, temporaryFolder: FilePath(temporary.path))
    }
  }

  /// What is said of each, and that nothing happens.
  @Test func hostileArchives() async throws {
    let store = try store()
    try await store.install(folder: FilePath(Samples.folder.path("tree")), as: "P")
    let before = temporary.files("store")
    let spool = FilePath(try temporary.makeFolder("spool", [:]))
    let names = Samples.names("hostile")
    #expect(Set(names).subtracting(hostileMessages.keys) == [], "each has its message")
    for name in names {
      let path = Samples.archive("hostile/\(name)")
      do {
        let result = try await store.install(ForeignArchive(path), as: "P", temporaryFolder: spool)
        Issue.record("\(name) was installed: \(result.totals)")
      } catch let error as PackStoreError {
        let message = "\(error.code): \(error.finding.replacing(path.string, with: name))"
        #expect(message == hostileMessages[name], "\(name)")
        #expect([.refused, .corrupt, .invalidArgument, .wrongKind].contains(error.code), "\(name)")
      }
      #expect(try namesInFolder(spool).isEmpty, "\(name)")
    }
    #expect(temporary.files("store") == before, "the store is as it was")
  }

  /// What is written is the same each time, and a reader that shares no code with it finds the same in it.
  @Test(arguments: [AppleArchiveWriter.Coding.stored, .deflate])
  func writtenArchives(_ coding: AppleArchiveWriter.Coding) throws {
    let tree = Samples.folder.path("tree")
    let names = ["empty", "readme.txt", "\u{FC}ml\u{E4}ut.txt"]
    func write(_ name: String) throws -> Data {
      let writer = try AppleArchiveWriter(FilePath(temporary.path(name)), coding: coding, modifiedAt: 1_700_000_000)
      try writer.addFolder("Levels")
      for file in ["Levels/1.bin", "Levels/2.txt"] + names {
        try writer.addFile(file, isExecutable: file == "readme.txt", from: FilePath("\(tree)/\(file)"))
      }
      try writer.addFile("bytes", bytes: Array(repeating: 7, count: 3_000_000))
      try writer.addLink("link", to: "Levels/../../outside")
      let byteCount = try writer.finish()
      let data = try Data(contentsOf: URL(fileURLWithPath: temporary.path(name)))
      #expect(byteCount == UInt64(data.count))
      return data
    }
    let first = try write("first.aar")
    #expect(try first == write("second.aar"))
    #expect(try namesInFolder(FilePath(temporary.path)).sorted() == ["first.aar", "second.aar"], "no draft stays")
    #expect(coding == .stored ? first.count > 3_400_000 : first.count < 400_000)
    let (status, output) = try Samples.run(
      "apple_archive_reader.py", ["extract", temporary.path("first.aar"), temporary.path("python")])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
    try ForeignArchive(FilePath(temporary.path("first.aar"))).unpack(into: FilePath(temporary.path("swift")))
    let read = try snapshot(temporary.path("python"))
    #expect(read.count == 7)
    #expect(try read == snapshot(temporary.path("swift")))
    let original = try snapshot(tree)
    for name in ["Levels/1.bin", "Levels/2.txt", "link"] + names { #expect(read[name] == original[name], "\(name)") }
  }

  @Test func writerRefuses() throws {
    let path = FilePath(temporary.path("a.aar"))
    let writer = try AppleArchiveWriter(path)
    for name in ["/a", "a/../b", "a//b", String(repeating: "n", count: 256)] {
      #expect(throws: PackStoreError.self) { try writer.addFile(name, bytes: []) }
    }
    #expect(throws: PackStoreError.self) { try writer.addLink("a", to: "") }
    try writer.finish()
    let other = try AppleArchiveWriter(path)
    #expect(throws: PackStoreError.self) { try other.finish() }
    try other.finish(replacing: true)
  }

  /// A limit is the caller's word, and holds to the byte.
  @Test func limits() throws {
    let path = Samples.archive("good/pax.tar")
    let byteCount = try ForeignArchive(path).list { _ in }.byteCount
    try ForeignArchive(path, limits: .init(byteCount: byteCount)).list { _ in }
    #expect(throws: PackStoreError.self) {
      try ForeignArchive(path, limits: .init(byteCount: byteCount - 1)).list { _ in }
    }
    var few = ForeignArchive.Limits()
    few.entryCount = 8
    #expect(throws: PackStoreError.self) { try ForeignArchive(path, limits: few).list { _ in } }
    #expect(ForeignArchive.defaultLimit(archiveByteCount: 10) == 64 << 20)
    #expect(ForeignArchive.defaultLimit(archiveByteCount: 1 << 20) == 200 << 20)
    #expect(ForeignArchive.defaultLimit(archiveByteCount: .max) == 200_000_000_000)
  }

  /// Each byte of an archive is changed, in steps: what comes is the same files, or an error.
  @Test func damagedBytes() throws {
    let expected = try ForeignArchive(Samples.archive("good/one-way.zip")).list { _ in }
    for name in ["one-way.zip", "wide.zip"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: Samples.folder.path("good/\(name)")))
      for offset in stride(from: 0, to: bytes.count, by: 977) {
        var damaged = bytes
        damaged[offset] ^= 0x21
        let file = temporary.path("damaged")
        try damaged.write(to: URL(fileURLWithPath: file))
        if let totals = try? ForeignArchive(FilePath(file)).list({ _ in }) {
          // Names and times have no sum of their own.
          #expect(totals.byteCount == expected.byteCount, "\(name) at \(offset)")
        }
      }
    }
  }

  /// Wherever an archive is cut, it is refused.
  @Test func cutAnywhere() throws {
    for name in ["pax.tar.gz", "plain.aar", "lzvn.aar", "one-way.zip", "pax.tar"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: Samples.folder.path("good/\(name)")))
      for count in stride(from: 1, to: bytes.count - 10_240, by: bytes.count / 23) {
        let file = temporary.path("cut")
        try bytes.prefix(count).write(to: URL(fileURLWithPath: file))
        #expect(throws: PackStoreError.self, "\(name) of \(count) bytes") {
          try ForeignArchive(FilePath(file)).list { _ in }
        }
      }
    }
  }
}
