import Foundation
import Testing

/// Copies of sites without frames: a publisher needs no data except its own.
@Suite struct StripTests {
  let playground = try! Playground()

  init() throws {
    for index in 0..<40 { try playground.write(noise(60_000, seed: UInt64(index)), to: "source/Levels/\(index)") }
    try playground.write(String(repeating: "as large as life, ", count: 40_000), to: "source/text")
    try playground.write(noise(300_000, seed: 77), to: "source/mesh.bin")
    for number in 1...2 {
      try playground.write("version \(number)", to: "source/version")
      try playground.succeed("add", "store", "source", "--pack", "P", "--map", "mesh.bin", "-q")
      try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    }
    try playground.succeed("pull", "old", "site", "-q")
    try playground.succeed("strip", "site", "small", "-q")
  }

  private func byteCount(_ folder: String) throws -> Int {
    try playground.tree(folder).filter { !$0.hasSuffix("/") }.reduce(0) {
      try $0 + playground.read("\(folder)/\($1)").count
    }
  }

  /// Copies the files of a publisher to a server, without deleting any there.
  private func upload() throws {
    let run = try playground.shell(
      """
      set -e
      for folder in segments frames versions deltas attributes; do cp -rn small/$folder/. site/$folder/; done
      cp -r small/roots/. site/roots/; cp small/root site/root
      """)
    #expect(run.status == 0, "\(run.errors)")
  }

  private func expectContent(_ store: String, of folder: String = "source") throws {
    try playground.succeed("verify", store, "--deep", "-q")
    try playground.succeed("extract", store, "out-\(store)", "-q", "--overwrite")
    #expect(try playground.shell("diff -r \(folder) out-\(store)").status == 0, "\(store)")
  }

  @Test func isSmall() throws {
    let planned = try playground.packstore("strip", "site", "other", "--dry-run", "--json")
    #expect(planned.status == 0 && !playground.exists("other"))
    let made = try playground.packstore("strip", "site", "other", "--json")
    #expect(try made.json["bytes"] as? Int == byteCount("other") && planned.json["bytes"] as? Int == byteCount("other"))
    let (size, whole) = try (byteCount("other"), byteCount("site"))
    #expect(size < whole / 20, "\(size) of \(whole)")
    #expect(try #require(made.json["remote_bytes"] as? Int) > 2_700_000)
    // A copy of a copy is the same.
    try playground.succeed("strip", "small", "smaller", "-q")
    #expect(try playground.shell("diff -r other smaller").status == 0)
    let refused = try playground.packstore("strip", "site", "small")
    #expect(refused.status == 1 && refused.errors.contains("'small': exists and is not empty"), "\(refused.errors)")
    #expect(try playground.packstore("strip", "store", "none").status == 1)
    #expect(!playground.exists("none"))
  }

  @Test func takesAVersionThatDevicesVerify() throws {
    let before = Set(playground.tree("small/segments"))
    try playground.write("version 3", to: "source/version")
    try playground.write(noise(60_000, seed: 99), to: "source/Levels/7")
    try playground.succeed("add", "store", "source", "--pack", "P", "--map", "mesh.bin", "-q")
    let run = try playground.packstore("publish", "store", "small", "--key", "key")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("missing delta to P@3 from 2"), "\(run.errors)")
    let new = Set(playground.tree("small/segments")).subtracting(before)
    let newByteCount = try new.reduce(0) { try $0 + playground.read("small/segments/\($1)").count }
    #expect((60_000..<120_000).contains(newByteCount), "only what changed is stored: \(newByteCount) bytes")
    try upload()
    try playground.succeed("pull", "old", "site", "-q")
    try playground.succeed("pull", "fresh", "site", "-q")
    for store in ["old", "fresh"] { try expectContent(store) }
    #expect(try playground.packstore("cat", "fresh", "version").output == "version 3")
    // The data of the copy itself is enough to make deltas.
    try playground.write("version 4", to: "source/version")
    try playground.succeed("add", "store", "source", "--pack", "P", "--map", "mesh.bin", "-q")
    try playground.succeed("publish", "store", "small", "--key", "key", "-q")
    try upload()
    try playground.succeed("pull", "old", "site", "-q")
    try expectContent("old")
  }

  /// The deltas that the site has stay in its roots, though the copy has not their files.
  @Test func keepsTheDeltasOfTheSite() throws {
    let deltas = playground.tree("site/deltas")
    #expect(deltas.count == 1 && playground.tree("small/deltas").isEmpty)
    try playground.succeed("refresh", "small", "--key", "key", "-q")
    try playground.succeed("promote", "small", "P@2", "--channel", "beta", "--key", "key", "-q")
    try upload()
    #expect(playground.tree("site/deltas") == deltas)
    try playground.succeed("pull", "device", "site", "--channel", "beta", "-q")
    try expectContent("device")
    let info = try playground.packstore("deltas", "small", "--key", "key", "--dry-run", "--json").output
    #expect(!info.contains("\"from\":1"), "the one from 1 is there: \(info)")
  }

  @Test func whatItCannotRead() throws {
    let cat = try playground.packstore("cat", "small", "text")
    #expect(cat.status == 7 && cat.bytes.isEmpty && cat.errors.contains("pull"), "\(cat.status) \(cat.errors)")
    let before = playground.tree("small")
    let repair = try playground.packstore("repair", "small", "--key", "key")
    #expect(repair.status == 2 && repair.errors.contains("a copy of a site without frames"), "\(repair.errors)")
    #expect(playground.tree("small") == before)
  }

  /// Versions that leave the site leave the copy's roots, and what only they needed is retired.
  @Test func unpublishes() throws {
    try playground.write("another", to: "second/file")
    try playground.succeed("add", "store", "second", "--pack", "Q", "-q")
    try playground.succeed("publish", "store", "small", "Q", "--key", "key", "-q")
    try playground.succeed("unpublish", "small", "P", "--all", "--key", "key", "--grace", "0d", "-q")
    try upload()
    try playground.succeed("pull", "device", "site", "-q")
    try expectContent("device", of: "second")
    #expect(playground.tree("small/tables").isEmpty, "\(playground.tree("small/tables"))")
  }
}
