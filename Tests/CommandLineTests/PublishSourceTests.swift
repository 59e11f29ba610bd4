import Foundation
import Testing

/// The other inputs of `publish`: not the packs of a store.
@Suite struct PublishSourceTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(200_000), to: "game/big")
    try playground.write("one", to: "game/text")
    try playground.write(manifest(), to: "Manifest.json")
    try playground.succeed("keygen", "key", "-q")
  }

  private func manifest(_ selector: String = #""directory": ".""#) -> String {
    #"{"assetPackID": "M", "downloadPolicy": {"onDemand": {}}, "sourceRoot": "game", "fileSelectors": [{\#(selector)}]}"#
  }

  private func publish(_ arguments: String...) throws -> Run {
    try playground.packstore(["publish"] + arguments + ["--key", "key"])
  }

  @Test func aManifest() throws {
    let plan = try publish("Manifest.json", "site", "--dry-run")
    #expect(plan.status == 0 && !playground.exists("site"), "\(plan.errors)")
    #expect(plan.lines.first?.hasPrefix("M@1, new on the site: ") == true)
    #expect(plan.lines.contains("roots that would be replaced: live"))
    let run = try publish("Manifest.json", "site")
    #expect(run.status == 0 && run.lines.first?.hasPrefix("M@1, new on the site: ") == true, "\(run.errors)")
    #expect(try publish("Manifest.json", "site").lines.first == "M@1 is current already")
    try playground.write("two", to: "game/text")
    #expect(try publish("Manifest.json", "site", "--version", "5").lines[1].hasPrefix("M@5 from 1: "))
    #expect(try publish("Manifest.json", "site", "M").lines.first == "M@5 is current already")
    try playground.write("three", to: "game/text")
    let taken = try publish("Manifest.json", "site", "--version", "5", "--json")
    #expect(
      taken.status == 1 && taken.errors.contains("version 'M@5': on the site already, with other content"),
      "\(taken.errors)")
    try playground.succeed("pull", "device", "site", "-q")
    #expect(try playground.packstore("cat", "device", "text").output == "two")
    try playground.write(manifest(#""file": "none""#), to: "bad.json")
    let bad = try publish("bad.json", "other")
    #expect(bad.status == 1 && bad.errors.contains("'bad.json': 1 error in the manifest"), "\(bad.errors)")
    #expect(!playground.exists("other"))
  }

  @Test func archives() throws {
    let package = ["package", "Manifest.json", "--key", "key", "-q", "-o"]
    try playground.makeFolder("archives")
    #expect(try playground.packstore(package + ["archives/M-1.pack"]).status == 0)
    try playground.write("two", to: "game/text")
    let next = ["archives/M-2.pack", "--previous", "archives/M-1.pack"]
    #expect(try playground.packstore(package + next).status == 0)
    try playground.write("not one of them", to: "archives/README")
    let one = try publish("archives/M-1.pack", "site")
    #expect(one.status == 0 && one.lines.first?.hasPrefix("M@1, new on the site: ") == true, "\(one.errors)")
    let plan = try publish("archives", "site", "--dry-run", "--json").json
    #expect(plan["dry_run"] as? Bool == true && plan["changed_channels"] as? [String] == ["live"])
    #expect(try publish("archives", "site").lines[1].hasPrefix("M@2 from 1: "))
    #expect(try publish("archives/M-2.pack", "site").lines.first == "M@2 is current already")
    #expect(try publish("archives", "site", "M@1").lines[1].hasPrefix("M@1, back from 2: "))
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
    try playground.succeed("pull", "device", "site", "-q")
    #expect(try playground.packstore("cat", "device", "text").output == "one")
    #expect(playground.tree("site").filter { $0.contains(/^(incoming|tmp)\/./) } == [])
  }

  /// Each mistake is reported, and creates neither a site nor a key.
  @Test func whatIsRefused() throws {
    let package = ["package", "Manifest.json", "-q", "--key"]
    #expect(try playground.packstore(package + ["key", "-o", "M.pack"]).status == 0)
    #expect(try playground.packstore(package + ["others.key", "-o", "others.pack"]).status == 0)
    _ = try playground.shell(
      "mkdir empty folder && touch folder/x && tar cf x.tar folder && head -c 9000 M.pack >half.pack")
    let before = playground.tree("")
    let mistakes: [(arguments: [String], status: Int32, words: String)] = [
      (["none", "site"], 1, "none"),
      (["folder", "site"], 1, ": neither a store nor a folder of archives"),
      (["empty", "site"], 1, ": neither a store nor a folder of archives"),
      (["x.tar", "site"], 1, ": neither a manifest (.json) nor an archive of a pack"),
      (["game/text", "site"], 1, ": neither a manifest (.json) nor an archive of a pack"),
      (["half.pack", "site"], 7, "half.pack"),
      (["others.pack", "site"], 4, "signed by another publisher's key"),
      (["M.pack", "site", "N"], 1, "pack 'N': not in the source"),
      (["M.pack", "site", "M@2"], 1, "version 'M@2': no archive contains this version"),
      (["M.pack", "site", "--level", "3"], 2, "--level: does not apply to 'M.pack'"),
      (["M.pack", "site", "--version", "3"], 2, "--version: does not apply to 'M.pack'"),
      (["M.pack", "site", "--product", "x"], 2, "belongs to the product 'default'"),
      (["Manifest.json", "site", "M@2"], 2, "a manifest does not have numbered versions"),
      (["Manifest.json", "site", "--version", "0"], 2, "--version must be from 1"),
      (["none.json", "site"], 1, "none.json"),
    ]
    for (arguments, status, words) in mistakes {
      for dry in [["--dry-run"], []] {
        let run = try playground.packstore(["publish"] + arguments + ["--key", "key"] + dry)
        #expect(run.status == status && run.errors.contains(words), "\(arguments): \(run.status) \(run.errors)")
      }
    }
    #expect(playground.tree("") == before)
  }

  /// A dry run with `--new-key` makes no key; with an existing key it reports the result of the publication.
  @Test func dryRuns() throws {
    let before = playground.tree("")
    for arguments in [
      ["publish", "Manifest.json", "site"], ["package", "Manifest.json", "-o", "M.pack"],
      ["delegate", "key", "release.key"], ["rotate", "key", "next.key"], ["template", "-o", "T.json"],
    ] {
      let keyed = ["publish", "package"].contains(arguments[0]) ? ["--key", "none.key"] : []
      let run = try playground.packstore(arguments + keyed + ["--dry-run"])
      #expect(run.status == 0, "\(arguments): \(run.errors)")
      #expect(playground.tree("") == before, "\(arguments)")
    }
    #expect(try playground.packstore("rotate", "key", "key", "--dry-run").status == 1)
    #expect(try publish("Manifest.json", "site", "-q").status == 0)
    let tree = playground.tree("site"), root = try playground.read("site/root")
    for arguments in [
      ["promote", "site", "M@1", "--channel", "beta"], ["unpublish", "site", "M"], ["refresh", "site"],
      ["deltas", "site"],
      ["publish", "Manifest.json", "site"],
    ] {
      let run = try playground.packstore(arguments + ["--key", "key", "--dry-run"])
      #expect(run.status == 0, "\(arguments): \(run.errors)")
      let missing = try playground.packstore(arguments + ["--key", "none.key", "--dry-run"])
      #expect(
        missing.status == 4 && missing.errors.contains("'none.key': the key file does not exist"), "\(missing.errors)")
    }
    #expect(try playground.tree("site") == tree && playground.read("site/root") == root)
    let unpublish = try playground.packstore("unpublish", "site", "M", "--key", "key", "--dry-run")
    #expect(unpublish.lines == ["M@1 would leave the site", "roots that would be replaced: live"])
    #expect(try playground.packstore("deltas", "site", "--key", "key", "--dry-run").lines == ["no delta is missing"])
  }
}
