import Foundation
import PackStore
import Testing

/// An error about a mistyped name lists the nearest names, or the existing ones.
@Suite struct DidYouMeanTests {
  let playground = try! Playground()

  init() throws {
    try playground.write("intro", to: "tutorial/Videos/Introduction.m4v")
    try playground.write("outro", to: "tutorial/Videos/Outro.m4v")
    try playground.write("config", to: "tutorial/config.json")
    try playground.write("level", to: "level/Level.bin")
    for number in 1...3 {
      try playground.write("\(number)", to: "tutorial/number")
      try playground.packstore("add", "store", "tutorial", "--pack", "Tutorial", "-q")
    }
    try playground.packstore("add", "store", "level", "--pack", "Level", "-q")
  }

  private func expect(
    _ arguments: [String], says sentence: String, suggests suggestions: [String] = [], status: Int32 = 1
  ) throws {
    let plain = try playground.packstore(arguments)
    #expect(plain.status == status)
    #expect(plain.errors.hasSuffix("packstore: \(sentence)\n"), "\(arguments): \(plain.errors)")
    let line = try #require(try playground.packstore(arguments + ["--json"]).errors.split(separator: "\n").last)
    let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
    #expect(object["suggestions"] as? [String] ?? [] == suggestions, "\(line)")
  }

  @Test func packs() throws {
    let cases: [[String]] = [
      ["cat", "store", "config.json", "--pack", "Tutoral"], ["ls", "store", "--pack", "tutorial"],
      ["extract", "store", "out", "--pack", "Tutrial"], ["remove", "store", "Tutoriall"],
      ["unpin", "store", "uTtorial"],
      ["rollback", "store", "Tutoral"], ["rollback", "store", "Tutoral@1"], ["pin", "store", "Tutoral@2"],
      ["log", "store", "Tut"], ["diff", "store", "Tutoral@2", "@3"], ["delta", "store", "Tutoral@2", "@3", "-o", "f"],
      ["export", "store", "Tutoral", "-o", "f"], ["publish", "store", "site", "Tutoral"],
    ]
    for arguments in cases {
      let name = try #require(arguments.first { $0.lowercased().contains("tut") || $0.lowercased().contains("utt") })
      let wrong = String(name.prefix { $0 != "@" })
      try expect(
        arguments, says: "pack '\(wrong)': not in the store; did you mean 'Tutorial'?", suggests: ["Tutorial"])
    }
  }

