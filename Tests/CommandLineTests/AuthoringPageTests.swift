import Foundation
import Testing

/// Runs the commands of `Docs/Authoring.md`.
@Suite struct AuthoringPageTests {
  let playground = try! Playground()

  private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Docs/Authoring.md")

  /// The commands of the page, block by block.
  private static func blocks() throws -> [String] {
    try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```sh\n").dropFirst().map {
      String($0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex))
    }
  }

  private func version(_ device: String) throws -> Int {
    let packs = try playground.packstore("log", device, "Game", "--json").json["packs"] as? [NSDictionary]
    return (packs?.first?["versions"] as? [NSDictionary])?.first?["version"] as? Int ?? 0
  }

  @Test func theWalkWorks() throws {
    for (index, name) in ["levels/1.map", "levels/2.map", "music/theme.ogg", "source/art.psd"].enumerated() {
      try playground.write((0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* ($0 >> 3) &+ index) }, to: "Game/\(name)")
    }
    try playground.makeFolder("Site")
    let server = try WebServer.nginx(playground, serving: "Site")
    let program = packstoreURL.deletingLastPathComponent().path
    var seen: [String] = []
    for block in try Self.blocks() {
      let setting = "set -e; export SITE=\(server.url) PATH='\(program)':\"$PATH\"\n"
      let run = try playground.shell(setting + block)
      #expect(run.status == 0, "\(block)\(run.errors)")
      #expect(!run.errors.contains("Manifest.json:"), "nothing is wrong with the manifest of the page")
      guard playground.exists("Old"), playground.exists("New") else { continue }
      seen.append("\(try version("Old")) \(try version("New"))")
    }
    #expect(seen.prefix(2) == ["1 1", "1 1"], "until it is promoted")
    #expect(seen[3] == seen[2], "halted: who has it keeps it")
    #expect(seen.dropFirst(4) == ["2 2", "2 3", "2 2", "2 2"])
    #expect(try version("Tester") == 2 && version("Developer") == 3)
    #expect(try playground.packstore("ls", "Old").output.contains("levels/") && !playground.exists("Old/source"))
    #expect(try !playground.packstore("ls", "Old", "-R").output.contains("art.psd"))
    #expect(try playground.packstore("verify", "Site", "--deep").status == 0)
  }
}
