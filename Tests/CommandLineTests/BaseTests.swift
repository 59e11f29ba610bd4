import Foundation
import Testing

/// Stores above a base that is never written: `--base`.
@Suite struct BaseTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(400_000), to: "a/videos/a")
    try playground.write(noise(300_000, seed: 1), to: "a/b")
    try playground.succeed("add", "bundle", "a", "--pack", "A", "-q")
  }

  private func space(_ words: String...) throws -> NSDictionary {
    let run = try playground.packstore(["stat"] + words + ["--json"])
    #expect(run.status == 0, "\(run.errors)")
    return try #require(run.json["space"] as? NSDictionary)
  }

  @Test func isNotStoredAgain() throws {
    let before = playground.tree("bundle")
    try playground.write(noise(50_000, seed: 2), to: "a/new")
    let added = try playground.packstore("add", "own", "a", "--pack", "Copy", "--base", "bundle", "--json")
    #expect(added.status == 0, "\(added.errors)")
    let newByteCount = try #require(added.json["new_bytes"] as? Int)
    #expect((50_000..<60_000).contains(newByteCount))
    #expect(try playground.packstore("ls", "own", "--base", "bundle").lines.contains("b"))
    for pack in ["A", "Copy"] {
      let cat = try playground.packstore("cat", "own", "b", "--pack", pack, "--base", "bundle")
      #expect(cat.bytes == noise(300_000, seed: 1), "\(cat.errors)")
    }
    #expect(try playground.packstore("verify", "own", "--deep", "--base", "bundle").status == 0)
    #expect(playground.tree("bundle") == before)
  }

  /// Without the base, what only it has is purged, and known to the byte.
  @Test func withoutTheBase() throws {
    try playground.write(noise(50_000, seed: 2), to: "a/new")
    try playground.succeed("add", "own", "a", "--pack", "Copy", "--base", "bundle", "-q")
    #expect(try playground.packstore("cat", "own", "b").status == 7)
    #expect(try playground.packstore("cat", "own", "new").bytes == noise(50_000, seed: 2))
    #expect(try playground.packstore("cat", "own", "b", "--base", "none").status == 1)
    #expect(try playground.packstore("cat", "own", "b", "--base", "own").status == 2)
    let repaired = try playground.packstore("repair", "own", "--base", "bundle")
    #expect(repaired.lines == ["the store is whole: nothing to repair"])
    #expect(try playground.packstore("cat", "own", "b").status == 7, "over its base it is")
    try playground.succeed("repair", "own", "--from", "bundle", "-q")
    #expect(try playground.packstore("cat", "own", "b").bytes == noise(300_000, seed: 1))
  }

  /// The sizes of files add up, without the data in the base.
  @Test func accounting() throws {
    try playground.write(noise(50_000, seed: 2), to: "a/new")
    try playground.succeed("add", "own", "a", "--pack", "Copy", "--base", "bundle", "-q")
    let over = try space("own", "--base", "bundle")
    func bytes(_ names: String...) throws -> Int {
      try names.reduce(0) { sum, name in
        let value = over[name]
        return try sum + (value as? Int ?? #require((value as? NSDictionary)?["bytes"] as? Int))
      }
    }
    let baseByteCount = try bytes("base_bytes")
    #expect((700_000..<720_000).contains(baseByteCount))
    #expect(
      try bytes("segments", "tables", "cache")
        == bytes("own_bytes", "shared_bytes", "dead_bytes", "table_bytes", "unneeded_bytes"))
    #expect(try bytes("segments", "tables", "cache") == bytes("freed_bytes", "shared_file_bytes", "unneeded_bytes"))
    #expect(
      try playground.packstore("stat", "own", "--base", "bundle").lines.contains { $0.hasPrefix("in the base  ") })
    #expect(try space("own")["base_bytes"] as? Int == 0)
    #expect(try space("bundle")["base_bytes"] as? Int == 0)
  }

  @Test func dryRunsAndPulls() throws {
    try playground.succeed("publish", "bundle", "site", "--key", "key", "-q")
    let planned = try playground.packstore(
      "add", "own", "a", "--pack", "Copy", "--base", "bundle", "--dry-run", "--json")
    #expect(try planned.json["new_bytes"] as? Int == 0 && !playground.exists("own"))
    let pull = try playground.packstore("pull", "device", "site", "--base", "bundle", "--adopt", "A", "--json")
    #expect(pull.status == 0, "\(pull.errors)")
    let pack = try #require((pull.json["packs"] as? [NSDictionary])?.first)
    #expect(try #require(pack["frame_bytes"] as? Int) < 10_000, "\(pack)")
    #expect(try playground.packstore("cat", "device", "b", "--base", "bundle").bytes == noise(300_000, seed: 1))
  }
}
