import Foundation
import Testing

/// Publishers' notes on versions, and the origins of versions.
@Suite struct NoteTests {
  let playground = try! Playground()
  private static let secret = "git 3fa9c: Wächter überarbeitet"

  init() throws {
    try playground.write(noise(20_000, seed: 1), to: "folder/file")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.0", "--note", Self.secret)
    try playground.write(noise(20_000, seed: 2), to: "folder/file")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--label", "1.1")
    try playground.succeed("keygen", "key")
  }

  private func versions(_ store: String, _ arguments: String...) throws -> [NSDictionary] {
    let run = try playground.packstore(["log", store] + arguments + ["--json"])
    #expect(run.status == 0, "\(run.errors)")
    return try ((run.json["packs"] as? [NSDictionary])?.first?["versions"] as? [NSDictionary]) ?? []
  }

  private func notes(_ store: String) throws -> [String?] { try versions(store).map { $0["note"] as? String } }

  @Test func isShown() throws {
    let log = try playground.succeed("log", "store").lines
    #expect(log[0].hasSuffix("  NOTE") && log[2].hasSuffix("  \(Self.secret)") && log[1].hasSuffix(" kB"), "\(log)")
    #expect(try notes("store") == [nil, Self.secret])
    #expect(try versions("store")[1]["note_published"] as? Bool == false)
    #expect(try versions("store")[1]["installed_at"] == nil, "it was made here")
    try playground.succeed("rollback", "store", "P")
    #expect(try notes("store") == [Self.secret, nil])
  }

