import Foundation
import Testing

/// Channels of a site: offered, promoted, phased, halted, withdrawn, closed; and their roots exchanged.
@Suite struct ChannelTests {
  let playground = try! Playground()

  init() throws {
    for number in 1...3 { try add("version \(number)") }
  }

  private func add(_ content: String, _ more: String...) throws {
    try playground.write(content, to: "folder/file")
    try run(["add", "author", "folder", "--pack", "P", "--keep", "9"] + more)
  }

  @discardableResult
  private func run(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> Run {
    let run = try playground.packstore(arguments)
    #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
    return run
  }

  private func publish(_ version: Int, _ more: String...) throws {
    try run(["publish", "author", "site", "P@\(version)", "--key", "site.key", "--deltas", "0", "-q"] + more)
  }

  private func change(_ command: String, _ version: Int, _ more: String..., location: SourceLocation = #_sourceLocation)
    throws
  {
    try run([command, "site", "P@\(version)", "--key", "site.key", "-q"] + more, sourceLocation: location)
  }

  /// The version that a device has after a pull.
  private func pull(
    _ device: String, _ more: String..., from site: String = "site", location: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let pulled = try run(["pull", device, site, "--json"] + more, sourceLocation: location).json
    let pack = (pulled["packs"] as? [NSDictionary])?.first { $0["pack"] as? String == "P" }
    if pack?["outcome"] as? String == "updated", let version = pack?["to"] as? Int { return version }
    let packs = try run(["log", device, "P", "--json"]).json["packs"] as? [NSDictionary]
    return (packs?.first?["versions"] as? [NSDictionary])?.first?["version"] as? Int ?? 0
  }

  /// A channel's offers of P, each as `4 5% 2.0..<3`.
  private func offers(_ channel: String = "live") throws -> [String] {
    let bytes = try run(["channels", "site", "--json"]).bytes
    let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary
    let list = try #require(document?["channels"] as? [NSDictionary])
    let packs = list.first { $0["channel"] as? String == channel }?["packs"] as? [NSDictionary] ?? []
    return (packs.first?["offers"] as? [NSDictionary] ?? []).map { offer in
      "\(offer["version"] ?? 0) \(offer["share"] ?? "")" + (offer["app_versions"].map { " \($0)" } ?? "")
    }
  }

  /// The spelling of policies, of pins of a site, and of its collection.
  @Test func policyPinsAndCollectionOfASite() throws {
    for number in 1...3 { try publish(number, "--keep", "9") }
    #expect(try run(["policy", "site"]).lines[0] == "no policy: the defaults apply")
    let set = try run(["policy", "site", "--keep", "1", "--grace", "36h", "--key", "site.key"]).lines
    #expect(set[0] == "policy of the site" && set[1].contains("1 offered version, 2 builds"))
    #expect(set[2].contains("36h, purgeable packs 90d"))
    #expect(try run(["pin", "site", "P@1", "--key", "site.key"]).lines == ["pinned: P@1"])
    let plan = try run(["gc", "site", "--dry-run"]).lines
    #expect(plan.prefix(3) == ["P@3  offered by live", "P@2  leaving", "P@1  pinned"])
    #expect(plan.contains { $0.contains("leaving with P@2") } && plan.contains { $0.contains("kept for P@1") })
    #expect(try run(["gc", "site", "--key", "site.key"]).lines[0] == "dropped  P@2")
    #expect(try run(["unpin", "site", "P@1", "--key", "site.key"]).lines == ["no version of P is pinned"])
    #expect(try run(["gc", "site", "--key", "site.key", "--grace", "0"]).lines[0] == "dropped  P@1")
    #expect(try run(["policy", "site", "--reset", "--key", "site.key"]).lines[0] == "no policy: the defaults apply")
    for wrong in [
      ["policy", "site", "--keep", "0"], ["policy", "site", "--reset", "--keep", "2"], ["policy", "site", "--dry-run"],
      ["gc", "site", "--budget", "1MB"], ["gc", "author", "--grace", "1d"], ["unpin", "author", "P@1"],
      ["pin", "author", "P@1", "--key", "site.key"],
    ] {
      #expect(try playground.packstore(wrong).status == 2, "\(wrong)")
    }
  }

  /// The spelling of a promotion of several packs, of the copy of a channel's offers, and of their conditions.
  @Test func manyPacksArePromotedAsOne() throws {
    try playground.write("other", to: "folder/file")
    try run(["add", "author", "folder", "--pack", "Q"])
    try run(["publish", "author", "site", "P@1", "Q", "--key", "site.key", "--no-offer", "-q"])
    try run(["publish", "author", "site", "P@2", "--key", "site.key", "--no-offer", "-q"])
    let beta = try run(["promote", "site", "P@1", "Q@1", "--to", "beta", "--key", "site.key", "--json"]).json
    #expect((beta["packs"] as? [NSDictionary])?.map { $0["pack"] as? String } == ["P", "Q"])
    let ids = Set((beta["packs"] as? [[String: Any]] ?? []).map(releaseID))
    #expect(ids.count == 1 && ids != [nil], "several packs form a release")
    let number = try #require(beta["sequence"] as? Int)
    let copy = ["promote", "site", "--from", "beta", "--to", "live", "--key", "site.key"]
    let refused = try playground.packstore(copy + ["--if-root", "beta=\(number + 1)"])
    #expect(refused.status == 6 && refused.errors.contains("has the number \(number), not \(number + 1)"))
    let done = try run(copy + ["--if-root", "beta=\(number)"])
    #expect(done.lines.prefix(2) == ["P@1 is for all devices", "Q@1 is for all devices"])
    try run(["promote", "site", "P@2", "--key", "site.key", "-q"])
    let lower = try playground.packstore(copy)
    #expect(
      lower.status == 2 && lower.errors.contains("P@1 is lower than version 2") && lower.errors.contains("--back"))
    try run(copy + ["--back", "-q"])
    #expect(try offers() == ["1 100%"])
    for wrong in [
      [], ["P"], ["P@1", "P@2"], ["P@1", "--from", "beta"], ["--from", "beta", "--share", "5%"],
      ["P@1", "--if-root", "beta"], ["P@1", "--if-root", "beta=1,beta=2"], ["P@1", "--if-root", "beta=-1"],
    ] {
      #expect(try playground.packstore(["promote", "site", "--key", "site.key"] + wrong).status == 2, "\(wrong)")
    }
  }

  private func releaseID(_ pack: [String: Any]) -> String? {
    ((pack["offers"] as? [[String: Any]])?.first?["release"] as? [String: Any])?["id"] as? String
  }

  @Test func promotedPacksFormAReleaseUnlessSeparate() throws {
    try playground.write("other", to: "folder/file")
    try run(["add", "author", "folder", "--pack", "Q"])
    try run(["publish", "author", "site", "P@1", "Q", "--key", "site.key", "--no-offer", "-q"])
    let promote = ["promote", "site", "P@1", "Q@1", "--key", "site.key"]
    let separate = try run(promote + ["--separately", "--json"]).json
    #expect((separate["packs"] as? [[String: Any]] ?? []).map(releaseID) == [nil, nil])
    let named = try run(promote + ["--release", "spring"])
    #expect(
      named.lines.prefix(2) == [
        "P@1 is for all devices, in the release spring", "Q@1 is for all devices, in the release spring",
      ])
    #expect(try run(["channels", "site"]).lines.dropFirst().allSatisfy { $0.contains("spring") })
    #expect(try run(["status", "site"]).lines[1].contains("spring"))
    for wrong in [["--release", "a b"], ["--release", "a", "--separately"], ["--release", "a", "--halt"]] {
      #expect(try playground.packstore(promote + wrong).status == 2, "\(wrong)")
    }
    #expect(
      try playground.packstore(["promote", "site", "--from", "beta", "--separately", "--key", "site.key"]).status == 2)
  }

  /// A halt of the only offer succeeds, because it may be urgent, and names its effect.
  @Test func aHaltOfTheOnlyOfferWarns() throws {
    try publish(1)
    let halt = ["promote", "site", "P@1", "--halt", "--key", "site.key", "-q"]
    let run = try playground.packstore(halt)
    #expect(run.status == 0 && run.errors.contains("P: the channel 'live' offers new devices no version"))
    #expect(try self.run(["promote", "site", "P@1", "--key", "site.key", "-q"]).errors.isEmpty)
    let horizon = try playground.packstore(["promote", "site", "P@1", "--horizon", "12h", "--key", "site.key"])
    #expect(horizon.status == 2 && horizon.errors.contains("--horizon needs --steps"))
    let unpin = try playground.packstore(["unpin", "site", "Q", "--key", "site.key"])
    #expect(unpin.status == 1 && unpin.errors.contains("the site"))
  }

  // MARK: - Clients

  /// Version 1 is live, 2 on `external`, 3 on `internal`; clients of two versions of the app.
  @Test func theWorkedMatrix() throws {
    try publish(1)
    try publish(2, "--channel", "external")
    try publish(3, "--channel", "internal")
    for (device, more, expected) in [
      ("a", [], 1), ("b", ["--app-version", "1.0"], 1), ("c", ["--channel", "external"], 2),
      ("d", ["--channel", "internal", "--app-version", "2.5"], 3),
    ] as [(String, [String], Int)] {
      try run(["pull", device, "site", "-q"] + more)
      #expect(try playground.packstore("cat", device, "file").output == "version \(expected)")
    }
    try change("promote", 2)
    #expect(try pull("a") == 2 && pull("b", "--app-version", "1.0") == 2, "live clients of every version of the app")
    #expect(try pull("c") == 2 && pull("d", "--app-version", "2.5") == 3, "the channel is remembered")
    try change("promote", 3, "--app-versions", "2.0..<3")
    #expect(try offers() == ["3 100% 2.0..<3", "2 100%"])
    #expect(try pull("b", "--app-version", "1.9") == 2, "an app outside the range keeps its version")
    #expect(try pull("a", "--app-version", "2.0") == 3)
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
  }

  @Test func whatFitsNoDeviceIsNotOffered() throws {
    try publish(1)
    try run(["promote", "site", "P@1", "--app-versions", "2.0...", "--key", "site.key", "-q"])
    let refused = try playground.packstore("pull", "old", "site", "--app-version", "1.0")
    #expect(refused.status == 0 && refused.errors.contains("no version of P supports this app"), "\(refused.errors)")
    #expect(try playground.packstore("ls", "old").output == "")
    let json = try run(["pull", "old", "site", "--app-version", "1.0", "--json"]).json
    #expect((json["packs"] as? [NSDictionary])?.first?["outcome"] as? String == "not_offered")
    #expect(try pull("new", "--app-version", "2.0") == 1)
    // The installed version stays, although it is not offered any more.
    #expect(try pull("new", "--app-version", "1.0") == 1)
  }

  /// Each device decides by its own random number whether it is in a share. A higher share only adds devices; a share
  /// of 0 halts the release; without the offer it is withdrawn.
  @Test func aReleaseInPhases() throws {
    try publish(1)
    try publish(2, "--no-offer")
    #expect(try offers() == ["1 100%"] && pull("a") == 1)
    let devices = (0..<16).map { String(format: "%032x", $0 &* 0x9e37_79b9) }
    func versions() throws -> [Int] {
      try devices.enumerated().map { try pull("d\($0)", "--device", $1) }
    }
    try change("promote", 2, "--share", "50%")
    #expect(try offers() == ["2 50%", "1 100%"])
    let half = try versions()
    #expect(Set(half) == [1, 2], "of 16 devices")
    try change("promote", 2, "--share", "0%")
    #expect(try versions() == half, "halted: who has it keeps it")
    try change("promote", 2, "--share", "75%")
    #expect(try zip(half, versions()).allSatisfy { $0 <= $1 }, "a share that rises only adds devices")
    try change("demote", 2)
    #expect(try versions() == Array(repeating: 1, count: devices.count), "taken back")
    try change("promote", 2)
    #expect(try versions() == Array(repeating: 2, count: devices.count) && offers() == ["2 100%"])
    // A store draws for itself, and does so once.
    try publish(3, "--no-offer")
    try change("promote", 3, "--share", "50%")
    let first = try pull("own")
    #expect(try pull("own") == first && playground.exists("own/device"))
    #expect(!playground.exists("d0/device"), "what the app says is not drawn")
  }

  /// A publication of other packs ends no release in phases; and a new channel has the site's expiry.
  @Test func whatIsOfferedStays() throws {
    try publish(1, "--expires", "9")
    try publish(2, "--no-offer")
    try change("promote", 2, "--share", "5%")
    try publish(2)
    #expect(try offers() == ["2 5%", "1 100%"])
    for (share, isSame) in [("5%", true), ("6%", false)] {
      let dry = try run(["promote", "site", "P@2", "--share", share, "--key", "site.key", "--dry-run", "--json"]).json
      #expect(dry["unchanged"] as? Bool == isSame)
    }
    #expect(try offers() == ["2 5%", "1 100%"])
    let made = try run(["promote", "site", "P@2", "--channel", "beta", "--key", "site.key", "--json"]).json
    #expect(made["expires"] is String && made["is_new"] as? Bool == true)
    try run(["unpublish", "site", "P", "--key", "site.key"])
    let gone = try playground.packstore("unpublish", "site", "P", "--key", "site.key")
    #expect(gone.status == 1 && gone.errors.contains("channels with the pack: beta"), "\(gone.errors)")
  }

  /// The name of a new channel may be a slip of the pen.
  @Test func aNewChannelIsSaid() throws {
    try publish(1)
    func promote(_ more: String...) throws -> [String] {
      try run(["promote", "site", "P@1", "--channel", "beta", "--key", "site.key"] + more).lines
    }
    #expect(
      try promote("--dry-run") == [
        "P@1 would be for all devices", "the channel beta would be opened: it does not exist, or is closed",
      ])
    let made = try promote()
    #expect(made.first == "P@1 is for all devices")
    #expect(made.last?.hasPrefix("the channel beta is open now, at root ") == true, "\(made)")
    #expect(try promote().last?.hasPrefix("the channel beta stays at root ") == true)
    #expect(try promote("--share", "5%", "--dry-run").last == "the channel beta would be changed")
    #expect(try promote("--share", "5%").last?.hasPrefix("the channel beta is at root ") == true)
  }

  /// A repair does not release a version that was published to testers.
  @Test func aLostRootReleasesNothing() throws {
    try publish(1)
    try publish(3, "--channel", "internal")
    try playground.write("lost", to: "site/root")
    try run(["repair", "site", "--key", "site.key", "--product", "default", "--no-expires"])
    #expect(try offers() == [] && offers("internal") == ["3 100%"])
    try change("promote", 1)
    #expect(try offers() == ["1 100%"] && pull("a") == 1)
  }

  /// A promoted older version replaces the newer one on devices that have it.
  @Test func aWithdrawal() throws {
    try publish(1)
    try publish(2)
    #expect(try pull("a") == 2)
    let refused = try playground.packstore("promote", "site", "P@1", "--key", "site.key")
    #expect(refused.status == 2 && refused.errors.contains("--back"), "\(refused.errors)")
    #expect(try offers() == ["2 100%"])
    try change("promote", 1, "--back")
    #expect(try pull("a") == 1 && offers() == ["1 100%"])
    try change("promote", 2)
    #expect(try pull("a") == 2)
  }

  // MARK: - Following channels

  @Test func anotherChannelMayHaveLowerVersions() throws {
    try publish(1)
    try publish(2, "--no-offer")
    try publish(3, "--channel", "beta")
    #expect(try pull("a", "--channel", "beta") == 3)
    #expect(try pull("a") == 3, "remembered")
    let named = try playground.packstore("pull", "a", "site", "P", "--channel", "live")
    #expect(named.status == 2 && named.errors.contains("without naming packs"), "\(named.errors)")
    #expect(try pull("a", "--channel", "live") == 1)
    try change("promote", 2)
    #expect(try pull("a") == 2, "and goes on from there")
    #expect(try pull("a", "--channel", "beta") == 3)
    // Both channels offer the same version: an acceptance on one does not count on the other.
    try change("promote", 3)
    #expect(try pull("a", "--channel", "live") == 3)
    try change("promote", 2, "--back")
    #expect(try pull("a") == 2)
  }

  /// A held pack, and a pack that the other channel does not offer yet, continue with that channel's numbers.
  @Test func packsThatStayFollowToo() throws {
    try run(["add", "author", "folder", "--pack", "Q", "--keep", "9"])
    try run(["publish", "author", "site", "P@1", "--channel", "beta", "--key", "site.key", "-q"])
    try publish(1)
    try publish(2)
    try run(["publish", "author", "site", "Q", "--key", "site.key", "-q"])
    #expect(try pull("a") == 2)
    try publish(3)
    #expect(try pull("a") == 3)
    try run(["rollback", "a", "P"])
    #expect(try pull("a", "--channel", "beta") == 2, "held, and beta is older than live")
    try run(["unpin", "a", "P"])
    #expect(try pull("a") == 1)
    try run(["promote", "site", "Q@1", "--channel", "beta", "--key", "site.key", "-q"])
    let json = try run(["pull", "a", "site", "--json"]).json
    #expect(
      (json["packs"] as? [NSDictionary] ?? []).compactMap { $0["outcome"] as? String } == ["unchanged", "unchanged"])
  }

  @Test func channelsThatAreNotThere() throws {
    try publish(1)
    let missing = try playground.packstore("pull", "a", "site", "--channel", "beta")
    #expect(missing.status == 3 && missing.errors.contains("does not have the channel 'beta'"), "\(missing.errors)")
    #expect(!playground.exists("a"))
    for (command, expected) in [
      (["demote", "site", "P@1"], "only version that the channel 'live' offers"),
      (["demote", "site", "P@2"], "P@2"), (["promote", "site", "P@2"], "P@2"),
      (["promote", "site", "Q@1"], "Q"),
      (["demote", "site", "P@1", "--channel", "beta"], "channel 'beta': not a channel of the site (channels: live)"),
      (["channels", "site", "--channel", "live", "--close"], "cannot be closed"),
      (["channels", "site", "--channel", "beta"], "channel 'beta': not a channel of the site (channels: live)"),
      (
        ["channels", "site", "--channel", "beta", "--close"],
        "channel 'beta': not a channel of the site (channels: live)"
      ),
      (["unpublish", "site", "P", "--channel", "beta"], "channel 'beta': not a channel of the site (channels: live)"),
    ] as [([String], String)] {
      let run = try playground.packstore(command + ["--key", "site.key"])
      #expect(run.status != 0 && run.errors.contains(expected), "\(command): \(run.errors)")
    }
    #expect(try offers() == ["1 100%"] && !playground.exists("site/roots/beta"))
  }

  @Test func aClosedChannelLeavesItsClientsWhatTheyHave() throws {
    try publish(1)
    try publish(2, "--channel", "beta")
    #expect(try pull("a", "--channel", "beta") == 2)
    try run(["channels", "site", "--channel", "beta", "--close", "--key", "site.key", "-q"])
    let closed = try playground.packstore("pull", "a", "site")
    #expect(closed.status == 1 && closed.errors.contains("channel 'beta' was closed"), "\(closed.errors)")
    #expect(try playground.packstore("cat", "a", "file").output == "version 2")
    #expect(try playground.packstore("pull", "b", "site", "--channel", "beta").status == 1)
    #expect(!playground.exists("b"))
    #expect(try run(["channels", "site"]).output.contains("(closed)"))
    #expect(try pull("a", "--channel", "live") == 1)
    // It can be opened again.
    try change("promote", 2, "--channel", "beta")
    #expect(try pull("a", "--channel", "beta") == 2)
  }

  /// Commands accept the earlier names of '--channel', which help does not show.
  @Test func earlierNamesOfChannelOptionsWork() throws {
    try publish(1)
    try publish(2, "--no-offer")
    try change("promote", 1, "--to", "beta")
    try change("promote", 2, "--to", "beta", "--share", "5%")
    #expect(try listing(of: "beta") == ["beta 1", "beta 2"])
    try change("demote", 2, "--from", "beta")
    #expect(try listing(of: "beta") == ["beta 1"])
    try run(["channels", "site", "--remove", "beta", "--key", "site.key", "-q"])
    #expect(try listing(of: "beta") == ["beta closed"])
    for (command, name) in [("promote", "--to"), ("demote", "--from"), ("channels", "--remove")] {
      let help = try run([command, "--help"]).output
      #expect(help.contains("  --channel ") && !help.contains(name), "\(command)")
    }
  }

  @Test func channelsListsOneChannel() throws {
    try publish(1)
    try publish(2, "--channel", "beta")
    #expect(try listing(of: "beta") == ["beta 2"])
    #expect(try listing(of: "live") == ["live 1"])
    #expect(try playground.packstore("channels", "site", "--channel", "other").status == 1)
    let lines = try run(["channels", "site", "--channel", "beta"]).lines
    #expect(lines.count == 2 && lines[1].hasPrefix("beta "), "\(lines)")
  }

  /// The channels of a listing with their versions, in order.
  private func listing(of channel: String) throws -> [String] {
    let bytes = try run(["channels", "site", "--channel", channel, "--json"]).bytes
    let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary
    let channels = try #require(document?["channels"] as? [NSDictionary])
    return channels.flatMap { item -> [String] in
      let name = item["channel"] as? String ?? ""
      let offers = (item["packs"] as? [NSDictionary] ?? []).flatMap { $0["offers"] as? [NSDictionary] ?? [] }
      let versions = offers.compactMap { $0["version"] as? Int }.sorted().map { "\(name) \($0)" }
      return item["closed"] as? Bool == true ? ["\(name) closed"] : versions
    }
  }

  // MARK: - Mirrors

  /// A mirror is copied in the documented order, and clients pull after each step: they get the old version or the new
  /// one.
  @Test func mirrorsAreCopiedInOrder() throws {
    try publish(1)
    try publish(1, "--channel", "beta")
    _ = try playground.shell("cp -R site mirror")
    try publish(2, "--keep", "1", "--grace", "0")
    try publish(3, "--channel", "beta", "--keep", "1", "--grace", "0")
    let folders = ["segments", "frames", "versions", "deltas", "changes", "attributes", "roots"]
    let gone =
      "cd mirror && find segments frames versions -type f | while read f; do [ -e ../site/$f ] || rm -v $f; done"
    for (index, step) in (folders.map { "cp -R site/\($0)/. mirror/\($0)/" } + ["cp site/root mirror/root", gone])
      .enumerated()
    {
      let run = try playground.shell(step)
      #expect(run.status == 0 && (step != gone || run.output.contains("removed")), "\(run.errors)")
      for (channel, newest) in [("live", 2), ("beta", 3)] {
        let version = try pull("m\(index)\(channel)", "--channel", channel, from: "mirror")
        #expect(version == (index < (channel == "live" ? 7 : 6) ? 1 : newest), "\(channel) after '\(step)'")
        #expect(try pull(channel, "--channel", channel, from: "mirror") == version)
      }
    }
  }

  // MARK: - Who is what

  /// A server that exchanges two roots is refused, also at first contact.
  @Test func exchangedRootsAreRefused() throws {
    try publish(1)
    try publish(2, "--channel", "beta")
    let server = try WebServer.nginx(playground, serving: "site")
    #expect(try pull("live", from: server.url) == 1)
    #expect(try pull("beta", "--channel", "beta", from: server.url) == 2)
    _ = try playground.shell("cd site && mv root x && mv roots/beta root && mv x roots/beta")
    for (device, more) in [
      ("live", []), ("new-live", []), ("beta", []), ("new-beta", ["--channel", "beta"]),
    ] as [(String, [String])] {
      let refused = try playground.packstore(["pull", device, server.url] + more)
      #expect(
        refused.status == 4 && refused.errors.contains("the root belongs to the channel"),
        "\(device): \(refused.errors)")
    }
    #expect(!playground.exists("new-live") && !playground.exists("new-beta"))
    #expect(try playground.packstore("cat", "live", "file").output == "version 1")
  }

  /// A release key for one channel cannot sign others; its publications leave the others unchanged.
  @Test func aKeyForAChannel() throws {
    try run(["keygen", "root.key"])
    try run(["delegate", "root.key", "live.key", "--channel", "live"])
    try run(["delegate", "root.key", "beta.key", "--channel", "beta"])
    func publish(_ version: Int, _ key: String, _ more: String...) throws -> Run {
      try playground.packstore(
        ["publish", "author", "site", "P@\(version)", "--key", key, "--deltas", "0", "--keep", "1", "-q"] + more)
    }
    #expect(try publish(1, "live.key").status == 0)
    let root = try playground.read("site/root")
    let refused = try publish(2, "beta.key")
    #expect(refused.status == 4 && refused.errors.contains("'live'"), "\(refused.errors)")
    #expect(try playground.packstore("promote", "site", "P@1", "--key", "beta.key").status == 4)
    #expect(try publish(2, "beta.key", "--channel", "beta", "--grace", "0").status == 0)
    #expect(try publish(3, "beta.key", "--channel", "beta", "--grace", "0").status == 0)
    #expect(try playground.read("site/root") == root)
    #expect(try pull("a") == 1, "what live offers is kept, whatever the other key drops")
    #expect(try pull("b", "--channel", "beta") == 3)
    let refreshed = try playground.packstore("refresh", "site", "--key", "beta.key")
    #expect(
      refreshed.status == 0 && refreshed.errors.contains("may not sign 'live', or a later"), "\(refreshed.errors)")
    #expect(try playground.read("site/root") == root)
    let all = try playground.packstore("unpublish", "site", "P", "--all", "--key", "beta.key")
    #expect(all.status == 4 && all.errors.contains("'live', which offers the pack"), "\(all.errors)")
    #expect(try playground.packstore("unpublish", "site", "P", "--channel", "beta", "--key", "beta.key").status == 0)
    #expect(try pull("a") == 1)
    // A key for all channels with an older delegation does not change a channel that a later delegation has.
    try run(["delegate", "root.key", "all.key"])
    try run(["delegate", "root.key", "beta.key"])
    #expect(try publish(3, "beta.key", "--channel", "beta").status == 0)
    let mixed = try playground.packstore("promote", "site", "P@3", "--key", "all.key")
    #expect(mixed.status == 0, "\(mixed.errors)")
    #expect(try playground.packstore("promote", "site", "P@3", "--channel", "beta", "--key", "all.key").status == 4)
    try run(["delegate", "root.key", "live.key"])
    // A device can switch between the channels in both directions, with any serials of their keys.
    #expect(try publish(3, "beta.key", "--channel", "beta").status == 0)
    #expect(try pull("a", "--channel", "beta") == 3 && pull("a", "--channel", "live") == 3)
    #expect(try publish(2, "live.key").status == 0)
    #expect(try pull("a") == 2)
  }

  // MARK: - Deltas and attributes

  @Test func deltasOfWhatWasPromoted() throws {
    var bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 2_654_435_761 >> 7) }
    try playground.write(bytes, to: "folder/big")
    try run(["add", "author", "folder", "--pack", "P", "--keep", "9"])
    bytes[150_000] ^= 1
    try playground.write(bytes, to: "folder/big")
    try run(["add", "author", "folder", "--pack", "P", "--keep", "9"])
    try publish(4)
    #expect(try pull("a") == 4)
    try publish(5, "--no-offer")
    try change("promote", 5)
    let made = try run(["deltas", "site", "--key", "site.key", "--json"]).json
    let list = try #require(made["deltas"] as? [NSDictionary])
    #expect(list.count == 1 && list[0]["from"] as? Int == 4 && list[0]["to"] as? Int == 5)
    let pulled = try run(["pull", "a", "site", "--json"]).json
    #expect((pulled["packs"] as? [NSDictionary])?.first?["delta_from"] as? Int == 4)
    // Another channel offers the existing version.
    try change("promote", 5, "--channel", "beta")
    #expect(try run(["deltas", "site", "--key", "site.key"]).output == "no delta is missing\n")
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
  }

  @Test func platformsComeFromTheSheet() throws {
    try playground.write(#"{"platforms":["macOS"],"appVersions":"2.0..."}"#, to: "attributes.json")
    try run(["attributes", "author", "P", "--set", "attributes.json"])
    try publish(3)
    try publish(4)
    #expect(try offers() == ["4 100% 2.0...", "3 100%"], "what the attributes say of the app is in the offer")
    #expect(try pull("a", "--platform", "iOS") == 3 && pull("b", "--platform", "macOS") == 4)
    #expect(try pull("c", "--platform", "macOS", "--app-version", "1.0") == 3)
    let sheets = playground.tree("site/attributes")
    #expect(sheets.count == 1)
    var bytes = try playground.read("site/attributes/\(sheets[0])")
    bytes[bytes.count - 1] ^= 1
    try playground.write(bytes, to: "site/attributes/\(sheets[0])")
    let damaged = try playground.packstore("pull", "d", "site", "--platform", "iOS")
    #expect(damaged.status == 7, "\(damaged.errors)")
  }
}
