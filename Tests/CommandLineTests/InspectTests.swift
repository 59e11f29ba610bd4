import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// `stat`, `log`, `conflicts`, `diff`, `verify` and `remove`.
@Suite struct InspectTests {
  let playground = try! Playground()

  /// `Tutorial` in two versions, and `Level` that hides one of its paths.
  init() throws {
    try playground.write("same", to: "tutorial/same")
    try playground.write("old", to: "tutorial/changed")
    try playground.write("removed", to: "tutorial/removed")
    try playground.write("moved about", to: "tutorial/from")
    try playground.packstore("add", "store", "tutorial", "--pack", "Tutorial", "-q")
    try playground.write("newer", to: "tutorial/changed")
    try playground.remove("tutorial/removed")
    try playground.remove("tutorial/from")
    try playground.write("moved about", to: "tutorial/to")
    try playground.write("added", to: "tutorial/added")
    try playground.packstore("add", "store", "tutorial", "--pack", "Tutorial", "-q")
    try playground.write("level", to: "level/same")
    try playground.write("added", to: "level/own")
    try playground.packstore("add", "store", "level", "--pack", "Level", "--priority", "5", "-q")
  }

  // MARK: - stat

  @Test func stat() throws {
    let run = try playground.packstore("stat", "store")
    #expect(run.status == 0, "\(run.errors)")
    let words = run.lines.map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
    try #require(words.count == 11)
    #expect(words[0] == "PACK ASSETS SIZE UNIQUE STORED ON DISK SHARED FREED")
    #expect(words[1].hasPrefix("Level@1 2 10 B 10 B "))
    #expect(words[2].hasPrefix("Tutorial@2 4 25 B 25 B "))
    #expect(words[3].hasPrefix("all 6 35 B 30 B "))
    #expect(words[4] == "")
    #expect(words[5] == "saved by deduplication 5 B (14.3 %)")
    #expect(words[6].hasPrefix("saved by compression "))
    #expect(words[7].maskedSizes.hasPrefix("on disk <size>: "))
    #expect(words[8].maskedSizes.hasPrefix("allotted <size>"))
    #expect(words[9].maskedSizes.hasPrefix("needed by no version <size>"))
    #expect(words[10].hasPrefix("mapped mode "))
  }

  /// The reported sizes equal the sizes that `du` and `find` report, and the space that a removal frees.
  @Test func statIsWhatTheSystemSays() throws {
    func space(_ key: String) throws -> Int {
      let space = try #require(playground.packstore("stat", "store", "--json").json["space"] as? NSDictionary)
      let part = try #require(space[key] as? NSDictionary)
      return try #require(part[key == "total" ? "allocated_bytes" : "bytes"] as? Int)
    }
    func measured(_ command: String) throws -> Int {
      try #require(Int(playground.shell(command).output.split(whereSeparator: \.isWhitespace).first ?? ""))
    }
    let sizes = "find store/segments -type f -exec cat {} + | wc -c"
    #expect(try space("segments") == measured(sizes))
    #expect(try space("total") == measured("du -sk store") * 1024)
    func pack(_ name: String) throws -> NSDictionary {
      let packs = try playground.packstore("stat", "store", "--json").json["packs"] as? [NSDictionary]
      return try #require(packs?.first { $0["pack"] as? String == name }?["space"] as? NSDictionary)
    }
    let before = try measured(sizes), allocated = try measured("du -sk store/segments")
    let level = try pack("Level")
    let removal = try playground.packstore("remove", "store", "Level", "--json").json
    let left = try measured(sizes)
    #expect(level["freed_bytes"] as? Int == before - left && removal["freed_bytes"] as? Int == before - left)
    #expect(try level["freed_allocated_bytes"] as? Int == (allocated - measured("du -sk store/segments")) * 1024)
    let tutorial = try pack("Tutorial")
    #expect(tutorial["freed_bytes"] as? Int == left, "one pack is left, and needs all that is there")
    #expect(tutorial["shared_bytes"] as? Int == 0)
    #expect(try playground.packstore("gc", "store").output == "nothing to free\n", "the removal was another process")
    let kept = try playground.packstore("remove", "store", "Tutorial", "--keep-generation")
    #expect(kept.lines.last == "freed 0 B; the generation before keeps its files until the next commit")
    #expect(try measured(sizes) == left)
    #expect(try playground.packstore("gc", "store").lines.last?.maskedSizes == "freed <size>")
    #expect(try measured(sizes) == 0)
  }