  /// Nothing that can be served, uploaded or given away has a byte of it.
  @Test func staysWithThePublisher() throws {
    try playground.succeed("publish", "store", "site", "P@1.0", "--key", "key", "-q")
    try playground.succeed("publish", "store", "site", "P@1.1", "--key", "key", "-q")
    try playground.succeed("export", "store", "P@1.0", "-o", "P.pack", "--key", "key", "-q")
    try playground.succeed("delta", "store", "P@1.0", "P@1.1", "-o", "P.delta", "--key", "key", "-q")
    try playground.succeed("strip", "site", "copy", "-q")
    try playground.succeed("extract", "store", "out", "-q")
    try playground.succeed("import", "other", "P.pack", "-q")
    try playground.write(
      #"{"assetPackID":"M","downloadPolicy":{"onDemand":{}},"sourceRoot":"folder","fileSelectors":[{"directory":"."}],"#
        + #""packstore":{"note":"\#(Self.secret)"}}"#, to: "Manifest.json")
    try playground.succeed("package", "Manifest.json", "-o", "M.pack", "--key", "key", "-q")
    try playground.succeed("publish", "Manifest.json", "site", "--key", "key", "-q")
    for place in ["site", "P.pack", "M.pack", "P.delta", "copy", "out", "other"] {
      let found = try playground.shell("grep -rlaE 'W.{1,2}chter|3fa9c|\"note\"' \(place)")
      #expect(found.status == 1 && found.output.isEmpty, "\(found.output)")
    }
    #expect(try playground.shell("grep -rla 3fa9c store").output == "store/installs\n")
    #expect(try notes("other") == [nil] && notes("site") == [nil], "a site lists the offered version")
    #expect(!playground.exists("site/installs") && !playground.exists("copy/installs"))
  }

  @Test func isPublishedWhereThatIsSaid() throws {
    try playground.write("3", to: "folder/file")
    let text = "fixes 17 \u{202e}\\"
    try playground.succeed("add", "store", "folder", "--pack", "P", "--note", text, "--publish-notes")
    try playground.succeed("publish", "store", "site", "--key", "key", "-q")
    try playground.succeed("pull", "device", "site", "-q")
    #expect(try notes("device") == [text])
    #expect(try versions("device")[0]["note_published"] as? Bool == true)
    #expect(try playground.succeed("log", "device").lines[1].hasSuffix(#"fixes 17 \u{202e}\\"#), "escaped")
    #expect(try playground.succeed("attributes", "device", "P").output.contains(#"note          fixes 17 \u{202e}"#))
    try playground.write(
      #"{"assetPackID":"M","downloadPolicy":{"onDemand":{}},"sourceRoot":"folder","fileSelectors":[{"directory":"."}],"#
        + #""packstore":{"note":"of the manifest"}}"#, to: "Manifest.json")
    try playground.succeed("package", "Manifest.json", "-o", "M.pack", "--key", "key", "-q", "--publish-notes")
    try playground.succeed("import", "device", "M.pack", "-q")
    #expect(try playground.succeed("attributes", "device", "M", "--json").json["note"] as? String == "of the manifest")
    try playground.succeed("publish", "Manifest.json", "site", "--key", "key", "-q", "--publish-notes", "--note", "2")
    #expect(try playground.succeed("attributes", "site", "M", "--json").json["note"] as? String == "2")
  }

  @Test func goesWithItsVersion() throws {
    for number in 3...4 {
      try playground.write("\(number)", to: "folder/file")
      try playground.succeed("add", "store", "folder", "--pack", "P", "--note", "note \(number)", "-q")
    }
    #expect(try notes("store") == ["note 4", "note 3"])
    #expect(try playground.shell("grep -c 3fa9c store/installs").output == "0\n")
    try playground.succeed("remove", "store", "P", "--keep-history", "-q")
    #expect(try notes("store") == ["note 4", "note 3"])
    try playground.succeed("remove", "store", "P", "-q")
    #expect(!playground.exists("store/installs"))
  }

  @Test func isRefused() throws {
    for (arguments, reason) in [
      (["add", "store", "folder", "--pack", "P", "--note", "a\nb"], "control characters or line breaks"),
      (["add", "store", "folder", "--pack", "P", "--note", ""], "it is empty"),
      (["add", "store", "folder", "--pack", "P", "--note", String(repeating: "x", count: 1001)], "1001 bytes"),
      (["add", "store", "folder", "--pack", "P", "--publish-notes"], "needs '--note'"),
      (["package", "M.json", "-o", "M.pack", "--note", "x"], "add --publish-notes"),
      (["publish", "store", "site", "--publish-notes"], "does not apply to 'store'"),
    ] {
      let run = try playground.packstore(arguments)
      #expect(run.status == 2 && run.errors.contains(reason), "\(arguments): \(run.errors)")
    }
  }

  // MARK: - Where versions came from

  @Test func whenceVersionsCame() throws {
    let key =
      try playground.succeed("publish", "store", "site", "P@1", "--key", "key", "--json")
      .json["public_key"] as? String
    let begin = Date(timeIntervalSinceNow: -2)
    try playground.succeed("pull", "device", "site", "-q")
    let pulled = try #require(try versions("device").first)
    #expect((pulled["from"] as? String)?.hasSuffix("/site") == true && pulled["channel"] as? String == "live")
    #expect(pulled["key"] as? String == key && pulled["note"] == nil)
    let date = try #require(pulled["installed_at"] as? String)
    #expect(try Date(date, strategy: .iso8601) >= begin)
    let lines = try playground.succeed("log", "device").lines
    #expect(lines[0].contains("  INSTALLED  ") && lines[0].hasSuffix("  FROM"), "\(lines)")
    #expect(lines[1].contains("  \(date)  \(key?.prefix(12) ?? "")  /") && lines[1].hasSuffix("/site"), "\(lines)")

    try playground.succeed("publish", "store", "site", "P@2", "--key", "key", "-q")
    try playground.succeed("update", "device", "-q")
    let updated = try versions("device")
    #expect(updated.count == 2 && updated[1]["installed_at"] as? String == date)
    // A repair keeps the store's records; a delta and an archive record their own place.
    try playground.succeed("repair", "device", "-q")
    #expect(try versions("device").map { $0["from"] as? String } == updated.map { $0["from"] as? String })
    try playground.succeed("export", "store", "P@1", "-o", "P.pack", "--key", "key", "-q")
    try playground.succeed("delta", "store", "P@1", "P@2", "-o", "P.delta", "--key", "key", "-q")
    try playground.succeed("import", "stick", "P.pack", "-q")
    try playground.succeed("apply", "stick", "P.delta", "-q")
    let stick = try versions("stick")
    #expect(stick.map { ($0["from"] as? String)?.hasSuffix(".pack") } == [false, true], "\(stick)")
    #expect(stick.allSatisfy { $0["key"] as? String == key && $0["channel"] == nil }, "\(stick)")
  }

  @Test func damagedRecordsAreSaid() throws {
    try playground.write("nonsense\n", to: "store/installs")
    let log = try playground.packstore("log", "store")
    #expect(log.status == 0 && log.errors.contains("'installs' is damaged"), "\(log.errors)")
    #expect(log.lines.count == 3)
    try playground.write("3", to: "folder/file")
    try playground.succeed("add", "store", "folder", "--pack", "P", "--note", "third")
    #expect(try playground.packstore("log", "store").errors.isEmpty)
  }
}
