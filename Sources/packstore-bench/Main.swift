import ArgumentParser

/// Measures PackStore with data of the user's, beside plain files and what the machine allows: a subcommand for each workload.
///
/// Every workload writes Markdown, and on request JSON with every sample and a page of HTML. Reports name data sets and
/// describe the machine; they hold no paths and no names of hosts. Ratios inside one run mean something, figures of two
/// machines beside each other do not. Other stores are measured by the package `Benchmarks`, which runs this program.
@main
struct Main: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-bench",
    abstract: "Measure PackStore.",
    subcommands: [
      AllCommand.self, ReadLargeCommand.self, ReadSmallCommand.self, LookUpCommand.self, OpenCommand.self,
      ListCommand.self, ScanCommand.self, IngestCommand.self, SwapCommand.self, UpdateCommand.self,
      PausesCommand.self, PurgeCommand.self, HashCommand.self,
    ],
    defaultSubcommand: AllCommand.self
  )
}
