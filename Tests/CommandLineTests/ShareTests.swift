import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `packstore share`: groups that store common data once.
@Suite struct ShareTests {
  let playground = try! Playground()

  /// Two groups, `one` and `two`, whose app installs the pack `Game`.
  private func makeGroups() throws {
    umask(0o022)  // the agent refuses files that others can read
    for number in 0..<4 { try playground.write(noise(200_000, seed: UInt64(number)), to: "packs/Game/\(number)") }
    try playground.write(AgentGroup.attributes("essential"), to: "packs/Game.json")
    try playground.succeed("add", "origin", "packs/Game", "--pack", "Game", "-q")
    try playground.succeed("attributes", "origin", "Game", "--set", "packs/Game.json", "-q")
    try playground.succeed("publish", "origin", "site", "--key", "key", "-q")
    for group in ["one", "two"] {
      try playground.write(
        #"{"BAAppGroupID": "\#(group)", "BAManifestURL": "\#(playground.path)/site", "CFBundleIdentifier": "app.\#(group)","#
          + #""PackStoreGroupFolder": "\#(playground.path)/\#(group)"}"#, to: "\(group).plist")
    }
  }

  private func installGame(_ group: String) throws {
    try playground.succeed("agent", "event", "\(group).plist", "install", "-q")
    try playground.succeed("agent", "\(group).plist", "--once", "-q")
  }

  private func byteCount(_ folders: String...) throws -> Int {
    let run = try playground.shell("du -s --block-size=1 -c \(folders.joined(separator: " ")) | tail -1 | cut -f 1")
    return try #require(Int(run.output.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  @Test func groupsAreNamedListedAndDropped() throws {
    try makeGroups()
    #expect(try playground.succeed("share").output == "no group shares data\n")
    let added = try playground.succeed("share", "add", "one.plist", "two.plist", "--json").json
    #expect((added["groups"] as? [NSDictionary])?.map { $0["versions"] as? [String] } == [[], []])
    for group in ["one", "two"] { try installGame(group) }
    let listed = try playground.succeed("share", "list", "--json").json
    let groups = try #require(listed["groups"] as? [NSDictionary])
    #expect(groups.map { $0["versions"] as? [String] } == [["Game@2"], ["Game@2"]])
    let bytes = try #require(listed["bytes"] as? Int), saved = try #require(listed["saved_bytes"] as? Int)
    #expect(bytes > 800_000 && saved == bytes)
    #expect(try byteCount("one", "two") < byteCount("one") + 500_000)
    #expect(try playground.succeed("share").output.contains("Game@2"))
    #expect(try playground.succeed("share", "drop", "./two", "-q").output.isEmpty)
    #expect((try playground.succeed("share", "--json").json["groups"] as? [NSDictionary])?.count == 1)
    let again = try playground.packstore("share", "drop", "./two")
    #expect(again.status == 1 && again.errors.contains("does not share data"))
    for group in ["one", "two"] { try playground.succeed("verify", "\(group)/store", "--deep", "-q") }
  }

  @Test(arguments: [["add"], ["drop"], ["list", "one"], ["remove", "one"], ["add", "./missing"]])
  func wrongUsage(words: [String]) throws {
    #expect(try playground.packstore(["share"] + words).status == 2)
  }

  /// Downloads and agents are killed at many points: the work before the kill grows from round to round. No group loses content, and
  /// the next processes complete the work.
  @Test func killedAgentsLoseNothing() throws {
    try makeGroups()
    try playground.succeed("share", "add", "one.plist", "-q")
    try installGame("one")
    for round in 0..<8 {
      if playground.exists("two") { try playground.remove("two") }
      try playground.succeed("share", "add", "two.plist", "-q")
      for (group, words) in [("two", ["event", "two.plist", "install"]), ("one", ["one.plist", "--once"])] {
        let process = try playground.start(["agent"] + words, output: .nullDevice, errors: .nullDevice)
        for _ in 0..<round { try playground.succeed("share", "-q") }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try check("one")
        if playground.exists("two/store/CONTROL") { try playground.succeed("verify", "two/store", "--deep", "-q") }
        if round % 3 == 1, group == "two" { try playground.remove(".data/packstore-shared/segments") }
      }
      for group in ["one", "two"] {
        try installGame(group)
        try check(group)
      }
      let shared = try playground.succeed("share", "--json").json["saved_bytes"] as? Int
      #expect(shared ?? 0 > 800_000, "round \(round)")
    }
  }

  /// The group's store is valid and contains the pack.
  private func check(_ group: String) throws {
    try playground.succeed("verify", "\(group)/store", "--deep", "-q")
    let files = try playground.shell("packstore extract \(group)/store out -q && diff -r packs/Game out && rm -r out")
    #expect(files.status == 0, "\(files.errors)")
  }
}
