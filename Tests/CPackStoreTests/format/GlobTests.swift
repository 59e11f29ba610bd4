import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The patterns of `map_globs`.
  @Suite struct GlobTests {
    private static func matches(_ pattern: String, _ path: String) -> Bool {
      pks_glob_matches(pattern, path, path.utf8.count)
    }

    /// Pattern, what it means, what it does not.
    private static let table: [(String, [String], [String])] = [
      ("a.bin", ["a.bin", "x/a.bin", "x/y/a.bin"], ["a.bi", "a.binn", "ba.bin", "a.bin/x", "A.bin"]),
      ("*.bin", ["a.bin", ".bin", "x/y/a.b.bin"], ["a.bin.x", "bin", "a.bin/x"]),
      ("*", ["a", "a/b"], []),
      ("**", ["a", "a/b"], []),
      ("a*b*c", ["abc", "a1b2c", "aabbcc", "x/abcbc"], ["ab", "abcd", "bac"]),
      ("?", ["a", "x/ä", "🌍"], ["ab", ""]),
      ("a?c", ["abc", "a🌍c"], ["ac", "abbc"]),
      ("/a", ["a"], ["x/a"]),
      ("x/a", ["x/a"], ["a", "y/x/a", "x/aa", "x"]),
      ("x/*", ["x/a", "x/.a"], ["x/a/b", "x", "y/a"]),
      ("x/*/b", ["x/a/b"], ["x/b", "x/a/a/b"]),
      ("x/**", ["x/a", "x/a/b"], ["x", "xa", "y/x/a"]),
      ("x/**/b", ["x/b", "x/a/b", "x/a/a/b"], ["xb", "x/ab", "x/a/bb", "b"]),
      ("**/b", ["b", "a/b", "a/a/b"], ["ab", "a/ab"]),
      ("**/x/**/*.m", ["x/a.m", "1/2/x/3/4/a.m"], ["a.m", "x.m", "1/a.m"]),
      ("x**y", ["xy", "x1y"], ["x"]),
      ("x/a**z", ["x/az", "x/a/b/z", "x/abz"], ["x/bz"]),
      ("***", ["a", "a/b"], []),
      ("[abc]", ["a", "c"], ["d", "ab"]),
      ("[a-cx]", ["b", "x"], ["d", "-"]),
      ("[!a-c]", ["d", "ä"], ["a", "c"]),
      ("[]]", ["]"], ["["]),
      ("[!]]", ["["], ["]"]),
      ("[a-]", ["a", "-"], ["b"]),
      ("[ä-ö]", ["ä", "é", "ö"], ["a", "ü"]),
      (#"[\]x]"#, ["]", "x"], [#"\"#]),
      ("x/[a/]", ["x/a"], ["x//"]),
      (#"\*"#, ["*"], ["a"]),
      (#"\[a]"#, ["[a]"], ["a"]),
      (#"a\\b"#, [#"a\b"#], ["ab"]),
      ("größe", ["größe"], ["grosse"]),
    ]

    @Test func table() {
      for (pattern, yes, no) in Self.table {
        #expect(pks_glob_fault(pattern) == nil, "\(pattern)")
        for path in yes { #expect(Self.matches(pattern, path), "'\(pattern)' means '\(path)'") }
        for path in no { #expect(!Self.matches(pattern, path), "'\(pattern)' does not mean '\(path)'") }
      }
    }

    @Test func faults() {
      let long = String(repeating: "a", count: 1_025)
      for pattern in ["", "[", "[a", "[!", "[]", "[!]", #"[a\]"#, #"a\"#, long] {
        #expect(pks_glob_fault(pattern) != nil, "\(pattern)")
      }
      #expect(pks_glob_fault([CChar(bitPattern: 0xff), 0]) != nil, "no UTF-8")
      #expect(pks_glob_fault(String(repeating: "a", count: 1_024)) == nil)
    }

    /// Patterns that cost matchers which go back exponential time.
    @Test func hostilePatterns() {
      let path = String(repeating: "a", count: 250)
      let deep = String(repeating: "a/", count: 2_000)
      #expect(!Self.matches(String(repeating: "*a", count: 500) + "b", path))
      #expect(!Self.matches(String(repeating: "**/", count: 300) + "b", deep + "a"))
      #expect(!Self.matches(String(repeating: "**a", count: 300) + "/b", deep + "a"))
      #expect(Self.matches(String(repeating: "*", count: 1_024), path))
    }

    /// Against a matcher that tries everything.
    @Test func agreesWithASimpleOne() {
      func simple(_ pattern: Substring, _ path: Substring, _ begins: Bool) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        let rest = pattern.dropFirst()
        if first == "*" {
          let after = pattern.drop { $0 == "*" }, stars = pattern.count - after.count
          let folders = stars > 1 && begins && after.first == "/"
          for cut in path.indices + [path.endIndex] {
            let taken = path[..<cut]
            if stars == 1 && taken.contains("/") { break }
            if folders
              ? (taken.isEmpty || taken.last == "/") && simple(after.dropFirst(), path[cut...], true)
              : simple(after, path[cut...], false)
            {
              return true
            }
          }
          return false
        }
        guard let next = path.first, first == "?" ? next != "/" : first == next else { return false }
        return simple(rest, path.dropFirst(), first == "/")
      }
      var random = Random(testSeed(11))
      for _ in 0..<4_000 {
        let pattern =
          "a/" + String((0..<random.below(8)).map { _ in random.pick(["a", "b", "/", "*", "*", "?"]) as Character })
        let path = "a/" + String((0..<random.below(9)).map { _ in random.pick(["a", "b", "/"]) as Character })
        #expect(Self.matches(pattern, path) == simple(pattern[...], path[...], true), "'\(pattern)' and '\(path)'")
      }
    }
  }
}
