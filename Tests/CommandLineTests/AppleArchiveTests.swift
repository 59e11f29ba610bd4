import Foundation
import Testing

/// `export` to Apple Archives, which a reader that shares no code with PackStore takes apart.
@Suite struct AppleArchiveTests {
  let playground = try! Playground()

  private static let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Reader/apple_archive_reader.py").path

  init() throws {
    try playground.write("old", to: "folder/a/text")
    try playground.packstore("add", "store", "folder", "--pack", "Tutorial", "-q")
    try playground.write(noise(2_500_000), to: "folder/Levels/deep/1.bin")
    try playground.write("#!/bin/sh\n", to: "folder/Levels/run")
    _ = try playground.shell("chmod +x folder/Levels/run; mkdir folder/empty; : >folder/nothing")
    for name in ["a/text", "a-b/text", "a/b/c/text", "\u{FC}ml\u{E4}ut"] {
      try playground.write(name, to: "folder/\(name)")
    }
    try playground.link("folder/Levels/link", to: "../nothing")
    try playground.write(
      """
      {"downloadPolicy": {"prefetch": {"installationEventTypes": ["firstInstallation"]}}, "platforms": ["iOS"],
       "language": "de", "userInfo": {"b" : 1, "a": [null]}, "priority": -7, "label": "1.0", "map": ["*.bin"]}
      """, to: "attributes.json")
    try playground.succeed("add", "store", "folder", "--pack", "Tutorial", "-q")
    try playground.succeed("attributes", "store", "Tutorial", "--set", "attributes.json", "-q")
  }

  private func export(_ words: String...) throws -> Run {
    try playground.packstore(["export", "store"] + words)
  }

