import ArgumentParser
import Synchronization

/// The benchmark's commands. One subcommand per workload, one file per subcommand.
///
/// Every workload writes Markdown, and on request JSON with every sample and a page of HTML. Reports name data sets and
/// describe the machine; they hold no paths and no names of hosts. Ratios inside one run mean something, figures of two
/// machines beside each other do not.
public enum Benchmark {
  /// Who takes part: PackStore, plain files, and what the program adds.
  static var contestants: [any Contestant] { ownContestants + addedContestants.withLock { $0 } }

  private static let ownContestants: [any Contestant] = [
    PackStoreContestant.swift, PackStoreContestant.c, PackStoreContestant.sequential, PlainFiles(),
  ]

  private static let addedContestants = Mutex<[any Contestant]>([])

  /// Runs the command that the program's arguments ask for, with more contestants than PackStore and plain files.
  public static func main(adding contestants: [any Contestant] = []) {
    addedContestants.withLock { $0 = contestants }
    Root.main()
  }
}

struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "packstore-bench",
    abstract: "Measure PackStore.",
    subcommands: [
      AllCommand.self, ReadLargeCommand.self, ReadSmallCommand.self, LookUpCommand.self, OpenCommand.self,
      ListCommand.self, ScanCommand.self, IngestCommand.self, SwapCommand.self, UpdateCommand.self,
      WatchCommand.self, MechanismsCommand.self, Sweep.self,
    ],
    defaultSubcommand: AllCommand.self
  )
}
