import Foundation
import Testing

/// `update`, and which packs `pull` takes that names none.
@Suite struct UpdateTests {
  let playground = try! Playground()

  init() throws {
    try playground.succeed("keygen", "key")
    for pack in ["A", "B"] { try publish(pack, "1") }
  }

  private func publish(
    _ pack: String, _ content: String, to site: String = "site", key: String = "key", _ more: String...
  ) throws {
    try playground.write("\(pack) \(content)", to: "folders/\(site)/\(pack)/\(pack).txt")
    try playground.succeed("add", "store-\(site)", "folders/\(site)/\(pack)", "--pack", pack)
    let run = try playground.packstore(["publish", "store-\(site)", site, pack, "--key", key, "-q"] + more)
    #expect(run.status == 0, "\(run.errors)")
  }

  private func content(_ pack: String) throws -> String {
    try playground.packstore("cat", "device", "\(pack).txt").output
  }

  private func update(_ arguments: String...) throws -> (sites: [NSDictionary], run: Run) {
    let run = try playground.packstore(["update", "device", "--json"] + arguments)
    return (try run.json["sites"] as? [NSDictionary] ?? [], run)
  }

  @Test func bringsWhatIsHere() throws {
    try playground.succeed("pull", "device", "site", "A")
    try publish("A", "2")
    try playground.succeed("update", "device", "--dry-run")
    #expect(try content("A") == "A 1")
    let text = try playground.succeed("update", "device").lines
    #expect(text.first?.hasSuffix("/site', channel live") == true, "\(text)")
    #expect(text.contains("not installed: B; 'packstore pull --all' installs all packs"), "\(text)")
    #expect(try content("A") == "A 2" && content("B") == "")
    let (sites, run) = try update()
    #expect(run.status == 0 && sites.count == 1)
    let pull = try #require(sites.first?["pull"] as? NSDictionary)
    #expect(pull["others"] as? [String] == ["B"])
    #expect((pull["packs"] as? [NSDictionary])?.map { $0["outcome"] as? String } == ["unchanged"])
  }

  @Test func packsThatLeftAreNamed() throws {
    try playground.succeed("pull", "device", "site")
    try playground.succeed("unpublish", "site", "B", "--key", "key")
    let (sites, run) = try update()
    #expect(run.status == 0 && sites.first?["left"] as? [String] == ["B"])
    #expect(
      run.errors.contains("B left the site") && run.errors.contains("'packstore remove' deletes it"), "\(run.errors)")
    #expect(try content("B") == "B 1", "it stays")
  }

  @Test func followsTheChannel() throws {
    try playground.succeed("pull", "device", "site", "A")
    try publish("A", "2", "--channel", "beta")
    try playground.succeed("update", "device")
    #expect(try content("A") == "A 1")
    try playground.succeed("pull", "device", "site", "--channel", "beta")
    try publish("A", "3", "--channel", "beta")
    #expect(try update().sites.map { ($0["pull"] as? NSDictionary)?["channel"] as? String } == ["beta"])
    #expect(try content("A") == "A 3")
  }

  /// Each site fails alone.
  @Test func oneSiteIsGone() throws {
    try playground.succeed("keygen", "other.key")
    try publish("C", "1", to: "other", key: "other.key")
    try playground.succeed("pull", "device", "site")
    try playground.succeed("pull", "device", "other")
    try publish("A", "2")
    _ = try playground.shell("mv other away")
    let (sites, run) = try update()
    #expect(run.status == 3 && sites.count == 1 && run.errors.contains("other"), "\(run.errors)")
    #expect(try content("A") == "A 2" && content("C") == "C 1")
  }

  @Test func thereMayBeNone() throws {
    try playground.succeed("add", "device", "folders/site/A", "--pack", "Own")
    let own = try update()
    #expect(
      own.run.status == 0 && own.sites.isEmpty && own.run.errors.contains("no pack of the store comes from a site"))
    try playground.succeed("publish", "store-site", "plain", "B", "--key", "key")
    try playground.succeed("export", "plain", "B", "-o", "B.pack", "--key", "key")
    try playground.succeed("import", "device", "B.pack")
    let archive = try update()
    #expect(
      archive.run.status == 0 && archive.run.errors.contains("no signed site is known for B"), "\(archive.run.errors)")
    #expect(try playground.packstore("update", "nowhere").status == 1)
  }

  // MARK: - Pulls without names

  @Test func pullTakesWhatIsHere() throws {
    try playground.succeed("pull", "device", "site")
    #expect(try content("A") == "A 1" && content("B") == "B 1", "a store that has nothing of the site takes all")
    try publish("C", "1")
    try playground.succeed("remove", "device", "B")
    let run = try playground.succeed("pull", "device", "site")
    #expect(run.output.contains("not installed: B, C; 'packstore pull --all' installs all packs"), "\(run.output)")
    #expect(try content("B") == "" && content("C") == "")
    try playground.succeed("pull", "device", "site", "C")
    #expect(try content("C") == "C 1")
    try playground.succeed("pull", "device", "site", "--all")
    #expect(try content("B") == "B 1")
    #expect(try playground.packstore("pull", "device", "site", "A", "--all").status == 2)
  }
}
