import Foundation
import Testing

@Suite struct PackageTests {
  let playground = try! Playground()

  init() throws {
    try playground.packstore("keygen", "key", "-q")
    try write(playground, "assets")
    try playground.write(manifest(), to: "Manifest.json")
  }

  private func write(_ playground: Playground, _ folder: String) throws {
    try playground.write(noise(300_000), to: "\(folder)/big.bin")
    try playground.write(noise(90_000, seed: 9), to: "\(folder)/map.mesh")
    for number in 0..<60 {
      try playground.write(String(repeating: "line \(number)\n", count: 40 * number), to: "\(folder)/texts/\(number)")
    }
    try playground.write("", to: "\(folder)/empty")
    try playground.makeFolder("\(folder)/void")
    try playground.link("\(folder)/link", to: "texts/7")
    _ = try playground.shell("chmod 755 \(folder)/texts/3")
  }

  private func manifest(_ root: String = "assets", _ more: String = "") -> String {
    #"""
    {"assetPackID": "P", "downloadPolicy": {"onDemand": {}}, "sourceRoot": "\#(root)", "packstore": {"map": ["*.mesh"]\#(more)},
    "fileSelectors": [{"directory": "."}, {"fileSource": "texts/5", "fileDestination": "moved/five"}]}
    """#
  }

  @discardableResult
  private func pack(_ arguments: String...) throws -> Run {
    try playground.packstore(["package", "Manifest.json", "--key", "key"] + arguments)
  }

  private func change() throws {
    try playground.write(noise(20_000, seed: 4), to: "assets/new.bin")
    try playground.write("another", to: "assets/texts/9")
  }

  // MARK: - Output

  @Test func importTakesIt() throws {
    let run = try pack("-o", "P.pack")
    #expect(run.status == 0 && !run.errors.contains("packstore:"), "\(run.errors)")
    #expect(run.lines.first == "'P.pack' is P@1, by default the first number")
    #expect(run.lines.contains { $0.hasSuffix("big.bin") })
    #expect(playground.tree("").filter { $0.contains("partial") } == [])
    let imported = try playground.packstore("import", "client", "P.pack")
    #expect(
      imported.status == 0 && imported.lines.first?.hasPrefix("P is at version 1; ") == true, "\(imported.errors)")
    _ = try playground.shell(
      "mkdir -p expected/moved && cp -a assets/. expected && cp assets/texts/5 expected/moved/five")
    #expect(try playground.packstore("extract", "client", "out", "-q").status == 0)
    let difference = try playground.shell("diff -r expected out && test -x out/texts/3 && test -d out/void")
    #expect(difference.status == 0, "\(difference.output)")
    #expect(try playground.packstore("verify", "client", "--deep").status == 0)
    let members = try playground.shell("tar tf P.pack").lines
    #expect(members.first == "root" && members.last == "packager")
    #expect(try playground.shell("tar xOf P.pack packager").output.hasPrefix("packstore packager 1\nzstd "))
    #expect(try playground.shell("mkdir site && tar xf P.pack -C site").status == 0)
    #expect(try playground.packstore("pull", "other", "site", "-q").status == 0)
  }

  @Test func pathsThatDifferByCaseAreToldOnce() throws {
    try playground.write("other", to: "assets/texts/Seven")
    try playground.write("one more", to: "assets/texts/seven")
    let run = try pack("-o", "P.pack")
    #expect(run.status == 0 && run.errors.components(separatedBy: "only by case").count == 2, "\(run.errors)")
  }

  /// Two very different environments: another folder, another order of names in it, other times and modes, another zone,
  /// language, mask, number of threads and, where this one may, another user. Also of a second version.
  @Test func environmentsDoNotShow() throws {
    let other = try Playground(), there = "elsewhere/in/here"
    try other.write(manifest(there), to: "Manifest.json")
    try other.makeFolder("elsewhere/in")
    _ = try playground.shell("cp key \(other.path)/key && chmod 600 \(other.path)/key")
    let one = "env TZ=UTC LC_ALL=C packstore package Manifest.json --key key -q --threads 1"
    let user = """
      u='setpriv --reuid=65534 --regid=65534 --clear-groups'; \
      if [ "$(id -u)" = 0 ] && $u packstore --version >/dev/null 2>&1; then chown -R 65534:65534 .; else u=; fi; umask 077
      """
    let two =
      "\(user); $u env TZ=Asia/Tokyo LC_ALL=de_DE.UTF-8 packstore package Manifest.json --key key -q --threads 5"
    for (name, more) in [("P.pack", ""), ("P-2.pack", "--previous P.pack")] {
      // From the last name to the first, so that the folder lists them in another order.
      _ = try playground.shell(
        """
        to="\(other.path)/\(there)"; rm -rf "$to" && mkdir "$to" && cd assets && \
        find . -mindepth 1 | sort -r | while read -r f; do mkdir -p "$to/$(dirname "$f")"; \
        if [ -d "$f" ]; then mkdir -p "$to/$f"; else cp -P "$f" "$to/$f"; fi; done; \
        cd "$to" && find . -type f -exec touch -d '2001-02-03 04:05:06' {} + && chmod -R g-rwx,o-rwx . && chmod 700 texts/3
        """)
      let first = try playground.shell("\(one) -o \(name) \(more)")
      #expect(first.status == 0, "\(first.errors)")
      let second = try other.shell("\(two) -o \(name) \(more)")
      #expect(second.status == 0, "\(second.errors)")
      #expect(try playground.read(name) == other.read(name), "\(name)")
      try change()
    }
    let dated = try playground.shell(
      "env SOURCE_DATE_EPOCH=1700000000 packstore package Manifest.json --key key -q -o D.pack")
    #expect(dated.status == 0, "\(dated.errors)")
    #expect(try playground.shell("tar tvf D.pack").lines.allSatisfy { $0.contains("2023-11-14") })
    #expect(
      try playground.shell("env SOURCE_DATE_EPOCH=tomorrow packstore package Manifest.json -o E.pack").status == 2)
    #expect(
      try playground.shell("env SOURCE_DATE_EPOCH=9000000000 packstore package Manifest.json --key key -o E.pack")
        .status != 0)
  }

  // MARK: - Apple Archives

  /// One command gives the bytes of 'import' and 'export', on any number of threads.
  @Test func appleArchiveInOneCommand() throws {
    func run(_ arguments: String...) throws -> Run {
      try playground.packstore(["package", "Manifest.json"] + arguments)
    }
    let planned = try run("-o", "P.aar", "--dry-run", "--json")
    #expect(try planned.status == 0 && planned.json["outcome"] as? String == "planned" && !playground.exists("P.aar"))
    let made = try run("-o", "P.aar", "--threads", "1")
    #expect(made.status == 0 && !made.errors.contains("packstore:"), "\(made.errors)")
    #expect(made.lines.first == "'P.aar' is P, as an Apple Archive")
    #expect(try planned.json["bytes"] as? Int == playground.read("P.aar").count)
    #expect(playground.tree("").filter { $0.contains("partial") || $0.contains("store") } == [])
    try pack("-o", "P.pack", "-q")
    try playground.succeed("import", "client", "P.pack", "-q")
    try playground.succeed("export", "client", "P", "-o", "exported.aar", "-q")
    #expect(try playground.read("P.aar") == playground.read("exported.aar"))
    try playground.succeed("import", "other", "P.aar", "-q")
    let report = try run("-o", "again.aar", "--threads", "5", "--blocks", "stored", "--json").json
    #expect(report["format"] as? String == "aar" && report["version"] == nil && report["public_key"] == nil)
    let stored = try playground.packstore("export", "other", "P", "-o", "none.aar", "--dry-run", "--json").json
    #expect(report["catalog"] as? String == stored["catalog"] as? String)
  }

  @Test func appleArchiveRefusals() throws {
    func run(_ arguments: String...) throws -> Run {
      try playground.packstore(["package", "Manifest.json"] + arguments)
    }
    try playground.write("mine", to: "P.aar")
    #expect(try run("-o", "P.aar", "-q").status == 1)
    #expect(try playground.text("P.aar") == "mine")
    #expect(try run("-o", "P.aar", "-q", "--force").status == 0)
    for option in [
      ["--key", "key"], ["--version", "2"], ["--previous", "P.pack"], ["--level", "3"], ["--product", "p"],
    ] {
      let refused = try playground.packstore(["package", "Manifest.json", "-o", "Q.aar"] + option)
      #expect(refused.status == 2 && refused.errors.contains("\(option[0]) does not apply"), "\(refused.errors)")
    }
    for blocks in ["lzfse", "lz4", "lzma"] {
      let refused = try run("-o", "Q.aar", "--blocks", blocks)
      #expect(refused.status == 2 && refused.errors.contains("no encoder"), "\(refused.errors)")
    }
    #expect(try run("-o", "Q.pack", "--key", "key", "--blocks", "zlib").status == 2)
    try playground.write("x", to: "assets/texts/more")
    try playground.write(manifest().replacing("texts/5\"", with: "texts/none\""), to: "Manifest.json")
    #expect(try run("-o", "Q.aar").errors.contains("texts/none"))
    #expect(playground.tree("").filter { $0.hasPrefix("Q") } == [])
  }

  // MARK: - What came before

  @Test func segmentsOfThePreviousVersionStay() throws {
    try pack("-o", "P.pack", "-q")
    try change()
    let run = try pack("-o", "P-2.pack", "--previous", "P.pack", "--json")
    #expect(run.status == 0, "\(run.errors)")
    let report = try run.json
    #expect(report["version"] as? Int == 2 && report["previous"] as? Int == 1)
    let (old, new) = (try segments("P.pack"), try segments("P-2.pack"))
    #expect(!old.intersection(new).isEmpty)
    let bytes = try playground.shell(
      "tar xf P-2.pack && cat \(new.subtracting(old).sorted().joined(separator: " ")) | wc -c")
    #expect(report["new_segment_bytes"] as? Int == Int(bytes.output.filter { !$0.isWhitespace }))
    // The announced size of an update equals its real size.
    try playground.packstore("import", "client", "P.pack", "-q")
    #expect(try playground.shell("mkdir site && tar xf P-2.pack -C site").status == 0)
    let pull = try playground.packstore("pull", "client", "site", "--json").json
    let wire = try #require(pull["wire_bytes"] as? Int), said = try #require(report["update_bytes"] as? Int)
    #expect(wire <= said && wire * 10 >= said * 8, "\(wire) of \(said) bytes")
    #expect(try playground.packstore("cat", "client", "texts/9").output == "another")

    let delta = try pack("-o", "D.pack", "--previous", "P.pack", "--estimate-delta", "--dry-run", "--json").json
    #expect(delta["outcome"] as? String == "planned" && !playground.exists("D.pack"))
    #expect(delta["bytes"] as? Int == (try playground.read("P-2.pack")).count)
    #expect(try #require(delta["delta_bytes"] as? Int) < said)
  }

  private func segments(_ archive: String) throws -> Set<String> {
    Set(try playground.shell("tar tf \(archive)").lines.filter { $0.hasPrefix("segments/") })
  }

  /// A chain of versions, in which the segments of an archive hold more than its own version, and a site as the one before.
  @Test func chainsAndSites() throws {
    try pack("-o", "P-1.pack", "-q")
    for number in 2...4 {
      try playground.write(noise(30_000, seed: UInt64(number)), to: "assets/new-\(number).bin")
      try playground.write("\(number)", to: "assets/texts/\(number)")
      let run = try pack("-o", "P-\(number).pack", "--previous", "P-\(number - 1).pack", "-q")
      #expect(run.status == 0, "\(run.errors)")
    }
    try playground.packstore("import", "client", "P-4.pack", "-q")
    #expect(try playground.packstore("verify", "client", "--deep").status == 0)
    #expect(try playground.packstore("cat", "client", "texts/4").output == "4")
    #expect(try playground.packstore("add", "store", "assets", "--pack", "P", "--version", "7", "-q").status == 0)
    try playground.packstore("add", "store", "assets/texts", "--pack", "Q", "-q")
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try change()
    let next = try pack("-o", "S.pack", "--previous", "site", "--json")
    #expect(try next.json["version"] as? Int == 8, "\(next.errors)")
    #expect(try playground.packstore("import", "fresh", "S.pack", "-q").status == 0)
    #expect(try playground.packstore("verify", "fresh", "--deep").status == 0)
    #expect(try playground.packstore("ls", "fresh", "--json").output.contains(#""pack":"Q""#) == false)
  }

  @Test func anUnchangedPackIsNoVersion() throws {
    try pack("-o", "P.pack", "-q")
    let run = try pack("-o", "P-2.pack", "--previous", "P.pack")
    #expect(run.status == 0 && run.lines == ["nothing changed since P@1: no archive was written"])
    #expect(!playground.exists("P-2.pack"))
    // Attributes are a change.
    try playground.write(manifest("assets", #", "priority": 3"#), to: "Manifest.json")
    #expect(try pack("-o", "P-2.pack", "--previous", "P.pack", "--json").json["outcome"] as? String == "written")
  }

  // MARK: - Existing archives

  @Test func nothingIsReplaced() throws {
    try pack("-o", "P.pack", "-q")
    let first = try playground.read("P.pack")
    #expect(try pack("-o", "P.pack").lines == ["'P.pack' is P@1 already, with the same content"])
    // An archive with the same content in other bytes also counts as existing.
    #expect(try pack("-o", "P.pack", "--level", "1").lines == ["'P.pack' is P@1 already, with the same content"])
    let other = try pack("-o", "P.pack", "--version", "2")
    #expect(other.status == 1 && other.errors.contains("with P@1"), "\(other.errors)")
    try change()
    let same = try pack("-o", "P.pack")
    #expect(same.status == 1 && same.errors.contains("other content"), "\(same.errors)")
    try playground.write("mine", to: "text.pack")
    #expect(try pack("-o", "text.pack").status == 1)
    #expect(try playground.read("P.pack") == first && playground.text("text.pack") == "mine")
    #expect(try pack("-o", "P.pack", "--force", "-q").status == 0)
    #expect(try playground.read("P.pack") != first)
  }

  // MARK: - Refusals

  @Test func strangersAndDamage() throws {
    try pack("-o", "P.pack", "-q")
    try change()
    try playground.packstore("keygen", "stranger", "-q")
    let stranger = try playground.packstore(
      "package", "Manifest.json", "--key", "stranger", "-o", "X.pack", "--previous", "P.pack")
    #expect(stranger.status == 4 && stranger.errors.contains("another publisher"), "\(stranger.errors)")
    #expect(try pack("-o", "X.pack", "--previous", "P.pack", "--version", "1").status == 2)
    #expect(try pack("-o", "X.pack", "--previous", "P.pack", "--product", "other").status == 2)
    #expect(try pack("-o", "X.pack", "--previous", "none").status == 1)
    let whole = try playground.read("P.pack")
    for place in stride(from: 0, to: whole.count, by: whole.count / 14) {
      var bytes = whole
      bytes[place] ^= 0x10
      try playground.write(bytes, to: "bad.pack")
      let run = try pack("-o", "X.pack", "--previous", "bad.pack", "-q")
      // Padding and times of members mean nothing; then the archive is as good as the whole one.
      if run.status == 0 {
        try playground.packstore("import", "client", "X.pack", "-q")
        #expect(try playground.packstore("verify", "client", "--deep").status == 0)
        try playground.remove("X.pack")
      } else {
        #expect(!playground.exists("X.pack"), "byte \(place)")
      }
    }
    try playground.write(Array(whole.prefix(whole.count / 2)), to: "bad.pack")
    #expect(try pack("-o", "X.pack", "--previous", "bad.pack").status == 7)
    #expect(playground.tree("").filter { $0.contains("partial") } == [])
  }

  @Test func manifestsWithErrors() throws {
    try playground.write(manifest().replacingOccurrences(of: "texts/5", with: "texts/none"), to: "Manifest.json")
    let run = try pack("-o", "P.pack")
    #expect(run.status == 1 && run.errors.contains("Manifest.json:2:"), "\(run.errors)")
    #expect(!playground.exists("P.pack"))
  }

  // MARK: - Archives of both kinds

  /// The number decides, for each kind of archive.
  @Test func numbersDecideBetweenKindsOfArchives() throws {
    for number in 1...4 {
      try playground.write("\(number)", to: "assets/texts/1")
      try pack("-o", "M-\(number).pack", "--version", "\(number)", "-q")
      try playground.packstore("add", "store", "assets", "--pack", "P", "--keep", "9", "-q")
      try playground.packstore("export", "store", "P", "-o", "E-\(number).pack", "--key", "key", "-q")
    }
    for (store, kinds) in [("a", ["M", "E", "M", "E"]), ("b", ["E", "M", "E", "M"])] {
      for (index, kind) in kinds.enumerated() {
        let run = try playground.packstore("import", store, "\(kind)-\(index + 1).pack", "-q")
        #expect(run.status == 0, "\(store) \(kind)-\(index + 1): \(run.errors)")
        #expect(try playground.packstore("cat", store, "texts/1").output == "\(index + 1)")
      }
      for kind in ["M", "E"] { #expect(try playground.packstore("import", store, "\(kind)-2.pack", "-q").status == 4) }
    }
    // A version that a site took back does not return from an archive; a higher one is installed.
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.packstore("pull", "a", "site", "-q")
    try playground.packstore("publish", "store", "site", "P@2", "--key", "key", "-q")
    #expect(try playground.packstore("pull", "a", "site", "-q").status == 0)
    #expect(try playground.packstore("cat", "a", "texts/1").output == "2")
    try pack("-o", "M-5.pack", "--version", "5", "-q")
    for number in [3, 4] { #expect(try playground.packstore("import", "a", "M-\(number).pack", "-q").status == 4) }
    #expect(try playground.packstore("import", "a", "M-5.pack", "-q").status == 0)
  }

  /// Only the roots of a served site are read: without a root, nothing is created.
  @Test func aServedSiteMustBeThere() throws {
    let url = "file://\(playground.path)/none"
    let run = try pack("-o", "P.pack", "--previous", url)
    #expect(
      run.status == 3 && run.errors.contains("/none': the folder does not exist"),
      "\(run.status) \(run.errors)")
    #expect(try pack("-o", "P.pack", "--previous", url, "--estimate-delta", "--dry-run").status == 2)
    #expect(!playground.exists("P.pack"))
  }
}
