import ArgumentParser
import Foundation

/// Compares PackStore with plain files and with the limits of the machine, with the user's data or synthetic data. Each workload
/// has a subcommand.
///
/// Every workload prints Markdown, and optionally writes JSON with every sample and an HTML page. Reports contain the names of data
/// sets and a description of the machine, but no paths and host names. Ratios within one run are comparable; figures of two
/// machines are not. The package `Benchmarks` measures other stores with the same workloads.
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

  /// The exit status for wrong usage, as in `packstore`.
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