  @Test func packsOfSites() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try expect(
      ["unpublish", "site", "Tutoral", "--key", "key"],
      says: "pack 'Tutoral': not in the site; did you mean 'Tutorial'?", suggests: ["Tutorial"])
    try expect(
      ["unpublish", "site", "Other", "--key", "key"], says: "pack 'Other': not in the site (packs: Level, Tutorial)")
    let folder = URL(fileURLWithPath: playground.path).resolvingSymlinksInPath().path
    try expect(
      ["pull", "device", "site", "Levle"],
      says: "'\(folder)/site': the pack 'Levle' is not offered; did you mean 'Level'?", suggests: ["Level"])
  }

  @Test func versions() throws {
    let kept = "version 'Tutorial@9': not kept (kept: 2, 3)"
    for arguments in [
      ["rollback", "store", "Tutorial@9"], ["pin", "store", "Tutorial@9"], ["diff", "store", "Tutorial@9", "@3"],
      ["delta", "store", "Tutorial@9", "@3", "-o", "f"], ["export", "store", "Tutorial@9", "-o", "f"],
      ["publish", "store", "site", "Tutorial@9"],
    ] {
      try expect(arguments, says: kept, suggests: ["Tutorial@2", "Tutorial@3"])
    }
    try expect(
      ["pin", "store", "Level@previous"], says: "version 'Level@1': no earlier version is kept (kept: 1)",
      suggests: ["Level@1"])
    try expect(
      ["rollback", "store", "Level"], says: "version 'Level@1': no earlier version is kept (kept: 1)",
      suggests: ["Level@1"])
    try playground.packstore("remove", "store", "Tutorial", "--keep-history", "-q")
    try expect(["rollback", "store", "Tutorial@9"], says: kept, suggests: ["Tutorial@2", "Tutorial@3"])
    try expect(["pin", "store", "Tutorial@9"], says: kept, suggests: ["Tutorial@2", "Tutorial@3"])
    try expect(
      ["rollback", "store", "Tutoral"], says: "pack 'Tutoral': not in the store; did you mean 'Tutorial'?",
      suggests: ["Tutorial"])
  }

  @Test func paths() throws {
    let cases: [(String, String, [String])] = [
      ("Videos/introduction.m4v", "did you mean 'Videos/Introduction.m4v'?", ["Videos/Introduction.m4v"]),
      ("Videos/Intorduction.m4v", "did you mean 'Videos/Introduction.m4v'?", ["Videos/Introduction.m4v"]),
      ("Videos/Other", "'Videos' has Introduction.m4v, Outro.m4v", []),
      ("Video/Outro.m4v", "did you mean 'Videos'?", ["Videos"]),
      ("confg.json", "did you mean 'config.json'?", ["config.json"]),
      ("zzz/zzz/zzz", "the top folder has Level.bin, Videos, config.json, number", []),
    ]
    for (path, remedy, suggestions) in cases {
      for command in ["cat", "ls"] {
        try expect([command, "store", path], says: "'\(path)': no such asset; \(remedy)", suggests: suggestions)
      }
    }
  }

  /// To Swift the slash and the accent are one character.
  @Test func namesThatBeginWithAnAccent() throws {
    try playground.write("x", to: "accents/d/\u{301}name")
    try playground.packstore("add", "store", "accents", "--pack", "Accents", "-q")
    let run = try playground.packstore("cat", "store", "d/\u{301}nam", "--json")
    #expect(try JSON(run.errors.utf8)["suggestions"]?.array?.map(\.string) == ["d/\u{301}name"], "\(run.errors)")
  }

  @Test func pathsOfOtherPacks() throws {
    try expect(
      ["cat", "store", "Level.bin", "--pack", "Tutorial"],
      says: "'Level.bin': no such asset; it is in the pack 'Level'")
  }

  @Test func origins() throws {
    try playground.packstore("publish", "store", "site", "--key", "key", "-q")
    try playground.packstore("pull", "device", "site", "-q")
    let origins = try #require(playground.packstore("trust", "device", "--json").json["origins"] as? [NSDictionary])
    let id = try #require(origins.compactMap { $0["id"] as? String }.first { $0 != "local" })
    let wrong = String(id.prefix(7)) + (id.dropFirst(7).first == "0" ? "1" : "0")
    try expect(
      ["trust", "device", "forget", wrong], says: "origin '\(wrong)': does not exist; did you mean '\(id)'?",
      suggests: [id])
  }

  @Test func commands() throws {
    for (word, meant) in [("instal", nil), ("extarct", "extract"), ("publsh", "publish"), ("roll", "rollback")] {
      let remedy = meant.map { "did you mean '\($0)'?" } ?? "'packstore help' lists them"
      let says = "'\(word)': not a command; \(remedy)"
      try expect([word], says: says, suggests: meant.map { [$0] } ?? [], status: 2)
      try expect(["help", word], says: says, suggests: meant.map { [$0] } ?? [], status: 2)
      try expect([word, "--help"], says: says, suggests: meant.map { [$0] } ?? [], status: 2)
    }
  }

  @Test func nearestNames() {
    let names = ["Base", "Basement", "Tutorial", "Tutorials"]
    #expect(PackStore.nearestNames(to: "Tutorail", among: names) == ["Tutorial", "Tutorials"])
    #expect(PackStore.nearestNames(to: "base", among: names) == ["Base", "Basement"])
    #expect(PackStore.nearestNames(to: "B", among: names).isEmpty)
    #expect(PackStore.nearestNames(to: "", among: names).isEmpty)
    // The work is bounded for all names.
    let long = String(repeating: "a", count: 1_000_000)
    #expect(PackStore.nearestNames(to: long, among: ["b" + long, "x"]) == ["b" + long])
  }

  /// Two names that look alike are shown by their characters.
  @Test func otherNormalFormsAreNamed() throws {
    try playground.write("1", to: "forms/d\u{e9}/cafe\u{301}")
    try playground.packstore("add", "forms-store", "forms", "--pack", "P", "-q")
    for (path, shown) in [("d\u{e9}/caf\u{e9}", "d\u{e9}/cafe\\u0301"), ("de\u{301}/cafe\u{301}", "d\\u00e9")] {
      let run = try playground.packstore("cat", "forms-store", path)
      #expect(run.status == 1)
      #expect(
        run.errors.contains(
          "copy the name from 'packstore ls': '\(shown)' is the same text in another Unicode normal form"),
        "\(run.errors)")
    }
  }
}
