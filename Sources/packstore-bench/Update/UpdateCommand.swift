import ArgumentParser
import Foundation

struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "What it costs to bring a client from one version of a folder to the next.",
    discussion: """
      Runs the packstore program: publishes both versions to a site, and lets clients install the old one and fetch the new \
      one, by ranges and by deltas. Nothing leaves this machine. Benchmarks/ has the same beside other programs.

        packstore-bench update Game-1 Game-2 --output update.md
      """
  )

  @Argument(help: "The old version.", completion: .directory)
  var old: String

  @Argument(help: "The new version.", completion: .directory)
  var new: String

  @Option(
    help: .init("The packstore program (default: beside this one, or on the PATH).", valueName: "file"),
    completion: .file())
  var packstore: String?

  @Option(
    help: .init(
      "Where temporary data goes: up to 6 times the larger version (default: the system's folder for temporary files).",
      valueName: "folder"), completion: .directory)
  var workspace: String?

  @Option(help: .init("Where the report goes as Markdown. It is printed as well.", valueName: "file"))
  var output: String?

  @Option(help: .init("Where all figures go as JSON.", valueName: "file"))
  var json: String?

  func validate() throws {
    for folder in [old, new] {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
        throw ValidationError("there is no folder '\(folder)'")
      }
    }
  }

  func run() throws {
    let work = try TemporaryFolder(in: workspace)
    let interruptions = Interruption.handle { work.remove() }
    defer {
      withExtendedLifetime(interruptions) { Interruption.waitForTheEnd() }
      work.remove()
    }
    let report = try Update(packstore: PackStoreProgram(at: packstore), in: work).measure(from: old, to: new)
    if output != nil { print(report.markdown, terminator: "") }
    try ReportDestination(markdownFile: output, jsonFile: json).write(report.markdown, report)
  }
}
