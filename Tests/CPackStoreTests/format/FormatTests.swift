import CPackStore
import CPackStoreTesting
import Testing

extension Core {
  /// The one rule for paths, and for names of packs and segments.
  @Suite struct FormatTests {
    private static func isValid(_ path: [UInt8]) -> Bool {
      pks__path_is_valid(path.map { CChar(bitPattern: $0) }, path.count)
    }

    private static func isUTF8(_ text: [UInt8]) -> Bool {
      pks__is_utf8(text.map { CChar(bitPattern: $0) }, text.count)
    }

    private static let goodPaths = [
      "a", "a/b", "a/b/c", "A/B", "a.b", ".a", "a.", "..a", "a..", "...", "a/...", "a/..b", "a/.b/c", "....", " ", "  ",
      " a ", "a b", "-", "--",
      "-rf", "~", "~root", "$HOME", "%2e%2e", "%00", "a%2fb", "\\", "..\\..", "c:\\windows", "C:", "C:/x", "CON", "NUL",
      "aux.txt", "a\\b", "a:b", "a*b",
      "a?b", "a\"b", "a<b>c", "a|b", "a\tb", "a\nb", "a\rb", "\u{1}", "\u{7f}", "\u{1b}[31m", "é", "e\u{301}", "日本語",
      "😀", "\u{202e}gnp.exe", "\u{feff}a",
      "\u{200b}", "ａ", "\u{2024}\u{2024}", "．．", "\u{2215}", "a\u{0}b".replacing("\u{0}", with: "0"), "#", "#/x", "a;b",
      "a&b", "`id`", "$(id)", "'", "a'b", "!", "@", "^",
      "{}", "[a]", "(a)", "a,b", "=", "+", "\u{10ffff}", "\u{fffd}", "\u{ffff}", "index", "CONTROL", "lost+found",
      ".git/config", "a/b/c/d/e/f/g/h/i/j",
    ]

    private static let hostilePaths = [
      "", "/", "//", "///", "/a", "a/", "a//b", "a///b", "/a/", "//a", ".", "..", "./", "../", "./a", "../a", "a/.",
      "a/..", "a/./b", "a/../b", "../..",
      "../../a", "a/b/..", "a/b/../..", "a/b/../c", ".//a", "..//a", "a/./", "a/../", "/.", "/..", "/./a", "/../a",
      "//../a", "a//..", "a/.//b", "./.", "./..",
      "../.", ".././..", "\u{0}", "a\u{0}", "\u{0}a", "a\u{0}b", "a/\u{0}/b", "a/b\u{0}", "../\u{0}", ".\u{0}",
      "..\u{0}", "/etc/passwd", "/\u{0}", "a/\u{0}",
    ]

    /// Byte sequences that are not UTF-8, with valid text around them elsewhere.
    private static let notUTF8: [[UInt8]] = [
      [0x80], [0xbf], [0xc0, 0x80], [0xc0, 0xaf], [0xc1, 0xbf], [0xc2], [0xc2, 0x41], [0xc2, 0xc2], [0xe0, 0x80, 0x80],
      [0xe0, 0x80, 0xaf], [0xe0, 0x9f, 0xbf],
      [0xe1, 0x80], [0xe1, 0x80, 0x41], [0xe1, 0x41, 0x80], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf],
      [0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80], [0xef, 0xbf],
      [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x80, 0x80, 0xaf], [0xf0, 0x8f, 0xbf, 0xbf], [0xf0, 0x90, 0x80],
      [0xf1, 0x80, 0x80, 0x41], [0xf4, 0x90, 0x80, 0x80],
      [0xf5, 0x80, 0x80, 0x80], [0xf7, 0xbf, 0xbf, 0xbf], [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80], [0xfe], [0xff], [0xfe, 0xff],
      [0xe2, 0x28, 0xa1], [0xe2, 0x82, 0x28], [0xf0, 0x28, 0x8c, 0xbc], [0xf0, 0x90, 0x28, 0xbc],
      [0xf0, 0x28, 0x8c, 0x28],
    ]

