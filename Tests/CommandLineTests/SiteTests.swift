import Foundation
import Testing

/// Changes of a site's folder, and commands that remove packs from it.
@Suite struct SiteTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(300_000), to: "folder/big")
    try playground.packstore("add", "store", "folder", "--pack", "P")
    try playground.packstore("add", "store", "folder", "--pack", "Q")
    try playground.packstore("publish", "store", "site", "--key", "site.key", "-q")
    try playground.packstore("export", "store", "P", "-o", "P.pack", "--key", "site.key", "-q")
  }

  /// A site was a store that any command committed to, and lost files under its clients.
  @Test func commandsThatCommitAreRefused() throws {
    let tree = playground.tree("site")
    let commands: [[String]] = [
      ["add", "site", "folder", "--pack", "R"], ["remove", "site", "P"], ["remove", "site", "P", "--keep-history"],
      ["rollback", "site", "P"], ["pull", "site", "site"], ["import", "site", "P.pack"],
      ["place", "site", "P", "purgeable"],
      ["place", "site", "P", "durable"],
      ["purge", "site", "1MB"],
    ]
    for command in commands {
      let run = try playground.packstore(command)
      #expect(run.status == 1 && run.errors.contains("'site': a site's store"), "\(command): \(run.errors)")
      #expect(run.errors.contains("packstore unpublish"), "\(command)")
      #expect(playground.tree("site") == tree, "\(command)")
    }
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
    #expect(try playground.packstore("ls", "site").lines == ["big"])
  }

  @Test func unpublish() throws {
    let run = try playground.packstore("unpublish", "site", "Q", "--key", "site.key")
    #expect(run.lines[0] == "Q@1 is no longer on the site" && run.lines[1].hasPrefix("the channel live is at root "))
    #expect(run.lines.last?.hasPrefix("  retired ") == true)
    let json = try playground.packstore("publish", "store", "site", "P", "--key", "site.key", "--json").json
    #expect(try #require(json["retired_bytes"] as? Int) > 0 && json["retired_until"] is String)
    let over = try playground.packstore("publish", "store", "site", "P", "--key", "site.key", "--grace", "0", "--json")
      .json
    #expect(over["retired_bytes"] as? Int == 0 && over["unchanged"] as? Bool == true)
    for wrong in ["7", "-1d", "x", "9999999d", "7w", ""] {
      #expect(try playground.packstore("unpublish", "site", "P", "--key", "site.key", "--grace=\(wrong)").status == 2)
    }
    let none = try playground.packstore("unpublish", "none", "P", "--key", "site.key")
    #expect(none.status == 1 && !playground.exists("none"))
  }

  @Test func repair() throws {
    #expect(try playground.packstore("repair", "site", "--dry-run").status == 0)
    let frames = try #require(
      try FileManager.default.contentsOfDirectory(atPath: "\(playground.path)/site/frames").sorted().first)
    let before = try playground.read("site/frames/\(frames)")
    try playground.write(before.map { $0 ^ 1 }, to: "site/frames/\(frames)")
    let keyless = try playground.packstore("repair", "site", "--key", "none.key")
    #expect(keyless.status == 4 && keyless.errors.contains("with the key that signed it"))
    #expect(!playground.exists("none.key"))
    let dry = try playground.packstore("repair", "site", "--dry-run")
    #expect(dry.lines.contains("damaged: frames/\(frames)"))
    let run = try playground.packstore("repair", "site", "--key", "site.key")
    #expect(run.status == 0 && run.lines.contains("recreated or removed: frames/\(frames)"))
    #expect(try playground.read("site/frames/\(frames)") == before)
    #expect(try playground.packstore("repair", "store", "--key", "site.key").errors.contains("not a site"))
    #expect(try playground.packstore("repair", "store", "--product", "x").errors.contains("not a site"))
  }

  /// A repair without a source takes no version off a site by accident.
  @Test func repairDropsNoVersionUnasked() throws {
    func removeSegments() throws {
      for segment in try FileManager.default.contentsOfDirectory(atPath: "\(playground.path)/site/segments") {
        try playground.remove("site/segments/\(segment)")
      }
    }
    try removeSegments()
    let root = try playground.read("site/root")
    let refused = try playground.packstore("repair", "site", "--key", "site.key")
    #expect(refused.status == 7 && refused.errors.contains("which would leave the site"), "\(refused.errors)")
    #expect(try playground.read("site/root") == root)
    let repaired = try playground.packstore("repair", "site", "--key", "site.key", "--from", "store")
    #expect(repaired.status == 0, "\(repaired.errors)")
    #expect(try playground.packstore("pull", "device", "site", "-q").status == 0)
    try removeSegments()
    #expect(try playground.packstore("repair", "site", "--key", "site.key", "--drop-lost").status == 7)
    #expect(try playground.packstore("publish", "store", "site", "--key", "site.key").status == 0)
    #expect(try playground.packstore("pull", "device2", "site", "-q").status == 0)
  }

  /// A damaged root is signed again, with the values that its publisher gives for the lost ones.
  @Test func repairOfTheRoot() throws {
    let clientKey = try playground.packstore("keygen", "site.key").lines[0]
    #expect(try playground.packstore("pull", "client", "site", "--trust", clientKey, "-q").status == 0)
    let root = try playground.read("site/root")
    try playground.write(root.dropLast(200) + root.suffix(200).map { $0 ^ 1 }, to: "site/root")
    let dry = try playground.packstore("repair", "site", "--dry-run")
    #expect(
      dry.lines.suffix(2) == [
        "damaged: root", "the root is lost: a repair needs --product, and --expires or --no-expires",
      ])
    for options in [[], ["--product", "default"], ["--no-expires"]] {
      let run = try playground.packstore(["repair", "site", "--key", "site.key"] + options)
      #expect(run.status == 2 && run.errors.contains("the root is lost, with its product"), "\(run.errors)")
    }
    let published = try playground.packstore("publish", "store", "site", "--key", "site.key")
    #expect(
      published.status == 4 && published.errors.contains("run 'packstore repair site --key FILE'"),
      "\(published.errors)")
    let run = try playground.packstore("repair", "site", "--key", "site.key", "--product", "default", "--expires", "9")
    #expect(run.status == 0 && run.lines.contains("recreated or removed: root"), "\(run.errors)")
    #expect(try playground.packstore("pull", "client", "site", "-q").status == 0)
    #expect(try playground.packstore("publish", "store", "site", "--key", "site.key").output.contains("  until  "))
  }
}
