import Foundation
import Testing

/// Attributes of versions on the command line.
@Suite struct AttributesTests {
  let playground = try! Playground()

  init() throws {
    try playground.write(String(repeating: "level ", count: 20_000), to: "folder/Levels/one.bin")
    try playground.write("text", to: "folder/text")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--priority", "5")
  }

  private func attributes(_ version: String = "P", in store: String = "store") throws -> NSDictionary {
    try playground.succeed("attributes", store, version, "--json").json
  }

  @Test func areSetAndShown() throws {
    #expect(try playground.succeed("attributes", "store", "P").output.contains("has no attributes"))
    #expect(try attributes()["canonical"] as? String == "{}")
    try playground.write(
      """
      // The tutorial comes with the app.
      { "language": "en", "downloadPolicy": { "essential": { "installationEventTypes": ["subsequentUpdate",
        "firstInstallation"] } }, "userInfo": { "b" : 1.50 /* */ } }
      """.replacingOccurrences(of: "/* */ ", with: ""), to: "set.json")
    #expect(
      try playground.succeed("attributes", "store", "P", "--set", "set.json").output.contains("P is at version 2"))
    let now = try attributes()
    #expect(now["version"] as? Int == 2 && now["user_info"] as? String == #"{ "b" : 1.50 }"#)
    #expect(
      (now["download_policy"] as? NSDictionary)?["events"] as? [String] == ["firstInstallation", "subsequentUpdate"])
    #expect(try attributes("P@1")["canonical"] as? String == "{}", "each version has its own")
    #expect(try playground.succeed("attributes", "store", "P", "--set", "set.json").output.contains("already"))
    // An update keeps them, and the pack's own priority.
    try playground.write("new", to: "folder/text")
    try playground.succeed("add", "store", "folder", "--pack", "P")
    #expect(try attributes()["canonical"] as? String == now["canonical"] as? String)
    #expect(try playground.succeed("log", "store").output.contains("P"))
    #expect(try playground.packstore("verify", "store", "--deep").status == 0)
  }

  /// Files to map are stored in a new layout, and the command reports the cost beforehand.
  @Test func costsAreSaid() throws {
    try playground.write(#"{"map":["*.bin"],"priority":7}"#, to: "set.json")
    let plan = try playground.succeed("attributes", "store", "P", "--set", "set.json", "--dry-run", "--json").json
    #expect(plan["laid_out_files"] as? Int == 1 && plan["laid_out_bytes"] as? Int == 120_000)
    #expect(try attributes()["version"] as? Int == 1, "nothing was changed")
    #expect(
      try playground.succeed("attributes", "store", "P", "--set", "set.json").output.contains(
        "1 file, 120.0 kB, to be mapped"))
    #expect(try playground.succeed("stat", "store", "--json").output.contains("P"))
    #expect(try playground.succeed("cat", "store", "Levels/one.bin").output.utf8.count == 120_000)
    let pack = try #require((playground.succeed("log", "store", "--json").json["packs"] as? [NSDictionary])?.first)
    #expect(pack["priority"] as? Int == 7)
  }

  /// The suggested remedy is an option of the command.
  @Test func aPackOfAnotherOrigin() throws {
    try playground.write(#"{"language":"de"}"#, to: "set.json")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    try playground.succeed("pull", "client", "site", "-q")
    let refused = try playground.packstore("attributes", "client", "P", "--set", "set.json")
    #expect(refused.status == 4 && refused.errors.contains("add --adopt to change its origin"), "\(refused.errors)")
    try playground.succeed("attributes", "client", "P", "--set", "set.json", "--adopt")
    #expect(try attributes(in: "client")["language"] as? String == "de")
    #expect(try playground.succeed("trust", "client", "--json").output.contains(#""kind":"local","packs":["P"]"#))
  }

  /// They travel with their version: by a site, an archive and a delta.
  @Test func travel() throws {
    try playground.write(#"{"language":"de"}"#, to: "set.json")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    try playground.succeed("pull", "pulled", "site", "-q")
    try playground.succeed("attributes", "store", "P", "--set", "set.json", "-q")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    try playground.succeed("pull", "pulled", "site", "-q")
    try playground.succeed("export", "store", "P", "-o", "P.pack", "--key", "key", "-q")
    try playground.succeed("import", "imported", "P.pack", "-q")
    for store in ["pulled", "imported"] {
      #expect(try attributes(in: store)["language"] as? String == "de", "\(store)")
    }
    try playground.write("new", to: "folder/text")
    try playground.succeed("add", "store", "folder", "--pack", "P", "-q")
    try playground.succeed("delta", "store", "P@2", "@3", "-o", "P.delta", "--key", "key", "-q")
    try playground.succeed("apply", "pulled", "P.delta", "-q")
    #expect(try attributes("P@3", in: "pulled")["language"] as? String == "de")
  }

  @Test func mistakes() throws {
    let cases: [(String, Int32, String)] = [
      ("{", 2, "set.json:1:2': "),
      (#"{"langage":"en"}"#, 2, "set.json:1:2': attributes have no member 'langage'; did you mean 'language'?"),
      ("{\n  \"priority\": 1.5 }", 2, "set.json:2:15': a priority is an integer"),
      (#"{"map":["["]}"#, 2, "set.json:1:"), (#"{"platforms":"iOS"}"#, 2, "set.json:1:14': it is no list"),
      (#"{"appVersions":"3..<2"}"#, 2, "set.json:1:16': "), ("[]", 2, "attributes are no object"),
      (#"{"downloadPolicy":{"essential":{"installationEventTypes":[]}}}"#, 2, "names no installation event"),
    ]
    for (text, status, error) in cases {
      try playground.write(text, to: "set.json")
      let run = try playground.packstore("attributes", "store", "P", "--set", "set.json")
      #expect(run.status == status && run.errors.contains(error), "\(run.status) \(run.errors)")
      #expect(try attributes()["version"] as? Int == 1)
    }
  }

  @Test(arguments: [
    (["attributes", "store", "Q"], 1, "pack 'Q': not in the store"),
    (["attributes", "store", "P@9"], 1, "version 'P@9': not kept"),
    (["attributes", "store", "P", "--set", "none"], 1, "none"),
    (["attributes", "store", "P", "--dry-run"], 2, "--set"),
    (["attributes", "store", "P@1", "--set", "set.json"], 2, "name the pack without a version"),
    (["attributes", "store", "Q", "--set", "set.json"], 1, "pack 'Q': not in the store"),
  ])
  func wrongUsage(_ arguments: [String], _ status: Int32, _ error: String) throws {
    try playground.write("{}", to: "set.json")
    let run = try playground.packstore(arguments)
    #expect(run.status == status && run.errors.contains(error), "\(run.status) \(run.errors)")
  }
}
