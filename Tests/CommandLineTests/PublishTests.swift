import Foundation
import Testing

@Suite struct PublishTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(noise(600_000), to: "folder/big")
    try playground.write(String(repeating: "one line\n", count: 9_000), to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P")
  }

  private func publish(_ more: String...) throws -> Run {
    try playground.packstore(["publish", "store", "site", "--key", "site.key"] + more)
  }

  @Test func theFirstTime() throws {
    let run = try publish()
    #expect(run.status == 0)
    let key = try playground.packstore("keygen", "site-root.key")
    #expect(key.lines.count == 1 && key.lines.first?.count == 44 && key.errors.isEmpty)
    #expect(
      run.errors.masked == """
        packstore: warning: created a release key in 'site.key' and its root key in 'site-root.key': move the root key to a safe \
        place off this machine; clients trust \(key.lines.first ?? ""), and the release key signs until <date>

        """)
    #expect(
      run.output.masked.maskedSizes.replacing(/root \d+/, with: "root <number>") == """
        P@1, new on the site: <size> of assets, <size> stored
        the channel live is at root <number>
          new    <size>
          size   <size>
          key    \(key.lines.first ?? "")
          time   <time>

        """)
    #expect(try playground.packstore("ls", "site").lines == ["big", "text"])
    // The folder of a site is read as its clients read it, and not as the publisher's store.
    #expect(try playground.packstore("log", "site", "--channel", "live").status == 0)
    #expect(try playground.packstore("cat", "site", "text").bytes == playground.read("folder/text"))
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
  }

  /// Before a root replaces a live one, standard error names the versions that all devices receive.
  @Test func newOffersToAllDevicesAreAnnounced() throws {
    #expect(try !publish().errors.contains("all devices"), "a new site has no devices")
    #expect(try publish().errors.isEmpty, "nothing is new")
    func publishNext(_ more: [String] = []) throws -> Run {
      try playground.write(UUID().uuidString, to: "folder/text")
      try playground.packstore("add", "store", "folder", "--pack", "P", "--keep", "9", "-q")
      return try playground.packstore(["publish", "store", "site", "--key", "site.key"] + more)
    }
    #expect(try publishNext().errors == "packstore: publishing to all devices of 'live': P@2\n")
    for more in [["--dry-run"], ["--no-offer"], ["--channel", "beta"], ["--quiet"], ["--json"]] {
      let run = try publishNext(more)
      #expect(run.status == 0 && run.errors.isEmpty, "\(more): \(run.errors)")
    }
    let back = try playground.packstore("publish", "store", "site", "P@6", "--key", "site.key")
    #expect(back.errors == "packstore: publishing to all devices of 'live': P@6\n", "an older version")
  }

  @Test func nothingNew() throws {
    _ = try publish()
    let tree = playground.tree("site"), root = try playground.read("site/root")
    let run = try publish()
    #expect(run.lines.first == "P@1 is current already")
    #expect(
      run.lines.last?.hasPrefix("nothing is new: the channel live stays at root ") == true && run.lines.count == 2)
    #expect(try playground.tree("site") == tree && playground.read("site/root") == root)
  }

  @Test func updatesAndWithdrawals() throws {
    _ = try publish()
    try playground.write("other", to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P")
    let update = try publish("--json").json
    #expect(update["unchanged"] as? Bool == false)
    let deltas = try #require(update["deltas"] as? [NSDictionary])
    #expect(deltas.count == 1 && deltas[0]["from"] as? Int == 1 && deltas[0]["to"] as? Int == 2)
    #expect(try #require(deltas[0]["bytes"] as? Int) < 1_000)
    #expect(try #require(update["new_bytes"] as? Int) < 50_000)
    let packs = try #require(update["packs"] as? [NSDictionary])
    #expect(packs[0]["version"] as? Int == 2 && packs[0]["from"] as? Int == 1)
    try playground.packstore("rollback", "store", "P")
    let run = try publish()
    #expect(run.lines.first == "root signed: safe to upload; deltas follow")
    #expect(run.lines[1].hasPrefix("P@1, back from 2: ") && run.lines[2].hasPrefix("a delta leads from P@2 to 1: "))
    #expect(try publish("P@2", "--deltas", "0").lines.first?.hasPrefix("P@2 from 1: ") == true)
    let last = try publish("P@2", "--keep", "1", "--expires", "30")
    #expect(
      last.lines.prefix(2) == ["P@2 is current already", "P@1 is no longer on the site"])
    #expect(last.output.masked.contains("\n  until  <date>\n"))
  }

  @Test func whatFails() throws {
    #expect(try playground.packstore("publish", "none", "site", "--key", "site.key").status == 1)
    let missing = try publish("Q")
    #expect(missing.status == 1 && missing.errors == "packstore: pack 'Q': not in the store (packs: P)\n")
    #expect(!playground.exists("site") && !playground.exists("site.key"), "a mistake makes nothing")
    _ = try publish()
    let other = try playground.packstore("publish", "store", "site", "--key", "other.key")
    #expect(
      other.status == 4
        && other.errors.contains("'other.key': the key file does not exist, but the site is already signed"))
    #expect(!playground.exists("other.key"))
    try playground.packstore("keygen", "other.key")
    let wrong = try playground.packstore("publish", "store", "site", "--key", "other.key")
    #expect(wrong.status == 4 && wrong.errors.contains("'site': signed by another key, "))
    let itself = try playground.packstore("publish", "store", "store", "--key", "site.key")
    #expect(itself.status == 1 && itself.errors.contains("a store, not a site"), "\(itself.errors)")
    _ = try playground.shell("chmod 644 site.key")
    let open = try publish()
    #expect(open.status == 4)
    #expect(
      open.errors
        == "packstore: 'site.key': other users can read the file with the secret key; run 'chmod 600 site.key'; if they may have read it, create a new key\n"
    )
  }

  /// A release key signs for one product; the suggested remedy for another product works.
  @Test func eachProductHasAReleaseKey() throws {
    _ = try publish()
    let commands = [
      ["publish", "store", "levels"], ["export", "store", "P", "-o", "P.pack"],
      ["delta", "store", "P@1", "@2", "-o", "P.delta"],
    ]
    try playground.write("two", to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    let remedy = "packstore delegate site-root.key levels.key --product levels"
    for command in commands {
      let run = try playground.packstore(command + ["--key", "site.key", "--product", "levels"])
      #expect(
        run.status == 4 && run.errors.contains("'site.key': the key is for the product 'default'"), "\(run.errors)")
      #expect(run.errors.contains("'\(remedy)'"), "\(run.errors)")
    }
    #expect(!playground.exists("levels") && !playground.exists("P.pack") && !playground.exists("P.delta"))
    #expect(try playground.shell(remedy).status == 0)
    for command in commands {
      let run = try playground.packstore(command + ["--key", "levels.key", "--product", "levels"])
      #expect(run.status == 0, "\(run.errors)")
    }
    // One root key, whose products do not mix.
    let keys = try ["site-root.key", "levels.key"].map { try playground.packstore("keygen", $0).lines }
    #expect(keys[0] == keys[1])
    #expect(try playground.packstore("pull", "client", "site", "-q").status == 0)
    #expect(try playground.packstore("pull", "client", "levels", "-q").status == 4)
  }

  /// A moved root key is not needed; a root key in its original place makes the next release key.
  @Test func theRootKeyIsMovedAway() throws {
    _ = try publish()
    _ = try playground.shell("mkdir safe && mv site-root.key safe/root.key")
    try playground.write("two", to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    let run = try publish()
    #expect(run.status == 0 && !playground.exists("site-root.key"))
    #expect(run.errors == "packstore: publishing to all devices of 'live': P@2\n")
    // A lost release key: another by the same root key, which clients take.
    #expect(try playground.packstore("pull", "client", "site", "-q").status == 0)
    try playground.remove("site.key")
    #expect(try playground.packstore("delegate", "safe/root.key", "site.key", "-q").status == 0)
    try playground.write("three", to: "folder/text")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    #expect(try publish().status == 0 && playground.packstore("pull", "client", "site", "-q").status == 0)
    #expect(try playground.packstore("cat", "client", "text").output == "three")
  }

  @Test func theKeyHasAPlaceOfItsOwn() throws {
    let run = try playground.shell("HOME=$PWD/home XDG_CONFIG_HOME= packstore publish store site --new-key --quiet")
    #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
    #expect(try playground.shell("stat -c %a home/.config/packstore/*").output == "600\n600\n")
    #expect(playground.tree("home/.config/packstore") == ["site-root.key", "site.key"])
    let printed = try playground.shell("XDG_CONFIG_HOME=$PWD/xdg packstore keygen --json").json
    #expect(printed["is_new"] as? Bool == true && playground.exists("xdg/packstore/site.key"))
  }

  /// Clients can pull from the site of a killed publisher, and the next publisher completes it. InterruptedPublishTests tries every step.
  @Test func kills() throws {
    _ = try publish()
    var last = 0
    var contents = [try playground.read("folder/big")]
    // The publisher is killed when the site has changed so many times.
    for changes in [0, 1, 2, 4] {
      try playground.write(noise(400_000 + changes * 1_000), to: "folder/big")
      try playground.packstore("add", "store", "folder", "--pack", "P")
      contents.append(try playground.read("folder/big"))
      let process = try playground.start(
        ["publish", "store", "site", "--key", "site.key", "--level", "1", "-q"], output: .nullDevice,
        errors: .nullDevice)
      _ = playground.kill(process, afterChanges: changes, of: "site")
      #expect(try playground.packstore("pull", "client", "site", "-q").status == 0, "\(changes) changes")
      let shown = try playground.packstore("cat", "client", "big").bytes
      // The killed publisher may have just completed the root of an earlier killed one.
      let index = contents.firstIndex(of: shown)
      #expect((index ?? -1) >= last, "\(changes) changes: clients never go back")
      last = index ?? last
    }
    #expect(try publish("--keep", "1").status == 0)
    #expect(try playground.packstore("pull", "client", "site", "-q").status == 0)
    #expect(try playground.packstore("cat", "client", "big").bytes == playground.read("folder/big"))
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
    #expect(!playground.tree("site").contains { $0.hasSuffix(".new") })
  }
}
