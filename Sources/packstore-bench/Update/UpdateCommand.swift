import ArgumentParser
import Foundation

struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Measure an update between two versions of a folder.",
    discussion: """
      Runs the program packstore: publishes both versions to a site, installs the old one in clients, and updates \
      them by ranges and by deltas. Nothing leaves this machine. Benchmarks/ compares other programs in the same way.

        packstore-bench update Game-1 Game-2 --output update.md
      """
  )

  @Argument(help: "The old version.", completion: .directory)
  var old: String

  @Argument(help: "The new version.", completion: .directory)
  var new: String

  @Option(
    help: .init("The program packstore (default: next to this program, or in PATH).", valueName: "file"),
    completion: .file())
  var packstore: String?

  @Option(
    help: .init(
      "Folder for temporary data, up to 6 times the larger version (default: the system's folder for temporary files).",
      valueName: "folder"), completion: .directory)
  var workspace: String?

  @Option(help: .init("File for the report as Markdown, which is also printed.", valueName: "file"))
  var output: String?

  @Option(help: .init("File for all figures as JSON.", valueName: "file"))
  var json: String?

  @Option(help: .init("File for the report as a page for a browser.", valueName: "file"))
  var html: String?

  func validate() throws {
    for folder in [old, new] {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
        throw ValidationError("'\(folder)': not a folder")
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
    print(report.markdown, terminator: "")
    let destination = ReportDestination(markdownFile: output, jsonFile: json, htmlFile: html)
    try destination.writePages(markdown: report.markdown, html: report.html)
    try destination.writeJSON(report)
    print("\n" + report.summary.joined(separator: "\n"))
  }
}
