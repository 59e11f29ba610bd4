import Foundation
import Testing

@Suite struct ManifestTests {
  let playground = try! Playground()

  private static let docs =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Docs")

  private func manifest(_ selectors: String) -> String {
    #"{ "assetPackID": "P", "downloadPolicy": { "onDemand": {} }, "fileSelectors": [ \#(selectors) ] }"#
  }

  // MARK: - template

  @Test func theTemplateIsPrintedOrWritten() throws {
    let printed = try playground.packstore("template")
    #expect(printed.status == 0 && printed.output.contains("\"[Asset-Pack ID]\"") && printed.errors.isEmpty)
    let written = try playground.packstore("template", "-o", "Manifest.json")
    #expect(written.status == 0 && written.output == "'Manifest.json' was written\n")
    #expect(try playground.text("Manifest.json") == printed.output && playground.tree("") == ["Manifest.json"])
  }

  @Test func nothingIsReplacedWithoutForce() throws {
    try playground.write("mine", to: "Manifest.json")
    let refused = try playground.packstore("template", "-o", "Manifest.json")
    #expect(refused.status == 1 && refused.errors.contains("exists already"))
    #expect(try playground.text("Manifest.json") == "mine")
    #expect(try playground.packstore("template", "-o", "Manifest.json", "--force").status == 0)
    #expect(try playground.text("Manifest.json") != "mine" && playground.tree("") == ["Manifest.json"])
  }

  @Test func theSchemaIsThatOfTheDocuments() throws {
    let printed = try playground.packstore("template", "--schema")
    #expect(printed.bytes == Array(try Data(contentsOf: Self.docs.appendingPathComponent("manifest.schema.json"))))
    #expect(try JSON(printed.bytes)["properties"]?["fileSelectors"] != nil)
  }

  /// The placeholders are the only faults of the template.
  @Test func theTemplateIsEvaluated() throws {
    _ = try playground.packstore("template", "-o", "Manifest.json")
    let run = try playground.packstore("evaluate", "Manifest.json")
    #expect(run.status == 1 && run.errors.contains("'Manifest.json': 3 errors in the manifest"))
    let problems = run.errors.split(separator: "\n").dropLast()
    #expect(problems.count == 3)
    #expect(problems.allSatisfy { $0.contains("' is a placeholder; ") && $0.hasPrefix("Manifest.json:") })
  }

  // MARK: - evaluate

  @Test func evaluateListsWhatIsSelected() throws {
    try playground.write("12345", to: "Game/Videos/a.m4v")
    try playground.write("1", to: "Game/notes")
    try playground.write(
      manifest(#"{ "directory": "Game/Videos" }, { "fileSource": "Game/notes", "fileDestination": "Notes" }"#),
      to: "Manifest.json")
    let run = try playground.packstore("evaluate", "Manifest.json")
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(
      run.output == """
        SIZE  PATH               SELECTOR
         5 B  Game/Videos/a.m4v  directory 'Game/Videos'
         1 B  Notes              file 'Game/notes' as 'Notes', from 'Game/notes'
        2 files; 6 B

        """)
    let quiet = try playground.packstore("evaluate", "Manifest.json", "--quiet")
    #expect(quiet.status == 0 && quiet.output.isEmpty)
  }

  @Test func evaluateReportsEverything() throws {
    try playground.write("1", to: "Game/notes")
    try playground.write(
      manifest(
        "{ \"file\": \"Game/notes\" },\n{ \"file\": \"Game/note\" },\n{ \"fileExclusion\": \"*.x\" },\n{ \"files\": 1 }"
      ), to: "M.json")
    let run = try playground.packstore("evaluate", "M.json")
    #expect(run.status == 1)
    #expect(
      run.errors == """
        M.json:2:11: error: no file 'Game/note' exists in the source root; did you mean 'Game/notes'?
        M.json:3:20: warning: '*.x' excludes nothing that is selected; check the pattern
        M.json:4:3: error: unknown key 'files' in a file selector; did you mean 'file' or 'fileSource'?
        packstore: 'M.json': 2 errors in the manifest; correct the listed errors

        """)
    #expect(run.output.contains("Game/notes"), "what could be found is listed")
    let quiet = try playground.packstore("evaluate", "M.json", "--quiet")
    #expect(!quiet.errors.contains("warning") && quiet.status == 1)
  }

