import Foundation
import PackStore
import Testing

@testable import PackAuthoring

@Suite struct ManifestInstallationTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder(
      "Game",
      [
        "Videos/intro.m4v": Data(repeating: 7, count: 100_000), "Levels/1/mesh": Data(count: 10),
        "Levels/2/mesh": Data(count: 20), "notes.psd": Data(count: 9),
      ])
  }

  private func evaluate(_ more: String = "", _ selectors: String) throws -> ManifestEvaluation {
    let text = #"""
      {"assetPackID": "P", "downloadPolicy": {"prefetch": {"installationEventTypes": ["firstInstallation"]}}, "sourceRoot": ".",
      "platforms": ["iOS"], \#(more) "fileSelectors": [\#(selectors)]}
      """#
    try Data(text.utf8).write(to: URL(filePath: folder.path("Game/Manifest.json")))
    return try Manifest.evaluate(contentsOf: FilePath(folder.path("Game/Manifest.json")))
  }

  @Test func installsWhatIsSelected() async throws {
    let evaluation = try evaluate(
      #""packstore": {"map": ["*.m4v"], "level": 7, "layout": "sequential"},"#,
      #"{"directory": "Levels"}, {"fileSource": "Videos/intro.m4v", "fileDestination": "Intro/1080.m4v"}"#)
    #expect(evaluation.problems.map(\.description) == [])
    let manifest = try #require(evaluation.manifest), store = try folder.store()
    #expect(manifest.installOptions.level == 7 && manifest.installOptions.layout == .sequential)
    let result = try await store.install(evaluation)
    #expect(result.version.pack == "P" && result.mappedCount == 1 && result.version.fileCount == 3)
    let snapshot = try store.makeSnapshot()
    #expect(try snapshot.attributes(of: result.version) == manifest.attributes)
    #expect(try store.contents(of: "Intro/1080.m4v") == Data(repeating: 7, count: 100_000))
    #expect(try store.contents(of: "Levels/2/mesh") == Data(count: 20))
    #expect(try await store.install(evaluation).isUnchanged)
  }

  @Test func refusesErrors() async throws {
    let evaluation = try evaluate("", #"{"directory": "Levels"}, {"file": "none"}"#), store = try folder.store()
    await #expect { try await store.install(evaluation) } throws: {
      ($0 as? PackStoreError)?.code == .refused && "\($0)".contains("none")
    }
    #expect(try store.packs().isEmpty)
  }

  /// A file that went after the evaluation is an error, and nothing is stored half.
  @Test func aDiskThatChanged() async throws {
    let evaluation = try evaluate("", #"{"directory": "Levels"}"#), store = try folder.store()
    try FileManager.default.removeItem(atPath: folder.path("Game/Levels/2/mesh"))
    await #expect { try await store.install(evaluation) } throws: { ($0 as? PackStoreError)?.code == .refused }
    #expect(try store.packs().isEmpty)
  }
}
