import Foundation
import Testing

@testable import packstore_cli

@Suite struct UsageTests {
  /// The groups of the help, with their commands in order.
  private static let groups: [(name: String, commands: [String])] = [
    (
      "Store",
      ["add", "import", "remove", "rollback", "pin", "unpin", "attributes", "place"]
    ),
    (
      "Read",
      ["ls", "cat", "extract", "log", "stat", "diff", "inspect", "conflicts"]
    ),
    (
      "Update",
      ["pull", "update", "offers", "apply", "trust"]
    ),
    ("Publish", ["publish", "unpublish", "deltas", "upload"]),
    ("Operate sites", ["status", "history", "refresh", "check-served", "check-bucket", "site"]),
    (
      "Channels and keys",
      ["promote", "demote", "channels", "policy", "keygen", "delegate", "rotate", "keyset"]
    ),
    (
      "Author",
      ["template", "evaluate", "package", "export", "delta", "convert", "download-manifest"]
    ),
    (
      "Maintain",
      ["verify", "repair", "gc", "purge"]
    ),
    (
      "Apps and development",
      ["agent", "share", "serve", "simulate", "url-override"]
    ),
  ]

  private static let commands = groups.flatMap(\.commands)

  /// The help of each command, printed once for all tests.
  private static let help: [String: Run] = {
    let playground = try! Playground()
    return Dictionary(uniqueKeysWithValues: commands.map { ($0, try! playground.packstore($0, "--help")) })
  }()

