import BackgroundAssets
import Foundation
import Testing

/// Runs the functions of `ManifestSnippet.swift`.
@Suite struct ManifestSnippetTests {
  @Test func downloadsOfAManifest() throws {
    let file = URL(fileURLWithPath: "\(NSTemporaryDirectory())/manifest-\(UInt64.random(in: 0 ... .max)).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let text = """
      {"assetPacks": [{"id": "A", "version": 1, "downloadSize": 10, "url": "https://example.com/A",
        "downloadPolicy": {"essential": {"installationEventTypes": ["firstInstallation"]}}}]}
      """
    try Data(text.utf8).write(to: file)
    let found = try downloads(listedIn: file, for: .install, group: "group.test")
    #expect(found.map(summary) == ["A created true false false true"])
    #expect(try downloads(listedIn: file, for: .update, group: "group.test") == [])
  }

  @Test func namesOfEvents() {
    #expect(BAContentRequest.allCases.map(name) == ["install", "update", "periodic", "language change"])
  }

  @Test func factsOfErrors() {
    #expect(facts(of: ManagedBackgroundAssetsError.assetPackNotFound(withID: "A")) == ["A"])
    #expect(facts(of: ManagedBackgroundAssetsError.fileNotFound(at: "x")) == ["file"])
    #expect(facts(of: BAError(.downloadAlreadyScheduled)) == ["scheduled"])
  }

  @Test func invalidGroupHasNoFolder() { #expect(sharedFolder(ofGroup: "a/b") == nil) }
}
