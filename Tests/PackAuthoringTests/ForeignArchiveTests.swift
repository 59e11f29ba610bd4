import Foundation
import PackStore
import Testing

@testable import PackArchives
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

  /// Empty files, empty archives and web pages are named in the error, also before all of the file was received.
  @Test func filesThatAreNoArchives() throws {
    let folder = FilePath(try temporary.makeFolder("others", [:]))
    let zeros = [UInt8](repeating: 0, count: 10_240)
    let files: [(name: String, bytes: [UInt8], finding: String)] = [
      ("null.tar", [], "'null.tar': empty"),
      ("empty.tar", zeros, "'empty.tar': an archive without entries"),
      ("page.zip", Array("<!DOCTYPE html><html>log in</html>".utf8), "'page.zip': a web page, not an archive"),
      (
        "mark.zip", [0xEF, 0xBB, 0xBF] + Array("\r\n <HTML lang=\"en\">".utf8),
        "'mark.zip': a web page, not an archive"
      ),
      ("text.zip", Array("<htm".utf8), "'text.zip': not an archive of a known kind"),
      ("one.tar", [0, 0, 1], "'one.tar': not an archive of a known kind"),
    ]
    for (name, bytes, finding) in files {
      let path = folder.appending(name)
      try Data(bytes).write(to: URL(fileURLWithPath: path.string))
      #expect { _ = try ForeignArchive(path, name: name) } throws: { ($0 as? PackStoreError)?.finding == finding }
      #expect {
        try ForeignArchive.checkStart(Array(bytes.prefix(ForeignArchive.startByteCount)), name: name)
      } throws: { ($0 as? PackStoreError)?.finding == finding }
    }
    for name in Samples.names("good") {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: Samples.archive("good/\(name)").string))
      #expect(throws: Never.self, "\(name)") {
        try ForeignArchive.checkStart(Array(bytes.prefix(ForeignArchive.startByteCount)), name: name)
      }
    }
  }

  /// The error for each archive, and that nothing is written.
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

  /// Written archives have the same bytes each time, and an independent reader finds the same files.
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

  /// Each byte of an archive is changed, in steps: the result is the same files, or an error.
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

  // MARK: - Archives of other programs

  /// Runs a script of the shell in the temporary folder.
  private func shell(_ script: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-ec", script]
    process.currentDirectoryURL = URL(fileURLWithPath: temporary.path)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(script)")
  }

  private static func has(_ program: String, _ answer: String) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "\(program) --version | grep -q '\(answer)'"]
    process.standardError = FileHandle.nullDevice
    try? process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  private static let hasGNUTar = has("tar", "GNU tar")
  private static let hasZstd = has("zstd", "Zstandard")

  /// Zeros in an archive without a map of holes took as much room as data, and were not found as holes.
  @Test(.enabled(if: hasGNUTar)) func zerosBecomeHoles() throws {
    try shell(
      """
      mkdir zeros; cd zeros; truncate -s 32M all; (printf begin; head -c 8388608 /dev/zero; printf end) >middle
      (printf begin; head -c 8388608 /dev/zero) >last; cd ..; tar -C zeros -cf zeros.tar .
      """)
    let folder = temporary.path("unpacked")
    try ForeignArchive(FilePath(temporary.path("zeros.tar"))).unpack(into: FilePath(folder))
    #expect(try snapshot(folder) == snapshot(temporary.path("zeros")))
    for name in ["all", "middle", "last"] {
      var status = stat()
      #expect(stat("\(folder)/\(name)", &status) == 0 && status.st_blocks * 512 < 1 << 20, "\(name)")
    }
  }

  private func unpack(_ name: String) throws -> [String: String] {
    let folder = temporary.path("out-\(UUID().uuidString)")
    try ForeignArchive(FilePath(temporary.path(name))).unpack(into: FilePath(folder))
    return try snapshot(folder)
  }

  /// All forms of sparse files, with a hole at the beginning, at the end, in the middle, many of them, and nothing but one.
  @Test(
    .enabled(if: hasGNUTar),
    arguments: ["gnu --sparse", "pax --sparse-version=0.0", "pax --sparse-version=0.1", "pax --sparse-version=1.0"])
  func sparseFiles(_ form: String) throws {
    try shell(
      """
      mkdir tree; cd tree; truncate -s 1M first; printf x >>first; printf x >last; truncate -s 3000001 last
      truncate -s 70000 holes; : >empty; printf text >text; truncate -s 500000 middle
      printf one | dd of=middle bs=1 seek=100000 conv=notrunc; printf two | dd of=middle bs=1 seek=400000 conv=notrunc
      truncate -s 4M many; for i in $(seq 0 8 500); do printf $i | dd of=many bs=4096 seek=$i conv=notrunc; done
      cd ..; tar -C tree --sparse --format=\(form) -cf sparse.tar .; tar -C tree -cf plain.tar .
      test $(stat -c %s sparse.tar) -lt 1000000
      """)
    let expected = try snapshot(temporary.path("tree"))
    for name in ["sparse.tar", "plain.tar"] { #expect(try unpack(name) == expected, "\(name)") }
    let path = FilePath(temporary.path("sparse.tar"))
    let byteCount = try ForeignArchive(path).list { _ in }.byteCount
    try ForeignArchive(path, limits: .init(byteCount: byteCount)).list { _ in }
    #expect(throws: PackStoreError.self, "zeros count, too") {
      try ForeignArchive(path, limits: .init(byteCount: byteCount - 1)).list { _ in }
    }
  }

  /// Labels, folders of incremental backups, hard links to links, and files that link to themselves.
  @Test(.enabled(if: hasGNUTar)) func otherEntriesOfTar() throws {
    try shell(
      """
      mkdir -p tree/sub; cd tree; echo x >a; ln -s a s; ln s s2; ln s sub/s3; echo y >sub/b; cd ..
      tar -C tree -V label -cf label.tar .; tar -C tree --format=pax -V label -cf pax.tar .
      tar -C tree --listed-incremental=list -cf incremental.tar .
      tar -C tree --format=pax --listed-incremental=list2 -cf pax-incremental.tar .
      tar -C tree -cf links.tar a s s2 sub/s3 sub/b
      python3 -c "
      import tarfile, io
      with tarfile.open('self.tar', 'w') as t:
        for name, data in (('a', b'x\\n'), ('sub/b', b'y\\n')):
          i = tarfile.TarInfo(name); i.size = 2; t.addfile(i, io.BytesIO(data))
        for name in 's', 's2', 'sub/s3':
          i = tarfile.TarInfo(name); i.type = tarfile.SYMTYPE; i.linkname = 'a'; t.addfile(i)
        for name, link in (('a', 'a'), ('./sub/b', 'sub/b'), ('s', './s')):
          i = tarfile.TarInfo(name); i.type = tarfile.LNKTYPE; i.linkname = link; t.addfile(i)
      "
      """)
    let expected = try snapshot(temporary.path("tree"))
    #expect(expected.count == 5)
    for name in ["label", "pax", "incremental", "pax-incremental", "links", "self"] {
      #expect(try unpack("\(name).tar") == expected, "\(name)")
    }
  }

  /// Frames that decoders skip, at the beginning, in the middle and at the end, as pzstd and seekable files have them; and windows that
  /// the caller has to allow.
  @Test(.enabled(if: hasZstd)) func framesOfZstd() throws {
    try shell(
      """
      mkdir tree; head -c 300000 /dev/urandom >tree/noise; echo text >tree/text; tar -C tree -cf plain.tar .
      skip() { printf '\\120\\052\\115\\030\\004\\000\\000\\000abcd'; }
      zstd -q <plain.tar >z.zst; head -c 1000 plain.tar | zstd -q >first.zst; tail -c +1001 plain.tar | zstd -q >second.zst
      (skip; cat z.zst) >skip.zst; (skip; skip; cat first.zst; skip; cat second.zst; skip) >all.zst
      head -c 20000000 /dev/zero >tree/zeros; tar -C tree -c . | zstd -q --ultra -22 --long=27 >long.zst
      """)
    for name in ["skip.zst", "all.zst"] { #expect(try unpack(name).count == 2, "\(name)") }
    let path = FilePath(temporary.path("long.zst"))
    #expect(throws: PackStoreError.self) { try ForeignArchive(path).list { _ in } }
    var limits = ForeignArchive.Limits()
    limits.windowByteCount = 128 << 20
    #expect(try ForeignArchive(path, limits: limits).list { _ in }.fileCount == 3)
  }

  /// Zip files with other bytes: whole, so they are refused and not damaged, and the remedy makes them readable.
  @Test func zipWithOtherBytes() throws {
    let zip = try Data(contentsOf: URL(fileURLWithPath: Samples.folder.path("good/stored.zip")))
    let count = zip.count
    for (before, after, finding) in [
      ("#!/bin/sh\n", "", "has 10 bytes before the zip file"), ("x", "", "has 1 byte before the zip file"),
      ("", "\n", "has 1 byte after the end of the zip file"),
      ("", String(repeating: "page", count: 60_000), "has 240000 bytes after the end of the zip file"),
      ("#!", "\r\n", "has 2 bytes after the end of the zip file"),
    ] {
      let path = FilePath(temporary.path("a.zip"))
      try (Data(before.utf8) + zip + Data(after.utf8)).write(to: URL(fileURLWithPath: path.string))
      let error = #expect(throws: PackStoreError.self) { try ForeignArchive(path).list { _ in } }
      #expect(error?.code == .refused && error?.reason == finding, "\(String(describing: error))")
      let remedy =
        after.isEmpty
        ? "remove them with 'tail -c +\(before.utf8.count + 1)', or create it again"
        : "remove them with 'head -c \(before.utf8.count + count)'"
      #expect(error?.remedy == remedy, "\(String(describing: error))")
    }
  }

  /// Names in a code page of DOS, and names that have a field in UTF-8.
  @Test func namesOfZip() throws {
    try shell(
      """
      python3 -c "
      import struct, zipfile, zlib
      def zip(path, name, field=b''):
        info = zipfile.ZipInfo('x' * len(name)); info.extra = field
        with zipfile.ZipFile(path, 'w') as z: z.writestr(info, b'data')
        data = open(path, 'rb').read().replace(b'x' * len(name), name)
        open(path, 'wb').write(data)
      def field(name, text, version=1):
        body = struct.pack('<BI', version, zlib.crc32(name)) + text
        return struct.pack('<HH', 0x7075, len(body)) + body
      name, text = b'caf\\x82.txt', 'caf\\u00e9.txt'.encode()
      zip('plain.zip', name); zip('field.zip', name, field(name, text)); zip('old.zip', name, field(b'other', text))
      zip('version.zip', name, field(name, text, 2)); zip('bad.zip', name, field(name, b'../out'))
      "
      """)
    func names(_ zip: String, _ encoding: ForeignArchive.NameEncoding? = nil) throws -> [String] {
      var archive = try ForeignArchive(FilePath(temporary.path(zip))), names: [String] = []
      archive.nameEncoding = encoding
      try archive.list { names.append($0.path) }
      return names
    }
    #expect(try names("field.zip") == ["caf\u{e9}.txt"])
    for zip in ["plain.zip", "old.zip", "version.zip"] {
      let error = #expect(throws: PackStoreError.self) { try names(zip) }
      #expect(error?.reason == #"contains 'caf\x82.txt', whose name is not UTF-8"#, "\(zip)")
      #expect(error?.remedy == "set the encoding of names with --names, for example --names cp437")
      for encoding in [ForeignArchive.NameEncoding.cp437, .cp850] {
        #expect(try names(zip, encoding) == ["caf\u{e9}.txt"])
      }
      #expect(try names(zip, .latin1) == ["caf\u{82}.txt"])
    }
    #expect(throws: PackStoreError.self) { try names("bad.zip", .cp437) }
  }
}