  private func help(of command: String) throws -> String { try #require(Self.help[command]).output }

  let playground = try! Playground()

  @Test func versionIsPrinted() throws {
    let run = try playground.packstore("--version")
    #expect(run.status == 0)
    #expect(run.output == "0.2.0\n")
  }

  @Test(arguments: [[], ["help"], ["--help"], ["-h"]]) func helpListsEveryCommandByGroup(arguments: [String]) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(entries(in: run.output, #/^([A-Z][a-z ]+)$/#, #/^  ([a-z-]+)  +[A-Z]/#) == Self.entries)
  }

  /// The indentation of a help text may exceed the width.
  @Test(arguments: ["0", "-1", "1", "26", "39"]) func helpOfNarrowTerminals(columns: String) throws {
    let run = try playground.packstore("add", "--help", environment: ["COLUMNS": columns])
    #expect(run.status == 0 && run.output.contains("The pack's"), "\(run.errors)")
  }

  /// Two screens of a terminal with 80 columns.
  @Test func helpIsShort() throws {
    let lines = try playground.packstore("help").lines
    #expect(lines.count <= 72)
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(Self.groups.allSatisfy { $0.commands.count <= 8 })
  }

  /// In the order and in the words of the help.
  @Test func theManualListsEveryCommandByGroup() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Docs/packstore.1")
    let manual = try String(contentsOf: page, encoding: .utf8)
    let section = try #require(manual.firstMatch(of: #/\n\.SH COMMANDS\n((?s:.*?))\n\.SH /#)?.1)
    #expect(entries(in: String(section), #/^\.SS (.+)$/#, #/^\.B (\S+)$/#) == Self.entries)
    for command in section.matches(of: /\.B (\S+)\n(.*)/) {
      let overview = try playground.packstore("\(command.1)", "--help").output.split(separator: "\n\n").first ?? ""
      #expect(overview.replacing("\n", with: " ") == "OVERVIEW: \(command.2)")
    }
  }

  /// The names of groups and commands, line by line.
  private static let entries = groups.flatMap { ["[\($0.name)]"] + $0.commands }

  private func entries(
    in text: String, _ group: Regex<(Substring, Substring)>, _ command: Regex<(Substring, Substring)>
  ) -> [String] {
    text.split(separator: "\n").compactMap { line in
      if let name = line.firstMatch(of: group)?.1 { return "[\(name)]" }
      return line.firstMatch(of: command).map { String($0.1) }
    }
  }

  /// Abstracts are imperatives that cannot be misread, and texts of options do not instruct the program to speak.
  @Test(arguments: Self.commands) func helpUsesPlainVerbs(command: String) throws {
    let help = try help(of: command)
    let abstract = try #require(help.split(separator: "\n").first)
    for verb in ["Say", "See", "Take", "Give", "Let", "Look", "Simulation", "Bring", "Find"] {
      #expect(!abstract.hasPrefix("OVERVIEW: \(verb) "))
      #expect(!help.contains("   \(verb) "), "\(verb)")
    }
  }

  /// Examples are copied from help: a line of theirs does not wrap on a terminal with 80 columns.
  @Test(arguments: Self.commands) func examplesFitOnATerminal(command: String) throws {
    let help = try help(of: command)
    let examples = help.matches(of: #/(?m)^  (?:packstore|curl|rsync|\().*\n(.*)/#)
    #expect(!examples.isEmpty)
    for example in examples {
      #expect(example.1.isEmpty || example.1.hasPrefix("  "), "\(example.0)")
    }
  }

  /// An option that several commands have has one text.
  @Test func sharedOptionsHaveOneText() throws {
    for option in ["--no-wait", "--threads", "--force", "--quiet", "--json", "--log-file", "--gc", "--limit-rate"] {
      let label = try Regex("^  (-\\w, )?\(option) ")
      let texts = try Self.commands.compactMap { command in
        let help = try help(of: command).replacing(#/\n {4,}/#, with: " ")
        return help.split(separator: "\n").first { $0.firstMatch(of: label) != nil }
      }
      let different = Set(texts.map { $0.replacing(#/ +/#, with: " ") })
      // One text for stores and one for sites, and 'cat' prints bytes.
      #expect(different.count <= (["--no-wait", "--json"].contains(option) ? 2 : 1), "\(different)")
    }
  }

  @Test(arguments: Self.commands)
  func everyCommandHasHelp(command: String) throws {
    let run = try #require(Self.help[command])
    #expect(run.status == 0)
    #expect(run.output.contains("  packstore \(command) "), "an example")
    #expect(run.output.contains("--quiet"))
  }

  @Test(arguments: [
    ["nonsense"], ["add"], ["add", "store", "folder"], ["add", "store", "folder", "--pack", "a/b"],
    ["add", "store", "folder", "--pack", "a", "--level", "23"],
    ["add", "store", "folder", "--pack", "a", "--keep", "0"],
    ["add", "store", "folder", "--pack", "a", "--version", "0"],
    ["add", "store", "folder", "--pack", "a", "--layout", "odd"],
    ["add", "store", "folder", "--pack", "a", "--version", "9007199254740992"],
    ["add", "store", "folder", "--pack", "a", "--downgrade"],
    ["add", "store", "folder", "--pack", "a", "--unsafe-links"],
    ["ls", ""], ["pull", "store", ""],
    ["cat", "store", "a", "--range", "5"], ["cat", "store", "a", "--range", "5-4"],
    ["cat", "store", "a", "--range", "-4"],
    ["cat", "store", "a", "--range", "+1-4"], ["ls", "store", "-l", "-0"], ["diff", "a"],
    ["diff", "a", "b", "c", "--store", "d"],
    ["diff", "store", "Tutorial@0", "Tutorial"], ["diff", "store#P@0", "folder"], ["remove", "store"],
    ["publish", "store"], ["publish", "store", "site", "P@0"], ["publish", "store", "site", "P@x/y"],
    ["publish", "store", "site", "P", "P@1"], ["publish", "store", "site", "--level", "23"],
    ["publish", "store", "site", "--keep", "0"], ["publish", "store", "site", "--expires", "0"],
    ["publish", "store", "site", "--channel", "Beta"], ["publish", "store", "site", "--no-offer", "--channel", "beta"],
    ["publish", "store", "site", "--primary-language", "e"], ["promote", "site"], ["promote", "site", "P"],
    ["promote", "site", "P@1", "--share", "5"], ["promote", "site", "P@1", "--share", "101%"],
    ["promote", "site", "P@1", "--app-versions", "3..<2"], ["demote", "site", "P"], ["channels", "site", "--dry-run"],
    ["channels", "site", "--close"], ["channels", "site", "--channel", "beta", "--remove", "beta"],
    ["promote", "site", "P@1", "--channel", "beta", "--to", "beta"],
    ["demote", "site", "P@1", "--channel", "beta", "--from", "beta"],
    ["deltas", "site", "--deltas", "0"], ["unpublish", "site", "P", "--all", "--channel", "beta"],
    ["pull", "store", "site", "--channel", "a b"], ["pull", "store", "site", "--app-version", "x"],
    ["offers", "store"], ["offers", "store", ""], ["offers", "https://example.org", "store"],
    ["offers", "store", "site", "--channel", "a b"], ["offers", "store", "site", "--app-version", "x"],
    ["pull", "store", "site", "--platform", "1"], ["pull", "store", "site", "--device", "abc"],
    ["trust", "store", "forget"], ["trust", "store", "forget", "abc"], ["trust", "store", "order"],
    ["export", "store", "P"], ["export", "store", "a/b", "-o", "x"],
    ["download-manifest"], ["download-manifest", "create", "P.pack"], ["download-manifest", "update", "m.json"],
    ["download-manifest", "make", "P.pack"],
    ["package", "Manifest.json"], ["package", "Manifest.json", "-o", "P.zip"],
    ["package", "Manifest.json", "-o", "P.pack", "--version", "0"],
    ["package", "Manifest.json", "-o", "P.pack", "--version", "9007199254740992"],
    ["package", "Manifest.json", "-o", "P.pack", "--level", "23"],
    ["package", "Manifest.json", "-o", "P.pack", "--estimate-delta"],
    ["import", "store"], ["agent"], ["agent", "event"], ["agent", "a/b"], ["agent", "event", "g", "never"],
    ["agent", "g", "install"], ["agent", "g", "--once", "--wait-essential"],
    ["agent", "event", "g", "install", "--once"],
    ["agent", "g", "--extension-time", "-1"],
    ["import", "store", "x", "--trust", "abc"], ["template", "--force"], ["evaluate"],
    ["convert", "x", "--essential", "--on-demand"], ["convert", "x", "--installation-event-type", "firstInstallation"],
    ["convert", "x", "--platform", "watchOS"], ["convert", "x", "--language", "en_US"],
    ["convert", "x", "--asset-pack-id", "a/b"],
  ])
  func wrongUsageExitsWith2(arguments: [String]) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("packstore: "))
    #expect(playground.tree("").isEmpty)
  }

  /// Not help, and no complaint of something else.
  @Test(arguments: ["-dash", "-help", "-lh", "-xyz"]) func wordsThatLookLikeOptions(word: String) throws {
    for command in [["cat", "store"], ["ls", "store"], ["extract", "store"]] {
      let run = try playground.packstore(command + [word])
      #expect(run.status == 2 && run.output.isEmpty, "\(command)")
      #expect(run.errors == "packstore: '\(word)': not an option; a name that begins with '-' goes after '--'\n")
    }
    #expect(try playground.packstore("cat", "nowhere", "--", word).status == 1, "a name")
  }

  /// The set of groups of one-letter options depends on the existing options.
  @Test func oneLetterOptionsAreKnown() throws {
    var letters: Set<Character> = []
    for command in Self.commands {
      let help = try help(of: command)
      letters.formUnion(help.matches(of: /\n  -(\w)[, ]/).compactMap { $0.1.first })
    }
    #expect(letters == Packstore.shortOptions)
  }

  /// Control characters of a command line are escaped: at the beginning of a word, and after a letter.
  @Test(arguments: ["\u{1b}]0;owned\u{7}", "a\nb\u{1b}[31m\u{9b}31m", "\u{202e}gpj"])
  func wrongUsageIsSafeToShow(text: String) throws {
    for arguments in [
      ["ls", "store", "--\(text)"], ["ls", "store", "--\(text)=\(text)"], ["cat", "store", "-\(text)"], [text],
      ["help", text], ["add", "store", "folder", "--pack", text], ["add", "store", "folder", "--pack=\(text)"],
      ["add", "store", "folder", "--pack", "P", "--layout", text], ["trust", "store", text],
      ["trust", "store", "forget", text], ["cat", "store", "a", "--range", text], ["diff", text], ["pull", text],
      ["publish", "store", "site", "--level", text], ["publish", "store", "site", "--product", text],
      ["pull", "store", "site", "--max-age", text], ["pull", "store", "site", "--min-rate", text],
      ["log", "store", text], ["delta", "store", "\(text)@1", "@2", "-o", "f"],
    ] {
      for json in [[], ["--json"]] {
        let run = try playground.packstore(arguments + json)
        #expect([1, 2].contains(run.status), "\(arguments)")
        let isSafe = run.errors.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\\" || !needsEscape($0) }
        #expect(isSafe && !run.errors.contains("\nb"), "\(arguments): \(run.errors.debugDescription)")
      }
    }
  }

  /// A name that is not UTF-8 does not match the name of another file.
  @Test(arguments: [
    "add 'WORD' folder --pack P", "add store 'WORD' --pack P", "'WORD'", "ls store -- 'WORD'", "keygen 'WORD'",
    "add store folder --pack='WORD'", "extract store 'WORD'", "verify store --json 'WORD'",
  ])
  func argumentsAreUTF8(_ command: String) throws {
    try playground.write("text", to: "folder/file")
    try playground.packstore("add", "store", "folder", "--pack", "P", "-q")
    // The file that a program would use if it replaced invalid bytes in names.
    try playground.write("text", to: "a\u{FFFD}/file")
    let before = playground.tree("")
    let run = try playground.shell(
      "word=$(printf 'a\\377'); packstore \(command.replacing("'WORD'", with: "\"$word\""))")
    #expect(run.status == 2 && run.output.isEmpty, "\(run.errors)")
    let shown = command.contains("=") ? #"'--pack=a\xff'"# : #"'a\xff'"#
    let message = command.contains("--json") ? try JSON(run.errors.utf8)["message"]?.string ?? "" : run.errors
    #expect(message.contains("\(shown): not UTF-8"), "\(run.errors)")
    #expect(playground.tree("") == before)
  }

  @Test func usageErrorsSayWhatIsWrong() throws {
    let run = try playground.packstore("add", "store", "folder", "--pack", "-x")
    #expect(run.errors.hasPrefix("packstore: Missing value for '--pack <id>'\n"))
    let level = try playground.packstore("add", "store", "folder", "--pack", "x", "--level", "0")
    let message = "packstore: --level must be from 1 to 22, or from -1 to -7, not 0\nUsage: packstore add "
    #expect(level.errors.hasPrefix(message))
  }

  @Test(arguments: [
    ["ls", "nowhere"], ["cat", "nowhere", "a"], ["extract", "nowhere", "out"], ["stat", "nowhere"], ["log", "nowhere"],
    ["conflicts", "nowhere"], ["diff", "nowhere", "A@1", "A@2"], ["verify", "nowhere"],
    ["verify", "nowhere", "--deep"], ["repair", "nowhere"],
    ["remove", "nowhere", "A"],
  ])
  func missingStoreIsAnError(arguments: [String]) throws {
    let run = try playground.packstore(arguments)
    #expect(run.status == 1)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("packstore: "))
    #expect(run.errors.contains("nowhere"))
    #expect(playground.tree("").isEmpty, "reading makes nothing")
  }

  @Test(arguments: ["ls", "stat", "verify"])
  func otherFoldersAreNoStores(command: String) throws {
    try playground.write("x", to: "other/file")
    let run = try playground.packstore(command, "other")
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("packstore: "))
    #expect(run.errors.contains("other"))
    #expect(playground.tree("other") == ["file"])
  }

  @Test func addDoesNotTouchAFolderThatIsNoStore() throws {
    try playground.write("x", to: "other/file")
    try playground.write("y", to: "folder/asset")
    let run = try playground.packstore("add", "other", "folder", "--pack", "A")
    #expect(run.status == 1)
    #expect(playground.tree("other") == ["file"])
  }
}
