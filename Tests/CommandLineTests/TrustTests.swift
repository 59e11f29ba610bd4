import Foundation
import Testing

/// Publishers and owners: the changes that each may make to a device.
@Suite struct TrustTests {
  let playground = try! Playground()

  private func add(_ content: String, to store: String, pack: String = "P", _ options: String...) throws {
    try playground.write(content, to: "folder/file")
    let run = try playground.packstore(["add", store, "folder", "--pack", pack, "-q"] + options)
    try #require(run.status == 0, "\(run.errors)")
  }

  private func publish(_ store: String, _ site: String, key: String = "key", _ options: String...) throws {
    let run = try playground.packstore(["publish", store, site, "--key", key, "-q"] + options)
    try #require(run.status == 0, "\(run.errors)")
  }

  private func pull(_ site: String, _ options: String...) throws -> Run {
    try playground.packstore(["pull", "device", site] + options)
  }

  private func file(_ pack: String? = nil) throws -> String {
    try playground.packstore(["cat", "device", "file"] + (pack.map { ["--pack", $0] } ?? [])).output
  }

  private func origins() throws -> [NSDictionary] {
    try #require(playground.packstore("trust", "device", "--json").json["origins"] as? [NSDictionary])
  }

  /// Leaves only the publisher's knowledge of the site: key and product.
  @Test func aLostSiteGoesOn() throws {
    try add("one", to: "author")
    try publish("author", "site")
    #expect(try pull("site", "-q").status == 0)
    try playground.remove("site")
    try add("two", to: "author")
    try publish("author", "site")
    let run = try pull("site")
    #expect(run.status == 0 && run.lines.first == "P is at version 2, from 1", "\(run.errors)")
  }

