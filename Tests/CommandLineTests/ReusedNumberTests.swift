/// A site restored from a backup published other content under a number that devices have. Once, such a device updated no pack of the
/// site.

import Foundation
import Testing

@Suite struct ReusedNumberTests {
  let playground: Playground

  init() throws {
    playground = try Playground()
    try add("store", "P", "one")
    try add("store", "Q", "one")
    try publish("store")
    #expect(try playground.shell("cp -R site backup && cp -R store restored").status == 0)
    try add("store", "P", "two")
    try publish("store")
    try playground.succeed("pull", "device", "site", "-q")
    #expect(try playground.shell("rm -rf site && mv backup site").status == 0)
    try add("restored", "P", "another two")
    try add("restored", "Q", "two")
    try publish("restored")
  }

  private func add(_ store: String, _ pack: String, _ content: String) throws {
    try playground.write("\(pack) \(content)", to: "folder/\(pack)")
    _ = try playground.shell("rm -rf one && mkdir one && cp folder/\(pack) one/")
    try playground.succeed("add", store, "one", "--pack", pack, "-q")
  }

  private func publish(_ store: String) throws {
    try playground.succeed("publish", store, "site", "--key", "key", "--deltas", "0", "-q")
  }

  private func content(_ path: String) throws -> String { try playground.packstore("cat", "device", path).output }

  @Test(arguments: [["pull", "device", "site"], ["update", "device"], ["pull", "device", "site", "P", "Q"]])
  func otherPacksAreUpdated(_ command: [String]) throws {
    let dry = try playground.packstore(command + ["--dry-run"])
    #expect(dry.status == 1, "\(dry.errors)")
    #expect(try content("Q") == "Q one")
    let run = try playground.packstore(command)
    #expect(run.status == 1, "\(run.errors)")
    #expect(
      run.errors.contains(
        "P@2: the site offers other content under the number of a version in 'device'; not updated; ask the publisher for a"
          + " higher version number, or run 'packstore remove device P' and 'packstore pull device "), "\(run.errors)")
    #expect(run.errors.contains("site P'"), "\(run.errors)")
    #expect(try content("P") == "P two" && content("Q") == "Q two")
  }

  @Test func jsonReportsCodeAndOutcome() throws {
    let run = try playground.packstore("pull", "device", "site", "--json")
    let packs = try #require(run.json["packs"] as? [NSDictionary])
    #expect(packs.map { $0["outcome"] as? String } == ["reused_number", "updated"])
    #expect(run.status == 1 && run.errors.contains(#""code":"exists""#), "\(run.errors)")
  }

  /// Nothing else is there to update: the pull fails as a whole.
  @Test func onlyPackFails() throws {
    let run = try playground.packstore("pull", "device", "site", "P")
    #expect(run.status == 1, "\(run.errors)")
    #expect(
      run.errors.contains("version 'P@2': the site offers other content or attributes than this store has")
        && run.errors.contains("or remove the pack and pull it again"), "\(run.errors)")
  }

  @Test func removedPackIsPulledAgain() throws {
    try playground.succeed("remove", "device", "P", "-q")
    try playground.succeed("pull", "device", "site", "P", "-q")
    #expect(try content("P") == "P another two")
    try playground.succeed("pull", "device", "site", "-q")
  }

  @Test func higherNumberUpdatesAllDevices() throws {
    try add("restored", "P", "three")
    try publish("restored")
    try playground.succeed("pull", "device", "site", "-q")
    #expect(try content("P") == "P three" && content("Q") == "Q two")
  }
}
