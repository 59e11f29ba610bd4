import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// S2, X11, U4: `packstore simulate` and `packstore url-override`, against servers of this machine.
@Suite struct SimulateTests {
  let playground = try! Playground()

  private func group() throws -> AgentGroup {
    for (pack, policy) in [("Base", "essential"), ("Extra", "prefetch")] {
      try playground.write(noise(150_000, seed: UInt64(pack.utf8.count)), to: "packs/\(pack)/\(pack)")
      try playground.write(AgentGroup.attributes(policy), to: "packs/\(pack).json")
    }
    return try AgentGroup(playground)
  }

  private func schema() throws -> JSONSchema {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Docs/schemas/simulate.json")
    return JSONSchema(root: try JSON(Data(contentsOf: file)))
  }

  /// The lines of a simulation conform to the schema, the network is the requested one, and the group does not change.
  @Test func plays() throws {
    let group = try group(), schema = try schema()
    try playground.succeed("agent", "event", "Game.plist", "periodic", "-q")
    let before = playground.tree("group")
    let run = try playground.packstore(
      "simulate", "install", "Game.plist", "--network", "200kbps,latency=100ms,loss=5%", "--json")
    #expect(run.status == 0, "\(run.errors)")
    var seen: Set<String> = []
    for line in run.lines { #expect(schema.faults(of: try JSON(line.utf8), seen: &seen) == [], "\(line)") }
    let names: Set = ["target", "range", "status", "stalls", "bytes", "seconds", "fetches", "launchable_seconds"]
    #expect(names.subtracting(seen) == [])
    let end = try #require(try run.jsonLines.last)
    #expect(end["kind"] as? String == "end" && end["left"] as? [NSDictionary] == [])
    #expect(playground.tree("group") == before)
    // The group had looked for packs before, and has them.
    #expect(end["finished"] as? [String] == [])
    withExtendedLifetime(group) {}
  }

  /// The output for people, and the status, if some packs cannot be downloaded.
  @Test func text() throws {
    let group = try group()
    let run = try playground.packstore("simulate", "install", "Game.plist", "--network", "metered")
    #expect(run.status == 1 && run.errors.contains("not all packs were installed: Extra"), "\(run.errors)")
    for part in [
      "Base@2 (essential): is downloaded for install\n", "Base@2 is installed after ",
      "the app can start: installed Base\n",
      "Extra is deferred: the network is metered\n", "/site/root", "1 pack installed in ",
    ] { #expect(run.output.contains(part), "\(part) in \(run.output)") }
    let none = try playground.packstore("simulate", "periodic", "Game.plist", "--network", "none")
    #expect(none.status == 1 && none.output.contains("the event was not handled"))
    let place = try playground.succeed("simulate", "install", "Game.plist", "--in-place", "-q")
    #expect(place.output == "" && playground.tree("group/store/segments").count > 1)
    let list = try playground.succeed("simulate", "--list", "./group")
    #expect(list.output.contains("  app        com.example.game") && list.output.contains("  essential  Base\n"))
    withExtendedLifetime(group) {}
  }

  @Test(arguments: [
    ["simulate"], ["simulate", "install"], ["simulate", "launch", "g"], ["simulate", "install", "none.plist"],
    ["simulate", "install", "g", "--network", "fast"], ["simulate", "install", "g", "--clock", "+3"],
    ["simulate", "install", "g", "--in-place", "--clock", "+3d"], ["simulate", "install", "g", "--disk-free", "x"],
    ["simulate", "--list", "a", "b"], ["url-override", "set"], ["url-override", "set", "a", "b"],
    ["url-override", "clear", "--for", "2h"], ["url-override", "set", "https://a", "--for", "0"],
    ["url-override", "set", "https://a", "--for", "400d"], ["url-override", "begin"],
    ["url-override", "set", "https://a", "--trust", "key"], ["url-override", "set", "gopher://a", "--group", "g"],
  ]) func usage(arguments: [String]) throws {
    let run = try playground.run(arguments, ["XDG_DATA_HOME": "\(playground.path)/data"])
    #expect([1, 2].contains(run.status) && run.output == "", "\(run.errors)")
  }

  /// A group that is not there is called that, and is not made.
  @Test(arguments: [
    ["simulate", "--list", "g"], ["simulate", "install", "g"], ["url-override", "status", "--group", "g"],
    ["url-override", "clear", "--group", "g"], ["agent", "g", "--once"], ["agent", "g", "--wait-essential"],
  ]) func noGroup(arguments: [String]) throws {
    let run = try playground.run(arguments, ["XDG_DATA_HOME": "\(playground.path)/data"])
    #expect(run.status != 0 && run.errors.contains("group 'g': does not exist"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: "\(playground.path)/data"))
  }

  /// A group can be overridden before one of its apps was launched. A site that does not answer changes nothing.
  @Test func overridesOfNewGroups() throws {
    try playground.write("a", to: "packs/Base/Base")
    try playground.succeed("add", "S", "packs/Base", "--pack", "Base", "-q")
    try playground.succeed("publish", "S", "Site", "--new-key", "--key", "site.key", "-q")
    let environment = ["XDG_DATA_HOME": "\(playground.path)/data"]
    func override(_ url: String) throws -> Run {
      try playground.run(["url-override", "set", url, "--group", "g", "--for", "1h"], environment)
    }
    let missing = try override("file://\(playground.path)/none")
    #expect(missing.status != 0 && missing.output == "" && !playground.exists("data"))
    let set = try override("file://\(playground.path)/Site")
    #expect(set.status == 0 && set.output.hasSuffix("the site offers Base@1\n"), "\(set.errors)")
    #expect(playground.exists("data/packstore/g/override"))
  }

  /// An override sends an app and the agent to another server, with a certificate that its authority alone vouches for, and back.
  @Test func overrides() throws {
    let group = try group()
    // The desk has another key, other packs, and TLS.
    try playground.write("desk", to: "desk/Base/Base")
    try playground.write(AgentGroup.attributes("essential"), to: "desk.json")
    let key = try playground.succeed("keygen", "desk.key").output.trimmingCharacters(in: .whitespacesAndNewlines)
    try playground.succeed("add", "desk-store", "desk/Base", "--pack", "Base", "-q")
    try playground.succeed("attributes", "desk-store", "Base", "--set", "desk.json", "-q")
    try playground.makeFolder("tls")
    try playground.succeed("publish", "desk-store", "tls/site", "--key", "desk.key", "-q")
    let made = try playground.shell(
      """
      openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.pem -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 2>/dev/null
      """)
    #expect(made.status == 0)
    let server = try WebServer.nginx(
      playground, serving: "tls",
      "ssl_certificate \(playground.path)/tls.pem; ssl_certificate_key \(playground.path)/tls.key;", hasTLS: true)
    let url = server.url.replacing("http:", with: "https:") + "/site"

    try playground.succeed("agent", "Game.plist", "--wait-essential", "-q")
    let before = try playground.shell("cd group && find . -type f ! -name '*.lock' | sort | xargs sha256sum").output
    // Host and port are enough: the site is where 'packstore serve' offers it.
    let set = try playground.succeed(
      "url-override", "set", url.replacing("/site", with: ""), "--group", "Game.plist", "--ca", "tls.pem", "--trust",
      key,
      "--for", "1h")
    #expect(set.output.contains("packs come from \(url) until ") && set.output.hasSuffix("the site offers Base@2\n"))
    let mode = try playground.shell("stat -c %a group/override").output
    #expect(mode == "600\n")
    #expect(try !playground.text("group/override").contains("PRIVATE"))
    let other = try playground.succeed("agent", "Game.plist", "--wait-essential")
    #expect(other.output.contains("the packs of the group come from \(url)"), "\(other.output)")
    let store = try #require(
      try playground.succeed("url-override", "--group", "Game.plist", "--json").json["store"] as? String)
    #expect(try playground.succeed("cat", store, "Base").output == "desk")
    let after = try playground.shell(
      "cd group && find . -type f ! -name '*.lock' ! -path './override*' | sort | xargs sha256sum"
    ).output
    #expect(after == before, "nothing of the real store changes")
    // Without the authority the server is not trusted.
    let refused = try playground.packstore("url-override", "set", url, "--group", "Game.plist", "--trust", key)
    #expect(refused.status == 3 && refused.output == "")
    #expect(try playground.succeed("url-override", "--group", "Game.plist").output.contains("packs come from \(url)"))
    try playground.succeed("url-override", "set", url, "--group", "Game.plist", "--trust", key, "--no-check", "-q")
    #expect(try playground.packstore("agent", "Game.plist", "--wait-essential", "-q").status != 0)
    try playground.succeed("url-override", "clear", "--group", "Game.plist", "-q")
    let back = try playground.succeed("agent", "Game.plist", "--wait-essential")
    #expect(!back.output.contains(url))
    #expect(playground.tree("group/overrides") == [])
    withExtendedLifetime(group) {}
  }
}
