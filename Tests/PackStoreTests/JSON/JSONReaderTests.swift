import PackStore
import Testing

@Suite struct JSONReaderTests {
  private func read(_ text: String, comments: Bool = false) -> JSONDocument {
    JSONReader.read(Array(text.utf8), options: .init(allowsComments: comments))
  }

  private func canonical(_ document: JSONDocument) -> String? {
    document.root.map { root in
      var text: [UInt8] = []
      root.appendCanonical(to: &text)
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// `line:column finding (remedy)` of every fault.
  private func faults(_ document: JSONDocument) -> [String] {
    document.faults.map { fault in
      "\(fault.position.line):\(fault.position.column) \(fault.finding)" + (fault.remedy.map { " (\($0))" } ?? "")
    }
  }

  // MARK: - Valid JSON

  @Test(arguments: [
    ("null", "null"), (" true ", "true"), ("false\n", "false"), ("[]", "[]"), ("{}", "{}"), ("[ ]", "[]"),
    ("{ }", "{}"), (#""""#, #""""#),
    ("0", "0"), ("-0", "-0"), ("1E+400", "1E+400"), ("-12.50e-3", "-12.50e-3"),
    ("18446744073709551615", "18446744073709551615"), ("0.10000000000000000000000001", "0.10000000000000000000000001"),
    ("[1, [2], {\"a\" : 3}]", "[1,[2],{\"a\":3}]"),
    (#""\u0041\/\b\f\n\r\t\"\\\u001F""#, #""A/\b\f\n\r\t\"\\\u001f""#),
    (#""\ud83d\ude00 \u00e9""#, #""😀 é""#), ("\"\u{7f}\u{2028}\u{feff}\"", "\"\u{7f}\u{2028}\u{feff}\""),
    (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#),
    // By UTF-16 code units, a character above U+FFFF comes before U+FB33; by code points it would not.
    (
      #"{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"\r":4,"1":5,"\u0080":6,"\u00f6":7}"#,
      "{\"\\r\":4,\"1\":5,\"\u{80}\":6,\"ö\":7,\"€\":3,\"😀\":2,\"\u{fb33}\":1}"
    ),
    // Names are compared by their bytes: these two are canonically equivalent.
    ("{\"e\u{301}\":1,\"\u{e9}\":2}", "{\"e\u{301}\":1,\"\u{e9}\":2}"),
  ])
  func whatIsRead(_ text: String, _ expected: String) {
    let document = read(text)
    #expect(faults(document) == [])
    #expect(canonical(document)?.utf8.elementsEqual(expected.utf8) == true)
  }

  @Test func integersAreExact() {
    func integer(_ text: String) -> Int64? { read(text).root?.integer() }
    #expect(integer("9223372036854775807") == .max && integer("-9223372036854775808") == .min)
    #expect(integer("9223372036854775808") == nil && integer("1.0") == nil && integer("1e3") == nil)
    #expect(integer("-0") == nil, "that is no way to write an integer")
  }

  // MARK: - Invalid JSON

  @Test(arguments: [
    ("", "1:1 there is no JSON in the text"), (" \n ", "2:2 there is no JSON in the text"),
    ("1 2", "1:3 there is more after the end of the JSON: '2'"),
    ("[1,]", "1:4 a value is expected after a comma, not ']' (remove the comma)"),
    ("{\"a\":1,\n}", "2:1 a value is expected after a comma, not '}' (remove the comma)"),
    ("[1 2]", "1:4 ',' or ']' is expected after a value, not '2'"),
    ("{\"a\":1 \"b\":2}", "1:8 ',' or '}' is expected after a value, not '\"'"),
    ("{\"a\" 1}", "1:6 ':' is expected after the name 'a', not '1'"),
    ("{a:1}", "1:2 a name in double quotes is expected, not 'a'"),
    ("[", "1:2 a value is expected, not the end of the text"),
    ("{", "1:2 a name in double quotes is expected, not the end of the text"),
    ("[1", "1:3 ',' or ']' is expected after a value, not the end of the text"),
    ("]", "1:1 a value is expected, not ']'"), ("[,1]", "1:2 a value is expected, not ','"),
    ("'a'", "1:1 a value is expected, not ''' (write strings in double quotes)"),
    ("True", "1:1 'True' is no value (did you mean 'true'?)"),
    ("[nul]", "1:2 'nul' is no value (did you mean 'null'?)"),
    ("NaN", "1:1 'NaN' is no value (write strings in double quotes)"),
    ("01", "1:1 '01' is no number in JSON"), ("-", "1:1 '-' is no number in JSON"),
    ("1.", "1:1 '1.' is no number in JSON"), ("1e", "1:1 '1e' is no number in JSON"),
    ("0x10", "1:1 '0x10' is no number in JSON"), ("1..2", "1:1 '1..2' is no number in JSON"),
    ("+1", "1:1 a value is expected, not '+'"), (".5", "1:1 a value is expected, not '.'"),
    ("\"a", "1:1 a string is not closed (put a double quote at its end)"),
    ("\"a\nb\"", "1:3 a string holds the end of a line (close it before, or write '\\n')"),
    ("\"\t\"", "1:2 a string holds the control character 0x09 (write it as an escape, such as '\\u0009')"),
    (#""\x""#, #"1:2 '\' with 'x' is no escape (write '\\' for a backslash)"#),
    (#""\u12g4""#, #"1:2 '\u' needs four hexadecimal digits"#), (#""\u"#, #"1:2 '\u' needs four hexadecimal digits"#),
    (#""\ud800""#, "1:2 an escape is one half of a pair of surrogates (write the character itself)"),
    (#""é\udc00\ud800""#, "1:3 an escape is one half of a pair of surrogates (write the character itself)"),
    (#""\ud800\u0041""#, "1:2 an escape is one half of a pair of surrogates (write the character itself)"),
    ("// a\n1", "1:1 comments are not allowed here (remove it)"),
    ("\u{feff}1", "1:1 there is a byte-order mark (save the text without one)"),
    ("[\"😀é\", x]", "1:8 'x' is no value (write strings in double quotes)"),
    ("[\r\n1,\r2,\n\r?]", "5:1 a value is expected, not '?'"),
    ("{\"a\":1,\"a\":2}", "1:8 'a' occurs twice: first in line 1, column 2 (keep one of them)"),
    ("{\"a\":1,\n \"\\u0061\":2}", "2:2 'a' occurs twice: first in line 1, column 2 (keep one of them)"),
  ])
  func whatIsRefused(_ text: String, _ fault: String) {
    #expect(faults(read(text)) == [fault])
  }

  @Test func everyNameThatIsThereTwiceIsReported() {
    let document = read(#"{"a":{"b":1,"b":2},"a":3,"c":[{"d":1,"d":2}]"#)
    #expect(
      faults(document) == [
        "1:13 'b' occurs twice: first in line 1, column 7 (keep one of them)",
        "1:20 'a' occurs twice: first in line 1, column 2 (keep one of them)",
        "1:38 'd' occurs twice: first in line 1, column 32 (keep one of them)",
        "1:45 ',' or '}' is expected after a value, not the end of the text",
      ])
  }

  @Test(
    arguments: [
      [0x22, 0x80, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xc1, 0xbf, 0x22], [0x22, 0xe0, 0x9f, 0xbf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22], [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
      [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22], [0x22, 0xe2, 0x82, 0x22], [0x22, 0xe2, 0x82], [0x22, 0xff],
    ] as [[UInt8]])
  func whatIsNoUTF8(_ bytes: [UInt8]) {
    let byte = "0x" + String(bytes[1], radix: 16)
    #expect(
      faults(JSONReader.read(bytes)) == ["1:2 the byte \(byte) is not valid UTF-8 (save the file as UTF-8)"])
    let comment = Array("//".utf8) + bytes.dropFirst()
    let inComment = JSONReader.read(comment, options: .init(allowsComments: true))
    #expect(faults(inComment) == ["1:3 the byte \(byte) is not valid UTF-8 (save the file as UTF-8)"])
  }

  @Test func theGreatestUTF8OfEachLengthIsRead() {
    let scalars: [Unicode.Scalar] = [
      "\u{80}", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}",
    ]
    let text = String(String.UnicodeScalarView(scalars))
    #expect(read("\"\(text)\"").root?.string == text)
  }

  // MARK: - Places and comments

  @Test func valuesKnowTheirPlace() throws {
    let document = read("{\n  \"é\": [1,  \"x\"]\n}")
    let member = try #require(document.root?.object?.first)
    #expect(member.position == TextPosition(offset: 4, line: 2, column: 3) && member.range == 4..<8)
    #expect(member.value.position == TextPosition(offset: 10, line: 2, column: 8) && member.value.range == 10..<19)
    let second = try #require(member.value.array?.last)
    #expect(second.position == TextPosition(offset: 15, line: 2, column: 13) && second.range == 15..<18)
  }

  @Test func commentsAreReadOver() throws {
    let text = "\u{feff}// a { \" ] \n[1, // é\r 2\n//\n]// end"
    let document = read(text, comments: true)
    #expect(faults(document) == [] && canonical(document) == "[1,2]")
    let root = try #require(document.root)
    #expect(root.position == TextPosition(offset: 15, line: 2, column: 1))
    #expect(String(decoding: document.source(of: root), as: UTF8.self) == "[1, \r 2\n\n]")
    let one = try #require(root.array?.first)
    #expect(document.source(of: one) == Array("1".utf8))
  }

  @Test func aMarkIsNoCharacter() {
    #expect(faults(read("\u{feff}[x]", comments: true)) == ["1:2 'x' is no value (write strings in double quotes)"])
  }

  @Test(arguments: [
    ("/1", "1:1 a single '/' begins no comment (comments begin with '//')"),
    ("[/* a */1]", "1:2 a single '/' begins no comment (begin each of its lines with '//')"),
    ("# a\n1", "1:1 a value is expected, not '#'"), ("// only", "1:8 there is no JSON in the text"),
    ("\"// a\" //\n// b\n1", "3:1 there is more after the end of the JSON: '1'"),
  ])
  func whatIsNoComment(_ text: String, _ fault: String) { #expect(faults(read(text, comments: true)) == [fault]) }

  // MARK: - Limits

  @Test func depthIsLimited() {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    #expect(faults(read(nested(64))) == [])
    #expect(faults(read(nested(65))) == ["1:65 values are nested more than 64 deep (nest them less)"])
    #expect(
      faults(read(String(repeating: "{\"a\":", count: 64) + "1")) == [
        "1:321 values are nested more than 64 deep (nest them less)"
      ])
    // Deep nesting costs neither the stack nor more than reading its beginning.
    for opening in ["[", "{\"a\":", "[{\"\":"] {
      let text = [UInt8](repeating: 0, count: 10_000_000 / opening.utf8.count).flatMap { _ in opening.utf8 }
      #expect(JSONReader.read(text).faults.count == 1)
    }
  }
}
