import Foundation
import Testing

@testable import packstore_cli

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The output of `--json` conforms to `Docs/schemas`, and every property of the schemas is printed.
@Suite struct JSONTests {
  let playground = try! Playground()
  let recorder = Recorder()

  /// The properties seen of each schema.
  final class Recorder {
    var seen: [String: Set<String>] = [:]
  }

  private static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Docs/schemas")

  private func schema(_ name: String) throws -> JSONSchema {
    JSONSchema(root: try JSON(Data(contentsOf: Self.folder.appendingPathComponent("\(name).json"))))
  }

  /// Properties of situations that these tests do not arrange: other processes that read, a full disk, sites that lost
  /// files.
  private static let rare: [String: Set<String>] = [
    "stat": ["held[].generation", "held[].kept_bytes", "held[].processes"],
    "error": ["needed_bytes", "holder"],
    "progress": ["bytes_per_second", "files"],  // it takes a while
    "promote": ["updates[].delta_bytes"],  // DryRunTests
    "status": ["alarms[].date", "alarms[].key"],  // time passes in SiteSurveyTests
    // Servers: SimulateTests.
    "simulate": ["target", "range", "status", "stalls", "fault", "groups[].override", "groups[].apps[].version"],
    // It goes on until it is stopped, and is in some programs only: ServeTests.
    "serve": [
      "type", "format_version",
      "event", "url", "manifest", "site", "sites", "sites[]", "authority", "is_new_authority", "key", "client",
      "method",
      "target", "range", "status", "bytes", "milliseconds", "protocol_name", "failure",
    ],
    // A hosting service: PackHostingTests.
    "upload": [
      "type", "format_version", "pack", "version", "id", "state", "errors", "errors[]", "bytes", "sent_bytes",
    ],
    // Object storage: BucketTests.
    "check-bucket": [
      "type", "format_version",
      "location", "safe", "checks", "checks[].check", "checks[].works", "checks[].needed", "checks[].fault",
      "checks[].instead",
    ],
    "publish": [
      "restored[].pack", "restored[].version", "lost[].pack", "lost[].version",
      "updates[].delta_bytes", "storage", "storage.fetched_bytes", "storage.content_bytes", "storage.uploaded_bytes",
    ],
  ]

  /// Runs a command and checks all that it prints.
  ///
  /// - Parameter isLines: standard output has one value on each line.
  @discardableResult
  private func run(_ arguments: String..., status: Int32 = 0, isLines: Bool = false) throws -> Run {
    try run(arguments, status: status, isLines: isLines)
  }

  @discardableResult
  private func run(_ arguments: [String], status: Int32 = 0, isLines: Bool = false) throws -> Run {
    let run = try playground.packstore(arguments + ["--json"])
    #expect(run.status == status, "\(arguments): \(run.errors)")
    let values = try isLines ? run.lines.map { try JSON($0.utf8) } : run.bytes.isEmpty ? [] : [JSON(run.bytes)]
    for value in values { try check(value, arguments[0], arguments) }
    for line in run.errors.split(separator: "\n") {
      let value = try JSON(line.utf8)
      try check(value, value["type"]?.string ?? "error", arguments)
    }
    return run
  }

  private func check(_ value: JSON, _ name: String, _ arguments: [String]) throws {
    let faults = try schema(name).faults(of: value, seen: &recorder.seen[name, default: []])
    #expect(faults.isEmpty, "\(arguments)")
  }

