import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `ls`, `cat` and `extract`.
@Suite struct ReadTests {
  let playground = try! Playground()

  /// Two packs that share a path; the second one wins.
  init() throws {
    try playground.write("intro", to: "tutorial/Videos/intro.m4v")
    try playground.write("#!/bin/sh\n", to: "tutorial/run")
    chmod("\(playground.path)/tutorial/run", 0o755)
    try playground.makeFolder("tutorial/empty")
    try playground.write("better", to: "level/Videos/intro.m4v")
    try playground.write("level", to: "level/Videos/level.m4v")
    try playground.packstore("add", "store", "tutorial", "--pack", "Tutorial", "-q")
    try playground.packstore("add", "store", "level", "--pack", "Level", "--priority", "1", "-q")
  }

  // MARK: - ls

  @Test func listing() throws {
    #expect(try playground.packstore("ls", "store").output == "Videos/\nempty/\nrun\n")
    #expect(try playground.packstore("ls", "store", ".").output == "Videos/\nempty/\nrun\n")
    #expect(try playground.packstore("ls", "store", "Videos/").output == "Videos/intro.m4v\nVideos/level.m4v\n")
    #expect(try playground.packstore("ls", "store", "run").output == "run\n")
    #expect(try playground.packstore("ls", "store", "Videos", "--pack", "Tutorial").output == "Videos/intro.m4v\n")
    #expect(try playground.packstore("ls", "store", "-R").output == "Videos/intro.m4v\nVideos/level.m4v\nempty/\nrun\n")
    #expect(
      try playground.packstore("ls", "store", "-R0").output == "Videos/intro.m4v\0Videos/level.m4v\0empty/\0run\0")
  }

  @Test func longListing() throws {
    #expect(
      try playground.packstore("ls", "store", "-lR").lines == [
        "file          6 B  raw           6 B  Level     Videos/intro.m4v",
        "file          5 B  raw           5 B  Level     Videos/level.m4v",
        "folder          -  -               -  Tutorial  empty/",
        "program      10 B  raw          10 B  Tutorial  run",
      ])
    #expect(
      try playground.packstore("ls", "store", "-l").lines[0]
        == "folder          -  -               -  -         Videos/")
  }

  @Test func jsonListing() throws {
    let lines = try playground.packstore("ls", "store", "--json").jsonLines
    #expect(
      lines == [
        ["path": "Videos", "kind": "folder", "bytes": 0, "executable": false, "contiguous": false, "mapped": false],
        [
          "path": "empty", "kind": "folder", "bytes": 0, "executable": false, "contiguous": false, "mapped": false,
          "pack": "Tutorial",
        ],
        [
          "path": "run", "kind": "file", "bytes": 10, "executable": true, "contiguous": true, "mapped": false,
          "pack": "Tutorial", "form": "raw", "stored_bytes": 10, "extents": 1, "frames": 1, "raw_frames": 1,
        ],
      ])
  }

  @Test func missingPathsAndPacks() throws {
    for arguments in [["nothing"], ["Videos/nothing"], ["--pack", "Unknown"], ["run/x"]] {
      let run = try playground.packstore(["ls", "store"] + arguments)
      #expect(run.status == 1)
      #expect(run.output.isEmpty)
      #expect(run.errors.hasPrefix("packstore: "))
      #expect(run.errors.contains(arguments.last!))
    }
    #expect(try playground.packstore("ls", "store", "../x").status == 2)
  }

  // MARK: - cat

  @Test func cat() throws {
    #expect(try playground.packstore("cat", "store", "Videos/intro.m4v").output == "better")
    #expect(try playground.packstore("cat", "store", "Videos/intro.m4v", "--pack", "Tutorial").output == "intro")
    let folder = try playground.packstore("cat", "store", "Videos")
    #expect(folder.status == 1)
    #expect(folder.errors.contains("Videos"))
  }

  @Test(arguments: [("0-0", "b"), ("1-3", "ett"), ("4-", "er"), ("5-5", "r"), ("0-99", "better")])
  func ranges(range: String, expected: String) throws {
    #expect(try playground.packstore("cat", "store", "Videos/intro.m4v", "--range", range).output == expected)
  }

  @Test func rangePastTheEnd() throws {
    let run = try playground.packstore("cat", "store", "Videos/intro.m4v", "--range", "6-")
    #expect(run.status == 2)
    #expect(run.errors == "packstore: 'Videos/intro.m4v': the range begins at byte 6, but the file has 6 bytes\n")
  }

  @Test func bytesAreRaw() throws {
    let bytes = noise(300_000)
    try playground.write(bytes, to: "raw/noise")
    try playground.packstore("add", "store", "raw", "--pack", "Raw", "-q")
    #expect(try playground.packstore("cat", "store", "noise").bytes == bytes)
    #expect(
      try playground.packstore("cat", "store", "noise", "--range", "123456-234567").bytes
        == Array(bytes[123456...234567]))
  }

  // MARK: - extract

  @Test func extract() throws {
    let run = try playground.packstore("extract", "store", "out/deep")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.masked == "extracted 3 files: 21 B in <time>, <rate>\n")
    #expect(playground.tree("out/deep") == ["Videos/", "Videos/intro.m4v", "Videos/level.m4v", "empty/", "run"])
    #expect(try playground.text("out/deep/Videos/intro.m4v") == "better")
    #expect(access("\(playground.path)/out/deep/run", X_OK) == 0)
    #expect(try playground.packstore("extract", "store", "one", "--pack", "Tutorial", "-q").output.isEmpty)
    #expect(try playground.text("one/Videos/intro.m4v") == "intro")
  }

  /// It stopped at the first damaged asset, and so gave as little of the others as the order of paths would have it.
  @Test func whatIsDamagedIsListed() throws {
    for (pack, bytes) in [("A", noise(90_000, seed: 1)), ("B", noise(90_000, seed: 2)), ("C", noise(90_000, seed: 3))] {
      try playground.write(bytes, to: "\(pack)/\(pack)")
      let before = Set(playground.tree("hurt/segments"))
      try playground.packstore("add", "hurt", pack, "--pack", pack, "-q")
      for segment in Set(playground.tree("hurt/segments")).subtracting(before) where pack != "B" {
        var stored = try playground.read("hurt/segments/\(segment)")
        guard stored.count > 90_000 else { continue }
        stored[45_000] ^= 1
        try playground.write(stored, to: "hurt/segments/\(segment)")
      }
    }
    let run = try playground.packstore("extract", "hurt", "out")
    #expect(run.status == 7)
    let errors = run.errors.split(separator: "\n")
    #expect(errors.count == 3)
    for (line, pack) in zip(errors, ["A", "C"]) {
      #expect(line.hasPrefix("packstore: '\(pack)': not extracted: segments/"), "\(line)")
    }
    #expect(errors.last?.hasPrefix("packstore: 2 assets could not be read; run 'packstore repair hurt'") == true)
    #expect(playground.tree("out") == ["B"])
    #expect(try playground.read("out/B") == noise(90_000, seed: 2))
    let json = try playground.packstore("extract", "hurt", "again", "--json").json
    #expect((json["damaged"] as? [NSDictionary])?.map { $0["path"] as? String } == ["A", "C"])
    #expect(json["files"] as? Int == 1)
  }

  /// Each folder on the way down was held open.
  @Test func foldersDeeperThanDescriptorsReach() throws {
    let run = try playground.shell(
      """
      deep=$(printf 'd/%.0s' $(seq 1500)); mkdir -p "source/$deep" && cd source && echo bottom > "$deep/file" || exit
      for up in 1 700 1499; do echo $up > "$(printf 'd/%.0s' $(seq $up))/e"; done
      cd .. && packstore add deep source --pack D -q && ulimit -n 60 && packstore extract deep out -q && diff -r source out
      """)
    #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)\(run.output)")
  }

  /// This also holds for a new folder: it would be among the store's own files.
  @Test(arguments: ["store", "store/new", "store/new/deeper", "./store/../store/new"])
  func nothingIsExtractedIntoTheStore(folder: String) throws {
    let before = playground.tree("store")
    let run = try playground.packstore("extract", "store", folder)
    #expect(run.status == 2 && run.errors.contains(": inside the store"), "\(run.errors)")
    #expect(playground.tree("store") == before)
  }

  @Test func nothingIsOverwrittenUnasked() throws {
    try playground.write("mine", to: "out/run")
    let run = try playground.packstore("extract", "store", "out")
    #expect(run.status == 1)
    #expect(run.errors == "packstore: 'run': exists in 'out'; add --overwrite to replace it\n")
    #expect(try playground.text("out/run") == "mine")
    #expect(try playground.packstore("extract", "store", "out", "--overwrite").status == 0)
    #expect(try playground.text("out/run") == "#!/bin/sh\n")
  }

  /// A link's target is bytes.
  @Test func linksToNamesThatAreNoText() throws {
    _ = try playground.shell("mkdir odd && ln -s \"$(printf 'a\\377\\376b')\" odd/link")
    try playground.packstore("add", "store", "odd", "--pack", "Odd", "-q")
    #expect(try playground.packstore("extract", "store", "out", "--pack", "Odd").status == 0)
    #expect(try playground.shell("test \"$(readlink odd/link)\" = \"$(readlink out/link)\"").status == 0)
    #expect(try playground.shell("readlink out/link | od -An -tx1").output.contains("61 ff fe 62"))
  }

  @Test func unsafeLinksAreListedNotMade() throws {
    try playground.write("x", to: "links/file")
    try playground.link("links/absolute", to: "/etc")
    try playground.link("links/inside", to: "file")
    try playground.link("links/outside", to: "../up")
    try playground.packstore("add", "store", "links", "--pack", "Links", "-q")
    let run = try playground.packstore("extract", "store", "out", "--pack", "Links")
    #expect(run.status == 0)
    #expect(
      run.errors == """
        packstore: warning: 'absolute' is a link out of the folder, to '/etc', and was not created: see --unsafe-links
        packstore: warning: 'outside' is a link out of the folder, to '../up', and was not created: see --unsafe-links

        """)
    #expect(playground.tree("out") == ["file", "inside"])
    #expect(try playground.packstore("extract", "store", "all", "--pack", "Links", "--unsafe-links").errors.isEmpty)
    #expect(playground.tree("all") == ["absolute", "file", "inside", "outside"])
  }

  @Test func nothingIsWrittenThroughALink() throws {
    try playground.makeFolder("victim")
    try playground.makeFolder("out")
    try playground.link("out/Videos", to: "../victim")
    #expect(try playground.packstore("extract", "store", "out", "--overwrite").status == 1)
    #expect(playground.tree("victim").isEmpty)
  }

  @Test func jsonOfExtract() throws {
    let run = try playground.packstore("extract", "store", "out", "--json")
    let json = try run.json
    #expect(json["files"] as? Int == 3)
    #expect(json["links"] as? Int == 0)
    #expect(json["bytes"] as? Int == 21)
    #expect((json["refused_links"] as? [Any])?.isEmpty == true)
    #expect(json["seconds"] != nil)
  }

  // MARK: - Where output goes

  @Test(.enabled(if: access("/dev/full", W_OK) == 0))
  func fullDiskAtStandardOutputIsAnError() throws {
    let run = try playground.shell("packstore cat store run > /dev/full")
    #expect(run.status == 5)
    #expect(run.errors == "packstore: standard output: cannot write: No space left on device\n")
  }

  @Test func readerThatGoesAwayIsNoError() throws {
    try playground.write(repeatElement(UInt8(ascii: "a"), count: 4_000_000), to: "big/a")
    try playground.packstore("add", "store", "big", "--pack", "Big", "-q")
    let run = try playground.shell("packstore cat store a | head -c 1")
    #expect(run.output == "a")
    #expect(run.errors.isEmpty)
  }
}
