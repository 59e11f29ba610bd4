/// Inputs of publishers that are likely to be mistakes.

import Foundation
import Testing

@testable import packstore_cli

@Suite struct PublisherMistakesTests {
  let playground: Playground

  init() throws {
    playground = try Playground()
    try playground.write("one", to: "folder/a")
    try playground.succeed("add", "Store", "folder", "--pack", "P", "-q")
    try playground.succeed("keygen", "key", "-q")
  }

  @Test func changedKeyFilesAreRead() throws {
    for (name, edit) in [("cr", #"sed 's/$/\r/'"#), ("end", "head -c -1"), ("both", #"sed 's/$/\r/' | head -c -2"#)] {
      #expect(try playground.shell("umask 077; cat key | \(edit) > \(name)").status == 0)
      try playground.succeed("publish", "Store", "Site", "--key", name, "--channel", name, "-q")
      let run = try playground.shell("KEY=\"$(cat \(name))\" packstore refresh Site --key env:KEY -q")
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  @Test func faultOfKeyFileIsNamed() throws {
    #expect(try playground.shell("umask 077; head -1 key > short").status == 0)
    let run = try playground.packstore("publish", "Store", "Site", "--key", "short")
    #expect(
      run.status == 4
        && run.errors.hasPrefix("packstore: 'short': not a secret key: its second line is missing"))
    for command in [["delegate", "short", "new"], ["rotate", "short", "new"], ["keygen", "short"]] {
      let run = try playground.packstore(command)
      #expect(run.status == 4 && run.errors.contains("its second line is missing"), "\(command): \(run.errors)")
    }
    let variable = try playground.packstore("publish", "Store", "Site", "--key", "env:KEY", environment: ["KEY": "x"])
    #expect(variable.status == 4 && variable.errors.contains("its first line is not 'packstore secret key 1'"))
  }

  @Test func storeWithoutPacksIsRefused() throws {
    try playground.makeFolder("nothing")
    try playground.succeed("add", "Empty", "nothing", "--pack", "X", "--allow-empty", "-q")
    try playground.succeed("remove", "Empty", "X", "-q")
    for more in [[], ["--dry-run"], ["--no-offer"], ["--prune", "--max-removed", "100%"]] {
      let run = try playground.packstore(["publish", "Empty", "Site", "--key", "key"] + more)
      #expect(run.status == 1 && run.errors.contains("'Empty': the store has no packs"), "\(run.errors)")
      #expect(!playground.exists("Site"))
    }
    try playground.succeed("publish", "Empty", "Site", "--key", "key", "--allow-empty", "-q")
  }

  @Test func clockBeforeReleaseIsRefused() throws {
    let old = Date(timeIntervalSince1970: 86_400)
    let error = #expect(throws: Failure.self) { _ = try ClockOption.check(old, isAllowed: false) }
    #expect(error?.code == .invalidArgument && error?.finding.contains("1970-01-02") == true)
    #expect(try ClockOption.check(old, isAllowed: true)?.contains("before the release of this program") == true)
    #expect(try ClockOption.check(Date(timeIntervalSince1970: ClockOption.releaseTime), isAllowed: false) == nil)
  }

  @Test func rootNewerThanClockIsReported() {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    #expect(ClockOption.warning(lastRoot: nil, now: now) == nil)
    #expect(ClockOption.warning(lastRoot: now + 60, now: now) == nil)
    let text = ClockOption.warning(lastRoot: now + 86_400, now: now)
    #expect(text?.contains("the site's last root was made on 2027-01-16") == true, "\(text ?? "")")
  }
}
