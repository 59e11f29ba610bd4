import ArgumentParser
import Foundation
import Testing

@testable import packstore_cli

/// The command lines of Apple's tools, with links that have the tools' names.
@Suite struct AppleToolTests {
  let playground = try! Playground()

  init() throws {
    for tool in AppleTool.allCases { try playground.link(tool.rawValue, to: packstoreURL.path) }
    try playground.write(noise(40_000), to: "Videos/Introduction.m4v")
    try playground.write("text", to: "Texts/welcome.txt")
    try playground.write(
      #"""
      { "assetPackID": "Tutorial",
        "downloadPolicy": { "essential": { "installationEventTypes": [ "firstInstallation" ] } }, // a comment
        "fileSelectors": [ { "file": "Videos/Introduction.m4v" }, { "directory": "Texts" } ],
        "platforms": [ "iOS", "macOS", "tvOS", "visionOS" ] }
      """#, to: "Tutorial.json")
  }

  private func run(_ line: String) throws -> Run { try playground.shell("PATH=.:$PATH; \(line)") }

  private func succeed(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Run {
    let run = try run(line)
    #expect(run.status == 0, "\(line): \(run.errors)", sourceLocation: sourceLocation)
    return run
  }

  /// Each line in Apple's documents and talks is a valid command line of the program, by either name.
  @Test(arguments: [
    "ba-package template", "ba-package template -o Manifest.json", "ba-package Tutorial.json -o Tutorial.aar",
    "ba-package Tutorial.json --output-path Tutorial.aar", "ba-package package Tutorial.json -o Tutorial.aar -q",
    "ba-package package Tutorial.json --output-path Tutorial.aar --verbose", "ba-package evaluate Tutorial.json",
    "ba-package convert --asset-pack-id X -l en-US --on-demand in.vdf -o out.json",
    "ba-package download-manifest create a.aar b.aar --asset-pack-versions 1 2 --ios --download-base-url https://c.d/e -o m.json",
    "ba-package download-manifest create a.aar --download-base-url https://c.d/e --macos --tvos --visionos",
    "ba-package download-manifest update m.json --asset-pack-paths x.aar",
    "ba-serve x.aar --host 192.168.1.2 --port 443", "ba-serve serve x.aar y.aar --host localhost",
    "ba-serve x.aar y.aar --asset-pack-versions 3 4 --choose-identity-automatically",
    "ba-serve x.aar --host localhost --identity-path cert.pem --identity-path key.pem",
    "ba-serve --identity-path cert.pem --identity-path key.pem --port 9000 x.aar",
    "ba-serve url-override https://localhost:8443", "ba-serve url-override --clear",
  ])
  func documentedCommandLinesAreAccepted(line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let tool = try #require(AppleTool(program: "/usr/local/bin/\(words[0])"))
    let arguments = tool.arguments(Array(words.dropFirst()))
    let command = try Packstore.parseAsRoot(arguments)
    #expect(tool.commands.contains(type(of: command)._commandName), "\(arguments)")
    // The same line with the program's own name, except for the default command.
    if tool.commands.contains(words[1]) { _ = try Packstore.parseAsRoot(Array(words.dropFirst())) }
  }

  @Test(arguments: [
    ("packstore", nil), ("ba-package", AppleTool.package), ("./ba-serve", .serve), ("/opt/bin/ba-package", .package),
    ("", nil), ("ba-package.bak", nil), ("/ba-serve/packstore", nil),
  ])
  func namesOfTools(path: String, tool: AppleTool?) { #expect(AppleTool(program: path) == tool) }

  @Test func unknownCommandsAreFilesOfTheDefaultCommand() throws {
    #expect(AppleTool.package.arguments(["--verbose", "M.json"]) == ["package", "--verbose", "M.json"])
    #expect(AppleTool.serve.arguments([""]) == [""])
    let signed = ["url-override", "https://localhost:8443", "--trust", "k"]
    #expect(AppleTool.serve.arguments(signed) == signed, "a key is required, so unsigned packs are not accepted")
    #expect(AppleTool.serve.arguments(["url-override", "status"]) == ["url-override", "status"])
    let missing = try run("ba-package none.json -o a.aar")
    #expect(missing.status == 1 && missing.errors.contains("none.json"), "\(missing.errors)")
    #expect(try run("ba-package Tutorial.json -o a.zip").status == 2)
    #expect(try run("ba-package foundation-models package").status == 2)
  }

  @Test func helpVersionAndLicense() throws {
    for tool in AppleTool.allCases.map(\.rawValue) {
      for words in ["", "--help", "-h", "help"] {
        #expect(try succeed("\(tool) \(words)").output.contains("the syntax of Apple's \(tool)"))
      }
      #expect(try succeed("\(tool) --version").output == "\(packstoreVersion)\n")
    }
    #expect(try succeed("ba-package help package").output.contains("OVERVIEW"))
    for word in ["read", "agree"] { #expect(try succeed("ba-package license \(word)").output.contains("no license")) }
  }

  /// From the template to a download manifest, with the tools' command lines alone.
  @Test func packsAreMadeByApplesCommandLines() throws {
    #expect(try succeed("ba-package template").output.contains("assetPackID"))
    #expect(try succeed("ba-package evaluate Tutorial.json").output.contains("Videos/Introduction.m4v"))
    _ = try succeed("ba-package Tutorial.json -o Tutorial.aar")
    let again = try run("ba-package Tutorial.json -o Tutorial.aar")
    #expect(again.status == 1 && again.errors.contains("exists already"), "archives are not replaced")
    let json = try succeed("ba-package Tutorial.json -o Other.aar --json").output
    #expect(json.contains(#""type":"package""#))
    _ = try succeed(
      "ba-package download-manifest create Tutorial.aar --asset-pack-versions 4 --ios --download-base-url https://c.d/e -o m.json -q"
    )
    #expect(try playground.text("m.json").contains(#""version": 4"#))
    let same = try run("ba-package download-manifest update m.json --asset-pack-paths Tutorial.aar")
    #expect(same.errors == "Tutorial 4: unchanged\n")
    try playground.write("other", to: "Texts/welcome.txt")
    _ = try succeed("ba-package Tutorial.json -o Tutorial.aar --force -q")
    let low = try run(
      "ba-package download-manifest update m.json --asset-pack-paths Tutorial.aar --asset-pack-versions 4")
    #expect(low.status != 0 && low.errors.contains("version 4"), "\(low.errors)")
    _ = try succeed("ba-package download-manifest update m.json --asset-pack-paths Tutorial.aar")
    #expect(try playground.text("m.json").contains(#""version": 5"#))
    _ = try succeed(
      "ba-package download-manifest create Tutorial.aar --download-base-url https://c.d/e --tvos -o tv.json")
    let none = try run(
      "ba-package download-manifest create Tutorial.aar --asset-pack-versions 0 --download-base-url https://c.d/e")
    #expect(none.status == 2 || none.status == 1, "versions begin at 1")
    let many = try run(
      "packstore download-manifest create Tutorial.aar --asset-pack-versions 1 2 --download-base-url https://c.d")
    #expect(many.status == 2 && many.errors.contains("more numbers"), "\(many.errors)")
  }

  #if Serving
    /// The talk's test with its own command lines: mock server, override, and an app whose property list has no URL. Another
    /// version arrives after a restart of the server with a higher number.
    @Test func overriddenAppInstallsApplesArchive() throws {
      umask(0o022)
      try playground.write(
        """
        {"BAAppGroupID": "com.example", "BAHasManagedAssetPacks": true, "BAUsesAppleHosting": true,
         "CFBundleIdentifier": "com.example.game", "PackStoreGroupFolder": "\(playground.path)/group"}
        """, to: "Game.plist")
      for (number, text) in [(3, "first"), (4, "second")] {
        try playground.write(text, to: "Texts/welcome.txt")
        _ = try succeed("ba-package Tutorial.json -o Tutorial.aar -q --force")
        let server = try ServeProcess(playground, ["Tutorial.aar", "--asset-pack-versions", "\(number)"])
        let set = try succeed(
          "ba-serve url-override \(server.url) --ca '\(server.authority)' --group Game.plist")
        #expect(set.output.contains("packs come from \(server.url)/manifest until "))
        #expect(set.output.hasSuffix("the site offers Tutorial@\(number)\n"))
        let agent = try playground.succeed("agent", "Game.plist", "--wait-essential")
        #expect(agent.output.contains("Tutorial@\(number) is installed"), "\(agent.output)")
        let store = try #require(
          try playground.succeed("url-override", "--group", "Game.plist", "--json").json["store"] as? String)
        #expect(try playground.succeed("cat", store, "Texts/welcome.txt").output == text)
        _ = try succeed("ba-serve url-override --clear --group Game.plist")
      }
      #expect(playground.tree("group/overrides") == [])
    }

    /// Without the permission, the override is set and a line reports the consequence; no unsigned pack is installed.
    @Test func unsignedPacksNeedAPermission() throws {
      umask(0o022)
      try playground.write(
        """
        {"BAAppGroupID": "com.example", "BAHasManagedAssetPacks": true, "BAUsesAppleHosting": true,
         "CFBundleIdentifier": "com.example.game", "PackStoreGroupFolder": "\(playground.path)/group"}
        """, to: "Game.plist")
      _ = try succeed("ba-package Tutorial.json -o Tutorial.aar -q")
      let server = try ServeProcess(playground, ["Tutorial.aar"])
      let override = ["url-override", "set", server.url, "--ca", server.authority, "--group", "Game.plist"]
      let set = try playground.packstore(override)
      #expect(set.status == 0 && set.output.contains("--allow-unsigned accepts them"), "\(set.errors)")
      let agent = try playground.packstore("agent", "Game.plist", "--wait-essential")
      #expect(agent.status != 0 && (agent.output + agent.errors).contains("not signed"), "\(agent.errors)")
      let trusted = try playground.packstore(override + ["--allow-unsigned", "--trust", AgentGroup.exampleKey])
      #expect(trusted.status == 2 && trusted.errors.contains("exclude each other"))
    }
  #endif
}
