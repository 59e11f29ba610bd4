import Foundation
import PackStore
import Testing

@Suite struct AttributesTests {
  /// Canonical texts, and the canonical form of other texts with the same meaning.
  static let canonical = [
    "{}", #"{"priority":1}"#, #"{"priority":-2147483648}"#, #"{"priority":2147483647}"#,
    #"{"placement":"purgeable"}"#, #"{"platforms":["iOS","macOS","tvOS","visionOS"]}"#, #"{"platforms":["Zx9"]}"#,
    #"{"downloadPolicy":{"essential":{"installationEventTypes":["firstInstallation","subsequentUpdate"]}}}"#,
    #"{"downloadPolicy":{"prefetch":{"installationEventTypes":["later"]}}}"#,
    #"{"language":"en"}"#, #"{"language":"zh-Hant-TW"}"#, #"{"language":"sl-rozaj-biske-1994"}"#,
    #"{"language":"de-CH-u-co-phonebk-x-whatever"}"#, #"{"language":"x-own"}"#, #"{"language":"es-419"}"#,
    #"{"language":"en-a-bbcc-us-x-tw"}"#, #"{"language":"zh-cmn-Hans-CN"}"#,
    #"{"appVersions":"2.0..<3"}"#, #"{"appVersions":"2.0..."}"#, #"{"appVersions":"..<0.0.1"}"#,
    #"{"appVersions":"1.2.3.4.5.6.7.8..<1.2.3.4.5.6.7.999999999"}"#, #"{"appVersions":"0..."}"#,
    #"{"label":"1.4.2"}"#, #"{"label":"a","language":"en"}"#, #"{"label":"Current"}"#, #"{"label":"1.0+git.3fa9c_-"}"#,
    #"{"map":["*.bin","Levels/**/mesh","[]x]","\\[a","é"]}"#, #"{"map":["[!]]"]}"#,
    #"{"userInfo":1}"#, #"{"userInfo":false}"#, #"{"userInfo":"\u0041"}"#, #"{"userInfo":[ 1.50 , -0, 1E400 ]}"#,
    "{\"userInfo\":{\"b\":18446744073709551615,\n\t\"a\":[null]}}", #"{"userInfo":""}"#,
    #"{"priority":1,"userInfo":{}}"#, #"{"later":{"a":[1.0,"é",null],"b":{}},"priority":-1}"#, #"{"":0}"#,
    "{\"\\r\":1,\"priority\":2,\"\u{80}\":3,\"😀\":4,\"\u{fb33}\":5}", #"{"a\"\\\b\f\n\r\t\u001f":1}"#,
    #"{"UserInfo":true,"userInfo":true,"userInfo2":true}"#,
  ]