  /// Version 1 of a site does not replace a pack that was added here, and no priority hides it.
  @Test func whatWasAddedHereStays() throws {
    try add("theirs", to: "author", "--priority", "2147483647")
    try add("also theirs", to: "author", pack: "Q", "--priority", "2147483647")
    try publish("author", "site")
    try add("mine", to: "device", "--version", "6")
    let run = try pull("site")
    #expect(
      run.status == 4 && run.errors.contains("'P': belongs to another origin, so it was not changed"), "\(run.errors)")
    #expect(try file() == "mine" && file("Q") == "also theirs")
    let named = try pull("site", "P")
    #expect(named.status == 4 && named.errors.contains("--adopt"))
    #expect(try pull("site", "--adopt").status == 2, "for packs that are named")
    #expect(try pull("site", "P", "--adopt").status == 0)
    #expect(try file("P") == "theirs")
    #expect(try playground.packstore("add", "device", "folder", "--pack", "P").errors.contains("--adopt"))
    try add("mine again", to: "device", "--adopt")
    #expect(try file("P") == "mine again")
  }

  /// Lists name origins as soon as one pack was not added here.
  @Test func listsNameOrigins() throws {
    try add("mine", to: "device")
    try add("theirs", to: "author", pack: "Q")
    try publish("author", "site")
    #expect(try !playground.packstore("stat", "device").output.contains("ORIGIN"))
    #expect(try playground.packstore("ls", "device", "--json").jsonLines[0]["origin"] == nil)
    #expect(try pull("site", "-q").status == 0)
    let id = try #require(origins()[1]["id"] as? String)

    let stat = try playground.packstore("stat", "device").lines
    #expect(stat[0].hasSuffix("ORIGIN") && stat[1].hasSuffix("local") && stat[2].hasSuffix(id), "\(stat)")
    #expect(!stat[3].hasSuffix(" "))
    let packs = try #require(playground.packstore("stat", "device", "--json").json["packs"] as? [NSDictionary])
    #expect(packs.map { $0["origin"] as? String } == ["local", id])

    let conflicts = try playground.packstore("conflicts", "device")
    #expect(conflicts.lines == ["file: P (local) hides Q (\(id))"])
    let conflict = try playground.packstore("conflicts", "device", "--json").jsonLines[0]
    #expect(conflict["origin"] as? String == id && conflict["winner_origin"] as? String == "local")

    for (pack, origin) in [("P", "local" + String(repeating: " ", count: id.count - 5)), ("Q", id)] {
      let list = try playground.packstore("ls", "device", "-l", "--pack", pack)
      #expect(list.lines.count == 1 && list.lines[0].hasSuffix("  \(pack)  \(origin)  file"), "\(list.output)")
    }
    let entry = try playground.packstore("ls", "device", "--json").jsonLines[0]
    #expect(entry["pack"] as? String == "P" && entry["origin"] as? String == "local")
  }

  @Test func ordersAndForgets() throws {
    try add("one", to: "first")
    try publish("first", "site-1", key: "key-1")
    try add("two", to: "second", pack: "Q")
    try publish("second", "site-2", key: "key-2", "--product", "levels")
    #expect(try pull("site-1", "-q").status == 0 && pull("site-2", "-q").status == 0)
    #expect(try file() == "one", "who came first")
    let list = try origins()
    #expect(list.map { $0["kind"] as? String } == ["local", "signed", "signed"])
    #expect(list.map { $0["product"] as? String } == [nil, "default", "levels"])
    let ids = try list.map { try #require($0["id"] as? String) }
    #expect(ids[1].count == 16)
    let places = try #require(playground.packstore("trust", "device", "--json").json["places"] as? [NSDictionary])
    #expect(places.map { $0["origin"] as? String } == [ids[1], ids[2]])

    #expect(try playground.packstore("trust", "device", "order", String(ids[2].prefix(4)), "-q").status == 0)
    #expect(try file() == "two")
    #expect(try origins().map { $0["id"] as? String } == [ids[2], "local", ids[1]])
    #expect(try playground.packstore("trust", "device", "order", String(ids[2].prefix(3))).status == 2)
    #expect(try playground.packstore("trust", "device", "order", "ffffffffffffffff").status == 1)
    #expect(try playground.packstore("trust", "device", "order", ids[1], ids[1]).status != 0)

    // A place accepts another key only after it was forgotten, for each named pack.
    try playground.remove("site-1")
    try publish("first", "site-1", key: "key-3")
    let key = try playground.packstore("keygen", "key-3").lines[0]
    let refused = try pull("site-1", "--trust", key)
    #expect(
      refused.status == 4 && refused.errors.contains("packstore trust device forget \(ids[1])"), "\(refused.errors)")
    #expect(try playground.packstore("trust", "device", "forget", ids[1], "-q").status == 0)
    #expect(try pull("site-1").status == 4, "the pack is still the first key's")
    #expect(try playground.packstore("remove", "device", "P", "-q").status == 0)
    #expect(try playground.packstore("trust", "device", "forget", ids[1], "-q").status == 0)
    #expect(try pull("site-1").status == 0)
    #expect(try origins().contains { $0["id"] as? String == ids[1] } == false)
    #expect(try playground.packstore("trust", "device", "forget", "local").status != 0)
  }

  /// Another site of the same publisher, with the same key, is not a substitute for this one.
  @Test func anotherProductOfTheSamePublisher() throws {
    let key = try playground.packstore("keygen", "key").lines[0]
    try add("one", to: "author")
    try publish("author", "site", "--product", "game")
    #expect(try pull("site", "-q").status == 0)
    _ = try playground.shell("mv site old")
    try add("other", to: "author")
    try publish("author", "site", "--product", "editor")
    for options in [[], ["--trust", key]] {
      let run = try playground.packstore(["pull", "device", "site"] + options)
      #expect(run.status == 4 && run.errors.contains("belongs to the product 'editor'"), "\(run.errors)")
    }
    let moved = try pull("old", "-q")
    #expect(moved.status == 0, "the same origin at another place: \(moved.errors)")
    #expect(try file() == "one")
    let changed = try playground.packstore("publish", "author", "old", "--key", "key", "--product", "editor")
    #expect(changed.status == 2 && changed.errors.contains("'game'"), "\(changed.errors)")
    #expect(try playground.packstore("publish", "author", "old", "--key", "key", "--product", "A B").status == 2)
  }

  /// A delta from 1 to 2 by the right key, on a device that was at 3.
  @Test func aDeltaIsNotReplayed() throws {
    for content in ["one", "two", "three"] { try add(content, to: "author", "--keep", "9") }
    try publish("author", "site", "P@1")
    let made = try playground.packstore("delta", "author", "P@1", "P@2", "-o", "1-2.delta", "--key", "key", "-q")
    try #require(made.status == 0)
    #expect(try pull("site", "-q").status == 0)
    try publish("author", "site", "P@3")
    #expect(try pull("site", "-q").status == 0)
    let replayed = try playground.packstore("apply", "device", "1-2.delta")
    #expect(replayed.status == 4 && replayed.errors.contains("--downgrade"), "\(replayed.errors)")
    #expect(try file() == "three")
    #expect(try playground.packstore("apply", "device", "1-2.delta", "--downgrade", "-q").status == 0)
    #expect(try file() == "two")
    #expect(try pull("site", "-q").status == 0)
    #expect(try file() == "three", "the next pull goes up again")
  }

  /// The result of taking over a pack is reported, also if its content stays.
  @Test func takingOverIsSaid() throws {
    try add("one", to: "author")
    try publish("author", "site")
    #expect(try pull("site", "-q").status == 0)
    let id = try #require(origins()[1]["id"] as? String)
    let report = try playground.shell(
      "cp -R device json && packstore add json folder --pack P --adopt --json")
    #expect(try report.json["adopted_from"] as? String == id && report.json["unchanged"] as? Bool == true)
    let run = try playground.packstore("add", "device", "folder", "--pack", "P", "--adopt")
    #expect(
      run.lines == ["P is taken over from \(id): its history is gone", "its content is unchanged at version 1"],
      "\(run.errors)")
    #expect(try playground.packstore("add", "device", "folder", "--pack", "P").lines == ["P is unchanged at version 1"])
    let again = try playground.packstore("add", "device", "folder", "--pack", "P", "--adopt", "--json").json
    #expect(again["adopted_from"] == nil)
  }

  /// A key is pinned with the first root that was accepted, and each command that meets it shows it: also the pull that
  /// fails afterwards, and a dry run, which pins nothing.
  @Test func firstContactIsSaid() throws {
    try add("one", to: "author")
    try publish("author", "site")
    let key = try playground.packstore("keygen", "key").lines[0]
    let dry = try pull("site", "--dry-run")
    #expect(dry.errors.contains("the key \(key) of this site would be trusted by a pull"), "\(dry.errors)")
    let plan = try pull("site", "--dry-run", "--json")
    #expect(try plan.json["key"] as? String == key && plan.json["first_contact"] as? Bool == true)
    #expect(!playground.exists("device"))

    // The root is accepted, and the files that it names are missing.
    _ = try playground.shell("mv site/versions away")
    let failed = try pull("site")
    #expect(failed.status == 3 && failed.errors.contains("the pull failed, but the key \(key) of this site is trusted"))
    #expect(try playground.text("device/trust").contains(key), "as was said")
    let list = try playground.packstore("trust", "device")
    #expect(list.output.contains(key), "\(list.output)")
    let once = try pull("site")
    #expect(once.status == 3 && !once.errors.contains(key), "\(once.errors)")
    let quiet = try playground.packstore("pull", "other", "site", "-q")
    #expect(quiet.status == 3 && !quiet.errors.contains(key))
    let object = try playground.packstore("pull", "third", "site", "--json")
    let warning = try JSON(try #require(object.errors.split(separator: "\n").first).utf8)
    #expect(warning["level"]?.string == "warning" && warning["message"]?.string?.contains(key) == true)

    // Refused for its root: nothing is pinned.
    var root = try playground.read("site/root")
    root[root.count - 70] ^= 1
    try playground.write(root, to: "site/root")
    let refused = try playground.packstore("pull", "fourth", "site")
    #expect(refused.status == 4 && !refused.errors.contains("is trusted from now on") && !playground.exists("fourth"))
  }

  @Test func aSiteWithoutPacks() throws {
    try add("one", to: "author")
    try publish("author", "site")
    try #require(playground.packstore("unpublish", "site", "P", "--key", "key", "-q").status == 0)
    let run = try pull("site")
    #expect(run.status == 0 && run.errors.contains("the site has no packs: nothing was pulled"), "\(run.errors)")
  }

  // MARK: - Age

  @Test func agesAreSaid() throws {
    try add("one", to: "author")
    try publish("author", "site", "--expires", "3")
    let first = try pull("site", "--json").json
    #expect(first["age"] as? Int != nil && first["made_at"] as? String != nil && first["expires_at"] as? String != nil)
    #expect(first["stale"] as? Bool == false && first["product"] as? String == "default")
    let old = try playground.read("site/root")
    let refreshed = try playground.packstore("refresh", "site", "--key", "key", "--json")
    #expect(refreshed.status == 0, "\(refreshed.errors)")
    #expect(
      try (refreshed.json["channels"] as? [NSDictionary])?.first?["expires"] is String, "it is a property of the site")
    #expect(try pull("site", "--json").json["stale"] as? Bool == false)
    try playground.write(old, to: "site/root")
    #expect(try pull("site", "--json").json["stale"] as? Bool == true)
    let endless = try playground.packstore("refresh", "site", "--key", "key", "--no-expires", "--json")
    #expect(try endless.json["expires"] as? String == nil)
    #expect(try pull("site", "--json", "--max-age", "1d").json["expires_at"] as? String == nil)
    #expect(try pull("site", "--max-age", "soon").status == 2)
    #expect(try playground.packstore("refresh", "nowhere", "--key", "key").status == 1)
    #expect(!playground.exists("nowhere"))
  }
}