  /// Amounts of bytes are written as they are shown.
  @Test func budgets() throws {
    let cases: [String] = ["200MB", "200M", "500kB", "1G", "7", "7B"]
    for amount in cases {
      let run = try playground.packstore("gc", "store", "--dry-run", "--budget", amount)
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  @Test func noBudgets() throws {
    let cases: [String] = ["MB", "B", "", "2 MB", "2MBB", "-2M", "9999999999G", "0"]
    for amount in cases {
      #expect(try playground.packstore("gc", "store", "--dry-run", "--budget=\(amount)").status == 2)
    }
  }

  @Test func statByExtension() throws {
    try playground.write(noise(5_000, seed: 3), to: "level/deep/b.DAT")
    try playground.write(noise(9_000, seed: 4), to: "level/a.txt")
    try playground.packstore("add", "store", "level", "--pack", "Level", "-q")
    let lines = try playground.packstore("stat", "store", "--by-extension", "--top", "2").lines
    let words = lines.map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
    #expect(words.suffix(3).first == "EXTENSION FILES SIZE UNIQUE STORED")
    #expect(words.suffix(2).first?.hasPrefix(".txt 1 9.0 kB 9.0 kB ") == true, "\(words)")
    #expect(words.last?.hasPrefix(".dat 1 5.0 kB 5.0 kB ") == true, "\(words)")
    let json = try playground.packstore("stat", "store", "--by-extension", "--json").json
    let kinds = try #require(json["by_extension"] as? [NSDictionary])
    #expect(kinds.map { $0["extension"] as? String } == ["txt", "dat", ""])
    for wrong in [["--top", "3"], ["--by-extension", "--top", "0"]] {
      #expect(try playground.packstore(["stat", "store"] + wrong).status == 2, "\(wrong)")
    }
  }

  /// A removed pack that keeps its history still uses space, and `stat` reports it.
  @Test func statOfRemovedPacks() throws {
    try playground.packstore("remove", "store", "Tutorial", "--keep-history", "-q")
    let lines = try playground.packstore("stat", "store").lines
    #expect(lines.contains { $0.hasPrefix("Tutorial (removed) ") }, "\(lines)")
    let json = try playground.packstore("stat", "store", "--json").json
    let removed = try #require((json["removed_packs"] as? [NSDictionary])?.first)
    let space = try #require(removed["space"] as? NSDictionary)
    #expect(removed["pack"] as? String == "Tutorial")
    #expect(space["current_bytes"] as? Int == 0 && space["needed_bytes"] as? Int ?? 0 > 0)
  }

  #if os(Linux)
    /// Data retained by a reader uses space, and `stat` names the reader.
    @Test func statOfHeldGenerations() throws {
      let readers = open("\(playground.path)/store/READERS", O_RDONLY | O_CLOEXEC)
      try #require(readers >= 0)
      defer { close(readers) }
      var region = flock()
      region.l_type = Int16(F_RDLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_start = 4  // the store was made, and committed to three times
      region.l_len = 1
      try #require(fcntl(readers, setLock, &region) == 0)
      for round in 1...3 {
        try playground.write(noise(50_000, seed: UInt64(round)), to: "level/own")
        try playground.packstore("add", "store", "level", "--pack", "Level", "--keep", "1", "-q")
      }
      let lines = try playground.packstore("stat", "store").lines
      #expect(lines.contains { $0.hasPrefix("held by readers ") })
      #expect(lines.contains { $0.hasPrefix("  generation 4 by \(getpid()): ") }, "\(lines)")
      let held = try #require(playground.packstore("stat", "store", "--json").json["held"] as? [NSDictionary])
      #expect(held.count == 1 && held[0]["kept_bytes"] as? Int ?? 0 > 0)
    }
  #endif

  #if os(Linux)
    /// Files that say to be as long as can be cost nothing on some file systems, and are added up all the same.
    @Test(.enabled(if: access("/dev/shm", W_OK) == 0)) func statOfPlantedFiles() throws {
      let script = "d=$(mktemp -d -p /dev/shm) && cp -R store $d && cd $d && trap 'rm -rf $d' EXIT"
      for folder in ["segments", "index"] {
        for options in ["", "--json"] {
          let name = folder == "segments" ? String(repeating: "0a", count: 16) : "x"
          let run = try playground.shell(
            "\(script) && truncate -s 9223372036854775807 store/\(folder)/\(name) && packstore stat store \(options)")
          #expect(run.status == 0, "\(run.errors)")
        }
      }
    }
  #endif

  @Test func statJSON() throws {
    let json = try playground.packstore("stat", "store", "--json").json
    #expect(
      Set(json.allKeys as! [String]) == [
        "packs", "removed_packs", "all", "shared_unique_bytes", "shared_stored_bytes", "saved_by_deduplication",
        "saved_by_compression", "segments", "segment_bytes", "index_runs", "index_bytes", "disk_bytes", "space", "held",
        "held_bytes", "held_more", "mapped_mode",
      ])
    let all = try #require(json["all"] as? NSDictionary)
    #expect(
      Set(all.allKeys as! [String]) == ["files", "links", "folders", "bytes", "chunks", "unique_bytes", "stored_bytes"])
    #expect(all["bytes"] as? Int == 35)
    let pack = try #require((json["packs"] as? [NSDictionary])?.first)
    let keys: Set = [
      "pack", "version", "usage", "own_unique_bytes", "own_stored_bytes", "space", "placement", "placed_by_hand",
      "availability",
    ]
    #expect(Set(pack.allKeys as! [String]) == keys)
    #expect(pack["own_unique_bytes"] as? Int == 5)
  }

  // MARK: - log

  @Test func log() throws {
    let run = try playground.packstore("log", "store")
    #expect(
      run.output.masked == """
        VERSION     STATE    CATALOG       COMMITTED             ASSETS  SIZE
        Level@1     current  <id>  <date>       2  10 B
        Tutorial@2  current  <id>  <date>       4  25 B
        Tutorial@1           <id>  <date>       4  25 B

        """)
    #expect(try playground.packstore("log", "store", "Level").lines.count == 2)
    let missing = try playground.packstore("log", "store", "Unknown")
    #expect(missing.status == 1)
    #expect(missing.errors == "packstore: pack 'Unknown': not in the store (packs: Level, Tutorial)\n")
  }

