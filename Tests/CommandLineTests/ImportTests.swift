import Foundation
import Testing

/// `import` of what other programs made. What each kind may hold is tested with `ForeignArchive`.
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

  @Test func dryRun() throws {
    try makeAssetPack("a.aar")
    let run = try importing("store", "a.aar", "--dry-run")
    #expect(run.status == 0 && !playground.exists("store"), "\(run.errors)")
    #expect(run.lines.contains { $0.hasPrefix("file") && $0.hasSuffix("  readme.txt") })
    #expect(run.lines.contains { $0.hasPrefix("link") && $0.hasSuffix("  link -> Levels/../../outside") })
    #expect(!run.output.contains("Contents") && !run.output.contains("Manifest.json"))
    #expect(run.lines.last?.hasPrefix("Tutorial would be made of this: 6 files, ") == true)
    #expect(run.errors.contains("toolsVersion") && !run.errors.contains("platforms"), "\(run.errors)")
    #expect(playground.tree("tmp").isEmpty)
  }

  /// A folder is compared with what the store has.
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
      (["a.tar"], 2, "the archive 'a.tar' does not say which pack it is: name the pack with --pack"),
      (["folder"], 2, "'folder' is a folder and does not say which pack it is"),
      (["cut.tar", "--pack", "P"], 7, "a file is cut short in cut.tar: fetch or make the archive again"),
      (["pipe.tar", "--pack", "P"], 1, "the archive 'pipe.tar' holds 'pipe', a pipe"),
      (
        ["a.tar", "--pack", "P", "--limit", "100k"], 1,
        "the archive 'a.tar' unpacks to more than 100000 bytes, which is the limit: allow more with --limit if you know where"
      ),
      (
        ["a.tar", "--pack", "P", "--downgrade"], 2,
        "--downgrade makes no sense for 'a.tar', which is not an archive of a pack"
      ),
      (["folder", "--pack", "P", "--limit", "100k"], 2, "--limit makes no sense for 'folder', a folder"),
      (["none.tar", "--pack", "P"], 1, "cannot read the archive 'none.tar'"),
      (
        ["folder/text", "--pack", "P"], 1,
        "'folder/text' is not an archive of any kind that is read: name an archive of"
      ),
      (["hostile", "--pack", "P"], 1, "the folder 'hostile' holds what cannot be stored"),
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
    #expect(named.status == 2 && named.errors.contains("--pack makes no sense for 'P.pack'"))
    let plan = try importing("device", "P.pack", "--dry-run")
    #expect(
      plan.status == 0 && plan.output == "P would be at version 1\n" && !playground.exists("device"), "\(plan.errors)")
  }
}
