import Foundation
import Testing

/// Jobs that have only the key continue from the served site, and make the files to copy there.
@Suite struct ContinueTests {
  let playground = try! Playground()

  init() throws {
    for index in 0..<40 { try playground.write(noise(60_000, seed: UInt64(index)), to: "source/Levels/\(index)") }
    try playground.write(String(repeating: "as large as life, ", count: 40_000), to: "source/text")
    try playground.write(
      #"{ "assetPackID": "P", "downloadPolicy": { "onDemand": {} }, "fileSelectors": [ { "directory": "source" } ], "platforms": [] }"#,
      to: "Manifest.json")
    try playground.succeed("publish", "Manifest.json", "site", "--key", "key", "-q")
    try playground.succeed("pull", "old", "site", "-q")
    change(2)
  }

  private func change(_ number: Int) {
    try! playground.write("version \(number)", to: "source/version")
    try! playground.write(noise(60_000, seed: UInt64(1_000 + number)), to: "source/Levels/7")
  }

  @discardableResult
  private func publish(_ folder: String, from site: String, _ options: String..., status: Int32 = 0) throws -> Run {
    let run = try playground.packstore(
      ["publish", "Manifest.json", folder, "--continue-from", site, "--key", "key"] + options)
    #expect(run.status == status, "\(run.errors)")
    return run
  }

  /// In the documented order: all files except the roots, the check, the roots.
  private func upload(_ folder: String, to site: String, checking url: String) throws {
    for name in ["segments", "frames", "versions", "deltas", "changes", "attributes"] {
      _ = try playground.shell("[ ! -d \(folder)/\(name) ] || cp -rn \(folder)/\(name)/. \(site)/\(name)/")
    }
    try playground.succeed("check-served", folder, url, "-q")
    let run = try playground.shell(
      "set -e; [ ! -d \(folder)/roots ] || cp -r \(folder)/roots/. \(site)/roots/; [ ! -e \(folder)/root ] || cp \(folder)/root \(site)/root"
    )
    #expect(run.status == 0, "\(run.errors)")
  }

