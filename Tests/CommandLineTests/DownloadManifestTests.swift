import Foundation
import Testing

@Suite struct DownloadManifestTests {
  let playground = try! Playground()
  let base = "https://cdn.example.org/packs"

  init() throws {
    try playground.packstore("keygen", "key", "-q")
    try playground.write("one", to: "assets/one")
    try pack(
      "Tutorial", #""prefetch": {"installationEventTypes": ["firstInstallation"]}"#, #""userInfo": { "a" : 1.0 },"#)
    try pack("Level1", #""onDemand": {}"#, #""platforms": ["iOS", "visionOS"],"#)
  }

  /// An archive `NAME.pack`.
  private func pack(_ name: String, _ policy: String, _ more: String = "", version: Int = 1) throws {
    try playground.write(
      #"{"assetPackID": "\#(name)", "downloadPolicy": {\#(policy)}, \#(more) "sourceRoot": "assets", "fileSelectors": [{"file": "one"}]}"#,
      to: "\(name).json")
    let run = try playground.packstore(
      "package", "\(name).json", "-o", "\(name).pack", "--key", "key", "--force", "-q", "--version", "\(version)")
    try #require(run.status == 0, "\(run.errors)")
  }

  private func run(_ arguments: String...) throws -> Run { try playground.packstore(["download-manifest"] + arguments) }

  private func packs(_ file: String) throws -> [[String: Any]] {
    let root = try JSONSerialization.jsonObject(with: Data(playground.read(file))) as? [String: Any]
    return try #require(root?["assetPacks"] as? [[String: Any]])
  }

  private func byteCount(_ file: String) throws -> Int { try playground.read(file).count }

  /// The members and values that Apple's tool writes.
  @Test func createsApplesShape() throws {
    let made = try run("create", "Tutorial.pack", "Level1.pack", "--download-base-url", "\(base)/", "-o", "m.json")
    #expect(made.status == 0 && made.output.isEmpty, "\(made.errors)")
    #expect(
      try playground.text("m.json") == """
        {
          "assetPacks": [
            {
              "id": "Tutorial",
              "version": 1,
              "url": "https://cdn.example.org/packs/Tutorial",
              "downloadSize": \(byteCount("Tutorial.pack")),
              "downloadPolicy": { "prefetch": { "installationEventTypes": ["firstInstallation"] } },
              "userInfo": { "a" : 1.0 },
              "host": { "thirdParty": {} }
            },
            {
              "id": "Level1",
              "version": 1,
              "url": "https://cdn.example.org/packs/Level1",
              "downloadSize": \(byteCount("Level1.pack")),
              "downloadPolicy": { "onDemand": {} },
              "host": { "thirdParty": {} }
            }
          ]
        }

        """)
    #expect(try run("create", "Tutorial.pack", "--download-base-url", base, "-o", "m.json").status == 1, "it is there")
    let printed = try run("create", "Tutorial.pack", "--download-base-url", base, "-q")
    #expect(printed.lines.contains { $0.contains("\"Tutorial\"") } && printed.errors.isEmpty)
  }

  /// A device does not download a pack in another language. The manifest lacked the member, so every language was downloaded.
  @Test func languagesAreListed() throws {
    try pack("Texts", #""onDemand": {}"#, #""language": "de","#)
    _ = try run("create", "Texts.pack", "--download-base-url", base, "-o", "m.json", "-q")
    #expect(try packs("m.json").first?["language"] as? String == "de")
    #expect(try run("update", "m.json", "Texts.pack").errors == "Texts 1: unchanged\n")
  }

  @Test func platforms() throws {
    let run = try run(
      "create", "Tutorial.pack", "Level1.pack", "--download-base-url", base, "--platform", "macOS", "-o", "m.json")
    #expect(run.errors.contains("Level1 1: skipped"))
    #expect(try packs("m.json").map { $0["id"] as? String } == ["Tutorial"])
  }

  /// Other packs and unknown keys stay unchanged.
  @Test func updates() throws {
    _ = try run("create", "Tutorial.pack", "Level1.pack", "--download-base-url", base, "-o", "m.json", "-q")
    let text = try playground.text("m.json").replacing(#""version": 1,"#, with: #""version": 1, "later": [1.50],"#)
      .replacing("{\n  \"asset", with: "{\n  \"primaryLanguage\": \"en\",\n  \"asset")
    try playground.write(text, to: "m.json")
    #expect(try run("update", "m.json", "Tutorial.pack").errors == "Tutorial 1: unchanged\n")
    try playground.write("two", to: "assets/one")
    try pack("Tutorial", #""essential": {"installationEventTypes": ["subsequentUpdate"]}"#, version: 2)
    let planned = try run("update", "m.json", "Tutorial.pack", "--dry-run")
    #expect(planned.output.contains(#""version": 2"#))
    #expect(try playground.text("m.json").contains(#""version": 2"#) == false)
    #expect(try run("update", "m.json", "Tutorial.pack", "-q").status == 0)
    let now = try packs("m.json")
    #expect(now.map { $0["version"] as? Int } == [2, 1])
    #expect(now[0]["url"] as? String == "\(base)/Tutorial" && now[0]["userInfo"] == nil)
    #expect(try playground.text("m.json").contains(#""version": 1, "later": [1.50],"#))
    #expect(try playground.text("m.json").contains(#""primaryLanguage": "en""#))
    try pack("Tutorial", #""onDemand": {}"#, version: 1)
    let lower = try run("update", "m.json", "Tutorial.pack")
    #expect(lower.status != 0 && lower.errors.contains("version 2"), "\(lower.errors)")
    try pack("Level2", #""onDemand": {}"#)
    #expect(try run("update", "m.json", "Level2.pack").status != 0, "no URL is known")
    #expect(try run("update", "m.json", "Level2.pack", "--download-base-url", base, "-q").status == 0)
    #expect(try packs("m.json").count == 3)
  }

  /// A new archive with the same version and length but another policy or other user info: the manifest has the new
  /// values.
  @Test func termsChange() throws {
    let digits = { (number: Int) in #""userInfo": { "a" : \#(number) },"# }
    try pack("Tutorial", #""onDemand": {}"#, digits(1))
    _ = try run("create", "Tutorial.pack", "--download-base-url", base, "-o", "m.json", "-q")
    let size = try byteCount("Tutorial.pack")
    for (policy, number) in [("onDemand", 2), ("prefetch", 2)] {
      let events = policy == "onDemand" ? "" : #""installationEventTypes": ["firstInstallation"]"#
      try pack("Tutorial", #""\#(policy)": {\#(events)}"#, digits(number))
      #expect(try byteCount("Tutorial.pack") == size, "archives are padded")
      #expect(try run("update", "m.json", "Tutorial.pack").errors == "Tutorial 1: updated\n")
      let pack = try #require(try packs("m.json").first)
      #expect((pack["userInfo"] as? [String: Int])?["a"] == number)
      #expect((pack["downloadPolicy"] as? [String: Any])?.keys.first == policy)
      #expect(try run("update", "m.json", "Tutorial.pack").errors == "Tutorial 1: unchanged\n")
    }
  }

  /// An asset pack of Apple's does not know its version.
  @Test func assetPacksOfApples() throws {
    let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Reader").path
    _ = try playground.shell(
      "python3 -c \"import sys; sys.path.insert(0, '\(reader)'); import foreign_archives as f; sys.stdout.buffer.write(f.asset_pack())\" >one.aar"
    )
    let made = try run("create", "one.aar", "--download-base-url", base, "-o", "m.json", "-q")
    #expect(made.status == 0, "\(made.errors)")
    let pack = try #require(try packs("m.json").first)
    #expect(pack["version"] as? Int == 1)
    #expect(try pack["downloadSize"] as? Int == byteCount("one.aar"))
    #expect(try run("update", "m.json", "one.aar", "-q").status == 0)
    #expect(try packs("m.json").map { $0["version"] as? Int } == [1], "the same archive")
    // Another archive of the same length: only its bytes differ. A manifest without digests is not a proof.
    var bytes = try playground.read("one.aar")
    bytes[bytes.count - 1] ^= 1
    try playground.write(bytes, to: "other.aar")
    if try run("update", "m.json", "other.aar", "-q").status == 0 {
      #expect(try packs("m.json").map { $0["version"] as? Int } == [2])
    }
    let text = try playground.text("m.json").replacing(/,\s*"packstore": \{[^}]*\}/, with: "")
    try playground.write(text, to: "m.json")
    let before = try #require(try packs("m.json").first?["version"] as? Int)
    #expect(try run("update", "m.json", "one.aar", "-q").status == 0)
    #expect(try packs("m.json").map { $0["version"] as? Int } == [before + 1])
    _ = try playground.shell("tar cf plain.tar assets")
    #expect(try run("create", "plain.tar", "--download-base-url", base).status != 0)
  }

  @Test func hostileFiles() throws {
    _ = try run("create", "Tutorial.pack", "--download-base-url", base, "-o", "m.json", "-q")
    for text in [
      "", "[]", "{}", #"{"assetPacks": {}}"#, #"{"assetPacks": [{"id": "A"}]}"#, #"{"assetPacks": [1]}"#,
      #"{"assetPacks": [{"id": "A", "version": -1, "url": "u", "downloadSize": 1}]}"#,
      #"{"assetPacks": [{"id": "A", "version": 1e400, "url": "u", "downloadSize": 1}]}"#,
      #"{"assetPacks": [{"id":"A","version":1,"url":"u","downloadSize":1},{"id":"A","version":1,"url":"u","downloadSize":1}]}"#,
      String(repeating: "[", count: 100_000),
    ] {
      try playground.write(text, to: "bad.json")
      #expect(try run("update", "bad.json", "Tutorial.pack").status == 1, "\(text.prefix(60))")
      #expect(try playground.text("bad.json") == text)
    }
    let whole = try playground.read("Tutorial.pack")
    for place in stride(from: 600, to: whole.count, by: whole.count / 20) {
      var bytes = whole
      bytes[place] ^= 0x10
      try playground.write(bytes, to: "bad.pack")
      let run = try run("create", "bad.pack", "--download-base-url", base, "--json")
      #expect([0, 1, 4, 7].contains(run.status), "byte \(place): \(run.errors)")
      if run.status == 0 { #expect(run.output.contains("firstInstallation")) }
    }
  }

  @Test(arguments: ["http://cdn.example.org", "cdn.example.org/packs", "https://", "https://a/b?c=d", "file:///tmp"])
  func badURLs(_ url: String) throws {
    #expect(try run("create", "Tutorial.pack", "--download-base-url", url).status == 2)
  }
}
