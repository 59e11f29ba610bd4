import Foundation
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct ManifestEvaluationTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder(
      "Game",
      [
        "Videos/Introduction.m4v": Data(count: 1_000), "Videos/Outro.m4v": Data(count: 10),
        "Textures/a.png": Data(count: 3),
        "Textures/a.psd": Data(count: 5), "Textures/deep/b.png": Data(count: 7), "Levels/1/mesh": Data(count: 1),
        "Levels/2/mesh": Data(count: 2), "Levels/2/secret/mesh": Data(count: 4), "notes.txt": Data(count: 9),
      ])
  }

  /// Evaluates a manifest in the folder `Game` with these selectors. `§` marks the places of problems.
  private func evaluate(_ selectors: String, _ more: String = "") throws -> (
    evaluation: ManifestEvaluation, marked: MarkedText
  ) {
    let marked = MarkedText(
      #"{"assetPackID":"P","downloadPolicy":{"onDemand":{}},"sourceRoot":".",\#(more)"fileSelectors":[\#(selectors)]}"#)
    try Data(marked.text.utf8).write(to: URL(filePath: folder.path("Game/Manifest.json")))
    return (try Manifest.evaluate(contentsOf: FilePath(folder.path("Game/Manifest.json"))), marked)
  }

  private func paths(_ evaluation: ManifestEvaluation) -> [String] {
    evaluation.entries.map { entry in
      let from = entry.source == entry.path ? "" : "<\(entry.source)"
      return
        "\(entry.path)\(from) \(entry.kind == .file ? "\(entry.byteCount)" : entry.kind.rawValue) \(entry.selector)"
    }
  }

  // MARK: - Meaning of selectors

  @Test(arguments: [
    (#"{"file":"Videos/Outro.m4v"}"#, ["Videos/Outro.m4v 10 0"]),
    (#"{"directory":"Videos"}"#, ["Videos/Introduction.m4v 1000 0", "Videos/Outro.m4v 10 0"]),
    (#"{"directory":"Textures/"},{"fileExclusion":"*.psd"}"#, ["Textures/a.png 3 0", "Textures/deep/b.png 7 0"]),
    (#"{"filePattern":"*.png"}"#, ["Textures/a.png 3 0", "Textures/deep/b.png 7 0"]),
    (#"{"filePattern":"Textures/*.png"}"#, ["Textures/a.png 3 0"]),
    (#"{"filePattern":"/*.txt"}"#, ["notes.txt 9 0"]),
    (
      #"{"filePattern":"Levels/**/mesh"},{"fileExclusion":"Levels/2/secret/**"}"#,
      ["Levels/1/mesh 1 0", "Levels/2/mesh 2 0"]
    ),
    (#"{"filePattern":"**/[ab].p*"}"#, ["Textures/a.png 3 0", "Textures/a.psd 5 0", "Textures/deep/b.png 7 0"]),
    (#"{"fileSource":"notes.txt","fileDestination":"Docs/readme"}"#, ["Docs/readme<notes.txt 9 0"]),
    (
      #"{"directorySource":"Levels/2","directoryDestination":"Two"}"#,
      ["Two/mesh<Levels/2/mesh 2 0", "Two/secret/mesh<Levels/2/secret/mesh 4 0"]
    ),
    (
      #"{"directorySource":"Levels/2","directoryDestination":"."}"#,
      ["mesh<Levels/2/mesh 2 0", "secret/mesh<Levels/2/secret/mesh 4 0"]
    ),
    (
      #"{"directorySource":"Levels/1","directoryDestination":"a/b/"},{"file":"Levels/1/mesh"}"#,
      ["Levels/1/mesh 1 1", "a/b/mesh<Levels/1/mesh 1 0"]
    ),
    // A file by two selectors is one, of the first of them.
    (
      #"{"directory":"Videos"},{"file":"Videos/Outro.m4v"},{"filePattern":"*.m4v"}"#,
      ["Videos/Introduction.m4v 1000 0", "Videos/Outro.m4v 10 0"]
    ),
    (
      #"{"fileExclusion":"secret/*"},{"fileExclusion":"**/secret/*"},{"directory":"Levels"}"#.replacing(
        #"{"fileExclusion":"secret/*"},"#, with: ""), ["Levels/1/mesh 1 1", "Levels/2/mesh 2 1"]
    ),
  ])
  func selectorsTake(_ selectors: String, _ expected: [String]) throws {
    let (evaluation, _) = try evaluate(selectors)
    #expect(evaluation.problems.map(\.description) == [] && !evaluation.hasErrors && evaluation.manifest != nil)
    #expect(paths(evaluation) == expected)
  }

  @Test func theWholeRootIsTaken() throws {
    let (evaluation, marked) = try evaluate(#"{"directory":§"."},{"fileExclusion":"/Manifest.json"}"#)
    #expect(paths(evaluation).count == 9 && evaluation.byteCount == 1_041)
    #expect(
      evaluation.problems.map(\.description)
        == marked.descriptions([
          #"warning: Apple's packager does not accept '.' as a directory; for Apple's packager, write { "filePattern": "**" }"#
        ]))
  }

  @Test(arguments: [
    (
      #"{"file":§"Videos/Intro.m4v"}"#,
      ["error: no file 'Videos/Intro.m4v' exists in the source root 'ROOT'; did you mean 'Videos/Outro.m4v'?"]
    ),
    (
      #"{"file":§"Videos/Outr.m4v"}"#,
      ["error: no file 'Videos/Outr.m4v' exists in the source root 'ROOT'; did you mean 'Videos/Outro.m4v'?"]
    ),
    (
      #"{"file":§"videos/Outro.m4v"}"#,
      ["error: no folder 'videos' exists in the source root 'ROOT'; did you mean 'Videos/Outro.m4v'?"]
    ),
    (
      #"{"directory":§"Texture"}"#,
      ["error: no folder 'Texture' exists in the source root 'ROOT'; did you mean 'Textures'?"]
    ),
    (
      #"{"file":§"Videos\\Outro.m4v"}"#,
      [#"error: no file 'Videos\Outro.m4v' exists in the source root 'ROOT'; write '/' between the names of a path"#]
    ),
    (#"{"file":§"Videos"}"#, ["error: 'Videos' is a folder; select it as a directory"]),
    (#"{"directory":§"notes.txt"}"#, ["error: 'notes.txt' is a file; select it as a file"]),
    (#"{"file":§"notes.txt/a"}"#, ["error: 'notes.txt' is not a folder; use the path of a folder"]),
    (#"{"filePattern":§"*.jpg"}"#, ["error: the pattern '*.jpg' matches no files; change or remove the selector"]),
    (
      #"{"filePattern":§"Nowhere/*"}"#,
      ["error: the pattern 'Nowhere/*' matches no files; change or remove the selector"]
    ),
    (
      #"{"filePattern":§"Levels/*"}"#,
      ["error: the pattern 'Levels/*' matches no files; change or remove the selector"]
    ),
    (
      #"{"filePattern":§"*.psd"},{"fileExclusion":"*.psd"}"#,
      ["error: the pattern '*.psd' matches no files except excluded files; change or remove the selector"]
    ),
    (
      #"{"file":§"notes.txt"},{"fileExclusion":"notes*"}"#,
      ["error: an exclusion removes 'notes.txt'; change or remove the selector"]
    ),
    (
      #"{"directory":§"Videos"},{"fileExclusion":"Videos/**"}"#,
      ["error: the folder 'Videos' contains no files except excluded files; change or remove the selector"]
    ),
    (
      #"{"file":"notes.txt"},{"fileExclusion":§"*.tmp"}"#,
      ["warning: '*.tmp' excludes nothing that is selected; check the pattern"]
    ),
    (
      #"{"directory":"Levels"},{"fileExclusion":§"Levels/2/secret"}"#,
      [
        "warning: 'Levels/2/secret' excludes nothing that is selected; write 'Levels/2/secret/**' for the files of a folder"
      ]
    ),
    (
      #"{"file":"notes.txt"},{"fileSource":"Levels/1/mesh","fileDestination":§"notes.txt"}"#,
      [
        "error: 'notes.txt' would come from 'Levels/1/mesh' and from 'notes.txt'; change one of the destinations; the other selector is in line 1"
      ]
    ),
    (
      #"{"directorySource":"Levels/1","directoryDestination":"L"},{"directorySource":"Levels/2","directoryDestination":§"L"}"#,
      [
        "error: 'L/mesh' would come from 'Levels/2/mesh' and from 'Levels/1/mesh'; change one of the destinations; the other selector is in line 1"
      ]
    ),
    (
      #"{"fileSource":"notes.txt","fileDestination":"a"},{"fileSource":"Levels/1/mesh","fileDestination":§"a/b"}"#,
      ["error: 'a' would be a file and a folder, of 'a/b'; change a destination"]
    ),
    (
      #"{"fileSource":"notes.txt","fileDestination":"a"},{"fileSource":"Levels/1/mesh","fileDestination":§"A"}"#
        .replacing("§", with: "").replacing("\"a\"", with: "§\"a\""),
      ["warning: 'A' and 'a' differ only by case; rename one: some disks do not distinguish them"]
    ),
    (
      #"{"fileSource":"notes.txt","fileDestination":"\u00e9/x"},{"fileSource":"Levels/1/mesh","fileDestination":"e\u0301/y"}"#
        .replacing(#""\u00e9"#, with: #"§"\u00e9"#),
      [
        #"warning: 'e\u0301' and '\u00e9' differ only by Unicode normal form; rename one: some disks do not distinguish them"#
      ]
    ),
    (
      #"{"fileSource":"notes.txt","fileDestination":"STRASSE"},{"fileSource":"Levels/1/mesh","fileDestination":§"stra\u00dfe"}"#,
      ["warning: 'STRASSE' and 'stra\u{df}e' differ only by case; rename one: some disks do not distinguish them"]
    ),
  ])
  func whatIsWrongIsReported(_ selectors: String, _ expected: [String]) throws {
    let (evaluation, marked) = try evaluate(selectors)
    let root = folder.path("Game")
    #expect(
      evaluation.problems.map { $0.description.replacing(root, with: "ROOT") } == marked.descriptions(expected))
    #expect(evaluation.hasErrors == expected.contains { $0.hasPrefix("error") })
  }

  @Test func twinsAreErrorsForApplesPlatforms() throws {
    let selectors =
      #"{"fileSource":"notes.txt","fileDestination":"A/x"},{"fileSource":"Levels/1/mesh","fileDestination":§"a/y"}"#
    let (evaluation, marked) = try evaluate(selectors, #""platforms":["macOS"],"#)
    #expect(
      evaluation.problems.map(\.description)
        == marked.descriptions([
          "error: 'A' and 'a' differ only by case; rename one: Apple's disks may not distinguish them"
        ]))
  }

  @Test func patternsOfMapAreTriedOnThePack() throws {
    let more = #""packstore":{"map":["Two/*","Levels/*"]},"#
    let (evaluation, _) = try evaluate(#"{"directorySource":"Levels/2","directoryDestination":"Two"}"#, more)
    #expect(
      evaluation.problems.map(\.message) == ["the pattern 'Levels/*' matches no file of the pack"]
        && !evaluation.hasErrors)
  }

  // MARK: - Links and oddities

  #if os(Linux)
    /// Linux distinguishes folders that differ only by Unicode normal form. Each has its own files.
    @Test func foldersInBothNormalForms() throws {
      let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
      try folder.makeFolder(
        "Game", ["\(composed)/a": Data(count: 1), "\(composed)/b": Data(count: 2), "\(decomposed)/c": Data(count: 3)])
      let (evaluation, _) = try evaluate(#"{"directory":"."},{"fileExclusion":"/Manifest.json"}"#)
      let found = evaluation.entries.map { Array("\($0.path) \($0.byteCount)".utf8) }
      #expect(found == ["\(decomposed)/c 3", "\(composed)/a 1", "\(composed)/b 2"].map { Array($0.utf8) })
    }
  #endif

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder.path("Game/\(name)"), withDestinationPath: target)
  }

  @Test func linksAreTakenAsLinks() throws {
    try link("Textures/same", to: "a.png")
    try link("Textures/deep/up", to: "../a.png")
    let (evaluation, _) = try evaluate(#"{"directory":"Textures"},{"fileExclusion":"*.p*"}"#)
    #expect(evaluation.problems.isEmpty && paths(evaluation) == ["Textures/deep/up link 0", "Textures/same link 0"])
  }

  @Test(arguments: [
    ("/etc/passwd", "'Videos/odd' is a symbolic link to an absolute path"),
    ("../../x", "'Videos/odd' is a symbolic link that leads out of the source root"),
    ("../Textures/../../x", "'Videos/odd' is a symbolic link that leads out of the source root"),
  ])
  func linksThatLeadOutAreRefused(_ target: String, _ message: String) throws {
    try link("Videos/odd", to: target)
    for selector in [#"{"directory":§"Videos"}"#, #"{"file":§"Videos/odd"}"#, #"{"filePattern":§"Videos/o*"}"#] {
      let (evaluation, marked) = try evaluate(selector)
      #expect(
        evaluation.problems.map(\.description)
          == marked.descriptions(["error: \(message); exclude it, or replace it with a file"]))
      #expect(!evaluation.entries.contains { $0.source == "Videos/odd" })
    }
    #expect(try !evaluate(#"{"directory":"Videos"},{"fileExclusion":"odd"}"#).evaluation.hasErrors)
  }

  @Test func linksMayNotLeadOutOfThePackEither() throws {
    try link("Textures/deep/up", to: "../a.png")
    let (evaluation, _) = try evaluate(#"{"directorySource":"Textures/deep","directoryDestination":"."}"#)
    #expect(
      evaluation.problems.map(\.message) == [
        "'Textures/deep/up' is a symbolic link that leads out of the pack from 'up'"
      ])
  }

  /// The target of a link is never read.
  @Test func noLinkIsFollowed() throws {
    try FileManager.default.createDirectory(atPath: folder.path("Outside"), withIntermediateDirectories: true)
    try Data("secret".utf8).write(to: URL(filePath: folder.path("Outside/secret")))
    try link("Way", to: "../Outside")
    for (selector, message) in [
      (#"{"file":"Way/secret"}"#, "'Way' is a symbolic link"), (#"{"directory":"Way"}"#, "'Way' is a symbolic link"),
      (#"{"directorySource":"Way","directoryDestination":"x"}"#, "'Way' is a symbolic link"),
      (#"{"filePattern":"Way/*"}"#, "the pattern 'Way/*' matches no files"),
    ] {
      let (evaluation, _) = try evaluate(selector)
      #expect(evaluation.problems.map(\.message) == [message] && evaluation.entries.isEmpty)
    }
  }

  @Test func emptyFoldersAndOddFiles() throws {
    try FileManager.default.createDirectory(atPath: folder.path("Game/Videos/Empty"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: folder.path("Game/Nothing/In"), withIntermediateDirectories: true)
    #expect(mkfifo(folder.path("Game/Videos/pipe"), 0o600) == 0)
    let (evaluation, _) = try evaluate(#"{"directory":"Videos"},{"directory":"Nothing"}"#)
    #expect(
      paths(evaluation) == [
        "Nothing/In folder 1", "Videos/Empty folder 0", "Videos/Introduction.m4v 1000 0", "Videos/Outro.m4v 10 0",
      ])
    #expect(
      evaluation.problems.map(\.message) == [
        "'Videos/pipe' is not a file, a folder or a link and is skipped", "the folder 'Nothing' contains no files",
      ])
  }

  @Test func namesThatAreNoUTF8AreReported() throws {
    let name = Array(folder.path("Game/Videos/").utf8) + [0xff]
    let descriptor = open(name.map(CChar.init(bitPattern:)) + [0], O_CREAT | O_WRONLY, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    let (evaluation, _) = try evaluate(#"{"directory":"Videos"}"#)
    #expect(
      evaluation.problems.map(\.message) == [#"'Videos/\xff' is not valid UTF-8"#] && evaluation.entries.count == 2)
  }

  /// Among Swift's characters, a slash and a combining mark are one.
  @Test func namesMayBeginWithCombiningMarks() throws {
    let name = "\u{301}a"
    try folder.makeFolder("Game/Marks", [name: Data(count: 1)])
    let (evaluation, _) = try evaluate(
      #"{"directorySource":"Marks","directoryDestination":"M"},{"filePattern":"Marks/*"},{"file":"Marks/\#(name)"}"#)
    #expect(evaluation.problems.isEmpty)
    #expect(evaluation.entries.map { Array($0.path.utf8) } == ["M/\(name)", "Marks/\(name)"].map { Array($0.utf8) })
  }

  // MARK: - Roots

  @Test func theRootIsRelativeToTheManifestOrTheCurrentFolder() throws {
    let text = #"{"assetPackID":"P","downloadPolicy":{"onDemand":{}},"fileSelectors":[{"file":"notes.txt"}]ROOT}"#
    try folder.makeFolder("Scripts/deep", [:])
    let file = folder.path("Scripts/deep/m.json")
    func evaluate(_ root: String, in current: String) throws -> ManifestEvaluation {
      try Data(text.replacing("ROOT", with: root).utf8).write(to: URL(filePath: file))
      return try Manifest.evaluate(contentsOf: FilePath(file), currentFolder: FilePath(current))
    }
    #expect(try paths(evaluate(#","sourceRoot":"../../Game""#, in: "/")) == ["notes.txt 9 0"])
    #expect(try paths(evaluate("", in: folder.path("Game"))) == ["notes.txt 9 0"])
    let missing = try evaluate(#","sourceRoot":"../Game""#, in: folder.path("Game"))
    #expect(
      missing.problems.map(\.message) == ["the source root '\(folder.path("Scripts/Game"))' is not a folder"]
        && missing.entries.isEmpty)
  }

  @Test func whatCannotBeReadIsAnError() throws {
    #expect { try Manifest.evaluate(contentsOf: FilePath(folder.path("nothing"))) } throws: {
      ($0 as? PackStoreError)?.code == .notFound
    }
    #expect { try Manifest.evaluate(contentsOf: FilePath(folder.path("Game"))) } throws: {
      ($0 as? PackStoreError)?.code == .wrongKind
    }
    let long = folder.path("long")
    #expect(FileManager.default.createFile(atPath: long, contents: nil) && truncate(long, 17 << 20) == 0)
    #expect { try Manifest.evaluate(contentsOf: FilePath(long)) } throws: { ($0 as? PackStoreError)?.code == .refused }
  }

  /// The order of names on disk and of selectors changes nothing but whose selector a file is.
  @Test func theOrderIsThatOfPaths() throws {
    let (forwards, _) = try evaluate(#"{"directory":"Levels"},{"directory":"Textures"},{"directory":"Videos"}"#)
    let (backwards, _) = try evaluate(#"{"directory":"Videos"},{"directory":"Textures"},{"directory":"Levels"}"#)
    #expect(forwards.entries.map(\.path) == backwards.entries.map(\.path))
    #expect(
      forwards.entries.map(\.path) == forwards.entries.map(\.path).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    )
  }
}