  @Test func everyOutputHasItsSchema() throws {
    try changes()
    try inspection()
    try sites()
    try keySets()
    try agents()
    try archivesAndDeltas()
    try manifests()
    try damage()
    try failures()
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(".json") }
    let names = files.map { String($0.dropLast(".json".count)) }
    let commands = Packstore.commandNames.filter { $0 != "cat" }
    #expect(Set(names) == Set(commands + ["error", "warning", "progress"]), "one schema for each command")
    for name in names {
      let missing = try schema(name).described().subtracting(recorder.seen[name] ?? [])
        .subtracting(Self.rare[name] ?? [])
      #expect(missing.isEmpty, "\(name).json describes what was never printed")
    }
  }

  // MARK: - Commands

  private func changes() throws {
    try playground.write(noise(90_000), to: "folder/Videos/a.bin")
    try playground.write(String(repeating: "text ", count: 9_000), to: "folder/text")
    try playground.link("folder/link", to: "text")
    try playground.link("folder/up", to: "/etc")
    try playground.makeFolder("folder/empty")
    _ = try playground.shell("mkfifo folder/pipe")
    try run(
      "add", "store", "folder", "--pack", "P", "--map", "*.bin", "--exclude", "text", "--print-skipped", "--dry-run")
    try run("add", "store", "folder", "--pack", "P", "--map", "*.bin", "--map", "*.none", "--note", "first")
    try playground.write("new", to: "folder/new")
    try run("add", "store", "folder", "--pack", "P", "--map", "*.bin", "--progress", "json")
    try run("add", "store", "folder", "--pack", "P", "--map", "*.bin")
    try playground.write("other", to: "other/text")
    try run("add", "store", "other", "--pack", "Q", "--priority", "1")
    try run("pin", "store", "P@1")
    try run("unpin", "store", "P")
    try run("rollback", "store", "P")
    try run("rollback", "store", "P@2")
    try run("unpin", "store", "P")
    try playground.write(
      #"{"language":"en","userInfo":{"a": 1},"appVersions":"2.0..<3","map":["text"],"platforms":["iOS"],"#
        + #""label":"1.0-rc.1","note":"for all","downloadPolicy":{"prefetch":{"installationEventTypes":["firstInstallation"]}}}"#,
      to: "attributes.json")
    try run("attributes", "store", "Q", "--set", "attributes.json", "--dry-run")
    try run("attributes", "store", "Q", "--set", "attributes.json")
    try run("attributes", "store", "Q")
    try run("add", "store", "other", "--pack", "R")
    try run("remove", "store", "R", "--keep-history")
    try run("remove", "store", "R")
    try run("gc", "store", "--dry-run")
    try run("gc", "store")
    _ = try playground.shell("cp -R store twin")
    try run("place", "twin", "P", "purgeable", "--cache", "cache", "--cache-budget", "1GB")
    try run("stat", "twin")
    // Then it may not be read in the mapped mode, and a reason is shown.
    _ = try playground.shell("chmod g+w twin/segments")
    try run("stat", "twin")
    _ = try playground.shell("chmod g-w twin/segments")
    try run("unpin", "twin", "P")
    try run("purge", "twin", "1MB")
    _ = try playground.shell("rm -rf cache")
    try run("place", "twin", "P", "durable", status: 7)
    try run("repair", "twin", "--from", "store")
  }

  private func inspection() throws {
    try run("ls", "store", isLines: true)
    try run("ls", "store", "-R", isLines: true)
    try run("stat", "store")
    try run("log", "store")
    try run("inspect", "store")
    try run("inspect", "store", "P", "--from", "1", "--delta")
    _ = try playground.shell("mkdir kept && echo a > kept/a && echo b > kept/b.tmp && echo '*.tmp' > kept/.packignore")
    try run("add", "kept-store", "kept", "--pack", "K", "--print-skipped")
    _ = try playground.shell("mkdir twins && echo same > twins/a && echo same > twins/b && echo same > twins/B")
    try run("add", "twin-store", "twins", "--pack", "T")
    try run("inspect", "twin-store")
    try run("conflicts", "store", isLines: true)
    try run("diff", "store", "P@1", "P")
    _ = try playground.shell("mkdir moved && cp -R folder/Videos moved/Films && echo changed > moved/text")
    try run("diff", "folder", "moved")
    try run("verify", "store")
    try run("verify", "store", "--deep")
    try run("repair", "store")
    try run("extract", "store", "out")
    let cat = try playground.packstore("cat", "store", "new", "--json")
    #expect(cat.output == "new" && cat.errors.isEmpty, "the bytes as they are")
  }

  private func keySets() throws {
    let keys = try ["anna.key", "ben.key", "carl.key"].map { try playground.packstore("keygen", $0).lines[0] }
    try run("keyset", "create", "root.set", "--need", "1", keys[0], keys[1])
    try run("keyset", "request", "root.set", "request", "--release", keys[2], "--revoke", "--channel", "live")
    for name in ["anna", "ben"] { try run("keyset", "sign", "request", name, "--key", "\(name).key") }
    try run("keyset", "complete", "root.set", "request", "anna", "ben")
    try run("keyset", "request", "root.set", "next", "--next", "1", keys[0], keys[2])
    try run("keyset", "sign", "next", "unused", "--key", "anna.key", "--dry-run")
    try run("keyset", "show", "root.set")
  }

  private func sites() throws {
    try run("keygen", "key")
    try run("keygen", "root.key")
    try run("delegate", "root.key", "release.key", "--channel", "live", "--channel", "beta")
    try run("delegate", "root.key", "release.key", "--no-end", "--all-channels")
    try run("delegate", "root.key", "planned.key", "--dry-run")
    try run("rotate", "root.key", "next.key", "--dry-run")
    try run("rotate", "root.key", "next.key")
    try run("publish", "store", "site", "P@1", "--key", "planned.key", "--dry-run")
    try run("publish", "store", "site", "P@1", "Q", "--key", "key", "--expires", "9", "--primary-language", "de")
    try run("offers", "device", "site", "--app-version", "1.0")
    try run("pull", "device", "site", "--dry-run")
    try run("pull", "device", "site")
    try run("offers", "device", "site", "--app-version", "2.5")
    try run("publish", "store", "site", "P", "--key", "key", "--keep", "1", "--dry-run")
    try run("publish", "store", "site", "P", "--key", "key", "--keep", "2")
    try run("update", "device", "--dry-run")
    try run("pull", "device", "site")
    try run("add", "device", "other", "--pack", "Local", "--priority", "3")
    try run("add", "device", "other", "--pack", "Q", "--adopt")
    for command in ["ls", "conflicts"] { try run(command, "device", isLines: true) }
    for command in ["stat", "log", "trust"] { try run(command, "device") }
    _ = try playground.shell("cp -R device copy")
    try run("remove", "copy", "P", "--keep-history")
    try run("stat", "copy", "--by-extension")
    try playground.write("newer", to: "folder/new")
    try run("add", "store", "folder", "--pack", "P")
    try run("publish", "store", "site", "P", "--key", "key", "--keep", "1", "--deltas", "0")
    try run("publish", "store", "site", "P@2", "--key", "key", "--channel", "beta", "--deltas", "0", "--expires", "9")
    try run("unpublish", "site", "P", "--channel", "beta", "--key", "key", "--dry-run")
    try run("promote", "site", "P@3", "--channel", "beta", "--share", "5%", "--app-versions", "2.0..<3", "--key", "key")
    try run("promote", "site", "P@3", "--channel", "beta", "--key", "key", "--dry-run")
    try run("channels", "site")
    try run("status", "site")
    try siteStatus()
    try retention()
    try run("promote", "site", "P@3", "--channel", "other", "--key", "key")
    try releaseInSteps()
    try releaseOfSeveralPacks()
    try run("demote", "site", "P@2", "--channel", "beta", "--key", "key")
    try run("channels", "site", "--channel", "other", "--close", "--key", "key")
    try run("deltas", "site", "--key", "key", "--dry-run")
    try run("deltas", "site", "--key", "key")
    try run("refresh", "site", "--key", "key", "--dry-run")
    try run("refresh", "site", "--key", "key")
    try history()
    try run("strip", "site", "small", "--dry-run")
    try run("strip", "site", "small")
    try run("site", "copy", "site", "mirror")
    try run("site", "copy", "site", "mirror")
    try playground.succeed("publish", "store", "leaving", "--key", "key", "--deltas", "0", "-q")
    try run("site", "move", "leaving", "new-place", "--url", "https://example.com/packs", "--key", "key")
    try playground.succeed("add", "fewer", "folder", "--pack", "P", "--version", "7", "-q")
    try run("publish", "fewer", "continued", "--continue-from", "site", "--key", "key")
    try run("check-served", "continued", "site")
    try run("publish", "fewer", "site", "--key", "key", "--deltas", "0")
    try run("publish", "fewer", "second", "--key", "key", "--deltas", "0")
    try run("pull", "both", "site")
    #expect(try run("pull", "both", "second").errors.contains("\"code\":\"shared_key\""))
    try run("publish", "fewer", "site", "--key", "key", "--prune", "--max-removed", "49", status: 1)
    try run("publish", "fewer", "site", "--key", "key", "--prune", "--dry-run")
    try run("unpublish", "site", "Q", "--key", "key", "--dry-run")
    try run("unpublish", "site", "Q", "--key", "key")
    try run("repair", "site", "--key", "key")
    try run("remove", "device", "P", "--keep-history")
    try run("trust", "device")
  }

  /// The history of a channel, with a build job, an erasure and a lost record.
  private func history() throws {
    let variables = [
      "GITLAB_CI": "1", "GITLAB_USER_LOGIN": "a", "CI_JOB_URL": "https://ci/1", "CI_COMMIT_SHA": "3fa9c",
    ]
    let noted = try playground.packstore(
      "refresh", "site", "--key", "key", "-q", "--note", "n", environment: variables)
    #expect(noted.status == 0, "\(noted.errors)")
    try run("history", "site", "--all")
    try run("history", "site", "--erase", "1", "--dry-run")
    try run("history", "site", "--erase", "1-2")
    try run("history", "site", "--limit", "1")
    _ = try playground.shell("cp -R site lost && rm lost/history/*")
    try run("history", "lost", status: 7)
  }

  /// The policy of a site, its pins, and a collection.
  private func retention() throws {
    try playground.write(#"{"placement":"purgeable"}"#, to: "purgeable.json")
    try playground.succeed("add", "video", "other", "--pack", "V", "-q")
    try playground.succeed("attributes", "video", "V", "--set", "purgeable.json", "-q")
    for version in ["one", "two", "three"] {
      try playground.write(version, to: "clip/file")
      try playground.succeed("add", "video", "clip", "--pack", "V", "-q")
      try playground.succeed("publish", "video", "videos", "--key", "key", "--deltas", "0", "--keep", "9", "-q")
    }
    try run("policy", "videos")
    try run("policy", "videos", "--keep", "1", "--grace", "1h", "--key", "key", "--dry-run")
    try run("policy", "videos", "--keep", "1", "--builds", "0", "--key", "key")
    try run("pin", "videos", "V@previous", "--key", "key")
    try run("policy", "videos")
    try run("status", "videos")
    try run("gc", "videos", "--dry-run")
    try run("unpin", "videos", "V", "--key", "key")
    try run("policy", "videos", "--purgeable-grace", "0", "--key", "key")
    try run("gc", "videos", "--key", "key")
    try run("gc", "videos", "--dry-run")
  }

  /// A site whose release key ends, with lost files and a damaged root.
  private func siteStatus() throws {
    try run("publish", "store", "watched", "P@2", "Q", "--key", "status.key", "--deltas", "0", "--keep", "1")
    try run("publish", "store", "watched", "P", "Q", "--key", "status.key", "--deltas", "0", "--keep", "1")
    _ = try playground.shell(
      "for file in watched/frames/*; do echo more >> $file; done; rm $(ls watched/versions/* | head -1); echo damage > watched/roots/beta"
    )
    try run("status", "watched", status: 1)
    _ = try playground.shell("rm watched/versions/*")
    try run("verify", "file://\(playground.path)/watched", status: 7)
  }

  /// A release in steps, and devices that it has not reached.
  private func releaseInSteps() throws {
    let target = ["site", "P@3", "--channel", "steps", "--key", "key"]
    try run("promote", "site", "P@2", "--channel", "steps", "--key", "key")
    try run(["promote"] + target + ["--steps", "1,50,100", "--every", "24h", "--horizon", "48h"])
    try run("channels", "site")
    try run(["promote"] + target + ["--pause"])
    try run(["promote"] + target + ["--halt"])
    try run("offers", "device", "site", "--channel", "steps")
    try run("pull", "late", "site", "--channel", "steps")
    try run("update", "late")
    try run(["promote"] + target + ["--resume"])
    try run("demote", "site", "P@2", "--channel", "steps", "--key", "key")
    try run("channels", "site", "--channel", "steps", "--close", "--key", "key")
  }

  /// A release of several packs, and a device that holds one of them.
  private func releaseOfSeveralPacks() throws {
    for offer in [["-q"], ["--no-offer", "-q"]] {
      for pack in ["R", "S"] {
        try playground.write("\(pack) \(offer)", to: "part/\(pack)")
        try playground.succeed("add", "parts", "part", "--pack", pack, "-q")
      }
      try run(["publish", "parts", "released", "--key", "key", "--deltas", "0", "--keep", "9"] + offer)
    }
    try playground.succeed("pull", "apart", "released", "-q")
    try playground.succeed("rollback", "apart", "S@1", "-q")
    let promote = ["promote", "released", "R@2", "S@2", "--release", "spring", "--key", "key"]
    try run(promote + ["--steps", "1,100", "--every", "24h", "--horizon", "48h", "--expires", "90"])
    try run("channels", "released")
    try run("status", "released")
    try run("demote", "released", "R@2", "--key", "key")
    try run(promote)
    try run("offers", "apart", "released")
    try run("pull", "apart", "released")
    try run("update", "apart")
  }

  private func agents() throws {
    try playground.write(AgentGroup.attributes("prefetch"), to: "policy.json")
    try playground.succeed("add", "game", "folder", "--pack", "Game", "-q")
    try playground.succeed("attributes", "game", "Game", "--set", "policy.json", "-q")
    try playground.succeed("publish", "game", "games", "--key", "game.key", "-q")
    try playground.write(
      #"{"BAAppGroupID": "g", "BAManifestURL": "games", "CFBundleIdentifier": "a", "PackStoreGroupFolder": "group"}"#,
      to: "Game.plist")
    try run("agent", "event", "Game.plist", "install", isLines: true)
    try run("agent", "./group", "--once", isLines: true)
    try run("agent", "Game.plist", "--wait-essential", isLines: true)
    try run("share", "add", "./group")
    try run("agent", "./group", "--once", isLines: true)
    try run("share")
    try run("share", "drop", "./group")
    try run("simulate", "install", "Game.plist", isLines: true)
    try playground.write("#!/bin/sh\nexit 3\n", to: "extension")
    _ = try playground.shell("chmod 755 extension; rm -r group")
    try playground.write(
      #"{"BAAppGroupID": "g", "BAManifestURL": "games", "CFBundleIdentifier": "a", "PackStoreGroupFolder": "group","#
        + #""PackStoreExtension": "extension"}"#, to: "Game.plist")
    try run("simulate", "install", "Game.plist", "--in-place", "--disk-free", "1k", status: 1, isLines: true)
    try playground.write(
      #"{"BAAppGroupID": "p", "BAManifestURL": "http://127.0.0.1:9/manifest", "BAHasManagedAssetPacks": false,"#
        + #""CFBundleIdentifier": "b", "PackStoreGroupFolder": "player", "PackStoreExtension": "extension"}"#,
      to: "Player.plist")
    try run("simulate", "periodic", "Player.plist", "--network", "none", status: 1, isLines: true)
    try run("simulate", "--list", "./group", isLines: true)
    for words in [
      ["status"], ["set", "file://\(playground.path)/games"],
      ["set", "file:///none", "--channel", "beta", "--trust", AgentGroup.exampleKey, "--no-check"], ["clear"],
    ] {
      try run(["url-override"] + words + ["--group", "./group"])
    }
    try playground.write("{", to: "group/override")
    try run("url-override", "status", "--group", "./group")
    try run("url-override", "clear", "--group", "./group")
  }

  private func foreignArchives() throws {
    let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Reader").path
    _ = try playground.shell(
      """
      tar cf moved.tar -C moved . && tar czf moved.tgz -C moved . && python3 -m zipfile -c moved.zip moved/ && \
      python3 -c "import sys; sys.path.insert(0, '\(reader)'); import foreign_archives as f; \
      sys.stdout.buffer.write(f.asset_pack())" >pack.aar
      """)
    try run("import", "foreign", "moved.tar", "--pack", "P")
    try run("import", "foreign", "moved.tgz", "--pack", "P")
    try run("import", "foreign", "moved.zip", "--pack", "P")
    try run(
      "import", "foreign", "moved.zip", "--pack", "P", "--exclude", "*", "--allow-empty", "--print-skipped", "--dry-run"
    )
    try run("import", "foreign", "moved", "--pack", "P")
    _ = try playground.shell("tar cf kept.tar -C kept .")
    try run("import", "foreign", "kept.tar", "--pack", "K", "--print-skipped", "--dry-run")
    try run("import", "foreign", "pack.aar", "-q")
    try run("import", "foreign", "pack.aar", "--dry-run", "-q")
  }

  private func archivesAndDeltas() throws {
    try run("export", "store", "P", "-o", "P.pack", "--key", "planned.key", "--dry-run")
    try run("export", "store", "P", "-o", "P.pack", "--key", "key")
    try run("export", "store", "P", "-o", "P.aar")
    try run("import", "imported", "P.pack")
    try run("delta", "store", "P@previous", "P", "-o", "P.delta", "--key", "key")
    try run("delta", "store", "P@2", "@3", "-o", "unsigned.delta", "--unsigned")
    try run("export", "store", "P@2", "-o", "P-2.pack", "--key", "key")
    try run("import", "applied", "P-2.pack")
    try run("apply", "applied", "P.delta")
    try run("import", "applied", "P.pack")
    try run("import", "planned", "P.pack", "--dry-run")
    try foreignArchives()
  }

  private func manifests() throws {
    try run("template")
    try run("template", "--schema", "-o", "manifest.schema.json", "--dry-run")
    try run("template", "--schema", "-o", "manifest.schema.json")
    let policy = #""assetPackID":"P","downloadPolicy":{"onDemand":{}},"sourceRoot":"folder""#
    try playground.write("{\(policy),\"fileSelectors\":[{\"directory\":\"Videos\"}]}", to: "good.json")
    try run("evaluate", "good.json")
    try run("publish", "good.json", "published", "--key", "key", "--version", "4")
    try run("package", "good.json", "-o", "M.pack", "--key", "planned.key", "--dry-run")
    try run("package", "good.json", "-o", "M.aar", "--dry-run")
    try run("package", "good.json", "-o", "M.aar")
    try run("package", "good.json", "-o", "M.pack", "--key", "key")
    try run("package", "good.json", "-o", "M.pack", "--key", "key")
    let moved = #"{"directorySource":"Videos","directoryDestination":"Movies"}"#
    try playground.write("{\(policy),\"fileSelectors\":[\(moved)]}", to: "more.json")
    let next = ["--previous", "M.pack", "--estimate-delta", "--dry-run"]
    try run("package", "more.json", "-o", "M-2.pack", "--key", "key", next[0], next[1], next[2], next[3])
    try playground.write("{\(policy),\"fileSelectors\":[{\"file\":\"Text\"}]}", to: "bad.json")
    try run("evaluate", "bad.json", status: 1)
    let url = "https://cdn.example.org"
    try run("download-manifest", "create", "M.pack", "--download-base-url", url, "-o", "download.json")
    try run("download-manifest", "update", "download.json", "M.pack", "--dry-run")
    try run("package", "bad.json", "-o", "bad.pack", "--key", "key", status: 1)
    let mapping = #""FileMapping" { "LocalPath" "*" "DepotPath" "." "Recursive" "1" }"#
    try playground.write(#""DepotBuild" { "DepotID" "7" \#(mapping) }"#, to: "good.vdf")
    try run("convert", "good.vdf")
    try run("convert", "good.vdf", "-o", "converted.json")
    try playground.write(#""DepotBuild" { "DepotIDs" "7" \#(mapping) }"#, to: "bad.vdf")
    try run("convert", "bad.vdf", status: 1)
  }

  private func damage() throws {
    _ = try playground.shell("cp -R store whole")
    for segment in playground.tree("store/segments") {
      var bytes = try playground.read("store/segments/\(segment)")
      guard bytes.count > 80_000 else { continue }
      bytes[45_000] ^= 1
      try playground.write(bytes, to: "store/segments/\(segment)")
    }
    try run("verify", "store", status: 7)
    try run("extract", "store", "out2", status: 7)
    try run("cat", "store", "Videos/a.bin", status: 7)
    try run("repair", "store", "--dry-run", status: 7)
    _ = try playground.shell("cp -R store healed")
    try run("repair", "healed", "--from", "whole")
    try run("repair", "store", status: 7)
    try playground.remove("site/root")
    try run("repair", "site", "--key", "key", "--product", "default", "--no-expires")
  }

  private func failures() throws {
    try run("ls", "store", "Video", status: 1, isLines: true)
    try run("log", "store", "Pp", status: 1)
    try run("pin", "store", "P@99", status: 1)
    try run("ls", "nowhere", status: 1)
    try run("frobnicate", status: 2)
    try run("add", "store", "folder", "--pack", "Z", "--links", "refuse", status: 1)
    try run("add", "store", "twins", "--pack", "Z", "--portable", status: 1)
    try playground.write("x", toRaw: Array("twins/".utf8) + [0xff])
    try run("add", "store", "twins", "--pack", "Z", status: 1)
    try run("pull", "device", "http://127.0.0.1:1/site", "--answer-limit", "1", status: 3)
    try run("publish", "store", "site2", "--key", "key2")
  }

  // MARK: - What all objects have

  /// The result is one object.
  @Test func objectsHaveTypeAndVersion() throws {
    let value = try jsonBytes(TypedObject(["a": [1]], type: "kind"))
    #expect(String(decoding: value, as: UTF8.self) == #"{"a":[1],"format_version":1,"type":"kind"}"#)
    let empty = try jsonBytes(TypedObject([String: Int](), type: "kind"))
    #expect(String(decoding: empty, as: UTF8.self) == #"{"format_version":1,"type":"kind"}"#)
  }

  @Test func warningCodesAreWords() {
    for code in WarningCode.allCases { #expect(code.rawValue.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(code)") }
  }

  /// Two intervals of lines are the longest silence in a log.
  @Test func progressIsPaced() {
    let line = ProgressPace(form: .text, isTerminal: false), json = ProgressPace(form: .json, isTerminal: false)
    #expect(ProgressPace.lineInterval * 2 <= .seconds(10))
    #expect(
      !line.isDue(after: .seconds(4), isNewActivity: true) && line.isDue(after: .seconds(5), isNewActivity: false))
    #expect(json.isDue(after: .zero, isNewActivity: true) && !json.isDue(after: .zero, isNewActivity: false))
    #expect(json.isDue(after: .seconds(1), isNewActivity: false))
    #expect(ProgressPace(form: .text, isTerminal: true).isDue(after: .zero, isNewActivity: true))
    #expect(!ProgressPace(form: .none, isTerminal: false).isDue(after: .seconds(60), isNewActivity: true))
  }

  // MARK: - The checker itself

  @Test func theCheckerFindsFaults() throws {
    let schema = try schema("pin")
    func faults(_ text: String) throws -> Int {
      var seen: Set<String> = []
      return schema.faults(of: try JSON(text.utf8), seen: &seen).count
    }
    let head = #""type":"pin","format_version":1,"#
    #expect(try faults(#"{\#(head)"pack":"P","held":true,"pinned":[1]}"#) == 0)
    #expect(try faults(#"{"pack":"P","held":true,"pinned":[1]}"#) == 2, "neither type nor version")
    #expect(try faults(#"{\#(head)"pack":"P","held":true}"#) == 1, "missing")
    #expect(try faults(#"{\#(head)"pack":"P","held":1,"pinned":[]}"#) == 1, "of another type")
    #expect(try faults(#"{\#(head)"pack":"P","held":true,"pinned":[0]}"#) == 1, "too low")
    #expect(try faults(#"{\#(head)"pack":"/","held":true,"pinned":[]}"#) == 1, "no such name")
    #expect(try faults(#"{\#(head)"pack":"P","held":true,"pinned":[],"more":1}"#) == 1, "not described")
    #expect(try faults("[]") == 1)
    var seen: Set<String> = []
    let strange = JSONSchema(root: .object(["maximum": .integer(1)]))
    #expect(strange.faults(of: .integer(2), seen: &seen).count == 1, "a keyword that is not known")
    let choice = JSONSchema(root: .object(["enum": .array([.string("a")])]))
    #expect(choice.faults(of: .string("b"), seen: &seen).count == 1)
  }
}
