import Foundation
import Testing

/// Packs on a site that its next publication no longer contains.
@Suite struct PruneTests {
  let playground = try! Playground()

  init() throws {
    for pack in ["A", "B", "C"] {
      try playground.write("the file of \(pack)", to: "\(pack)/\(pack).txt")
      try playground.succeed("add", "store", pack, "--pack", pack, "-q")
    }
    try playground.succeed("publish", "store", "site", "--key", "site.key", "-q")
  }

  private func publish(_ more: String...) throws -> Run {
    try playground.packstore(["publish", "store", "site", "--key", "site.key"] + more)
  }

  private func offered(_ channel: String = "live") throws -> [String] {
    let run = try playground.succeed("offers", "none", "site", "--channel", channel, "--json")
    return try #require(run.json["packs"] as? [NSDictionary]).compactMap { $0["pack"] as? String }
  }

  @Test func whatIsNotInTheSourceIsNamedAndStays() throws {
    try playground.succeed("remove", "store", "B", "-q")
    let run = try publish()
    #expect(run.status == 0 && run.errors.isEmpty)
    let note = "not in the source, and still offered by the channel live: B; '--prune' removes such packs"
    #expect(run.lines.contains(note), "\(run.output)")
    #expect(try offered() == ["A", "B", "C"])
    let report = try publish("--json").json
    #expect(report["extra"] as? [String] == ["B"] && report["pruned"] as? [String] == [])
    // Named packs say nothing of the others.
    #expect(try publish("A", "--json").json["extra"] as? [String] == [])
  }

  @Test func pruningWithdrawsThem() throws {
    try playground.succeed("pull", "device", "site", "-q")
    try playground.succeed("remove", "store", "B", "-q")
    let tree = playground.tree("site"), root = try playground.read("site/root")
    let plan = try publish("--prune", "--dry-run")
    let removed = "B would be removed from the channel live: the source does not contain it"
    #expect(plan.lines.first == removed, "\(plan.output)")
    #expect(
      plan.lines.contains("B@1 would leave the site") && plan.lines.contains("roots that would be replaced: live"))
    #expect(try publish("--prune", "--dry-run", "--json").json["pruned"] as? [String] == ["B"])
    #expect(try playground.tree("site") == tree && playground.read("site/root") == root)

    let run = try publish("--prune")
    #expect(
      run.status == 0 && run.lines.first == "removing B: the source does not contain it", "\(run.output)\(run.errors)")
    #expect(run.lines.contains("B is no longer offered by the channel live"))
    #expect(run.lines.contains("B@1 is no longer on the site"))
    #expect(try offered() == ["A", "C"])
    #expect(try playground.packstore("ls", "site").lines == ["A.txt", "C.txt"])
    #expect(try playground.packstore("verify", "site", "--deep").status == 0)
    let again = try publish("--prune", "--json").json
    #expect(again["unchanged"] as? Bool == true && again["pruned"] as? [String] == [])
    // Devices keep their versions.
    #expect(try playground.packstore("cat", "device", "B.txt").output == "the file of B")
  }

  @Test func manyAreRefused() throws {
    try playground.succeed("remove", "store", "A", "B", "-q")
    let root = try playground.read("site/root")
    let refusal = """
      packstore: 'site': the source lacks 2 packs of 3 that the channel 'live' offers: A, B; add --max-removed 100% if that is intended

      """
    for options in [["--dry-run"], [], ["--max-removed", "66%"]] {
      let run = try playground.packstore(["publish", "store", "site", "--key", "site.key", "--prune"] + options)
      #expect(run.status == 1 && run.errors == refusal && run.output.isEmpty, "\(run.errors)")
    }
    #expect(try playground.read("site/root") == root)
    #expect(try publish("--prune", "--max-removed", "67").status == 0)
    #expect(try offered() == ["C"])
  }

  /// An empty source is most likely the wrong one.
  @Test func anEmptySourceTakesNothingOff() throws {
    try playground.succeed("remove", "store", "A", "B", "C", "-q")
    #expect(try publish("--prune").status == 1)
    #expect(try offered() == ["A", "B", "C"])
    #expect(try publish("--prune", "--max-removed", "100%").status == 0)
    #expect(try offered().isEmpty)
  }

  @Test func otherChannelsGoOnOfferingThem() throws {
    try playground.succeed("publish", "store", "site", "--key", "site.key", "--channel", "beta", "-q")
    try playground.succeed("remove", "store", "B", "-q")
    let run = try publish("--prune", "--json").json
    #expect(run["pruned"] as? [String] == ["B"] && (run["dropped"] as? [NSDictionary])?.isEmpty == true)
    #expect(try run["changed_channels"] as? [String] == ["live"] && offered() == ["A", "C"])
    #expect(try offered("beta") == ["A", "B", "C"])
    try playground.succeed("pull", "tester", "site", "--channel", "beta", "-q")
    #expect(try playground.packstore("cat", "tester", "B.txt").output == "the file of B")
  }

  @Test func whatCannotBePruned() throws {
    #expect(try publish("A", "--prune").status == 2)
    #expect(try publish("--max-removed", "10").status == 2)
    #expect(try publish("--prune", "--no-offer").status == 2)
    try playground.succeed("export", "store", "A", "-o", "A.pack", "--key", "site.key", "-q")
    let archive = try playground.packstore("publish", "A.pack", "site", "--key", "site.key", "--prune")
    #expect(archive.status == 2 && archive.errors.contains("one archive"), "\(archive.errors)")
    #expect(try offered() == ["A", "B", "C"])
    // A folder of archives is a whole source.
    _ = try playground.shell("mkdir archives && mv A.pack archives")
    try playground.succeed("export", "store", "C", "-o", "archives/C.pack", "--key", "site.key", "-q")
    let report = try playground.succeed(
      "publish", "archives", "site", "--key", "site.key", "--prune", "--json"
    ).json
    #expect(try report["pruned"] as? [String] == ["B"] && offered() == ["A", "C"])
  }

  /// The word comes before the deltas: a site that is uploaded then lacks nothing.
  @Test func theRootIsSaidToBeSignedBeforeDeltas() throws {
    try playground.write("another file of A", to: "A/A.txt")
    try playground.succeed("add", "store", "A", "--pack", "A", "-q")
    let run = try publish()
    #expect(run.lines.first == "root signed: safe to upload; deltas follow", "\(run.output)")
    #expect(run.lines.contains { $0.hasPrefix("a delta leads from A@1 to 2") })
    try playground.succeed("rollback", "store", "A", "-q")
    #expect(try publish("--deltas", "0").lines.first?.hasPrefix("A@1, back from 2") == true)
  }
}