  @Test func evaluateChangesNothing() throws {
    try playground.write("1", to: "a")
    try playground.write(manifest(#"{ "file": "a" }"#), to: "M.json")
    let before = playground.tree("")
    _ = try playground.packstore("evaluate", "M.json")
    #expect(playground.tree("") == before)
    let missing = try playground.packstore("evaluate", "nothing.json")
    #expect(missing.status == 1 && missing.errors.contains("nothing.json"))
  }

  // MARK: - convert

  private let script = #"""
    "DepotBuild"
    {
      "DepotID" "1001"
      "ContentRoot" "..\content\"
      "FileMapping" { "LocalPath" "*" "DepotPath" "." "recursive" "1" }
      "FileExclusion" "*.pdb"
    }
    """#

  @Test func convertMakesAManifest() throws {
    try playground.write(script, to: "scripts/depot.vdf")
    try playground.write("1", to: "content/a.bin")
    try playground.write("2", to: "content/a.pdb")
    let run = try playground.packstore(
      "convert", "scripts/depot.vdf", "-o", "scripts/Manifest.json", "--asset-pack-id", "Base", "--essential",
      "--installation-event-type", "firstInstallation", "--platform", "macOS", "--platform", "iOS", "-l", "en-us")
    #expect(run.status == 0 && run.errors.isEmpty && run.output == "'scripts/Manifest.json' was written: 2 selectors\n")
    #expect(
      try playground.text("scripts/Manifest.json") == """
        {
          "assetPackID": "Base",
          "downloadPolicy": { "essential": { "installationEventTypes": ["firstInstallation"] } },
          "fileSelectors": [
            { "filePattern": "**" },
            { "fileExclusion": "*.pdb" }
          ],
          "platforms": ["iOS", "macOS"],
          "sourceRoot": "../content",
          "language": "en-US"
        }

        """)
    let evaluated = try playground.packstore("evaluate", "scripts/Manifest.json")
    #expect(evaluated.status == 0 && evaluated.lines.count == 3 && evaluated.output.contains("a.bin"))
    #expect(try playground.packstore("convert", "scripts/depot.vdf", "-o", "scripts/Manifest.json").status == 1)
  }

  /// A text never takes the place of the file that it was made of.
  @Test(arguments: ["depot.vdf", "./depot.vdf", "link"]) func convertKeepsItsScript(output: String) throws {
    try playground.write(script, to: "depot.vdf")
    try playground.link("link", to: "depot.vdf")
    let run = try playground.packstore("convert", "depot.vdf", "-o", output, "--force")
    #expect(run.status == 2 && run.errors.contains("'\(output)': the input file"), "\(run.errors)")
    #expect(try playground.text("depot.vdf") == script)
  }

  @Test func convertPrintsAManifest() throws {
    try playground.write(script, to: "depot.vdf")
    let run = try playground.packstore("convert", "depot.vdf")
    #expect(
      run.status == 0 && run.output.contains(#""assetPackID": "Depot-1001""#) && run.output.contains(#""onDemand": {}"#)
    )
  }

  @Test func whatCannotBeConvertedIsReported() throws {
    try playground.write(script.replacing("\"*\"", with: "\"b*/*\""), to: "depot.vdf")
    let run = try playground.packstore("convert", "depot.vdf", "-o", "Manifest.json")
    #expect(run.status == 1 && !playground.exists("Manifest.json"))
    #expect(
      run.errors == """
        depot.vdf:5:3: error: a wildcard in a folder's name cannot be mapped; map each folder
        packstore: 'depot.vdf': 1 error in the script; correct the listed errors

        """)
  }
}
