import Foundation
import Testing

/// What of a folder becomes a version: `--exclude`, `.packignore`, and folders that are rather a mistake.
@Suite struct SourceTests {
  let playground = try! Playground()

  init() throws {
    for name in ["a.bin", "art/raw.psd", "art/done.bin", "cache/x", ".DS_Store", "art/Thumbs.db"] {
      try playground.write(name, to: "source/\(name)")
    }
  }

  private func add(_ words: String...) throws -> Run {
    try playground.packstore(["add", "store", "source", "--pack", "P"] + words)
  }

  @Test func patterns() throws {
    try playground.write("/art/done.bin\n", to: "list")
    try playground.write("cache/\n", to: "source/.packignore")
    let run = try add("--exclude", "*.psd", "--exclude-from", "list", "--print-skipped", "-q")
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.lines.sorted() == [
        "skipped .DS_Store  by .DS_Store, a default", "skipped .packignore  by .packignore, a list itself",
        "skipped art/Thumbs.db  by Thumbs.db, a default", "skipped art/done.bin  by /art/done.bin, an option",
        "skipped art/raw.psd  by *.psd, an option", "skipped cache/  by cache/, .packignore",
      ], "\(run.lines)")
    #expect(try playground.succeed("cat", "store", "a.bin").output == "a.bin")
    for path in ["art/raw.psd", "cache/x", ".DS_Store"] {
      #expect(try playground.packstore("cat", "store", path).status == 1)
    }
    let json = try add("--exclude", "*.psd", "--print-skipped", "--json").json
    #expect(json["skipped_count"] as? Int == 5 && (json["skipped"] as? [NSDictionary])?.count == 5)
  }

  /// The error names such a list: nothing else would show the refused one.
  @Test(arguments: [false, true]) func listsThatCannotBeRead(isTooLong: Bool) throws {
    let content: [UInt8] = isTooLong ? .init(repeating: 0x61, count: (1 << 20) + 1) : [0x61, 0xe9]
    try playground.write(content, to: "source/art/.packignore")
    let run = try add()
    #expect(run.status == 1 && run.errors.contains("art/.packignore"), "\(run.errors)")
    #expect(!run.errors.contains("what is listed"), "\(run.errors)")
  }

  /// Files that systems leave in folders are excluded, and reported.
  @Test func defaults() throws {
    let run = try add()
    #expect(run.errors.contains("skipped system files (.DS_Store, Thumbs.db): '--no-default-excludes'"))
    #expect(try playground.packstore("cat", "store", ".DS_Store").status == 1)
    let all = try add("--no-default-excludes")
    #expect(all.status == 0 && all.errors.isEmpty)
    #expect(try playground.packstore("cat", "store", ".DS_Store").output == ".DS_Store")
    #expect(try add("-q").errors.isEmpty)
    let wanted = try add("--exclude", "!.DS_Store")
    #expect(wanted.errors.contains("(Thumbs.db)"), "\(wanted.errors)")
  }

  @Test func emptyFolders() throws {
    let run = try add("--exclude", "*")
    #expect(
      run.status == 1 && run.errors.contains("contains no files except skipped files; add --allow-empty"),
      "\(run.errors)")
    #expect(!playground.exists("store"))
    #expect(try add("--exclude", "*", "--allow-empty", "-q").status == 0)
  }

  @Test func farFewerFiles() throws {
    for index in 0..<20 { try playground.write("\(index)", to: "source/many/\(index)") }
    #expect(try add("-q").status == 0)
    let before = playground.tree("store")
    let refused = try add("--exclude", "many/")
    #expect(refused.status == 1 && refused.errors.contains("--max-removed 100%"), "\(refused.errors)")
    #expect(refused.errors.contains("contains 4 files except skipped files, and P@1 has 24"), "\(refused.errors)")
    #expect(try add("--exclude", "many/", "--dry-run").status == 1)
    #expect(playground.tree("store") == before)
    #expect(try add("--exclude", "many/1*", "-q").status == 0)
    #expect(try add("--exclude", "many/", "--max-removed", "100%", "-q").status == 0)
    for wrong in ["101", "-1", "x", "50%%", ""] { #expect(try add("--max-removed=\(wrong)").status == 2, "\(wrong)") }
  }

  @Test func importsOfFolders() throws {
    let run = try playground.packstore(
      "import", "store", "source", "--pack", "P", "--exclude", "cache", "--print-skipped", "-q")
    #expect(run.status == 0 && run.lines.contains("skipped cache/  by cache, an option"), "\(run.lines) \(run.errors)")
    _ = try playground.shell("tar cf source.tar -C source .")
    // An archive is imported as its folder is.
    #expect(
      try playground.packstore("import", "other", "source.tar", "--pack", "P", "--exclude", "cache", "-q").status == 0)
    #expect(try playground.succeed("ls", "other", "-R").lines == playground.succeed("ls", "store", "-R").lines)
    let missing = try add("--exclude-from", "none")
    #expect(missing.status == 1 && missing.errors.contains("none"), "\(missing.errors)")
  }
}
