import Foundation
import Testing

/// `import` of other programs' archives. The content of each kind is tested with `ForeignArchive`.
@Suite struct ImportTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(90_000), to: "folder/Levels/1.bin")
    try playground.write(String(repeating: "text ", count: 9_000), to: "folder/text")
    try playground.link("folder/link", to: "text")
    try playground.makeFolder("tmp")
  }

  /// The words have no spaces.
  private func importing(_ words: [String]) throws -> Run {
    try playground.shell("TMPDIR=$PWD/tmp packstore import \(words.joined(separator: " "))")
  }

  private func importing(_ words: String...) throws -> Run { try importing(words) }

  private func makeAssetPack(_ name: String) throws {
    _ = try playground.shell(
      """
      python3 -c "import sys; sys.path.insert(0, '\(Self.reader)'); import foreign_archives as f; \
      sys.stdout.buffer.write(f.blocks(b'z', f.asset_pack(), f.raw_deflate))" >\(name)
      """)
  }

  private static let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Reader").path

  @Test func archivesAndFoldersBecomeTheSameVersion() throws {
    _ = try playground.shell("tar czf tar.any -C folder . && tar cf plain.tar -C folder text link Levels")
    try playground.packstore("add", "store", "folder", "--pack", "P")
    for source in ["tar.any", "plain.tar", "folder"] {
      let run = try importing("store", source, "--pack", "P", "--json")
      #expect(run.status == 0 && run.errors.isEmpty, "\(source): \(run.errors)")
      #expect(run.output.contains("\"outcome\":\"unchanged\"") && run.output.contains("\"to\":1"), "\(source)")
    }
    let run = try importing("other", "plain.tar", "--pack", "P")
    #expect(
      run.status == 0 && run.lines.first?.hasPrefix("P is at version 1: 2 files, 135.0 kB; ") == true, "\(run.output)")
    #expect(try playground.packstore("extract", "other", "out").status == 0)
    #expect(try playground.shell("diff -r --no-dereference folder out").status == 0)
    #expect(playground.tree("tmp").isEmpty)
  }

  /// The temporary folder of an archive may be deeper than the number of files that a process may open.
  @Test func deepArchivesLeaveNothing() throws {
    let run = try playground.shell(
      """
      deep=$(printf 'd/%.0s' $(seq 500)); mkdir -p "deep/$deep" "deep/${deep%d/}e" && echo bottom > "deep/${deep}file" || exit
      tar cf deep.tar -C deep . && ulimit -n 100 && TMPDIR=$PWD/tmp packstore import store deep.tar --pack D -q
      """)
    #expect(run.status == 0, "\(run.errors)")
    #expect(playground.tree("tmp").isEmpty)
  }

  /// An empty TMPDIR is not the current folder.
  @Test func emptyTemporaryFolder() throws {
    let run = try playground.shell(
      """
      root=$PWD; tar cf plain.tar -C folder . && mkdir gone && cd gone && rmdir "$root/gone" || exit
      TMPDIR= packstore import "$root/store" "$root/plain.tar" --pack P -q
      """)
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test func dryRun() throws {
    try makeAssetPack("a.aar")
    let run = try importing("store", "a.aar", "--dry-run")
    #expect(run.status == 0 && !playground.exists("store"), "\(run.errors)")
    #expect(run.lines.contains { $0.hasPrefix("file") && $0.hasSuffix("  readme.txt") })
    #expect(run.lines.contains { $0.hasPrefix("link") && $0.hasSuffix("  link -> Levels/../../outside") })
    #expect(!run.output.contains("Contents") && !run.output.contains("Manifest.json"))
    #expect(run.lines.last?.hasPrefix("Tutorial would be at version 1: 6 files, ") == true)
    #expect(run.errors.contains("toolsVersion") && !run.errors.contains("platforms"), "\(run.errors)")
    #expect(playground.tree("tmp").isEmpty)
  }

  /// Archives of a folder with files to skip, by their names.
  private func makeArchives(of folder: String) throws -> [String] {
    _ = try playground.shell(
      """
      tar cf a.tar -C \(folder) . && tar czf a.tgz -C \(folder) . && (cd \(folder) && python3 -m zipfile -c ../a.zip .) && \
      packstore add all \(folder) --pack P -q --no-default-excludes --exclude '!*' && packstore export all P -o a.aar -q
      """)
    return ["a.tar", "a.tgz", "a.zip", "a.aar"]
  }

  /// An import of an archive of a folder skips the same files as an add of the folder.
  @Test func archivesAreFilteredAsFolders() throws {
    for (path, text) in [
      (".packignore", "*.psd\nraw/\n"), ("a.psd", "1"), ("b.txt", "2"), (".DS_Store", "3"), ("raw/x", "4"),
      ("in/.packignore", "!a.psd\n"), ("in/a.psd", "5"), ("in/c.o", "6"),
    ] {
      try playground.write(text, to: "mixed/\(path)")
    }
    let optionSets = [
      [], ["--no-default-excludes"], ["--exclude", "*.o"], ["--exclude-from", "list"],
      ["--exclude", "*.o", "--no-default-excludes", "--allow-empty", "--max-removed", "100%"],
    ]
    try playground.write("c.*\nb.txt\n", to: "list")
    for archive in try makeArchives(of: "mixed") {
      for (number, options) in optionSets.enumerated() {
        let stores = ("\(archive)-add-\(number)", "\(archive)-import-\(number)")
        let added = try playground.packstore(
          ["add", stores.0, "mixed", "--pack", "P", "--print-skipped", "-q"] + options)
        let plan = try playground.packstore(
          ["import", stores.1, archive, "--pack", "P", "--print-skipped", "-q", "--dry-run"] + options)
        let imported = try playground.packstore(
          ["import", stores.1, archive, "--pack", "P", "--print-skipped", "-q"] + options)
        #expect(
          added.status == 0 && plan.status == 0 && imported.status == 0, "\(archive) \(options): \(imported.errors)")
        #expect(added.lines.sorted() == imported.lines.sorted(), "\(archive) \(options)")
        #expect(added.lines.sorted() == plan.lines.sorted(), "\(archive) \(options)")
        let listings = try [stores.0, stores.1].map { try playground.packstore("ls", $0).output }
        #expect(listings[0] == listings[1], "\(archive) \(options)")
      }
      let plan = try playground.packstore("import", "new", archive, "--pack", "P", "--dry-run")
      let files = plan.lines.filter { $0.hasPrefix("file") }
      #expect(files.count == 3 && plan.lines.last?.contains("would be at version 1: 3 files") == true, "\(plan.output)")
      #expect(!playground.exists("new"))
    }
  }

  /// An archive with far fewer files than the version before, or with none, is refused as its folder is.
  @Test func archivesWithFewFilesAreRefused() throws {
    for number in 0..<12 { try playground.write("\(number)", to: "many/\(number)") }
    try playground.write("1", to: "few/1")
    try playground.packstore("add", "store", "many", "--pack", "P", "-q")
    for archive in try makeArchives(of: "few") {
      for mode in [[], ["--dry-run"]] {
        let words = ["import", "store", archive, "--pack", "P", "-q"] + mode
        let refused = try playground.packstore(words)
        #expect(
          refused.status == 1 && refused.errors.contains("'\(archive)': the archive contains 1 file, and P@1 has 12; "),
          "\(refused.errors)")
        let empty = try playground.packstore(words + ["--exclude", "*"])
        #expect(
          empty.status == 1
            && empty.errors.contains(
              "'\(archive)': the archive contains no files except skipped files; add --allow-empty"),
          "\(empty.errors)")
      }
    }
    #expect(try playground.packstore("log", "store", "P", "--json").output.contains("\"version\":2") == false)
    #expect(try importing("store", "a.tar", "--pack", "P", "--max-removed", "100%").status == 0)
    _ = try playground.shell("python3 -c \"import zipfile; zipfile.ZipFile('empty.zip', 'w').close()\"")
    #expect(
      try importing("store", "empty.zip", "--pack", "P").errors.contains("'empty.zip': the archive contains no files"))
    #expect(try importing("store", "empty.zip", "--pack", "P", "--allow-empty", "--max-removed", "100%").status == 0)
  }

  /// Errors name standard input, and not the file that it is copied to.
  @Test func errorsNameStandardInput() throws {
    try playground.packstore("add", "store", "folder", "--pack", "P")
    _ = try playground.shell(
      "tar cf a.tar -C folder . && gzip -c a.tar >a.tgz && packstore export store P -o P.pack --key site.key --new-key -q"
    )
    for (command, status) in [
      ("head -c 60 a.tgz", 7), ("head -c 9000 a.tar", 7), ("echo text", 1), ("tail -c +3 a.tgz", 1),
      ("head -c 3000 P.pack", 7), ("cat a.tar", 0),
    ] as [(String, Int32)] {
      let pack = command.contains("P.pack") ? "" : "--pack P"
      let run = try playground.shell("\(command) | TMPDIR=$PWD/tmp packstore import other - \(pack)")
      #expect(run.status == status, "\(command): \(run.errors)")
      #expect(status == 0 || run.errors.contains("standard input"), "\(command): \(run.errors)")
      #expect(!run.errors.contains("packstore-"), "\(command): \(run.errors)")
    }
    let run = try playground.shell("cat a.tar | packstore import third - --pack P --limit 100k")
    #expect(run.errors.contains("'standard input': unpacks to more than 100000 bytes"), "\(run.errors)")
  }

  /// A folder is compared with the content of the store.
  @Test func dryRunOfAFolder() throws {
    let first = try importing("store", "folder", "--pack", "P", "--dry-run", "--json")
    #expect(first.status == 0 && !playground.exists("store"), "\(first.errors)")
    #expect(first.output.contains("\"outcome\":\"planned\"") && first.output.contains("\"to\":1"))
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    let before = playground.tree("store")
    #expect(try importing("store", "folder", "--pack", "P", "--dry-run", "--json").output.contains("\"unchanged\""))
    try playground.write(noise(1_000), to: "folder/new")
    let run = try importing("store", "folder", "--pack", "P", "--dry-run")
    #expect(run.lines.first?.hasPrefix("P would be at version 2: 3 files, 136.0 kB; ") == true, "\(run.output)")
    #expect(playground.tree("store") == before && playground.tree("tmp").isEmpty)
  }

  /// A link in the place of the folder of an asset pack leads nowhere.
  @Test func contentsIsAFolder() throws {
    try playground.write("secret", to: "secret/id")
    _ = try playground.shell(
      """
      python3 -c "import os, sys; sys.path.insert(0, '\(Self.reader)'); import foreign_archives as f; \
      sys.stdout.buffer.write(f.entry(b'L', 'Contents', target=os.getcwd() + '/secret') \
      + f.entry(b'F', 'Manifest.json', bytes(chr(123) + chr(34) + 'assetPackID' + chr(34) + ':' + chr(34) + 'Evil' \
      + chr(34) + chr(125), 'ascii')))" >evil.aar
      """)
    let run = try importing("store", "evil.aar", "--pack", "Evil")
    #expect(try playground.packstore("cat", "store", "id").status == 1, "\(run.errors)")
    #expect(try playground.packstore("cat", "store", "Contents/id").status == 1)
  }

  @Test func assetPacksHaveAName() throws {
    try makeAssetPack("a.aar")
    #expect(try importing("store", "a.aar", "-q").status == 0)
    #expect(try importing("store", "a.aar", "-q", "--pack", "Mine").status == 0)
    let packs = try playground.packstore("ls", "store", "--json").output
    #expect(packs.contains("Tutorial") || packs.contains("Mine"))
    #expect(try playground.packstore("attributes", "store", "Mine", "--json").json["platforms"] as? [String] == ["iOS"])
  }

  @Test func whatIsWrongLeavesNothing() throws {
    _ = try playground.shell(
      "tar cf a.tar -C folder . && head -c 50000 a.tar >cut.tar && mkfifo pipe && tar cf pipe.tar pipe")
    try playground.makeFolder("hostile")
    try playground.write("text", toRaw: Array("hostile/a".utf8) + [0xff])
    let table: [(arguments: [String], status: Int32, message: String)] = [
      (["a.tar"], 2, "'a.tar': the archive does not name its pack; name the pack with --pack"),
      (["folder"], 2, "'folder': a folder, which does not name its pack"),
      (["cut.tar", "--pack", "P"], 7, "'cut.tar': a file is cut short; fetch or create the archive again"),
      (["pipe.tar", "--pack", "P"], 1, "'pipe.tar': contains 'pipe', a pipe"),
      (
        ["a.tar", "--pack", "P", "--limit", "100k"], 1,
        "'a.tar': unpacks to more than 100000 bytes, the limit; if you trust the archive, raise --limit"
      ),
      (
        ["a.tar", "--pack", "P", "--downgrade"], 2,
        "--downgrade: does not apply to 'a.tar', which is not an archive of a pack"
      ),
      (["folder", "--pack", "P", "--limit", "100k"], 2, "--limit: does not apply to 'folder', a folder"),
      (["none.tar", "--pack", "P"], 1, "'none.tar': cannot read the archive"),
      (
        ["folder/text", "--pack", "P"], 1,
        "'folder/text': not an archive of a known kind; name an archive of"
      ),
      (["hostile", "--pack", "P"], 1, "'hostile': the folder contains files that cannot be stored"),
    ]
    for row in table {
      let run = try importing(["store"] + row.arguments)
      #expect(
        run.status == row.status && run.errors.contains(row.message), "\(row.arguments): \(run.status) \(run.errors)")
      #expect(!playground.exists("store") && playground.tree("tmp").isEmpty, "\(row.arguments)")
    }
  }

  @Test func optionsOfOtherArchivesForOurs() throws {
    try playground.packstore("add", "store", "folder", "--pack", "P")
    try playground.packstore("export", "store", "P", "-o", "P.pack", "--key", "site.key")
    let named = try importing("device", "P.pack", "--pack", "P")
    #expect(named.status == 2 && named.errors.contains("--pack: does not apply to 'P.pack'"))
    let plan = try importing("device", "P.pack", "--dry-run")
    #expect(
      plan.status == 0 && plan.output == "P would be at version 1\n" && !playground.exists("device"), "\(plan.errors)")
  }
}
