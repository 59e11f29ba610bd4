import ArgumentParser
import Foundation

/// Measures PackStore with the user's data, compared with plain files and the limits of the machine. Each workload has
/// a subcommand.
///
/// Every workload writes Markdown, and on request JSON with every sample and an HTML page. Reports name data sets and
/// describe the machine; they contain no paths and no host names. Ratios within one run are comparable, figures of two
/// machines are not. The package `Benchmarks`, which runs this program, measures other stores.
@main
struct Main: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-bench",
    abstract: "Measure PackStore.",
    discussion: """
      Commands measure synthetic data unless '--folder' names your own files. Start with your files, and with two \
      versions of them:

        packstore-bench read-large --folder Assets
        packstore-bench update Assets-1 Assets-2
        packstore-bench all --html report.html
      """,
    subcommands: [
      AllCommand.self, ReadLargeCommand.self, ReadSmallCommand.self, LookUpCommand.self, OpenCommand.self,
      ListCommand.self, ScanCommand.self, IngestCommand.self, SwapCommand.self, UpdateCommand.self,
      PausesCommand.self, PurgeCommand.self, HashCommand.self,
    ]
  )

  /// The exit status after wrong usage, as of `packstore`.
  static let usageStatus: CInt = 2

  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch  where exitCode(for: error) == .validationFailure {
      FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
      Foundation.exit(usageStatus)
    } catch {
      exit(withError: error)
    }
  }
}
