import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite struct AddTests {
  let playground = try! Playground()

  @Test func summary() throws {
    try playground.write(repeatElement(UInt8(ascii: "a"), count: 100_000), to: "folder/a")
    try playground.write(repeatElement(UInt8(ascii: "a"), count: 100_000), to: "folder/sub/b")
    try playground.makeFolder("folder/empty")
    try playground.link("folder/link", to: "a")
    let run = try playground.packstore("add", "store", "folder", "--pack", "Tutorial")
    #expect(run.errors.isEmpty)
    #expect(run.status == 0)
    let lines = run.output.masked.split(separator: "\n")
    try #require(lines.count == 6)
    #expect(lines[0] == "Tutorial is at version 1")
    #expect(lines[1] == "  assets  2 files, 1 link, 1 empty folder")
    #expect(lines[2] == "  size    200.0 kB")
    #expect(lines[3].hasPrefix("  new     "))
    #expect(String(lines[4]).maskedSizes == "  stored  <size>: <percent> saved")
    #expect(lines[5] == "  time    <time>, <rate>")
  }

  @Test func unchangedFolderMakesNoVersion() throws {
    try playground.write("one", to: "folder/a")
    try playground.packstore("add", "store", "folder", "--pack", "Tutorial")
    let run = try playground.packstore("add", "store", "folder", "--pack", "Tutorial")
    #expect(run.status == 0)
    #expect(run.output == "Tutorial is unchanged at version 1\n")
    #expect(try playground.packstore("log", "store").lines.count == 2)
    let json = try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "--json").json
    #expect(json["unchanged"] as? Bool == true)
    #expect(json["version"] as? Int == 1)
  }

  @Test func versionsNumberThemselves() throws {
    for text in ["one", "two", "three"] {
      try playground.write(text, to: "folder/a")
      try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "--keep", "3")
    }
    try playground.write("ten", to: "folder/a")
    let run = try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "--version", "10", "--keep", "3")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("Tutorial is at version 10\n"))
    let log = try playground.packstore("log", "store")
    #expect(log.lines.map { $0.split(separator: " ")[0] } == ["VERSION", "Tutorial@10", "Tutorial@3", "Tutorial@2"])
  }

  @Test func takenVersionIsRefused() throws {
    try playground.write("one", to: "folder/a")
    try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "-q")
    try playground.write("two", to: "folder/a")
    let run = try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "--version", "1")
    #expect(run.status == 1)
    #expect(
      run.errors
        == "packstore: version 'Tutorial@1': exists with other content (highest: 1); leave --version out for 2\n"
    )
  }

  /// A number below the highest was taken without a word.
  @Test func numbersRise() throws {
    func add(_ text: String, _ more: String...) throws -> Run {
      try playground.write(text, to: "folder/a")
      return try playground.packstore(["add", "store", "folder", "--pack", "Level1"] + more)
    }
    #expect(try add("seven", "--version", "7").status == 0)
    let low = try add("three", "--version", "3")
    #expect(low.status == 1)
    #expect(
      low.errors == """
        packstore: version 'Level1@3': not above the highest version so far, 7; leave --version out for 8, or add --downgrade

        """)
    #expect(try add("seven", "--version", "7").output == "Level1 is unchanged at version 7\n")
    #expect(try add("three", "--version", "3", "--downgrade").output.hasPrefix("Level1 is at version 3\n"))
    #expect(try add("eight").output.hasPrefix("Level1 is at version 8\n"))
  }

  @Test func linksThatLeadOut() throws {
    try playground.write("secret", to: "outside/file")
    try playground.write("file", to: "outside/.packignore")  // no list of the folder that is added
    try playground.link("folder", to: "outside")
    try playground.makeFolder("real/inner")
    try playground.link("real/inner/up", to: "../../outside")
    try playground.link("real/inner/loop", to: "..")
    let run = try playground.packstore("add", "store", "real", "--pack", "A", "--links", "follow")
    #expect(run.status == 1)
    #expect(
      run.errors == """
        packstore: 'inner/up' is a symbolic link that is absolute or leads out of the folder
        packstore: 'inner/loop' is a symbolic link that leads in a circle
        packstore: 'real': the folder contains files that cannot be stored; rename or remove the listed files, or follow such \
        links with --unsafe-links

        """)
    try playground.remove("real/inner/loop")
    let unsafe = try playground.packstore(
      "add", "store", "real", "--pack", "A", "--links", "follow", "--unsafe-links", "-q")
    #expect(unsafe.status == 0, "\(unsafe.errors)")
    #expect(try playground.packstore("cat", "store", "inner/up/file").output == "secret")
    let inside = try playground.packstore("add", "real/store", "real", "--pack", "B", "--json")
    let notices = try #require(try inside.json["notices"] as? [NSDictionary])
    #expect(notices == [["kind": "own_store", "path": "store"]])
  }

  @Test func json() throws {
    try playground.write("hello", to: "folder/a")
    let run = try playground.packstore("add", "store", "folder", "--pack", "A", "--json")
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    let json = try run.json
    #expect(
      Set(json.allKeys as! [String]) == [
        "pack", "version", "unchanged", "catalog", "files", "links", "folders", "bytes", "chunks", "new_chunks",
        "new_bytes",
        "new_stored_bytes", "mapped", "mapped_new_bytes", "compact_saved_bytes", "relaid", "restored", "seconds",
        "notices", "skipped_count",
        "dry_run",
      ])
    #expect(json["bytes"] as? Int == 5)
    #expect(json["files"] as? Int == 1)
    #expect((json["catalog"] as? String)?.count == 64)
  }

  @Test func quietPrintsNothing() throws {
    try playground.write("hello", to: "folder/a")
    try #require(mkfifo("\(playground.path)/folder/fifo", 0o600) == 0)
    let run = try playground.packstore("add", "store", "folder", "--pack", "A", "--quiet")
    #expect(run.status == 0)
    #expect(run.output.isEmpty)
    #expect(run.errors.isEmpty)
  }

  @Test func allOptionsAreTaken() throws {
    try playground.write("hello", to: "folder/a.txt")
    let run = try playground.packstore(
      "add", "store", "folder", "--pack", "A", "--level", "12", "--layout", "sequential", "--priority", "-3", "--links",
      "follow", "--version", "7", "--keep", "5", "--durability", "atomic", "--portable", "--no-wait",
      "--threads", "2")
    #expect(run.status == 0, "\(run.errors)")
    let log = try playground.packstore("log", "store", "--json").json
    let pack = try #require((log["packs"] as? [NSDictionary])?.first)
    #expect(pack["priority"] as? Int == -3)
    #expect((pack["versions"] as? [NSDictionary])?.first?["version"] as? Int == 7)
  }

  /// Levels below 0 store more bytes in less time, and the content stays the same.
  @Test func levelsBelowZero() throws {
    let lines = (0..<20_000).map { "line \($0): \(($0 &* 7919) % 1000) \(($0 &* 104_729) % 77)\n" }
    try playground.write(lines.joined(), to: "folder/text")
    var stored: [Int] = []
    for level in ["3", "-1", "-7"] {
      let run = try playground.packstore("add", "store\(level)", "folder", "--pack", "A", "--level", level, "--json")
      stored.append(try #require(try run.json["new_stored_bytes"] as? Int))
      #expect(try playground.packstore("verify", "store\(level)", "--deep").status == 0)
      #expect(try playground.packstore("cat", "store\(level)", "text").output == lines.joined())
    }
    #expect(stored == stored.sorted() && stored[0] < stored[2], "\(stored)")
    #expect(stored[2] < lines.joined().utf8.count / 2)
  }

  /// Small assets share larger frames where they are read rarely.
  @Test func layoutsForSize() throws {
    for number in 0..<200 {
      let lines = (0..<60).map { "line \($0) of file \(number): \(($0 &* 7919 &+ number &* 104_729) % 1000)\n" }
      try playground.write(lines.joined(), to: "folder/\(number)")
    }
    var stored: [String: Int] = [:]
    for layout in ["random", "sequential", "compact"] {
      let run = try playground.packstore("add", layout, "folder", "--pack", "A", "--layout", layout, "--json")
      stored[layout] = try #require(try run.json["new_stored_bytes"] as? Int)
      #expect(try playground.packstore("verify", layout, "--deep").status == 0)
    }
    let random = try #require(stored["random"]), compact = try #require(stored["compact"])
    #expect(compact * 10 < random * 9, "\(stored)")
  }

  // MARK: - Map assets

  @Test func mapAssets() throws {
    try playground.write(repeatElement(UInt8(ascii: "a"), count: 30_000), to: "folder/sub/a.map")
    try playground.write(repeatElement(UInt8(ascii: "b"), count: 30_000), to: "folder/b")
    try playground.packstore("add", "store", "folder", "--pack", "A", "-q")
    let listed = try playground.packstore("ls", "store", "-lR").lines.map(\.maskedSizes)
    #expect(
      listed == ["file      <size>  zstd         <size>  A  b", "file      <size>  zstd         <size>  A  sub/a.map"])
    #expect(try playground.packstore("ls", "store", "-0").output == "b\0sub/\0")

    let run = try playground.packstore("add", "store", "folder", "--pack", "A", "--map", "*.map", "--map", "*.mpa")
    #expect(
      run.output == """
        A is unchanged at version 1
          mapped  1 file, 1 of them unchanged and stored afresh; 30.0 kB written

        """)
    #expect(run.errors == "packstore: warning: '*.mpa' matches no file of the folder\n")
    #expect(
      try playground.packstore("ls", "store", "sub", "-l").lines == [
        "file      30.0 kB  map       30.0 kB  A  sub/a.map"
      ])
    let entry = try playground.packstore("ls", "store", "sub", "--json").jsonLines[0]
    #expect(entry["mapped"] as? Bool == true && entry["form"] as? String == "map")

    let again = try playground.packstore("add", "store", "folder", "--pack", "A", "--map", "sub/*.map")
    #expect(again.output == "A is unchanged at version 1\n")
    try playground.write("c", to: "folder/c")
    let json = try playground.packstore("add", "store", "folder", "--pack", "A", "--map", "*.map", "--json").json
    #expect(json["mapped"] as? Int == 1 && json["mapped_new_bytes"] as? Int == 0 && json["relaid"] as? Int == 0)
  }

  @Test func badPatternIsRefused() throws {
    try playground.write("x", to: "folder/a")
    let run = try playground.packstore("add", "store", "folder", "--pack", "A", "--map", "[a")
    #expect(run.status == 2)
    #expect(
      run.errors
        == "packstore: pattern '[a': a '[' lacks its ']'; write a backslash before it for the character\n")
  }

  // MARK: - Folders

  @Test func missingFolderMakesNoStore() throws {
    let run = try playground.packstore("add", "store", "missing", "--pack", "A")
    #expect(run.status == 1)
    #expect(run.errors == "packstore: 'missing': cannot read the folder: No such file or directory\n")
    #expect(!playground.exists("store"))
  }

  @Test func fileIsNoFolder() throws {
    try playground.write("x", to: "file")
    let run = try playground.packstore("add", "store", "file", "--pack", "A")
    #expect(run.status == 1)
    #expect(run.errors == "packstore: 'file': not a folder; name the folder that contains it\n")
  }

  @Test func emptyFolderAndEmptyFile() throws {
    try playground.makeFolder("empty")
    let refused = try playground.packstore("add", "store", "empty", "--pack", "Empty")
    #expect(
      refused.status == 1 && refused.errors.contains("contains no files; add --allow-empty")
        && !playground.exists("store")
    )
    let empty = try playground.packstore("add", "store", "empty", "--pack", "Empty", "--allow-empty")
    #expect(empty.status == 0, "\(empty.errors)")
    #expect(empty.output.contains("  assets  0 files\n"))
    try playground.write("", to: "folder/nothing")
    let file = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(file.status == 0, "\(file.errors)")
    #expect(file.output.contains("  assets  1 file\n  size    0 B\n"))
    #expect(try playground.packstore("ls", "store").output == "nothing\n")
    #expect(try playground.packstore("cat", "store", "nothing").bytes.isEmpty)
    #expect(try playground.packstore("verify", "store", "--deep").status == 0)
  }

  // MARK: - Odd names

  @Test func oddNamesComeBack() throws {
    let names = [" ", "-x", "--", "a\nb", "back\\slash", "bell\u{7}", "caf\u{e9}", "new line\r", "tab\t", "*", "日本"]
    for name in names { try playground.write(name, to: "folder/\(name)") }
    let add = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(add.status == 0, "\(add.errors)")
    for name in names {
      #expect(try playground.packstore("cat", "store", "--", name).output == name)
    }
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(try playground.packstore("ls", "store", "-0").output == sorted.map { $0 + "\0" }.joined())
    #expect(
      try playground.packstore("ls", "store").lines == [
        " ", "*", "--", "-x", "a\\nb", "back\\\\slash", "bell\\x07", "caf\u{e9}", "new line\\r", "tab\\t", "日本",
      ])
    #expect(try playground.packstore("ls", "store", "--json").jsonLines.map { $0["path"] as? String } == sorted)
  }

  @Test func namesThatAreNotUTF8AreAllListed() throws {
    try playground.makeFolder("folder/sub")
    try playground.write("x", to: "folder/fine")
    try playground.write("x", toRaw: Array("folder/a".utf8) + [0xff])
    try playground.write("x", toRaw: Array("folder/sub/b".utf8) + [0xc3])
    let run = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(run.status == 1)
    #expect(run.output.isEmpty)
    let lines = run.errors.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(
      lines[..<2].contains { $0.hasPrefix(#"packstore: 'a\xff' is not valid UTF-8, as names must be"#) },
      "\(run.errors)")
    #expect(
      lines[..<2].contains { $0.hasPrefix(#"packstore: 'sub/b\xc3' is not valid UTF-8, as names must be"#) })
    #expect(
      lines[2]
        == "packstore: 'folder': the folder contains files that cannot be stored; rename or remove the listed files")
    #expect(!playground.exists("store"), "no store was made for it")
    #expect(playground.tree("").allSatisfy { $0.hasPrefix("folder") }, "nor is anything left of one")
  }

  /// Excluded files can have names that cannot be stored.
  @Test func namesThatAreNotUTF8AreLeftOut() throws {
    try playground.write("x", to: "folder/fine")
    try playground.write("x", toRaw: Array("folder/a".utf8) + [0xff] + Array(".bin".utf8))
    let run = try playground.packstore("add", "store", "folder", "--pack", "A", "--exclude", "*.bin")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try playground.shell("packstore ls store").output == "fine\n")
  }

  @Test func caseTwinsAreWarnedOf() throws {
    try playground.write("x", to: "folder/Name")
    try playground.write("x", to: "folder/name")
    let run = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(run.status == 0)
    let text = "'Name' and 'name' differ by case only: some disks take them for one name\n"
    #expect(run.errors == "packstore: warning: \(text)")
    let portable = try playground.packstore("add", "store", "folder", "--pack", "B", "--portable")
    #expect(portable.status == 1)
    #expect(portable.errors.contains("packstore: \(text)"))
    #expect(try playground.packstore("log", "store").lines.count == 2)
  }

  @Test func formTwinsAreWarnedOf() throws {
    try playground.write("1", to: "folder/caf\u{e9}")
    try playground.write("2", to: "folder/cafe\u{301}")
    let text = "'cafe\\u0301' and 'caf\\u00e9' differ by Unicode normal form only: some disks take them for one name\n"
    let run = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(run.status == 0 && run.errors == "packstore: warning: \(text)", "\(run.errors)")
    _ = try playground.shell("tar cf a.tar -C folder .")
    let imported = try playground.packstore("import", "imported", "a.tar", "--pack", "A")
    #expect(imported.status == 0 && imported.errors == run.errors, "\(imported.errors)")
    #expect(try playground.packstore("add", "store", "folder", "--pack", "B", "--portable").status == 1)
  }

  /// A key in the folder, in an archive of it, or selected by a manifest: everybody who got the pack could publish.
  @Test func secretKeysAreNeverStored() throws {
    try playground.write("x", to: "folder/file")
    try playground.packstore("keygen", "folder/keys/site.key", "-q")
    _ = try playground.shell("tar cf a.tar -C folder . && (cd folder && python3 -m zipfile -c ../a.zip .)")
    try playground.write(
      #"{"assetPackID":"P","downloadPolicy":{"onDemand":{}},"platforms":[],"fileSelectors":[{"directory":"folder"}]}"#,
      to: "Manifest.json")
    for words in [
      ["add", "store", "folder", "--pack", "P"], ["add", "store", "folder", "--pack", "P", "--dry-run"],
      ["import", "store", "a.tar", "--pack", "P"], ["import", "store", "a.zip", "--pack", "P"],
      ["package", "Manifest.json", "-o", "P.pack", "--key", "other.key"],
    ] {
      let run = try playground.packstore(words)
      #expect(run.status == 1 && run.errors.contains("keys/site.key'"), "\(words): \(run.errors)")
      #expect(
        run.errors.contains("secret key") && run.errors.contains("out of the folder, or exclude it"), "\(run.errors)")
      #expect(!playground.exists("store") && !playground.exists("P.pack"), "\(words)")
    }
    #expect(try playground.packstore("import", "store", "a.tar", "--pack", "P", "--exclude", "*.key", "-q").status == 0)
    #expect(try playground.packstore("ls", "store", "-R").output.contains("site.key") == false)
  }

  @Test func socketsAndFIFOsAreLeftOut() throws {
    try playground.write("x", to: "folder/file")
    try #require(mkfifo("\(playground.path)/folder/fifo", 0o600) == 0)
    let run = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(run.status == 0)
    #expect(run.errors == "packstore: warning: 'fifo' is neither file, folder nor link and was left out\n")
    #expect(try playground.packstore("ls", "store").output == "file\n")
    let notices =
      try playground.packstore("add", "store", "folder", "--pack", "A", "--json").json["notices"] as? [[String: String]]
    #expect(notices == [["kind": "skipped", "path": "fifo"]])
  }

  @Test(.enabled(if: geteuid() != 0, "root reads everything"))
  func unreadableFilesAreRefused() throws {
    try playground.write("x", to: "folder/file")
    try playground.write("x", to: "folder/secret")
    chmod("\(playground.path)/folder/secret", 0)
    let run = try playground.packstore("add", "store", "folder", "--pack", "A")
    #expect(run.status == 1)
    #expect(run.errors.contains("'secret'"))
    #expect(run.errors.contains("Permission denied"))
  }

  // MARK: - Links

  @Test func linksAreStoredEvenDangling() throws {
    try playground.write("x", to: "folder/file")
    try playground.link("folder/dangling", to: "nowhere/else")
    try playground.link("folder/good", to: "file")
    #expect(try playground.packstore("add", "store", "folder", "--pack", "A").status == 0)
    #expect(
      try playground.packstore("ls", "store", "-l").lines == [
        "link            -  -               -  A  dangling -> nowhere/else",
        "file          1 B  raw           1 B  A  file", "link            -  -               -  A  good -> file",
      ])
    #expect(try playground.packstore("cat", "store", "good").status == 1)
  }

  @Test func linksCanBeFollowedOrRefused() throws {
    try playground.write("x", to: "folder/file")
    try playground.link("folder/good", to: "file")
    #expect(try playground.packstore("add", "followed", "folder", "--pack", "A", "--links", "follow").status == 0)
    #expect(try playground.packstore("cat", "followed", "good").output == "x")
    let refused = try playground.packstore("add", "refused", "folder", "--pack", "A", "--links", "refuse")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("packstore: 'good' is a symbolic link\n"))
  }

  @Test func followingALinkToNowhereIsRefused() throws {
    try playground.makeFolder("folder")
    try playground.link("folder/dangling", to: "nowhere")
    try playground.link("folder/loop", to: "loop")
    let run = try playground.packstore("add", "store", "folder", "--pack", "A", "--links", "follow")
    #expect(run.status == 1)
    #expect(run.errors.contains("packstore: 'dangling' is a symbolic link that leads nowhere"))
    #expect(run.errors.contains("packstore: 'loop' is a symbolic link that leads in a circle"))
  }
}
