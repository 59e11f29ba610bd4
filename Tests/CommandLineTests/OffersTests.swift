import Foundation
import Testing

/// The command that lists the offers of a site.
@Suite struct OffersTests {
  let playground = try! Playground()

  init() throws {
    try playground.write("content", to: "folder/file")
    try playground.write(
      #"{"downloadPolicy":{"essential":{"installationEventTypes":["firstInstallation"]}},"platforms":["iOS"]}"#,
      to: "attributes.json")
    try run("add", "author", "folder", "--pack", "P")
    try run("attributes", "author", "P", "--set", "attributes.json")
    try run("publish", "author", "site", "--key", "site.key", "--primary-language", "de", "-q")
    try run("promote", "site", "P@2", "--app-versions", "2.0...", "--key", "site.key", "-q")
  }

  @discardableResult
  private func run(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Run {
    let run = try playground.packstore(arguments)
    #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
    return run
  }

  private func pack(_ run: Run) throws -> NSDictionary { try #require((run.json["packs"] as? [NSDictionary])?.first) }

  /// Neither the store nor anything else is there afterwards.
  @Test func aStoreThatIsNotThereIsNotMade() throws {
    let before = playground.tree("")
    let offers = try run("offers", "device", "site")
    #expect(offers.lines.first == "PACK  VERSION  HERE  POLICY     PLATFORMS  LANGUAGE  DOWNLOAD  REFUSED  NEWEST")
    #expect(offers.lines.last?.hasPrefix("P           2        essential  iOS        de ") == true, "\(offers.output)")
    #expect(offers.errors.contains("a pull would trust the key"))
    let old = try run("offers", "device", "site", "--app-version", "1.0")
    #expect(
      old.lines.last?.split(separator: " ").joined(separator: " ") == "P none 2: app version 2: app version",
      "\(old.output)")
    #expect(playground.tree("") == before)
    let refused = try playground.packstore("offers", "folder", "site")
    #expect(refused.status == 1 && refused.errors.contains("packstore: "), "a folder that is no store")
  }

  @Test func aStoreSaysWhatItHas() throws {
    try run("pull", "device", "site", "-q")
    let before = playground.tree("")
    let offers = try run("offers", "device", "site", "--platform", "macOS", "--json")
    #expect(try pack(offers)["current"] as? Int == 2 && pack(offers)["version"] == nil)
    #expect(try pack(offers)["refusals"] as? [NSDictionary] == [["version": 2, "obstacle": "platform"]])
    #expect(try offers.errors.isEmpty && offers.json["first_contact"] as? Bool == false)
    #expect(playground.tree("") == before)
    #expect(try run("offers", "device", "site", "-q").lines.count == 2, "what was asked for")
  }

  @Test func refusalsHaveTheirStatus() throws {
    try run("keygen", "other.key")
    let other = try run("keygen", "other.key").output.trimmingCharacters(in: .newlines)
    for (arguments, status) in [
      (["site", "--trust", other], 4), (["nowhere"], 3), (["site", "--channel", "beta"], 3),
      (["site", "--max-age", "0s"], 4),
    ] as [([String], Int32)] {
      let run = try playground.packstore(["offers", "device"] + arguments)
      #expect(run.status == status && run.output.isEmpty, "\(arguments): \(run.errors)")
    }
    #expect(!playground.exists("device"))
  }
}
