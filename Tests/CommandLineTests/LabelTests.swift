import Foundation
import Testing

/// Names that publishers give to versions.
@Suite struct LabelTests {
  let playground: Playground

  /// A pack at its second version, 1.1, after 1.0.
  init() throws {
    playground = try Playground()
    for label in ["1.0", "1.1"] {
      try playground.write("version \(label)", to: "folder/file")
      try playground.succeed("add", "store", "folder", "--pack", "P", "--label", label, "--priority", "3")
    }
  }

  private func labels(of store: String = "store") throws -> [String?] {
    let packs = try playground.succeed("log", store, "P", "--json").json["packs"] as? [NSDictionary]
    return (packs?.first?["versions"] as? [NSDictionary] ?? []).map { $0["label"] as? String }
  }

  private func number(of store: String = "store") throws -> Int? {
    try playground.succeed("attributes", store, "P", "--json").json["version"] as? Int
  }

  @Test func nameVersions() throws {
    #expect(try labels() == ["1.1", "1.0"])
    let log = try playground.succeed("log", "store").lines
    #expect(log[0].hasPrefix("VERSION  LABEL  STATE") && log[2].hasPrefix("P@1      1.0"), "\(log)")
    #expect(try playground.succeed("attributes", "store", "P@1.0").output.contains("label         1.0"))
    #expect(try playground.succeed("rollback", "store", "P@1.0").output.hasPrefix("P@1 is current, from 2"))
    #expect(try playground.succeed("cat", "store", "file").output == "version 1.0")
    #expect(try labels() == ["1.0", "1.1"], "a version keeps it")
    let diff = try playground.succeed("diff", "store", "P@1.0", "@1.1", "--json").json
    #expect((diff["differences"] as? [NSDictionary])?.count == 1)
  }

  @Test func nextVersionHasNone() throws {
    try playground.succeed("add", "store", "folder", "--pack", "P")
    #expect(try number() == 2 && labels().first == "1.1", "nothing changed, and so does the label")
    try playground.write("more", to: "folder/more")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--map", "*.bin")
    #expect(try number() == 3 && labels() == [nil, "1.1"])
    let now = try playground.succeed("attributes", "store", "P", "--json").json
    #expect(now["canonical"] as? String == "{}", "only the label is left out")
  }

  @Test func otherLabelIsAnotherVersion() throws {
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.1")
    #expect(try number() == 2)
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.1-final")
    #expect(try number() == 3 && labels() == ["1.1-final", "1.1"])
    #expect(try playground.packstore("verify", "store", "--deep").status == 0)
  }

  /// The label of neither the current version nor an earlier one.
  @Test(arguments: ["1.0", "1.1"]) func isNotGivenTwice(_ label: String) throws {
    try playground.write("new", to: "folder/new")
    let before = try playground.succeed("ls", "store").output
    let add = try playground.packstore("add", "store", "folder", "--pack", "P", "--label", label)
    #expect(
      add.status == 1 && add.errors.contains("the label '\(label)' belongs to version \(label == "1.0" ? 1 : 2)"),
      "\(add.errors)")
    try playground.write(#"{"label":"\#(label)","priority":9}"#, to: "set.json")
    let set = try playground.packstore("attributes", "store", "P", "--set", "set.json")
    #expect(set.status == 1 && set.errors.contains("the label '\(label)' belongs to version"), "\(set.errors)")
    #expect(try number() == 2 && playground.succeed("ls", "store").output == before)
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.2")
    #expect(try labels() == ["1.2", "1.1"])
  }

  @Test(arguments: ["12", "current", "previous", "", "a b", "é", String(repeating: "x", count: 65)])
  func isRefused(_ label: String) throws {
    let run = try playground.packstore("add", "store", "folder", "--pack", "P", "--label", label)
    #expect(run.status == 2 && run.errors.contains("invalid label"), "\(run.errors)")
  }

  @Test func unknownLabelIsSaid() throws {
    let run = try playground.packstore("pin", "store", "P@2.0")
    #expect(
      run.status == 1 && run.errors.contains("pack 'P': no kept version has the label '2.0' (labels: 1.1, 1.0)"),
      "\(run.errors)")
    #expect(try playground.packstore("pin", "store", "P@a/b").status == 2)
  }

  // MARK: - Sites

  private func manifest(_ extras: String) throws {
    try playground.write(
      #"{"assetPackID":"P","downloadPolicy":{"onDemand":{}},"sourceRoot":"folder","fileSelectors":[{"directory":"."}],"#
        + #""packstore":{\#(extras)}}"#, to: "Manifest.json")
  }

  @Test func goToDevices() throws {
    try playground.succeed("keygen", "key")
    try manifest(#""label":"2.0""#)
    try playground.succeed("publish", "Manifest.json", "site", "--key", "key")
    try playground.succeed("publish", "Manifest.json", "site", "--key", "key")
    #expect(try labels(of: "site") == ["2.0"], "the same again is no version")
    try playground.write("3", to: "folder/file")
    let refused = try playground.packstore("publish", "Manifest.json", "site", "--key", "key")
    #expect(refused.status == 1 && refused.errors.contains("the label '2.0' belongs to version 1"), "\(refused.errors)")
    try playground.succeed("publish", "Manifest.json", "site", "--key", "key", "--label", "2.1")
    try playground.succeed("promote", "site", "P@2.0", "--channel", "beta", "--key", "key")
    try playground.succeed("pull", "device", "site", "P")
    #expect(try labels(of: "device") == ["2.1"])
    try playground.succeed("pull", "tester", "site", "P", "--channel", "beta")
    #expect(try labels(of: "tester") == ["2.0"])
  }

  @Test func goIntoArchives() throws {
    try playground.succeed("keygen", "key")
    try manifest(#""priority":1"#)
    try playground.succeed("package", "Manifest.json", "-o", "1.pack", "--key", "key", "--label", "2.0")
    try playground.write("2", to: "folder/file")
    let refused = try playground.packstore(
      "package", "Manifest.json", "-o", "2.pack", "--key", "key", "--previous", "1.pack", "--label", "2.0")
    #expect(refused.status == 1 && refused.errors.contains("the label '2.0' belongs to version 1"), "\(refused.errors)")
    try playground.succeed(
      "package", "Manifest.json", "-o", "2.pack", "--key", "key", "--previous", "1.pack", "--label", "2.1")
    try playground.succeed("import", "device", "1.pack")
    try playground.succeed("import", "device", "2.pack")
    #expect(try labels(of: "device") == ["2.1", "2.0"])
    #expect(try playground.succeed("cat", "device", "file").output == "2")
  }

  /// A device may hold two versions with one label, of a publisher who gave it twice: their numbers tell them apart.
  @Test func ambiguousLabelIsSaid() throws {
    try playground.succeed("keygen", "key")
    try manifest(#""label":"2.0""#)
    for content in ["1", "2"] {
      try playground.write(content, to: "folder/file")
      try playground.succeed(
        "package", "Manifest.json", "-o", "\(content).pack", "--key", "key", "--version", content)
      try playground.succeed("import", "device", "\(content).pack")
    }
    let run = try playground.packstore("pin", "device", "P@2.0")
    #expect(
      run.status != 0 && run.errors.contains("the label of P@2 and P@1; name the version by its number"),
      "\(run.errors)")
  }
}
