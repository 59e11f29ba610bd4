import Foundation
import Testing

/// `history`: the changes of a channel, their private texts, exports and erasures.
@Suite struct ChannelHistoryTests {
  let playground = try! Playground()

  init() throws {
    try playground.write("one", to: "folder/file")
    try playground.succeed("add", "author", "folder", "--pack", "P", "-q")
    try playground.succeed("publish", "author", "site", "--key", "key", "-q", "--note", "first release")
  }

  private func changes(_ options: String...) throws -> [NSDictionary] {
    let run = try playground.packstore(["history", "site", "--json"] + options)
    #expect(run.status == 0, "\(run.errors)")
    let report = try run.json
    return try #require(report["changes"] as? [NSDictionary])
  }

  @Test func notesAndBuildJobsAreShown() throws {
    let variables = [
      "GITHUB_RUN_ID": "7", "GITHUB_SERVER_URL": "https://git.example.com", "GITHUB_REPOSITORY": "a/b",
      "GITHUB_ACTOR": "robin", "GITHUB_SHA": "3fa9c07d12ab55",
    ]
    let run = try playground.packstore("refresh", "site", "--key", "key", "--note", "extended", environment: variables)
    #expect(run.status == 0, "\(run.errors)")
    let newest = try #require(try changes().first)
    #expect(newest["user"] as? String == "robin" && newest["note"] as? String == "extended")
    #expect(newest["job"] as? String == "https://git.example.com/a/b/actions/runs/7")
    #expect(newest["commit"] as? String == "3fa9c07d12ab55" && newest["private_part"] as? String == "known")
    #expect(try changes().last?["note"] as? String == "first release")
    let lines = try playground.succeed("history", "site").lines
    #expect(lines[0].hasPrefix("CHANGE") && lines[1].contains("robin  3fa9c07d12ab  extended"))
    #expect(lines.last == "live: \(lines.count - 2) changes, all checked against the root")
    #expect(
      try playground.succeed("history", "site", "--limit", "1").lines.last?.contains("the newest 1 checked") == true)
    let shown = try playground.succeed("history", "site", "--public").output
    #expect(!shown.contains("robin") && !shown.contains("extended"))
    #expect(try changes("--public").allSatisfy { $0["user"] == nil && $0["note"] == nil })
  }

  @Test func erasureAndExport() throws {
    try playground.succeed("refresh", "site", "--key", "key", "-q", "--note", "second")
    try playground.succeed("history", "site", "--all", "--export", "history.txt", "-q")
    #expect(try playground.text("history.txt").hasPrefix("packstore history 1\nroot "))
    #expect(try playground.packstore("history", "site", "--export", "history.txt").status == 1, "it exists")
    let count = try changes().count
    let plan = try playground.succeed("history", "site", "--erase", "1-\(count - 1)", "--dry-run").output
    #expect(plan.hasPrefix("would be erased: the private texts of 1"))
    try playground.succeed("history", "site", "--erase", "1-\(count - 1)", "-q")
    let states = try changes().map { $0["private_part"] as? String }
    #expect(states == ["known"] + Array(repeating: "missing", count: count - 1))
    #expect(try playground.shell("grep -rl 'first release' site").output == "")
    #expect(
      try playground.succeed("history", "site", "--erase", "all").output == "erased: the private texts of \(count)\n")
    try playground.succeed("verify", "site", "-q")
  }

  @Test func lostRecordsAreReported() throws {
    try playground.succeed("refresh", "site", "--key", "key", "-q")
    let last = try #require(try changes().last?["record"] as? String)
    try playground.remove("site/history/\(last)")
    for arguments in [["history", "site", "--json"], ["verify", "site", "--json"]] {
      let run = try playground.packstore(arguments)
      #expect(run.status == 7 && run.errors.contains("the record of change 1"), "\(run.errors)")
    }
    #expect(try playground.packstore("status", "site").output.contains("history/\(last): missing"))
  }

  @Test func wrongOptionsAreRefused() throws {
    for (arguments, reason) in [
      (["--limit", "0"], "at least 1"), (["--limit", "1", "--all"], "exclude each other"),
      (["--force"], "needs --export"),
      (["--dry-run"], "need --erase"), (["--erase", "3-1"], "not a number"), (["--erase", "0"], "not a number"),
      (["--erase", "1", "--public"], "--erase excludes"),
    ] {
      let run = try playground.packstore(["history", "site"] + arguments)
      #expect(run.status == 2 && run.errors.contains(reason), "\(arguments): \(run.errors)")
    }
    let served = try playground.packstore("history", "file://\(playground.path)/site", "--erase", "all")
    #expect(served.status == 2 && served.errors.contains("does not store private texts"), "\(served.errors)")
    #expect(try playground.packstore("history", "site", "--channel", "none").status == 1)
  }
}