  private func expectContent(_ stores: [String], version: Int) throws {
    for store in stores {
      try playground.succeed("pull", store, "served", "-q")
      try playground.succeed("verify", store, "--deep", "-q")
      try playground.succeed("extract", store, "out-\(store)-\(version)", "-q")
      #expect(
        try playground.shell("diff -r source out-\(store)-\(version)/source || diff -r source out-\(store)-\(version)")
          .status == 0)
      #expect(try playground.packstore("log", store).output.contains("P@\(version) "))
    }
  }

  /// A web server has the files for devices, and none of the publisher's files.
  private func serve() throws {
    let run = try playground.shell(
      "set -e; mkdir served; cd site; for name in segments frames versions deltas attributes roots root; do [ ! -e $name ] || cp -r $name ../served/; done"
    )
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test func aJobThatHasTheKeyGoesOnFromAServer() throws {
    try serve()
    let server = try WebServer.nginx(playground, serving: "served")
    let whole = try playground.tree("served").filter { !$0.hasSuffix("/") }
      .reduce(0) { try $0 + playground.read("served/\($1)").count }
    for number in 2...4 {
      change(number)
      let folder = "new\(number)"
      let run = try publish(folder, from: server.url, "--json")
      let traffic = try #require(run.json["storage"] as? [String: Int])
      #expect(traffic["content_bytes"] == 0 && traffic["fetched_bytes"]! < whole / 20, "\(traffic) of \(whole)")
      let files = Set(playground.tree(folder).filter { !$0.hasSuffix("/") })
      #expect(
        files.isDisjoint(with: playground.tree("served").filter { $0 != "root" }), "exactly what is new: \(files)")
      #expect(files.contains("root") && files.contains("predecessor"))
      let size = try files.reduce(0) { try $0 + playground.read("\(folder)/\($1)").count }
      #expect(size < 60_000 + 300_000, "\(size)")
      try upload(folder, to: "served", checking: server.url)
      #expect(
        try playground.packstore("check-served", folder, server.url, "--json").json["state"] as? String == "published")
      try expectContent(["old", "fresh\(number)"], version: number)
    }
    // The earlier versions keep their places: their manifests are unchanged.
    #expect(playground.tree("served/versions").count == 4)
    let again = try publish("none", from: server.url)
    #expect(again.output.contains("nothing is new"), "\(again.output)")
    #expect(playground.tree("none") == ["predecessor"])
    try playground.succeed("check-served", "none", server.url, "-q")
  }

  @Test func anotherJobThatWasFasterIsNoticed() throws {
    try serve()
    try publish("first", from: "served")
    change(3)
    // The other job runs on a machine of its own; here the key has signed a newer root.
    let refused = try publish("second", from: "served", status: 4)
    #expect(refused.errors.contains("which the key signed"), "\(refused.errors)")
    try playground.remove("key.marks")
    try publish("second", from: "served")
    try upload("second", to: "served", checking: "served")
    let run = try playground.packstore("check-served", "first", "served")
    #expect(
      run.status == 6 && run.errors.contains("another job has published since then"), "\(run.status) \(run.errors)")
    let full = try publish("first", from: "served", status: 1)
    #expect(full.errors.contains("is not empty"), "\(full.errors)")
    let stranger = try playground.packstore("check-served", "source", "served")
    #expect(stranger.status != 0 && stranger.errors.contains("--continue-from"), "\(stranger.errors)")
  }

  @Test func nothingIsMadeWithoutTheKeyOrASite() throws {
    try serve()
    try playground.succeed("keygen", "other", "-q")
    for key in ["other", "none"] {
      let run = try playground.packstore("publish", "Manifest.json", "new", "--continue-from", "served", "--key", key)
      #expect(run.status != 0 && !playground.exists("new") && !playground.exists("none"), "\(run.errors)")
    }
    try FileManager.default.removeItem(atPath: playground.path + "/served/root")
    let gone = try publish("new", from: "served", status: 3)
    #expect(gone.errors.contains("not a site"), "\(gone.errors)")
    #expect(!playground.exists("new"))
    try publish("s3://bucket/packs", from: "served", status: 2)
  }

  @Test func deltasAreMadeWhereTheyAreAskedFor() throws {
    try serve()
    let run = try publish("new", from: "served", "--deltas", "1", "--json")
    let traffic = try #require(run.json["storage"] as? [String: Int])
    #expect(try #require(traffic["content_bytes"]) > 2_000_000)
    #expect(try (run.json["deltas"] as? [Any])?.count == 1)
    #expect(playground.tree("new/segments").count <= 2)
    try upload("new", to: "served", checking: "served")
    try expectContent(["old", "fresh"], version: 2)
  }

  @Test func dryRunsMakeNothing() throws {
    try serve()
    let run = try publish("new", from: "served", "--dry-run")
    #expect(run.output.contains("P@2"), "\(run.output)")
    #expect(!playground.exists("new"))
    #expect(playground.tree("").allSatisfy { !$0.contains("partial") && !$0.contains("packstore-") })
  }

  @Test func aServedFileThatIsDamagedIsRefused() throws {
    try serve()
    let names = playground.tree("served").filter { !$0.hasSuffix("/") && !$0.hasPrefix("attributes") }
    for name in names {
      let bytes = try playground.read("served/\(name)")
      var damaged = bytes
      damaged[damaged.count - 1 - damaged.count / 3] ^= 0x40
      damaged[damaged.count - 20] ^= 0x40
      try Data(damaged).write(to: URL(fileURLWithPath: playground.path + "/served/\(name)"))
      let run = try playground.packstore("publish", "Manifest.json", "new", "--continue-from", "served", "--key", "key")
      #expect(run.status != 0 && !playground.exists("new"), "\(name): \(run.output)")
      try Data(bytes).write(to: URL(fileURLWithPath: playground.path + "/served/\(name)"))
    }
  }

  @Test func numbersOfArchivesFollowTheSite() throws {
    try serve()
    let server = try WebServer.nginx(playground, serving: "served")
    let second = try playground.packstore(
      "package", "Manifest.json", "-o", "two.pack", "--previous", server.url, "--key", "key", "--json")
    #expect(second.status == 0, "\(second.errors)")
    #expect(try second.json["version"] as? Int == 2 && second.json["previous"] as? Int == 1)
    try playground.succeed("publish", "two.pack", "new", "--continue-from", server.url, "--key", "key", "-q")
    try upload("new", to: "served", checking: server.url)
    try expectContent(["old"], version: 2)
    let same = try playground.packstore(
      "package", "Manifest.json", "-o", "three.pack", "--previous", server.url, "--key", "key", "--json")
    #expect(try same.status == 0 && same.json["outcome"] as? String == "unchanged", "\(same.errors)")
    #expect(!playground.exists("three.pack"))
  }
}