    @Test func pathsThatAreFine() {
      #expect(Self.goodPaths.count >= 80)
      for path in Self.goodPaths { #expect(Self.isValid(Array(path.utf8)), "\(path.debugDescription)") }
    }

    @Test func hostilePathsAreRefused() {
      #expect(Self.hostilePaths.count + Self.notUTF8.count >= 80)
      for path in Self.hostilePaths { #expect(!Self.isValid(Array(path.utf8)), "\(path.debugDescription)") }
      for bytes in Self.notUTF8 {
        for path in [
          bytes, Array("a/".utf8) + bytes, bytes + Array("/a".utf8), Array("x".utf8) + bytes + Array("y".utf8),
        ] {
          #expect(!Self.isValid(path), "\(path)")
        }
      }
    }

    @Test func limitsOfPaths() {
      let name = [UInt8](repeating: 0x61, count: 255), slash = UInt8(ascii: "/")
      #expect(Self.isValid(name) && !Self.isValid(name + [0x61]))
      #expect(Self.isValid([0x62, slash] + name) && !Self.isValid([0x62, slash] + name + [0x61]))
      let longest = Array([[UInt8]](repeating: name, count: 16).joined(separator: [slash]))
      #expect(longest.count == 4095)
      #expect(Self.isValid(longest))
      #expect(!Self.isValid(Array(longest.prefix(4093)) + [slash, 0x61, 0x61]))
      let deep = Array([[UInt8]](repeating: [0x61], count: 2000).joined(separator: [slash]))
      #expect(Self.isValid(deep) && !Self.isValid(deep + [slash, 0x61]))
    }

    /// Every sequence of one to three bytes, and a lattice of those of four, against Swift's own decoder.
    @Test func utf8AgreesWithSwift() {
      func agrees(_ bytes: [UInt8]) -> Bool { Self.isUTF8(bytes) == (String(validating: bytes, as: UTF8.self) != nil) }
      let edges: [UInt8] = [
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
        0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
      ]
      var wrong: [[UInt8]] = []
      for a in UInt8.min...UInt8.max {
        if !agrees([a]) { wrong.append([a]) }
        for b in edges { if !agrees([a, b]) { wrong.append([a, b]) } }
      }
      for a in edges {
        for b in edges {
          for c in edges {
            if !agrees([a, b, c]) { wrong.append([a, b, c]) }
            for d in [0x41, 0x80, 0xbf, 0xc2] as [UInt8] where !agrees([a, b, c, d]) { wrong.append([a, b, c, d]) }
          }
        }
      }
      #expect(wrong == [])
      for bytes in Self.notUTF8 { #expect(!Self.isUTF8(bytes), "\(bytes)") }
    }

    @Test func packNames() {
      let longest = String(repeating: "x", count: 128)
      for name in ["a", "A", "0", "_", "_a", "a-b", "a.b", "a_b", "a-", "a.", "9.1.2", longest] {
        #expect(pks__pack_name_is_valid(name), "\(name)")
      }
      for name in [
        "", "-", ".", "..", "-a", ".a", "a b", "a/b", "/", "a\\b", "ä", "a\n", "a:b", "a*", "😀", " a", "a,b",
        longest + "x",
      ] {
        #expect(!pks__pack_name_is_valid(name), "\(name)")
      }
    }

    @Test func segmentNames() {
      var id = pks__segment_id()
      let name = "00112233445566778899aabbccddeeff"
      #expect(pks__segment_name_parse(name, &id))
      var text = [CChar](repeating: 0, count: 33)
      pks__segment_name(&id, &text)
      #expect(text.prefix(32).map { UInt8(bitPattern: $0) } == Array(name.utf8) && text[32] == 0)
      for bad in [
        "", "0", name + "0", String(name.dropLast()), name.uppercased(), name.replacing("f", with: "g"),
        String(name.dropLast()) + "/",
      ] {
        #expect(!pks__segment_name_parse(bad, &id), "\(bad)")
      }
    }

    @Test func hexNumbers() {
      var value: UInt64 = 0
      #expect(pks__hex_parse64("0123456789abcdef", &value) && value == 0x0123_4567_89ab_cdef)
      for bad in [
        "", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0x23456789abcdef", "+123456789abcdef",
        " 123456789abcdef",
      ] {
        #expect(!pks__hex_parse64(bad, &value), "\(bad)")
      }
    }
  }
}