  private func extract(_ archive: String, _ folder: String) throws {
    let run = try playground.shell("python3 '\(Self.reader)' extract \(archive) \(folder)")
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test(arguments: ["zlib", "stored"]) func independentReaders(blocks: String) throws {
    let run = try export("Tutorial", "-o", "T.aar", "--blocks", blocks, "--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(try run.json["format"] as? String == "aar" && run.json["public_key"] == nil)
    #expect(try run.json["bytes"] as? Int == playground.read("T.aar").count)
    try extract("T.aar", "out")
    #expect(try playground.shell("diff -r --no-dereference folder out/Contents").status == 0)
    #expect(
      try playground.shell("test -x out/Contents/Levels/run && ! test -x out/Contents/Levels/deep/1.bin").status == 0)
    #expect(try playground.shell("ls out").lines == ["Contents", "Manifest.json"])
    let manifest = try #require(
      try JSONSerialization.jsonObject(with: Data(playground.read("out/Manifest.json"))) as? NSDictionary)
    let expected: NSDictionary = [
      "assetPackID": "Tutorial", "platforms": ["iOS"], "language": "de", "userInfo": ["a": [NSNull()], "b": 1],
      "downloadPolicy": ["prefetch": ["installationEventTypes": ["firstInstallation"]]],
      "packstore": ["priority": -7, "label": "1.0", "map": ["*.bin"]],
    ]
    #expect(manifest == expected)
    #expect(
      try playground.text("out/Manifest.json").contains(#"{"b" : 1, "a": [null]}"#), "user info is as it was written")
  }

  /// Every folder has one entry, before the entries of its content.
  @Test func entries() throws {
    #expect(try export("Tutorial", "-o", "T.aar", "-q").status == 0)
    let listing = try playground.shell("python3 '\(Self.reader)' list T.aar").jsonLines
    var seen: Set<String> = []
    for entry in listing {
      let path = try #require(entry["PAT"] as? String)
      #expect(seen.insert(path).inserted, "\(path) comes twice")
      let parent = (path as NSString).deletingLastPathComponent
      #expect(parent.isEmpty || seen.contains(parent), "\(path) comes before its folder")
    }
    #expect(seen.count == 17, "\(seen.sorted())")
  }

  /// A slash and a following combining mark are one character, but separate two names.
  @Test func foldersOfNamesWithCombiningMarks() throws {
    let run = try playground.shell(
      #"""
      set -e
      mkdir -p odd/a/b; echo text >"odd/a/b/$(printf '\314\201')"; packstore add odds odd --pack Odd -q
      packstore export odds Odd -o Odd.aar -q; packstore import others Odd.aar --dry-run
      """#)
    #expect(run.status == 0, "\(run.errors)")
    let folders = run.lines.filter { $0.hasPrefix("folder") }.compactMap { $0.split(separator: " ").last }
    #expect(folders == ["a", "a/b"])
    #expect(run.lines.contains { $0.utf8.elementsEqual("file           5 B  a/b/\u{301}".utf8) }, "\(run.output)")
  }

  @Test func comesBackAsItWas() throws {
    #expect(try export("Tutorial", "-o", "T.aar", "-q").status == 0)
    let imported = try playground.packstore("import", "other", "T.aar")
    #expect(imported.status == 0 && imported.errors.isEmpty, "\(imported.errors)")
    func planned(_ store: String) throws -> NSDictionary {
      try playground.packstore("export", store, "Tutorial", "-o", "none.aar", "--dry-run", "--json").json
    }
    #expect(try planned("store")["catalog"] as? String == planned("other")["catalog"] as? String)
    func attributes(_ store: String) throws -> NSDictionary {
      let json = try playground.packstore("attributes", store, "Tutorial", "--json").json
      let all = try #require(json.mutableCopy() as? NSMutableDictionary)
      all.removeObject(forKey: "version")
      return all
    }
    #expect(try attributes("store") == attributes("other"))
    #expect(try attributes("store")["priority"] as? Int == -7 && attributes("store")["label"] as? String == "1.0")
    // A second export has the same bytes, and so has an export of another store with the same version.
    #expect(try export("Tutorial", "-o", "again.aar", "-q").status == 0)
    #expect(try playground.packstore("export", "other", "Tutorial", "-o", "other.aar", "-q").status == 0)
    for name in ["again.aar", "other.aar"] { #expect(try playground.read(name) == playground.read("T.aar"), "\(name)") }
  }

  /// The target of a link may not be UTF-8.
  @Test func targetsOfAnyBytes() throws {
    let run = try playground.shell(
      """
      set -e
      mkdir odd; ln -s "$(printf 'caf\\351')" odd/link; packstore add odds odd --pack Odd -q
      packstore export odds Odd -o Odd.aar -q; packstore import others Odd.aar -q; packstore extract others out -q
      test "$(readlink out/link)" = "$(readlink odd/link)"
      """)
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test func olderVersions() throws {
    #expect(try export("Tutorial@previous", "-o", "T.aar", "-q").status == 0)
    try extract("T.aar", "out")
    #expect(try playground.shell("diff -r --no-dereference folder out/Contents").status == 0)
    #expect(try !playground.text("out/Manifest.json").contains("prefetch"), "its own attributes")
    #expect(playground.tree(".").allSatisfy { !$0.contains(".partial") })
  }

  @Test func dates() throws {
    let run = try playground.packstore(
      "export", "store", "Tutorial", "-o", "T.aar", "-q", environment: ["SOURCE_DATE_EPOCH": "1700000000"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try playground.packstore("export", "store", "Tutorial", "-o", "U.aar", "-q").status == 0)
    #expect(try playground.read("T.aar") != playground.read("U.aar"))
    let wrong = try playground.packstore(
      "export", "store", "Tutorial", "-o", "V.aar", environment: ["SOURCE_DATE_EPOCH": "yesterday"])
    #expect(wrong.status == 2 && !playground.exists("V.aar"))
  }

  @Test func nothingIsReplacedUnasked() throws {
    let planned = try export("Tutorial", "-o", "T.aar", "--dry-run", "--json")
    #expect(planned.status == 0 && !playground.exists("T.aar"))
    #expect(try export("Tutorial", "-o", "T.aar", "-q").status == 0)
    #expect(try planned.json["bytes"] as? Int == playground.read("T.aar").count)
    try playground.write("mine", to: "T.aar")
    #expect(try export("Tutorial", "-o", "T.aar", "-q").status == 1)
    #expect(try playground.text("T.aar") == "mine")
    #expect(try export("Tutorial", "-o", "T.aar", "-q", "--force").status == 0)
    for options in [["--key", "k"], ["--product", "p"], ["--level", "3"], ["--no-expires"], ["--layout", "random"]] {
      let run = try playground.packstore(["export", "store", "Tutorial", "-o", "U.aar"] + options)
      #expect(run.status == 2 && run.errors.contains("does not apply to Apple Archives"), "\(run.errors)")
    }
    #expect(try export("Tutorial", "-o", "U.pack", "--blocks", "zlib").status == 2)
    #expect(!playground.exists("U.aar") && !playground.exists("U.pack") && !playground.exists("k"))
  }
}