  @Test func logJSON() throws {
    let json = try playground.packstore("log", "store", "Tutorial", "--json").json
    let pack = try #require((json["packs"] as? [NSDictionary])?.first)
    #expect(Set(pack.allKeys as! [String]) == ["pack", "origin", "priority", "held", "removed", "versions"])
    let versions = try #require(pack["versions"] as? [NSDictionary])
    #expect(versions.map { $0["version"] as? Int } == [2, 1])
    #expect(
      Set(versions[0].allKeys as! [String]) == [
        "version", "current", "pinned", "catalog", "committed_at", "files", "links", "folders", "bytes",
      ])
    #expect((versions[0]["committed_at"] as? String)?.masked == "<date>")
  }

  // MARK: - conflicts

  @Test func conflicts() throws {
    let run = try playground.packstore("conflicts", "store")
    #expect(run.output == "same: Level hides Tutorial\n")
    #expect(
      try playground.packstore("conflicts", "store", "--json").jsonLines == [
        ["path": "same", "kind": "file", "bytes": 4, "pack": "Tutorial", "winner": "Level", "winner_path": "same"]
      ])
  }

  // MARK: - diff

  private let differences = """
    added    added (5 B)
    changed  changed (5 B, was 3 B)
    removed  removed (7 B)
    moved    to (was from)
    1 added, 1 removed, 1 changed, 1 moved, 1 unchanged; new: 10 B in 2 of 4 chunks

    """

  @Test(arguments: [
    ["diff", "store", "Tutorial@1", "Tutorial@2"], ["diff", "store", "Tutorial@previous", "Tutorial"],
    ["diff", "Tutorial@previous", "Tutorial@2", "--store", "store"],
  ])
  func diff(arguments: [String]) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output == differences)
  }

  @Test func diffOfFolders() throws {
    try playground.packstore("extract", "store", "current", "--pack", "Tutorial", "-q")
    try playground.write("x", to: "current/extra")
    let run = try playground.packstore("diff", "tutorial", "current")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.first == "added    extra (1 B)")
    #expect(run.lines.last == "1 added, 0 removed, 0 changed, 0 moved, 4 unchanged; new: 1 B in 1 of 5 chunks")
    let missing = try playground.packstore("diff", "tutorial", "nowhere")
    #expect(missing.status == 1)
    #expect(missing.errors == "packstore: 'nowhere': cannot read the folder: No such file or directory\n")
  }

  @Test func diffJSON() throws {
    let json = try playground.packstore("diff", "store", "Tutorial@1", "Tutorial@2", "--json").json
    let differences = try #require(json["differences"] as? [NSDictionary])
    #expect(differences.map { $0["change"] as? String } == ["added", "changed", "removed", "moved"])
    #expect(
      differences[1] == [
        "change": "changed", "kind": "file", "path": "changed", "old_bytes": 3, "new_bytes": 5, "new_chunk_bytes": 5,
      ])
    #expect(differences[3]["old_path"] as? String == "from")
    #expect(
      json["totals"] as? NSDictionary == [
        "added": 1, "removed": 1, "changed": 1, "moved": 1, "unchanged": 1, "chunks": 4, "new_chunks": 2,
        "new_bytes": 10,
      ])
    let same = try playground.packstore("diff", "store", "Tutorial", "Tutorial", "--json").json
    #expect((same["differences"] as? [Any])?.isEmpty == true)
  }

  @Test func diffShowsWhatIsAskedFor() throws {
    for (options, lines) in [
      (["--summary"], []), (["--summary", "-q"], []), (["--path", "*ed"], ["added", "changed", "removed"]),
      (["--path", "from"], ["moved"]), (["--min-size", "6"], ["removed", "moved"]), (["--min-size", "1M"], []),
    ] as [([String], [String])] {
      let run = try playground.packstore(["diff", "store", "Tutorial@1", "Tutorial@2"] + options)
      #expect(run.lines.dropLast().map { String($0.prefix { $0 != " " }) } == lines, "\(options)")
      #expect(run.lines.last?.hasPrefix("1 added, 1 removed") == true, "\(options)")
      let json = try playground.packstore(["diff", "store", "Tutorial@1", "Tutorial@2", "--json"] + options).json
      #expect((json["differences"] as? [NSDictionary])?.map { $0["change"] as? String } == lines)
    }
    let stream = try playground.packstore("diff", "store", "Tutorial@1", "Tutorial@2", "--json-lines").jsonLines
    #expect(stream.dropLast().map { $0["change"] as? String } == ["added", "changed", "removed", "moved"])
    #expect((stream.last?["totals"] as? NSDictionary)?["new_bytes"] as? Int == 10)
    #expect(try playground.packstore("diff", "store", "Tutorial@1", "@2", "--path", "a[").status == 2)
    #expect(try playground.packstore("diff", "store", "Tutorial@1", "@2", "--json", "--json-lines").status == 2)
  }

  /// A folder that got another name takes one line, and a file one of its own.
  @Test func renamedFoldersTakeOneLine() throws {
    for number in 0..<5 { try playground.write("file \(number)", to: "before/art/old/deep/\(number)") }
    try playground.write("single", to: "before/one")
    try playground.write("other", to: "before/top")
    for number in 0..<5 { try playground.write("file \(number)", to: "after/art/new/deep/\(number)") }
    try playground.write("single", to: "after/two")
    try playground.write("other", to: "after/sub/top")
    let run = try playground.packstore("diff", "before", "after")
    let moved = run.lines.filter { $0.hasPrefix("moved") }
    #expect(
      moved == ["moved    art/new/ (5 files, was art/old/)", "moved    sub/top (was top)", "moved    two (was one)"])
    #expect(run.lines.last?.contains("7 moved") == true)
  }

  #if os(Linux)
    /// Names that change only their Unicode normal form are moved files with both names.
    @Test func namesInAnotherNormalForm() throws {
      let run = try playground.shell(
        #"""
        mkdir before after || exit
        for number in 1 2; do
          printf 'file %s' $number | tee "before/$(printf '\303\251')$number" >"after/$(printf 'e\314\201')$number"
        done
        packstore diff before after
        """#)
      let expected = ["1", "2"].map { "moved    e\u{301}\($0) (was \u{e9}\($0))" }
      #expect(
        run.lines.dropLast().map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(run.output)\(run.errors)")
    }
  #endif

  @Test func diffOfWhatIsNotKept() throws {
    let version = try playground.packstore("diff", "store", "Tutorial@9", "Tutorial")
    #expect(version.status == 1)
    #expect(version.errors == "packstore: version 'Tutorial@9': not kept (kept: 1, 2)\n")
    let previous = try playground.packstore("diff", "store", "Level@previous", "Level")
    #expect(previous.errors == "packstore: version 'Level@1': no earlier version is kept (kept: 1)\n")
    let pack = try playground.packstore("diff", "store", "Unknown@1", "Level")
    #expect(pack.errors == "packstore: pack 'Unknown': not in the store (packs: Level, Tutorial)\n")
  }

  // MARK: - verify

  @Test(arguments: [[], ["--deep"]])
  func soundStore(options: [String]) throws {
    let run = try playground.packstore(["verify", "store"] + options)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasPrefix("no faults in "))
    #expect(try playground.packstore(["verify", "store", "--quiet"] + options).output.isEmpty)
    let json = try playground.packstore(["verify", "store", "--json"] + options).json
    #expect(
      Set(json.allKeys as! [String]) == [
        "sound", "may_hide_commit", "damaged_copies", "files", "frames", "chunks", "bytes", "fault_count",
        "hurt_assets", "faults",
      ])
    #expect(json["sound"] as? Bool == true)
  }

  /// Flips a bit in both copies of a slot of CONTROL; the copies are at multiples of 4096, of slots 0, 1, 0, 1.
  private func loseSlot(newest: Bool) throws {
    var control = try playground.read("store/CONTROL")
    let numbers = [0, 4_096].map { slot in (0..<8).reduce(0) { $0 | Int(control[slot + 32 + $1]) << (8 * $1) } }
    let slot = (numbers[1] > numbers[0]) == newest ? 1 : 0
    for at in [slot * 4_096 + 100, slot * 4_096 + 8_292] { control[at] ^= 1 }
    try playground.write(control, to: "store/CONTROL")
  }

  /// Damage of CONTROL that hides no commit loses nothing; `verify` reports it, and `repair` repairs it.
  @Test func damagedSlotThatHidesNothing() throws {
    let before = try playground.packstore("log", "store").output
    try loseSlot(newest: true)
    let shown = try playground.packstore("log", "store")
    #expect(shown.status == 0 && shown.errors.isEmpty && shown.output == before, "\(shown.errors)")
    let run = try playground.packstore("verify", "store")
    #expect(run.status == 7 && run.errors.contains("a copy of a control slot is damaged"), "\(run.errors)")
    #expect(run.errors.contains("run 'packstore repair store'"), "\(run.errors)")
    let json = try playground.packstore("verify", "store", "--json").json
    #expect(json["damaged_copies"] as? Int == 2 && json["may_hide_commit"] as? Bool == false)
    let mended = try playground.packstore("repair", "store")
    #expect(mended.status == 0 && mended.output.contains("wrote 2 damaged copies"), "\(mended.output)")
    #expect(try playground.packstore("verify", "store").status == 0)
    #expect(try playground.packstore("log", "store").output == before)
  }

  /// If a newer commit may be hidden, commands that read warn and continue, and commands that write are refused until a
  /// repair.
  @Test func damagedSlotThatMayHideSomething() throws {
    let before = try playground.packstore("log", "store").output
    try loseSlot(newest: false)
    for arguments in [["log", "store"], ["log", "store", "--quiet"], ["ls", "store"], ["stat", "store"]] {
      let run = try playground.packstore(arguments)
      #expect(run.status == 0 && run.errors.contains("may hide a newer commit"), "\(arguments): \(run.errors)")
      #expect(run.errors.contains("run 'packstore repair store'"), "\(arguments): \(run.errors)")
    }
    try playground.write("late", to: "late/file")
    let refused = try playground.packstore("add", "store", "late", "--pack", "Late")
    #expect(refused.status == 7 && refused.errors.contains("may hide a newer commit"), "\(refused.errors)")
    #expect(refused.errors.contains("packstore repair"), "\(refused.errors)")
    #expect(try playground.packstore("repair", "store").status == 0)
    let after = try playground.packstore("log", "store")
    #expect(after.output == before && after.errors.isEmpty, "\(after.errors)")
    #expect(try playground.packstore("add", "store", "late", "--pack", "Late").status == 0)
  }

  @Test func damageIsFound() throws {
    let segment = try #require(playground.tree("store/segments").first { !$0.hasSuffix("/") })
    var bytes = try playground.read("store/segments/\(segment)")
    bytes[bytes.count / 2] ^= 1
    try playground.write(bytes, to: "store/segments/\(segment)")
    let run = try playground.packstore("verify", "store", "--deep")
    #expect(run.status == 7)
    #expect(run.errors.hasPrefix("packstore: "))
    #expect(run.errors.contains(segment))
    let json = try playground.packstore("verify", "store", "--deep", "--json")
    #expect(json.status == 7)
    #expect(try json.json["sound"] as? Bool == false)
    let fault = try #require((json.json["faults"] as? [NSDictionary])?.first)
    #expect(fault["code"] != nil && fault["reason"] != nil)
  }

  // MARK: - remove

  @Test func remove() throws {
    let run = try playground.packstore("remove", "store", "Level", "Tutorial")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.maskedSizes == "removed Level@1\nremoved Tutorial@2\nfreed <size>\n")
    #expect(try playground.packstore("ls", "store").output.isEmpty)
    #expect(try playground.packstore("log", "store").output.isEmpty)
  }

  @Test func removeIsAllOrNothing() throws {
    let run = try playground.packstore("remove", "store", "Level", "Unknown")
    #expect(run.status == 1)
    #expect(run.errors.contains("Unknown"))
    #expect(try playground.packstore("log", "store").lines.count == 4)
    let json = try playground.packstore("remove", "store", "Level", "--json").json
    #expect(json["removed"] as? NSArray == [["pack": "Level", "version": 1]])
    #expect(json["freed_bytes"] as? Int ?? 0 > 0 && json["held_bytes"] as? Int == 0)
  }
}

#if os(Linux)
  /// `F_OFD_SETLK`, which Glibc's module leaves out: a lock of the open file, not of the process.
  private let setLock: Int32 = 37
#endif
