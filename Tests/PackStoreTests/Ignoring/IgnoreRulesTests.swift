import Foundation
import Testing

@testable import PackStore

/// The paths that patterns match, compared with git.
@Suite struct IgnoreRulesTests {
  private let folder = Scratch()

  private func ignored(_ rules: IgnoreRules, _ paths: [String]) -> [String] {
    let walk = IgnoreWalk(FilePath(folder.path), rules)
    return paths.filter { isIgnored($0, by: walk) }
  }

  /// A path is left out if it is, or a folder that leads to it. Folders end with a slash.
  private func isIgnored(_ path: String, by walk: IgnoreWalk) -> Bool {
    let isFolder = path.hasSuffix("/")
    let parts = path.split(separator: "/")
    return parts.indices.contains { index in
      walk.ignores(parts[...index].joined(separator: "/"), isFolder: isFolder || index < parts.count - 1)
    }
  }

  @Test(arguments: [
    ("*.psd", ["a.psd", "b/c.psd"], ["a.psdx", "psd"]), ("/build", ["build", "build/x"], ["a/build"]),
    ("build/", ["build/x", "a/build/x"], ["build"]), ("a/b", ["a/b", "a/b/c"], ["x/a/b"]),
    ("**/x/*.c", ["x/a.c", "p/q/x/a.c"], ["x/y/a.c"]), ("a/**", ["a/b", "a/b/c"], ["b/a"]),
    ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["az", "b/a/z"]), ("[!a-c]x", ["dx", "p/zx"], ["ax", "cx"]),
    ("\\#a", ["#a"], ["a"]), ("a ", ["a"], ["a "]), ("a\\ ", ["a "], ["a"]), ("?b", ["ab"], ["b", "aab"]),
    ("foo**/bar", ["foobar", "foo/bar", "foox/y/bar"], ["fo/bar", "foobarx"]),
    ("[f]oo**/bar", ["foox/bar"], ["foobar", "foox/y/bar"]), ("/a**/[[:alpha:]]?/**", ["abc/b/b"], ["b/b", "a/b/b"]),
    ("[[:digit:]]", ["1"], ["a", "["]), ("\\*", ["*"], ["a"]), ("# a", [], ["# a", "a"]), ("[", [], ["["]),
  ])
  func patterns(_ pattern: String, _ meant: [String], _ others: [String]) {
    var rules = IgnoreRules(patterns: [pattern])
    rules.usesStandardPatterns = false
    #expect(ignored(rules, meant + others) == meant, "\(pattern)")
  }

  /// Names and patterns of any length up to the limits match as short ones do: at the borders of 64 bytes above all.
  @Test(arguments: [1, 62, 63, 64, 65, 127, 128, 129, 255]) func longNames(count: Int) {
    let name = String(repeating: "a", count: count), folders = String(repeating: "b/", count: count)
    let stars = String(repeating: "*a", count: count), any = String(repeating: "?", count: count)
    for (pattern, meant, others) in [
      (stars, [name, "x\(name)", "\(name)a"], [String(name.dropLast()), "\(name)x"]),
      (any + "*", [name, "\(name)x"], [String(name.dropLast())]), ("/*x", ["\(name)x"], ["b/\(name)x", name]),
      ("/**/\(name)", [name, folders + name], ["\(folders)\(name)a"]),
      ("/*/\(any)[a]", ["b/\(name)a", "\(name)/\(name)a"], ["b/b/\(name)a", "b/\(name)b"]),
      (String(repeating: "**/", count: count) + "z", ["z", "\(folders)z"], ["\(folders)y"]),
    ] {
      patterns(pattern, meant.filter { !$0.isEmpty }, others.filter { !$0.isEmpty })
    }
  }

  /// Paths of an archive come in any order, and folders are decided once as long as the paths stay in them.
  @Test func pathsInAnyOrder() throws {
    let rules = IgnoreRules(patterns: ["skip/", "*.c", "!kept.c", "a/b/d/"])
    let paths = [
      "a", "a/b", "a/b/c", "a/b/d", "a/b/d/e/f", "a/bc", "a/skip/x", "a/skip/y/z", "a/skipped", "a.c", "a.c/x", "skip",
      "skip/a/b", "b/skip/kept.c", "b/x.c/kept.c", "b/kept.c", "b/y.c", "ab/kept.c/x",
    ]
    let skipped = paths.filter { isIgnored($0, by: IgnoreWalk(FilePath(folder.path), rules)) }
    #expect(skipped.count == 9)
    var random = SeededGenerator(seed: 1)
    for _ in 0..<100 {
      let walk = IgnoreWalk(FilePath(folder.path), rules)
      let found = try paths.shuffled(using: &random).filter { try walk.ignoresAny(of: $0, isFolder: false) }
      #expect(Set(found) == Set(skipped))
    }
  }

  @Test func theLastPatternDecides() {
    let rules = IgnoreRules(patterns: ["*.txt", "!keep.txt", "logs/", "!logs/keep.txt"])
    #expect(ignored(rules, ["a.txt", "keep.txt", "logs/keep.txt", "b/keep.txt"]) == ["a.txt", "logs/keep.txt"])
  }

  /// Options win over files, inner files over outer ones, all over lists, and these over the defaults.
  @Test func precedence() throws {
    try folder.write(Array("*.o\n!.DS_Store\n/top\n".utf8), to: ".packignore")
    try folder.write(Array("!a.o\nsub\n".utf8), to: "in/.packignore")
    var rules = IgnoreRules(patterns: ["!b.o"], lists: ["list\n", "!list\nlater\n"])
    let paths = [
      "x.o", "in/x.o", "in/a.o", "b.o", ".DS_Store", "Thumbs.db", "top", "in/top", "in/sub", "sub", "list", "later",
      ".packignore", "in/.packignore",
    ]
    #expect(
      ignored(rules, paths)
        == ["x.o", "in/x.o", "Thumbs.db", "top", "in/sub", "later", ".packignore", "in/.packignore"])
    rules.usesStandardPatterns = false
    #expect(!ignored(rules, paths).contains("Thumbs.db"))
    rules.readsIgnoreFiles = false
    #expect(ignored(rules, paths) == ["later"])
  }

  @Test func listsThatCannotBeRead() async throws {
    try folder.write([0xff], to: "source/.packignore")
    try folder.write([1], to: "source/file")
    let store = try Store(at: FilePath("\(folder.path)/store"))
    await #expect {
      try await store.install(
        folder: FilePath("\(folder.path)/source"), as: "P", options: .init(ignoring: IgnoreRules()))
    } throws: { error in
      (error as? PackStoreError)?.code == .refused
    }
    #expect(try store.makeSnapshot().packs.isEmpty)
  }

  @Test func installsWhatIsLeft() async throws {
    for name in ["a", "b.tmp", "cache/x", "deep/cache/y", "deep/z", ".DS_Store", "cache.txt"] {
      try folder.write(Array(name.utf8), to: "source/\(name)")
    }
    try folder.write(Array("# what builds leave\n*.tmp\r\ncache/\n".utf8), to: "source/.packignore")
    let store = try Store(at: FilePath("\(folder.path)/store"))
    let result = try await store.install(
      folder: FilePath("\(folder.path)/source"), as: "P", options: .init(ignoring: IgnoreRules()))
    let paths = try store.makeSnapshot().entries(depth: .descendants).map(\.path)
    #expect(paths == ["a", "cache.txt", "deep/z"])
    let ignored = result.ignored.sorted { $0.path < $1.path }
    #expect(ignored.map(\.path) == [".DS_Store", ".packignore", "b.tmp", "cache", "deep/cache"])
    #expect(ignored.map(\.isStandard) == [true, false, false, false, false] && result.ignoredCount == 5)
    #expect(ignored[3].isFolder && ignored[3].pattern == "cache/" && ignored[3].file == ".packignore")
  }

  // MARK: - Comparison with git

  private static let hasGit = (try? run("git", ["--version"], in: "/", input: [])) != nil

  private static func run(_ program: String, _ arguments: [String], in folder: String, input: [UInt8]) throws -> [UInt8]
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = ProcessInfo.processInfo.environment.merging([
      "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": folder,
    ]) { $1 }
    let inputFile = "\(folder)/.input", outputFile = "\(folder)/.output"
    if !input.isEmpty {
      try Data(input).write(to: URL(fileURLWithPath: inputFile))
      process.standardInput = FileHandle(forReadingAtPath: inputFile)
    }
    _ = FileManager.default.createFile(atPath: outputFile, contents: nil)
    let output = folder == "/" ? FileHandle.nullDevice : FileHandle(forWritingAtPath: outputFile)
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    struct Failed: Error {}
    // 1: nothing is ignored.
    guard process.terminationStatus <= 1 else { throw Failed() }
    return folder == "/" ? [] : Array(try Data(contentsOf: URL(fileURLWithPath: outputFile)))
  }

  /// 500 folders with lists of patterns, generated randomly: git and the rules leave out the same paths. `PACKSTORE_SEED` repeats a
  /// run.
  @Test(.enabled(if: hasGit)) func agreesWithGit() throws {
    let given = ProcessInfo.processInfo.environment["PACKSTORE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var cases: [(name: String, paths: [String])] = []
    for number in 0..<500 {
      let name = "case-\(number)"
      var paths = Set<String>()
      for _ in 0..<12 {
        let parts = (0..<Int.random(in: 1...4, using: &random)).map { _ in Self.names.randomElement(using: &random)! }
        paths.insert(parts.joined(separator: "/"))
      }
      // A file is not also a folder.
      paths = paths.filter { path in !paths.contains { $0.hasPrefix(path + "/") } }
      for path in paths { try folder.write([1], to: "\(name)/\(path)") }
      let folders = Set([""] + paths.flatMap(Self.parents))
      for place in folders.sorted() where place.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
        let lines = (0..<Int.random(in: 1...5, using: &random)).map { _ in Self.pattern(&random) }
        let text = lines.joined(separator: Bool.random(using: &random) ? "\n" : "\r\n") + "\n"
        let prefix = place.isEmpty ? name : "\(name)/\(place)"
        for file in [".gitignore", ".packignore"] { try folder.write(Array(text.utf8), to: "\(prefix)/\(file)") }
      }
      cases.append((name, (paths + folders.filter { !$0.isEmpty }.map { $0 + "/" }).sorted()))
    }
    _ = try Self.run("git", ["init", "-q"], in: folder.path, input: [])
    // With a slash at the end git would look for an empty name in the folder.
    func name(_ path: String, in one: String) -> String {
      "\(one)/\(path.hasSuffix("/") ? path.dropLast() : path[...])"
    }
    let asked = cases.flatMap { one in one.paths.map { name($0, in: one.name) } }
    let answer = try Self.run(
      "git", ["check-ignore", "--no-index", "--stdin", "-z"], in: folder.path,
      input: Array(asked.joined(separator: "\0").utf8) + [0])
    let expected = Set(answer.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    #expect(expected.count > 500 && expected.count < asked.count, "the cases say something: \(expected.count)")
    for one in cases {
      var rules = IgnoreRules()
      rules.usesStandardPatterns = false
      let walk = IgnoreWalk(FilePath("\(folder.path)/\(one.name)"), rules)
      for path in one.paths {
        let isExpected = expected.contains(name(path, in: one.name))
        guard isIgnored(path, by: walk) != isExpected else { continue }
        Issue.record(
          "seed \(seed): git \(isExpected ? "ignores" : "takes") \(one.name)/\(path)\n\(lists(of: one.name))")
      }
      #expect(walk.failure == nil)
    }
  }

  /// The lists of a case, for messages.
  private func lists(of name: String) -> String {
    let names = FileManager.default.enumerator(atPath: "\(folder.path)/\(name)")?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".packignore") }.sorted().map { file in
      let text = (try? String(contentsOfFile: "\(folder.path)/\(name)/\(file)", encoding: .utf8)) ?? ""
      return "\(file): \(text.debugDescription)"
    }.joined(separator: "\n")
  }

  private static let names = [
    "a", "b", "ab", "ba", "a.c", "b.c", "A", "a b", "\u{FC}", "[a]", "-", "!b", "#a", "abc", "x*y",
  ]

  private static func parents(_ path: String) -> [String] {
    let parts = path.split(separator: "/").dropLast()
    return parts.indices.map { parts[...$0].joined(separator: "/") }
  }

  private static func pattern(_ random: inout SeededGenerator) -> String {
    let pieces = [
      "a", "b", "ab", "c", ".c", "*", "*", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[[:alpha:]]", "[[:upper:]]", "\\*",
      "\\a",
      "[]-]", "[a\\]]", " ", "-", "\u{FC}", "[", "A", "[b-]", "[[:nonsense:]]",
    ]
    let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      Int.random(in: 0..<5, using: &random) == 0
        ? "**"
        : (0..<Int.random(in: 1...3, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
    }
    let ends = [
      ("", ""), ("", ""), ("/", ""), ("", "/"), ("!", ""), ("!/", "/"), ("#", ""), ("\\", ""), ("", "  "), ("", "\\ "),
    ]
    let (prefix, suffix) = ends.randomElement(using: &random)!
    return prefix + parts.joined(separator: "/") + suffix
  }
}

/// A folder that is gone after the test.
private final class Scratch {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("packstore-\(UUID().uuidString)").path

  init() { try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ bytes: [UInt8], to name: String) throws {
    let file = URL(fileURLWithPath: "\(path)/\(name)")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }
}
