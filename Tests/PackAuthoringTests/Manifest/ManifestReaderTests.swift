import Foundation
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct ManifestReaderTests {
  private func problems(_ text: String) -> [String] {
    ManifestReader.read(Array(text.utf8)).problems.sorted.map(\.description)
  }

  /// The required members of a manifest, except the ones in `members`.
  private func manifest(_ members: String) -> String {
    let required = [
      ("assetPackID", #""P""#), ("downloadPolicy", #"{"onDemand":{}}"#), ("fileSelectors", #"[{"file":"a"}]"#),
    ]
    let rest = required.filter { !members.contains("\"\($0.0)\"") }.map { "\"\($0.0)\":\($0.1)" }
    return "{" + ([members] + rest).filter { !$0.isEmpty }.joined(separator: ",") + "}"
  }

  @Test func theTableIsLarge() { #expect(ManifestTable.members.count + ManifestTable.texts.count >= 200) }

  @Test(arguments: ManifestTable.members) func members(_ row: (text: String, problems: [String])) {
    let marked = MarkedText(manifest(row.text))
    #expect(problems(marked.text) == marked.descriptions(row.problems))
    let hasErrors = row.problems.contains { $0.hasPrefix("error") }
    #expect((ManifestReader.read(Array(marked.text.utf8)).manifest == nil) == hasErrors)
  }

  @Test(arguments: ManifestTable.texts) func texts(_ row: (text: String, problems: [String])) {
    let marked = MarkedText(row.text)
    #expect(problems(marked.text) == marked.descriptions(row.problems))
  }

  @Test func everythingIsReportedAtOnce() {
    let marked = MarkedText(
      """
      {
        "assetPackID": §"a b",
        "downloadPolicy": { §"sometimes": {} },
        "fileSelectors": [ { "file": §"/a" }, { §"files": "b" } ],
        "platforms": [ "iOS", §"watchOS" ],
        §"colour": "red"
      }
      """)
    #expect(
      problems(marked.text)
        == marked.descriptions([
          "error: 'a b': invalid name of a pack; use 1 to 128 letters, digits, '-', '_' and '.', beginning with a letter, a digit or '_'",
          "error: unknown download policy 'sometimes'; use essential, prefetch or onDemand",
          "error: '/a' is an absolute path; write it relative to the source root",
          "error: unknown key 'files' in a file selector; did you mean 'file' or 'fileSource'?",
          "error: unknown platform 'watchOS'; remove it: watches do not support packs",
          "error: unknown key 'colour'; remove it",
        ]))
  }

  @Test func allIsRead() throws {
    let text = """
      // Of a game.
      { "assetPackID": "Tutorial", "platforms": ["iOS", "macOS"], "language": "pt-br",
        "downloadPolicy": { "prefetch": { "installationEventTypes": ["firstInstallation"] } },
        "userInfo": { "b": 1.0, // kept, but for this
                      "a": [ ] },
        "sourceRoot": "../Assets",
        "fileSelectors": [
          { "file": "a" }, { "directory": "b/" }, { "filePattern": "*.c" }, { "fileSource": "d", "fileDestination": "e" },
          { "directorySource": ".", "directoryDestination": "f" }, { "fileExclusion": "g/**" }
        ],
        "packstore": { "placement": "purgeable", "priority": -2, "map": ["*.m"], "level": 19, "layout": "sequential",
                       "appVersions": "2.0..." } }
      """
    let reading = ManifestReader.read(Array(text.utf8))
    let manifest = try #require(reading.manifest)
    #expect(manifest.assetPackID == "Tutorial" && manifest.sourceRoot == "../Assets")
    #expect(manifest.level == 19 && manifest.layout == .sequential)
    let attributes = manifest.attributes
    #expect(attributes.downloadPolicy == .prefetch(on: [.firstInstallation]) && attributes.platforms == [.iOS, .macOS])
    #expect(attributes.language?.text == "pt-BR" && attributes.placement == .purgeable && attributes.priority == -2)
    #expect(attributes.mappedPaths == ["*.m"] && attributes.appVersions?.description == "2.0...")
    #expect(
      attributes.userInfo?.description == "{ \"b\": 1.0, \n                \"a\": [ ] }",
      "byte for byte, without comments")
    #expect(
      manifest.fileSelectors.map(\.description) == [
        "file 'a'", "directory 'b'", "filePattern '*.c'", "file 'd' as 'e'", "directory '.' as 'f'",
        "fileExclusion 'g/**'",
      ])
  }

  @Test func attributesThatAreTooLongAreReported() {
    let text = manifest(#""userInfo":""# + String(repeating: "a", count: 70_000) + "\"")
    #expect(
      problems(text) == [
        "1:1: error: the attributes have 70015 bytes; at most 65536 can be stored; shorten the user info"
      ])
  }

  /// 10 MB of nesting cost a look at the beginning.
  @Test func depthIsNoDanger() {
    let text = Array("{\"a\":".utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 10_000_000)
    #expect(
      ManifestReader.read(text).problems.sorted.map(\.description) == [
        "1:69: error: values are nested more than 64 deep; nest them less"
      ])
  }

  @Test func problemsBeyondAThousandAreCounted() {
    let selectors = Array(repeating: #"{"file":"/a"}"#, count: 2_500).joined(separator: ",\n")
    let found = problems(manifest("\"fileSelectors\":[\(selectors)]"))
    #expect(found.count == 1_001)
    #expect(found.last == "1000:9: error: 1500 more problems are not listed; correct the listed problems first")
  }

  // MARK: - Manifests of others

  /// The shape that Apple's packager prints, with all that is a placeholder, and every key.
  @Test func thePlaceholdersOfAppleAreReported() {
    let marked = MarkedText(
      """
      {
        "assetPackID": §"[Asset-Pack ID]",
        "downloadPolicy": {
          "essential": { // which key there is
            // what it takes
            "installationEventTypes": [ // what to take out
              "firstInstallation",
              "subsequentUpdate"
            ]
          }
        },
        "fileSelectors": [ // how many
          { "file": §"[Path to File]" },
          { "directory": §"[Path to Directory]" }
        ],
        "platforms": [
          "iOS",
          "macOS",
          "tvOS",
          "visionOS"
        ]
      }
      """)
    let path = "is a placeholder; replace it with a path, or remove the selector"
    #expect(
      problems(marked.text)
        == marked.descriptions([
          "error: '[Asset-Pack ID]' is a placeholder; replace it with your assetPackID",
          "error: '[Path to File]' \(path)", "error: '[Path to Directory]' \(path)",
        ]))
  }

  @Test func ourTemplateOnlyHasToBeFilledIn() throws {
    #expect(problems(Manifest.template).allSatisfy { $0.contains("is a placeholder") })
    #expect(problems(Manifest.template).count == 3)
    let filled = Manifest.template.replacing("[Asset-Pack ID]", with: "Tutorial").replacing("[Path to File]", with: "a")
      .replacing("[Path to Directory]", with: "b")
    #expect(problems(filled) == [])
    // The commented-out examples are also valid.
    var uncommented = filled
    for key in ["\"sourceRoot\"", "\"language\"", "\"userInfo\"", "{ \"file", "{ \"directory", "\"packstore\"", "},"] {
      uncommented.replace("// \(key)", with: key)
    }
    for key in ["placement", "priority", "map", "level", "layout", "appVersions"] {
      uncommented.replace("//   \"\(key)\"", with: "\"\(key)\"")
    }
    #expect(problems(uncommented) == [])
    let manifest = try #require(ManifestReader.read(Array(uncommented.utf8)).manifest)
    #expect(manifest.fileSelectors.count == 6 && manifest.level == 12 && manifest.attributes.placement == .purgeable)
    #expect(
      manifest.attributes.language?.text == "pt-BR" && manifest.attributes.userInfo != nil && manifest.sourceRoot != nil
    )
  }

  @Test func theExampleOfThePageIsRight() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Docs/Manifest.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let begin = try #require(text.firstRange(of: "```json\n")), rest = text[begin.upperBound...]
    let end = try #require(rest.firstRange(of: "```"))
    #expect(problems(String(rest[..<end.lowerBound])) == [])
  }

  /// As tools and repositories write them.
  @Test(arguments: [
    #"{"assetPackID":"Tutorial","downloadPolicy":{"essential":{"installationEventTypes":["firstInstallation"]}},"fileSelectors":[{"file":"Videos/Introduction.m4v"}],"platforms":[]}"#,
    #"{"assetPackID":"sam-pose","downloadPolicy":{"prefetch":{"installationEventTypes":["firstInstallation","subsequentUpdate"]}},"fileSelectors":[{"directory":"Pose.mlmodelc"},{"file":"LICENSE.txt"}],"platforms":["iOS"]}"#,
    #"{"assetPackID":"narration-fr","downloadPolicy":{"onDemand":{}},"fileSelectors":[{"directorySource":"audio/fr","directoryDestination":"narration"}],"language":"fr","platforms":["iOS"],"sourceRoot":"../.."}"#,
  ])
  func manifestsOfOthersAreRight(_ text: String) { #expect(problems(text) == []) }
}
