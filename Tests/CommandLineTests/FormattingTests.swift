import PackStore
import Testing

@testable import packstore_cli

@Suite struct FormattingTests {
  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345_678, "12.3 MB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
    (1_000_000_000_000, "1.0 TB"), (Int.max, "9.2 EB"),
  ])
  func bytes(count: Int, expected: String) { #expect(formatBytes(count) == expected) }

  @Test func counts() {
    #expect(formatCount(0) == "0")
    #expect(formatCount(1_234_567) == "1,234,567")
    #expect(formatCount(1, "asset") == "1 asset")
    #expect(formatCount(1_000, "asset") == "1,000 assets")
  }

  @Test func percentages() {
    #expect(formatPercent(1, of: 3) == "33.3 %")
    #expect(formatPercent(0, of: 0) == "0.0 %")
  }

  @Test(arguments: [
    (Duration.milliseconds(40), "40 ms"), (.milliseconds(1_400), "1.4 s"), (.milliseconds(9_949), "9.9 s"),
    (.milliseconds(9_950), "10 s"), (.seconds(59.4), "59 s"),
    (.seconds(59.6), "1 min 0 s"), (.seconds(200), "3 min 20 s"), (.seconds(7_500), "2 h 5 min"),
  ])
  func durations(duration: Duration, expected: String) { #expect(formatDuration(duration) == expected) }

  @Test(arguments: [
    ("plain", "plain"), ("a b", "a b"), ("a\nb\t\r", #"a\nb\t\r"#), (#"a\b"#, #"a\\b"#), ("\u{1b}[31m", #"\x1b[31m"#),
    ("\u{7f}\u{0}", #"\x7f\x00"#), ("\u{202e}gpj", #"\u{202e}gpj"#), ("\u{85}", #"\u{85}"#), ("日本 👨‍👩‍👧", "日本 👨‍👩‍👧"),
  ])
  func escapes(name: String, expected: String) { #expect(escaped(name) == expected) }

  /// JSON contains names exactly, and no character that a terminal acts on.
  @Test(arguments: [
    "plain", "\u{80}\u{9b}31m\u{9f}", "\u{7f}\u{1b}\u{0}", "\u{202e}gpj\u{feff}\u{2028}", "日本 👨‍👩‍👧\u{a0}é",
  ])
  func controlCharactersAreEscapedInJSON(name: String) throws {
    let json = try jsonBytes(["name": name])
    #expect(String(decoding: json, as: UTF8.self).unicodeScalars.allSatisfy { !isControl($0) })
    #expect(try JSONDecoder().decode([String: String].self, from: json) == ["name": name])
  }

  @Test func bytesThatAreNoUTF8AreEscaped() {
    #expect(escaped([0x61, 0xff, 0x62]) == #"a\xffb"#)
    #expect(escaped([0xe2, 0x82]) == #"\xe2\x82"#)
    #expect(escaped([0xed, 0xa0, 0x80, 0x61]) == #"\xed\xa0\x80a"#)
  }

  @Test func tablesAlign() {
    var table = Table(("NAME", .left), ("SIZE", .right))
    table.add(["a", "1,000"])
    table.add(["long name", ""])
    #expect(table.lines == ["NAME        SIZE", "a          1,000", "long name"])
    // One cell that is very long widens its own line, and no other.
    let long = String(repeating: "x", count: 61)
    table.add([long, "2"])
    #expect(table.lines == ["NAME        SIZE", "a          1,000", "long name", long + "      2"])
  }

  @Test(arguments: [("0-9", 0, 9), ("5-", 5, nil), ("7-7", 7, 7)] as [(String, Int, Int?)])
  func ranges(text: String, first: Int, last: Int?) throws {
    let range = try #require(ByteRange(argument: text))
    #expect(range.first == first)
    #expect(range.last == last)
  }

  @Test(arguments: ["", "-", "5", "-5", "5-4", "a-b", "1-2-3", "+1-2", "0x1-2", "99999999999999999999-"])
  func badRanges(text: String) { #expect(ByteRange(argument: text) == nil) }
}