  /// Texts that break a rule, with the place and the reason.
  static let broken: [(String, Int, String)] = [
    ("", 0, "there is no JSON in the text"), ("[]", 0, "attributes are no object"),
    ("null", 0, "attributes are no object"), ("{} ", 2, "attributes are not in canonical form"),
    (" {}", 0, "attributes are not in canonical form"), ("{}x", 2, "there is more after the end of the JSON: 'x'"),
    ("\u{feff}{}", 0, "there is a byte-order mark"), ("{}//", 2, "comments are not allowed here"),
    (#"{"priority": 1}"#, 12, "attributes are not in canonical form"),
    (#"{"priority":0}"#, 1, "attributes are not in canonical form"),
    (#"{"priority":-0}"#, 12, "a priority is an integer of 32 bits"),
    (#"{"priority":1.0}"#, 12, "a priority is an integer of 32 bits"),
    (#"{"priority":2147483648}"#, 12, "a priority is an integer of 32 bits"),
    (#"{"priority":"1"}"#, 12, "a priority is an integer of 32 bits"),
    (#"{"priority":null}"#, 12, "a priority is an integer of 32 bits"),
    (#"{"priority":1,"priority":1}"#, 14, "'priority' occurs twice: first in line 1, column 2"),
    (#"{"userInfo":1,"priority":1}"#, 2, "attributes are not in canonical form"),
    (#"{"\u0070riority":1}"#, 2, "attributes are not in canonical form"),
    (#"{"placement":"durable"}"#, 1, "attributes are not in canonical form"),
    (#"{"placement":"moon"}"#, 13, "the placement is not known"), (#"{"placement":1}"#, 13, "it is no string"),
    (#"{"platforms":[]}"#, 1, "attributes are not in canonical form"),
    (#"{"platforms":["macOS","iOS"]}"#, 15, "attributes are not in canonical form"),
    (#"{"platforms":["iOS","iOS"]}"#, 19, "attributes are not in canonical form"),
    (#"{"platforms":["i OS"]}"#, 13, "no platform has the name 'i OS'"),
    (#"{"platforms":["9"]}"#, 13, "no platform has the name '9'"), (#"{"platforms":"iOS"}"#, 13, "it is no list"),
    (#"{"platforms":[1]}"#, 14, "it is no string"),
    (#"{"label":""}"#, 9, "'': invalid label, because it is empty"), (#"{"label":1}"#, 9, "it is no string"),
    (#"{"label":"12"}"#, 9, "'12': invalid label, because it would be the number of a version"),
    (#"{"label":"previous"}"#, 9, "'previous': invalid label, because the word means a version already"),
    (#"{"label":"a b"}"#, 9, "'a b': invalid label, because it has other characters"),
    (#"{"language":"en","label":"a"}"#, 4, "attributes are not in canonical form"),
    (#"{"downloadPolicy":{"onDemand":{}}}"#, 1, "attributes are not in canonical form"),
    (#"{"downloadPolicy":{}}"#, 18, "a download policy has one member"),
    (
      #"{"downloadPolicy":{"essential":{"installationEventTypes":[]}}}"#, 0,
      "the policy 'essential' names no installation event"
    ),
    (
      #"{"downloadPolicy":{"essential":{"installationEventTypes":["a b"]}}}"#, 57,
      "no installation event has the name 'a b'"
    ),
    (#"{"downloadPolicy":{"eager":{"installationEventTypes":["a"]}}}"#, 19, "the download policy is not known"),
    (
      #"{"downloadPolicy":{"essential":{"installationEventTypes":["b","a"]}}}"#, 59,
      "attributes are not in canonical form"
    ),
    (
      #"{"downloadPolicy":{"essential":{"installationEventTypes":["a"],"more":1}}}"#, 31,
      "a download policy has no installation events"
    ),
    (#"{"downloadPolicy":"essential"}"#, 18, "a download policy is an object"),
    (#"{"language":"EN"}"#, 13, "attributes are not in canonical form"),
    (#"{"language":"en-us"}"#, 16, "attributes are not in canonical form"),
    (#"{"language":"zh-hant"}"#, 16, "attributes are not in canonical form"),
    (#"{"language":"e"}"#, 12, "'e': invalid language tag"), (#"{"language":""}"#, 12, "'': invalid language tag"),
    (#"{"language":"en_US"}"#, 12, "'en_US': invalid language tag"),
    (#"{"language":"i-klingon"}"#, 12, "'i-klingon': invalid language tag"),
    (#"{"language":"en-"}"#, 12, "'en-': invalid language tag"),
    (#"{"language":"en-u"}"#, 12, "'en-u': invalid language tag"),
    (#"{"language":"en-GB-oed"}"#, 12, "'en-GB-oed': invalid language tag"),
    (#"{"language":"é"}"#, 12, "'é': invalid language tag"),
    (#"{"appVersions":"2"}"#, 15, "'2': invalid range of app versions"),
    (#"{"appVersions":"2...3"}"#, 15, "'2...3': invalid range of app versions"),
    (#"{"appVersions":"3..<3.0"}"#, 15, "'3..<3.0': empty range of app versions"),
    (#"{"appVersions":"..<0.0"}"#, 15, "'..<0.0': empty range of app versions"),
    (#"{"appVersions":"..."}"#, 15, "'': invalid version of an app"),
    (#"{"appVersions":"..<"}"#, 15, "'': invalid version of an app"),
    (#"{"appVersions":"02..."}"#, 16, "attributes are not in canonical form"),
    (#"{"appVersions":"1.2.3.4.5.6.7.8.9..."}"#, 15, "'1.2.3.4.5.6.7.8.9': invalid version of an app"),
    (#"{"appVersions":"1234567890..."}"#, 15, "'1234567890': invalid version of an app"),
    (#"{"appVersions":"1..2..."}"#, 15, "'1..2': invalid version of an app"),
    (#"{"appVersions":"1a..."}"#, 15, "'1a': invalid version of an app"),
    (#"{"map":[]}"#, 1, "attributes are not in canonical form"),
    (#"{"map":["b","a"]}"#, 9, "attributes are not in canonical form"),
    (#"{"map":[""]}"#, 0, "pattern '': the length is not in 1 to 1024 bytes"),
    (#"{"map":["[a"]}"#, 0, "pattern '[a': a '[' lacks its ']'; write a backslash before it for the character"),
    (#"{"map":["a\u0000"]}"#, 0, "pattern 'a\0': contains a NUL"),
    (#"{"map":["a\\"]}"#, 0, "pattern 'a\\': ends in a backslash; write two for the character"),
    (#"{"userInfo":null}"#, 12, "the user info is null"),
    (#"{"userInfo": 1}"#, 12, "attributes are not in canonical form"),
    (#"{"userInfo":{"a":1,"a":2}}"#, 19, "'a' occurs twice: first in line 1, column 14"),
    (#"{"userInfo":"\ud800"}"#, 13, "an escape is one half of a pair of surrogates"),
    (#"{"new":[1, 2]}"#, 10, "attributes are not in canonical form"),
    (#"{"new":{"b":1,"a":1}}"#, 9, "attributes are not in canonical form"),
    (#"{"new":"\u0041"}"#, 8, "attributes are not in canonical form"),
    (#"{"new":"\/"}"#, 8, "attributes are not in canonical form"),
    (#"{"new":"\u001F"}"#, 13, "attributes are not in canonical form"),
    (#"{"new":01}"#, 7, "'01' is no number in JSON"),
    ("{\"\u{fb33}\":5,\"😀\":4}", 2, "attributes are not in canonical form"),
    (#"{"a":1"#, 6, "',' or '}' is expected after a value, not the end of the text"),
  ]

  private func fault(_ bytes: some Collection<UInt8>) -> PackStoreError? {
    do {
      _ = try Attributes(canonical: bytes)
      return nil
    } catch { return error as? PackStoreError }
  }

  @Test(arguments: canonical) func canonicalTextsAreKept(_ text: String) throws {
    let attributes = try Attributes(canonical: text.utf8)
    #expect(attributes.canonicalBytes == Array(text.utf8))
    #expect(attributes.digest == Digest256(hashing: Array(text.utf8)))
    #expect(attributes.isEmpty == (text == "{}"))
    #expect(try JSONDecoder().decode(Attributes.self, from: JSONEncoder().encode(attributes)) == attributes)
  }

  @Test(arguments: broken) func whatIsNotCanonicalIsRefused(_ text: String, _ offset: Int, _ reason: String) throws {
    let error = try #require(fault(text.utf8))
    #expect(
      error.code == .corrupt && error.reason == reason && error.offset == UInt64(offset)
        && error.subject?.name == "attributes")
  }

  /// The page of the format alone leads to the same answers, in another language.
  @Test func anIndependentReaderAgrees() throws {
    let texts = Self.canonical + Self.broken.map(\.0) + Self.atTheLimits().map(\.text)
    // Each is a line of a file there; white space within user info may be one, too.
    let lines = texts.filter { !$0.utf8.contains(UInt8(ascii: "\n")) }
    let folder = TemporaryFolder()
    let file = folder.path("lines")
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
    let reader = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Reader/packstore_reader.py").path
    let process = Process(), pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", reader, "--attributes", file]
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let answers = output.split(separator: "\n").map(String.init)
    try #require(answers.count == lines.count)
    for (line, answer) in zip(lines, answers) {
      let expected = (try? Attributes(canonical: line.utf8))?.digest.hex ?? "corrupt"
      #expect(answer == expected, "\(line.prefix(200))")
    }
  }

  /// Texts at the limits, and just over them.
  private static func atTheLimits() -> [(text: String, isGood: Bool)] {
    func userInfo(_ byteCount: Int) -> String {
      #"{"userInfo":""# + String(repeating: "a", count: byteCount - 15) + "\"}"
    }
    func nested(_ depth: Int) -> String {
      #"{"userInfo":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
    func pattern(_ count: Int) -> String { #"{"map":[""# + String(repeating: "a", count: count) + #""]}"# }
    func platform(_ count: Int) -> String { #"{"platforms":[""# + String(repeating: "a", count: count) + #""]}"# }
    func language(_ count: Int) -> String {
      #"{"language":"x-"# + String(repeating: "a-", count: (count - 3) / 2) + #"a"}"#
    }
    return [
      (userInfo(65_536), true), (userInfo(65_537), false), (nested(64), true), (nested(65), false),
      (pattern(1_024), true), (pattern(1_025), false), (platform(32), true), (platform(33), false),
      (language(63), true), (language(65), false),
    ]
  }

  @Test func limitsAreKept() {
    for (text, isGood) in Self.atTheLimits() { #expect((fault(text.utf8) == nil) == isGood, "\(text.prefix(60))") }
    #expect(fault(userInfoOfTenMegabytes)?.reason == "attributes are too long")
    #expect { try Attributes(userInfo: UserInfo(json: "\"" + String(repeating: "a", count: 65_536) + "\"")) } throws: {
      ($0 as? PackStoreError)?.code == .invalidArgument
    }
  }

  private var userInfoOfTenMegabytes: [UInt8] { [UInt8](repeating: UInt8(ascii: "["), count: 10_000_000) }

  // MARK: - Values

  @Test func everyMemberIsWritten() throws {
    let attributes = try Attributes(
      downloadPolicy: .essential(on: [.subsequentUpdate, .firstInstallation]), platforms: [.visionOS, .iOS],
      language: LanguageTag("PT-br"), userInfo: UserInfo(json: "\n {\"b\": 1.0, \"a\" : []}\t"), placement: .purgeable,
      priority: -7, mappedPaths: ["b", "*.m", "b"], appVersions: AppVersionRange("02.0..<3"))
    let expected = """
      {"appVersions":"2.0..<3","downloadPolicy":{"essential":{"installationEventTypes":["firstInstallation",\
      "subsequentUpdate"]}},"language":"pt-BR","map":["*.m","b"],"placement":"purgeable","platforms":["iOS","visionOS"],\
      "priority":-7,"userInfo":{"b": 1.0, "a" : []}}
      """
    #expect(attributes.description == expected)
    let read = try Attributes(canonical: expected.utf8)
    #expect(
      read == attributes && read.downloadPolicy == attributes.downloadPolicy && read.platforms == attributes.platforms)
    #expect(read.language?.text == "pt-BR" && read.placement == .purgeable && read.priority == -7)
    #expect(read.userInfo?.json == Data("{\"b\": 1.0, \"a\" : []}".utf8), "byte for byte")
    #expect(read.mappedPaths == ["*.m", "b"] && read.appVersions?.description == "2.0..<3")
    #expect(try Attributes().isEmpty && Attributes().description == "{}")
  }

  @Test func whatALaterWriterSaidIsKept() throws {
    let text = #"{"priority":3,"shelf":{"a":[1.0,true]}}"#
    let attributes = try Attributes(canonical: text.utf8)
    #expect(
      attributes.unknownMembers.map(\.name) == ["shelf"] && attributes.unknownMembers[0].json == #"{"a":[1.0,true]}"#)
    #expect(attributes.priority == 3 && attributes.description == text)
  }

  /// The example of Docs/FORMAT.md.
  @Test func theExampleOfThePage() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Docs/FORMAT.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let section = try #require(text.range(of: "## 24. Attributes").map { text[$0.upperBound...] })
    let lines = section.split(separator: "\n")
    let begin = try #require(lines.lastIndex { $0.hasPrefix("{") })
    let attributes = try Attributes(canonical: lines[begin].utf8)
    #expect(attributes.digest.hex == lines[begin + 1])
    #expect(section.contains("An example, \(attributes.canonicalBytes.count) bytes"))
  }

  @Test(arguments: ["", "null", " null ", "{", "1 2", "// a\n1"]) func whatIsNoUserInfo(_ text: String) {
    #expect { try UserInfo(json: text) } throws: { ($0 as? PackStoreError)?.code == .invalidArgument }
  }
}
