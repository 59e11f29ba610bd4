import Foundation
import Testing

/// `packstore place` and `packstore purge`, and what other commands say of packs whose data may vanish.
@Suite struct PlacementTests {
  let playground = try! Playground()

  /// The folder, as the program shows it.
  private var folder: String { playground.path.replacing("//", with: "/") }

  init() throws {
    try playground.write(noise(400_000), to: "a/videos/a")
    try playground.write(noise(300_000, seed: 1), to: "a/b")
    try playground.write(noise(100_000, seed: 2), to: "other/q")
    try playground.succeed("add", "store", "a", "--pack", "A")
    try playground.succeed("add", "store", "other", "--pack", "B")
  }

  private func pack(_ name: String, in store: String = "store") throws -> NSDictionary {
    let packs = try playground.succeed("stat", store, "--json").json["packs"] as? [NSDictionary]
    return try #require(packs?.first { $0["pack"] as? String == name })
  }

  private func state(_ name: String = "A") throws -> String {
    try #require((try pack(name)["availability"] as? NSDictionary)?["state"] as? String)
  }

  @Test func place() throws {
    let run = try playground.succeed("place", "store", "A", "purgeable")
    #expect(run.lines[0].hasPrefix("A is purgeable: its data is in '\(self.folder)/.cache/packstore', "))
    #expect(try pack("A")["placement"] as? String == "purgeable" && pack("B")["placement"] as? String == "durable")
    let text = try playground.succeed("stat", "store").lines
    #expect(text[0].hasSuffix("DATA") && text.contains { $0.hasPrefix("A@1") && $0.hasSuffix("purgeable") })
    #expect(text.contains { $0.hasPrefix("in the cache folder     7") })
    #expect(
      try playground.succeed("place", "store", "A", "purgeable").lines == [
        "A is purgeable: its data is in '\(self.folder)/.cache/packstore'"
      ])
    try playground.succeed("place", "store", "A", "durable")
    #expect(try playground.succeed("stat", "store").lines.contains { $0.hasPrefix("A@1") && $0.hasSuffix("durable") })
    try playground.remove(".cache")
    #expect(try playground.succeed("cat", "store", "b").bytes == noise(300_000, seed: 1))
  }

  @Test func theCacheFolderCanBeNamed() throws {
    try playground.succeed("place", "store", "A", "purgeable", "--cache", "my/cache", "--cache-budget", "2GB")
    let stat = try playground.succeed("stat", "store", "--json").json
    let folder = try #require(stat["cache_folder"] as? NSDictionary)
    #expect(folder["path"] as? String == "\(self.folder)/my/cache" && folder["budget"] as? Int == 2_000_000_000)
    #expect(!playground.exists(".cache"))
    let other = try playground.succeed("place", "store", "A", "purgeable", "--cache", "other-cache")
    #expect(other.errors.contains("is treated as purged from now on"))
    #expect(other.lines[0].hasSuffix("; 700.0 kB of its data are missing"), "\(other.lines)")
    #expect(try state() == "purged")
    // It was moved, and is as it was.
    let back = try playground.succeed("place", "store", "A", "purgeable", "--cache", "my/cache")
    #expect(try back.lines.count == 1 && state() == "present")
    // Existing data also obeys a smaller budget.
    try playground.succeed("place", "store", "A", "purgeable", "--cache-budget", "500kB")
    #expect(try state() != "present")
  }

  /// No command reports purged data of a store as damage.
  @Test func whatWasPurgedIsNotCopied() throws {
    try playground.succeed("place", "store", "A", "purgeable")
    try playground.succeed("purge", "store", "1MB")
    for command in [
      ["publish", "store", "site", "--key", "key"],
      ["export", "store", "A", "-o", "A.pack", "--key", "export.key", "--new-key"],
    ] {
      let run = try playground.packstore(command)
      #expect(run.status == 7 && run.errors.contains("purged") && run.errors.contains("pull"), "\(run.errors)")
    }
  }

  @Test func whatCannotBeUsedIsNamed() throws {
    try playground.write("", to: "file")
    let tree = playground.tree("store")
    let run = try playground.packstore(
      "place", "store", "A", "purgeable", environment: ["XDG_CACHE_HOME": "\(folder)/file"])
    #expect(run.status == 1 && run.errors.contains("\(self.folder)/file/packstore"), "\(run.errors)")
    #expect(run.errors.contains("XDG_CACHE_HOME") && run.errors.contains("--cache FOLDER"))
    #expect(playground.tree("store").filter { $0 != "tables/" } == tree.filter { $0 != "tables/" })
    // Relative counts as unset.
    let relative = try playground.packstore(
      "place", "store", "A", "purgeable", environment: ["XDG_CACHE_HOME": "x", "HOME": "\(playground.path)/home"])
    #expect(relative.status == 0 && relative.lines[0].contains("/home/.cache/packstore"), "\(relative.errors)")
    for wrong in [["durable", "--cache", "x"], ["purgeable", "--from", "x"], ["gone"], ["purgeable", "--cache="]] {
      #expect(try playground.packstore(["place", "store", "A"] + wrong).status == 2)
    }
  }

  /// After one flipped byte in the cache folder, `verify` and `repair` find the damage, and each command that an error names repairs it.
  @Test(arguments: ["pull", "repair --from a store", "repair --from a site", "add"])
  func damagedCacheIsRepaired(way: String) throws {
    try playground.succeed("publish", "store", "site", "--key", "key")
    let store = way == "add" ? "store" : "device"
    if way != "add" { try playground.succeed("pull", "device", "site") }
    try playground.succeed("place", store, "A", "purgeable")
    let file = try #require(playground.tree(".cache").filter { $0.contains("segments/") && !$0.hasSuffix("/") }.first)
    var bytes = try playground.read(".cache/\(file)")
    bytes[150_000] ^= 1
    try playground.write(bytes, to: ".cache/\(file)")
    let verify = try playground.packstore("verify", store)
    #expect(verify.status == 7 && verify.errors.contains("in the cache folder is damaged"), "\(verify.errors)")
    let plain = try playground.packstore("repair", store)
    #expect(
      plain.status == 7 && plain.errors.contains("version 'A@1': its cached data is damaged; fetch it again"),
      "\(plain.errors)")
    let extract = try playground.packstore("extract", store, "out")
    #expect(extract.status == 7 && extract.errors.contains("cached data of 1 asset is missing; fetch it again"))
    switch way {
    case "pull":
      #expect(try playground.succeed("pull", store, "site", "A").output.contains("repaired"))
    case "add":
      #expect(try playground.succeed("add", store, "a", "--pack", "A").output.contains("restored  data of 1 asset"))
    default:
      try playground.remove("site/CONTROL")
      let place = way == "repair --from a store" ? "store" : "site"
      #expect(try playground.succeed("repair", store, "--from", place).output.contains("brought back: A@1"))
    }
    try playground.succeed("verify", store, "--deep")
    try playground.succeed("extract", store, "again")
    #expect(try playground.read("again/b") == noise(300_000, seed: 1))
  }

  @Test func purgeAndWhatHeals() throws {
    _ = try playground.shell("cp -R store backup")
    try playground.succeed("place", "store", "A", "purgeable")
    let some = try playground.succeed("purge", "store", "1kB", "--json").json
    #expect(try #require(some["freed_bytes"] as? Int) > 700_000 && some["impossible_bytes"] as? Int == 0)
    #expect(
      try playground.succeed("purge", "store", "1MB").lines == ["freed 0 B in 0 files; 1.0 MB cannot be freed"])
    #expect(try state() == "purged" && state("B") == "present")
    #expect(try playground.succeed("stat", "store").lines.contains { $0.hasSuffix("purgeable, purged") })

    let read = try playground.packstore("cat", "store", "b")
    #expect(read.status == 7 && read.errors.contains("pull store"), "\(read.errors)")
    #expect(try playground.succeed("cat", "store", "q").bytes == noise(100_000, seed: 2))
    let tree = playground.tree("store")
    let refused = try playground.packstore("place", "store", "A", "durable")
    #expect(refused.status == 7 && refused.errors.contains("nothing was changed") && refused.errors.contains("--from"))
    #expect(playground.tree("store") == tree)

    let healed = try playground.succeed("repair", "store", "--from", "backup")
    #expect(healed.lines.contains { $0.hasPrefix("brought back: A@1, 700.0 kB") }, "\(healed.lines)")
    #expect(try state() == "present")
    #expect(try playground.succeed("cat", "store", "b").bytes == noise(300_000, seed: 1))
    try playground.remove(".cache")
    try playground.succeed("place", "store", "A", "durable", "--from", "backup")
    #expect(try pack("A")["placement"] as? String == "durable" && state() == "present")
    try playground.succeed("verify", "store", "--deep")
  }

  /// Purged data is not damage, so a repair leaves it unchanged.
  @Test func aRepairLeavesWhatIsPurged() throws {
    try playground.succeed("place", "store", "A", "purgeable")
    try playground.remove(".cache")
    let verify = try playground.packstore("verify", "store")
    #expect(
      verify.status == 7 && verify.errors.contains("A@1 b: purged") && verify.errors.contains("nothing is damaged"))
    #expect(
      verify.output.hasPrefix("no faults in ") && verify.output.hasSuffix(", data of 2 assets purged\n"),
      "\(verify.output)")
    #expect(try playground.succeed("repair", "store").lines == ["the store is whole: nothing to repair"])
    #expect(try state() == "purged" && pack("A")["placement"] as? String == "purgeable")
    try playground.succeed("add", "store", "a", "--pack", "A")
    #expect(try playground.succeed("cat", "store", "b").bytes == noise(300_000, seed: 1))
    try playground.succeed("verify", "store", "--deep")
  }

  @Test func fromASite() throws {
    try playground.succeed("publish", "store", "site", "--key", "site.key")
    try playground.succeed("pull", "client", "site")
    try playground.succeed("place", "client", "A", "purgeable")
    try playground.succeed("purge", "client", "1MB")
    let plain = try playground.succeed("pull", "client", "site")
    #expect(plain.errors.contains("A was purged and lacks 700.0 kB") && plain.errors.contains("--refetch"))
    let healed = try playground.succeed("pull", "client", "site", "A")
    #expect(healed.lines[0] == "A is at version 1, repaired: 700.0 kB were missing", "\(healed.lines)")
    try playground.remove(".cache")
    // A copy of the served files of a site is not a store.
    _ = try playground.shell("mkdir mirror; cp -R site/root site/versions site/frames site/segments mirror")
    let moved = try playground.packstore("place", "client", "A", "durable", "--from", "mirror")
    #expect(moved.status == 0, "\(moved.errors)")
    #expect(try playground.succeed("cat", "client", "b").bytes == noise(300_000, seed: 1))
  }

  /// A site contains the versions of a channel. For another version the error names it, and the places that have it.
  @Test func fromASiteThatOffersIt() throws {
    try playground.succeed("publish", "store", "site", "--key", "site.key")
    try playground.succeed("pull", "client", "site")
    try playground.write(noise(400_000, seed: 3), to: "a/videos/a")
    try playground.succeed("add", "store", "a", "--pack", "A")
    try playground.succeed("publish", "store", "site", "--key", "site.key")
    try playground.succeed("pull", "client", "site")
    _ = try playground.shell("cp -R client backup")
    try playground.succeed("place", "client", "A", "purgeable")
    try playground.remove(".cache")
    try playground.succeed("pull", "client", "site")

    let tree = playground.tree("client")
    let run = try playground.packstore("rollback", "client", "A", "--from", "site")
    #expect(run.status != 0 && run.errors.contains("the channel 'live' does not offer version 1 of 'A' (offered: 2)"))
    #expect(
      run.errors.contains("another store that has this version") && run.errors.contains("promote"), "\(run.errors)")
    #expect(playground.tree("client") == tree)
    try playground.succeed("rollback", "client", "A", "--from", "backup")
    #expect(try playground.succeed("cat", "client", "videos/a").bytes == noise(400_000))

    // The pack is not on the site any more.
    try playground.succeed("unpublish", "site", "A", "--key", "site.key")
    try playground.remove(".cache")
    let gone = try playground.packstore("place", "client", "A", "durable", "--from", "site")
    #expect(gone.status != 0 && gone.errors.contains("the channel 'live' has no pack 'A'"), "\(gone.errors)")
  }

  /// Over HTTP exactly the purged bytes are fetched; if one source lacks them, the next one is used.
  @Test func repairFromAServer() throws {
    try playground.succeed("publish", "store", "site", "--key", "key", "--no-expires", "-q")
    let server = try WebServer.nginx(playground, serving: "site")
    try playground.succeed("pull", "client", server.url, "-q")
    try playground.succeed("place", "client", "A", "purgeable")
    try playground.succeed("purge", "client", "1MB")
    try playground.makeFolder("none")
    let dry = try playground.packstore("repair", "client", "--from", server.url, "--dry-run")
    #expect(try dry.status == 0 && availability("client") == "purged", "\(dry.errors)")
    let run = try playground.succeed("repair", "client", "--from", server.url, "--json")
    #expect(try availability("client") == "present", "\(run.output)")
    #expect(try playground.succeed("cat", "client", "b").bytes == noise(300_000, seed: 1))
    let again = try playground.succeed("repair", "client", "--from", server.url)
    #expect(try availability("client") == "present" && again.errors.isEmpty)
  }

  private func availability(_ store: String) throws -> String? {
    (try pack("A", in: store)["availability"] as? NSDictionary)?["state"] as? String
  }

  /// The folder of a site is its publisher's store: its offers are accepted like a site's offers.
  @Test func fromASitesOwnFolder() throws {
    try playground.succeed("publish", "store", "site", "--key", "key", "--no-expires", "-q")
    try playground.succeed("pull", "client", "site", "-q")
    try playground.succeed("place", "client", "A", "purgeable")
    try playground.succeed("purge", "client", "2MB")
    try playground.succeed("place", "client", "A", "durable", "--from", "site")
    #expect(try playground.succeed("cat", "client", "videos/a").bytes == noise(400_000))
    let origin = try pack("A", in: "client")["origin"] as? String
    #expect(origin != "local", "it is the publisher's still")
  }

  @Test func rollback() throws {
    _ = try playground.shell("cp -R store backup")
    try playground.succeed("place", "store", "A", "purgeable")
    try playground.write(noise(500_000, seed: 5), to: "next/b")
    try playground.succeed("add", "store", "next", "--pack", "A")
    try playground.remove(".cache")
    let tree = playground.tree("store")
    let refused = try playground.packstore("rollback", "store", "A")
    #expect(refused.status == 7 && refused.errors.contains("--allow-purged") && refused.errors.contains("--from"))
    #expect(playground.tree("store") == tree)
    try playground.succeed("rollback", "store", "A", "--allow-purged")
    #expect(try pack("A")["version"] as? Int == 1 && state() == "purged")
    try playground.succeed("rollback", "store", "A@1", "--from", "backup")
    #expect(try state() == "present")
    #expect(try playground.succeed("cat", "store", "b").bytes == noise(300_000, seed: 1))
    // It was pinned, and held at another version.
    try playground.succeed("pin", "store", "A@1")
    try playground.succeed("rollback", "store", "A@2", "--allow-purged")
    try playground.remove(".cache")
    try playground.succeed("rollback", "store", "A@1", "--from", "backup")
    #expect(try pack("A")["version"] as? Int == 1 && state() == "present")
    let log = try playground.succeed("log", "store", "A").output
    #expect(log.contains("pinned") && log.contains("held"), "\(log)")
  }

  @Test func attributesPlace() throws {
    try playground.write(#"{"placement":"purgeable"}"#, to: "attributes.json")
    try playground.succeed("attributes", "store", "B", "--set", "attributes.json")
    #expect(try pack("B")["placement"] as? String == "purgeable" && pack("B")["placed_by_hand"] as? Bool == false)
    try playground.succeed("place", "store", "B", "durable")
    try playground.succeed("publish", "store", "site", "--key", "site.key")
    try playground.succeed("pull", "client", "site")
    #expect(try pack("B", in: "client")["placement"] as? String == "purgeable")
    #expect(try playground.succeed("verify", "site", "--deep").status == 0)
    #expect(!playground.exists("site/tables") || playground.tree("site/tables").isEmpty, "a site has all its files")
  }
}
